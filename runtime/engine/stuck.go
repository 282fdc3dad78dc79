package engine

// stuckState counts what may still give the isolate's contexts something to do.
// Loop-confined.
type stuckState struct {
	ops      int // operations in progress
	holds    int // Holds of living contexts, without those of HoldFor
	promised int // HoldFors of living contexts
	turns    int64
	asked    bool // a look is on its way
	tell     func()
}

// OnStuck sets what is called when promises are waited for (Context.HoldFor) that
// nothing can settle any more: no context of the isolate has a timer, an
// operation or a Hold, and nothing is queued on the loop. It is called on the
// loop, outside any turn, after each turn that leaves the isolate so. Set it
// before the first turn.
func (e *Engine) OnStuck(fn func()) { e.stuck.tell = fn }

func (e *Engine) isStuck() bool {
	s := &e.stuck
	return s.promised > 0 && s.ops == 0 && s.holds == 0 && e.timers.heap.Len() == 0 && e.condemned == nil
}

// lookWhetherStuck looks again behind what turns have queued on the loop.
func (e *Engine) lookWhetherStuck() {
	s := &e.stuck
	if s.tell == nil || s.asked || !e.isStuck() {
		return
	}
	turns := s.turns
	s.asked = e.loop.Post(func() {
		s.asked = false
		switch {
		case turns != s.turns:
			e.lookWhetherStuck()
		case e.isStuck():
			s.tell()
		}
	}) == nil
}

// Expect tells that something from outside may come to the context as long as it
// lives, which keeps nobody alive: a signal that somebody else may fire.
func (c *Context) Expect() {
	if c.dead != nil {
		return
	}
	e := c.engine
	e.stuck.holds++
	c.AtDeath(func(error) { e.stuck.holds-- })
}

func (c *Context) forgetOp(op *Op) {
	if _, pending := c.ops[op]; pending {
		delete(c.ops, op)
		c.engine.stuck.ops--
	}
}
