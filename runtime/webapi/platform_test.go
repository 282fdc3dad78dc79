package webapi

import "testing"

// The platform takes what the language has beyond goja: regular expressions and
// Float16Array.
func TestLanguageInPlatform(t *testing.T) {
	newFetchWorld(t).tries([][2]string{
		{`(() => { const a = structuredClone({ a: new Float16Array([1.5, -0]) }).a; return [a.constructor.name, a[0], Object.is(a[1], -0)] })()`, `["Float16Array",1.5,true]`},
		{`crypto.getRandomValues(new Float16Array(1))`, `TypeMismatchError: ArrayBufferView argument to getRandomValues() must be an integer-typed view.`},
		{`new Response(new Float16Array([1])).arrayBuffer().then((b) => [...new Uint8Array(b)])`, `[0,60]`},
		{`structuredClone(new RegExp("\\p{L}", "gu")).source + structuredClone(new RegExp("\\p{L}", "gu")).test("é")`, `\p{L}true`},
	})
}
