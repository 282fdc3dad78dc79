package bundle

import (
	"slices"
	"strings"
)

// topLevel is what a bundle declares in its one scope, and in which region.
type topLevel struct {
	regions  []region       // in order; the lines before the first have none
	declared map[string]int // top-level name → index in regions, or -1 before the first
	exports  int            // the line of the export clause, or -1
}

// topScanner finds the names that a bundle declares at its top level, from
// tokens alone: parsing a bundle takes ten times as long. It knows the shape
// that esbuild prints (statements end with semicolons, those of the top level
// begin a line, path comments stand between them) and gives up on any other.
// Confined to one call of scanTopLevel.
type topScanner struct {
	lex   lexer
	out   topLevel
	stack []scope
	last  scope // of the parenthesis closed last
	now   int   // the region
	bad   bool
}

// scope says what a bracket holds.
type scope byte

const (
	opaque scope = iota // a function, a class, an object, an expression
	block               // statements, whose `var` declares at the top level
	forHead
	keywordHead // the parenthesis after if, while, switch, with, catch
)

// scanTopLevel reads a bundle's text. It reports false for text that is not of
// the expected shape; then nothing may be concluded from the rest.
func scanTopLevel(text string) (*topLevel, bool) {
	s := &topScanner{lex: lexer{text: text}, now: -1}
	s.out.declared, s.out.exports = map[string]int{}, -1
	s.lex.comment = s.comment
	for s.next(); s.lex.kind != tokenEOF && !s.bad; {
		s.statement()
	}
	return &s.out, !s.bad && !s.lex.bad && len(s.stack) == 0
}

func (s *topScanner) next() { s.lex.next() }

// comment takes the path comments between statements.
func (s *topScanner) comment(from, to, line int) {
	path, ok := regionPath(s.lex.text[from:to])
	if !ok || len(s.stack) > 0 || from > 0 && s.lex.text[from-1] != '\n' {
		return
	}
	if !s.lex.fresh() {
		s.bad = true // inside a statement: the regions would be cut wrongly
	}
	s.now = len(s.out.regions)
	s.out.regions = append(s.out.regions, region{line, path})
}

func (s *topScanner) declare(name string) {
	if at, ok := s.out.declared[name]; ok && at != s.now {
		s.bad = true // one variable, declared in two regions
	}
	s.out.declared[name] = s.now
}

// statement consumes one declaration of the top level, or one token of
// anything else.
func (s *topScanner) statement() {
	t := s.lex.word()
	start := len(s.stack) == 0 && s.lex.fresh()
	switch {
	case t == "var" && s.statements():
		s.declaration()
	case !start:
		s.skip()
	case t == "let" || t == "const":
		s.declaration()
	case t == "function" || t == "class":
		s.named()
	case t == "async":
		if s.skip(); s.lex.word() == "function" {
			s.named()
		}
	case t == "import":
		s.importStatement()
	case t == "export":
		s.exportStatement()
	default:
		s.skip()
	}
}

// statements reports whether a `var` here would declare at the top level.
func (s *topScanner) statements() bool {
	return !slices.Contains(s.stack, opaque) && !slices.Contains(s.stack, keywordHead)
}

// skip passes the current token and keeps count of brackets.
func (s *topScanner) skip() {
	switch s.lex.kind {
	case tokenOpen:
		s.stack = append(s.stack, s.opened())
	case tokenClose:
		if len(s.stack) == 0 {
			s.bad = true
			return
		}
		s.last = s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
	}
	s.next()
}

// opened is the scope of the bracket that is the current token.
func (s *topScanner) opened() scope {
	before := s.lex.before
	switch s.lex.text[s.lex.from] {
	case '(':
		switch before {
		case "for", "await":
			return forHead
		case "if", "while", "switch", "with", "catch":
			return keywordHead
		}
	case '{':
		if !s.statements() {
			return opaque
		}
		switch before {
		case ")":
			if s.last == forHead || s.last == keywordHead {
				return block
			}
		case "", ";", "}", "{", ":", "else", "do", "try", "finally", "catch":
			return block
		}
	}
	return opaque
}

// named is a function or class declaration, as far as its name.
func (s *topScanner) named() {
	s.skip()
	if s.lex.punct("*") {
		s.skip()
	}
	if s.lex.kind != tokenWord {
		s.bad = true
		return
	}
	s.declare(s.lex.word())
	s.skip()
}

