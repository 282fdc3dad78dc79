package url

import (
	"slices"
	"testing"
)

// URL parsing, setters, and searchParams that follow in both directions
// (WHATWG URL, sections 6.1 and 6.2).
func TestURL(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ script, want string }{
		{`return new URL("../x?a=1#h", "http://u:p@EXAMPLE.com:80/b/c/d").href`, "http://u:p@example.com/b/x?a=1#h"},
		{`const u = new URL("http://a/?x=1"); u.searchParams.append("y", "a b&c"); return u.href`, "http://a/?x=1&y=a+b%26c"},
		{`const u = new URL("http://a/?x=1"); const s = u.searchParams; u.search = "?z=%20q"; return [...s].join()`, "z, q"},
		{`return new URL("blob:https://x.y/1").origin + new URL("data:,x").origin`, "https://x.ynull"},
		{`return [URL.canParse("nope"), URL.parse("nope"), URL.canParse("/x", "http://a")].join()`, "false,,true"},
		{`try { new URL("nope") } catch (e) { return e.name + e.message }`, "TypeErrorInvalid URL string."},
		{`return String(new URLSearchParams({ a: 1, b: "ü" })) + new URLSearchParams([["a", "b"]]).get("a")`, "a=1&b=%C3%BCb"},
		{`const s = new URLSearchParams("b=2&a=1&b=3"); s.sort(); s.set("b", "4"); s.delete("a"); return String(s) + s.size`, "b=41"},
		{`return JSON.stringify({ u: new URL("http://a") })`, `{"u":"http://a/"}`},
	} {
		w.Run("say((() => {" + c.script + "})())")
		w.Said(c.want)
	}
}

// comparePlain finds that the parts of a plain URL are the parser's.
func comparePlain(t *testing.T, text string, u plainURL) {
	t.Helper()
	want, err := Parse(text, "")
	if err != nil {
		t.Fatalf("%q is no URL: %v", text, err)
	}
	got := []string{u.href, u.origin(), u.protocol(), u.host(), u.hostname(), u.port(), u.pathname(), u.search(), u.hash(), u.username(), u.password()}
	if parts := []string{Href(want), Origin(want), want.Protocol(), want.Host(), want.Hostname(), want.Port(), want.Pathname(), want.Search(), want.Hash(), want.Username(), want.Password()}; !slices.Equal(got, parts) {
		t.Fatalf("%q: %q, want %q", text, got, parts)
	}
}

// Whatever the text, what is read without the parser is what the parser reads.
func FuzzPlainURL(f *testing.F) {
	for _, seed := range []string{"http://a", "https://a.b-c.test:8080/a/b;c=d?e=%20#f?g", "http://a1.b2:65535/?q", "https://x.0x1/", "http://a..b/", "http://xn--a/", "http://a/..b/%2e", "https://u:p%20@a.b/a/./b/../c%20/.%2E", "http://u@a//../%2e%2e/..", "http://:p@a/", "http://u:@a/", "http://u@v@a/", "http://a:1@b:2/@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if u, ok := parsePlain(text); ok {
			comparePlain(t, text, u)
		}
	})
}

// What is taken for a plain URL has the parts that the parser finds, and
// everything else is left to the parser.
func TestPlainURL(t *testing.T) {
	hosts := []string{"a", "u@a", "u:p@a.test", "u%20:p%zz@a", "u:@a", ":p@a", "@a", "u@v@a", "u:p:q@a", "U.~!$&'()*+,@a", "u;@a", "a.b-c.test", "a1.b2", "A.test", "1.2.3.4", "a.1", "a.0x1", "a..b", ".a", "a.", "-a", "a_b", "xn--nxa", "é.test", "[::1]", "", "u@h", "h%41"}
	ports := []string{"", ":", ":80", ":443", ":8080", ":0", ":00", ":65536", ":x"}
	paths := []string{"", "/", "/a/b;c=d", "/.", "/..", "/a/../b", "/.well-known", "/a..b/c.d", "/%2e%2E/x", "/a/b/../../../c", "/a//..", "/a/.", "/./", "/a/%2e./b%20c", "/%2", "/.%2e%2e/%2f..", "/..%2", "/a b", "/^", "/é", "//x", "\\x"}
	tails := []string{"", "?", "?a=%20&b=c", "?'", "?[]", "?a#", "#", "#f?g/h", "?q#f'", "#`", "#a\tb", " ", "?a b", "??x", "##"}
	plain, others := 0, 0
	for _, scheme := range []string{"http:", "https:", "HTTP:", "ftp:", "ws:"} {
		for _, host := range hosts {
			for _, port := range ports {
				for _, path := range paths {
					for _, tail := range tails {
						text := scheme + "//" + host + port + path + tail
						u, ok := parsePlain(text)
						if !ok {
							others++
							continue
						}
						plain++
						comparePlain(t, text, u)
					}
				}
			}
		}
	}
	if plain < 100 || others < 100 {
		t.Errorf("%d plain Classes and %d others: the lists show too little", plain, others)
	}
}

// A URL follows its searchParams when it is looked at, however many changes there were, and
// what takes the parser seconds is refused.
func TestURLFollowsParams(t *testing.T) {
	w := newWorld(t)
	w.Tries([][2]string{
		{`(() => { const u = new URL("http://x/?a=1#h"); u.searchParams.append("b", "2"); u.searchParams.delete("a"); return [u.href, u.search, u.hash].join(" ") })()`, `http://x/?b=2#h ?b=2 #h`},
		{`(() => { const u = new URL("http://x/"), p = u.searchParams; p.set("a", "1"); u.pathname = "/p"; p.set("c", "3"); u.hash = "f"; return JSON.stringify(u) + u + p })()`, `"http://x/p?a=1&c=3#f"http://x/p?a=1&c=3#fa=1&c=3`},
		{`(() => { const u = new URL("http://x/"), p = u.searchParams; p.set("a", "1"); u.search = "?z"; return [u.href, [...p].join()].join(" ") })()`, `http://x/?z z,`},
		{`(() => { const u = new URL("http://x/"), p = u.searchParams; p.set("a", "1"); u.href = "http://y/?q=2"; return [u.href, [...p].join()].join(" ") })()`, `http://y/?q=2 q,2`},
		{`(() => { const u = new URL("http://x/"); for (let i = 0; i < 5000; i++) u.searchParams.append("a", i); return u.href.length })()`, `33899`},
		{`new URL("http://" + "@".repeat(1e5) + "x/")`, `RangeError: minido parses URLs of up to 8 MB, and 60 KB if each byte is a slash`},
		{`(() => { const u = new URL("http://x/"); u.pathname = "/a".repeat(1e5); })()`, `RangeError: minido parses URLs of up to 8 MB, and 60 KB if each byte is a slash`},
		{`new URLPattern({ pathname: "/a".repeat(1e5) })`, `TypeError: Failed to construct URLPattern`},
		{`new URLPattern({ pathname: "/x" + "{a}".repeat(1e6) })`, `TypeError: Failed to construct URLPattern`},
		{`new URLPattern({ search: "ab".repeat(1e4) }).test("http://x/")`, `false`},
	})
}
