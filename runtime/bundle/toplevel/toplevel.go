// Package toplevel finds the top-level declarations of a bundle that esbuild made, and
// the regions of its modules, from tokens alone.
package toplevel

import (
	"slices"
)

// TopLevel is what a bundle declares in its one scope, and in which region.
type TopLevel struct {
	Regions  []Region       // in order; the lines before the first have none
	Declared map[string]int // top-level name → index in regions, or -1 before the first
	Exports  int            // the line of the export clause, or -1
}

// scanner finds the names that a bundle declares at its top level, from
// tokens alone: parsing a bundle takes ten times as long. It knows the shape
// that esbuild prints (statements end with semicolons, those of the top level
// begin a line, path comments stand between them) and gives up on any other.
// Confined to one call of Scan.
type scanner struct {
	lex   lexer
	out   TopLevel
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

// Scan reads a bundle's text. It reports false for text that is not of
// the expected shape; then nothing may be concluded from the rest.
func Scan(text string) (*TopLevel, bool) {
	s := &scanner{lex: lexer{text: text}, now: -1}
	s.out.Declared, s.out.Exports = map[string]int{}, -1
	s.lex.comment = s.comment
	for s.next(); s.lex.kind != tokenEOF && !s.bad; {
		s.statement()
	}
	return &s.out, !s.bad && !s.lex.bad && len(s.stack) == 0
}

func (s *scanner) next() { s.lex.next() }

// comment takes the path comments between statements.
func (s *scanner) comment(from, to, line int) {
	path, ok := regionPath(s.lex.text[from:to])
	if !ok || len(s.stack) > 0 || from > 0 && s.lex.text[from-1] != '\n' {
		return
	}
	if !s.lex.fresh() {
		s.bad = true // inside a statement: the regions would be cut wrongly
	}
	s.now = len(s.out.Regions)
	s.out.Regions = append(s.out.Regions, Region{line, path})
}

func (s *scanner) declare(name string) {
	if at, ok := s.out.Declared[name]; ok && at != s.now {
		s.bad = true // one variable, declared in two regions
	}
	s.out.Declared[name] = s.now
}

// statement consumes one declaration of the top level, or one token of
// anything else.
func (s *scanner) statement() {
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
func (s *scanner) statements() bool {
	return !slices.Contains(s.stack, opaque) && !slices.Contains(s.stack, keywordHead)
}

// skip passes the current token and keeps count of brackets.
func (s *scanner) skip() {
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
func (s *scanner) opened() scope {
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
func (s *scanner) named() {
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
func (s *scanner) declaration() {
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
func (s *scanner) expression() {
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
func (s *scanner) binding() {
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

func (s *scanner) pattern(end string, item func()) {
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

func (s *scanner) element() {
	if s.lex.punct("...") {
		s.next()
	}
	if !s.lex.punct(",") {
		s.binding()
	}
}

func (s *scanner) property() {
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
func (s *scanner) importStatement() {
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
func (s *scanner) exportStatement() {
	line := s.lex.line
	s.next()
	if !s.lex.punct("{") || s.out.Exports >= 0 {
		s.bad = true
		return
	}
	s.out.Exports = line
	for !s.lex.punct(";") && s.lex.kind != tokenEOF && !s.bad {
		s.skip()
	}
}
