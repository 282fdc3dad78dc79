package minidotest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/internal/reference"
)

// wasmProject is the worker of testdata/wasm with the modules that it imports.
func wasmProject(t *testing.T) map[string]string {
	files := map[string]string{}
	list, err := filepath.Glob("testdata/wasm/*.wasm")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, path := range append(list, "testdata/wasm/worker.js") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(b)
	}
	return files
}

const wasmConfig = `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`

// WebAssembly JavaScript Interface, section 5: what the API gives and throws, by
// the golden file.
func TestWasmGolden(t *testing.T) {
	files := wasmProject(t)
	files["wrangler.json"] = wasmConfig
	w := NewWorldFrom(t, files, Options{})
	r := w.Do("GET", "http://localhost/", "")
	if r.Err != nil || r.Status != 200 {
		t.Fatal(r.Status, r.Err, r.Body)
	}
	golden.Lines(t, "testdata/wasm/worker.golden", linesOf(r.Body))
}

// The reference gives the answers of the golden file, but for those lines that
// are written down.
func TestDifferentialWasm(t *testing.T) {
	files := wasmProject(t)
	script := files["worker.js"]
	delete(files, "worker.js")
	p := reference.Start(t, reference.Options{Name: "test", Dir: t.TempDir(), Script: script, Wasm: files})
	status, text := p.Post("/", "")
	if status != 200 {
		t.Fatal(status, text)
	}
	Differing(t, "testdata/wasm/worker", linesOf(text))
}

// runWorker runs what takes long, makes much, or fails.
const runWorker = `
import run from "./run.wasm?module";
const make = () => new WebAssembly.Instance(run, { e: { f: (x) => x } }).exports;
const one = make();
export class H extends DurableObject { forever() { one.forever(); } ok() { return "ok"; } }
export default serve({
  fib: (env, ctx, n) => one.fib(n), calls: (env, ctx, n) => one.calls(n), nop: (env, ctx, n) => one.nop(n),
  hold: () => (one.memory.grow(320), one.memory.buffer.byteLength),
  forever: () => one.forever(), recursion: () => one.frec(0),
  many(env, ctx, n) { let s = 0; for (let i = 0; i < n; i++) { const e = make(); new Uint8Array(e.memory.buffer)[0] = 1; s += e.nop(1); } return s; },
  grow() { const e = make(); const old = e.memory.buffer; let pages = 1; try { for (;;) { e.memory.grow(64); pages += 64; } } catch (e) { return [pages, e.name, e.message, old.byteLength]; } },
});`

func runProject(t *testing.T, o Options) *World {
	b, err := os.ReadFile("testdata/wasm/run.wasm")
	if err != nil {
		t.Fatal(err)
	}
	return NewWorldFrom(t, map[string]string{"worker.js": `import { DurableObject } from "cloudflare:workers"; import { serve } from "./harness.js";` + runWorker, "harness.js": Harness, "run.wasm": string(b),
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": [{"name": "H", "class_name": "H"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["H"]}]}`}, o)
}

// A loop and a recursion of a module end by the limit of a turn, as JavaScript's
// do; then the worker goes on anew.
func TestWasmInterrupt(t *testing.T) {
	w := runProject(t, Options{TurnLimit: testTurnLimit})
	for _, method := range []string{"!forever", "!recursion", "H/x/forever"} {
		r := w.Do("POST", "http://localhost/"+method, "[]")
		if text := fmt.Sprint(r.Body, r.Err); !strings.Contains(text, "CPU time limit") && !strings.Contains(text, "Network connection lost") {
			t.Errorf("%s: %d %s %v", method, r.Status, r.Body, r.Err)
		}
		if r := w.Do("POST", "http://localhost/!fib", "[10]"); r.Body != `{"ok":55}` {
			t.Errorf("after %s: %d %s %v", method, r.Status, r.Body, r.Err)
		}
	}
}

// Instances that nothing leads to are closed: their memory is given back while the
// isolate lives.
func TestWasmInstancesEnd(t *testing.T) {
	w := runProject(t, Options{})
	heap := func() uint64 {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	w.Call("!many", 10)
	before := heap()
	for range 10 {
		w.Call("!many", 100) // 64 MB in all
	}
	if after := heap(); after > before+16<<20 {
		t.Errorf("the heap grew from %d to %d", before, after)
	}
}

// An isolate that ends gives the memory of its instances back.
func TestWasmIsolatesEnd(t *testing.T) {
	w := runProject(t, Options{TurnLimit: testTurnLimit})
	var before, after runtime.MemStats
	w.Call("!hold")
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 6 {
		w.Do("POST", "http://localhost/!forever", "[]") // condemns the isolate
		if got := w.Call("!hold"); got != `{"ok":21037056}` {
			t.Fatal(got)
		}
	}
	for range 3 { // what cleanups let go is collected by the next
		runtime.GC()
	}
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+50<<20 {
		t.Errorf("the heap grew from %d to %d MB", before.HeapAlloc>>20, after.HeapAlloc>>20)
	}
}

// A memory has 128 MB at most; the error says so, and the buffer from before it
// grew is detached.
func TestWasmMemoryBound(t *testing.T) {
	w := runProject(t, Options{})
	r := w.Do("POST", "http://localhost/!grow", "[]")
	if want := `{"ok":[1985,"RangeError","WebAssembly.Memory.grow(): Unable to grow instance memory: a memory has at most 2048 pages (128 MB) in minido, as much as an isolate of production",0]}`; r.Body != want {
		t.Error(r.Body)
	}
}
