package engine

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// Turns are what an engine does: one event after another, each until its
// microtasks are drained, its commits made and its outputs released.
// Loop-confined.
type Turns struct {
	engine *Engine
	enter  goja.Callable // calls body from JavaScript

	cur   *Frame // the frame whose code runs; nil between turns
	root  *Frame // the frame that the turn started with
	cause string // what started the turn
	now   time.Time
	body  func() // what enter runs
	// abrupt is what ended the jobs that a settled promise ran.
	abrupt error

	dirty []*Context
	held  []output
	after []func() // run between this turn and the next event
	atEnd []func() // run once at the end of the turn, before commits

	watched bool       // somebody is told of the present turn
	report  TurnReport // of it
}

// Enter is Post for code that is on the loop already, outside any turn.
func (t *Turns) Enter(f *Frame, cause string, fn func()) {
	t.admit(f, cause, fn)
	t.runAfter()
	t.engine.Hangs.look()
}

// After runs fn on the loop after the present turn (or loop function) is
// complete and before the next event: how gates let in what they kept waiting
// without letting later events overtake it.
func (t *Turns) After(fn func()) { t.after = append(t.after, fn) }

// AtEnd runs fn once when the microtasks of the present turn are drained,
// before commits and outputs; at once outside any turn. fn must not run JavaScript.
func (t *Turns) AtEnd(fn func()) {
	if t.cur == nil {
		fn()
		return
	}
	t.atEnd = append(t.atEnd, fn)
}

func (t *Turns) admit(f *Frame, cause string, fn func()) {
	if t.engine.Health.reason != nil {
		return
	}
	if c := f.Context; c != nil {
		if c.dead != nil {
			return
		}
		if c.Gate != nil && !c.Gate.Admit(f, func() { t.admit(f, cause, fn) }) {
			return
		}
	}
	t.take(f, cause, fn)
}

// take is the one place where JavaScript starts to run.
func (t *Turns) take(f *Frame, cause string, fn func()) {
	e := t.engine
	e.Hangs.turns++
	t.now = e.clock.Now()
	if c := f.Context; c != nil {
		t.now = t.now.Add(c.Ahead)
	}
	f = f.WithCause(killpoint.Inherited(cause))
	t.cur, t.root, t.cause = f, f, cmp.Or(f.Cause, cause)
	e.thenables.start(f)
	watched, began := t.watch()
	t.run(fn)
	for e.Health.reason == nil && e.Uncaught.pending() {
		t.run(e.Uncaught.judge)
	}
	if len(e.Uncaught.untold) > 0 {
		t.run(e.Uncaught.told)
	}
	computed, held := time.Time{}, 0
	if watched {
		computed, held = e.Watchdog.clock.Now(), len(t.held)
	}
	t.finish()
	if watched {
		t.told(f, cause, held, began, computed)
	}
	if f.Context != nil {
		f.Context.checkQuiet()
	}
	t.cur, t.root = nil, nil
	e.thenables.start(nil)
}

// run calls fn from an outermost JavaScript call, so that goja drains the
// microtasks when it returns.
func (t *Turns) run(fn func()) {
	e := t.engine
	t.body = fn
	e.Watchdog.begin()
	defer func() {
		e.overflow.leave()
		e.Watchdog.end()
		t.body = nil
		if x := recover(); x != nil {
			if death, ok := x.(killpoint.Death); ok {
				panic(death)
			}
			e.Health.Condemn(fmt.Errorf("internal error: %v\n%s", x, debug.Stack()))
		}
	}()
	_, err := t.enter(goja.Undefined())
	if err == nil {
		err, t.abrupt = t.abrupt, nil
	}
	if err == nil {
		return
	}
	if stopped := e.Health.Stopped(err); stopped != nil {
		e.vm.ClearInterrupt()
		e.Health.Condemn(stopped)
		return
	}
	e.Uncaught.Reached(e.Errors.FromGo(err))
}

// finish ends a turn: commits, then outputs.
func (t *Turns) finish() {
	for len(t.atEnd) > 0 {
		fns := t.atEnd
		t.atEnd = nil
		for _, fn := range fns {
			fn()
		}
	}
	if t.engine.Health.reason != nil {
		t.dirty, t.held = nil, nil
		return
	}
	t.commit()
	for len(t.held) > 0 {
		held := t.held
		t.held = nil
		var waiting []output
		for _, o := range held {
			if o.context.holds && o.context.dead == nil {
				waiting = append(waiting, o) // its transaction goes on in a later turn
				continue
			}
			o.context.holding--
			if o.context.dead == nil || o.context.keepOutputs {
				o.leave()
			}
		}
		if len(waiting) > 0 {
			t.held = append(waiting, t.held...)
			if len(waiting) == len(t.held) {
				return
			}
		}
	}
}

// commit asks the gates of the contexts that wrote. One whose transaction spans
// turns stays dirty.
func (t *Turns) commit() {
	dirty := t.dirty
	t.dirty = nil
	for _, c := range dirty {
		c.isDirty = false
		if c.dead != nil || c.Gate.Commit(t.cause) || c.dead != nil {
			c.holds = false
			continue
		}
		c.isDirty = true
		t.dirty = append(t.dirty, c)
	}
	if t.dirty == nil {
		t.dirty = dirty[:0]
	}
}

func (t *Turns) runAfter() {
	for len(t.after) > 0 {
		next := t.after[0]
		t.after[0] = nil
		t.after = t.after[1:]
		next()
	}
	t.after = nil
}

// output waits for the commit at the end of a turn.
type output struct {
	context *Context
	release func()
	early   func(*event.Safe) // of EmitEarly, instead of release
}

// leave lets the output out of the turn that held it.
func (o output) leave() {
	if o.early != nil {
		o.context.releaseEarly(o.early)
	} else {
		o.context.release(o.release)
	}
}

// context is whose turn it is, nil between turns and in the global scope.
func (t *Turns) context() *Context {
	if t.root == nil {
		return nil
	}
	return t.root.Context
}
