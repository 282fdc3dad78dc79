package webapi_test

import (
	"runtime"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/ecma"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi"
	"minido.dev/minido/runtime/webapi/webapitest"
)

// What an isolate costs before user code runs: globals are lazy, so that this
// stays far below the cost of a bundle.
func BenchmarkInstallHeap(b *testing.B) {
	s := sched.NewSeeded(clock.NewVirtual(clock.Real{}.Now()), entropy.NewSeeded(1))
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all []*webapi.Platform
	for b.Loop() {
		b.StopTimer()
		e := ecma.New(engine.Options{Name: "bench", Scheduler: s, Entropy: entropy.NewSeeded(1)})
		b.StartTimer()
		all = append(all, webapi.Install(e, webapi.Options{}))
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(all)), "heap-B/isolate")
	runtime.KeepAlive(all)
}

func BenchmarkEventDispatch(b *testing.B) {
	w := webapitest.New(b)
	w.Turn(func() {
		v, err := w.Platform.VM.RunString(`var target = new EventTarget(), n = 0; target.addEventListener("message", e => { n += e.data }); (() => target)()`)
		if err != nil {
			b.Fatal(err)
		}
		one := w.Platform.VM.ToValue(1)
		target := v.ToObject(w.Platform.VM)
		b.ReportAllocs()
		for b.Loop() {
			w.Platform.Events.Fire(target, w.Platform.Events.NewMessage(one, w.Platform.VM.ToValue(nil)))
		}
	})
}

// What e2e/bench measures, and a URL that the parser has to read.
func BenchmarkURL(b *testing.B) {
	w := webapitest.New(b)
	for name, text := range map[string]string{
		"plain":  "https://user:pa%20ss@sub.example.com:8443/a/./b/../c%20d?q=1&r=%C3%A9&s=x+y#frag",
		"parsed": "https://Sub.example.com/a b",
	} {
		b.Run(name, func(b *testing.B) {
			w.Turn(func() {
				w.Platform.VM.Set("text", text)
				for b.Loop() {
					if _, err := w.Platform.VM.RunString(`for (let i = 0; i < 100; i++) new URL(text).pathname`); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
