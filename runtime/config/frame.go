package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code frames show this much around the line they point at.
const (
	frameLinesBefore = 2
	frameLinesAfter  = 1
	// frameColumns bounds a shown line, in code points: a minified file would
	// otherwise fill the terminal.
	frameColumns = 120
)

// CodeFrame renders the lines around a place in source, with line numbers, a
// ">" at the line and a caret under the column:
//
//	  2 |   "name": "room",
//	> 3 |   "mian": "src/index.ts",
//	    |   ^
//	  4 | }
//
// line and column count from 1; column counts code points. A column past the
// end of the line points just behind it, and a column of 0 or less draws no
// caret. Long lines are cut to a window around the column. Control characters
// are replaced, so that a file cannot send escape sequences to the terminal.
// The result ends with a newline; it is empty when source has no such line.
// CodeFrame is pure.
func CodeFrame(source []byte, line, column int) string {
	lines := strings.Split(string(source), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	first := max(1, line-frameLinesBefore)
	last := min(len(lines), line+frameLinesAfter)
	if last == len(lines) && last > line && strings.TrimSpace(lines[last-1]) == "" {
		last-- // the empty string after the final newline is not a line
	}
	offset := 0 // code points cut off at the left, the same for every line
	if column > frameColumns*3/4 {
		offset = column - frameColumns/2
	}
	width := len(fmt.Sprint(last))
	var b strings.Builder
	for n := first; n <= last; n++ {
		text := []rune(printable(strings.TrimSuffix(lines[n-1], "\r")))
		shown, cut := window(text, offset)
		mark := " "
		if n == line {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%s %*d | %s", mark, width, n, cut), " "))
		if n == line && column > 0 {
			col := min(column-1, len(text)) - offset
			fmt.Fprintf(&b, "  %*s | %s^\n", width, "", indentLike(shown, max(0, col)))
		}
	}
	return b.String()
}

// window returns the part of text that is shown from offset on, as runes (for
// aligning the caret) and as a string with marks where it was cut.
func window(text []rune, offset int) ([]rune, string) {
	if offset >= len(text) && offset > 0 {
		return nil, ""
	}
	shown := text[offset:]
	tail := ""
	if len(shown) > frameColumns {
		shown, tail = shown[:frameColumns], "…"
	}
	out := []rune(string(shown))
	if offset > 0 && len(out) > 0 {
		out[0] = '…'
	}
	return shown, string(out) + tail
}

// indentLike returns n columns of white space that are as wide as the first n
// characters of text, keeping its tabs.
func indentLike(text []rune, n int) string {
	var b strings.Builder
	for i := range n {
		if i < len(text) && text[i] == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// printable replaces what could move a terminal's cursor or is not text at
// all. One character stays one character, so columns keep their meaning.
func printable(s string) string {
	clean := func(r rune) rune {
		if r == '\t' || (r != utf8.RuneError && unicode.IsPrint(r)) || r == '\n' {
			return r
		}
		return '�'
	}
	return strings.Map(clean, s)
}
