package nodeapi

import "testing"

// What Node 24 says of arguments that are ambiguous or wrong, and of what stands
// in an error (nodejs.org/api/assert.html).
func TestAssertArguments(t *testing.T) {
	const bad = `The \"error\" argument must be of type function or an instance of Error, RegExp, or Object. Received `
	const ambiguous = `ERR_AMBIGUOUS_ARGUMENT: The \"error/message\" argument is ambiguous. The error `
	check(t, newWorld(t, Options{}), `
		const assert = require("assert");
		const said = (fn) => { try { fn(); return "ok"; } catch (e) { return (e.code ?? e.name) + ": " + e.message; } };
		const foo = () => { throw new Error("foo"); };`, [][2]string{
		{`said(() => assert.throws(foo, "foo"))`, `"` + ambiguous + `message \"foo\" is identical to the message."`},
		{`said(() => assert.throws(() => { throw "foo"; }, "foo"))`, `"` + ambiguous + `\"foo\" is identical to the message."`},
		{`assert.rejects(async () => foo(), "foo").catch((e) => e.code)`, `"ERR_AMBIGUOUS_ARGUMENT"`},
		{`said(() => assert.throws(foo, "other"))`, `"ok"`},
		{`said(() => assert.throws(foo, null))`, `"ERR_ASSERTION: Invalid expectation: null"`},
		{`said(() => assert.throws(foo, "bar", "baz"))`, `"ERR_INVALID_ARG_TYPE: ` + bad + `type string ('bar')"`},
		{`said(() => assert.throws(() => {}, 1))`, `"ERR_INVALID_ARG_TYPE: ` + bad + `type number (1)"`},
		{`said(() => assert.doesNotThrow(foo, 1))`, `"ERR_INVALID_ARG_TYPE: The \"expected\" argument must be of type function or an instance of RegExp. Received function foo"`},
		{`[null, "q", /foo/, Error, () => true].map((e) => said(() => assert.doesNotThrow(foo, e)).split(/[:\n]/)[0])`, `["ERR_INVALID_ARG_TYPE", "ERR_ASSERTION", "ERR_ASSERTION", "ERR_ASSERTION", "ERR_ASSERTION"]`},
		{`[/x/, TypeError, () => false].map((e) => said(() => assert.doesNotThrow(foo, e)))`, `["ERR_ASSERTION: Got unwanted exception.\nActual message: \"foo\"", "Error: foo", "ERR_ASSERTION: Got unwanted exception.\nActual message: \"foo\""]`},
		{`[{ message: "hello" }, { message: "" }, { message: 3 }, new TypeError(""), 5].map((v) => said(() => assert.ifError(v)).split("exception: ")[1])`, `["hello", "Object", "{ message: 3 }", "TypeError", "5"]`},
		{`(() => { try { assert(false, "own"); } catch (e) { return [e.name, e.stack.split("\n")[0]]; } })()`, `["AssertionError", "AssertionError [ERR_ASSERTION]: own"]`},
		{`[[new Date(0), {}], [{}, new Date(0)], [/a/, {}], [[,1], [undefined]], [[1,,3], [1,undefined]], [Object(1), {}], [[], {}]].map(([a, b]) => said(() => assert.partialDeepStrictEqual(a, b)) === "ok")`, `[false, false, false, false, false, false, false]`},
		{`[[{}, new (class A {})()], [new (class A {})(), {}], [{}, Object.create(null)], [[1,,3], [1,3]], [[undefined,1], [,]], [new Array(4294967295), []], [Object.assign([1], { x: 1 }), Object.assign([], { x: 1 })]].map(([a, b]) => said(() => assert.partialDeepStrictEqual(a, b)) === "ok")`, `[false, false, false, false, true, true, true]`},
	})
}

// Options of util.inspect, and what has no prototype to be asked.
func TestInspectHidden(t *testing.T) {
	check(t, newWorld(t, Options{}), `
		const { inspect } = require("util");
		const pairs = { get a() { return 1; }, set b(v) {}, get c() { return 2; }, set c(v) {} };
		const hidden = Object.defineProperty({ a: 1 }, Symbol("h"), { value: 2 });`, [][2]string{
		{`[true, "get", "set", "x", 1].map((getters) => inspect(pairs, { getters }))`, `["{ a: [Getter: 1], b: [Setter], c: [Getter/Setter: 2] }", "{ a: [Getter: 1], b: [Setter], c: [Getter/Setter] }", "{ a: [Getter], b: [Setter], c: [Getter/Setter: 2] }", "{ a: [Getter], b: [Setter], c: [Getter/Setter] }", "{ a: [Getter], b: [Setter], c: [Getter/Setter] }"]`},
		{`[true, "get", "set", false].map((getters) => { let seen; inspect({ [inspect.custom](depth, o) { seen = o.getters; return ""; } }, { getters }); return seen; })`, `[true, "get", "set", false]`},
		{`[inspect(hidden), inspect(hidden, { showHidden: true })]`, `["{ a: 1 }", "{ a: 1, [Symbol(h)]: 2 }"]`},
		{`[/a/g, new RegExp("(?i:a)", "m")].map((re) => inspect(Object.setPrototypeOf(re, null)))`, `["[RegExp: null prototype] /a/g", "[RegExp: null prototype] /(?i:a)/m"]`},
	})
}

// A frame of zstd that asks for more than 128 MB is refused, as by zstd itself.
func TestZstdWindow(t *testing.T) {
	check(t, newWorld(t, Options{}), `
		const open = (log) => { try { return require("zlib").zstdDecompressSync(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3, 1, 0, 0])).length; } catch (e) { return [e.message, e.code, e.errno]; } };`, [][2]string{
		{`open(20)`, `0`},
		{`open(28)`, `["Zstd decompression failed: Frame requires too much memory for decoding", undefined, undefined]`},
	})
}
