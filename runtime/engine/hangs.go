package engine

// Hangs finds out that contexts wait for what cannot happen any more: it counts
// what may still give the isolate's contexts something to do. Loop-confined.
type Hangs struct {
	engine   *Engine
	ops      int // operations in progress
	holds    int // Holds of living contexts, without those of HoldFor
	promised int // HoldFors of living contexts
	turns    int64
	asked    bool // a look is on its way
	tell     func()
}

// Notify sets what is called when promises are waited for (Context.HoldFor) that
// nothing can settle any more: no context of the isolate has a timer, an
// operation or a Hold, and nothing is queued on the loop. It is called on the
// loop, outside any turn, after each turn that leaves the isolate so. Set it
// before the first turn.
func (h *Hangs) Notify(fn func()) { h.tell = fn }

func (h *Hangs) hung() bool {
	return h.promised > 0 && h.ops == 0 && h.holds == 0 && h.engine.Timers.heap.Len() == 0 && h.engine.Health.reason == nil
}

// look looks again behind what turns have queued on the loop.
func (h *Hangs) look() {
	if h.tell == nil || h.asked || !h.hung() {
		return
	}
	turns := h.turns
	h.asked = h.engine.loop.Post(func() {
		h.asked = false
		switch {
		case turns != h.turns:
			h.look()
		case h.hung():
			h.tell()
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
	e.Hangs.holds++
	c.AtDeath(func(error) { e.Hangs.holds-- })
}

func (c *Context) forgetOp(op *Op) {
	if _, pending := c.ops[op]; pending {
		delete(c.ops, op)
		c.engine.Hangs.ops--
	}
}
