package engine

import (
	"errors"
	"fmt"

	"github.com/dop251/goja"
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

// Stopped is why JavaScript was stopped from outside, with the place in the
// user's code, if err, which a call of goja returned, says so; else nil. A stack
// overflow is such a stop: it cannot be caught either.
func (h *Health) Stopped(err error) error {
	var overflow *goja.StackOverflowError
	if errors.As(err, &overflow) {
		return fmt.Errorf("RangeError: Maximum call stack size exceeded%s", h.engine.Errors.where(overflow.Stack()))
	}
	var interrupted *goja.InterruptedError
	if !errors.As(err, &interrupted) {
		return nil
	}
	where := h.engine.Errors.where(interrupted.Stack())
	reason, ok := interrupted.Value().(error)
	if !ok {
		return fmt.Errorf("%v%s", interrupted.Value(), where)
	}
	var limit *LimitError
	if errors.As(reason, &limit) {
		return limit.in(h.engine, where)
	}
	return fmt.Errorf("%w%s", reason, where)
}
