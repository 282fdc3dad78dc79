package config

import (
	"errors"
	"fmt"
	"strings"
)

// The dotenv format, as wrangler reads it (dotenv 16 and dotenv-expand 12):
//
//	KEY=value            export KEY=value      KEY: value
//	KEY='as it stands'   KEY=`as it stands`    KEY="with \n and \r"
//	KEY=value # comment  KEY="several
//	                     lines"
//
// A value ends at "#" unless it is quoted. Quoted values may span lines. Only
// \n and \r are escapes, only in double quotes; \" stays \". In .env files
// (not in .dev.vars) ${NAME}, $NAME, ${NAME:-default}, ${NAME-default},
// ${NAME:+alternative} and ${NAME+alternative} are replaced; \$ is a dollar.

// dotenvEntry is one assignment of a file.
type dotenvEntry struct {
	key, value string
	where      Position
}

// dotenvParser walks one file. Used by one parseDotenv only.
type dotenvParser struct {
	src     *source
	text    string
	at      int
	entries []dotenvEntry
	rep     *report
}

// parseDotenv parses the text of a file. Lines that are neither assignments
// nor comments are ignored with a warning. Nothing that it reports quotes the
// file: it may hold secrets.
func parseDotenv(rep *report, file string, text []byte) []dotenvEntry {
	clean := strings.TrimPrefix(string(text), utf8BOM)
	clean = strings.ReplaceAll(strings.ReplaceAll(clean, "\r\n", "\n"), "\r", "\n")
	clean = toValidUTF8(clean)
	p := &dotenvParser{src: newSource(file, []byte(clean)), text: clean, rep: rep}
	for p.at < len(p.text) {
		p.line()
	}
	return p.entries
}

// line reads one assignment, or skips one line.
func (p *dotenvParser) line() {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t\n\v\f"))
	start := p.at
	if p.at == len(p.text) || p.text[p.at] == '#' {
		p.skipLine()
		return
	}
	key, keyAt, ok := p.keyAndSeparator()
	if !ok {
		p.warn(start, "this line is not KEY=value and is ignored")
		p.skipLine()
		return
	}
	p.entries = append(p.entries, dotenvEntry{key: key, value: p.value(), where: p.src.position(keyAt)})
}

func (p *dotenvParser) rest() string { return p.text[p.at:] }

func (p *dotenvParser) skipLine() {
	if i := strings.IndexByte(p.rest(), '\n'); i >= 0 {
		p.at += i + 1
		return
	}
	p.at = len(p.text)
}

func (p *dotenvParser) warn(offset int, message string) {
	p.rep.add(NewDiagnostic(SeverityWarning, p.src.position(offset), nil, message, ""))
}

// keyAndSeparator reads "KEY=", "KEY: " or "export KEY=" and stands behind it.
func (p *dotenvParser) keyAndSeparator() (key string, keyAt int, ok bool) {
	at := p.at
	if after, found := strings.CutPrefix(p.text[at:], "export"); found {
		trimmed := strings.TrimLeft(after, " \t")
		if len(trimmed) < len(after) && keyLength(trimmed) > 0 {
			at = len(p.text) - len(trimmed)
		}
	}
	n := keyLength(p.text[at:])
	if n == 0 {
		return "", 0, false
	}
	key, keyAt = p.text[at:at+n], at
	after := p.text[at+n:]
	spaced := strings.TrimLeft(after, " \t")
	switch {
	case strings.HasPrefix(spaced, "="):
		p.at = len(p.text) - len(spaced) + 1
	case len(after) > 1 && after[0] == ':' && strings.ContainsRune(" \t\n", rune(after[1])):
		p.at = len(p.text) - len(after) + 1
	default:
		return "", 0, false
	}
	return key, keyAt, true
}

// keyLength returns how many bytes of s belong to a key.
func keyLength(s string) int {
	for i, c := range []byte(s) {
		word := c == '_' || c == '.' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !word {
			return i
		}
	}
	return len(s)
}

// value reads a value and the rest of its line.
func (p *dotenvParser) value() string {
	p.at += len(p.rest()) - len(strings.TrimLeft(p.rest(), " \t"))
	rest := p.rest()
	if rest != "" && strings.ContainsRune("'\"`", rune(rest[0])) {
		if end := closingQuote(rest); end > 0 {
			p.at += end + 1
			p.skipLine()
			return unescapeDotenv(rest[0], rest[1:end])
		}
		p.warn(p.at, "this quote is not closed, or something follows its end; it is taken as part of the value")
	}
	line, _, _ := strings.Cut(rest, "\n")
	raw, _, _ := strings.Cut(line, "#")
	raw = strings.TrimSpace(raw)
	p.skipLine()
	if len(raw) == 0 {
		return ""
	}
	first := raw[0]
	if len(raw) > 1 && strings.ContainsRune("'\"`", rune(first)) && raw[len(raw)-1] == first {
		raw = raw[1 : len(raw)-1]
	}
	return unescapeDotenv(first, raw)
}

