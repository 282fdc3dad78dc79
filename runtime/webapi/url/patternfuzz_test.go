package url

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzPattern: a pattern of a component is read or refused with a reason; what it is
// written as is a pattern that means the same, and its expression is the same one.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"/users/:id", "/a/:b?/*", "/{a,b}+", `/:x(\d+)-:y{z}?`, "{:sub.}?example.com", "*(.*)", "(a)(b)", `\:x\\`, "/a{/:b}*c", ":ü", "{}?", "/(?:x)", "((a)b)", "(", "{a", ":a:a", "/:a(.*)x", "{:a}b", ":a{}b", "[::1]"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, path bool) {
		if !utf8.ValidString(text) {
			return // no text of JavaScript
		}
		syntax := patternSyntax{}
		if path {
			syntax = patternSyntax{"/", "/"}
		}
		same := func(s string) (string, error) { return s, nil }
		parts, err := parsePattern(text, syntax, same)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "Syntax error in URL Pattern: ") { // as workerd's before urlpattern_standard
				t.Fatalf("%q: the error says not what is wrong: %v", text, err)
			}
			return
		}
		written := patternText(parts, syntax)
		again, err := parsePattern(written, syntax, same)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, written, err)
		}
		source, names := patternRegExp(parts, syntax)
		source2, names2 := patternRegExp(again, syntax)
		if source != source2 || strings.Join(names, " ") != strings.Join(names2, " ") {
			t.Fatalf("%q is written as %q: /%s/ (%v) became /%s/ (%v)", text, written, source, names, source2, names2)
		}
		if twice := patternText(again, syntax); twice != written {
			t.Fatalf("%q is written as %q, and that as %q", text, written, twice)
		}
	})
}
