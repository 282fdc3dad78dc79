package engine

import (
	"fmt"

	"github.com/dop251/goja"
)

// Hooks let the web platform turn the engine's reports into events. Each
// reports whether it dealt with the matter (an event listener called
// preventDefault); if not, the engine logs it.
type Hooks struct {
	UnhandledRejection func(promise *goja.Object, reason goja.Value) bool
	RejectionHandled   func(promise *goja.Object, reason goja.Value)
	UncaughtError      func(v goja.Value) bool
}

// rejections are promises that were rejected without a handler. They are
// judged at the end of the turn, so that a handler added later in the same
// turn counts. Loop-confined.
type rejections struct {
	hooks    Hooks
	fresh    []*goja.Promise
	frames   map[*goja.Promise]*Frame
	reported map[*goja.Promise]struct{} // bounded by maxReported
}

// maxReported bounds the memory for promises that may yet be handled late.
const maxReported = 1000

// SetHooks replaces the hooks.
func (e *Engine) SetHooks(h Hooks) { e.rejected.hooks = h }

func (e *Engine) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	r := &e.rejected
	if r.frames == nil {
		r.frames, r.reported = map[*goja.Promise]*Frame{}, map[*goja.Promise]struct{}{}
	}
	if op == goja.PromiseRejectionReject {
		r.fresh = append(r.fresh, p)
		r.frames[p] = e.Frame()
		return
	}
	delete(r.frames, p)
	if _, late := r.reported[p]; late {
		delete(r.reported, p)
		if r.hooks.RejectionHandled != nil {
			r.hooks.RejectionHandled(e.vm.ToValue(p).(*goja.Object), p.Result())
		}
	}
}

func (r *rejections) pending() bool { return len(r.fresh) > 0 }

// reportRejections runs as JavaScript at the end of a turn.
func (e *Engine) reportRejections() {
	r := &e.rejected
	fresh := r.fresh
	r.fresh = nil
	for _, p := range fresh {
		frame, still := r.frames[p]
		if !still {
			continue
		}
		delete(r.frames, p)
		if frame.Context != nil && frame.Context.dead != nil {
			continue // what an ended context leaves behind concerns nobody
		}
		if len(r.reported) < maxReported {
			r.reported[p] = struct{}{}
		}
		e.In(frame, func() {
			obj := e.vm.ToValue(p).(*goja.Object)
			if r.hooks.UnhandledRejection == nil || !r.hooks.UnhandledRejection(obj, p.Result()) {
				e.Log(Error, fmt.Sprintf("Uncaught (in promise) %s", e.Stack(p.Result())))
			}
		})
	}
}

// ReportUncaught reports an exception that reached the top of a callback.
func (e *Engine) ReportUncaught(v goja.Value) {
	if h := e.rejected.hooks.UncaughtError; h != nil && h(v) {
		return
	}
	e.Log(Error, "Uncaught "+e.Stack(v))
}
