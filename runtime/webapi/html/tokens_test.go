package html

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Where a document is cut on its way makes no difference to its tokens, but that
// a text comes in parts (HTML, section 13.2.5: the tokenizer has states, not
// chunks).
func TestHTMLSplitter(t *testing.T) {
	selectors, err := parseSelectors("div p, g, script")
	if err != nil {
		t.Fatal(err)
	}
	split := func(parts ...string) (out []htmlToken) {
		s := newHTMLSplitter([][]*selector{selectors})
		for i, part := range parts {
			for _, token := range s.feed([]byte(part), i == len(parts)-1) {
				if last := len(out) - 1; last >= 0 && token.kind == html.TextToken && out[last].kind == html.TextToken {
					out[last].raw += token.raw
					out[last].last = token.last
				} else {
					out = append(out, token)
				}
			}
		}
		return out
	}
	for _, doc := range []string{
		`<!DOCTYPE html><div a="x>y"  B='2' c>1 < 2 &amp; é<p>日本</div><!-- c -- d --></p>`,
		`<script>if (a<b) "</p>" <!-- </script><style>a</b></style><textarea><p></textarea><p/>`,
		`<svg><style><p></style><![CDATA[<p>]]><g/><foreignObject><div><p>x</p></div></foreignObject></svg>`,
		`a<`, `a</`, `<p`, `<!--`, `<?pi?></ x><!x>`,
	} {
		whole := split(doc)
		var raw strings.Builder
		for _, token := range whole {
			raw.WriteString(token.raw)
		}
		if raw.String() != doc {
			t.Errorf("%q became %q", doc, raw.String())
		}
		for i := range len(doc) {
			for j := i; j < len(doc); j += 7 {
				if got := split(doc[:i], doc[i:j], doc[j:]); !reflect.DeepEqual(got, whole) {
					t.Fatalf("%q cut at %d and %d: %+v, want %+v", doc, i, j, got, whole)
				}
			}
		}
	}
}
