package counting

import (
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// Comments in the source say what is not to be counted: istanbul's hints, and vitest's
// of the provider v8, which are the same words.

// hint is such a comment. at is where the source goes on after it.
type hint struct {
	what string // next, if, else, file, start or stop
	line int    // of the comment
	at   Position
}

var hintText = lazyregexp.New(`(?:/\*|//)\s*(?:istanbul|v8|c8)\s+ignore\s+(next|if|else|file|start|stop)\b`)

// afterHint is what may stand between a hint and the code that it is about.
var afterHint = lazyregexp.New(`^(?:\s|//[^\n]*\n|/\*(?s:.*?)\*/)*`)

// hints finds the comments. It does not know texts from code: one that looks like a hint
// is one.
func (l *locator) hints() (all []hint) {
	source := strings.Join(l.lines, "\n")
	for _, m := range hintText.FindAllStringSubmatchIndex(source, -1) {
		end := m[0] + len(afterHint.FindString(source[m[0]:]))
		all = append(all, hint{source[m[2]:m[3]], position(source, m[0]).Line, position(source, end)})
	}
	return all
}

// position is that of an offset.
func position(source string, offset int) Position {
	line := strings.LastIndexByte(source[:offset], '\n') + 1
	return Position{strings.Count(source[:offset], "\n") + 1, width(source[line:offset])}
}

// extent is a node, and the counters below it: from the first to before the last.
type extent struct{ start, from, to int }

// ignored says for each counter whether a hint takes it out; whole that the file is.
func (l *locator) ignored(p *Plan) (counters []bool, whole bool) {
	hints := l.hints()
	if len(hints) == 0 {
		return nil, false
	}
	counters = make([]bool, p.Counters)
	ignore := func(from, to int) {
		for i := from; i < to; i++ {
			counters[i] = true
		}
	}
	start := 0
	for _, h := range hints {
		switch h.what {
		case "file":
			return nil, true
		case "next":
			if e, ok := l.extentAt(p, h.at); ok {
				ignore(e.from, e.to)
			}
		case "if", "else":
			l.ignorePath(p, h, ignore)
		case "start":
			start = h.line
		case "stop":
			if start > 0 {
				l.ignoreLines(p, start, h.line, ignore)
			}
			start = 0
		}
	}
	if start > 0 {
		l.ignoreLines(p, start, len(l.lines), ignore)
	}
	return counters, false
}

// modifiers may precede what a node begins with.
var modifiers = lazyregexp.New(`^(?:export|default|async|const|let|var|static|public|private|protected|readonly|override|get|set|\s)*$`)

// extentAt is the largest node that begins at a place, or after modifiers there.
func (l *locator) extentAt(p *Plan, at Position) (best extent, ok bool) {
	var first Position
	for _, e := range p.extents {
		begin, known := l.places.Begin(e.start)
		if !known || before(begin, at) < 0 || begin.Line == at.Line && !modifiers.MatchString(strings.TrimSuffix(l.text(at), l.text(begin))) || begin.Line > at.Line {
			continue
		}
		closer := !ok || before(begin, first) < 0
		if closer || begin == first && e.to-e.from > best.to-best.from {
			best, first, ok = e, begin, true
		}
	}
	return best, ok
}

// ignorePath takes a path out of the if statement after a hint.
func (l *locator) ignorePath(p *Plan, h hint, ignore func(from, to int)) {
	for _, b := range p.branches {
		at, ok := l.span(b.at)
		if b.kind != "if" || !ok || at.Start != h.at {
			continue
		}
		taken := b.paths[0]
		if h.what == "else" {
			taken = b.paths[1]
		}
		ignore(taken.counter, taken.to)
	}
}

// ignoreLines takes out what begins on some lines.
func (l *locator) ignoreLines(p *Plan, first, last int, ignore func(from, to int)) {
	out := func(s Span, counter int) {
		if at, ok := l.span(s); ok && at.Start.Line >= first && at.Start.Line <= last {
			ignore(counter, counter+1)
		}
	}
	for _, s := range p.statements {
		out(s.at, s.counter)
	}
	for _, f := range p.functions {
		out(f.decl, f.counter)
	}
	for _, b := range p.branches {
		for _, path := range b.paths {
			out(b.at, path.counter)
		}
	}
}
