package engine

import (
	"context"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// BenchmarkNew is the cost of a runtime without the platform.
func BenchmarkNew(b *testing.B) {
	th := sched.NewThreads(clock.Real{})
	b.ReportAllocs()
	for b.Loop() {
		New(Options{Name: "bench", Scheduler: th, Entropy: entropy.System{}}).Close()
	}
	if err := th.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
