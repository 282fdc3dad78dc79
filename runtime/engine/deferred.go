package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// Deferred is a promise as natives hold one (ECMA-262, section 27.2): it is
// settled from Go, Go reacts to it in promise jobs, and JavaScript gets an object
// only if it asks for one. Who reacts, natives and JavaScript alike, is called in
// the order of asking, each in a job of its own, in the frame in which it asked.
// Loop-confined.
type Deferred struct {
	engine    *Engine
	state     goja.PromiseState
	handled   bool // a rejection concerns nobody
	foreign   bool // promise was made elsewhere, and is settled there
	value     goja.Value
	reaction  deferredReaction   // the first, if its ok is not nil
	reactions []deferredReaction // those after it
	promise   *goja.Promise      // nil until JavaScript asks
	resolve   func(any) error
	reject    func(any) error // both only where goja's promises are not known
}

type deferredReaction struct {
	frame    *Frame
	ok, fail func(goja.Value)
}

// New makes a pending one.
func (p *Promises) New() *Deferred { return &Deferred{engine: p.engine} }

// Init makes a pending one of d, which is part of something else.
func (d *Deferred) Init(e *Engine) *Deferred {
	d.engine = e
	return d
}

// Fulfilled makes one that is fulfilled with v, which is not looked into for a then().
func (p *Promises) Fulfilled(v goja.Value) *Deferred {
	return &Deferred{engine: p.engine, state: goja.PromiseStateFulfilled, value: v}
}

// Rejected makes one that is rejected.
func (p *Promises) Rejected(reason goja.Value) *Deferred {
	return &Deferred{engine: p.engine, state: goja.PromiseStateRejected, value: reason}
}

// Of is what PromiseResolve(%Promise%, v) gives (ECMA-262, section
// 27.2.4.7.1), as a native reacts to it. It throws what looking into v throws.
func (p *Promises) Of(v goja.Value) *Deferred {
	obj, ok := v.(*goja.Object)
	if !ok {
		return p.Fulfilled(v)
	}
	if obj.ExportType() == promiseType && obj.Get("constructor") == goja.Value(p.constructor()) {
		return &Deferred{engine: p.engine, foreign: true, promise: obj.Export().(*goja.Promise)}
	}
	d := p.New()
	d.Resolve(v)
	return d
}

func (p *Promises) constructor() *goja.Object {
	if p.class == nil {
		p.class = p.engine.Primordial("Promise")
	}
	return p.class
}

// Promises makes promises for natives, and queues promise jobs. Loop-confined.
type Promises struct {
	engine       *Engine
	class, proto *goja.Object
	fulfilled    *goja.Object // where goja's promises are not known
	ways         *insides.Promises
	free         []*job // have run, and are used again
}

// direct reports whether promises are made and jobs queued without goja's
// interface.
func (p *Promises) direct() bool {
	if p.ways == nil {
		p.ways = insides.ThePromises()
	}
	return p.ways.Known && p.engine.overflow.known
}

// Microtask calls fn in a promise job, in the frame of now.
func (p *Promises) Microtask(fn func()) { p.After(1, fn) }

// After calls fn in a promise job behind others, n jobs from now, in the frame of now; at
// once for 0.
func (p *Promises) After(n int, fn func()) {
	if n == 0 {
		fn()
		return
	}
	p.AfterIn(p.engine.Turns.cur, n, func(goja.Value) { fn() }, nil)
}

// AfterIn calls fn with v in a promise job of a frame, nil for none, n jobs from now; n is
// positive.
func (p *Promises) AfterIn(frame *Frame, n int, fn func(goja.Value), v goja.Value) {
	if p.direct() {
		p.enqueue(frame, n, fn, v)
		return
	}
	if n > 1 {
		p.queueJob(frame, func(goja.Value) { p.AfterIn(frame, n-1, fn, v) }, nil)
		return
	}
	p.queueJob(frame, fn, v)
}

// Later makes one that is fulfilled with undefined n jobs from now; n is positive.
func (p *Promises) Later(n int) *Deferred {
	d := p.New()
	p.AfterIn(p.engine.Turns.cur, n, d.Fulfil, goja.Undefined())
	return d
}

// job is a promise job of Go's, and those before it that do nothing but let others go
// first. Chains of streams queue many for each chunk, so it is used again. Loop-confined.
type job struct {
	p         *Promises
	frame     *Frame
	fn        func(goja.Value)
	v         goja.Value
	ahead     int    // how many jobs come before it
	run, call func() // step and do, made once
}

// spareJobs is how many jobs that have run are kept.
const spareJobs = 64

