package url

import (
	"testing"

	"github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/unicode/norm"
)

// URL standard, section 4.5: what a URL is written as parses to itself, however
// it came about; setters of parts leave it a URL.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"http://u:p@ex%41mple.com:80/a/../b?q=1#h", "file:///C|/a", "//x/y", "foo:/..//a", "http://[::ffff:1.2.3.4]/", "http://xn--ls8h.la/", "data:text/plain, a #b", "http://0x7f.1/%zz", "blob:https://a/b", "ws://ü.com\\a\tb"} {
		f.Add(seed, "http://base.test/a/b?c#d", "x:9/y?z#w")
	}
	f.Fuzz(func(t *testing.T, input, base, part string) {
		u, err := url.ParseRef(base, input)
		if err != nil {
			if u, err = Parse(input, ""); err != nil {
				return
			}
		}
		stable := func(when string) {
			href := Href(u)
			again, err := url.Parse(href)
			if err != nil {
				return // a host that is valid before IDNA maps it, and not after
			}
			if got := Href(again); got != href && norm.NFC.IsNormalString(input+base+part) {
				t.Fatalf("%s: %q (of %q on %q) parses to %q", when, href, input, base, got)
			}
			Origin(again)
		}
		stable("parsed")
		for _, set := range []func(string){u.SetProtocol, u.SetUsername, u.SetPassword, u.SetHost, u.SetHostname, u.SetPort, u.SetPathname, u.SetSearch, u.SetHash} {
			set(part)
		}
		Href(u)
		ParseQuery(part)
	})
}
