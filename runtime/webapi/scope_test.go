package webapi

import "testing"

// The global scope and message channels behave as workerd's.
func TestScope(t *testing.T) {
	w := newFetchWorld(t)
	w.flags["off"] = true
	w.tries([][2]string{
		{`[origin, Object.prototype.toString.call(globalThis), Cloudflare.compatibilityFlags.nodejs_compat, Cloudflare.compatibilityFlags.off]`,
			`["null","[object ServiceWorkerGlobalScope]",true,null]`},
		{`new ServiceWorkerGlobalScope()`, `TypeError: Illegal constructor`},
		{`(async () => { const { port1, port2 } = new MessageChannel(); const got = new Promise(r => { port2.onmessage = e => r([e.data, e.type, e.constructor.name, e.target === port2]) }); port1.postMessage({ a: 1 }); return await got })()`, `[{"a":1},"message","MessageEvent",true]`},
		{`(async () => { const { port1, port2 } = new MessageChannel(); const l = []; port2.addEventListener("message", e => l.push(e.data)); port1.postMessage(1); await scheduler.wait(1); l.push("before start"); port2.start(); await scheduler.wait(1); port1.postMessage(2); port2.close(); await scheduler.wait(1); return l })()`, `[1,"before start",2]`},
		{`(() => { const { port1 } = new MessageChannel(); port1.postMessage(() => 1) })()`, `DataCloneError: () => 1 could not be cloned.`},
		{`new MessagePort()`, `TypeError: Illegal constructor`},
	})
}

// URL patterns match, show themselves and fail as workerd's.
func TestURLPattern(t *testing.T) {
	newFetchWorld(t).tries([][2]string{
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
