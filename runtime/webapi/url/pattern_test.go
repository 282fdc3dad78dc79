package url

import "testing"

// URL Pattern, section 2.1 (create a component, "matches a special scheme"): a
// protocol that matches no special scheme makes the pathname opaque, the empty
// one too; each answer was also given by workerd.
func TestURLPatternOpaquePathname(t *testing.T) {
	w := newWorld(t)
	w.Run(`globalThis.path = (protocol, pathname) => new URLPattern({ protocol, pathname }).pathname`)
	w.Tries([][2]string{
		{`[path("", "/a{/:b}+"), path("foo", "/a{/:b}+"), path("http{s}?", "/a{/:b}+"), path("*", "/a{/:b}+"), path("(foo|http)", "/a{/:b}+")]`,
			`["/a{/:b}+","/a{/:b}+","/a/:b+","/a/:b+","/a/:b+"]`},
		{`new URLPattern({ pathname: "/a{/:b}+" }).pathname`, `/a/:b+`},
	})
}

// URL patterns match, show themselves and fail as workerd's.
func TestURLPattern(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`(() => { const m = new URLPattern({ pathname: "/users/:id" }).exec("https://x.com/users/42?q=1"); return [m.pathname.groups.id, m.search.input, m.pathname.input, Object.keys(m)] })()`, `["42","q=1","/users/42",["inputs","protocol","username","password","hostname","port","pathname","search","hash"]]`},
		{`[new URLPattern("https://*.example.com/books/:id(\\d+)").test("https://a.example.com/books/1"), new URLPattern("https://*.example.com/books/:id(\\d+)").test("https://a.example.com/books/x")]`, `[true,false]`},
		{`(() => { const p = new URLPattern("/a/:b?/*", "https://x.com"); return [p.pathname, p.protocol, p.hostname, p.port, p.search, p.hash, p.test("https://x.com/a/1/2"), p.exec("https://x.com/a/z").pathname.groups] })()`, `["/a/:b?/*","https","x.com","","*","*",true,{"0":"z"}]`},
		{`new URLPattern({ pathname: "/files/:path+" }).exec({ pathname: "/files/a/b/c" }).pathname.groups`, `{"path":"a/b/c"}`},
		{`new URLPattern({ pathname: "/{a,b}" }).pathname + new URLPattern({ pathname: "/(a|b)" }).test({ pathname: "/b" }) + new URLPattern({ pathname: "/x{/y}?" }).test({ pathname: "/x" })`, `/a,btruetrue`},
		{`new URLPattern({ pathname: "/A" }, { ignoreCase: true }).test({ pathname: "/a" })`, `true`},
		{`new URLPattern({ pathname: "/(" })`, `TypeError: Failed to construct URLPattern`},
		{`new URLPattern("foo")`, `TypeError: Failed to construct URLPattern`},
		{`new URLPattern({ search: "q=:v" }).exec("http://h/?q=7").search.groups.v + new URLPattern({ hash: "x*" }).test("http://h/#xy") + new URLPattern().test("http://any/")`, `7truetrue`},
		{`new URLPattern({ hostname: "{:sub.}?example.com" }).exec("https://www.example.com/").hostname.groups.sub + new URLPattern({pathname:"/a"}).hasRegExpGroups + new URLPattern({pathname:"/(a)"}).hasRegExpGroups`, `wwwfalsetrue`},
	})
}
