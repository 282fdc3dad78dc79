package nodeapi

import (
	"slices"
	"testing"
	"time"

	"minido.dev/minido/runtime/engine"
)

// BenchmarkInit is the cost of a module's first import in a runtime, with its
// prelude compiled: at most a millisecond for those that agents import.
func BenchmarkInit(b *testing.B) {
	for _, name := range []string{"async_hooks", "diagnostics_channel", "path", "os", "crypto", "events", "buffer", "util", "process", "stream", "url", "fs", "zlib", "http"} {
		b.Run(name, func(b *testing.B) {
			newWorld(b, Options{}).init(name)
			var took []time.Duration
			for range b.N {
				took = append(took, newWorld(b, Options{}).init(name))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs/module")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// init is how long the first import of a module takes.
func (w *world) init(name string) (took time.Duration) {
	w.e.Turns.Enter(engine.GlobalFrame, "init", func() {
		began := time.Now()
		if _, err := w.m.Require(name); err != nil {
			w.t.Fatal(err)
		}
		took = time.Since(began)
	})
	return took
}

func benchScript(b *testing.B, setup string) {
	w := newWorld(b, Options{})
	w.in(setup)
	w.e.Turns.Enter(w.c.Frame(), "bench", func() {
		b.ResetTimer()
		w.e.Call(w.e.VM().Get("bench"), nil, w.e.VM().ToValue(b.N))
	})
}

// A megabyte is hashed at Go's speed.
func BenchmarkSHA256Megabyte(b *testing.B) {
	b.SetBytes(1 << 20)
	benchScript(b, `const { createHash } = require("crypto"), data = Buffer.alloc(1 << 20, "x");
		globalThis.bench = (n) => { for (let i = 0; i < n; i++) createHash("sha256").update(data).digest("hex"); }`)
}

// A small digest is what agents make for ids.
func BenchmarkSHA256Small(b *testing.B) {
	benchScript(b, `const { createHash } = require("crypto");
		globalThis.bench = (n) => { for (let i = 0; i < n; i++) createHash("sha256").update("a key").digest("hex"); }`)
}

// Writing and reading a number, text to bytes and back.
func BenchmarkBuffer(b *testing.B) {
	benchScript(b, `const x = Buffer.alloc(8);
		globalThis.bench = (n) => { for (let i = 0; i < n; i++) { x.writeUInt32LE(i); x.readUInt32LE(0); Buffer.from("héllo").toString("hex"); } }`)
}

// An event with one listener.
func BenchmarkEmit(b *testing.B) {
	benchScript(b, `const e = new (require("events"))(); let sum = 0; e.on("x", (v) => { sum += v; });
		globalThis.bench = (n) => { for (let i = 0; i < n; i++) e.emit("x", i); }`)
}

// A timer set and cleared.
func BenchmarkTimer(b *testing.B) {
	benchScript(b, `globalThis.bench = (n) => { for (let i = 0; i < n; i++) clearTimeout(setTimeout(() => {}, 1000)); }`)
}

// A megabyte of text is decompressed.
func BenchmarkGunzip(b *testing.B) {
	b.SetBytes(1 << 20)
	benchScript(b, `const zlib = require("zlib"), { createHash } = require("crypto");
		let text = ""; for (let i = 0; text.length < 1 << 20; i++) text += createHash("sha1").update(String(i)).digest("base64") + " and words ";
		const data = zlib.gzipSync(text.slice(0, 1 << 20));
		globalThis.bench = (n) => { for (let i = 0; i < n; i++) zlib.gunzipSync(data); }`)
}