// enqueue is AfterIn where goja's promises are known.
func (p *Promises) enqueue(frame *Frame, n int, fn func(goja.Value), v goja.Value) {
	var j *job
	if last := len(p.free) - 1; last >= 0 {
		j, p.free = p.free[last], p.free[:last]
	} else {
		j = &job{p: p}
		j.run, j.call = j.step, j.do
	}
	j.frame, j.fn, j.v, j.ahead = frame, fn, v, n-1
	p.ways.Enqueue(p.engine.vm, j.run)
}

// step is a job as goja runs it. What fn throws is reported as a rejection that nobody
// handles.
func (j *job) step() {
	p := j.p
	e := p.engine
	if j.ahead > 0 {
		j.ahead--
		e.thenables.claim() // what the job before it has queued has that job's frame
		p.ways.Enqueue(e.vm, j.run)
		return
	}
	t := tracker{e}
	t.Resumed(j.frame)
	ex := e.vm.Try(j.call)
	t.Exited()
	j.frame, j.fn, j.v = nil, nil, nil
	if len(p.free) < spareJobs {
		p.free = append(p.free, j)
	}
	if ex != nil {
		p.Rejected(ex.Value()).Object()
	}
}

func (j *job) do() {
	j.p.engine.Natives.Pause()
	j.fn(j.v)
}

// queueJob calls fn with v in a promise job of a frame.
func (p *Promises) queueJob(frame *Frame, fn func(goja.Value), v goja.Value) {
	e := p.engine
	if p.direct() {
		p.enqueue(frame, 1, fn, v)
		return
	}
	if p.fulfilled == nil {
		p.fulfilled = e.Call(e.Primordial("PromiseResolve"), goja.Undefined(), goja.Undefined()).(*goja.Object)
	}
	e.Call(e.Primordial("PromisePrototypeThen"), goja.Undefined(), p.fulfilled, e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		e.In(frame, func() { fn(v) })
		return goja.Undefined()
	}))
}

// Pending reports whether it is not settled.
func (d *Deferred) Pending() bool { return d.State() == goja.PromiseStatePending }

// State is what has become of it.
func (d *Deferred) State() goja.PromiseState {
	if d.foreign {
		return d.promise.State()
	}
	return d.state
}

// Handled has a rejection concern nobody, and returns d.
func (d *Deferred) Handled() *Deferred {
	switch {
	case d.promise == nil:
		d.handled = true
	case d.Pending() && d.engine.Promises.direct():
		d.engine.Promises.ways.Handle(d.promise)
	default:
		d.Then(nil, nil)
	}
	return d
}

// Fulfil settles it with a value that is not looked into for a then(). A settled
// one stays as it is.
func (d *Deferred) Fulfil(v goja.Value) {
	if d.state != goja.PromiseStatePending {
		return
	}
	first, others := d.become(goja.PromiseStateFulfilled, v)
	if first.ok != nil {
		d.engine.Promises.queueJob(first.frame, first.ok, v)
	}
	for _, r := range others {
		d.engine.Promises.queueJob(r.frame, r.ok, v)
	}
	d.show()
}

// Reject settles it with a reason. A settled one stays as it is.
func (d *Deferred) Reject(reason goja.Value) {
	if d.state != goja.PromiseStatePending {
		return
	}
	first, others := d.become(goja.PromiseStateRejected, reason)
	if first.ok != nil {
		d.engine.Promises.queueJob(first.frame, first.fail, reason)
	}
	for _, r := range others {
		d.engine.Promises.queueJob(r.frame, r.fail, reason)
	}
	d.show()
}

// become settles it, and gives the reactions that are due.
func (d *Deferred) become(state goja.PromiseState, v goja.Value) (first deferredReaction, others []deferredReaction) {
	first, others = d.reaction, d.reactions
	d.state, d.value, d.reaction, d.reactions = state, v, deferredReaction{}, nil
	return first, others
}

// show settles the promise's object, if JavaScript has it.
func (d *Deferred) show() {
	if d.promise != nil {
		d.settle(d.promise)
	}
}

// settle tells the object of a promise what it has become.
func (d *Deferred) settle(p *goja.Promise) {
	fulfilled := d.state == goja.PromiseStateFulfilled
	switch {
	case d.resolve == nil && fulfilled:
		d.engine.Promises.ways.Fulfil(p, d.value)
	case d.resolve == nil:
		d.engine.Promises.ways.Reject(p, d.value)
	case fulfilled:
		d.resolve(d.value)
	default:
		d.reject(d.value)
	}
}

// Resolve is what a promise's resolve function does (ECMA-262, section
// 27.2.1.3.2): what has a then() is followed.
func (d *Deferred) Resolve(v goja.Value) {
	obj, ok := v.(*goja.Object)
	if !ok {
		d.Fulfil(v)
		return
	}
	e := d.engine
	var then goja.Value
	if ex := e.vm.Try(func() { then = obj.Get("then") }); ex != nil {
		d.Reject(ex.Value())
		return
	}
	call, ok := goja.AssertFunction(then)
	if !ok {
		d.Fulfil(v)
		return
	}
	e.Promises.queueJob(e.Turns.cur, func(goja.Value) {
		settled := false
		settler := func(settle func(goja.Value)) goja.Value {
			return e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
				if !settled {
					settled = true
					settle(c.Argument(0))
				}
				return goja.Undefined()
			})
		}
		if _, err := call(obj, settler(d.Resolve), settler(d.Reject)); err != nil {
			reason := Caught(err)
			if !settled {
				settled = true
				d.Reject(reason)
			}
		}
	}, nil)
}

