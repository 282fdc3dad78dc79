// Package mime parses and writes media types (MIME Sniffing, section 4), and
// knows the tokens of HTTP.
package mime

import (
	"strings"
)

// Type is a MIME type record (MIME Sniffing, section 4). Immutable.
type Type struct {
	Essence string // type/subtype, in lower case
	Params  []Parameter
}

// Parameter is a parameter of a media type.
type Parameter struct{ Name, Value string }

const httpSpace = " \t\r\n"

// Parse is the standard's parse a MIME type; ok is false for failure.
func Parse(s string) (m Type, ok bool) {
	s = strings.Trim(s, httpSpace)
	typ, rest, found := strings.Cut(s, "/")
	if !found || !isTokenString(typ) {
		return m, false
	}
	sub, rest, more := strings.Cut(rest, ";")
	if sub = strings.TrimRight(sub, httpSpace); !isTokenString(sub) {
		return m, false
	}
	m.Essence = LowerASCII(typ + "/" + sub)
	for more {
		var p Parameter
		rest = strings.TrimLeft(rest, httpSpace)
		i := strings.IndexAny(rest, ";=")
		if i < 0 {
			break
		}
		p.Name = LowerASCII(rest[:i])
		hasValue := rest[i] == '='
		rest = rest[i+1:]
		if !hasValue {
			continue
		}
		quoted := strings.HasPrefix(rest, `"`)
		if quoted {
			p.Value, rest = cutQuoted(rest[1:])
			_, rest, more = strings.Cut(rest, ";")
		} else {
			p.Value, rest, more = strings.Cut(rest, ";")
			p.Value = strings.TrimRight(p.Value, httpSpace)
		}
		_, taken := m.Param(p.Name)
		if (quoted || p.Value != "") && isTokenString(p.Name) && isQuotable(p.Value) && !taken {
			m.Params = append(m.Params, p)
		}
	}
	return m, true
}

// cutQuoted takes the value of a quoted string from what follows its first
// quotation mark.
func cutQuoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// Param is a parameter's value.
func (m Type) Param(name string) (value string, ok bool) {
	for _, p := range m.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// String serializes a MIME type.
func (m Type) String() string {
	s := m.Essence
	for _, p := range m.Params {
		value := p.Value
		if !isTokenString(value) {
			value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		}
		s += ";" + p.Name + "=" + value
	}
	return s
}

// Extract is Fetch's extract a MIME type, from the value of Content-Type.
func Extract(value string) (m Type, ok bool) {
	charset, essence := "", ""
	for value != "" {
		var one string
		one, value = cutListItem(value)
		next, good := Parse(one)
		if !good || next.Essence == "*/*" {
			continue
		}
		m, ok = next, true
		if given, has := m.Param("charset"); has || m.Essence != essence {
			charset, essence = given, m.Essence
		} else if charset != "" {
			m.Params = append(m.Params, Parameter{"charset", charset})
		}
	}
	return m, ok
}

// cutListItem takes the first item of a comma-separated list that may contain
// quoted strings.
func cutListItem(s string) (item, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func isTokenString(s string) bool {
	for i := 0; i < len(s); i++ {
		if !IsToken(s[i]) {
			return false
		}
	}
	return s != ""
}

// isQuotable reports whether s has only HTTP quoted-string token code points.
func isQuotable(s string) bool {
	for _, r := range s {
		if r != '\t' && r < ' ' || r == 0x7F || r > 0xFF {
			return false
		}
	}
	return true
}

// LowerASCII makes the letters A to Z lower case, and no others.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// IsToken reports whether c may be in an HTTP token (RFC 9110, section 5.6.2).
func IsToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' ||
		strings.IndexByte("!#$%&'*+.^_`|~", c) >= 0
}
