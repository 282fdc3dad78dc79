package isolate_test

import (
	"context"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/isolate"
)

// What an isolate takes stays in bounds: each life of a simulation makes one.
func TestNewIsCheap(t *testing.T) {
	th := sched.NewThreads(clock.Real{})
	defer func() {
		if err := th.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	make := func() {
		isolate.New(isolate.Options{Name: "cheap", Scheduler: th, Entropy: entropy.System{}}).Engine.Close()
	}
	make() // a process's second isolate, which AllocsPerRun does not count, learns what later ones need
	if n := testing.AllocsPerRun(5, make); n > 10_500 {
		t.Errorf("an isolate takes %.0f allocations", n)
	}
}

// BenchmarkNew is the cost of a worker's globals, which each life of a simulation makes anew.
func BenchmarkNew(b *testing.B) {
	th := sched.NewThreads(clock.Real{})
	b.ReportAllocs()
	for b.Loop() {
		isolate.New(isolate.Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}}).Engine.Close()
	}
	if err := th.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