// closingQuote returns the offset of the quote that closes the value at the
// start of s: the first one without a backslash before it or, if only blanks
// and a comment may follow and do not, the last one with a backslash. 0 means
// that none does.
func closingQuote(s string) int {
	var escaped []int
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			continue
		}
		if s[i-1] == '\\' && i > 1 {
			escaped = append(escaped, i)
			continue
		}
		if endsLine(s[i+1:]) {
			return i
		}
		break
	}
	for i := len(escaped) - 1; i >= 0; i-- {
		if endsLine(s[escaped[i]+1:]) {
			return escaped[i]
		}
	}
	return 0
}

// endsLine reports whether only blanks and a comment are left of the line.
func endsLine(s string) bool {
	s = strings.TrimLeft(s, " \t\v\f")
	return s == "" || s[0] == '\n' || s[0] == '#'
}

func unescapeDotenv(quote byte, s string) string {
	if quote != '"' {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, `\n`, "\n"), `\r`, "\r")
}

// maxExpansionWork bounds the replacing of references in one value, which can
// contain references again: the bytes of all intermediate values together,
// and expansionStep for each of them.
const (
	maxExpansionWork = 16 << 20
	expansionStep    = 4 << 10
)

// expandDotenv replaces the references in the entries, in order. A reference
// sees the entries before it and process, which wins; process also overrides
// an entry of the same name. The result has each name once, in the order of
// first appearance, with the last value.
func expandDotenv(rep *report, entries []dotenvEntry, process map[string]string) []dotenvEntry {
	var merged []dotenvEntry
	index := map[string]int{}
	for _, e := range entries {
		if i, ok := index[e.key]; ok {
			merged[i] = e
			continue
		}
		index[e.key] = len(merged)
		merged = append(merged, e)
	}
	done := map[string]string{}
	for i, e := range merged {
		value := process[e.key]
		if value == "" || value == e.value {
			var err error
			if value, err = expandReferences(e.value, done, process); err != nil {
				rep.add(NewDiagnostic(SeverityError, e.where, nil, fmt.Sprintf("%s: %v", e.key, err),
					`write \$ for a dollar sign that begins no reference`))
				return merged[:i]
			}
		}
		merged[i].value = strings.ReplaceAll(value, `\$`, "$")
		done[e.key] = merged[i].value
	}
	return merged
}

// expandReferences replaces references until none is left.
func expandReferences(value string, done, process map[string]string) (string, error) {
	look := func(name string) string {
		if v, ok := process[name]; ok {
			return v
		}
		return done[name]
	}
	seen := map[string]bool{}
	for work := 0; work < maxExpansionWork; work += len(value) + expansionStep {
		begin, end, expression := findReference(value)
		if begin < 0 {
			return value, nil
		}
		seen[value] = true
		name, replacement := resolveReference(expression, look, seen)
		value = value[:begin] + replacement + value[end:]
		if own, ok := done[name]; ok && value == own {
			return value, nil
		}
	}
	return "", errors.New("the references in the value do not come to an end")
}

// resolveReference returns the name that an expression refers to, and what to
// put in its place. A value that is already being replaced counts as missing.
func resolveReference(expression string, look func(string) string, seen map[string]bool) (name, replacement string) {
	i := strings.IndexAny(expression, "+-")
	if i < 0 {
		if v := look(expression); v != "" && !seen[v] {
			return expression, v
		}
		return expression, ""
	}
	name, other := strings.TrimSuffix(expression[:i], ":"), expression[i+1:]
	v := look(name)
	if expression[i] == '+' {
		if v == "" {
			return name, ""
		}
		return name, other
	}
	if v == "" || seen[v] {
		return name, other
	}
	return name, v
}

// findReference finds the first ${...} or $NAME without a backslash before it.
func findReference(s string) (begin, end int, expression string) {
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || (i > 0 && s[i-1] == '\\') {
			continue
		}
		rest := s[i+1:]
		if strings.HasPrefix(rest, "{") {
			if n := strings.IndexAny(rest[1:], "{}"); n > 0 && rest[1+n] == '}' {
				return i, i + n + 3, rest[1 : 1+n]
			}
			continue
		}
		n := 0
		for n < len(rest) && (rest[n] == '_' || rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' || n > 0 && rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		if n > 0 {
			return i, i + 1 + n, rest[:n]
		}
	}
	return -1, -1, ""
}
