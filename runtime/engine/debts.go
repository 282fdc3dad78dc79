package engine

import "minido.dev/minido/runtime/event"

// debts is what a context was told that is not on disk yet. Its outputs wait for it,
// but for messages to the one that owes it, whose files keep the order in which they
// were written. Loop-confined.
type debts struct {
	open   []debt // in the order of their marks
	debtor any    // whose all of them are; nil if they are of several
}

type debt struct {
	mark int64
	paid bool
}

// EmitEarly is Emit for an answer that does not wait for LetGo: release gets what its
// receiver waits for instead, nil if there is nothing.
func (c *Context) EmitEarly(release func(*event.Safe)) {
	c.emit(output{context: c, early: release})
}

// releaseEarly is release for an output of EmitEarly.
func (c *Context) releaseEarly(fn func(*event.Safe)) {
	if !c.HeldBack() {
		fn(nil)
		return
	}
	safe := &event.Safe{}
	forget := c.AtDeath(safe.Settle)
	c.behind = append(c.behind, behind{c.heldBack, func() {
		forget()
		safe.Settle(nil)
	}})
	fn(safe)
}

// Owes holds back the context's outputs, but for those of EmitTo debtor, until safe is
// settled; if that fails the context ends, since it may have been told what is not so.
// Call it within a turn of the context.
func (c *Context) Owes(debtor any, safe *event.Safe) {
	d := &c.debts
	if len(d.open) == 0 {
		d.debtor = debtor
	} else if d.debtor != debtor {
		d.debtor = nil
	}
	mark := c.HoldBack()
	d.open = append(d.open, debt{mark: mark})
	c.Hold()
	safe.Then(func(err error) {
		_ = c.engine.PostLoop(func() { c.paid(mark, err) }) // a closed loop has no outputs left
	})
}

func (c *Context) paid(mark int64, err error) {
	if err != nil {
		c.Kill(err)
	}
	d := &c.debts
	for i := range d.open {
		if d.open[i].mark == mark {
			d.open[i].paid = true
			break
		}
	}
	done := 0
	for done < len(d.open) && d.open[done].paid {
		done++
	}
	if done > 0 {
		last := d.open[done-1].mark
		d.open = d.open[done:]
		c.LetGo(last)
	}
	c.Release()
}

// EmitTo is Emit for a message to one that may owe the context what it waits for: see
// Owes.
func (c *Context) EmitTo(debtor any, release func()) {
	if len(c.debts.open) > 0 && c.debts.debtor == debtor && c.dead == nil && !c.holds && c.holding == 0 {
		c.engine.Sites.emits(release)()
		return
	}
	c.Emit(release)
}
