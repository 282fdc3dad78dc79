package engine

import (
	"testing"
	"time"

	"github.com/dop251/goja"
)

// loopPrograms are what the loop over instructions is measured with.
var loopPrograms = []struct{ name, source string }{
	{"fib", `(function () { "use strict"; function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } return () => fib(12); })()`},
	{"integers", `(function () { "use strict"; return () => { let s = 0; for (let i = 0; i < 500; i++) { s = (s + i * 7) | 0; } return s; }; })()`},
	{"floats", `(function () { "use strict"; return () => { let s = 0.5; for (let i = 0; i < 500; i++) { s = s * 1.000001 + i / 3; } return s; }; })()`},
	{"bytes", `(function () { "use strict"; const b = new Uint8Array(256); return () => { let c = 0; for (let i = 0; i < b.length; i++) { b[i] = (b[i] + i * 31) & 255; c ^= b[i] << 3; } return c; }; })()`},
	{"matrix", `(function () { "use strict"; const n = 6, a = new Float64Array(n * n).fill(1.5), b = new Float64Array(n * n).fill(2.25), c = new Float64Array(n * n);
		return () => { for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) { let s = 0; for (let k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j]; c[i * n + j] = s; } return c[7]; }; })()`},
	{"objects", `(function () { "use strict"; class P { constructor(x) { this.x = x; this.y = null; } get() { return this.x; } has(k) { return typeof k === "string" && this.y !== k; } }
		const p = new P(3); return () => { let n = 0; for (let i = 0; i < 100; i++) { if (p.has("a") && p.x) n += p.get(); } return n; }; })()`},
	{"sort", `(function () { "use strict"; const made = []; let x = 12345; for (let i = 0; i < 50; i++) { x = (x * 1103515245 + 12345) % 2147483648; made.push({ key: x, name: "n" + i }); }
		return () => made.slice().sort((a, b) => a.key - b.key)[0].key; })()`},
	{"bigints", `(function () { "use strict"; const p = 2n ** 255n - 19n, mod = (a) => { const r = a % p; return r >= 0n ? r : r + p; };
		return () => { let x = 2n ** 200n + 7n; for (let i = 0; i < 50; i++) x = mod(x * x - 3n); return x; }; })()`},
	{"map", `(function () { "use strict"; const keys = []; for (let i = 0; i < 50; i++) keys.push("key" + i); return () => { const m = new Map(); for (const k of keys) m.set(k, 1); let n = 0; for (const k of keys) n += m.get(k); return n; }; })()`},
}

func BenchmarkLoop(b *testing.B) {
	for _, p := range loopPrograms {
		for _, ours := range []bool{false, true} {
			name := p.name + "/goja"
			if ours {
				name = p.name + "/ours"
			}
			b.Run(name, func(b *testing.B) {
				w := newWorld(b)
				program := goja.MustCompile("loop.js", p.source, false)
				if ours {
					program = instrumented(b, p.source)
				}
				v, err := w.e.vm.RunProgram(program)
				if err != nil {
					b.Fatal(err)
				}
				fn, _ := goja.AssertFunction(v)
				b.ReportAllocs()
				least := time.Duration(1 << 62) // on a busy machine the mean says little
				for b.Loop() {
					before := time.Now()
					if _, err := fn(goja.Undefined()); err != nil {
						b.Fatal(err)
					}
					least = min(least, time.Since(before))
				}
				b.ReportMetric(float64(least)/1e3, "least-µs")
			})
		}
	}
}
