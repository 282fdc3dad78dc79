package webapi

import (
	"fmt"
	"strconv"
	"strings"
)

// selector is one complex selector of those HTMLRewriter knows (Cloudflare's
// documentation of HTMLRewriter: type, universal, class, id, attribute,
// :nth-child, :first-child, :nth-of-type, :first-of-type, :not, descendants and
// children). Its parts stand in reverse order: the subject first. Immutable.
type selector struct {
	tests []func(e *openElement) bool
	child bool      // what is to the left is the parent, not any ancestor
	left  *selector // nil: nothing is
}

// openElement is an element whose end has not come. Loop-confined.
type openElement struct {
	name     string
	attrs    []rawAttr
	parent   *openElement
	nth      int // among its parent's children, from 1
	nthType  int // among those of its name
	children int
	types    map[string]int
	token    int   // its start tag
	matches  []int // the selectors that it matches
}

// rawAttr is an attribute as it is written: entities are not decoded.
type rawAttr struct{ name, value, raw string }

func (e *openElement) attr(name string) (string, bool) {
	for _, a := range e.attrs {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

// matchesAny reports whether one selector of a list matches.
func matchesAny(list []*selector, e *openElement) bool {
	for _, s := range list {
		if s.match(e) {
			return true
		}
	}
	return false
}

func (s *selector) match(e *openElement) bool {
	for _, test := range s.tests {
		if !test(e) {
			return false
		}
	}
	if s.left == nil {
		return true
	}
	for up := e.parent; up != nil; up = up.parent {
		if s.left.match(up) {
			return true
		}
		if s.child {
			return false
		}
	}
	return false
}

// selectorParser is loop-confined.
type selectorParser struct {
	text string
	pos  int
}

// parseSelectors reads a comma-separated list.
func parseSelectors(text string) ([]*selector, error) {
	p := &selectorParser{text: text}
	list, err := p.list()
	if err == nil && p.pos < len(p.text) {
		err = fmt.Errorf("unexpected %q", p.text[p.pos:])
	}
	if err != nil {
		return nil, fmt.Errorf("parse the selector %q: %w", text, err)
	}
	return list, nil
}

func (p *selectorParser) list() ([]*selector, error) {
	var all []*selector
	for {
		s, err := p.complex()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
		if !p.take(",") {
			return all, nil
		}
	}
}

func (p *selectorParser) complex() (*selector, error) {
	p.space()
	var left *selector
	child := false
	for {
		s, err := p.compound()
		if err != nil {
			return nil, err
		}
		s.left, s.child = left, child
		left = s
		gap := p.space()
		switch {
		case p.take(">"):
			child = true
			p.space()
		case gap && p.pos < len(p.text) && !strings.ContainsRune(",)+~", rune(p.text[p.pos])):
			child = false
		case p.pos < len(p.text) && strings.ContainsRune("+~", rune(p.text[p.pos])):
			return nil, fmt.Errorf("the combinator %q is not supported", p.text[p.pos:p.pos+1])
		default:
			return s, nil
		}
	}
}

func (p *selectorParser) compound() (*selector, error) {
	s := &selector{}
	add := func(test func(e *openElement) bool) { s.tests = append(s.tests, test) }
	start := p.pos
	if !p.take("*") {
		if name := lowerASCII(p.ident()); name != "" {
			add(func(e *openElement) bool { return e.name == name })
		}
	}
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case '.', '#':
			p.pos++
			name := p.ident()
			if name == "" {
				return nil, fmt.Errorf("a name is missing after %q", c)
			}
			if c == '#' {
				add(func(e *openElement) bool { v, ok := e.attr("id"); return ok && v == name })
			} else {
				add(func(e *openElement) bool { v, _ := e.attr("class"); return hasWord(v, name) })
			}
		case '[':
			test, err := p.attribute()
			if err != nil {
				return nil, err
			}
			add(test)
		case ':':
			test, err := p.pseudo()
			if err != nil {
				return nil, err
			}
			add(test)
		default:
			if p.pos == start {
				return nil, fmt.Errorf("unexpected %q", p.text[p.pos:])
			}
			return s, nil
		}
	}
	if p.pos == start {
		return nil, fmt.Errorf("a selector is missing")
	}
	return s, nil
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// attribute reads [name], [name op value] and [name op value i].
func (p *selectorParser) attribute() (func(e *openElement) bool, error) {
	p.pos++
	p.space()
	name := lowerASCII(p.ident())
	p.space()
	if name == "" {
		return nil, fmt.Errorf("the name of an attribute is missing")
	}
	if p.take("]") {
		return func(e *openElement) bool { _, ok := e.attr(name); return ok }, nil
	}
	op := ""
	for _, known := range []string{"=", "~=", "^=", "$=", "*=", "|="} {
		if op == "" && p.take(known) {
			op = known
		}
	}
	if op == "" {
		return nil, fmt.Errorf("an operator is missing in an attribute selector")
	}
	p.space()
	want := p.value()
	p.space()
	fold := p.take("i") || p.take("I")
	_ = fold || p.take("s") || p.take("S")
	p.space()
	if !p.take("]") {
		return nil, fmt.Errorf("] is missing")
	}
	if fold {
		want = strings.ToLower(want)
	}
	return func(e *openElement) bool {
		got, ok := e.attr(name)
		if fold {
			got = strings.ToLower(got)
		}
		return ok && compareAttr(op, got, want)
	}, nil
}

func compareAttr(op, got, want string) bool {
	switch op {
	case "=":
		return got == want
	case "~=":
		return want != "" && hasWord(got, want)
	case "^=":
		return want != "" && strings.HasPrefix(got, want)
	case "$=":
		return want != "" && strings.HasSuffix(got, want)
	case "*=":
		return want != "" && strings.Contains(got, want)
	default:
		return got == want || strings.HasPrefix(got, want+"-")
	}
}

func (p *selectorParser) pseudo() (func(e *openElement) bool, error) {
	p.pos++
	name := lowerASCII(p.ident())
	switch name {
	case "first-child":
		return func(e *openElement) bool { return e.nth == 1 }, nil
	case "first-of-type":
		return func(e *openElement) bool { return e.nthType == 1 }, nil
	}
	if !p.take("(") {
		return nil, fmt.Errorf("the pseudo-class :%s is not supported", name)
	}
	if name == "not" {
		list, err := p.list()
		if err == nil && !p.take(")") {
			err = fmt.Errorf(") is missing")
		}
		return func(e *openElement) bool { return !matchesAny(list, e) }, err
	}
	inner, rest, ok := strings.Cut(p.text[p.pos:], ")")
	if !ok {
		return nil, fmt.Errorf(") is missing")
	}
	p.pos = len(p.text) - len(rest)
	a, b, err := parseNth(inner)
	switch {
	case err != nil:
		return nil, err
	case name == "nth-child":
		return func(e *openElement) bool { return isNth(a, b, e.nth) }, nil
	case name == "nth-of-type":
		return func(e *openElement) bool { return isNth(a, b, e.nthType) }, nil
	}
	return nil, fmt.Errorf("the pseudo-class :%s is not supported", name)
}

// parseNth reads an+b, odd and even.
func parseNth(text string) (a, b int, err error) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	switch text {
	case "odd":
		return 2, 1, nil
	case "even":
		return 2, 0, nil
	}
	step, offset, hasN := strings.Cut(text, "n")
	if !hasN {
		b, err = strconv.Atoi(text)
		return 0, b, err
	}
	switch step {
	case "", "+":
		a = 1
	case "-":
		a = -1
	default:
		if a, err = strconv.Atoi(step); err != nil {
			return 0, 0, err
		}
	}
	if offset != "" {
		b, err = strconv.Atoi(offset)
	}
	return a, b, err
}

func isNth(a, b, n int) bool {
	if a == 0 {
		return n == b
	}
	return (n-b)%a == 0 && (n-b)/a >= 0
}

// value is a quoted string or an identifier.
func (p *selectorParser) value() string {
	if p.pos < len(p.text) && (p.text[p.pos] == '"' || p.text[p.pos] == '\'') {
		quote := p.text[p.pos : p.pos+1]
		p.pos++
		v, rest, _ := strings.Cut(p.text[p.pos:], quote)
		p.pos = len(p.text) - len(rest)
		return v
	}
	return p.ident()
}

func (p *selectorParser) ident() string {
	var b strings.Builder
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '\\' && p.pos+1 < len(p.text):
			p.pos++
			b.WriteByte(p.text[p.pos])
		case c == '-' || c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			b.WriteByte(c)
		default:
			return b.String()
		}
		p.pos++
	}
	return b.String()
}

func (p *selectorParser) take(s string) bool {
	if strings.HasPrefix(p.text[p.pos:], s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *selectorParser) space() (some bool) {
	for p.pos < len(p.text) && strings.ContainsRune(" \t\r\n\f", rune(p.text[p.pos])) {
		p.pos++
		some = true
	}
	return some
}
