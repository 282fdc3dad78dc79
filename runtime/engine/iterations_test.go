package engine

import (
	"testing"

	"github.com/dop251/goja"
)

// Loops and patterns over arrays do as goja's, whatever becomes of the array, of its
// iterator and of the language's next() meanwhile.
func TestIterationsOverArrays(t *testing.T) {
	for _, source := range []string{
		`for (const x of [1, "a", null, undefined]) log(x)`,
		`for (const x of []) log(x); log("end")`,
		`for (const x of [1, , 3]) log(x)`,
		`Array.prototype[1] = "inherited"; for (const x of [1, , 3]) log(x); const [a, b, c] = [1, , 3]; log(a, b, c)`,
		`const l = [1, 2]; for (const x of l) { log(x); if (l.length < 6) l.push(x * 10) }`,
		`const l = [1, 2, 3, 4]; for (const x of l) { log(x); l.length = 2 }`,
		`const l = [1, 2, 3]; for (const x of l) { log(x); delete l[1]; }`,
		`const l = [1, 2, 3]; Object.defineProperty(l, 1, { get() { log("get"); return 7 } }); for (const x of l) log(x); const [a, b] = l; log(a, b)`,
		`for (const x of Object.freeze([1, 2])) log(x)`,
		`for (const [k, v] of [1, 2].entries()) log(k, v); for (const k of [7, 8].keys()) log(k)`,
		`for (const x of new Set([1, 2])) log(x); for (const [k, v] of new Map([[1, 2]])) log(k, v); for (const c of "ab") log(c)`,
		`for (const x of new Uint8Array([1, 2])) log(x); for (const x of (function* () { yield 1; yield 2; })()) log(x)`,
		`(function () { for (const x of arguments) log(x); const [a, ...b] = arguments; log(a, b.join()) })(1, 2, 3)`,
		`const i = [1, 2, 3].values(); for (const x of i) { log(x); break } log(i.next().value); for (const x of i) log(x); log(i.next().done)`,
		`const i = [1].values(); for (const x of i) log(x); const [a] = i; log(a); for (const x of i) log("more")`,
		`class L extends Array { *[Symbol.iterator]() { yield "own" } } for (const x of L.of(1)) log(x); class M extends Array {} for (const x of M.of(1, 2)) log(x)`,
		`const p = Object.getPrototypeOf([].values()), next = p.next; p.next = function () { log("next"); return next.call(this) }; for (const x of [1, 2]) log(x); const [a, b] = [3, 4]; log(a, b)`,
		`const p = Object.getPrototypeOf([].values()), next = p.next; for (const x of [1, 2]) { log(x); p.next = () => ({ done: true }) } for (const x of [3]) log(x); p.next = next; for (const x of [4]) log(x)`,
		`const i = [1, 2].values(); i.next = () => { i.next = null; return { value: "own", done: false } }; let n = 0; for (const x of i) { log(x); if (n++) break }`,
		`Array.prototype[Symbol.iterator] = function* () { yield "replaced" }; for (const x of [1]) log(x); const [a] = [2]; log(a)`,
		`Object.getPrototypeOf([].values()).return = () => { log("return"); return {} }; for (const x of [1, 2]) { log(x); break } const [a] = [1, 2]; try { for (const x of [1]) throw 5 } catch (e) { log(e) }`,
		`const [a, b = "default", [c, d] = [5], ...e] = [1, undefined, , 8, 9]; log(a, b, c, d, e.join()); let x = 1, y = 2; [x, y] = [y, x]; log(x, y)`,
		`for (const x of new Proxy([1, 2], { get(o, k, r) { if (typeof k === "string") log(k); return Reflect.get(o, k, r) } })) log(x)`,
		`outer: for (const x of [1, 2]) for (const y of [3, 4]) { if (y === 4) continue outer; log(x, y) }`,
		`(function* () { for (const x of [1, 2]) { yield x; log(x) } })().next(); const g = (function* () { for (const x of [1, 2]) yield x })(); log([...g].join()); log(g.next().done)`,
		`const l = []; l[5] = 1; l[1e6] = 2; let n = 0; for (const x of l) { n++; if (n > 10) break } log(n)`,
	} {
		if got := asGoja(t, logging(source)); got == "" {
			t.Errorf("%s logs nothing", source)
		}
	}
}

// A loop over an array makes nothing for its items.
func TestIterationsAllocateNothing(t *testing.T) {
	w := newWorld(t)
	fn := instrumentedFunction(t, w.e.vm, `(l) => { for (const x of l) { const [y] = x } }`)
	list, err := w.e.vm.RunString(`Array.from({ length: 100 }, () => [1])`)
	if err != nil {
		t.Fatal(err)
	}
	allocations := testing.AllocsPerRun(10, func() {
		if _, err := fn(goja.Undefined(), list); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 600 { // each pattern makes an iterator
		t.Errorf("%v allocations for 100 items", allocations)
	}
}
