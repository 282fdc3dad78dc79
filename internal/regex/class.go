package regex

import (
	"fmt"
	"slices"
	"strings"
)

// setValue is what a class or an operand of one stands for: code points and,
// with v, strings of more or fewer than one.
type setValue struct {
	set     Set
	strings []string
	stringy bool // MayContainStrings (22.2.1.7): by its form, if there are any or not
}

func (v setValue) minus(w setValue) setValue {
	return setValue{set: v.set.minus(w.set), strings: v.filter(w, false), stringy: v.stringy}
}

func (v setValue) intersect(w setValue) setValue {
	return setValue{set: v.set.intersect(w.set), strings: v.filter(w, true), stringy: v.stringy && w.stringy}
}

func (v setValue) filter(w setValue, present bool) []string {
	if len(v.strings) == 0 {
		return nil
	}
	among := make(map[string]bool, len(w.strings))
	for _, s := range w.strings {
		among[s] = true
	}
	var kept []string
	for _, s := range v.strings {
		if among[s] == present {
			kept = append(kept, s)
		}
	}
	return kept
}

// classNode reads a class.
func (p *parser) classNode() *node {
	p.pos++
	negated := p.accept("^")
	if p.flags.sets {
		return p.stringsNode(p.setClass(negated))
	}
	var ranges []Range
	for !p.accept("]") {
		ranges = p.classRange(ranges)
	}
	set := newSet(ranges)
	if p.flags.ignoreCase {
		set = closed(set, p.flags.points())
	}
	if negated {
		set = set.negate()
	}
	return p.class(set)
}

// classRange appends a character, a range or an escape of a class without v.
func (p *parser) classRange(ranges []Range) []Range {
	lo, isSet := p.classAtom()
	p.spend(len(lo))
	if p.peek(0) != '-' {
		return append(ranges, lo...)
	}
	p.pos++
	if p.peek(0) == ']' {
		return append(append(ranges, lo...), Range{'-', '-'})
	}
	hi, hiIsSet := p.classAtom()
	if isSet || hiIsSet {
		if p.flags.points() {
			p.fail("Invalid character class")
		}
		return append(append(append(ranges, lo...), hi...), Range{'-', '-'})
	}
	if lo[0].Lo > hi[0].Lo {
		p.fail("Range out of order in character class")
	}
	return append(ranges, Range{lo[0].Lo, hi[0].Lo})
}

func (p *parser) classAtom() (s Set, isSet bool) {
	switch c := p.peek(0); c {
	case -1:
		p.fail("Unterminated character class")
	case '\\':
		p.pos++
		if p.peek(0) == -1 {
			p.fail(`\ at end of pattern`)
		}
		if v, ok := p.classEscape("Invalid property name in character class"); ok {
			return v.set, true
		}
		r := p.backspaceOr()
		return Set{{r, r}}, false
	}
	p.pos++
	c := p.src[p.pos-1]
	return Set{{c, c}}, false
}

// backspaceOr reads an escape of one character in a class.
func (p *parser) backspaceOr() rune {
	if p.accept("b") {
		return '\b'
	}
	return p.charEscape(true)
}

// stringsNode is a class, or a tree of strings that tries longer ones first, and a
// class (22.2.2.7: CompileAtom of ClassSetCharacter).
func (p *parser) stringsNode(v setValue) *node {
	if len(v.strings) == 0 {
		return p.class(v.set)
	}
	hasEmpty := false
	var list [][]rune
	for _, s := range v.strings {
		runes := decoded(s)
		hasEmpty = hasEmpty || len(runes) == 0
		if p.flags.ignoreCase {
			for i, r := range runes {
				runes[i] = canonical(r, true)
			}
		}
		list = append(list, runes)
		p.spend(len(runes))
	}
	slices.SortFunc(list, slices.Compare)
	n := p.leaf(choice)
	n.list, _ = p.branches(list)
	n.list = append(n.list, p.class(v.set))
	if hasEmpty {
		n.list = append(n.list, p.leaf(empty))
	}
	return p.closed(n)
}

// branches are the alternatives that sorted strings are: what follows a character,
// where it is the same for several characters, stands once. An end comes last, so
// that longer strings are tried first. Text tells apart what is different.
func (p *parser) branches(list [][]rune) (alternatives []*node, text string) {
	type branch struct {
		then []*node
		set  []Range
	}
	byThen := map[string]*branch{}
	var order []string
	ends := false
	for len(list) > 0 {
		if len(list[0]) == 0 {
			ends, list = true, list[1:]
			continue
		}
		first, n := list[0][0], 0
		var rest [][]rune
		for ; n < len(list) && list[n][0] == first; n++ {
			rest = append(rest, list[n][1:])
		}
		list = list[n:]
		then, key := p.branches(rest)
		if byThen[key] == nil {
			byThen[key] = &branch{then: then}
			order = append(order, key)
		}
		byThen[key].set = append(byThen[key].set, Range{first, first})
	}
	for _, key := range order {
		b := byThen[key]
		text += fmt.Sprint(b.set) + "(" + key + ")"
		one := p.class(p.folded(setValue{set: newSet(b.set)}).set)
		if len(b.then) == 0 {
			alternatives = append(alternatives, one)
			continue
		}
		after := p.leaf(choice)
		after.list = b.then
		seq := p.leaf(sequence)
		seq.list = []*node{one, p.closed(after)}
		alternatives = append(alternatives, p.closed(seq))
	}
	if ends && alternatives != nil {
		alternatives = append(alternatives, p.leaf(empty))
		text += "."
	}
	return alternatives, text
}

