package regex

import (
	"fmt"
	"slices"
	"testing"
	"unicode/utf16"
)

// plain matches as ECMA-262, section 22.2.2, has it, with continuations: slow, and
// close to the text. It panics with "enough" after too many steps.
type plain struct {
	p     *Pattern
	code  *program
	text  []uint16
	steps int
}

// plainState is where a match is, and what its groups hold: -1 for nothing.
type plainState struct {
	at   int
	caps []int
}

func (s plainState) with(i, value int) plainState {
	s.caps = slices.Clone(s.caps)
	s.caps[i] = value
	return s
}

func (x *plain) match(n *node, s plainState, behind bool, k func(plainState) bool) bool {
	if x.steps++; x.steps > 20000 {
		panic("enough")
	}
	switch n.kind {
	case empty:
		return k(s)
	case sequence:
		return x.sequence(n.list, s, behind, k)
	case choice:
		return slices.ContainsFunc(n.list, func(m *node) bool { return x.match(m, s, behind, k) })
	case char, class:
		r, to := next(x.code, x.text, s.at, behind)
		return r >= 0 && newMatchSet(n.matches()).has(r) && k(plainState{to, s.caps})
	case group:
		return x.match(n.list[0], s, behind, func(y plainState) bool {
			from, to := min(s.at, y.at), max(s.at, y.at)
			return k(y.with(2*n.index, from).with(2*n.index+1, to))
		})
	case loop:
		return x.repeat(n, s, n.min, n.max, behind, k)
	case look:
		seen := s
		found := x.match(n.list[0], s, n.behind, func(y plainState) bool { seen = y; return true })
		if n.negated {
			return !found && k(s)
		}
		return found && k(plainState{s.at, seen.caps})
	case lineStart:
		return holds(x.code, x.text, &instruction{op: opLineStart, multiline: n.flags.multiline}, s.at) && k(s)
	case lineEnd:
		return holds(x.code, x.text, &instruction{op: opLineEnd, multiline: n.flags.multiline}, s.at) && k(s)
	case boundary:
		return holds(x.code, x.text, &instruction{op: opBoundary, negated: n.negated, class: newMatchSet(n.flags.words())}, s.at) && k(s)
	case reference:
		return x.again(n, s, behind, k)
	}
	panic(fmt.Sprint("a node of kind ", n.kind))
}

func (x *plain) sequence(list []*node, s plainState, behind bool, k func(plainState) bool) bool {
	if len(list) == 0 {
		return k(s)
	}
	first, rest := list[0], list[1:]
	if behind {
		first, rest = list[len(list)-1], list[:len(list)-1]
	}
	return x.match(first, s, behind, func(y plainState) bool { return x.sequence(rest, y, behind, k) })
}

// repeat is RepeatMatcher.
func (x *plain) repeat(n *node, s plainState, least, most int, behind bool, k func(plainState) bool) bool {
	if most == 0 {
		return k(s)
	}
	round := func() bool {
		inner := s
		for i := n.first; i < n.last; i++ {
			inner = inner.with(2*i, -1).with(2*i+1, -1)
		}
		return x.match(n.list[0], inner, behind, func(y plainState) bool {
			if least == 0 && y.at == s.at {
				return false
			}
			fewer := most
			if most != unbounded {
				fewer--
			}
			return x.repeat(n, y, max(0, least-1), fewer, behind, k)
		})
	}
	switch {
	case least > 0:
		return round()
	case n.lazy:
		return k(s) || round()
	}
	return round() || k(s)
}

// again is BackreferenceMatcher, without case folding.
func (x *plain) again(n *node, s plainState, behind bool, k func(plainState) bool) bool {
	for _, i := range n.refs {
		from, to := s.caps[2*i], s.caps[2*i+1]
		if from < 0 || to < 0 {
			continue
		}
		want := x.text[from:to]
		at := s.at
		if behind {
			at -= len(want)
		}
		if at < 0 || at+len(want) > len(x.text) || !slices.Equal(x.text[at:at+len(want)], want) {
			return false
		}
		if !behind {
			at += len(want)
		}
		return k(plainState{at, s.caps})
	}
	return k(s)
}

// find is the first match from start on.
func (x *plain) find(start int, sticky bool) []int {
	for at := start; at <= len(x.text); at++ {
		if !x.code.points || at == 0 || at == len(x.text) || !isLow(rune(x.text[at])) || !isHigh(rune(x.text[at-1])) {
			begin := plainState{at, slices.Repeat([]int{-1}, 2*x.code.groups)}
			var bounds []int
			if x.match(x.p.root, begin, false, func(y plainState) bool {
				bounds = append([]int{at, y.at}, y.caps[2:]...)
				return true
			}) {
				return bounds
			}
		}
		if sticky {
			return nil
		}
	}
	return nil
}

// FuzzMatch: the compiled pattern finds what the standard's continuations find, and
// its groups hold the same.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][3]string{
		{`(a*)*b|(?:(x)|y)+\1`, "", "aaxyb"}, {`(?<=(\d+)(\d+))$`, "", "1053"}, {`(?=(a+))a*b\1`, "", "baaabac"}, {`(z)((a+)?(b+)?(c))*`, "", "zaacbbbcac"},
		{`(?:|a)+?c`, "", "aac"}, {`(a?){2,3}(b|ab)??$`, "", "aab"}, {`(.*?)a(?!(a+)b\2c)\2(.*)`, "", "baaabaac"}, {`^(?:(a)|b)*\1$`, "m", "ab\na"},
		{`(?<a>x)|(?<a>y)\k<a>`, "", "yy"}, {`(?<!a|(b))c\1`, "", "bcc"}, {`[^]{2}?.`, "us", "\U0001F600a\U0001F600"}, {`(?:a{0,2}){2}(a)?`, "", "aaaa"},
	} {
		f.Add(seed[0], seed[1], seed[2], uint8(0))
	}
	f.Fuzz(func(t *testing.T, source, flags, text string, start uint8) {
		p, err := Parse(utf16.Encode([]rune(source)), flags)
		units := utf16.Encode([]rune(text))
		if err != nil || p.flags.ignoreCase || p.Features.Modifiers || len(units) > 200 {
			return
		}
		defer func() {
			if x := recover(); x != nil && x != "enough" {
				panic(x)
			}
		}()
		from := int(start) % (len(units) + 1)
		if from > 0 && from < len(units) && p.flags.points() && isLow(rune(units[from])) {
			from-- // a match begins at a whole character
		}
		x := &plain{p: p, code: p.program(), text: units}
		want := x.find(from, start%2 == 1)
		steps := 0
		m := &Matcher{Look: func() {
			if steps++; steps > 100 {
				panic("enough")
			}
		}}
		got, err := Match(m, p, units, from, start%2 == 1)
		if err != nil {
			return
		}
		if !slices.Equal(got, want) {
			t.Fatalf("/%s/%s on %q from %d: %v, want %v", source, flags, text, from, got, want)
		}
	})
}
