package assets

import (
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"minido.dev/minido/runtime/event"
)

// FuzzRules: of each line of _redirects and _headers that is no rule a remark
// names the file and a line of it; the rules can be asked about any URL, and a
// redirect leads to a URL.
func FuzzRules(f *testing.F) {
	for _, seed := range [][3]string{
		{"/a /b 301\n/old/* /new/:splat\n/x/:y https://h.test/:y 308 # why", "/*\n  X-A: b\n  ! Server\nhttps://:sub.h.test/p/:id\n  Link: </a>; rel=x", "/old/1?q"},
		{"/a /b 200\n/a /c\nhttps://h/ /x\n/loop/* /index.html\n/a b\n/n /n 999", "X: y\n/a\n/b\n  bad\n  : v\n/*/*\n a: b", "/a"},
		{"/%zz /[ 302\r\n/é /ü", "/é\n  x: y\r\nhttps://h:8080/\n a: b", "/%C3%A9#h"},
		{"/:a/:a /x\n/** /y\n//evil.test/* //x/:splat", "//x\n a: :splat", "//evil.test/%2e%2e/x"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, redirects, headers, path string) {
		r := &ruleSet{static: map[string]redirectRule{}}
		counts := map[string]int{"_redirects": 1 + strings.Count(redirects, "\n"), "_headers": 1 + strings.Count(headers, "\n")}
		r.parseRedirects(strings.Split(redirects, "\n"), "auto-trailing-slash")
		r.parseHeaders(strings.Split(headers, "\n"))
		for _, m := range r.remarks {
			for _, bad := range m.bad {
				if bad.why == "" || bad.line < 0 || bad.line > counts[m.file] {
					t.Fatalf("%q: %+v is outside of the file", m.file, bad)
				}
			}
		}
		u, err := whatwg.ParseRef("https://h.test/base", path)
		if err != nil {
			return
		}
		if to, ok := r.redirect(u); ok {
			if _, err := u.Parse(to.to); err != nil || to.to == "" {
				t.Fatalf("%q leads to %q: %v", path, to.to, err)
			}
			if to.status == 200 && !strings.HasPrefix(to.to, "/") {
				t.Fatalf("%q is answered by %q", path, to.to)
			}
		}
		resp := &event.Response{Header: event.Header{{Name: "server", Value: "x"}}}
		r.decorate(u, resp)
		for _, field := range resp.Header {
			if field.Name == "" || strings.ContainsAny(field.Name+field.Value, "\n") {
				t.Fatalf("a header %q: %q", field.Name, field.Value)
			}
		}
	})
}

// FuzzIgnore: .assetsignore names or does not name any file, and says of a file
// in an excluded folder that it is excluded.
func FuzzIgnore(f *testing.F) {
	for _, seed := range []string{"*.map\n!keep.map\n/top\nnode_modules/", "a/**/b\n**/x\ny/**\n[a-c]?", "[\n\\!x\n#c\n\\#d\ntrailing\\ ", "[!a]\n[]]\na[/]b"} {
		f.Add(seed, "a/b.map")
	}
	f.Fuzz(func(t *testing.T, rules, name string) {
		excluded := ignoreMatcher(strings.Split(rules, "\n"))
		for i := range len(name) {
			if name[i] == '/' && i+1 < len(name) && excluded(name[:i+1]) && !excluded(name) {
				t.Fatalf("%q is excluded, %q is not", name[:i+1], name)
			}
		}
	})
}
