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
