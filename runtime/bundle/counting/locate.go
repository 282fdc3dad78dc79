package counting

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"

	"minido.dev/minido/internal/lazyregexp"
)

// Places finds what a unit's text was made from. ok is false for what was added to it.
type Places interface {
	// Begin is the place in the source of what begins at an offset of the text.
	Begin(offset int) (p Position, ok bool)
	// End is that of what ends at an offset.
	End(offset int) (p Position, ok bool)
}

// Locate is what the counters of a plan have counted, in terms of the file's source.
// counts has an entry for each counter, or is empty where nothing ran. A file in which
// there is nothing to count, such as one of types, is nil, and so is one that a hint takes
// out.
func (p *Plan) Locate(path, source string, counts []uint64, places Places) *File {
	if len(counts) == 0 {
		counts = make([]uint64, p.Counters)
	}
	l := &locator{places: places, lines: strings.Split(source, "\n")}
	f := &File{Path: path}
	ignored, whole := l.ignored(p)
	if whole {
		return nil
	}
	l.ignores = func(counter int) bool { return ignored != nil && ignored[counter] }
	for _, s := range p.statements {
		if at, ok := l.span(s.at); ok && !l.ignores(s.counter) && !l.generated(s, at) {
			f.Statements = append(f.Statements, Statement{at, counts[s.counter]})
		}
	}
	for _, fn := range p.functions {
		decl, ok := l.span(fn.decl)
		body, inside := l.span(fn.body)
		if !ok || !inside || l.ignores(fn.counter) {
			continue
		}
		name := ""
		if fn.named {
			name = nameAt(l.text(decl.Start))
		}
		f.Functions = append(f.Functions, Function{name, decl, body, counts[fn.counter]})
	}
	for _, b := range p.branches {
		if made, ok := l.branch(b, counts); ok && slices.ContainsFunc(made.Paths, func(r Range) bool { return r != Range{} }) {
			f.Branches = append(f.Branches, made)
		}
	}
	if len(f.Statements)+len(f.Functions)+len(f.Branches) == 0 {
		return nil
	}
	f.sort()
	return f
}

// sort puts everything in the order of the source; what is around something comes first.
func (f *File) sort() {
	slices.SortStableFunc(f.Statements, func(a, b Statement) int { return compare(a.At, b.At) })
	slices.SortStableFunc(f.Functions, func(a, b Function) int { return compare(a.Decl, b.Decl) })
	slices.SortStableFunc(f.Branches, func(a, b Branch) int { return compare(a.At, b.At) })
}

func compare(a, b Range) int {
	return cmp.Or(before(a.Start, b.Start), before(b.End, a.End))
}

func before(a, b Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(uint(a.Column), uint(b.Column))) // Unknown is the last column
}

var word = lazyregexp.New(`^[\p{L}\p{Nd}_$]+`)

// nameAt is the name of a function whose name, or default export, a text begins with.
func nameAt(text string) string {
	if m := defaultExport.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return word.FindString(text)
}

var defaultExport = lazyregexp.New(`^(?:export\s+)?default\s+(?:async\s+)?function\b[\s*]*([\p{L}\p{Nd}_$]*)`)

var ifWord = lazyregexp.New(`\bif\b`)

// beforeTest is what may stand between an if and its test.
var beforeTest = lazyregexp.New(`^(?:[\s(!]|//.*\n|/\*(?s:.*?)\*/)*$`)

// maxHead bounds the lines from an if to its test.
const maxHead = 20

// ifOf is the place of the if whose test is at p.
func (l *locator) ifOf(p Position) (at Position, ok bool) {
	rest := l.text(p)
	if ifWord.FindStringIndex(rest) != nil && strings.HasPrefix(rest, "if") {
		return p, true
	}
	if p.Line < 1 || p.Line > len(l.lines) {
		return p, false
	}
	line := strings.TrimSuffix(l.lines[p.Line-1], rest)
	between := ""
	for n := p.Line; n >= max(1, p.Line-maxHead); n-- {
		if n < p.Line {
			line = l.lines[n-1]
			between = "\n" + between
		}
		if found := ifWord.FindAllStringIndex(line, -1); found != nil {
			last := found[len(found)-1]
			return Position{n, width(line[:last[0]])}, beforeTest.MatchString(line[last[1]:] + between)
		}
		between = line + between
	}
	return p, false
}

// width is how many UTF-16 units a text has.
func width(text string) int { return len(utf16.Encode([]rune(text))) }

// locator is one call of Locate.
type locator struct {
	places  Places
	lines   []string
	ignores func(counter int) bool
}

func (l *locator) span(s Span) (r Range, ok bool) {
	if r.Start, ok = l.places.Begin(s.Start); !ok {
		return r, false
	}
	if s.Test > 0 {
		if test, known := l.places.Begin(s.Test); known {
			if at, found := l.ifOf(test); found {
				r.Start = at
			}
		}
	}
	if r.End, ok = l.places.End(s.End); !ok || before(r.End, r.Start) < 0 {
		r.End = Position{r.Start.Line, Unknown}
	}
	return r, true
}

// branch has no place if one of its paths has none, and is gone if hints have taken out
// all that are written.
func (l *locator) branch(b branch, counts []uint64) (made Branch, ok bool) {
	made.Kind = b.kind
	if made.At, ok = l.span(b.at); !ok {
		return made, false
	}
	for _, p := range b.paths {
		if l.ignores(p.counter) {
			continue
		}
		var at Range
		if !p.absent {
			if at, ok = l.span(p.at); !ok {
				return made, false
			}
		}
		made.Paths = append(made.Paths, at)
		made.Counts = append(made.Counts, counts[p.counter])
	}
	return made, true
}

// generated reports whether a variable, whose value is at a place in the source, was made
// of a class declaration or of a default export: they are no statements.
func (l *locator) generated(s statement, at Range) bool {
	if s.name == (Span{}) {
		return false
	}
	name, ok := l.places.Begin(s.name.Start)
	if !ok {
		return true
	}
	return word.FindString(l.text(name)) == "default" || s.class && before(name, at.Start) > 0
}

// text is the rest of a line of the source.
func (l *locator) text(p Position) string {
	if p.Line < 1 || p.Line > len(l.lines) {
		return ""
	}
	line := l.lines[p.Line-1]
	units := utf16.Encode([]rune(line))
	if p.Column < 0 || p.Column > len(units) {
		return ""
	}
	return string(utf16.Decode(units[p.Column:]))
}
