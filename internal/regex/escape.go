package regex

import (
	"strings"
	"sync"
	"unicode/utf16"
)

var (
	idStarts    = sync.OnceValue(func() Set { s, _ := Property("ID_Start"); return s })
	idContinues = sync.OnceValue(func() Set { s, _ := Property("ID_Continue"); return s })
)

// The sets of \d, \s and \w.
var (
	digits = Set{{'0', '9'}}
	words  = Set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaces = newSet([]Range{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A},
		{0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}})
	// foldedWords are WordCharacters with the flags i and u (22.2.2.7.3).
	foldedWords = words.union(Set{{0x17F, 0x17F}, {0x212A, 0x212A}})
)

func (f flags) words() Set {
	if f.ignoreCase && f.points() {
		return foldedWords
	}
	return words
}

// escape reads an escape outside classes.
func (p *parser) escape() *node {
	p.pos++
	c := p.peek(0)
	switch {
	case c == -1:
		p.fail(`\ at end of pattern`)
	case c == 'b' || c == 'B':
		p.pos++
		n := p.leaf(boundary)
		n.negated = c == 'B'
		p.features.Odd = p.features.Odd || len(p.flags.words()) > len(words)
		return n
	case c >= '1' && c <= '9':
		if n := p.backReference(); n != nil {
			return n
		}
	case c == 'k' && p.named:
		p.pos++
		if !p.accept("<") {
			p.fail("Invalid named reference")
		}
		n := p.leaf(reference)
		n.name = p.groupName("Invalid named reference")
		p.pending = append(p.pending, n)
		p.features.References = true
		return n
	}
	if v, ok := p.classEscape("Invalid property name"); ok {
		if v.stringy {
			return p.stringsNode(v)
		}
		n := p.class(v.set)
		n.closed = p.flags.sets || c != 'p' && c != 'P'
		return n
	}
	return p.char(p.charEscape(false))
}

// backReference reads \n; nil if it is no reference, but an octal escape.
func (p *parser) backReference() *node {
	n, at := 0, p.pos
	for at < len(p.src) && p.src[at] >= '0' && p.src[at] <= '9' {
		n = min(n*10+int(p.src[at]-'0'), maxCount)
		at++
	}
	if n > p.groups {
		if p.flags.points() {
			p.fail("Invalid escape")
		}
		return nil
	}
	p.pos = at
	ref := p.leaf(reference)
	ref.refs = []int{n}
	p.features.References = true
	return ref
}

// classEscape reads \d \s \w, their opposites, and \p; ok is false for others.
func (p *parser) classEscape(failure string) (v setValue, ok bool) {
	c := p.peek(0)
	switch c {
	case 'd', 'D':
		v.set = digits
	case 's', 'S':
		v.set = spaces
	case 'w', 'W':
		v.set = p.flags.words()
		p.features.Odd = p.features.Odd || len(v.set) > len(words)
	case 'p', 'P':
		if !p.flags.points() {
			return v, false
		}
		p.pos++
		return p.property(c == 'P', failure), true
	default:
		return v, false
	}
	p.pos++
	if c < 'a' {
		v.set = v.set.negate()
	}
	return v, true
}

// property reads {...} after \p.
func (p *parser) property(negated bool, failure string) (v setValue) {
	p.features.Properties = true
	if !p.accept("{") {
		p.fail(failure)
	}
	start := p.pos
	for p.peek(0) != '}' {
		if p.peek(0) == -1 {
			p.fail(failure)
		}
		p.pos++
	}
	name := string(p.src[start:p.pos])
	p.pos++
	if p.flags.sets && !negated {
		if v, ok := stringProperty(name); ok {
			p.spend(len(v.strings))
			return v
		}
	}
	set, ok := Property(name)
	if !ok {
		p.fail(failure)
	}
	if p.flags.sets && p.flags.ignoreCase {
		set = closed(set, true)
	}
	if negated {
		set = set.negate()
	}
	return setValue{set: set}
}

// charEscape reads an escape that stands for one character, after its backslash.
func (p *parser) charEscape(inClass bool) rune {
	c := p.peek(0)
	points := p.flags.points()
	p.pos++
	if i := strings.IndexRune("fnrtv", c); i >= 0 && c > 0 {
		return rune("\f\n\r\t\v"[i])
	}
	next := p.peek(0)
	switch {
	case c == 'c':
		if r := next | 0x20; r >= 'a' && r <= 'z' || inClass && !points && (next >= '0' && next <= '9' || next == '_') {
			p.pos++
			p.features.Odd = p.features.Odd || r < 'a' || r > 'z'
			return next % 32
		}
		if points {
			p.fail("Invalid Unicode escape")
		}
		p.pos--
		p.features.Odd = true
		return '\\'
	case c == '0' && (next < '0' || next > '9'):
		return 0
	case c >= '0' && c <= '7':
		return p.octal(c-'0', inClass)
	case c == 'x':
		if r, ok := p.hex(2); ok {
			return r
		}
		if points {
			p.fail("Invalid escape")
		}
	case c == 'u':
		if r, ok := p.unicodeEscape(points); ok {
			return r
		}
		if points {
			p.fail("Invalid Unicode escape")
		}
	case points && (c >= 0x80 || c == -1 || !strings.ContainsRune(`^$\.*+?()[]{}|/`, c)) && !(inClass && c == '-'):
		p.fail("Invalid escape")
	}
	return c
}

// octal reads the rest of an octal escape (B.1.2).
func (p *parser) octal(r rune, inClass bool) rune {
	if p.flags.points() {
		if inClass {
			p.fail("Invalid class escape")
		}
		p.fail("Invalid decimal escape")
	}
	for n := 0; n < 2 && p.peek(0) >= '0' && p.peek(0) <= '7' && r*8+p.peek(0)-'0' <= 0o377; n++ {
		r = r*8 + p.peek(0) - '0'
		p.pos++
	}
	return r
}

func (p *parser) hex(n int) (rune, bool) {
	r := rune(0)
	for i := range n {
		digit := strings.IndexRune("0123456789abcdef", p.peek(i)|0x20)
		if p.peek(i) == -1 || digit < 0 || p.peek(i) < '0' {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	p.pos += n
	return r, true
}

// unicodeEscape reads what follows \u; nothing if that is no escape. With points,
// braces may stand there, and two surrogates are one character.
func (p *parser) unicodeEscape(points bool) (rune, bool) {
	start := p.pos
	if points && p.accept("{") {
		r, any := rune(0), false
		for !p.accept("}") {
			digit, ok := p.hex(1)
			if r = r<<4 | digit; !ok || r > maxRune {
				p.pos = start
				return 0, false
			}
			any = true
		}
		if !any {
			p.pos = start
		}
		return r, any
	}
	r, ok := p.hex(4)
	if ok && points && utf16.IsSurrogate(r) {
		after := p.pos
		if p.accept(`\u`) {
			if low, ok := p.hex(4); ok {
				if pair := utf16.DecodeRune(r, low); pair != '\uFFFD' {
					return pair, true
				}
			}
			p.pos = after
		}
	}
	return r, ok
}
