package vitest

import (
	"minido.dev/minido/internal/clock"
)

// observed is one line of what happened in a world, as history of minido:test has it.
type observed struct {
	// At is in milliseconds since 1970, of virtual time.
	At int64 `json:"at"`
	// Kind is point, log, fault or model.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// note adds to the history.
func (r *fileRun) note(kind, text string) {
	if r.world == nil {
		return // it opens: nothing of a test has happened
	}
	r.history = append(r.history, observed{r.world.Now().UnixMilli(), kind, text})
}

// setClock lets virtual time pass as the machine's does, or jump.
func (r *fileRun) setClock(real bool) {
	r.real = real
	var machine clock.Clock
	if real {
		machine = r.project.options.Clock
	}
	r.world.Sim.Pass(machine)
}
