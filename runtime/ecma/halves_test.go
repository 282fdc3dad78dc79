package ecma

import (
	"testing"

	"minido.dev/minido/internal/insides"
)

// Float16Array is a typed array in every respect (ECMA-262, 23.2), and its
// elements are IEEE 754 halves.
func TestFloat16Array(t *testing.T) {
	if !insides.TheHalves().Known {
		t.Fatal("goja's typed arrays are not as halves.go expects them")
	}
	for source, want := range map[string]string{
		`new Float16Array([1.337, 70000, -1e-8, NaN, 65519]).join()`: "1.3369140625,Infinity,0,NaN,65504",
		`Object.is(new Float16Array([-1e-8])[0], -0)`:                "true",
		`(() => { const a = new Float16Array(3); a[0] = "2.5"; a[9] = 1; a.x = 1; return [a, a.length, a.byteLength, 9 in a, a[9], Object.keys(a)] })()`: "2.5,0,0,3,6,false,,0,1,2,x",
		`new Float16Array({ length: 2, 0: 1, 1: "0x10" }).join()`:                                                           "1,16",
		`new Float16Array(new Set([1, 2.25])).join()`:                                                                       "1,2.25",
		`new Float16Array(new Float64Array([0.1])).at(-1)`:                                                                  "0.0999755859375",
		`new Float64Array(new Float16Array([0.1]))[0]`:                                                                      "0.0999755859375",
		`(() => { const a = new Float16Array(4); a.set(new Uint8Array([1, 255]), 1); a.set([0.5], 3); return a.join() })()`: "0,1,255,0.5",
		`(() => { const u = new Uint8Array([0, 0x3c, 0, 0xc0]); return new Float16Array(u.buffer, 2).join() })()`:           "-2",
		`new Float16Array([3, NaN, -0, 0, -1]).sort().join()`:                                                               "-1,0,0,3,NaN",
		`Object.is(new Float16Array([0, -0]).sort()[0], -0)`:                                                                "true",
		`new Float16Array([1, 2, 3]).map((x) => x / 3).filter((x) => x > 0.5).constructor.name`:                             "Float16Array",
		`(() => { const a = new Float16Array([1, NaN, -0, 0.5]); return [a.includes(NaN), a.indexOf(NaN), a.includes(0), a.indexOf(0), a.lastIndexOf(0.5), a.includes(0.50001), a.includes("1"), a.includes(1n)] })()`:                                            "true,-1,true,2,3,false,false,false",
		`[new Float16Array([1, 2, 3]).slice(1), new Float16Array([1, 2, 3]).subarray(1, 2), Float16Array.of(1, 2).fill(1.5), new Float16Array([1, 2]).with(0, 9), new Float16Array([1, 2]).toReversed(), new Float16Array([1, 2, 3]).copyWithin(0, 1)].join("|")`: "2,3|2|1.5,1.5|9,2|2,1|2,3,3",
		`Float16Array.from("12", Number).reduce((a, b) => a + b)`: "3",
		`[...new Float16Array([1.5]).entries()].join()`:           "0,1.5",
		`[String(new Float16Array(1)[Symbol.toStringTag]), ArrayBuffer.isView(new Float16Array(1)), Float16Array.BYTES_PER_ELEMENT, Float16Array.length, Float16Array.name, Object.getPrototypeOf(Float16Array) === Object.getPrototypeOf(Uint8Array)].join()`: "Float16Array,true,2,3,Float16Array,true",
		`Object.getOwnPropertyNames(Float16Array).sort().join() + Object.getOwnPropertyNames(Float16Array.prototype).sort()`:                                                                                                                                   "BYTES_PER_ELEMENT,length,name,prototypeBYTES_PER_ELEMENT,constructor",
		`(() => { class A extends Float16Array {} const a = new A([1]); return [a instanceof A, a.map((x) => x) instanceof A, a[0], Reflect.construct(Float16Array, [1], Array) instanceof Array] })()`:                                                        "true,true,1,true",
		`(() => { const a = new Float16Array([1, 2]); return Object.getOwnPropertyDescriptor(a, "1").value + JSON.stringify(a) })()`:                                                                                                                           `2{"0":1,"1":2}`,
		`Float16Array(1)`:                            "TypeError: Constructor Float16Array requires 'new'",
		`new Float16Array(new ArrayBuffer(3))`:       "RangeError: byte length of Float16Array should be a multiple of 2",
		`new Float16Array(new ArrayBuffer(4), 1)`:    "RangeError: start offset of Float16Array should be a multiple of 2",
		`new Float16Array(-1)`:                       "RangeError: Invalid typed array length: -1",
		`new Float16Array(1e12)`:                     "RangeError: Invalid typed array length: 1000000000000",
		`new Float16Array(new BigInt64Array(0))`:     "TypeError: Cannot mix BigInt and other types, use explicit conversions",
		`new Float16Array([1n])`:                     "TypeError: Cannot convert a BigInt value to a number",
		`new Float16Array([Symbol()])`:               "TypeError: Cannot convert a Symbol value to a number",
		`new Float16Array({ [Symbol.iterator]: 5 })`: "TypeError: 5 is not a function",
	} {
		evaluates(t, source, want)
	}
}

