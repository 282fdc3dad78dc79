package insides

import (
	"sync"

	"minido.dev/minido/internal/insides/layout"
)

// look is what a part is learnt with.
type look struct{ layout.Look }

// looking begins to look. The member wrong is taken for another than expected; "" is none.
func looking(wrong string) *look { return &look{layout.Looking[words](wrong)} }

// learnt is a part's learning, done once, for the process.
func learnt[T any](learn func(*look) T) func() T {
	return sync.OnceValue(func() T { return learn(looking("")) })
}

// whole is what was learnt, marked as known if all of it is; nothing otherwise.
func whole[T any](l *look, learnt *T, mark func(*T)) *T {
	if !l.Known() {
		return new(T)
	}
	mark(learnt)
	return learnt
}
