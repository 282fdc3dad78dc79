package engine

import (
	"errors"
	"fmt"
)

// ErrCondemned is the reason that operations on a condemned isolate fail with.
var ErrCondemned = errors.New("the isolate was condemned")

// Health is whether the isolate can still be trusted. Loop-confined.
type Health struct {
	engine  *Engine
	reason  error    // why it cannot be, ErrCondemned among it
	suspect *Context // whose turn ran when the isolate was condemned
	tell    func(reason error)
}

// Condemn marks the isolate as unusable. Its contexts are not told here: the
// Condemned callback does that.
func (h *Health) Condemn(reason error) {
	if h.reason != nil {
		return
	}
	h.suspect = h.engine.Turns.context()
	h.reason = fmt.Errorf("%w: %w", ErrCondemned, reason)
	if h.tell != nil {
		h.tell(reason)
	}
}

// CondemnedBy is why the isolate is unusable, nil while it is well.
func (h *Health) CondemnedBy() error { return h.reason }

// Suspect is the context whose turn ran when the isolate was condemned; nil
// for the global scope, and while the isolate is well.
func (h *Health) Suspect() *Context { return h.suspect }
