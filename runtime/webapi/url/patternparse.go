package url

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"minido.dev/minido/internal/lazyregexp"
)

// The pattern syntax of the URL Pattern standard (section 2): a string becomes
// tokens, tokens become parts, and parts become a regular expression.

type patternTokenKind uint8

const (
	tokenEnd patternTokenKind = iota
	tokenOpen
	tokenClose
	tokenRegExp
	tokenName
	tokenChar
	tokenEscaped
	tokenModifier // ? or +
	tokenAsterisk
	tokenInvalid
)

type patternToken struct {
	kind  patternTokenKind
	index int // in code points
	value string
}

// tokenizePattern is "tokenize"; lenient gives invalid characters as tokens.
func tokenizePattern(input []rune, lenient bool) ([]patternToken, error) {
	var out []patternToken
	invalid := func(i, next int, why string) (int, error) {
		if !lenient {
			return 0, syntaxError("%s", why)
		}
		out = append(out, patternToken{tokenInvalid, i, string(input[i:next])})
		return next, nil
	}
	var err error
	for i := 0; i < len(input); {
		kind := tokenChar
		switch c := input[i]; c {
		case '*':
			kind = tokenAsterisk
		case '+', '?':
			kind = tokenModifier
		case '{':
			kind = tokenOpen
		case '}':
			kind = tokenClose
		case '\\':
			if i == len(input)-1 {
				if i, err = invalid(i, i+1, fmt.Sprintf("invalid escape character at %d", i)); err != nil {
					return nil, err
				}
				continue
			}
			out = append(out, patternToken{tokenEscaped, i, string(input[i+1])})
			i += 2
			continue
		case ':':
			end := i + 1
			for end < len(input) && isNamePoint(input[end], end == i+1) {
				end++
			}
			if end == i+1 {
				if i, err = invalid(i, i+1, fmt.Sprintf("invalid name start at %d", i)); err != nil {
					return nil, err
				}
				continue
			}
			out = append(out, patternToken{tokenName, i, string(input[i+1 : end])})
			i = end
			continue
		case '(':
			end, why := groupEnd(input, i)
			if why != "" {
				if i, err = invalid(i, i+1, why); err != nil {
					return nil, err
				}
				continue
			}
			out = append(out, patternToken{tokenRegExp, i, string(input[i+1 : end])})
			i = end + 1
			continue
		}
		out = append(out, patternToken{kind, i, string(input[i])})
		i++
	}
	return append(out, patternToken{kind: tokenEnd, index: len(input)}), nil
}

// groupEnd finds the parenthesis that closes the group at i.
func groupEnd(input []rune, i int) (end int, why string) {
	depth := 1
	for j := i + 1; j < len(input); j++ {
		switch c := input[j]; {
		case c > unicode.MaxASCII:
			return 0, fmt.Sprintf("invalid regex character at %d", j)
		case c == '?' && j == i+1:
			return 0, fmt.Sprintf("invalid regex character at %d", j)
		case c == '\\':
			j++
			if j >= len(input) {
				return 0, fmt.Sprintf("invalid escape character in regex at %d", j-1)
			}
			if input[j] > unicode.MaxASCII {
				return 0, fmt.Sprintf("invalid escaped character in regex at %d", j)
			}
		case c == ')':
			if depth--; depth == 0 {
				if j == i+1 {
					return 0, fmt.Sprintf("invalid regex segment at %d", i+1)
				}
				return j, ""
			}
		case c == '(':
			depth++
			if j+1 >= len(input) {
				return 0, fmt.Sprintf("invalid group in regex at %d", j)
			}
			if input[j+1] != '?' {
				return 0, fmt.Sprintf("invalid group in regex at %d", j+1)
			}
		}
	}
	if i+1 == len(input) {
		return 0, fmt.Sprintf("invalid regex start at %d", i)
	}
	return 0, fmt.Sprintf("invalid regex segment at %d", i+1)
}

func isNamePoint(r rune, first bool) bool {
	if r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) {
		return true
	}
	return !first && (unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || r == 0x200C || r == 0x200D)
}

type patternPartKind uint8

const (
	partFixed patternPartKind = iota
	partRegExp
	partSegment // up to the next delimiter
	partWildcard
)

// patternPart is one part; modifier is "", "?", "*" or "+".
type patternPart struct {
	kind                                  patternPartKind
	value, modifier, name, prefix, suffix string
}

// patternSyntax are the options of a component.
type patternSyntax struct{ delimiter, prefix string }

