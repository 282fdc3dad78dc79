package webapi_test

import (
	"testing"

	"minido.dev/minido/runtime/webapi/webapitest"
)

// Web IDL, section 3.7 (overload resolution): arguments are converted from left
// to right; the members of a dictionary in workerd's order.
func TestArgumentOrder(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`globalThis.spy = (seen, name) => ({ toString() { seen.push(name); return "native" } })`)
	w.Tries([][2]string{
		{`(o => { new Blob([spy(o, "part")], { get type() { o.push("get type"); return spy(o, "type") }, get endings() { o.push("get endings") } }); return o })([])`,
			`["part","get type","type","get endings"]`},
		{`(o => { new Request("http://x", new Proxy({}, { get(t, k) { o.push(k) } })); return o })([])`,
			`["method","headers","body","redirect","fetcher","cf","cache","integrity","signal","encodeResponseBody"]`},
		{`(o => { new Response("", new Proxy({}, { get(t, k) { o.push(k) } })); return o })([])`,
			`["status","statusText","headers","cf","webSocket","encodeBody"]`},
		{`(o => { new File([spy(o, "part")], spy(o, "name"), { get lastModified() { o.push("lastModified") }, get type() { o.push("type") } }); return o })([])`,
			`["part","name","type","lastModified"]`},
		{`new Blob(["a\r\nb", "\r", "\n"], { endings: "native" })`, "Error: The 'endings' field on 'Options' is not implemented."},
		// A second argument that is null is a dictionary, for the other overload has a string there.
		{`new URLPattern({}, null).pathname + new URLPattern("https://a/x", null).pathname`, `*/x`},
	})
}

// Fetch, section 4.1 (main fetch): the response to a HEAD has no body, whatever
// the scheme.
func TestHeadOfDataURL(t *testing.T) {
	w := webapitest.New(t)
	w.Tries([][2]string{
		{`fetch("data:,x", { method: "HEAD" }).then(async r => [r.body, await r.text(), r.headers.get("content-type")])`, `[null,"","text/plain;charset=US-ASCII"]`},
	})
}

// HTML, section 2.7.3 (StructuredSerializeInternal, step 20): a platform object
// that is not serializable is refused. Section 8.6 (timers): the callback's this
// value is the global object, also in strict code.
func TestStreamsAreNoPlainObjects(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`globalThis.refused = (v) => { try { structuredClone(v); return false } catch (e) { return e.name } }`)
	w.Tries([][2]string{
		{`[new TransformStream(), new TextDecoderStream(), new CompressionStream("gzip"), new ReadableStream().getReader(), new WritableStream().getWriter()].map(refused)`,
			`["DataCloneError","DataCloneError","DataCloneError","DataCloneError","DataCloneError"]`},
		{`(c => { new ReadableStream({ type: "bytes", start(x) { c.push(x) } }); new TransformStream({ start(x) { c.push(x) } }); return c.map(refused) })([])`, `["DataCloneError","DataCloneError"]`},
		{`refused(new (class extends TransformStream {})())`, `DataCloneError`},
		{`structuredClone(Object.create({ a: 1 }, { b: { value: 2, enumerable: true } }))`, `{"b":2}`},
		{`new Promise(resolve => setTimeout(function () { "use strict"; resolve(this === globalThis) }))`, `true`},
	})
}

// Web Cryptography, section 18.4.4 (normalizing an algorithm): a digest that is
// not registered is not supported, and MD5, which only digest() has, is none of
// ECDSA's.
func TestNoMD5InECDSA(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`globalThis.keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"])`)
	w.Tries([][2]string{
		{`crypto.subtle.sign({ name: "ECDSA", hash: "MD5" }, keys.privateKey, new Uint8Array(1)).catch(e => e.name)`, `NotSupportedError`},
		{`crypto.subtle.verify({ name: "ECDSA", hash: "MD5" }, keys.publicKey, new Uint8Array(64), new Uint8Array(1)).catch(e => e.name)`, `NotSupportedError`},
	})
}

// Web IDL, section 3.2.26 (buffer source types): a Map is no view. Fetch, section
// 5 (body init), in workerd: what can be iterated over is a stream of its items,
// but for what iterates synchronously and has a text of its own.
func TestIterablesAsBodies(t *testing.T) {
	w := webapitest.New(t)
	w.Run(`globalThis.items = { *[Symbol.iterator]() { yield new Uint8Array([105]) } };
		globalThis.told = (v) => { const r = new Response(v); return r.text().then((s) => s + "," + r.headers.get("content-type"), (e) => e.name) }`)
	w.Tries([][2]string{
		{`new Blob([new Map([[1, 2]]), new Set()]).text()`, `[object Map][object Set]`},
		{`new TextDecoder().decode(new Map())`, `TypeError: Failed to execute 'decode' on 'TextDecoder': parameter 1 is not of type 'Array'.`},
		{`crypto.subtle.digest("SHA-1", new Map()).catch(e => e.name)`, `TypeError`},
		{`Promise.all([items, { ...items, toString() { return "text" } }, { ...items, [Symbol.toPrimitive]() { return "prim" } }, { ...items, valueOf() { return "no" } }].map(told))`,
			`["i,null","text,text/plain;charset=UTF-8","prim,text/plain;charset=UTF-8","i,null"]`},
		{`Promise.all([Object.assign([new Uint8Array([97])], { toString() { return "no" } }), { [Symbol.asyncIterator]() { let n = 0; return { async next() { return { value: new Uint8Array([97]), done: n++ === 1 } } } }, toString() { return "no" } }].map(told))`, `["a,null","a,null"]`},
		{`Promise.all([new Map([["a", "b"]]), new Map()].map(told))`, `["TypeError",",null"]`},
	})
}
