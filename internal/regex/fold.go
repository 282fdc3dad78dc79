package regex

import (
	"slices"
	"sync"
	"unicode"
)

// laterFolds are the pairs of Unicode 17 (CaseFolding.txt, C and S) that Go's tables,
// of Unicode 15, do not have: lo to hi and as many from to on.
var laterFolds = sync.OnceValue(func() map[rune]rune {
	folds := map[rune]rune{}
	for _, p := range [...]struct{ lo, hi, to rune }{{0x19B, 0x19B, 0xA7DC}, {0x264, 0x264, 0xA7CB}, {0x390, 0x390, 0x1FD3}, {0x3B0, 0x3B0, 0x1FE3},
		{0x1C89, 0x1C89, 0x1C8A}, {0xA7CC, 0xA7CC, 0xA7CD}, {0xA7CE, 0xA7CE, 0xA7CF}, {0xA7D2, 0xA7D2, 0xA7D3}, {0xA7D4, 0xA7D4, 0xA7D5},
		{0xA7DA, 0xA7DA, 0xA7DB}, {0xFB05, 0xFB05, 0xFB06}, {0x10D50, 0x10D65, 0x10D70}, {0x16EA0, 0x16EB8, 0x16EBB}} {
		for r := p.lo; r <= p.hi; r++ {
			folds[r], folds[p.to+r-p.lo] = p.to+r-p.lo, r
		}
	}
	return folds
})

// simpleFold is the next of the code points that have one simple case folding.
func simpleFold(r rune) rune {
	if f := unicode.SimpleFold(r); f != r {
		return f
	}
	if f, ok := laterFolds()[r]; ok && r >= 0x80 {
		return f
	}
	return r
}

// canonical is Canonicalize (22.2.2.7.3) with the flag i. With points it is the
// least of the code points that have the same simple case folding.
func canonical(r rune, points bool) rune {
	if points {
		least := r
		for f := simpleFold(r); f != r; f = simpleFold(f) {
			least = min(least, f)
		}
		return least
	}
	if r < 0x80 {
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	up := unicode.ToUpper(r)
	if up < 0x80 || r > 0xFFFF || up > 0xFFFF || r >= 0x1F80 && r <= 0x1FFF && unicode.Is(unicode.Lt, up) {
		return r // or its upper case is more than one unit
	}
	return up
}

// cased are the code points that have others of the same folding.
var cased = sync.OnceValue(func() (list []rune) {
	for _, c := range unicode.CaseRanges {
		for r := rune(c.Lo); r <= rune(c.Hi); r++ {
			list = append(list, r)
			for f := simpleFold(r); f != r; f = simpleFold(f) {
				list = append(list, f) // not all of them are in CaseRanges
			}
		}
	}
	for r := range laterFolds() {
		list = append(list, r)
	}
	slices.Sort(list)
	return slices.Compact(list)
})

// foldedASCII appends what the flag i makes equal to r, which is in ASCII.
func foldedASCII(more []Range, r rune, points bool) []Range {
	letter := r | 0x20
	if letter < 'a' || letter > 'z' {
		return more
	}
	more = append(more, Range{r ^ 0x20, r ^ 0x20})
	if points && letter == 'k' {
		more = append(more, Range{0x212A, 0x212A}) // the sign of kelvin
	}
	if points && letter == 's' {
		more = append(more, Range{0x17F, 0x17F}) // the long s
	}
	return more
}

// folding is a code point and another one that the flag i makes equal to it.
type folding struct{ from, to rune }

// foldings are all there are, without and with points.
var foldings = map[bool]func() []folding{
	false: sync.OnceValue(func() []folding { return foldingsOf(false) }),
	true:  sync.OnceValue(func() []folding { return foldingsOf(true) }),
}

func foldingsOf(points bool) (list []folding) {
	var equal []Range
	for _, r := range cased() {
		equal = folded(equal[:0], r, points)
		for _, e := range equal {
			list = append(list, folding{r, e.Lo})
		}
	}
	return list
}

// folded appends what the flag i makes equal to r.
func folded(more []Range, r rune, points bool) []Range {
	if r < 0x80 {
		return foldedASCII(more, r, points)
	}
	want := canonical(r, points)
	for f := simpleFold(r); f != r; f = simpleFold(f) {
		if canonical(f, points) == want {
			more = append(more, Range{f, f})
		}
	}
	return more
}

// closed is the set with all that the flag i makes equal to a member.
func closed(s Set, points bool) Set {
	var more []Range
	members := 0
	for _, r := range s {
		members += int(r.Hi-r.Lo) + 1
	}
	if members < 1<<10 {
		for _, r := range s {
			for c := r.Lo; c <= r.Hi; c++ {
				more = folded(more, c, points)
			}
		}
	} else {
		for _, f := range foldings[points]() {
			if s.contains(f.from) {
				more = append(more, Range{f.to, f.to})
			}
		}
	}
	return s.union(Set(more))
}
