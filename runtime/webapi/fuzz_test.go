package webapi

import (
	"testing"

	"github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/unicode/norm"

	"minido.dev/minido/runtime/event"
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
			if u, err = parseURL(input, ""); err != nil {
				return
			}
		}
		stable := func(when string) {
			href := hrefOf(u)
			again, err := url.Parse(href)
			if err != nil {
				return // a host that is valid before IDNA maps it, and not after
			}
			if got := hrefOf(again); got != href && norm.NFC.IsNormalString(input+base+part) {
				t.Fatalf("%s: %q (of %q on %q) parses to %q", when, href, input, base, got)
			}
			originOf(again)
		}
		stable("parsed")
		for _, set := range []func(string){u.SetProtocol, u.SetUsername, u.SetPassword, u.SetHost, u.SetHostname, u.SetPort, u.SetPathname, u.SetSearch, u.SetHash} {
			set(part)
		}
		hrefOf(u)
		parseQuery(part)
	})
}

// Fetch, section 5.1: whatever the lines, the sorted list has each name once
// (Set-Cookie apart), in order, and get() joins the values that it shows.
func FuzzHeaders(f *testing.F) {
	f.Add("a", "1", "A", "2", "set-cookie", "x", uint8(0))
	f.Add("b", " 1 ", "a", "", "B", "\xff", uint8(7))
	f.Fuzz(func(t *testing.T, n1, v1, n2, v2, n3, v3 string, how uint8) {
		h := &headers{}
		for i, field := range []event.Field{{Name: n1, Value: v1}, {Name: n2, Value: v2}, {Name: n3, Value: v3}} {
			switch how >> (2 * i) & 3 {
			case 0, 1:
				h.append(field.Name, field.Value)
			case 2:
				h.set(field.Name, field.Value)
			case 3:
				h.delete(field.Name)
			}
		}
		list := h.sorted()
		for i, field := range list {
			cookie := field.Name == "set-cookie"
			if i > 0 && (list[i-1].Name > field.Name || list[i-1].Name == field.Name && !cookie) {
				t.Fatalf("%q is not in order", list)
			}
			if value, ok := h.get(field.Name); !ok || !cookie && isASCII(field.Name) && value != field.Value {
				t.Fatalf("get(%q) gives %q, the list %q", field.Name, value, field.Value)
			}
		}
		if mime, ok := parseMIME(v1); ok {
			if again, ok := parseMIME(mime.String()); !ok || again.String() != mime.String() {
				t.Fatalf("%q: %q parses to %q", v1, mime, again)
			}
		}
	})
}
