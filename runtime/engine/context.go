package engine

import (
	"fmt"
	"sort"
	"time"
)

// Kind tells the contexts of an isolate apart.
type Kind int

const (
	// RequestContext is one event of the stateless worker.
	RequestContext Kind = iota
	// ObjectContext is one incarnation of a durable object.
	ObjectContext
)

// Context is one request of the stateless worker, or one incarnation of an
// object: the owner of timers, operations and outputs. Loop-confined.
type Context struct {
	Kind  Kind
	Label string // "Class/name" of an object, "" of the stateless worker
	// Gate decides about an object's events and commits; nil for contexts that
	// have neither a critical section nor storage.
	Gate Gate
	// Host is what the context is to the packages above the engine.
	Host any
	// Ahead is how far the clock of the machine that the context runs on is ahead of the
	// isolate's, behind it if negative: what its code sees of the time. Timers run by
	// neither.
	Ahead time.Duration

	engine      *Engine
	dead        error
	owner       uint32 // its number among those that own promises; 0 until it makes one
	keepOutputs bool
	isDirty     bool     // asks for a commit at the end of the turn
	holds       bool     // its outputs wait for that commit
	holding     int      // outputs in engine.held
	heldBack    int64    // the last mark of HoldBack
	letGo       int64    // the last mark of LetGo
	behind      []behind // outputs that wait for a LetGo, in order; empty if letGo == heldBack
	debts       debts
	timers      map[int64]*timer
	ops         map[*Op]struct{}
	atDeath     map[int64]func(error)
	waitUntil   int
	bodies      int       // those of waitUntil that HoldBody counted
	promised    int       // those of waitUntil that HoldFor counted
	promisedAt  time.Time // of the last WaitUntil
	idle        func()
	quiet       []func()
	subrequests int // since the last NewEvent
}

// Gate is what an object brings to its context. Loop-confined.
type Gate interface {
	// Admit reports whether an event of frame f may run now. If not, the gate
	// keeps resume and calls it, through Turns.After, when it may.
	Admit(f *Frame, resume func()) bool
	// Commit makes the turn's writes durable and reports true. If it cannot, it
	// kills the context, so that the turn's outputs are dropped. It reports false
	// while a transaction goes on in later turns: outputs stay held and Commit
	// is asked again after the next turn.
	Commit(cause string) bool
}

// NewContext makes a context of this isolate.
func (e *Engine) NewContext(kind Kind, label string) *Context {
	c := &Context{Kind: kind, Label: label, engine: e}
	if e.skew != nil {
		c.Ahead = e.skew(label)
	}
	return c
}

// Current is the context whose code runs now, nil in the global scope.
func (e *Engine) Current() *Context {
	if e.Turns.cur == nil {
		return nil
	}
	return e.Turns.cur.Context
}

// Frame is a fresh frame of the context, for an event that enters it.
func (c *Context) Frame() *Frame { return &Frame{Context: c} }

// Dead is why the context has ended, nil while it lives.
func (c *Context) Dead() error { return c.dead }

// MarkDirty asks for a commit at the end of the turn. Until then the context's
// outputs are held.
func (c *Context) MarkDirty() {
	if c.Gate != nil {
		c.holds = true
		c.MarkUnconfirmed()
	}
}

// MarkUnconfirmed asks for a commit at the end of the turn that outputs need not
// wait for.
func (c *Context) MarkUnconfirmed() {
	c.engine.Sites.wrote(c)
	if !c.isDirty && c.Gate != nil {
		c.isDirty = true
		c.engine.Turns.dirty = append(c.engine.Turns.dirty, c)
	}
}

// Holds reports whether outputs wait for the commit that comes: something was
// written by MarkDirty.
func (c *Context) Holds() bool { return c.holds }

// ClearDirty takes MarkDirty back: a commit happened within the turn.
func (c *Context) ClearDirty() {
	if !c.isDirty {
		return
	}
	c.isDirty, c.holds = false, false
	dirty := c.engine.Turns.dirty
	for i, d := range dirty {
		if d == c {
			c.engine.Turns.dirty = append(dirty[:i], dirty[i+1:]...)
			return
		}
	}
}

// Emit releases an output: at once if nothing it could depend on is
// uncommitted, else after the commit at the end of the turn. If the commit
// fails or the context dies first, the output is dropped. release runs on the
// loop, must not block and must not run JavaScript.
func (c *Context) Emit(release func()) { c.emit(output{context: c, release: release}) }

func (c *Context) emit(o output) {
	if c.dead != nil {
		return
	}
	if o.release != nil {
		o.release = c.engine.Sites.emits(o.release)
	}
	if !c.holds && c.holding == 0 {
		o.leave()
		return
	}
	c.holding++
	c.engine.Turns.held = append(c.engine.Turns.held, o)
}

