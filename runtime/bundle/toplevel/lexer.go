package toplevel

import "strings"

type tokenKind byte

const (
	tokenEOF tokenKind = iota
	tokenWord
	tokenString // also a template without substitutions, or its end
	tokenNumber
	tokenRegexp
	tokenOpen  // ( [ { and a template up to its ${
	tokenClose // ) ] } and the part of a template between } and ${
	tokenPunct
)

// lexer divides JavaScript into tokens, as far as brackets and names need it:
// operators come in pieces. Templates count as brackets around their
// substitutions. Confined to its owner.
type lexer struct {
	text    string
	comment func(from, to, line int) // told of every line comment

	kind     tokenKind
	from, to int
	line     int    // zero-based, of the token's start
	before   string // the token before, if a word or punctuation; else "0"
	any      bool   // there was a token before
	bad      bool   // a string, template, comment or regular expression has no end

	lines    int
	template []int // depths of braces at which a template goes on
	braces   int
}

// word is the current token if it is one, else "".
func (l *lexer) word() string {
	if l.kind != tokenWord {
		return ""
	}
	return l.text[l.from:l.to]
}

func (l *lexer) punct(p string) bool {
	return l.kind != tokenWord && l.kind != tokenString && l.text[l.from:l.to] == p
}

// fresh reports whether a statement may begin at the current token, or after
// it while comment is called.
func (l *lexer) fresh() bool { return l.before == "" || l.before == ";" || l.before == "}" }

// next reads the next token.
func (l *lexer) next() {
	switch {
	case !l.any:
		l.before = ""
	case l.kind == tokenString || l.kind == tokenNumber || l.kind == tokenRegexp:
		l.before = "0"
	default:
		l.before = l.text[l.from:l.to]
	}
	l.space()
	l.from, l.line = l.to, l.lines
	if l.to >= len(l.text) {
		l.kind = tokenEOF
		return
	}
	l.any = true
	switch c := l.text[l.to]; {
	case IsIdent(c) && (c < '0' || c > '9') || c >= 0x80 || c == '#' || c == '\\':
		l.kind = tokenWord
		for l.to < len(l.text) && (IsIdent(l.text[l.to]) || l.text[l.to] >= 0x80 || l.text[l.to] == '#' || l.text[l.to] == '\\') {
			l.to++
		}
	case c >= '0' && c <= '9':
		l.kind = tokenNumber
		for l.to < len(l.text) && (IsIdent(l.text[l.to]) || l.text[l.to] == '.') {
			l.to++
		}
	case c == '"' || c == '\'':
		l.kind = tokenString
		l.quoted(c)
	case c == '`':
		l.templatePart(tokenOpen, tokenString)
	case c == '/' && l.regexpHere():
		l.regexp()
	default:
		l.punctuation(c)
	}
}

// space passes white space and comments.
func (l *lexer) space() {
	for l.to < len(l.text) {
		switch c := l.text[l.to]; {
		case c == '\n':
			l.lines++
			l.to++
		case c == ' ' || c == '\t' || c == '\r':
			l.to++
		case strings.HasPrefix(l.text[l.to:], "//"):
			end := strings.IndexByte(l.text[l.to:], '\n')
			if end < 0 {
				end = len(l.text) - l.to
			}
			l.comment(l.to, l.to+end, l.lines)
			l.to += end
		case strings.HasPrefix(l.text[l.to:], "/*"):
			end := strings.Index(l.text[l.to+2:], "*/")
			if end < 0 {
				l.bad, l.to = true, len(l.text)
				return
			}
			l.lines += strings.Count(l.text[l.to:l.to+end+2], "\n")
			l.to += end + 4
		default:
			return
		}
	}
}

func (l *lexer) quoted(quote byte) {
	for l.to++; l.to < len(l.text); l.to++ {
		switch l.text[l.to] {
		case '\\':
			l.to++
			if l.to < len(l.text) && l.text[l.to] == '\n' {
				l.lines++
			}
		case '\n':
			l.bad = true
			return
		case quote:
			l.to++
			return
		}
	}
	l.bad, l.to = true, len(l.text)
}

// templatePart reads from a backquote or the end of a substitution to the next
// substitution, or to the template's end.
func (l *lexer) templatePart(more, end tokenKind) {
	for l.to++; l.to < len(l.text); l.to++ {
		switch l.text[l.to] {
		case '\\':
			l.to++
			if l.to < len(l.text) && l.text[l.to] == '\n' {
				l.lines++
			}
		case '\n':
			l.lines++
		case '`':
			l.to++
			l.kind = end
			return
		case '$':
			if strings.HasPrefix(l.text[l.to:], "${") {
				l.to += 2
				l.kind = more
				l.template = append(l.template, l.braces)
				return
			}
		}
	}
	l.bad, l.to, l.kind = true, len(l.text), tokenEOF
}

// regexpHere decides whether a slash begins a regular expression. After a
// closing bracket esbuild's spaces around a division decide.
func (l *lexer) regexpHere() bool {
	switch l.before {
	case "":
		return true
	case "0", "]":
		return false
	case ")", "}", "+", "-": // the signs may be the second half of i++
		return l.to+1 < len(l.text) && l.text[l.to+1] != ' ' && l.text[l.to+1] != '='
	case "return", "typeof", "case", "in", "of", "void", "delete", "instanceof", "new", "do", "else", "yield", "await", "throw", "default":
		return true
	}
	end := l.before[len(l.before)-1]
	return !IsIdent(end) && end != '`'
}

func (l *lexer) regexp() {
	l.kind = tokenRegexp
	class := false
	for l.to++; l.to < len(l.text); l.to++ {
		switch c := l.text[l.to]; {
		case c == '\\':
			l.to++
		case c == '\n':
			l.bad = true
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for l.to++; l.to < len(l.text) && IsIdent(l.text[l.to]); {
				l.to++
			}
			return
		}
	}
	l.bad, l.to = true, len(l.text)
}

func (l *lexer) punctuation(c byte) {
	l.kind = tokenPunct
	l.to++
	switch c {
	case '(', '[':
		l.kind = tokenOpen
	case ')', ']':
		l.kind = tokenClose
	case '{':
		l.kind = tokenOpen
		l.braces++
	case '}':
		l.kind = tokenClose
		if n := len(l.template); n > 0 && l.template[n-1] == l.braces {
			l.template = l.template[:n-1]
			l.to--
			l.templatePart(tokenPunct, tokenClose)
			return
		}
		l.braces--
	case '.':
		if strings.HasPrefix(l.text[l.to:], "..") {
			l.to += 2
		}
	case '=':
		// One token, so that `=` alone is an initializer's.
		for l.to < len(l.text) && (l.text[l.to] == '=' || l.text[l.to] == '>') {
			l.to++
		}
	}
}

// IsIdent reports whether a byte may belong to a name.
func IsIdent(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
