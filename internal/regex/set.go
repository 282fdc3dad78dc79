package regex

import (
	"cmp"
	"slices"
	"sort"
	"unicode"
)

// Range is an inclusive range of code points.
type Range struct{ Lo, Hi rune }

// Set is a set of code points: ranges in ascending order that neither overlap nor
// touch. Immutable.
type Set []Range

const maxRune = unicode.MaxRune

// newSet puts ranges in order.
func newSet(ranges []Range) Set {
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.Lo, b.Lo) })
	var out Set
	for _, r := range ranges {
		if n := len(out); n > 0 && r.Lo <= out[n-1].Hi+1 {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (s Set) union(t Set) Set {
	return newSet(append(append([]Range(nil), s...), t...))
}

func (s Set) negate() Set {
	var out Set
	next := rune(0)
	for _, r := range s {
		if r.Lo > next {
			out = append(out, Range{next, r.Lo - 1})
		}
		next = r.Hi + 1
	}
	if next <= maxRune {
		out = append(out, Range{next, maxRune})
	}
	return out
}

func (s Set) intersect(t Set) Set { return s.negate().union(t.negate()).negate() }

func (s Set) minus(t Set) Set { return s.intersect(t.negate()) }

// meets reports whether the sets have a member in common.
func (s Set) meets(t Set) bool {
	for len(s) > 0 && len(t) > 0 {
		switch {
		case s[0].Hi < t[0].Lo:
			s = s[1:]
		case t[0].Hi < s[0].Lo:
			t = t[1:]
		default:
			return true
		}
	}
	return false
}

// contains looks for r by halves.
func (s Set) contains(r rune) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].Hi >= r })
	return i < len(s) && s[i].Lo <= r
}