// behind is an output that leaves once LetGo was called with its mark.
type behind struct {
	mark    int64
	release func()
}

// HoldBack makes the outputs that this turn still holds, and those of later
// turns, wait for LetGo with the mark that it returns or a later one: what they
// may depend on is committed, and not yet safe. Those from before are not touched.
func (c *Context) HoldBack() (mark int64) {
	c.heldBack++
	return c.heldBack
}

// LetGo releases, in their order, the outputs that wait for mark. Call it on
// the loop, outside any turn.
func (c *Context) LetGo(mark int64) {
	c.letGo = max(c.letGo, mark)
	for len(c.behind) > 0 && c.behind[0].mark <= c.letGo {
		release := c.behind[0].release
		c.behind[0].release = nil
		c.behind = c.behind[1:]
		release() // may end the context, and drop the rest
	}
	if len(c.behind) == 0 {
		c.behind = nil
	}
	c.checkQuiet()
}

// HeldBack reports whether outputs would wait for LetGo now.
func (c *Context) HeldBack() bool { return c.letGo < c.heldBack }

// release lets an output out of the turn that held it.
func (c *Context) release(fn func()) {
	if c.HeldBack() {
		c.behind = append(c.behind, behind{c.heldBack, fn})
		return
	}
	fn()
}

// Kill ends the context: its timers and operations are cancelled, its held
// outputs dropped, and whatever JavaScript of it still runs can call no native
// that does I/O. It may be called within the context's own turn. Only the
// first reason counts.
func (c *Context) Kill(reason error) { c.end(reason, false) }

// Finish ends a context that has done its work: held outputs still go out.
func (c *Context) Finish(reason error) { c.end(reason, true) }

func (c *Context) end(reason error, keepOutputs bool) {
	if c.dead != nil {
		return
	}
	c.dead, c.keepOutputs, c.behind = reason, keepOutputs, nil
	for _, t := range c.sortedTimers() {
		t.cancel()
	}
	ops := c.Ops()
	c.ops = nil
	c.engine.Hangs.ops -= len(ops)
	c.engine.Hangs.holds -= c.waitUntil - c.promised
	c.engine.Hangs.promised -= c.promised
	for _, op := range ops {
		op.abandon(reason)
	}
	c.engine.owners.ended(c)
	hooks := c.atDeath
	c.atDeath = nil
	ids := make([]int64, 0, len(hooks))
	for id := range hooks {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for _, id := range ids {
		hooks[id](reason)
	}
}

// Crash ends the object that the context belongs to as the death of its process
// does. A stateless context goes on: it has nothing that could be lost.
func (c *Context) Crash() {
	if host, ok := c.Host.(interface{ Crash() }); ok {
		host.Crash()
	}
}

// Disconnect ends the operations that are open connections, while the context
// lives on.
func (c *Context) Disconnect(reason error) {
	for _, op := range c.Ops() {
		if op.connection {
			c.forgetOp(op)
			op.abandon(reason)
		}
	}
}

// AtDeath calls fn when the context ends; at once if it has. The returned
// function takes it back.
func (c *Context) AtDeath(fn func(reason error)) (remove func()) {
	if c.dead != nil {
		fn(c.dead)
		return func() {}
	}
	if c.atDeath == nil {
		c.atDeath = map[int64]func(error){}
	}
	c.engine.Timers.seq++
	id := c.engine.Timers.seq
	c.atDeath[id] = fn
	return func() { delete(c.atDeath, id) }
}

func (c *Context) sortedTimers() []*timer {
	all := make([]*timer, 0, len(c.timers))
	for _, t := range c.timers {
		all = append(all, t)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].id < all[j].id })
	return all
}

// Timers is the number of pending timers: an object that has any does not
// hibernate.
func (c *Context) Timers() int { return len(c.timers) }

// Pending is when the latest began of what the context waits for: operations,
// timers and promises, not open connections. It is zero if it waits for none.
func (c *Context) Pending() (latest time.Time) {
	began := func(at time.Time) {
		if at.After(latest) {
			latest = at
		}
	}
	for op := range c.ops { // order-independent: a maximum
		if !op.connection {
			began(op.started)
		}
	}
	for _, t := range c.timers { // order-independent: a maximum
		began(t.set)
	}
	if c.promised > 0 { // of several promises the last one counts
		began(c.promisedAt)
	}
	return latest
}

// Ops are the operations in progress, oldest first.
func (c *Context) Ops() []*Op {
	all := make([]*Op, 0, len(c.ops))
	for op := range c.ops {
		all = append(all, op)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].id < all[j].id })
	return all
}

