package engine

import (
	"testing"

	"github.com/dop251/goja"
)

// Functions are as goja makes them, whatever is done with them.
func TestClosures(t *testing.T) {
	for _, source := range []string{
		`const show = (f) => log(Object.getOwnPropertyNames(f), Object.keys(f).length, f.name, f.length, typeof f, JSON.stringify(Object.getOwnPropertyDescriptors(f)));
		show(function () {}); show(function named(a, b, ...c) {}); show(() => {}); show((a, b = 1) => a); show({ m(a) {} }.m); show({ "a b"() {} }["a b"]); show({ ç() {} }.ç)`,
		`function F(a) { this.a = a } F.prototype.g = function () { return this.a }; const f = new F(3); log(f.g(), f instanceof F, F.prototype.constructor === F, Object.getOwnPropertyNames(F))`,
		`class A { m() { return "A" } get p() { return 1 } static s() { return "s" } #x = () => this.m(); x() { return this.#x() } } class B extends A { m() { return super.m() + "B" } get p() { return super.p + 1 } static s() { return super.s() + "t" } } log(new B().m(), new B().p, B.s(), new B().x())`,
		`const o = { __proto__: { m() { return "up" } }, m() { return super.m() + (() => super.m())() } }; log(o.m())`,
		`function outer() { const a = () => () => [this.v, arguments.length, new.target === undefined]; return a()() } log(outer.call({ v: 7 }, 1, 2)); function T() { return { t: (() => new.target === T)() } } log(new T().t)`,
		`"use strict"; const f = function () { "use strict"; return this }; log(f()); log((function () { return typeof this })())`,
		`const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i++); log(fs.map((f) => f() + f()))`,
		`const f = () => {}; delete f.name; log(Object.getOwnPropertyNames(f), f.name === ""); delete f.length; log(Object.getOwnPropertyNames(f)); f.name = 1; f.x = 2; log(Object.getOwnPropertyNames(f), f.x)`,
		`const f = function () {}; for (let i = 0; i < 20; i++) f["k" + i] = i; log(Object.getOwnPropertyNames(f).length, f.k19, f.name, f.length); for (const k in f) delete f[k]; log(Object.getOwnPropertyNames(f))`,
		`const f = () => {}; f.name = "no"; f.length = 9; log(f.name, f.length); Object.defineProperty(f, "name", { value: "yes" }); log(f.name); Object.defineProperty(f, "length", { value: 5, writable: true }); f.length = 6; log(f.length)`,
		`const f = (a, b) => {}, g = f.bind(null, 1); log(g.name, g.length); Object.setPrototypeOf(f, null); log(f.call === undefined, Object.isExtensible(Object.freeze(f)))`,
		`const a = (x) => { /* kept */ return x }; log(a.toString(), (function f () { }).toString(), ({ m ( ) { } }).m.toString())`,
		`log((() => { try { (() => { throw new Error("e") })() } catch (e) { return e.stack.split("\n").length > 1 } })(), [3, 1, 2].sort((a, b) => a - b), (function () { return arguments.callee.name })())`,
		`const f = () => {}, m = new Map([[f, 1]]), w = new WeakMap([[f, 2]]); log(m.get(f), w.get(f), f === f, f !== (() => {})); Object.assign(f, { a: 1 }); log({ ...f }.a)`,
		`eval("log(typeof (() => 1), (function q(a) {}).name)"); const g = new Function("a", "return () => a"); log(g(4)(), g.name)`,
	} {
		if got := asGoja(t, logging(source)); got == "" {
			t.Errorf("%s logs nothing", source)
		}
	}
}

// A function costs one allocation.
func TestClosuresAllocateOnce(t *testing.T) {
	w := newWorld(t)
	fn := instrumentedFunction(t, w.e.vm, `(() => { const o = { m() {} }; for (let i = 0; i < 100; i++) { (() => i); (function () {}) } })`)
	var err error
	if n := testing.AllocsPerRun(10, func() { _, err = fn(goja.Undefined()) }); n > 450 || err != nil { // the loop's variable costs two more
		t.Errorf("%v allocations for 200 functions: %v", n, err)
	}
}

// BenchmarkClosure makes an arrow function.
func BenchmarkClosure(b *testing.B) {
	vm := goja.New()
	fn := instrumentedFunction(b, vm, `(n) => { for (let i = 0; i < n; i++) () => n; }`)
	b.ReportAllocs()
	if _, err := fn(goja.Undefined(), vm.ToValue(b.N)); err != nil {
		b.Fatal(err)
	}
}
