package webapi

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// patternError is why a pattern cannot be used: the text of a SyntaxError
// after "Invalid regular expression: /.../: ".
type patternError string

// Error implements error.
func (e patternError) Error() string { return string(e) }

// pattern translates a pattern (ECMA-262, section 22.2.1) for goja. With the flag
// u or v, it knows neither property escapes nor sets: a class that needs one of
// them is written as ranges of code points. With the flag i, regexp2 looks for the
// case variants of each of the million code points that . \S \W and \D stand for,
// which takes tens of milliseconds, and finds the letters s and k in \W: there
// these are written as the complements of few.
type pattern struct {
	src         []rune
	pos         int
	sets        bool // the flag v
	complements bool
	dotAll      bool // the flag s
	out         strings.Builder
}

// classValue is what a class or an operand of one stands for: code points and,
// with v, strings of more or fewer than one.
type classValue struct {
	set     runeSet
	strings []string
}

// needsTranslation tells whether goja would misunderstand the pattern.
func needsTranslation(source, flags string) bool {
	return strings.Contains(flags, "v") ||
		strings.Contains(flags, "u") && (strings.Contains(source, `\p`) || strings.Contains(source, `\P`)) ||
		needsComplements(source, flags)
}

// backtracks finds what makes goja use regexp2: look-around and back-references.
var backtracks = regexp.MustCompile(`\(\?(?:<?[=!])|\\[1-9k]`)

// needsComplements reports whether the pattern goes to regexp2 with the flag i,
// and may hold one of the escapes that are slow there.
func needsComplements(source, flags string) bool {
	return strings.Contains(flags, "i") && backtracks.MatchString(source)
}

// translatePattern gives the pattern to compile with u in the place of v.
func translatePattern(source goja.String, flags string) (out string, err error) {
	p := &pattern{
		src: codePoints(source), sets: strings.Contains(flags, "v"), dotAll: strings.Contains(flags, "s"),
		complements: needsComplements(source.String(), flags),
	}
	defer func() {
		if x := recover(); x != nil {
			failure, ok := x.(patternError)
			if !ok {
				panic(x)
			}
			err = failure
		}
	}()
	for p.pos < len(p.src) {
		p.term()
	}
	return p.out.String(), nil
}

// codePoints are those of a string; a lone surrogate stands for itself.
func codePoints(s goja.String) []rune {
	var out []rune
	for i, n := 0, s.Length(); i < n; i++ {
		c := rune(s.CharAt(i))
		if utf16.IsSurrogate(c) && i+1 < n {
			if r := utf16.DecodeRune(c, rune(s.CharAt(i+1))); r != '\uFFFD' {
				c = r
				i++
			}
		}
		out = append(out, c)
	}
	return out
}

func (p *pattern) fail(text string) { panic(patternError(text)) }

func (p *pattern) has(text string) bool {
	for i, c := range []rune(text) {
		if p.pos+i >= len(p.src) || p.src[p.pos+i] != c {
			return false
		}
	}
	return true
}

func (p *pattern) accept(text string) bool {
	if !p.has(text) {
		return false
	}
	p.pos += len([]rune(text))
	return true
}

