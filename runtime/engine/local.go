package engine

// Local is what a package keeps for each engine. It is immutable, what it keeps
// loop-confined; declare it as a package variable.
type Local[T any] struct{ make func(e *Engine) *T }

// NewLocal declares state of engines; make makes that of one, at its first use.
func NewLocal[T any](make func(e *Engine) *T) *Local[T] { return &Local[T]{make} }

// Of is the state of an engine.
func (l *Local[T]) Of(e *Engine) *T {
	if state, made := e.locals[l]; made {
		return state.(*T)
	}
	state := l.make(e)
	e.locals[l] = state
	return state
}
