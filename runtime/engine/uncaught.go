package engine

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// Hooks let the web platform turn the engine's reports into events. Each
// reports whether it dealt with the matter (an event listener called
// preventDefault); if not, the engine logs it.
type Hooks struct {
	UnhandledRejection func(promise *goja.Object, reason goja.Value) bool
	RejectionHandled   func(promise *goja.Object, reason goja.Value)
	UncaughtError      func(v goja.Value) bool
	// Promptly has rejections judged by the next promise job, as workerd does before
	// unhandled_rejection_after_microtask_checkpoint.
	Promptly bool
}

// Uncaught is what no code has caught: exceptions, and promises that were rejected
// without a handler. These are judged at the end of the turn, so that a handler
// added later in the same turn counts. Loop-confined.
type Uncaught struct {
	engine   *Engine
	hooks    Hooks
	fresh    []*rejection // in the order of workerd's hash table, which fills a gap with the last
	queued   bool         // a promise job will judge them
	index    map[*goja.Promise]*rejection
	reported map[*goja.Promise]struct{} // bounded by maxReported
	untold   []*rejection               // judged, and to be logged unless they are handled in this turn
}

// rejection is one that is yet to be judged.
type rejection struct {
	promise *goja.Promise
	frame   *Frame
	at      int // its place among the fresh
}

// maxReported bounds the memory for promises that may yet be handled late.
const maxReported = 1000

// SetHooks replaces the hooks.
func (u *Uncaught) SetHooks(h Hooks) { u.hooks = h }

func (u *Uncaught) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if u.index == nil {
		u.index, u.reported = map[*goja.Promise]*rejection{}, map[*goja.Promise]struct{}{}
	}
	if op == goja.PromiseRejectionReject {
		r := &rejection{p, u.engine.Frame(), len(u.fresh)}
		u.fresh, u.index[p] = append(u.fresh, r), r
		if u.hooks.Promptly && !u.queued {
			u.queued = true
			u.engine.Promises.Microtask(u.judge)
		}
		return
	}
	if r, fresh := u.index[p]; fresh {
		u.forget(r)
	}
	u.untold = slices.DeleteFunc(u.untold, func(r *rejection) bool { return r.promise == p })
	if _, late := u.reported[p]; late {
		delete(u.reported, p)
		if u.hooks.RejectionHandled != nil {
			u.hooks.RejectionHandled(u.engine.vm.ToValue(p).(*goja.Object), p.Result())
		}
	}
}

// forget takes one of the fresh out.
func (u *Uncaught) forget(r *rejection) {
	delete(u.index, r.promise)
	last := len(u.fresh) - 1
	moved := u.fresh[last]
	u.fresh[r.at], moved.at = moved, r.at
	u.fresh[last] = nil
	u.fresh = u.fresh[:last]
}

func (u *Uncaught) pending() bool { return len(u.fresh) > 0 }

// judge runs as JavaScript: at the end of a turn, or in a promise job.
func (u *Uncaught) judge() {
	u.queued = false
	for len(u.fresh) > 0 {
		r := u.fresh[0]
		p, frame := r.promise, r.frame
		u.forget(r)
		if frame.Context != nil && frame.Context.dead != nil {
			continue // what an ended context leaves behind concerns nobody
		}
		if len(u.reported) < maxReported {
			u.reported[p] = struct{}{}
		}
		u.engine.In(frame, func() {
			obj := u.engine.vm.ToValue(p).(*goja.Object)
			if u.hooks.UnhandledRejection == nil || !u.hooks.UnhandledRejection(obj, p.Result()) {
				u.untold = append(u.untold, r)
			}
		})
	}
}

// told logs, at the end of a turn, what was judged and is not handled yet. Before
// unhandled_rejection_after_microtask_checkpoint a rejection is judged so early that
// code which handles it a few promise jobs later is common.
func (u *Uncaught) told() {
	for len(u.untold) > 0 {
		r := u.untold[0]
		u.untold = u.untold[1:]
		u.engine.In(r.frame, func() {
			u.engine.Log(Error, fmt.Sprintf("Uncaught (in promise) %s", u.engine.Errors.Logged(r.promise.Result())))
		})
	}
	u.untold = nil
}

// Report reports an exception as reportError() does: the hook may take it.
func (u *Uncaught) Report(v goja.Value) {
	if h := u.hooks.UncaughtError; h == nil || !h(v) {
		u.Reached(v)
	}
}

// Announce is Report for what code reports itself or throws as a microtask: tail workers
// do not hear of it, as in workerd.
func (u *Uncaught) Announce(v goja.Value) {
	if h := u.hooks.UncaughtError; h == nil || !h(v) {
		u.Tell(v)
	}
}

// Reached tells of an exception that reached the top of a callback: a timer's, or a
// listener's of an event that the platform dispatched. As in workerd it makes no
// "error" event.
func (u *Uncaught) Reached(v goja.Value) {
	if inv := u.engine.Frame().Invocation; inv != nil {
		inv.Threw(v)
	}
	u.Tell(v)
}

// Tell logs what a handler or a method threw. Its caller gets it, too; listeners of
// the global scope do not hear of it.
func (u *Uncaught) Tell(v goja.Value) {
	u.engine.Log(Error, "Uncaught "+u.engine.Errors.Logged(v))
}
