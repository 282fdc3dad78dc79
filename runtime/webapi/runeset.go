package webapi

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
)

// runeRange is an inclusive range of code points.
type runeRange struct{ lo, hi rune }

// runeSet is a set of code points: ranges in ascending order that neither
// overlap nor touch. Immutable.
type runeSet []runeRange

const maxRune = unicode.MaxRune

// newRuneSet puts ranges in order.
func newRuneSet(ranges []runeRange) runeSet {
	sort.Slice(ranges, func(i, j int) bool { return ranges[i].lo < ranges[j].lo })
	var out runeSet
	for _, r := range ranges {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func setOf(tables ...*unicode.RangeTable) runeSet {
	var ranges []runeRange
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			ranges = append(ranges, runeRange{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			ranges = append(ranges, runeRange{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return newRuneSet(ranges)
}

// runesWhere collects the code points for which keep holds.
func runesWhere(keep func(rune) bool) runeSet {
	var ranges []runeRange
	for r := rune(0); r <= maxRune; r++ {
		if keep(r) {
			if n := len(ranges); n > 0 && ranges[n-1].hi == r-1 {
				ranges[n-1].hi = r
			} else {
				ranges = append(ranges, runeRange{r, r})
			}
		}
	}
	return ranges
}

func (s runeSet) union(t runeSet) runeSet {
	return newRuneSet(append(append([]runeRange(nil), s...), t...))
}

func (s runeSet) negate() runeSet {
	var out runeSet
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= maxRune {
		out = append(out, runeRange{next, maxRune})
	}
	return out
}

func (s runeSet) intersect(t runeSet) runeSet { return s.negate().union(t.negate()).negate() }

func (s runeSet) minus(t runeSet) runeSet { return s.intersect(t.negate()) }

// class writes the set as a character class of a pattern with the flag u.
func (s runeSet) class(negated bool) string {
	if len(s) == 0 {
		s, negated = runeSet{{0, maxRune}}, !negated
	}
	var b strings.Builder
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
	}
	for _, r := range s {
		writeRune(&b, r.lo)
		if r.hi > r.lo {
			b.WriteByte('-')
			writeRune(&b, r.hi)
		}
	}
	b.WriteByte(']')
	return b.String()
}

func writeRune(b *strings.Builder, r rune) {
	switch {
	case r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
		b.WriteRune(r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\u{%x}`, r)
	}
}