// patternParser makes parts of tokens.
type patternParser struct {
	tokens  []patternToken
	at      int
	syntax  patternSyntax
	encode  func(string) (string, error)
	segment string
	parts   []patternPart
	names   map[string]bool
	fixed   strings.Builder
	next    int // the next numeric name
}

func (o patternSyntax) segmentRegExp() string {
	return "[^" + regexpEscape(o.delimiter) + "]+?"
}

// maxPattern bounds the text of one component, in bytes: each group is parsed as a URL, which
// nothing interrupts.
const maxPattern = 256 << 10

// parsePattern is "parse a pattern string".
func parsePattern(input string, o patternSyntax, encode func(string) (string, error)) ([]patternPart, error) {
	if len(input) > maxPattern {
		return nil, syntaxError("minido takes patterns of up to 256 KB")
	}
	tokens, err := tokenizePattern([]rune(input), false)
	if err != nil {
		return nil, err
	}
	p := &patternParser{tokens: tokens, syntax: o, encode: encode, segment: o.segmentRegExp(), names: map[string]bool{}}
	for p.at < len(p.tokens) {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	return p.parts, nil
}

func (p *patternParser) take(kind patternTokenKind) (patternToken, bool) {
	if p.at < len(p.tokens) && p.tokens[p.at].kind == kind {
		p.at++
		return p.tokens[p.at-1], true
	}
	return patternToken{}, false
}

func (p *patternParser) takeModifier() string {
	if t, ok := p.take(tokenModifier); ok {
		return t.value
	}
	if t, ok := p.take(tokenAsterisk); ok {
		return t.value
	}
	return ""
}

// takeWild takes a regular expression or an asterisk.
func (p *patternParser) takeWild(named bool) (value string, asterisk, ok bool) {
	if t, ok := p.take(tokenRegExp); ok {
		return t.value, false, true
	}
	if !named {
		if _, ok := p.take(tokenAsterisk); ok {
			return "", true, true
		}
	}
	return "", false, false
}

func (p *patternParser) step() error {
	char, hasChar := p.take(tokenChar)
	name, hasName := p.take(tokenName)
	wild, asterisk, hasWild := p.takeWild(hasName)
	if hasName || hasWild {
		prefix := char.value
		if prefix != "" && prefix != p.syntax.prefix {
			p.fixed.WriteString(prefix)
			prefix = ""
		}
		if err := p.flush(); err != nil {
			return err
		}
		return p.add(prefix, name.value, wild, asterisk, hasWild, "", p.takeModifier())
	}
	if !hasChar {
		char, hasChar = p.take(tokenEscaped)
	}
	if hasChar {
		p.fixed.WriteString(char.value)
		return nil
	}
	if _, ok := p.take(tokenOpen); ok {
		prefix := p.takeText()
		name, hasName := p.take(tokenName)
		wild, asterisk, hasWild := p.takeWild(hasName)
		suffix := p.takeText()
		if _, ok := p.take(tokenClose); !ok {
			return syntaxError("Missing required close token")
		}
		return p.add(prefix, name.value, wild, asterisk, hasWild, suffix, p.takeModifier())
	}
	if err := p.flush(); err != nil {
		return err
	}
	if _, ok := p.take(tokenEnd); !ok {
		return syntaxError("Missing required end token")
	}
	return nil
}

func (p *patternParser) takeText() string {
	var b strings.Builder
	for {
		t, ok := p.take(tokenChar)
		if !ok {
			if t, ok = p.take(tokenEscaped); !ok {
				return b.String()
			}
		}
		b.WriteString(t.value)
	}
}

// flush makes a part of the fixed text so far.
func (p *patternParser) flush() error {
	if p.fixed.Len() == 0 {
		return nil
	}
	text, err := p.encode(p.fixed.String())
	p.fixed.Reset()
	if err != nil {
		return err
	}
	p.parts = append(p.parts, patternPart{kind: partFixed, value: text})
	return nil
}

// add is "add a part".
func (p *patternParser) add(prefix, name, wild string, asterisk, hasWild bool, suffix, modifier string) error {
	if name == "" && !hasWild && modifier == "" {
		p.fixed.WriteString(prefix)
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	if name == "" && !hasWild {
		if prefix == "" {
			return nil
		}
		text, err := p.encode(prefix)
		if err != nil {
			return err
		}
		p.parts = append(p.parts, patternPart{kind: partFixed, value: text, modifier: modifier})
		return nil
	}
	part := patternPart{kind: partRegExp, value: wild, modifier: modifier}
	switch {
	case asterisk || hasWild && wild == ".*":
		part.kind, part.value = partWildcard, ""
	case !hasWild || wild == p.segment:
		part.kind, part.value = partSegment, ""
	}
	part.name = name
	if name == "" {
		part.name = strconv.Itoa(p.next)
		p.next++
	}
	if p.names[part.name] {
		return syntaxError("Duplicated part names [%s]", part.name)
	}
	p.names[part.name] = true
	var err error
	if part.prefix, err = p.encode(prefix); err != nil {
		return err
	}
	if part.suffix, err = p.encode(suffix); err != nil {
		return err
	}
	p.parts = append(p.parts, part)
	return nil
}

var regexpSpecial = lazyregexp.New(`[.+*?^${}()\[\]|/\\]`)

func regexpEscape(s string) string { return regexpSpecial.ReplaceAllString(s, `\$0`) }

// patternRegExp is "generate a regular expression and name list".
func patternRegExp(parts []patternPart, o patternSyntax) (source string, names []string) {
	var b strings.Builder
	b.WriteByte('^')
	for _, x := range parts {
		if x.kind == partFixed {
			if x.modifier == "" {
				b.WriteString(regexpEscape(x.value))
			} else {
				b.WriteString("(?:" + regexpEscape(x.value) + ")" + x.modifier)
			}
			continue
		}
		names = append(names, x.name)
		value := x.value
		switch x.kind {
		case partSegment:
			value = o.segmentRegExp()
		case partWildcard:
			value = ".*"
		}
		prefix, suffix := regexpEscape(x.prefix), regexpEscape(x.suffix)
		switch {
		case x.prefix == "" && x.suffix == "" && (x.modifier == "" || x.modifier == "?"):
			b.WriteString("(" + value + ")" + x.modifier)
		case x.prefix == "" && x.suffix == "":
			b.WriteString("((?:" + value + ")" + x.modifier + ")")
		case x.modifier == "" || x.modifier == "?":
			b.WriteString("(?:" + prefix + "(" + value + ")" + suffix + ")" + x.modifier)
		default:
			b.WriteString("(?:" + prefix + "((?:" + value + ")(?:" + suffix + prefix + "(?:" + value + "))*)" + suffix + ")")
			if x.modifier == "*" {
				b.WriteByte('?')
			}
		}
	}
	b.WriteByte('$')
	return b.String(), names
}

var patternSpecial = lazyregexp.New(`[+*?:{}()\\]`)

// patternText is "generate a pattern string".
func patternText(parts []patternPart, o patternSyntax) string {
	var b strings.Builder
	escape := func(s string) string { return patternSpecial.ReplaceAllString(s, `\$0`) }
	for i, x := range parts {
		if x.kind == partFixed {
			if x.modifier == "" {
				b.WriteString(escape(x.value))
			} else {
				b.WriteString("{" + escape(x.value) + "}" + x.modifier)
			}
			continue
		}
		custom := x.name[0] < '0' || x.name[0] > '9'
		grouping := x.suffix != "" || x.prefix != "" && x.prefix != o.prefix
		if !grouping && custom && x.kind == partSegment && x.modifier == "" && i+1 < len(parts) && parts[i+1].prefix == "" && parts[i+1].suffix == "" {
			if following := parts[i+1]; following.kind == partFixed {
				grouping = isNamePoint([]rune(following.value)[0], false)
			} else {
				grouping = following.name[0] >= '0' && following.name[0] <= '9'
			}
		}
		if !grouping && x.prefix == "" && i > 0 && parts[i-1].kind == partFixed && parts[i-1].modifier == "" {
			grouping = o.prefix != "" && strings.HasSuffix(parts[i-1].value, o.prefix)
		}
		if grouping {
			b.WriteByte('{')
		}
		b.WriteString(escape(x.prefix))
		if custom {
			b.WriteString(":" + x.name)
		}
		switch {
		case x.kind == partRegExp:
			b.WriteString("(" + x.value + ")")
		case x.kind == partSegment && !custom:
			b.WriteString("(" + o.segmentRegExp() + ")")
		case x.kind == partWildcard && !custom && (i == 0 || parts[i-1].kind == partFixed || parts[i-1].modifier != "" || grouping || x.prefix != ""):
			b.WriteByte('*')
		case x.kind == partWildcard:
			b.WriteString("(.*)")
		}
		if x.kind == partSegment && custom && x.suffix != "" && isNamePoint([]rune(x.suffix)[0], false) {
			b.WriteByte('\\')
		}
		b.WriteString(escape(x.suffix))
		if grouping {
			b.WriteByte('}')
		}
		b.WriteString(x.modifier)
	}
	return b.String()
}
