package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// owners know which context made a promise. Who waits in another context for one that is
// pending goes on in its own. With the flag handle_cross_request_promise_resolution it is
// told when the context that made it has ended, for then the promise can never settle, and
// what settles it afterwards is dropped. Without the flag whoever waits in the context that
// made a promise goes on in the one that settles it, as in workerd. Loop-confined.
type owners struct {
	engine  *Engine
	off     bool // without the flag
	promise *insides.Promises
	last    uint32
	live    map[uint32]*Context
}

func (o *owners) init(e *Engine, off bool) {
	o.engine, o.off, o.live = e, off, map[uint32]*Context{}
	if o.promise = insides.ThePromises(); !o.promise.Known {
		return
	}
	class := e.vm.Get("Promise").(*goja.Object)
	if ctor := insides.TheGoja().ConstructorOf(class); ctor != nil {
		original := *ctor
		*ctor = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			owner := o.Tag()
			if owner == 0 || len(args) == 0 || !isCallable(args[0]) {
				return original(args, newTarget)
			}
			if newTarget == nil { // as goja's instruction says that it is class itself
				newTarget = class
			}
			p := o.promise.Construct(e.vm, class, newTarget, args[0], func() bool { return o.mayOrWarn(owner) })
			*o.promise.Owner(p) = owner
			return e.vm.ToValue(p).(*goja.Object)
		}
	}
	o.wrap(class.Get("prototype").(*goja.Object), "then", true)
	for _, name := range []string{"all", "allSettled", "any", "race", "resolve", "reject"} {
		o.wrap(class, name, false)
	}
}

// wrap has a native give the promises that it makes to the context of now, and if it
// follows, its receiver from another one watched.
func (o *owners) wrap(holder *goja.Object, name string, follows bool) {
	fn, ok := holder.Get(name).(*goja.Object)
	if !ok {
		return
	}
	at := insides.TheGoja().FunctionOf(fn)
	if at == nil {
		return
	}
	original := *at
	*at = func(c goja.FunctionCall) goja.Value {
		if follows {
			if p := o.promise.Of(c.This); p != nil && p.State() == goja.PromiseStatePending {
				if owner := *o.promise.Owner(p); owner != 0 && owner != o.Tag() {
					if other := o.Follow(p, owner); other != nil {
						c.This = o.engine.vm.ToValue(other)
					}
				}
			}
		}
		v := original(c)
		if p := o.promise.Of(v); p != nil && p.State() == goja.PromiseStatePending && (len(c.Arguments) == 0 || v != c.Arguments[0]) {
			*o.promise.Owner(p) = o.Tag()
		}
		return v
	}
}

// own gives a promise that a native makes to the context of now.
func (o *owners) own(p *goja.Promise) *goja.Promise {
	if o.promise.Known {
		*o.promise.Owner(p) = o.Tag()
	}
	return p
}

// Tag implements insides.Joiner: the context whose code runs, 0 for none.
func (o *owners) Tag() uint32 {
	f := o.engine.Turns.cur
	if f == nil || f.Context == nil {
		return 0
	}
	c := f.Context
	if c.owner == 0 {
		if c.dead != nil {
			return 0
		}
		o.last++
		c.owner = o.last
		o.live[c.owner] = c
	}
	return c.owner
}

// resumes is the frame in which a promise job of f runs: without the flag it is of the
// context whose turn it is.
func (o *owners) resumes(f *Frame) *Frame {
	if o.strange(f) {
		return o.engine.Turns.root.WithLocalsOf(f)
	}
	return f
}

// strange reports whether the turn of now is another context's than f, in which what waits
// in f goes on without the flag.
func (o *owners) strange(f *Frame) bool {
	root := o.engine.Turns.root
	return o.off && f != nil && f.Context != nil && root != nil && root.Context != nil && root.Context != f.Context
}

// ended forgets a context.
func (o *owners) ended(c *Context) { delete(o.live, c.owner) }

const (
	endedOwner = "This promise was created by a request that has since ended, so it can never settle. With the handle_cross_request_promise_resolution compatibility flag, " +
		"a promise can only settle in the request that created it, and settling it after that request ends is dropped."
	lateSettler = "Warning: A promise was resolved or rejected from a different request context than the one it was created in. However, the creating request has already been " +
		"completed or canceled. Continuations for that request are unlikely to run safely and have been canceled. If this behavior breaks your worker, consider setting the " +
		"`no_handle_cross_request_promise_resolution` compatibility flag for your worker."
)

// mayOrWarn reports whether a promise of a context may still settle; what comes too late
// is told.
func (o *owners) mayOrWarn(owner uint32) bool {
	if o.off || o.live[owner] != nil || o.Tag() == owner {
		return true
	}
	if f := o.engine.Turns.cur; f != nil && f.Context != nil {
		o.engine.Log(Warn, lateSettler)
	}
	return false
}

// Follow implements insides.Joiner. It is asked about a pending promise of another context
// than the one of now: what to wait for instead, nil for the promise itself.
func (o *owners) Follow(p *goja.Promise, owner uint32) *goja.Promise {
	e, maker := o.engine, o.live[owner]
	frame := e.Frame()
	if frame.Context == nil {
		return nil
	}
	other, resolve, reject := e.NewPromise()
	o.promise.Handle(other)                                          // by whoever is about to wait for it
	lost := func() { _ = reject(e.Errors.New("Error", endedOwner)) } // NewPromise keeps what it says
	remove := func() {}
	switch {
	case o.off:
	case maker == nil:
		lost()
		return other
	default:
		remove = maker.AtDeath(func(error) {
			if p.State() == goja.PromiseStatePending {
				o.later(frame, lost)
			}
		})
	}
	settle := func(fn func(any) error) func(goja.Value) {
		return func(v goja.Value) {
			remove()
			switch {
			case frame.Context.dead != nil:
			case o.off:
				o.later(frame, func() { _ = fn(v) })
			default:
				_ = fn(v)
			}
		}
	}
	o.promise.React(p, settle(resolve), settle(reject))
	return other
}

// later has fn called in a turn of its own, unless its context ends before. Until then
// nothing hangs.
func (o *owners) later(frame *Frame, fn func()) {
	e := o.engine
	e.Hangs.ops++
	if err := e.loop.Post(func() {
		e.Hangs.ops--
		e.Turns.Enter(frame, "promise of another request", fn)
	}); err != nil {
		e.Hangs.ops-- // the isolate has ended
	}
}
