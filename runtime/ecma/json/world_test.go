package json

import (
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/ecma/errortext"
	"minido.dev/minido/runtime/engine"
)

// world is an engine on a seeded scheduler.
type world struct {
	sched *sched.Seeded
	e     *engine.Engine
}

func newWorld() *world {
	w := &world{sched: sched.NewSeeded(clock.NewVirtual(time.Unix(1000, 0)), entropy.NewSeeded(1))}
	w.e = engine.New(engine.Options{Name: "test", Language: alone{}, Scheduler: w.sched, Entropy: entropy.NewSeeded(1)})
	return w
}

func (w *world) run() {
	for w.sched.Step() {
	}
}

// alone is JSON without the rest of the language, but for V8's texts.
type alone struct{}

// Prepare implements engine.Language.
func (alone) Prepare(e *engine.Engine) { Install(e) }

// Install implements engine.Language.
func (alone) Install(e *engine.Engine) { errortext.InstallTexts(e) }
