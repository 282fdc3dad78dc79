package html

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// split feeds a document in pieces, and gives all that its tokens are written as,
// and the tokens that are no texts: those are given as far as they have come.
func split(doc string, size int, selectors [][]*selector) (raw string, tags []string) {
	s := newHTMLSplitter(selectors)
	take := func(list []htmlToken) {
		for _, t := range list {
			raw += t.raw
			if t.kind != html.TextToken {
				tags = append(tags, fmt.Sprint(t.kind, t.raw, t.name, t.attrs, t.matches, t.closes, t.alone, t.slash, t.space))
			}
		}
	}
	for rest := doc; rest != ""; {
		piece := rest[:min(size, len(rest))]
		rest = rest[len(piece):]
		take(s.feed([]byte(piece), false))
	}
	take(s.feed(nil, true))
	return raw, tags
}

// FuzzRewriter: a document that nobody rewrites leaves as it came, byte for byte,
// and its tags and what selectors match of them do not depend on where its
// chunks end.
func FuzzRewriter(f *testing.F) {
	for _, seed := range []string{
		"<!DOCTYPE html PUBLIC \"a\" 'b'><p class=a id='b c' d>x &amp; y</p><br/><!-- c --><script>a<b</script>", "<svg><a/><![CDATA[x]]></svg><p", "<textarea><p></textarea ><div =x =\"y></div>",
		"<a<b>c</a><//><?php ?><!x><math><mi></p>", "<title>\xff\xc3</title>\xe2\x82", "<iframe></iframe><plaintext></p>", "<p>a<p>b</ p></p\n>",
	} {
		f.Add(seed, uint8(2))
	}
	const css = "p, div > a[class~=a], *[id|=b]:not(.c):nth-child(2n+1), svg a"
	f.Fuzz(func(t *testing.T, doc string, size uint8) {
		list, err := parseSelectors(css)
		if err != nil {
			t.Fatal(err)
		}
		selectors := [][]*selector{list}
		raw, want := split(doc, len(doc)+1, selectors)
		if raw != doc {
			t.Fatalf("%q became %q", doc, raw)
		}
		raw, got := split(doc, 1+int(size), selectors)
		if raw != doc {
			t.Fatalf("in chunks of %d %q became %q", 1+int(size), doc, raw)
		}
		if a, b := strings.Join(want, "\n"), strings.Join(got, "\n"); a != b {
			t.Fatalf("%q in one:\n%s\nin chunks of %d:\n%s", doc, a, 1+int(size), b)
		}
	})
}

// FuzzSelector: a selector is read or refused, and one that is read can be asked
// about any element.
func FuzzSelector(f *testing.F) {
	for _, seed := range []string{"a", "*|a > b.c#d, e f", `[a="b" i][c^='d'][e~=f]`, "a:nth-child(2n + 1):not(.b, #c)", `\31 a.\62`, ":first-of-type", "a,,b", "[a", "a:not(", "-\\", "é.ü"} {
		f.Add(seed, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, name, value string) {
		list, err := parseSelectors(text)
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("%q is refused without a word", text)
			}
			return
		}
		s := newHTMLSplitter([][]*selector{list})
		for range 3 {
			s.feed([]byte("<"+name+" class='"+value+"' id="+value+" a=b>"), false)
		}
		s.feed(nil, true)
	})
}
