package ecma

import "testing"

// %TypedArray%.from, of and map write to an array of a user's constructor as to
// any other (23.2.2.1, 23.2.2.2, 23.2.3.22): where it lies in its buffer, and
// nowhere once that is gone. The values are V8's, which throws where map's array
// is gone meanwhile, though.
func TestTypedArraysOfUsersConstructors(t *testing.T) {
	for source, want := range map[string]string{
		`make.from.call(make, { length: 9, 8: 1 }, (v, i) => { if (i === 5) made.buffer.transfer(); return i }).length`:                                        "0",
		`make.from.call(make, [1, 2, 3], (v, i) => { if (i === 1) made.buffer.transfer(); return i }).length`:                                                  "0",
		`make.of.call(make, 1, { valueOf() { made.buffer.transfer(); return 2 } }, 3).length`:                                                                  "0",
		`new F(10).map((v, i) => { if (i === 3) made.buffer.transfer(); return i }).length`:                                                                    "0",
		`make.from.call(make, [1, 2, 3], function (v, i) { return v * 10 + i + this.x }, { x: 100 }).join()`:                                                   "110,121,132",
		`make.from.call(make, new Set([4, "5"])).join() + made.byteOffset`:                                                                                     "4,58000000",
		`make.from.call(make, { length: "2", 0: 7, 1: 8 }).join()`:                                                                                             "7,8",
		`make.from.call(make, "12", Number).join()`:                                                                                                            "1,2",
		`make.of.call(make, 1, "2", 3).join()`:                                                                                                                 "1,2,3",
		`new F([1, 2]).map((v) => v + 1).join() + made.byteOffset`:                                                                                             "2,38000000",
		`(() => { class A extends Uint8Array {} const a = A.from([1, 2]); return [a instanceof A, A.of(257)[0], a.map((v) => v * 2) instanceof A].join() })()`: "true,1,true",
		`(() => { let n = 0; const a = new Uint8Array(2); Object.defineProperty(a, "constructor", { get() { n++ } }); return a.map((v) => 3).join() + n })()`:  "3,31",
		`(() => { const a = new Uint8Array([1]); a.constructor = { [Symbol.species]: null }; return a.map((v) => 3).constructor === a.constructor })()`:        "false",
		`bytes.map((v) => v + 1).join()`: "2,3",
		`Uint8Array.from([1, 2], (v) => v * 2).join() + Uint8Array.of(3) + new Int8Array([1]).map((v) => -v)`: "2,43-1",
		`make.from.call(make, [], 5)`:                                                          "TypeError: number 5 is not a function",
		`make.of.call(function () { return new Uint8Array(1) }, 1, 2)`:                         "TypeError: Derived TypedArray constructor created an array which was too small",
		`(() => { const a = new Uint8Array(1); a.constructor = 5; return a.map((v) => v) })()`: "TypeError: The .constructor property is not an object",
		`make.from.call(make, { [Symbol.iterator]: () => ({ next: () => 5 }) })`:               "TypeError: Iterator result 5 is not an object",
		`make.from.call(function () { return [] }, [1])`:                                       "TypeError: Method %TypedArray%.from called on incompatible receiver [object Array]",
	} {
		evaluates(t, usersConstructors+`return `+source+` })()`, want)
	}
	for _, source := range []string{
		`make.from.call(() => 1, [])`,
		`(() => { const a = new Uint8Array(1); a.constructor = { [Symbol.species]: BigInt64Array }; return a.map((v) => v) })()`,
		`(() => { const a = new Uint8Array(1); a.constructor = { [Symbol.species]: () => 1 }; return a.map((v) => v) })()`,
		`make.from.call(make, { [Symbol.iterator]: () => 5 })`,
		`make.from.call(make, undefined)`,
	} {
		evaluates(t, usersConstructors+`try { return `+source+` } catch (e) { return e.name } })()`, "TypeError")
	}
}

const usersConstructors = `(() => { let made;
	const make = function (n) { return (made = new Float64Array(1000000 + n).subarray(1000000)) };
	make.from = Uint8Array.from; make.of = Uint8Array.of;
	class F extends Float64Array { static get [Symbol.species]() { return make } }
	const bytes = new (class B extends Uint8Array {})([1, 2]);
	`
