package durableobject

import (
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// gate is the input gate (workerd: io/io-gate.h). SQLite answers synchronously,
// so only critical sections ever lock it. Loop-confined.
type gate struct {
	current *critical // the innermost section in progress
	waiting []waiter
}

// critical is one section during which only its own events run.
type critical struct {
	parent *critical
	ended  bool
	depth  int
}

type waiter struct {
	section *critical
	resume  func()
}

// maxNesting is how deep blockConcurrencyWhile() may nest (workerd's limit).
const maxNesting = 64

// criticalTimeout is how long a section may last.
const criticalTimeout = 30 * time.Second

// live is the innermost section around s that has not ended.
func live(s any) *critical {
	c, _ := s.(*critical)
	for c != nil && c.ended {
		c = c.parent
	}
	return c
}

func (g *gate) admit(f *engine.Frame, resume func()) bool {
	if g.current == nil || live(f.Critical) == g.current {
		return true
	}
	g.waiting = append(g.waiting, waiter{live(f.Critical), resume})
	return false
}

// enter begins a section inside the section of frame f, at once or when the
// sections before it have ended. begin runs outside any turn.
func (o *Object) enter(f *engine.Frame, begin func(inside *engine.Frame, s *critical)) {
	g := &o.gate
	parent := live(f.Critical)
	start := func() {
		s := &critical{parent: live(parent), depth: 1}
		if s.parent != nil {
			s.depth = s.parent.depth + 1
		}
		g.current = s
		begin(f.WithCritical(s), s)
	}
	if g.current == parent {
		start()
		return
	}
	g.waiting = append(g.waiting, waiter{parent, func() {
		if g.current != live(parent) {
			o.enter(f, begin) // another section of the same level came first
			return
		}
		start()
	}})
}

// leave ends a section and lets in, in their order, the events that waited.
func (o *Object) leave(s *critical) {
	if s.ended {
		return
	}
	s.ended = true
	g := &o.gate
	if g.current == s {
		g.current = live(s.parent)
	}
	waiting := g.waiting
	g.waiting = nil
	for _, w := range waiting {
		o.realm.eng.Turns.After(w.resume)
	}
}

const blockTimeoutText = "A call to blockConcurrencyWhile() in a Durable Object waited for too long. The call was canceled and the Durable Object was reset."

// blockConcurrencyWhile implements ctx.blockConcurrencyWhile(). The callback
// runs in a turn of its own; if it fails, or takes 30 s, the object is reset.
func (o *Object) blockConcurrencyWhile(callback goja.Value) goja.Value {
	e := o.realm.eng
	if !engine.IsCallable(callback) {
		return o.realm.notFunction("DurableObjectState", "blockConcurrencyWhile")
	}
	if s := live(e.Frame().Critical); s != nil && s.depth >= maxNesting {
		e.Throw("Error", "blockConcurrencyWhile() calls are nested too deeply.")
	}
	frame := e.Frame()
	promise, resolve, _ := o.realm.eng.NewPromise()
	o.ctx.Hold()
	o.enter(frame, func(inside *engine.Frame, s *critical) {
		e.Turns.After(func() {
			e.Turns.Enter(inside, e.Cause(), func() { o.runCritical(s, callback, resolve) })
		})
	})
	return o.realm.vm.ToValue(promise)
}

func (o *Object) runCritical(s *critical, callback goja.Value, resolve func(any) error) {
	e := o.realm.eng
	timeout := e.Timers.Set(criticalTimeout, false, func() {
		o.fail(&event.Error{Message: blockTimeoutText, Overloaded: true, ObjectReset: true})
	})
	broken := func(reason goja.Value) {
		if o.ended {
			return
		}
		ev := o.realm.iso.CF.Failure(reason)
		ev.ObjectReset, ev.Remote = true, false
		if inv := e.Frame().Invocation; inv != nil {
			inv.Threw(reason)
			if o.born != nil { // the event that waits for the constructor fails with it, too
				inv.Threw(reason)
			}
		}
		o.fail(ev)
	}
	thrown := e.Try(func() {
		e.Await(e.Call(callback, goja.Undefined()), func(v goja.Value) {
			if o.ended {
				return
			}
			e.Timers.Clear(timeout)
			o.ctx.Release()
			o.leave(s)
			resolve(v)
		}, broken)
	})
	if thrown != nil {
		broken(thrown)
	}
}
