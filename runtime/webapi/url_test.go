package webapi

import "testing"

// URL parsing, setters, and searchParams that follow in both directions
// (WHATWG URL, sections 6.1 and 6.2).
func TestURL(t *testing.T) {
	w := newFetchWorld(t)
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
		w.run("say((() => {" + c.script + "})())")
		w.said(c.want)
	}
}
