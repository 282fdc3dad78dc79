package uses

import "sync/atomic"

// Mark says whether a module was evaluated, and which were before it. Its zero value says that
// it was not. Safe for concurrent use.
type Mark struct{ turn atomic.Int64 }

// evaluations counts the modules of this process that were.
var evaluations atomic.Int64

// Note says that it is evaluated; true the first time.
func (m *Mark) Note() bool {
	return m.turn.Load() == 0 && m.turn.CompareAndSwap(0, evaluations.Add(1))
}

// Load reports whether it was.
func (m *Mark) Load() bool { return m.turn.Load() != 0 }

// Compare is below 0 if this one was before the other, 0 if neither was.
func (m *Mark) Compare(other *Mark) int { return int(m.turn.Load() - other.turn.Load()) }
