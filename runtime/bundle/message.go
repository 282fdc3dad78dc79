package bundle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Message is one finding about the user's files. File is relative to the
// project directory; Line and Column count from 1, Column in bytes; Line is 0
// when the message has no place.
type Message struct {
	File   string
	Line   int
	Column int
	Length int    // bytes to underline, 0 for a single caret
	Text   string // what happened
	Frame  string // the source line
	Notes  []string
	Hint   string // what to do next
	kind   messageKind
}

// BuildError says why there is no bundle. It holds at least one message.
// Errors are immutable.
type BuildError struct {
	Messages []Message
}

// Error implements error: the first message in one line, and how many more.
func (e *BuildError) Error() string {
	m := e.Messages[0]
	s := "bundle: " + m.where() + m.Text
	if m.Hint != "" {
		s += " (" + m.Hint + ")"
	}
	if n := len(e.Messages) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// Render is the text for a terminal: for each message file:line:column, what
// happened, a code frame, notes and a hint. color adds ANSI colours.
func (e *BuildError) Render(color bool) string {
	var sb strings.Builder
	for i, m := range e.Messages {
		if i > 0 {
			sb.WriteByte('\n')
		}
		m.render(&sb, "error", color)
	}
	return sb.String()
}

// RenderWarnings is Render for Bundle.Warnings.
func RenderWarnings(ms []Message, color bool) string {
	var sb strings.Builder
	for _, m := range ms {
		m.render(&sb, "warning", color)
	}
	return sb.String()
}

func (m Message) where() string {
	switch {
	case m.File == "":
		return ""
	case m.Line == 0:
		return m.File + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", m.File, m.Line, m.Column)
}

func (m Message) render(sb *strings.Builder, level string, color bool) {
	paint := func(code, s string) string {
		if !color {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	hue := "31"
	if level == "warning" {
		hue = "33"
	}
	fmt.Fprintf(sb, "%s%s %s\n", paint("1", m.where()), paint(hue, level+":"), m.Text)
	if m.Line > 0 && m.Frame != "" {
		num := fmt.Sprintf("%5d", m.Line)
		frame := strings.ReplaceAll(strings.TrimRight(m.Frame, "\r\n"), "\t", " ")
		col := min(max(m.Column-1, 0), len(frame))
		// A minified line is cut to a window around the place.
		const window = 160
		if len(frame) > window {
			start := max(0, col-window/2)
			frame = frame[start:min(len(frame), start+window)]
			col -= start
		}
		under := strings.Repeat("~", max(1, min(m.Length, len(frame)-col)))
		if m.Length <= 1 {
			under = "^"
		}
		fmt.Fprintf(sb, "%s | %s\n%s | %s%s\n", num, frame,
			strings.Repeat(" ", len(num)), strings.Repeat(" ", col), paint(hue, under))
	}
	for _, n := range m.Notes {
		fmt.Fprintf(sb, "  note: %s\n", n)
	}
	if m.Hint != "" {
		fmt.Fprintf(sb, "  hint: %s\n", m.Hint)
	}
}

// fromEsbuild converts esbuild's message about the file named name.
func fromEsbuild(m api.Message, name string) Message {
	out := Message{Text: m.Text}
	if m.Location != nil {
		out.File = name
		out.Line = m.Location.Line
		out.Column = m.Location.Column + 1
		out.Length = m.Location.Length
		out.Frame = m.Location.LineText
	}
	for _, n := range m.Notes {
		text := n.Text
		if n.Location != nil && n.Location.Line > 0 {
			text = fmt.Sprintf("%s (line %d, column %d)", text, n.Location.Line, n.Location.Column+1)
		}
		out.Notes = append(out.Notes, text)
	}
	return out
}

// sortMessages gives messages that were found in parallel a stable order.
func sortMessages(ms []Message) []Message {
	slices.SortStableFunc(ms, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Text, b.Text))
	})
	return slices.CompactFunc(ms, func(a, b Message) bool {
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Text == b.Text
	})
}
