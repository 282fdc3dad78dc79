package mime

import (
	"testing"
)

// MIME types parse and serialize as the MIME Sniffing standard says.
func TestMIME(t *testing.T) {
	for in, want := range map[string]string{
		"text/html":                        "text/html",
		" Text/HTML ; Charset=UTF-8 ":      "text/html;charset=UTF-8",
		`a/b;x="q\"r" ;y=1;x=2`:            `a/b;x="q\"r";y=1`,
		"a/b;;c;d=e":                       "a/b;d=e",
		"a":                                "",
		"a/":                               "",
		"a b/c":                            "",
		`a/b;x="unclosed`:                  "a/b;x=unclosed",
		`a/b;x=""`:                         `a/b;x=""`,
		"a/b;x=":                           "a/b",
		"text/html;charset=gbk, text/html": "text/html;charset=gbk",
		"text/html;charset=gbk, x/y":       "x/y",
		"text/html, */*":                   "text/html",
		`text/html;x=",text/plain"`:        `text/html;x=",text/plain"`,
	} {
		got := ""
		if m, ok := Extract(in); ok {
			got = m.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
