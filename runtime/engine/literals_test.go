package engine

import (
	"testing"

	"github.com/dop251/goja"
)

// Objects and arrays of literals are as goja makes them, whatever is done with them.
func TestLiterals(t *testing.T) {
	for _, source := range []string{
		`const show = (o) => log(Object.getOwnPropertyNames(o), JSON.stringify(Object.getOwnPropertyDescriptors(o)), Object.getPrototypeOf(o) === Object.prototype);
		show({ a: 1 }); show({}); show({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }); show({ b: 1, 2: 2, a: 3, 1: 4 }); show({ a: 1, a: 2 }); show({ m() {}, get g() { return 1 }, set g(v) {}, ["c" + 1]: 1, ...{ s: 1 } })`,
		`const o = { a: 1 }; for (let i = 0; i < 30; i++) o["k" + i] = i; log(Object.keys(o).length, o.k29, o.a); for (const k of Object.keys(o)) delete o[k]; log(Object.keys(o).length, "a" in o); o.z = 1; log(JSON.stringify(o))`,
		`log({ __proto__: null, a: 1 } instanceof Object, Object.getPrototypeOf({ __proto__: Array.prototype, a: 1 }) === Array.prototype, { a: 1 }.toString(), ({ a: 1 }).constructor === Object)`,
		`const o = Object.freeze({ a: 1 }); o.a = 2; log(o.a, Object.isFrozen(o)); const p = { [Symbol.toPrimitive]() { return 7 }, a: 1 }; log(+p)`,
		`const a = [1, , 3], b = [], c = [1, 2, 3, 4, 5, 6, ...[7]]; log(JSON.stringify([a, b, c]), 1 in a, a.length, b.length, c.length, Object.getOwnPropertyNames(a), Array.isArray(b), Object.getPrototypeOf(b) === Array.prototype)`,
		`const a = []; for (let i = 0; i < 50; i++) a.push(i); log(a.length, a[49]); a.length = 2; log(a.join()); a[5] = 1; log(a.length, 4 in a); a.own = 1; log(Object.keys(a)); delete a[0]; log(0 in a, a.length)`,
		`const a = [1, 2]; Object.defineProperty(a, "length", { writable: false }); try { (() => { "use strict"; a.push(3) })() } catch (e) { log(e.name) } log(a.length); const f = Object.freeze([1]); log(Object.isFrozen(f), JSON.stringify(Object.getOwnPropertyDescriptor([1, 2], "length")))`,
		`const a = [3, 1, 2]; log(a.sort().join(), a.splice(1, 1), a.concat([9]).join(), [...a, ...a].length, a.map((x) => x * 2).join()); a[1e6] = 1; log(a.length); const [x, y = 5, ...z] = [1, , 3]; log(x, y, z)`,
		`function f(o = { a: 1, b: [1, { c: 2 }] }) { return o } log(f() !== f(), JSON.stringify(f())); class A { x = { y: 1 }; z = [1] } log(new A().x !== new A().x, new A().z.length)`,
	} {
		if got := asGoja(t, logging(source)); got == "" {
			t.Errorf("%s logs nothing", source)
		}
	}
}

// A literal costs one allocation, and a property one for what tells its name from a value.
func TestLiteralsAllocateOnce(t *testing.T) {
	w := newWorld(t)
	fn := instrumentedFunction(t, w.e.vm, `((v) => { for (var i = 0; i < 100; i++) { ({ a: v, b: v }); [v, v] } })`)
	var err error
	if n := testing.AllocsPerRun(10, func() { _, err = fn(goja.Undefined(), goja.Null()) }); n > 210 || err != nil {
		t.Errorf("%v allocations for 200 literals: %v", n, err)
	}
}

// BenchmarkLiteral makes an object of two properties and an array of two items.
func BenchmarkLiteral(b *testing.B) {
	vm := goja.New()
	fn := instrumentedFunction(b, vm, `(n) => { for (let i = 0; i < n; i++) { ({ a: n, b: n }); [n, n] } }`)
	b.ReportAllocs()
	if _, err := fn(goja.Undefined(), vm.ToValue(b.N)); err != nil {
		b.Fatal(err)
	}
}