// Follow is Resolve with a promise: d becomes what other becomes, two jobs after it.
func (d *Deferred) Follow(other *Deferred) {
	frame := d.engine.Turns.cur
	if !other.foreign && other.promise == nil && other.state != goja.PromiseStatePending {
		other.handled = true
		settle := d.Fulfil
		if other.state == goja.PromiseStateRejected {
			settle = d.Reject
		}
		d.engine.Promises.AfterIn(frame, 2, settle, other.value)
		return
	}
	d.engine.Promises.queueJob(frame, func(goja.Value) { other.Then(d.Fulfil, d.Reject) }, nil)
}

func noReaction(goja.Value) {}

// Then calls one of two functions in a job of its own once d is settled; nil does
// nothing. What they throw is reported as a rejection that nobody handles.
func (d *Deferred) Then(ok, fail func(goja.Value)) {
	if ok == nil {
		ok = noReaction
	}
	if fail == nil {
		fail = noReaction
	}
	e := d.engine
	switch {
	case d.foreign || d.promise != nil && d.state == goja.PromiseStatePending:
		e.Promises.react(d.promise, ok, fail)
	case d.state == goja.PromiseStatePending:
		d.handled = true
		r := deferredReaction{e.Turns.cur, ok, fail}
		if d.reaction.ok == nil {
			d.reaction = r
			return
		}
		d.reactions = append(d.reactions, r)
	case d.state == goja.PromiseStateFulfilled:
		e.Promises.queueJob(e.Turns.cur, ok, d.value)
	case d.promise != nil:
		e.Promises.react(d.promise, ok, fail) // it counts as handled from now on
	default:
		d.handled = true
		e.Promises.queueJob(e.Turns.cur, fail, d.value)
	}
}

// react is Then for an object.
func (s *Promises) react(p *goja.Promise, ok, fail func(goja.Value)) {
	e := s.engine
	if s.direct() {
		s.ways.React(p, ok, fail)
		return
	}
	frame := e.Frame()
	native := func(fn func(goja.Value)) goja.Value {
		return e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			v := c.Argument(0)
			e.In(frame, func() { fn(v) })
			return goja.Undefined()
		})
	}
	e.Call(e.Primordial("PromisePrototypeThen"), goja.Undefined(), e.vm.ToValue(p), native(ok), native(fail))
}

// Chain is then() as JavaScript has it: a promise for what one of two functions
// makes of d. Each gets the promise that it is to settle; nil passes on what d is.
func (d *Deferred) Chain(ok, fail func(v goja.Value, next *Deferred)) *Deferred {
	next := d.engine.Promises.New()
	through := func(fn func(goja.Value, *Deferred), pass func(goja.Value)) func(goja.Value) {
		if fn == nil {
			return pass
		}
		return func(v goja.Value) {
			if ex := d.engine.vm.Try(func() { fn(v, next) }); ex != nil {
				next.Reject(ex.Value())
			}
		}
	}
	d.Then(through(ok, next.Fulfil), through(fail, next.Reject))
	return next
}

// Object is the promise as JavaScript sees it, always the same.
func (d *Deferred) Object() *goja.Object {
	e := d.engine
	if d.promise == nil {
		d.promise = d.make()
	}
	return e.vm.ToValue(d.promise).(*goja.Object)
}

func (d *Deferred) make() *goja.Promise {
	e := d.engine
	if !e.Promises.direct() {
		p, resolve, reject := e.NewPromise()
		d.resolve, d.reject = resolve, reject
		if d.handled {
			e.Promises.react(p, noReaction, noReaction)
		}
		if d.state != goja.PromiseStatePending {
			d.settle(p)
		}
		return p
	}
	if e.Promises.proto == nil {
		e.Promises.proto = e.Promises.constructor().Get("prototype").(*goja.Object)
	}
	p := e.owners.own(e.Promises.ways.New(e.vm, e.Promises.proto))
	if d.handled {
		e.Promises.ways.Handle(p)
	}
	if d.state != goja.PromiseStatePending {
		d.settle(p)
	}
	return p
}

// Caught is the value that was thrown, of an error that a call of goja returned;
// an interrupt and what else cannot be caught go on.
func Caught(err error) goja.Value {
	if ex, ok := err.(*goja.Exception); ok {
		return ex.Value()
	}
	panic(err)
}