// encoded is a string of code points, of three bytes each: lone surrogates may be
// among them.
func encoded(runes []rune) string {
	var b strings.Builder
	for _, r := range runes {
		b.Write([]byte{byte(r >> 16), byte(r >> 8), byte(r)})
	}
	return b.String()
}

func decoded(s string) (runes []rune) {
	for i := 0; i+2 < len(s); i += 3 {
		runes = append(runes, rune(s[i])<<16|rune(s[i+1])<<8|rune(s[i+2]))
	}
	return runes
}

// reserved are the double punctuators that a class with v may not hold, and
// syntax the characters that stand for themselves only behind a backslash.
const (
	reserved = "&!#$%*+,.:;<=>?@^`~"
	syntax   = "()[]{}/-\\|"
)

// setClass reads a class with v up to its closing bracket (22.2.1, ClassSetExpression).
func (p *parser) setClass(negated bool) setValue {
	if p.classes++; p.classes > maxDepth {
		p.fail(tooLarge)
	}
	defer func() { p.classes-- }()
	var v setValue
	if !p.accept("]") {
		v = p.setOperand()
		if p.has("--") || p.has("&&") {
			v = p.setOperation(v)
		} else {
			v = p.setUnion(v)
		}
	}
	if negated {
		if v.stringy {
			p.fail("Negated character class may contain strings")
		}
		v.set = v.set.negate()
	}
	return v
}

// setOperation reads what follows the first operand of -- or &&.
func (p *parser) setOperation(v setValue) setValue {
	op := string(p.src[p.pos : p.pos+2])
	for !p.accept("]") {
		if p.peek(0) == -1 {
			p.fail("Unterminated character class")
		}
		if !p.accept(op) {
			p.fail("Invalid set operation in character class")
		}
		if op == "&&" && p.peek(0) == '&' {
			p.fail("Invalid character in character class")
		}
		w := p.setOperand()
		if op == "--" {
			v = v.minus(w)
		} else {
			v = v.intersect(w)
		}
	}
	return v
}

// setUnion reads what follows the first operand of a union.
func (p *parser) setUnion(first setValue) setValue {
	v := p.setRange(first)
	ranges := slices.Clone(v.set)
	v.strings = slices.Clone(v.strings)
	for !p.accept("]") {
		if p.has("--") || p.has("&&") {
			p.fail("Invalid set operation in character class")
		}
		w := p.setRange(p.setOperand())
		ranges = append(ranges, w.set...)
		v.strings = append(v.strings, w.strings...)
		v.stringy = v.stringy || w.stringy
	}
	v.set = newSet(ranges)
	return v
}

// setRange reads the rest of a range, if lo is followed by one.
func (p *parser) setRange(lo setValue) setValue {
	if p.peek(0) != '-' || p.peek(1) == '-' {
		return lo
	}
	p.pos++
	if !p.lastIsCharacter {
		p.fail("Invalid character class")
	}
	from := p.lastCharacter
	if p.setOperand(); !p.lastIsCharacter {
		p.fail("Invalid character class")
	}
	if from > p.lastCharacter {
		p.fail("Range out of order in character class")
	}
	return p.folded(setValue{set: Set{{from, p.lastCharacter}}})
}

// folded closes an operand over case, as MaybeSimpleCaseFolding has it.
func (p *parser) folded(v setValue) setValue {
	p.spend(len(v.set))
	if p.flags.ignoreCase {
		v.set = closed(v.set, true)
	}
	return v
}

// setOperand reads a nested class, an escape or a character.
func (p *parser) setOperand() setValue {
	p.lastIsCharacter = false
	c := p.peek(0)
	switch {
	case c == -1:
		p.fail("Unterminated character class")
	case c == '[':
		p.pos++
		v := p.setClass(p.accept("^"))
		p.lastIsCharacter = false
		return v
	case c == '\\' && p.peek(1) == 'q':
		p.pos += 2
		return p.folded(p.setStrings())
	case c == '\\':
		p.pos++
		if p.peek(0) == -1 {
			p.fail(`\ at end of pattern`)
		}
		if v, ok := p.classEscape("Invalid property name in character class"); ok {
			return p.folded(v)
		}
		p.pos--
	}
	r := p.setCharacter()
	p.lastCharacter, p.lastIsCharacter = r, true
	return p.folded(setValue{set: Set{{r, r}}})
}

// setCharacter reads one character of a class with v.
func (p *parser) setCharacter() rune {
	c := p.peek(0)
	switch {
	case c == -1:
		p.fail("Unterminated character class")
	case c == '\\':
		p.pos++
		if next := p.peek(0); next > 0 && next < 0x80 && strings.ContainsRune("&-!#%,:;<=>@`~", next) {
			p.pos++
			return next
		}
		return p.backspaceOr()
	case c < 0x80 && strings.ContainsRune(syntax, c):
		p.fail("Invalid character in character class")
	case c < 0x80 && p.peek(1) == c && strings.ContainsRune(reserved, c):
		p.fail("Invalid set operation in character class")
	}
	p.pos++
	return c
}

// setStrings reads {abc|d} after \q.
func (p *parser) setStrings() setValue {
	if !p.accept("{") {
		p.fail("Invalid escape")
	}
	var v setValue
	var current []rune
	end := func() {
		if len(current) == 1 {
			v.set = v.set.union(Set{{current[0], current[0]}})
		} else {
			v.strings, v.stringy = append(v.strings, encoded(current)), true
		}
		current = nil
	}
	for {
		switch {
		case p.peek(0) == -1:
			p.fail("Invalid character class")
		case p.accept("}"):
			end()
			return v
		case p.accept("|"):
			end()
		default:
			current = append(current, p.setCharacter())
		}
	}
}
