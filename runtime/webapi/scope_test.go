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
