package webapi

import "testing"

// Disposable stacks and message channels behave as workerd's.
func TestScope(t *testing.T) {
	w := newFetchWorld(t)
	w.flags["off"] = true
	w.tries([][2]string{
		{`[origin, Object.prototype.toString.call(globalThis), Cloudflare.compatibilityFlags.nodejs_compat, Cloudflare.compatibilityFlags.off]`,
			`["null","[object ServiceWorkerGlobalScope]",true,null]`},
		{`new ServiceWorkerGlobalScope()`, `TypeError: Illegal constructor`},
		{`(() => { const l = []; const s = new DisposableStack(); s.use({ [Symbol.dispose]() { l.push("a") } }); s.adopt("v", v => l.push(v)); s.defer(() => l.push("d")); l.push(s.disposed); s.dispose(); s.dispose(); l.push(s.disposed, String(s)); return l })()`, `[false,"d","v","a",true,"[object DisposableStack]"]`},
		{`(() => { const s = new DisposableStack(); s.defer(() => { throw new Error("1") }); s.defer(() => { throw new Error("2") }); try { s.dispose() } catch (e) { return [e.name, e.error.message, e.suppressed.message, e instanceof SuppressedError, e.message] } })()`, `["SuppressedError","1","2",true,"An error was suppressed during disposal"]`},
		{`(() => { const s = new DisposableStack(); const l = []; s.defer(() => l.push("x")); const t = s.move(); l.push(s.disposed, t.disposed); t[Symbol.dispose](); return l })()`, `[true,false,"x"]`},
		{`(() => { const s = new DisposableStack(); s.dispose(); s.use(null) })()`, `ReferenceError: Cannot call DisposableStack.prototype.use on an already-disposed DisposableStack`},
		{`new DisposableStack().use({})`, `TypeError: Symbol(Symbol.dispose) is not a function`},
		{`[new DisposableStack().use(null), new DisposableStack().use(undefined)]`, `[null,null]`},
		{`(async () => { const l = []; const s = new AsyncDisposableStack(); s.use({ async [Symbol.asyncDispose]() { await 0; l.push("a") } }); s.use({ [Symbol.dispose]() { l.push("sync") } }); s.adopt(1, async v => l.push(v)); s.defer(async () => l.push("d")); await s.disposeAsync(); return l.concat(s.disposed, String(s)) })()`, `["d",1,"sync","a",true,"[object AsyncDisposableStack]"]`},
		{`(async () => { const s = new AsyncDisposableStack(); s.defer(async () => { throw new Error("1") }); s.defer(() => { throw new Error("2") }); try { await s.disposeAsync() } catch (e) { return [e.name, e.error.message, e.suppressed.message] } })()`, `["SuppressedError","1","2"]`},
		{`new SuppressedError(1, 2, "m").message + Object.keys(new SuppressedError(1, 2)) + Object.getOwnPropertyNames(new SuppressedError(1, 2, "m"))`, `mstack,message,error,suppressed`},
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
