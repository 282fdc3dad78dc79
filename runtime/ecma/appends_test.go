package ecma

import (
	"fmt"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// appendable make an array a that something may see being appended to, and note what was seen.
var appendable = []string{
	`a = []`, `a = [1, 2, 3]`, `a = new Array(3)`, `a = [1, , 3]`, `a = new Array(5000)`, `a = []; a[10000] = 1`, `a = [1, 2]; a.length = 1`, `a = [1, 2, 3]; delete a[2]`,
	`a = Object.freeze([1])`, `a = Object.seal([1])`, `a = Object.preventExtensions([1])`, `a = [1]; Object.defineProperty(a, "length", { writable: false })`,
	`a = [1]; Object.defineProperty(a, "0", { writable: false })`, `a = [1]; Object.defineProperty(a, "3", { set(v) { note("own " + v) }, configurable: true })`,
	`a = [1]; a.length = 4294967294`, `a = [1]; a.length = 4294967295`, `a = [1]; a.named = 2; a[Symbol.iterator] = 3`, `class A extends Array {}; a = new A(1, 2)`,
	`class B extends Array { set 3(v) { note("class " + v) } }; a = new B(7, 8, 9)`, `class C extends Array { set 2(v) { note("class " + v) } }; class D extends C {}; a = new D(7, 8)`,
	`a = [1]; Object.defineProperty(Array.prototype, "1", { set(v) { note("array " + v) }, configurable: true })`,
	`a = [1]; Object.defineProperty(Object.prototype, "2", { set(v) { note("object " + v) }, configurable: true })`,
	`a = [1]; Object.defineProperty(Array.prototype, "1", { value: 5, writable: false, configurable: true })`,
	`a = [1]; Array.prototype.foo = 1; a.push(2); Array.prototype[3] = 1; delete Array.prototype.foo`,
	`a = [1]; Object.prototype.foo = 1; a.push(2); delete Object.prototype.foo; Object.defineProperty(Object.prototype, "2", { get() { return 5 }, configurable: true })`,
	`a = [1]; Array.prototype[1] = 1; Object.keys(Array.prototype); delete Array.prototype[1]`,
	`a = [1]; Object.prototype.one = Object.prototype.two = 1; a.push(1); Object.keys(Object.prototype); delete Object.prototype.one; Object.defineProperty(Object.prototype, "4294967294", { set(v) {}, configurable: true })`,
	`a = [1]; Object.setPrototypeOf(a, null)`, `a = [1]; Object.setPrototypeOf(a, { set 1(v) { note("given " + v) } })`, `a = [1]; Object.setPrototypeOf(a, Object.create({ set 2(v) { note("inherited " + v) } }))`,
	`a = [1]; Object.setPrototypeOf(a, Math); Object.defineProperty(Object.prototype, "1", { set(v) { note("far " + v) }, configurable: true })`,
	`a = [1]; Object.setPrototypeOf(a, new Proxy(Array.prototype, { set(t, k, v, r) { note("trap " + String(k)); return Reflect.set(t, k, v, r) } }))`,
	`a = new Proxy([1], { set(t, k, v, r) { note("trap " + String(k)); return Reflect.set(t, k, v, r) }, defineProperty(t, k, d) { note("define " + String(k)); return Reflect.defineProperty(t, k, d) } })`,
	`a = [1]; Object.setPrototypeOf(Array.prototype, { set 2(v) { note("between " + v) }, __proto__: Object.prototype })`, `a = Array.prototype; a.push(1)`,
	`a = { length: 1, 0: 1 }; Object.setPrototypeOf(a, Array.prototype)`, `a = []; for (let i = 0; i < 300; i++) a[i] = i`, `a = new Uint8Array(2); Object.setPrototypeOf(a, Array.prototype)`,
}

// An array that is appended to, by push or at its length, is afterwards as goja makes it, whatever stands
// between; what may be seen is seen.
func TestAppendsAreAsGoja(t *testing.T) {
	for _, step := range []string{`a.push(v)`, `a[a.length] = v`, `a.push(v, v)`, `a.push()`} {
		for _, setup := range appendable {
			source := fmt.Sprintf(`(function () { "use strict"; let a, notes = "", said = ""; const note = (s) => { notes += s + "; "; };
				%s;
				for (const v of [1, "x", 1.5, undefined, 300]) {
					try { said += (%s) + ","; } catch (e) { said += e.name; }
				}
				const names = Object.getOwnPropertyNames(a);
				let shown = said + notes + a.length + " " + names.length;
				for (let i = Math.max(0, names.length - 9); i < names.length; i++) shown += " " + names[i] + JSON.stringify(Object.getOwnPropertyDescriptor(a, names[i]));
				return shown;
			})()`, setup, step)
			theirs, err := goja.New().RunString(source)
			if err != nil {
				t.Fatalf("%s: %v", source, err)
			}
			program := goja.MustCompile("appends.js", source, false)
			insides.Instrument(program)
			ours, err := newWorld(t).e.VM().RunProgram(program)
			if err != nil || ours.String() != theirs.String() {
				t.Errorf("%s, %s: %v, %v\nwant %v", setup, step, ours, err, theirs)
			}
		}
	}
}

// Appending asks no prototype where none can answer.
func TestAppendsAreQuick(t *testing.T) {
	program := goja.MustCompile("appends.js", `(function () { "use strict"; return [() => { const a = []; for (let i = 0; i < 1000; i++) a.push(i); return a; }, () => { const a = []; for (let i = 0; i < 1000; i++) a[a.length] = i; return a; }]; })()`, false)
	insides.Instrument(program)
	v, err := newWorld(t).e.VM().RunProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	for i, most := range []float64{1900, 900} { // a number each, and for push its result
		fn, _ := goja.AssertFunction(v.(*goja.Object).Get(fmt.Sprint(i)))
		if n := testing.AllocsPerRun(3, func() {
			if _, err := fn(goja.Undefined()); err != nil {
				t.Fatal(err)
			}
		}); n > most {
			t.Errorf("%d: %.0f allocations", i, n)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, source := range map[string]string{"push": `a.push(i)`, "index": `a[a.length] = i`} {
		b.Run(name, func(b *testing.B) {
			program := goja.MustCompile("appends.js", `(function () { "use strict"; return () => { const a = []; for (let i = 0; i < 1000; i++) `+source+`; return a; }; })()`, false)
			insides.Instrument(program)
			v, err := newWorld(&testing.T{}).e.VM().RunProgram(program)
			if err != nil {
				b.Fatal(err)
			}
			fn, _ := goja.AssertFunction(v)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fn(goja.Undefined()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