// declaration is `var`, `let` or `const` with its declarators.
func (s *topScanner) declaration() {
	for {
		s.next() // the keyword, or the comma
		s.binding()
		if s.lex.punct("=") {
			s.expression()
		}
		if s.bad || !s.lex.punct(",") {
			break
		}
	}
	if w := s.lex.word(); s.lex.kind != tokenEOF && !s.lex.punct(";") && !s.lex.punct(")") && w != "of" && w != "in" {
		s.bad = true
	}
}

// expression passes everything up to the comma, semicolon or bracket that
// ends an initializer.
func (s *topScanner) expression() {
	depth := len(s.stack)
	for s.skip(); s.lex.kind != tokenEOF && !s.bad; s.skip() {
		if len(s.stack) > depth {
			continue
		}
		if s.lex.kind == tokenClose || s.lex.punct(",") || s.lex.punct(";") {
			return
		}
		switch w := s.lex.word(); {
		case s.lex.before == ".":
		case w == "var" || w == "const" || w == "export":
			s.bad = true
		case w == "of" && depth > 0 && s.stack[depth-1] == forHead:
			return
		}
	}
}

// binding is a name, or a pattern of names.
func (s *topScanner) binding() {
	switch {
	case s.lex.kind == tokenWord:
		s.declare(s.lex.word())
		s.next()
	case s.lex.punct("{"):
		s.pattern("}", s.property)
	case s.lex.punct("["):
		s.pattern("]", s.element)
	default:
		s.bad = true
	}
}

func (s *topScanner) pattern(end string, item func()) {
	for s.skip(); !s.lex.punct(end) && !s.bad && s.lex.kind != tokenEOF; {
		item()
		if s.lex.punct("=") {
			s.expression()
		}
		if s.lex.punct(",") {
			s.next()
		}
	}
	s.skip()
}

func (s *topScanner) element() {
	if s.lex.punct("...") {
		s.next()
	}
	if !s.lex.punct(",") {
		s.binding()
	}
}

func (s *topScanner) property() {
	name := s.lex.word()
	switch {
	case s.lex.punct("..."):
		s.next()
		s.binding()
		return
	case s.lex.punct("["):
		for depth := len(s.stack); ; {
			if s.skip(); len(s.stack) == depth || s.bad || s.lex.kind == tokenEOF {
				break
			}
		}
	default:
		s.next()
	}
	switch {
	case s.lex.punct(":"):
		s.next()
		s.binding()
	case name != "":
		s.declare(name)
	default:
		s.bad = true
	}
}

// importStatement declares what it imports.
func (s *topScanner) importStatement() {
	s.next()
	if s.lex.punct("(") || s.lex.punct(".") {
		return
	}
	local := ""
	for ; s.lex.kind != tokenEOF && s.lex.kind != tokenString && !s.bad; s.next() {
		switch w := s.lex.word(); {
		case w == "from" && local != "as", w == "":
			if local != "" && local != "as" {
				s.declare(local)
			}
			local = ""
		default:
			local = w
		}
	}
	s.next()
	s.bad = s.bad || s.lex.word() == "as" // a name in quotes
	for !s.lex.punct(";") && s.lex.kind != tokenEOF && !s.bad {
		s.skip() // the attributes
	}
}

// exportStatement is the clause at the end, the only form esbuild prints.
func (s *topScanner) exportStatement() {
	line := s.lex.line
	s.next()
	if !s.lex.punct("{") || s.out.exports >= 0 {
		s.bad = true
		return
	}
	s.out.exports = line
	for !s.lex.punct(";") && s.lex.kind != tokenEOF && !s.bad {
		s.skip()
	}
}

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
	case isIdent(c) && (c < '0' || c > '9') || c >= 0x80 || c == '#' || c == '\\':
		l.kind = tokenWord
		for l.to < len(l.text) && (isIdent(l.text[l.to]) || l.text[l.to] >= 0x80 || l.text[l.to] == '#' || l.text[l.to] == '\\') {
			l.to++
		}
	case c >= '0' && c <= '9':
		l.kind = tokenNumber
		for l.to < len(l.text) && (isIdent(l.text[l.to]) || l.text[l.to] == '.') {
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
	return !isIdent(end) && end != '`'
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
			for l.to++; l.to < len(l.text) && isIdent(l.text[l.to]); {
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
