package ecma

import (
	"fmt"
	"testing"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/engine"
)

// world is an engine on a seeded scheduler.
type world struct {
	t     *testing.T
	sched *sched.Seeded
	e     *engine.Engine
	logs  []string
	out   []string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, sched: sched.NewSeeded(clock.NewVirtual(time.Unix(1000, 0)), entropy.NewSeeded(1))}
	w.e = New(engine.Options{Name: "test", Scheduler: w.sched, Entropy: entropy.NewSeeded(1),
		Logger: func(_ engine.Level, _ *engine.Context, text string) { w.logs = append(w.logs, text) }})
	w.e.Global("say", w.e.Func("say", 1, func(c goja.FunctionCall) goja.Value {
		w.out = append(w.out, c.Argument(0).String())
		return goja.Undefined()
	}))
	return w
}

// script runs source as one turn of context c; nil is the global scope.
func (w *world) script(c *engine.Context, source string) {
	f := engine.GlobalFrame
	if c != nil {
		f = c.Frame()
	}
	w.e.Post(f, "test", func() {
		if _, err := w.e.VM().RunString(source); err != nil {
			w.e.Rethrow(err)
		}
	})
	for w.sched.Step() {
	}
}

func (w *world) said(want ...string) {
	w.t.Helper()
	if fmt.Sprint(w.out) != fmt.Sprint(want) {
		w.t.Fatalf("said %q, want %q (log %q)", w.out, want, w.logs)
	}
	w.out = nil
}
