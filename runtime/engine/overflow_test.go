package engine

import (
	"testing"

	"github.com/dop251/goja"
)

// However JavaScript recurses, in a turn's first function and in a microtask,
// the overflow is a RangeError that it can catch, finally blocks run, and the
// isolate stays well.
func TestStackOverflowIsARangeError(t *testing.T) {
	w := newWorld(t)
	for depth := range 8 { // which call is one too many depends on the depth
		testOverflows(t, w, 500+depth)
	}
	testOverflows(t, w, DefaultCallDepth)
}

func testOverflows(t *testing.T, w *world, depth int) {
	w.e.VM().SetMaxCallStackSize(depth)
	for _, src := range []string{
		`(function f() { f(); })()`,
		`const a = [1]; (function f() { a.map(f); })()`,
		`const o = { get x() { return this.x; } }; o.x`,
		`const p = new Proxy({}, { get(t, k, r) { return r[k]; } }); p.x`,
		`const o = { toString() { return "" + this; } }; "" + o`,
		`const f = () => { try { f(); } finally { globalThis.finals = 1; } }; f()`,
		`const o = { toJSON() { return JSON.stringify(o); } }; JSON.stringify(o)`,
		`function f() { [...(function* () { f(); })()]; } f()`,
		`class A { constructor() { new A(); } } new A()`,
		`const f = async () => { await f(); }; f().catch((e) => say(String(e) + (e instanceof RangeError))); throw new RangeError("Maximum call stack size exceeded");`,
	} {
		for _, shape := range []string{
			`(() => { try { ` + src + ` } catch (e) { say(String(e) + (e instanceof RangeError)); } })`,
			`(() => Promise.resolve().then(() => { ` + src + ` }).catch((e) => say(String(e) + (e instanceof RangeError))))`,
		} {
			fn, err := w.e.VM().RunString(shape)
			if err != nil {
				t.Fatal(err)
			}
			w.out = nil
			w.e.Turns.take(GlobalFrame, "test", func() { w.e.Call(fn, goja.Undefined()) })
			if reason := w.e.Health.CondemnedBy(); reason != nil {
				t.Fatalf("%s: condemned: %v", shape, reason)
			}
			if len(w.out) == 0 {
				t.Fatalf("%s: nothing was caught", shape)
			}
			for _, line := range w.out {
				if line != "RangeError: Maximum call stack size exceededtrue" {
					t.Errorf("%s: caught %s", shape, line)
				}
			}
		}
	}
}
