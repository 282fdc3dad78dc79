package scope_test

import (
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// The global scope and message channels behave as workerd's.
func TestScope(t *testing.T) {
	w := webapitest.New(t)
	w.Off[compat.NodejsAls] = true
	w.Tries([][2]string{
		{`[origin, Object.prototype.toString.call(globalThis), Cloudflare.compatibilityFlags.nodejs_compat, Cloudflare.compatibilityFlags.nodejs_als, Cloudflare.compatibilityFlags.no_nodejs_compat]`,
			`["null","[object ServiceWorkerGlobalScope]",true,false,null]`},
		{`(f => [Object.keys(f).length, Object.keys(f)[0], Object.getPrototypeOf(f), Object.isFrozen(f), Object.getOwnPropertyDescriptor(f, "url_standard")])(Cloudflare.compatibilityFlags)`,
			`[205,"formdata_parser_supports_files",null,true,{"value":true,"writable":false,"enumerable":true,"configurable":false}]`},
		{`new ServiceWorkerGlobalScope()`, `TypeError: Illegal constructor`},
		{`(async () => { const { port1, port2 } = new MessageChannel(); const got = new Promise(r => { port2.onmessage = e => r([e.data, e.type, e.constructor.name, e.target === port2]) }); port1.postMessage({ a: 1 }); return await got })()`, `[{"a":1},"message","MessageEvent",true]`},
		{`(async () => { const { port1, port2 } = new MessageChannel(); const l = []; port2.addEventListener("message", e => l.push(e.data)); port1.postMessage(1); await scheduler.wait(1); l.push("before start"); port2.start(); await scheduler.wait(1); port1.postMessage(2); port2.close(); await scheduler.wait(1); return l })()`, `[1,"before start",2]`},
		{`(() => { const { port1 } = new MessageChannel(); port1.postMessage(() => 1) })()`, `DataCloneError: () => 1 could not be cloned.`},
		{`new MessagePort()`, `TypeError: Illegal constructor`},
	})
}
