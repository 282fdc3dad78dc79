package json

import (
	"context"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/engine"
)

// 100 KB, a list of records: what e2e/bench measures.
const jsonDocument = "const doc = Array.from({ length: 900 }, (_, id) => ({ id, name: `record ${id}`, tags: [`a`, `b`, `ç`], nested: { on: id % 2 === 0, ratio: id / 7, none: null } }));"

func BenchmarkStringify(b *testing.B) {
	benchmarkJSON(b, jsonDocument+`const job = () => JSON.stringify(doc).length;`)
}

func BenchmarkParse(b *testing.B) {
	benchmarkJSON(b, jsonDocument+`const text = JSON.stringify(doc); const job = () => JSON.parse(text).length;`)
}

func benchmarkJSON(b *testing.B, source string) {
	th := sched.NewThreads(clock.Real{})
	e := engine.New(engine.Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}, Language: alone{}})
	c := e.NewContext(engine.RequestContext, "")
	done := make(chan struct{})
	e.Post(c.Frame(), "bench", func() {
		defer close(done)
		if _, err := e.VM().RunString(source); err != nil {
			b.Error(err)
			return
		}
		job, err := e.VM().RunString("job")
		if err != nil {
			b.Error(err)
			return
		}
		b.ReportAllocs()
		for b.Loop() {
			e.Call(job, goja.Undefined())
		}
	})
	<-done
	th.Close(context.Background())
}
