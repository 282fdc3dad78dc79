package engine

import (
	"testing"

	"github.com/dop251/goja"
)

// for-in over any object does as goja's, whatever becomes of the object meanwhile.
func TestEnumerations(t *testing.T) {
	for _, source := range []string{
		`for (const k in { a: 1, b: undefined, "": 3, "ç": 4, "😀": 5 }) log(k)`,
		`for (const k in {}) log(k); for (const k in Object.create(null)) log(k); log("end")`,
		`for (const k in { b: 1, 2: 1, a: 1, 1: 1, "-1": 1, "01": 1 }) log(k)`,
		`for (const k in Object.create({ p: 1, q: 2 }, { a: { enumerable: true }, q: { enumerable: false } })) log(k)`,
		`for (const k in Object.create(Object.create({ far: 1 }), { a: { enumerable: true } })) log(k)`,
		`class A { m() {} get g() { return 1 } x = 1; static s = 2 } class B extends A { n() {} y = 2 } for (const k in new B()) log(k); for (const k in B) log(k); for (const k in B.prototype) log(k)`,
		`Object.prototype.more = 1; for (const k in { a: 1 }) log(k); delete Object.prototype.more; for (const k in { a: 1 }) log(k)`,
		`Object.defineProperty(Object.prototype, "hasOwnProperty", { enumerable: true }); for (const k in { a: 1 }) log(k)`,
		`const o = { a: 1, b: 2, c: 3 }; for (const k in o) { log(k); delete o.b; o.d = 4 } for (const k in o) log(k)`,
		`const o = { a: 1, b: 2, c: 3 }; for (const k in o) { log(k); Object.defineProperty(o, "c", { enumerable: false }) }`,
		`const o = { a: 1, b: 2 }; for (const k in o) { log(k); delete o.b; o.b = 3 }`,
		`const o = { get a() { log("read"); return 1 }, set b(v) {} }; for (const k in o) log(k)`,
		`const o = { [Symbol("s")]: 1, a: 1 }; for (const k in o) log(k); for (const k in Object.freeze({ a: 1 })) log(k)`,
		`for (const k in [7, 8]) log(k); for (const k in "ab") log(k); for (const k in null) log(k); for (const k in 5) log(k); for (const k in new Uint8Array(2)) log(k)`,
		`const f = function () {}; f.own = 1; for (const k in f) log(k); for (const k in Math) log(k); for (const k in globalThis) if (k === "undefined") log(k)`,
		`for (const k in new Proxy({ a: 1 }, { ownKeys() { log("keys"); return ["a"] } })) log(k); for (const k in Object.create(new Proxy({ a: 1 }, {}), { b: { enumerable: true } })) log(k)`,
		`for (const k in Object.create([1])) log(k); for (const k in Object.create(function () {})) log(k); for (const k in new Error("x")) log(k)`,
		`(function () { for (const k in arguments) log(k) })(1, 2); var last; for (last in { a: 1, b: 2 }) { if (last === "a") continue; break } log(last)`,
		`for (const a in { x: 1, y: 2 }) for (const b in { z: 1, w: 2 }) { if (b === "w") break; log(a, b) }`,
		`function* g() { for (const k in { a: 1, b: 2 }) yield k } log([...g()].join()); try { for (const k in { a: 1 }) throw k } catch (e) { log(e) } for (const k in { c: 1 }) log(k)`,
		`const o = {}; for (let i = 0; i < 40; i++) o["k" + i] = i; const seen = []; for (const k in o) seen.push(k); log(seen.join())`,
	} {
		asGoja(t, logging(source))
	}
}

// A loop over an object makes its names, and nothing for Object.prototype's.
func TestEnumerationsAllocateLittle(t *testing.T) {
	w := newWorld(t)
	fn := instrumentedFunction(t, w.e.vm, `(o, none) => { for (const k in o); for (const k in none); }`)
	object, err := w.e.vm.RunString(`({ a: 1, b: 2 })`)
	if err != nil {
		t.Fatal(err)
	}
	none, err := w.e.vm.RunString(`(class { a() {} b() {} }).prototype`)
	if err != nil {
		t.Fatal(err)
	}
	allocations := testing.AllocsPerRun(10, func() {
		if _, err := fn(goja.Undefined(), object, none); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 12 {
		t.Errorf("%v allocations", allocations)
	}
}

// BenchmarkEnumerate goes through an object of two properties.
func BenchmarkEnumerate(b *testing.B) {
	vm := goja.New()
	fn := instrumentedFunction(b, vm, `(o, n) => { for (let i = 0; i < n; i++) for (const k in o); }`)
	object, _ := vm.RunString(`({ a: 1, b: 2 })`)
	b.ReportAllocs()
	if _, err := fn(goja.Undefined(), object, vm.ToValue(b.N)); err != nil {
		b.Fatal(err)
	}
}
