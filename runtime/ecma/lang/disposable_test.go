package lang

import "testing"

// Disposable stacks behave as workerd's.
func TestDisposables(t *testing.T) {
	newWorld(t).Tries([][2]string{
		{`(() => { const l = []; const s = new DisposableStack(); s.use({ [Symbol.dispose]() { l.push("a") } }); s.adopt("v", v => l.push(v)); s.defer(() => l.push("d")); l.push(s.disposed); s.dispose(); s.dispose(); l.push(s.disposed, String(s)); return l })()`, `[false,"d","v","a",true,"[object DisposableStack]"]`},
		{`(() => { const s = new DisposableStack(); s.defer(() => { throw new Error("1") }); s.defer(() => { throw new Error("2") }); try { s.dispose() } catch (e) { return [e.name, e.error.message, e.suppressed.message, e instanceof SuppressedError, e.message] } })()`, `["SuppressedError","1","2",true,"An error was suppressed during disposal"]`},
		{`(() => { const s = new DisposableStack(); const l = []; s.defer(() => l.push("x")); const t = s.move(); l.push(s.disposed, t.disposed); t[Symbol.dispose](); return l })()`, `[true,false,"x"]`},
		{`(() => { const s = new DisposableStack(); s.dispose(); s.use(null) })()`, `ReferenceError: Cannot call DisposableStack.prototype.use on an already-disposed DisposableStack`},
		{`new DisposableStack().use({})`, `TypeError: Symbol(Symbol.dispose) is not a function`},
		{`[new DisposableStack().use(null), new DisposableStack().use(undefined)]`, `[null,null]`},
		{`(async () => { const l = []; const s = new AsyncDisposableStack(); s.use({ async [Symbol.asyncDispose]() { await 0; l.push("a") } }); s.use({ [Symbol.dispose]() { l.push("sync") } }); s.adopt(1, async v => l.push(v)); s.defer(async () => l.push("d")); await s.disposeAsync(); return l.concat(s.disposed, String(s)) })()`, `["d",1,"sync","a",true,"[object AsyncDisposableStack]"]`},
		{`(async () => { const s = new AsyncDisposableStack(); s.defer(async () => { throw new Error("1") }); s.defer(() => { throw new Error("2") }); try { await s.disposeAsync() } catch (e) { return [e.name, e.error.message, e.suppressed.message] } })()`, `["SuppressedError","1","2"]`},
		{`new SuppressedError(1, 2, "m").message + Object.keys(new SuppressedError(1, 2)) + Object.getOwnPropertyNames(new SuppressedError(1, 2, "m"))`, `mstack,message,error,suppressed`},
	})
}
