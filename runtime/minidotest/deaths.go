package minidotest

import (
	"testing"
	"time"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
)

// Death is a way in which a world can die.
type Death struct {
	Name  string
	power func(killpoint.Point) (entropy.Source, bool)
}

// Deaths are all ways: of the process, of the machine with nothing that was not
// synced, of the machine with some of it.
var Deaths = []Death{
	{Name: "killed", power: func(killpoint.Point) (entropy.Source, bool) { return nil, false }},
	{Name: "power", power: func(killpoint.Point) (entropy.Source, bool) { return nil, true }},
	{Name: "torn", power: func(p killpoint.Point) (entropy.Source, bool) {
		return entropy.NewSeeded(uint64(p.Number)), true
	}},
}

// With are options o with this death, and with the full syncs without which a
// loss of power may lose what was acknowledged. Syncs
// are slow: what leaves too soon leaves before them.
func (d Death) With(o Options) Options {
	o.SyncFull, o.Power = true, d.power
	if o.SyncTakes == 0 {
		o.SyncTakes = 5 * time.Millisecond
	}
	return o
}

// LosesPower reports whether what was not synced may be gone.
func (d Death) LosesPower() bool {
	_, lost := d.power(killpoint.Point{})
	return lost
}

// EachDeath runs a test for each way of dying; a short run takes the hardest, the last.
func EachDeath(t *testing.T, test func(t *testing.T, d Death)) {
	deaths := Deaths
	if testing.Short() {
		deaths = Deaths[len(Deaths)-1:]
	}
	for _, d := range deaths {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel() // they wait for the disk
			test(t, d)
		})
	}
}
