package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/event"
)

// Frame is where a piece of asynchronous work belongs: its context, the
// critical section it is part of, and the values of AsyncLocalStorage. Promise
// jobs, timers and operations remember the frame that started them and run in
// it. Frames are immutable.
type Frame struct {
	// Context is nil in the global scope.
	Context *Context
	// Critical identifies the innermost critical section (blockConcurrencyWhile)
	// that the work is part of; the context's Gate gives it meaning.
	Critical any
	// Cause, unless empty, is what the work counts as at effect points, whatever
	// event a turn of it began with.
	Cause string
	// Invocation is the event that the work is done for, where somebody wants to know
	// what its code says; nil elsewhere.
	Invocation Invocation
	locals     *local
}

// Invocation is told what the code of one event says: tail workers want to know.
// Loop-confined.
type Invocation interface {
	// Logged is told of the arguments of console.debug, error, info, log and warn.
	Logged(level Level, args []goja.Value)
	// Threw is told of exceptions that no code has caught.
	Threw(v goja.Value)
	// Published is told of a message of a channel of node:diagnostics_channel.
	Published(channel, message goja.Value)
	// Span is what the events that it calls are part of; nil where nobody wants to know.
	Span() *event.Span
	// Hold says that the event is not over before Release: others have a reference to
	// what it made.
	Hold()
	Release()
}

// WithInvocation is f for an event; f itself for nil.
func (f *Frame) WithInvocation(v Invocation) *Frame {
	if v == nil {
		return f
	}
	g := *f
	g.Invocation = v
	return &g
}

// local is a persistent association list: agents nest a handful of
// AsyncLocalStorages, for which a walk beats a map and sharing is free.
type local struct {
	key   any
	value goja.Value
	next  *local
}

// GlobalFrame is the frame of module code: no context, so that I/O is refused.
var GlobalFrame = &Frame{}

// WithCritical is f as part of the critical section s.
func (f *Frame) WithCritical(s any) *Frame {
	g := *f
	g.Critical = s
	return &g
}

// WithCause is f with another cause, or f itself if cause is empty.
func (f *Frame) WithCause(cause string) *Frame {
	if cause == "" {
		return f
	}
	g := *f
	g.Cause = cause
	return &g
}

// Local is the value of the AsyncLocalStorage key, nil if it has none.
func (f *Frame) Local(key any) goja.Value {
	for l := f.locals; l != nil; l = l.next {
		if l.key == key {
			return l.value
		}
	}
	return nil
}

// WithLocal is f with the AsyncLocalStorage key set to value; nil unsets it.
func (f *Frame) WithLocal(key any, value goja.Value) *Frame {
	g := *f
	g.locals = f.locals.without(key)
	if value != nil {
		g.locals = &local{key: key, value: value, next: g.locals}
	}
	return &g
}

// WithLocalsOf is f with the AsyncLocalStorage values of g: what a bound
// function or a snapshot brings along. Context and critical section stay f's.
func (f *Frame) WithLocalsOf(g *Frame) *Frame {
	if f.locals == g.locals {
		return f
	}
	h := *f
	h.locals = g.locals
	return &h
}

func (l *local) without(key any) *local {
	if l == nil {
		return nil
	}
	if l.key == key {
		return l.next
	}
	rest := l.next.without(key)
	if rest == l.next {
		return l
	}
	return &local{key: l.key, value: l.value, next: rest}
}

// Frame is the frame whose code runs now; outside any turn it is GlobalFrame.
func (e *Engine) Frame() *Frame {
	if e.Turns.cur == nil {
		return GlobalFrame
	}
	return e.Turns.cur
}

// setFrame changes the frame of the code that runs now.
func (e *Engine) setFrame(f *Frame) {
	e.thenables.next(f)
	e.Turns.cur = f
}

// In calls fn in frame f and restores the present frame, also when fn panics.
func (e *Engine) In(f *Frame, fn func()) {
	saved := e.Turns.cur
	e.setFrame(f)
	defer func() { e.setFrame(saved) }()
	fn()
}

// tracker carries frames through promise jobs.
type tracker struct{ e *Engine }

// Join implements insides.Joiner.
func (t tracker) Join(n int) { t.e.Memory.Allocate(int64(n), badStringLength) }

// Spread implements insides.Joiner.
func (t tracker) Spread(from goja.Value) {
	if check := t.e.Natives.Spread; check != nil {
		check(from)
	}
}

// Appends implements insides.Joiner.
func (t tracker) Appends() *insides.Appends { return &t.e.appends }

// Iterating implements insides.Joiner.
func (t tracker) Iterating() *insides.Iterating { return &t.e.iterating }

// Numbers implements insides.Joiner.
func (t tracker) Numbers() *insides.Numbers { return &t.e.numbers }

// TooBig implements insides.Joiner.
func (t tracker) TooBig() { t.e.Throw("RangeError", "Maximum BigInt size exceeded") }

// Tag implements insides.Joiner.
func (t tracker) Tag() uint32 { return t.e.owners.Tag() }

// Made implements insides.Joiner.
func (t tracker) Made(method int, fn *goja.Object) { t.e.Builtins.made(method, fn) }

// Follow implements insides.Joiner.
func (t tracker) Follow(p *goja.Promise, owner uint32) *goja.Promise {
	return t.e.owners.Follow(p, owner)
}

func (t tracker) Grab() any { return t.e.Turns.cur }

func (t tracker) Resumed(f any) {
	frame, _ := f.(*Frame)
	t.e.setFrame(t.e.owners.resumes(frame))
	t.e.overflow.stand()
}

// Exited ends a job but for what goja does with the value that its function returned:
// it may be a thenable, whose then() belongs to the frame of the job. So the frame
// stays as it is, unless it is of another context.
func (t tracker) Exited() {
	t.e.overflow.leave()
	t.e.thenables.claim()
	if e := t.e; e.Turns.cur == nil || e.Turns.root == nil || e.Turns.cur.Context != e.Turns.root.Context {
		e.Turns.cur = e.Turns.root
	}
}
