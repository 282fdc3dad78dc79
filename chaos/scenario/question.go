package scenario

import "github.com/dop251/goja"

// asking is one round of a question: of a function that until() calls again and
// again. What the function does belongs to it, also behind an await. Immutable.
type asking struct {
	question, round int
	within          *asking // the round that the question itself belongs to
}

// question is native.question(): the number of a new one, with no round yet.
func (e *engine) question() *asking {
	e.questions++
	return &asking{question: e.questions, within: e.asking}
}

// ask is native.ask(question, fn): fn() as the next round.
func (e *engine) ask(call goja.FunctionCall) goja.Value {
	q, ok := call.Argument(0).Export().(*asking)
	fn, callable := goja.AssertFunction(call.Argument(1))
	if !ok || !callable {
		panic(e.vm.NewTypeError("until() needs a function"))
	}
	before := e.asking
	defer func() { e.asking = before }()
	e.lastRound++
	e.asking = &asking{question: q.question, round: e.lastRound, within: q.within}
	v, err := fn(goja.Undefined())
	if err != nil {
		panic(err)
	}
	return v
}

// again reports whether the question was asked before in this life. The first
// round of each life is a step like any other; how many follow depends on the
// machine's speed.
func (e *engine) again(a *asking) bool {
	if a == nil {
		return false
	}
	first, asked := e.rounds[a.question]
	if !asked {
		e.rounds[a.question], first = a.round, a.round
	}
	return first != a.round || e.again(a.within)
}

// Grab implements goja.AsyncContextTracker.
func (e *engine) Grab() any { return e.asking }

// Resumed implements goja.AsyncContextTracker.
func (e *engine) Resumed(tracked any) { e.asking, _ = tracked.(*asking) }

// Exited implements goja.AsyncContextTracker.
func (e *engine) Exited() { e.asking = nil }
