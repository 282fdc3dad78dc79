package webapi

import (
	"strings"
)

// mimeType is a MIME type record (MIME Sniffing, section 4). Immutable.
type mimeType struct {
	essence string // type/subtype, in lower case
	params  []mimeParam
}

type mimeParam struct{ name, value string }

const httpSpace = " \t\r\n"

// parseMIME is the standard's parse a MIME type; ok is false for failure.
func parseMIME(s string) (m mimeType, ok bool) {
	s = strings.Trim(s, httpSpace)
	typ, rest, found := strings.Cut(s, "/")
	if !found || !isTokenString(typ) {
		return m, false
	}
	sub, rest, more := strings.Cut(rest, ";")
	if sub = strings.TrimRight(sub, httpSpace); !isTokenString(sub) {
		return m, false
	}
	m.essence = lowerASCII(typ + "/" + sub)
	for more {
		var p mimeParam
		rest = strings.TrimLeft(rest, httpSpace)
		i := strings.IndexAny(rest, ";=")
		if i < 0 {
			break
		}
		p.name = lowerASCII(rest[:i])
		hasValue := rest[i] == '='
		rest = rest[i+1:]
		if !hasValue {
			continue
		}
		quoted := strings.HasPrefix(rest, `"`)
		if quoted {
			p.value, rest = cutQuoted(rest[1:])
			_, rest, more = strings.Cut(rest, ";")
		} else {
			p.value, rest, more = strings.Cut(rest, ";")
			p.value = strings.TrimRight(p.value, httpSpace)
		}
		_, taken := m.param(p.name)
		if (quoted || p.value != "") && isTokenString(p.name) && isQuotable(p.value) && !taken {
			m.params = append(m.params, p)
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

// param is a parameter's value.
func (m mimeType) param(name string) (value string, ok bool) {
	for _, p := range m.params {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}

// String serializes a MIME type.
func (m mimeType) String() string {
	s := m.essence
	for _, p := range m.params {
		value := p.value
		if !isTokenString(value) {
			value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		}
		s += ";" + p.name + "=" + value
	}
	return s
}

// extractMIME is Fetch's extract a MIME type, from the value of Content-Type.
func extractMIME(value string) (m mimeType, ok bool) {
	charset, essence := "", ""
	for value != "" {
		var one string
		one, value = cutListItem(value)
		next, good := parseMIME(one)
		if !good || next.essence == "*/*" {
			continue
		}
		m, ok = next, true
		if given, has := m.param("charset"); has || m.essence != essence {
			charset, essence = given, m.essence
		} else if charset != "" {
			m.params = append(m.params, mimeParam{"charset", charset})
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
		if !isToken(s[i]) {
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

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
