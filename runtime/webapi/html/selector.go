package html

import (
	"strconv"
	"strings"
	"unicode"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/webapi/mime"
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
	id       int // of its start tag
	space    string
	left     bool  // foreign content ended in it
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

// selectorError is what is wrong with a selector, in the reference's words
// (lol-html: SelectorError).
type selectorError string

// Error implements error.
func (e selectorError) Error() string { return string(e) }

const (
	errSelectorEmpty     selectorError = "The selector is empty."
	errSelectorEnd       selectorError = "Unexpected end of selector."
	errSelectorToken     selectorError = "Unexpected token in selector."
	errSelectorPseudo    selectorError = "Unsupported pseudo-class or pseudo-element in selector."
	errSelectorNamespace selectorError = "Selectors with explicit namespaces are not supported."
	errSelectorDangling  selectorError = "Dangling combinator in selector."
	errSelectorClass     selectorError = "Invalid or unescaped class name in selector."
	errSelectorAttribute selectorError = "Unexpected token in the attribute selector."
	errSelectorNoName    selectorError = "Missing attribute name in attribute selector."
)

// selectorParser is loop-confined.
type selectorParser struct {
	text string // without comments
	pos  int
}

// parseSelectors reads a comma-separated list.
func parseSelectors(text string) ([]*selector, error) {
	for {
		before, rest, ok := strings.Cut(text, "/*")
		if !ok {
			break
		}
		_, after, _ := strings.Cut(rest, "*/")
		text = before + after
	}
	p := &selectorParser{text: text}
	list, err := p.list()
	if err == nil && !p.ended() {
		err = errSelectorToken
	}
	return list, err
}

func (p *selectorParser) ended() bool { return p.pos >= len(p.text) }

// next is the byte that comes next, 0 at the end.
func (p *selectorParser) next() byte {
	if p.ended() {
		return 0
	}
	return p.text[p.pos]
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
			if left != nil && err == errSelectorEmpty {
				err = errSelectorDangling
			}
			return nil, err
		}
		s.left, s.child = left, child
		left = s
		gap := p.space()
		switch c := p.next(); {
		case c == '>':
			p.pos++
			child = true
			p.space()
		case c == '+' || c == '~':
			return nil, selectorError("Unsupported combinator `" + string(c) + "` in selector.")
		case gap && c != 0 && c != ',' && c != ')':
			child = false
		default:
			return s, nil
		}
	}
}

func (p *selectorParser) compound() (*selector, error) {
	s := &selector{}
	add := func(test func(e *openElement) bool) { s.tests = append(s.tests, test) }
	start := p.pos
	name, any := p.ident(), false
	if name == "" {
		any = p.take("*")
	}
	switch {
	case p.next() == '|' && (name != "" || !any && strings.HasPrefix(p.text[p.pos:], "||")):
		return nil, errSelectorNamespace
	case p.take("|"):
		if !any { // elements without a namespace: a document has none
			add(func(*openElement) bool { return false })
		}
		if name = p.ident(); name == "" && !p.take("*") {
			return nil, errSelectorToken
		}
	}
	if name = mime.LowerASCII(name); name != "" {
		add(func(e *openElement) bool { return e.name == name })
	}
	for !p.ended() {
		test, err := p.simple()
		if err != nil {
			return nil, err
		}
		if test == nil {
			break
		}
		add(test)
	}
	if p.pos == start {
		return nil, errSelectorEmpty
	}
	return s, nil
}

