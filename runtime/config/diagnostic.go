package config

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Severity says how much a Diagnostic matters.
type Severity uint8

// Severities, from the one that stops to the one that only tells.
const (
	// SeverityError stops loading: Load returns a *ConfigError.
	SeverityError Severity = iota
	// SeverityWarning is shown and does not stop anything.
	SeverityWarning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == SeverityError {
		return "error"
	}
	return "warning"
}

// Position is a place in a file. The zero Position means "no file".
type Position struct {
	// File is the path as shown to the user: relative to Options.Dir where the
	// file lies near it, absolute otherwise.
	File string
	// Line and Column count from 1. Column counts code points. Both are 0 when
	// the position means the file as a whole.
	Line, Column int
}

// String renders file:line:column, or the file alone, or "" for the zero Position.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Diagnostic is one thing to tell the user about a file. It is a value and
// immutable; compare two with ==.
type Diagnostic struct {
	// File, Line and Column are those of Position.
	File         string
	Line, Column int
	Severity     Severity
	// Message says what is wrong, in one sentence without a final full stop.
	Message string
	// Hint says what to do about it; it may be empty and may have several lines.
	Hint string

	// src is the text that the code frame is cut from; nil where there is
	// none, and for files that hold secrets.
	src *source
}

// source is the text of one file. Immutable after newSource.
type source struct {
	file string // as shown to the user
	text []byte
	// lines are the offsets at which the lines begin.
	lines []int
}

func newSource(file string, text []byte) *source {
	s := &source{file: file, text: text, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// position turns a byte offset into a Position.
func (s *source) position(offset int) Position {
	offset = min(max(offset, 0), len(s.text))
	line, found := slices.BinarySearch(s.lines, offset)
	if found {
		line++
	}
	start := s.lines[line-1]
	return Position{File: s.file, Line: line, Column: 1 + utf8.RuneCount(s.text[start:offset])}
}

// offset turns a line (from 1) and a column in bytes (from 1) into an offset.
func (s *source) offset(line, column int) int {
	line = min(max(line, 1), len(s.lines))
	return min(s.lines[line-1]+max(column-1, 0), len(s.text))
}

// NewDiagnostic makes a Diagnostic whose Render shows a code frame of text.
// A nil text means no frame.
func NewDiagnostic(severity Severity, where Position, text []byte, message, hint string) Diagnostic {
	d := Diagnostic{
		File: where.File, Line: where.Line, Column: where.Column,
		Severity: severity, Message: message, Hint: hint,
	}
	if text != nil {
		d.src = newSource(where.File, text)
	}
	return d
}

// Position returns where the diagnostic points.
func (d Diagnostic) Position() Position {
	return Position{File: d.File, Line: d.Line, Column: d.Column}
}

// String renders file:line:column: severity: message on one line, without the
// frame and the hint.
func (d Diagnostic) String() string {
	head := d.Severity.String() + ": " + d.Message
	if at := d.Position().String(); at != "" {
		return at + ": " + head
	}
	return head
}

// Terminal styles. They are used only when the caller asked for colour.
const (
	styleReset  = "\x1b[0m"
	styleBold   = "\x1b[1m"
	styleRed    = "\x1b[31m"
	styleYellow = "\x1b[33m"
	styleDim    = "\x1b[2m"
)

// Render renders the diagnostic for a terminal: the position and message, a
// code frame where the source is known, and the hint. The result ends with a
// newline. With color it contains ANSI escapes.
func (d Diagnostic) Render(color bool) string {
	paint := func(style, text string) string {
		if !color || text == "" {
			return text
		}
		return style + text + styleReset
	}
	severityStyle := styleRed
	if d.Severity == SeverityWarning {
		severityStyle = styleYellow
	}
	var b strings.Builder
	if at := d.Position().String(); at != "" {
		b.WriteString(paint(styleBold, printable(at)) + ": ")
	}
	b.WriteString(paint(severityStyle, d.Severity.String()) + ": " + paint(styleBold, printable(d.Message)) + "\n")
	if d.src != nil && d.Line > 0 {
		if frame := CodeFrame(d.src.text, d.Line, d.Column); frame != "" {
			b.WriteString("\n")
			for _, line := range strings.SplitAfter(strings.TrimSuffix(frame, "\n"), "\n") {
				text := strings.TrimSuffix(line, "\n")
				if !strings.HasPrefix(text, ">") {
					text = paint(styleDim, text)
				}
				b.WriteString(text + "\n")
			}
		}
	}
	if d.Hint != "" {
		b.WriteString("\n")
		for i, line := range strings.Split(d.Hint, "\n") {
			lead := "  "
			if i == 0 {
				lead = "  " + paint(styleBold, "hint") + ": "
			}
			b.WriteString(lead + printable(line) + "\n")
		}
	}
	return b.String()
}

// ConfigError is what Load returns when a project cannot be used. It carries
// every diagnostic, warnings included, in file order. Immutable.
type ConfigError struct {
	Diagnostics []Diagnostic
}

// Error renders the errors (not the warnings) without colour.
func (e *ConfigError) Error() string { return strings.TrimSuffix(e.Render(false), "\n") }

// Render renders the errors, with code frames and hints. Warnings are left
// out: Load also returns them separately.
func (e *ConfigError) Render(color bool) string {
	var b strings.Builder
	for _, d := range e.Diagnostics {
		if d.Severity != SeverityError {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(d.Render(color))
	}
	return b.String()
}

// report collects diagnostics while one project is loaded. Owned by that call
// of Load; not safe for concurrent use.
type report struct {
	diagnostics []Diagnostic
	seen        map[Diagnostic]bool
}

func newReport() *report { return &report{seen: map[Diagnostic]bool{}} }

// add records d unless the very same diagnostic is there already: a top-level
// value is visited once for the file and once for the environment.
func (r *report) add(d Diagnostic) {
	if r.seen[d] {
		return
	}
	r.seen[d] = true
	r.diagnostics = append(r.diagnostics, d)
}

// errorAt and warnAt report about the node n; a nil n means no position.
func (r *report) errorAt(n *node, hint, format string, args ...any) {
	r.add(n.diagnostic(SeverityError, fmt.Sprintf(format, args...), hint))
}

func (r *report) warnAt(n *node, hint, format string, args ...any) {
	r.add(n.diagnostic(SeverityWarning, fmt.Sprintf(format, args...), hint))
}

// failed reports whether an error was recorded.
func (r *report) failed() bool {
	for _, d := range r.diagnostics {
		if d.Severity == SeverityError {
			return true
		}
	}
	return false
}

// sorted returns the diagnostics by file, line and column; those of one place
// stay in the order in which they were found.
func (r *report) sorted() []Diagnostic {
	out := append([]Diagnostic(nil), r.diagnostics...)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	return out
}
