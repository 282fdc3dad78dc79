package fault

import (
	"errors"
	"fmt"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
)

// Agenda is what is to be done in one life, beside its kill: each fault once, when its
// point is passed. Its methods are called under the lock of killpoint.Points.
type Agenda struct {
	machine Machine
	note    func(f Fault, err error)
	faults  []Fault
	hits    []func(killpoint.Point) bool // nil once it has hit
	begun   func(begun int)
	failing error // of the effect whose point was just passed
	lasting []func(killpoint.Point) error
}

// NewAgenda makes one. begun is told 1 when a fault begins and -1 when it is over, note
// what became of it: both from any goroutine. Faults without a verb are not its
// concern.
//
// # Errors
//
// That a point is none.
func NewAgenda(faults []Fault, m Machine, begun func(int), note func(f Fault, err error)) (*Agenda, error) {
	a := &Agenda{machine: m, begun: begun, note: note}
	for _, f := range faults {
		if f.Verb == "" {
			continue
		}
		hits, err := killpoint.ParseTarget(f.Point)
		if err != nil {
			return nil, fmt.Errorf("fault: %s: %w", f, err)
		}
		a.faults, a.hits = append(a.faults, f), append(a.hits, hits)
	}
	return a, nil
}

// Pass does what is due at a point that is passed.
func (a *Agenda) Pass(p killpoint.Point) {
	a.failing = nil
	for i, hits := range a.hits {
		if hits == nil || !hits(p) {
			continue
		}
		a.hits[i] = nil
		f := a.faults[i]
		a.begun(1)
		k, done := kindOf(f.Verb), func(err error) {
			a.note(f, err)
			a.begun(-1)
		}
		if k.Stand != nil {
			a.lasting = append(a.lasting, k.Stand(a.machine, f.Arg, done))
			continue
		}
		err := k.Do(a.machine, f.Arg, p, done)
		var other *killpoint.Detour
		switch {
		case err == nil:
		case errors.As(a.failing, &other):
			done(&pool.RefusedError{Reason: "another fault of the plan takes the message of this point another way"})
		default:
			a.failing = err
		}
	}
	for _, stands := range a.lasting {
		if err := stands(p); err != nil && a.failing == nil {
			a.failing = err
		}
	}
}

// Interfere is for killpoint.Points.Interfere: what takes the place of the effect whose
// point was just passed.
func (a *Agenda) Interfere(killpoint.Point) error { return a.failing }