// term copies one thing outside classes, or writes its translation.
func (p *pattern) term() {
	switch c := p.src[p.pos]; {
	case c == '\\' && p.pos+1 < len(p.src) && (p.src[p.pos+1] == 'p' || p.src[p.pos+1] == 'P'):
		p.pos++
		p.write(p.property(), false)
	case p.complements && c == '.' && !p.dotAll:
		p.pos++
		p.out.WriteString(`[^\n\r\u2028\u2029]`)
	case p.complements && c == '\\' && p.pos+1 < len(p.src) && strings.ContainsRune("SWD", p.src[p.pos+1]):
		p.out.WriteString(`[^\` + strings.ToLower(string(p.src[p.pos+1])) + `]`)
		p.pos += 2
	case c == '\\' && p.pos+1 < len(p.src):
		p.copy(2)
	case c == '[':
		p.class()
	default:
		p.copy(1)
	}
}

func (p *pattern) copy(n int) {
	for ; n > 0; n-- {
		c := p.src[p.pos]
		if c < 0x10000 && utf16.IsSurrogate(c) {
			writeRune(&p.out, c)
		} else {
			p.out.WriteRune(c)
		}
		p.pos++
	}
}

// class reads a class from its bracket on. Without u-mode property escapes in
// it, and without v, it is copied as it stands.
func (p *pattern) class() {
	if !p.sets && !p.classHasProperty() {
		p.copy(1)
		for p.pos < len(p.src) && p.src[p.pos] != ']' {
			if p.src[p.pos] == '\\' && p.pos+1 < len(p.src) {
				p.copy(1)
			}
			p.copy(1)
		}
		return
	}
	p.pos++
	negated := p.accept("^")
	v := p.classBody()
	if negated && len(v.strings) > 0 {
		p.fail("Negated character class may contain strings")
	}
	p.write(v, negated)
}

func (p *pattern) classHasProperty() bool {
	for i := p.pos + 1; i < len(p.src) && p.src[i] != ']'; i++ {
		if p.src[i] == '\\' {
			if i++; i < len(p.src) && (p.src[i] == 'p' || p.src[i] == 'P') {
				return true
			}
		}
	}
	return false
}

// write writes a value: a class, or a choice of strings and a class.
func (p *pattern) write(v classValue, negated bool) {
	if len(v.strings) == 0 {
		p.out.WriteString(v.set.class(negated))
		return
	}
	// Longer strings first (ECMA-262: CompileAtom of ClassSetCharacter).
	list := append([]string(nil), v.strings...)
	sort.SliceStable(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	p.out.WriteString("(?:")
	empty := false
	for _, s := range list {
		if s == "" {
			empty = true
			continue
		}
		for _, r := range s {
			writeRune(&p.out, r)
		}
		p.out.WriteByte('|')
	}
	p.out.WriteString(v.set.class(false))
	if empty {
		p.out.WriteByte('|')
	}
	p.out.WriteByte(')')
}

// classBody reads up to the closing bracket.
func (p *pattern) classBody() classValue {
	var v classValue
	first := true
	for {
		if p.pos >= len(p.src) {
			p.fail("Unterminated character class")
		}
		switch {
		case p.accept("]"):
			return v
		case p.sets && !first && p.accept("--"):
			v = v.minus(p.operand())
		case p.sets && !first && p.accept("&&"):
			v = v.intersect(p.operand())
		default:
			v = v.union(p.rangeOrOperand())
		}
		first = false
	}
}

func (p *pattern) rangeOrOperand() classValue {
	lo := p.operand()
	if p.sets && p.has("--") || !p.has("-") || p.pos+1 < len(p.src) && p.src[p.pos+1] == ']' {
		return lo
	}
	p.pos++
	hi := p.operand()
	if !lo.single() || !hi.single() {
		p.fail("Invalid character class")
	}
	if lo.set[0].lo > hi.set[0].lo {
		p.fail("Range out of order in character class")
	}
	return classValue{set: runeSet{{lo.set[0].lo, hi.set[0].lo}}}
}

func (v classValue) single() bool {
	return len(v.strings) == 0 && len(v.set) == 1 && v.set[0].lo == v.set[0].hi
}

func (v classValue) union(w classValue) classValue {
	return classValue{set: v.set.union(w.set), strings: append(append([]string(nil), v.strings...), w.strings...)}
}

func (v classValue) minus(w classValue) classValue {
	return classValue{set: v.set.minus(w.set), strings: v.filter(w, false)}
}

func (v classValue) intersect(w classValue) classValue {
	return classValue{set: v.set.intersect(w.set), strings: v.filter(w, true)}
}

func (v classValue) filter(w classValue, present bool) []string {
	var kept []string
	for _, s := range v.strings {
		found := false
		for _, t := range w.strings {
			found = found || s == t
		}
		if found == present {
			kept = append(kept, s)
		}
	}
	return kept
}

// operand reads a nested class, an escape or a character.
func (p *pattern) operand() classValue {
	if p.pos >= len(p.src) {
		p.fail("Unterminated character class")
	}
	c := p.src[p.pos]
	switch {
	case p.sets && c == '[':
		p.pos++
		negated := p.accept("^")
		v := p.classBody()
		if negated {
			if len(v.strings) > 0 {
				p.fail("Negated character class may contain strings")
			}
			v.set = v.set.negate()
		}
		return v
	case c == '\\':
		p.pos++
		return p.escape()
	case p.sets && strings.ContainsRune("(){}/|", c):
		p.fail("Invalid character in character class")
	}
	p.pos++
	return classValue{set: runeSet{{c, c}}}
}

// The sets of \d, \s and \w.
var (
	digits = runeSet{{'0', '9'}}
	words  = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	spaces = newRuneSet([]runeRange{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x1680, 0x1680}, {0x2000, 0x200A},
		{0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}})
)

// escape reads an escape of a class, after its backslash.
func (p *pattern) escape() classValue {
	if p.pos >= len(p.src) {
		p.fail("\\ at end of pattern")
	}
	c := p.src[p.pos]
	one := func(r rune) classValue { return classValue{set: runeSet{{r, r}}} }
	switch c {
	case 'p', 'P':
		return p.property()
	case 'q':
		if p.sets {
			return p.strings()
		}
	case 'd', 'D', 's', 'S', 'w', 'W':
		p.pos++
		set := map[rune]runeSet{'d': digits, 's': spaces, 'w': words}[c|0x20]
		if c < 'a' {
			set = set.negate()
		}
		return classValue{set: set}
	case 'x':
		p.pos++
		return one(p.hex(2))
	case 'u':
		p.pos++
		return one(p.unicodeEscape())
	case 'c':
		if p.pos+1 < len(p.src) {
			p.pos += 2
			return one(p.src[p.pos-1] % 32)
		}
	}
	p.pos++
	if i := strings.IndexRune("bfnrtv0", c); i >= 0 {
		return one(rune("\b\f\n\r\t\v\x00"[i]))
	}
	if c >= '1' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		p.fail("Invalid escape")
	}
	return one(c)
}

func (p *pattern) hex(n int) rune {
	if p.pos+n > len(p.src) {
		p.fail("Invalid escape")
	}
	v, err := strconv.ParseUint(string(p.src[p.pos:p.pos+n]), 16, 32)
	if err != nil {
		p.fail("Invalid escape")
	}
	p.pos += n
	return rune(v)
}

func (p *pattern) unicodeEscape() rune {
	if p.accept("{") {
		text := p.braced()
		v, err := strconv.ParseUint(text, 16, 32)
		if err != nil || v > maxRune {
			p.fail("Invalid Unicode escape")
		}
		return rune(v)
	}
	r := p.hex(4)
	if utf16.IsSurrogate(r) && p.has(`\u`) {
		at := p.pos
		p.pos += 2
		if !p.has("{") {
			if pair := utf16.DecodeRune(r, p.hex(4)); pair != '\uFFFD' {
				return pair
			}
		}
		p.pos = at
	}
	return r
}

// braced reads up to the closing brace.
func (p *pattern) braced() string {
	start := p.pos
	for p.pos < len(p.src) {
		if p.src[p.pos] == '}' {
			p.pos++
			return string(p.src[start : p.pos-1])
		}
		p.pos++
	}
	p.fail("Invalid escape")
	return ""
}

// property reads p{...} or P{...}.
func (p *pattern) property() classValue {
	negated := p.src[p.pos] == 'P'
	p.pos++
	if !p.accept("{") {
		p.fail("Invalid property name")
	}
	name := p.braced()
	set, ok := propertySet(name)
	if !ok {
		if p.sets && stringProperties[name] {
			p.fail(fmt.Sprintf("minido has no table of the strings of \\p{%s}; list them with \\q{...}, or use \\p{Emoji}", name))
		}
		p.fail("Invalid property name")
	}
	if negated {
		set = set.negate()
	}
	return classValue{set: set}
}

// stringProperties are the properties of strings (ECMA-262, table 68).
var stringProperties = map[string]bool{"Basic_Emoji": true, "Emoji_Keycap_Sequence": true, "RGI_Modifier_Sequence": true,
	"RGI_Emoji_Flag_Sequence": true, "RGI_Emoji_Modifier_Sequence": true, "RGI_Emoji_Tag_Sequence": true,
	"RGI_Emoji_ZWJ_Sequence": true, "RGI_Emoji": true}

// strings reads q{abc|d}.
func (p *pattern) strings() classValue {
	p.pos++
	if !p.accept("{") {
		p.fail("Invalid escape")
	}
	var v classValue
	var current []rune
	end := func() {
		if len(current) == 1 {
			v.set = v.set.union(runeSet{{current[0], current[0]}})
		} else {
			v.strings = append(v.strings, string(current))
		}
		current = nil
	}
	for p.pos < len(p.src) {
		switch {
		case p.accept("}"):
			end()
			return v
		case p.accept("|"):
			end()
			continue
		}
		item := p.operand()
		if !item.single() {
			p.fail("Invalid escape")
		}
		current = append(current, item.set[0].lo)
	}
	p.fail("Invalid escape")
	return v
}
