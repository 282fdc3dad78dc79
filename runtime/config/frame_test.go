package config

import (
	"strings"
	"testing"
)

// TestCodeFrame shows the frame at the edges of a file and of a line.
func TestCodeFrame(t *testing.T) {
	source := "one\n\ttwo ü x\nthree\nfour\n"
	for name, tc := range map[string]struct {
		source       string
		line, column int
		want         string
	}{
		"middle":        {source, 3, 2, "  1 | one\n  2 | \ttwo ü x\n> 3 | three\n    |  ^\n  4 | four\n"},
		"first":         {source, 1, 1, "> 1 | one\n    | ^\n  2 | \ttwo ü x\n"},
		"tab and ü":     {source, 2, 7, "  1 | one\n> 2 | \ttwo ü x\n    | \t     ^\n  3 | three\n"},
		"last":          {source, 4, 1, "  2 | \ttwo ü x\n  3 | three\n> 4 | four\n    | ^\n"},
		"past the end":  {"ab", 1, 9, "> 1 | ab\n    |   ^\n"},
		"no column":     {"ab", 1, 0, "> 1 | ab\n"},
		"no such line":  {"ab", 2, 1, ""},
		"line 0":        {"ab", 0, 1, ""},
		"empty":         {"", 1, 1, "> 1 |\n    | ^\n"},
		"escape":        {"a\x1b[31mb", 1, 1, "> 1 | a�[31mb\n    | ^\n"},
		"carriage":      {"a\r\nb\r\n", 2, 1, "  1 | a\n> 2 | b\n    | ^\n"},
		"invalid UTF-8": {"a\xffb", 1, 3, "> 1 | a�b\n    |   ^\n"},
	} {
		if got := CodeFrame([]byte(tc.source), tc.line, tc.column); got != tc.want {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, tc.want)
		}
	}
}

// TestCodeFrameCutsLongLines shows that a minified line becomes a window whose
// caret is at the right character.
func TestCodeFrameCutsLongLines(t *testing.T) {
	line := strings.Repeat("a", 5000) + "!" + strings.Repeat("b", 5000)
	frame := strings.Split(CodeFrame([]byte(line), 1, 5001), "\n")
	if len(frame[0]) > 2*frameColumns || len(frame) != 3 {
		t.Fatalf("the frame is too wide: %q", frame)
	}
	text, caret := []rune(frame[0]), strings.IndexByte(frame[1], '^')
	if text[caret] != '!' {
		t.Errorf("the caret is under %q:\n%s", text[caret], strings.Join(frame, "\n"))
	}
}

// TestRenderColor shows that colour only adds escapes.
func TestRenderColor(t *testing.T) {
	d := NewDiagnostic(SeverityWarning, Position{File: "f", Line: 1, Column: 2}, []byte("abc"), "message", "do\nthis")
	plain, colored := d.Render(false), d.Render(true)
	if strings.Contains(plain, "\x1b") || !strings.Contains(colored, "\x1b[") {
		t.Errorf("plain %q, colored %q", plain, colored)
	}
	for _, style := range []string{styleReset, styleBold, styleRed, styleYellow, styleDim} {
		colored = strings.ReplaceAll(colored, style, "")
	}
	if colored != plain {
		t.Errorf("without its escapes:\n%q\nwant\n%q", colored, plain)
	}
	if want := "f:1:2: warning: message\n\n> 1 | abc\n    |  ^\n\n  hint: do\n  this\n"; plain != want {
		t.Errorf("%q, want %q", plain, want)
	}
}