// Hold counts what keeps the context alive and may give it something to do, as
// an open connection or a reference that others have; Release takes it back.
// When nothing is held, the function given to WhenIdle is called.
func (c *Context) Hold() {
	c.waitUntil++
	if c.dead == nil {
		c.engine.Hangs.holds++
	}
}

// Release ends a Hold.
func (c *Context) Release() {
	c.waitUntil--
	if c.dead == nil {
		c.engine.Hangs.holds--
	}
	c.checkIdle()
}

// HoldFor is Hold for a promise that the context waits for (waitUntil, a handler
// that has not returned): it gives nobody anything to do. ReleaseFor ends it.
func (c *Context) HoldFor() {
	c.waitUntil++
	c.promised++
	if c.dead == nil {
		c.engine.Hangs.promised++
	}
}

// WaitUntil is HoldFor for a promise given to waitUntil(): see Pending.
func (c *Context) WaitUntil() {
	c.HoldFor()
	c.promisedAt = c.engine.Clock().Now()
}

// ReleaseFor ends a HoldFor or a WaitUntil.
func (c *Context) ReleaseFor() {
	c.waitUntil--
	c.promised--
	if c.dead == nil {
		c.engine.Hangs.promised--
	}
	c.checkIdle()
}

// HoldBody is Hold for a body of JavaScript's that is streamed to who asked; the
// event that it answers is in progress until ReleaseBody.
func (c *Context) HoldBody() {
	c.bodies++
	c.Hold()
}

// ReleaseBody ends a HoldBody.
func (c *Context) ReleaseBody() {
	c.bodies--
	c.Release()
}

// Bodies is the number of unreleased HoldBodies.
func (c *Context) Bodies() int { return c.bodies }

// Held is the number of unreleased Holds, those of HoldFor among them.
func (c *Context) Held() int { return c.waitUntil }

// WhenIdle sets the function to call once no Hold is left. It is called at
// once if there is none now.
func (c *Context) WhenIdle(fn func()) {
	c.idle = fn
	c.checkIdle()
}

// WhenQuiet calls fn once the context waits for nothing: see Pending. That is looked at
// when a turn has ended. A context that ends before does not call it.
func (c *Context) WhenQuiet(fn func()) {
	c.quiet = append(c.quiet, fn)
	if c.engine.Turns.cur == nil {
		c.checkQuiet()
	}
}

func (c *Context) checkQuiet() {
	if len(c.quiet) == 0 || c.dead != nil || !c.Pending().IsZero() {
		return
	}
	quiet := c.quiet
	c.quiet = nil
	for _, fn := range quiet {
		fn()
	}
}

func (c *Context) checkIdle() {
	if c.waitUntil == 0 && c.idle != nil && c.dead == nil {
		fn := c.idle
		c.idle = nil
		fn()
	}
}

// IO is the context on whose behalf a native does I/O now. In the global scope
// and for a context that has ended it throws, with workerd's text (global-scope.c++).
func (e *Engine) IO(what string) *Context {
	c := e.Current()
	if c == nil {
		panic(e.Errors.New("Error", globalScopeText))
	}
	if c.dead != nil {
		panic(e.Errors.New("Error", fmt.Sprintf("%s: the context has ended: %v", what, c.dead)))
	}
	return c
}

const globalScopeText = "Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and generating random values are not allowed within global scope. To fix this error, perform this operation within a handler. https://developers.cloudflare.com/workers/runtime-apis/handlers/"

// Check throws unless the code that runs now belongs to c: a platform object
// of c was used from elsewhere (workerd: io-context.c++).
func (c *Context) Check() { c.CheckOf("") }

// CheckOf is Check for an object whose type workerd names in its text.
func (c *Context) CheckOf(ioType string) {
	cur := c.engine.Current()
	if cur == c && c.dead == nil {
		return
	}
	if cur == c {
		panic(c.engine.Errors.New("Error", fmt.Sprintf("the object's instance has ended: %v", c.dead)))
	}
	text := "Cannot perform I/O on behalf of a different request. I/O objects (such as streams, request/response bodies, and others) created in the context of one request handler cannot be accessed from a different request's handler. This is a limitation of Cloudflare Workers which allows us to improve overall performance."
	if cur != nil && cur.Kind == ObjectContext {
		text = "Cannot perform I/O on behalf of a different Durable Object. I/O objects (such as streams, request/response bodies, and others) created in the context of one Durable Object cannot be accessed from a different Durable Object in the same isolate. This is a limitation of Cloudflare Workers which allows us to improve overall performance."
	}
	if ioType != "" {
		text += fmt.Sprintf(" (I/O type: %s)", ioType)
	}
	panic(c.engine.Errors.New("Error", text))
}
