package uses

import "sync/atomic"

// Order counts the modules that were evaluated, one after the other. Its zero value is ready;
// safe for concurrent use.
type Order struct{ evaluations atomic.Int64 }

// Mark says whether a module was evaluated, and which were before it. Its zero value says that
// it was not. Safe for concurrent use.
type Mark struct{ turn atomic.Int64 }

// Note says that it is evaluated, the next one in an order; true the first time.
func (m *Mark) Note(o *Order) bool {
	return m.turn.Load() == 0 && m.turn.CompareAndSwap(0, o.evaluations.Add(1))
}

// Load reports whether it was.
func (m *Mark) Load() bool { return m.turn.Load() != 0 }

// Compare is below 0 if this one was before the other in the same order, 0 if neither was.
func (m *Mark) Compare(other *Mark) int { return int(m.turn.Load() - other.turn.Load()) }
