package engine

import (
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
)

// Op is one asynchronous operation that JavaScript waits for: a fetch, a call,
// a read of a body. It is settled exactly once, from any goroutine; what
// settles it runs as a turn in the frame that started it. If the frame's
// context ends first, the operation is cancelled and nothing runs.
type Op struct {
	// Name says what is waited for, e.g. "fetch https://...", for people.
	Name string

	id         int64
	engine     *Engine
	frame      *Frame
	settled    atomic.Bool
	cancel     func(error) // loop-confined
	resolve    func(any) error
	reject     func(any) error
	promise    *goja.Object
	connection bool
	started    time.Time
}

// StartOp begins an operation on behalf of the current frame. It throws in the
// global scope.
func (e *Engine) StartOp(name string) *Op {
	c := e.IO(name)
	e.Timers.seq++
	op := &Op{Name: name, id: e.Timers.seq, engine: e, frame: e.Turns.cur, started: e.Clock().Now()}
	if c.ops == nil {
		c.ops = map[*Op]struct{}{}
	}
	c.ops[op] = struct{}{}
	e.Hangs.ops++
	return op
}

// Connection marks an operation that is an open connection: Context.Disconnect
// ends it.
func (op *Op) Connection() *Op { op.connection = true; return op }

// OnCancel sets what stops the operation when its context ends before it is
// settled. Loop-confined.
func (op *Op) OnCancel(fn func(reason error)) *Op {
	op.cancel = fn
	return op
}

// Promise is a promise that Resolve and Reject settle. Loop-confined.
func (op *Op) Promise() *goja.Object {
	if op.promise == nil {
		p, resolve, reject := op.engine.NewPromise()
		op.resolve, op.reject = resolve, reject
		op.promise = op.engine.vm.ToValue(p).(*goja.Object)
	}
	return op.promise
}

// Complete settles the operation by running fn as a turn of its frame, once:
// later calls do nothing. Safe for concurrent use.
func (op *Op) Complete(cause string, fn func()) {
	if !op.settled.CompareAndSwap(false, true) {
		return
	}
	op.engine.loop.Post(func() {
		op.engine.Turns.Enter(op.frame, cause, func() {
			op.forget()
			fn()
		})
	})
}

// Resolve settles the promise with the value that make returns; make runs on
// the loop, in the operation's frame, and what it throws rejects the promise.
// Safe for concurrent use.
func (op *Op) Resolve(cause string, make func() goja.Value) {
	op.Complete(cause, func() {
		var v goja.Value
		if ex := op.engine.vm.Try(func() { v = make() }); ex != nil {
			op.reject(ex.Value())
			return
		}
		if v == nil {
			v = goja.Undefined()
		}
		op.resolve(v)
	})
}

// Reject settles the promise with the error value that make returns, whose stack shows who
// waits for the promise. Safe for concurrent use.
func (op *Op) Reject(cause string, make func() goja.Value) {
	op.Complete(cause, func() { op.reject(op.engine.settlingFor(op.promise, make)) })
}

// Settling is the promise that the error is for that is being made, nil for none. Loop-confined.
func (e *Engine) Settling() *goja.Object { return e.settling }

// Apart runs make where nobody waits for what it makes. Loop-confined.
func (e *Engine) Apart(make func() goja.Value) goja.Value { return e.settlingFor(nil, make) }

func (e *Engine) settlingFor(promise *goja.Object, make func() goja.Value) goja.Value {
	before := e.settling
	e.settling = promise
	defer func() { e.settling = before }()
	return make()
}

// Fail rejects the promise with a Go error, as Engine.FromGo shows it.
func (op *Op) Fail(cause string, err error) {
	op.Reject(cause, func() goja.Value { return op.engine.Errors.FromGo(err) })
}

// Drop ends the operation without settling its promise. Loop-confined.
func (op *Op) Drop() {
	op.settled.Store(true)
	op.forget()
}

func (op *Op) forget() {
	if c := op.frame.Context; c != nil {
		c.forgetOp(op)
	}
	op.cancel = nil
}

// abandon is called when the context ends.
func (op *Op) abandon(reason error) {
	op.settled.Store(true)
	if cancel := op.cancel; cancel != nil {
		op.cancel = nil
		cancel(reason)
	}
}
