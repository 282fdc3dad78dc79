// Package regex holds ECMAScript's regular expressions (ECMA-262, section 22.2) as
// a parser, which knows every early error and tells what a pattern makes use of,
// and a backtracking matcher, for what goja's two engines do not know or have
// otherwise. Texts of errors are V8's.
package regex

import "sync"

// SyntaxError is why a pattern is refused: the text after "Invalid regular
// expression: /.../: ".
type SyntaxError string

// Error implements error.
func (e SyntaxError) Error() string { return string(e) }

// Features are what a pattern makes use of.
type Features struct {
	Modifiers  bool // (?i:...)
	Duplicates bool // a group's name in more than one alternative
	Sticks     bool // a loop with groups whose rounds may leave one out, or be empty
	Properties bool // \p{...}
	LookAround bool
	References bool // \1, \k<a>
	Odd        bool // what goja has otherwise: escapes of Annex B, ends of lines, names with escapes, letters with the flag i
}

// Pattern is a parsed regular expression. Immutable, safe for concurrent use.
type Pattern struct {
	Features Features
	// Names are those of the groups, by their number; "" for one without.
	Names []string
	root  *node
	flags flags
	once  sync.Once
	code  *program // made at the first match
}

// flags are those that change what a pattern means.
type flags struct{ ignoreCase, multiline, dotAll, unicode, sets bool }

// points says that a pattern matches code points, not code units.
func (f flags) points() bool { return f.unicode || f.sets }

// ParseFlags reads flags; ok is false if one is unknown or stands twice, or if u
// and v stand together.
func ParseFlags(text string) (ok bool) {
	_, ok = parseFlags(text)
	return ok
}

func parseFlags(text string) (f flags, ok bool) {
	seen := [128]bool{}
	for _, c := range text {
		if c >= 128 || seen[c] {
			return f, false
		}
		seen[c] = true
		switch c {
		case 'i':
			f.ignoreCase = true
		case 'm':
			f.multiline = true
		case 's':
			f.dotAll = true
		case 'u':
			f.unicode = true
		case 'v':
			f.sets = true
		case 'd', 'g', 'y':
		default:
			return f, false
		}
	}
	return f, !(f.unicode && f.sets)
}

// Foreign reports whether goja's engines cannot do the pattern justice, with these
// flags: they do not know it, or have it otherwise, or take tens of milliseconds
// to compile it (look-around that ignores case).
func (p *Pattern) Foreign() bool {
	f := p.Features
	return p.flags.sets || f.Modifiers || f.Duplicates || f.Sticks || f.Odd || f.Properties && p.flags.unicode ||
		(f.LookAround || f.References) && p.flags.ignoreCase
}

// program is what a match needs, made once.
func (p *Pattern) program() *program {
	p.once.Do(func() { p.code = compile(p) })
	return p.code
}
