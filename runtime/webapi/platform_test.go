package webapi_test

import (
	"testing"

	"minido.dev/minido/runtime/webapi/webapitest"
)

// The platform takes what the language has beyond goja: regular expressions and
// Float16Array.
func TestLanguageInPlatform(t *testing.T) {
	webapitest.New(t).Tries([][2]string{
		{`(() => { const a = structuredClone({ a: new Float16Array([1.5, -0]) }).a; return [a.constructor.name, a[0], Object.is(a[1], -0)] })()`, `["Float16Array",1.5,true]`},
		{`crypto.getRandomValues(new Float16Array(1))`, `TypeMismatchError: ArrayBufferView argument to getRandomValues() must be an integer-typed view.`},
		{`new Response(new Float16Array([1])).arrayBuffer().then((b) => [...new Uint8Array(b)])`, `[0,60]`},
		{`structuredClone(new RegExp("\\p{L}", "gu")).source + structuredClone(new RegExp("\\p{L}", "gu")).test("é")`, `\p{L}true`},
	})
}

const cryptoPrelude = `
globalThis.s = crypto.subtle;
globalThis.enc = (t) => new TextEncoder().encode(t);
globalThis.hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, "0")).join("");
globalThis.hmac = (usages = ["sign", "verify"]) => s.importKey("raw", enc("key"), { name: "HMAC", hash: "SHA-256" }, true, usages);
globalThis.aes = (name) => s.importKey("raw", new Uint8Array(16), name, true, ["encrypt", "decrypt"]);
`

// As in workerd, a CryptoKey is not serializable; an algorithm's getter that
// transfers the data leaves none.
func TestCryptoKeyClone(t *testing.T) {
	w := webapitest.New(t)
	w.Run(cryptoPrelude)
	w.Tries([][2]string{
		{`(async () => { const d = enc("abc"); return hex(await s.digest({ get name() { structuredClone(d.buffer, { transfer: [d.buffer] }); return "SHA-1" } }, d)) })()`, `da39a3ee5e6b4b0d3255bfef95601890afd80709`},
		{`hmac().then((k) => structuredClone({ k }))`, `DataCloneError: Could not serialize object of type "CryptoKey". This type does not support serialization.`},
	})
}