// simple reads one simple selector; nil is for none.
func (p *selectorParser) simple() (func(e *openElement) bool, error) {
	switch c := p.next(); c {
	case '.', '#':
		if next := p.text[p.pos+1:]; next != "" && next[0] >= '0' && next[0] <= '9' {
			return nil, nil // a number, or a hash that is no identifier
		}
		p.pos++
		name := p.ident()
		switch {
		case name == "" && c == '#':
			p.pos--
			return nil, nil
		case name == "" && p.ended():
			return nil, errSelectorEnd
		case name == "":
			return nil, errSelectorClass
		case c == '#':
			return func(e *openElement) bool { v, ok := e.attr("id"); return ok && v == name }, nil
		}
		return func(e *openElement) bool { v, _ := e.attr("class"); return hasWord(v, name) }, nil
	case '[':
		return p.attribute()
	case ':':
		return p.pseudo()
	}
	return nil, nil
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// foldedAttributes are those whose values selectors compare without regard to
// case (HTML, section 4.16.2).
const foldedAttributes = " accept accept-charset align alink axis bgcolor charset checked clear codetype color compact " +
	"declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple " +
	"nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign " +
	"valuetype vlink "

// attribute reads [name], [name op value] and [name op value i]. What is still
// open where the selector ends is closed there (CSS Syntax, section 5.4.8).
func (p *selectorParser) attribute() (func(e *openElement) bool, error) {
	p.pos++
	p.space()
	spaced := p.take("|") && p.next() != '='
	name := mime.LowerASCII(p.ident())
	switch {
	case strings.HasPrefix(p.text[p.pos:], "*|") || !spaced && p.next() == '|' && !strings.HasPrefix(p.text[p.pos:], "|="):
		return nil, errSelectorNamespace
	case name == "" && p.ended():
		return nil, errSelectorEnd
	case name == "":
		return nil, errSelectorNoName
	}
	p.space()
	if p.ended() || p.take("]") {
		return func(e *openElement) bool { _, ok := e.attr(name); return ok }, nil
	}
	op := ""
	for _, known := range []string{"=", "~=", "^=", "$=", "*=", "|="} {
		if op == "" && p.take(known) {
			op = known
		}
	}
	if op == "" {
		return nil, errSelectorAttribute
	}
	p.space()
	want, ok := p.value()
	switch {
	case !ok && (p.ended() || p.next() == ']'):
		return nil, errSelectorEnd
	case !ok:
		return nil, errSelectorAttribute
	}
	p.space()
	fold := p.take("i") || p.take("I")
	exact := !fold && (p.take("s") || p.take("S"))
	p.space()
	if !p.ended() && !p.take("]") {
		return nil, errSelectorToken
	}
	perSpace := !fold && !exact && strings.Contains(foldedAttributes, " "+name+" ")
	return func(e *openElement) bool {
		got, ok := e.attr(name)
		if fold || perSpace && e.space == spaceHTML {
			return ok && compareAttr(op, mime.LowerASCII(got), mime.LowerASCII(want))
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
	if p.take(":") && !p.ended() {
		return nil, errSelectorPseudo
	}
	name := mime.LowerASCII(p.ident())
	switch {
	case name == "" && p.ended():
		return nil, errSelectorEnd
	case name == "":
		return nil, errSelectorToken
	}
	if !p.take("(") {
		switch name {
		case "first-child":
			return func(e *openElement) bool { return e.nth == 1 }, nil
		case "first-of-type":
			return func(e *openElement) bool { return e.nthType == 1 }, nil
		}
		return nil, errSelectorPseudo
	}
	switch name {
	case "not":
		list, err := p.list()
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			if s.left != nil {
				return nil, errSelectorPseudo
			}
		}
		if !p.ended() && !p.take(")") {
			return nil, errSelectorToken
		}
		return func(e *openElement) bool { return !matchesAny(list, e) }, nil
	case "nth-child", "nth-of-type":
		inner, rest, _ := strings.Cut(p.text[p.pos:], ")")
		p.pos = len(p.text) - len(rest)
		a, b, err := parseNth(inner)
		if name == "nth-child" {
			return func(e *openElement) bool { return isNth(a, b, e.nth) }, err
		}
		return func(e *openElement) bool { return isNth(a, b, e.nthType) }, err
	}
	return nil, errSelectorPseudo
}

var nthForm = lazyregexp.New(`^(?:([+-]?\d*)n(?:\s*([+-])\s*(\d+))?|([+-]?\d+))$`)

// parseNth reads an+b, odd and even (CSS Syntax, section 6.2).
func parseNth(text string) (a, b int, err error) {
	text = mime.LowerASCII(strings.Trim(text, " \t\r\n\f"))
	switch text {
	case "odd":
		return 2, 1, nil
	case "even":
		return 2, 0, nil
	}
	m := nthForm.FindStringSubmatch(text)
	switch {
	case m == nil && (text == "" || strings.HasSuffix(text, "+") || strings.HasSuffix(text, "n-")):
		return 0, 0, errSelectorEnd
	case m == nil:
		return 0, 0, errSelectorToken
	}
	// A number too long for an int is as good as the largest.
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	if m[4] != "" {
		return 0, number(m[4]), nil
	}
	switch m[1] {
	case "", "+":
		a = 1
	case "-":
		a = -1
	default:
		a = number(m[1])
	}
	return a, number(m[2] + m[3]), nil
}

func isNth(a, b, n int) bool {
	if a == 0 {
		return n == b
	}
	return (n-b)%a == 0 && (n-b)/a >= 0
}

// value is a quoted string or an identifier; ok is false for neither.
func (p *selectorParser) value() (v string, ok bool) {
	quote := p.next()
	if quote != '"' && quote != '\'' {
		v = p.ident()
		return v, v != ""
	}
	var b strings.Builder
	for p.pos++; !p.ended(); {
		switch c := p.next(); c {
		case quote:
			p.pos++
			return b.String(), true
		case '\\':
			p.escape(&b)
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	return b.String(), true
}

// ident is an identifier, "" if there is none (CSS Syntax, section 4.3.11).
func (p *selectorParser) ident() string {
	var b strings.Builder
	for start := p.pos; !p.ended(); {
		c := p.next()
		digit := c >= '0' && c <= '9'
		first := p.pos == start || p.pos == start+1 && p.text[start] == '-'
		switch {
		case c == '\\':
			p.escape(&b)
			continue
		case digit && first:
			p.pos = start
			return ""
		case digit || c == '-' || c == '_' || c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			b.WriteByte(c)
		default:
			return b.String()
		}
		p.pos++
	}
	return b.String()
}

// escape reads an escaped character (CSS Syntax, section 4.3.7).
func (p *selectorParser) escape(b *strings.Builder) {
	p.pos++
	digits := p.pos
	for p.pos < digits+6 && strings.IndexByte("0123456789abcdefABCDEF", p.next()) >= 0 && !p.ended() {
		p.pos++
	}
	if p.pos > digits {
		n, err := strconv.ParseUint(p.text[digits:p.pos], 16, 32)
		if err != nil || n == 0 || n > unicode.MaxRune {
			n = unicode.ReplacementChar
		}
		b.WriteRune(rune(n)) // a surrogate becomes U+FFFD
		if !p.ended() && strings.IndexByte(" \t\r\n\f", p.next()) >= 0 {
			p.pos++
		}
		return
	}
	if p.ended() {
		b.WriteRune(unicode.ReplacementChar)
		return
	}
	b.WriteByte(p.next())
	p.pos++
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