// A value that takes the buffer away while it becomes a number goes nowhere.
func TestHalvesGoneMeanwhile(t *testing.T) {
	for source, want := range map[string]string{
		`a.set({ length: 1, 0: { valueOf() { a.buffer.transfer(); return 1 } } }, 9e3)`:                                     "0",
		`new F(1e4).map((x, i) => (i < 9e3 ? i : { valueOf() { if (!a.buffer.detached) a.buffer.transfer(); return i } }))`: "0",
	} {
		evaluates(t, `(() => { let a = new Float16Array(1e4);
			class F extends Float16Array { static get [Symbol.species]() { return function (n) { return a = new Float16Array(n) } } }
			`+source+`; return a.length })()`, want)
	}
}

// %TypedArray%.prototype.set (23.2.3.26) takes a source without elements, which
// in goja ends in a panic of Go's.
func TestSetFromNothing(t *testing.T) {
	for source, want := range map[string]string{
		`(() => { const a = new Float32Array([1, 2]); a.set(new Uint8Array(0)); a.set(new Uint8Array(2).subarray(2), 2); a.set(new DataView(new ArrayBuffer(0))); return a })()`: "1,2",
		`new Float32Array(2).set(new Uint8Array(0), 3)`:   "RangeError: offset is out of bounds",
		`new Float32Array(2).set(new Uint8Array(0), -1)`:  "RangeError: offset is out of bounds",
		`new Float32Array(2).set(new BigInt64Array(0))`:   "TypeError: Cannot mix BigInt and other types, use explicit conversions",
		`new BigInt64Array(2).set(new BigUint64Array(0))`: "undefined",
		`(() => { const b = new ArrayBuffer(4, { maxByteLength: 4 }), u = new Uint8Array(b, 2); b.resize(0); new Float32Array(1).set(u) })()`:       "TypeError: ArrayBuffer is detached",
		`(() => { const b = new ArrayBuffer(4, { maxByteLength: 4 }), u = new Uint8Array(b); b.resize(0); return new Float32Array([3]).set(u) })()`: "undefined",
		`(() => { const u = new Uint8Array(0); u.buffer.transfer(); new Float32Array(1).set(u) })()`:                                                "TypeError: ArrayBuffer is detached",
		`new Float32Array(2).set.call([], new Uint8Array(0))`:                                                                                       "TypeError: this is not a typed array.",
	} {
		evaluates(t, source, want)
	}
}

// evaluates runs an expression; an error is shown as its text.
func evaluates(t *testing.T, source, want string) {
	t.Helper()
	w := newWorld(t)
	w.script(nil, `say(String((() => { try { return `+source+` } catch (e) { return e } })()))`)
	if len(w.out) != 1 || w.out[0] != want {
		t.Errorf("%s: %q %q, want %q", source, w.out, w.logs, want)
	}
}
