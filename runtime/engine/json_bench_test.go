package engine

import (
	"context"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// About 100 KB: what a list of records comes to.
const jsonDocument = `const doc = Array.from({ length: 700 }, (_, i) => ({ id: i, name: "name of " + i, tags: ["a", "b", "ç"], nested: { on: i % 2 === 0, at: i * 1.5, none: null, text: "some \"quoted\" text\n" } }));`

func BenchmarkStringify(b *testing.B) {
	benchmarkJSON(b, jsonDocument+`const job = () => JSON.stringify(doc).length;`)
}

func BenchmarkParse(b *testing.B) {
	benchmarkJSON(b, jsonDocument+`const text = JSON.stringify(doc); const job = () => JSON.parse(text).length;`)
}

func benchmarkJSON(b *testing.B, source string) {
	th := sched.NewThreads(clock.Real{})
	e := New(Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}})
	c := e.NewContext(RequestContext, "")
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
		for b.Loop() {
			e.Call(job, goja.Undefined())
		}
	})
	<-done
	th.Close(context.Background())
}
