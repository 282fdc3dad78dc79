package world

import (
	"iter"
)

// Routine is sequential code within a world: a client that asks, waits for the
// answer and asks again. It is a coroutine: it runs as steps of the world, one
// from each wait to the next, and never beside anything else.
type Routine struct {
	name  string
	world *World
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	ready func() bool // while it waits
	over  bool
}

// Spawn starts fn as a routine, in a step of its own.
func (w *World) Spawn(name string, fn func(*Routine)) {
	r := &Routine{name: name, world: w}
	r.next, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		fn(r)
		r.over = true
	})
	w.sched.Go(name, func() { r.next() })
}

// Await lets the world go on until ready reports true. It reports false when
// the world has ended before; the routine should return then.
func (r *Routine) Await(ready func() bool) bool {
	if ready() {
		return true
	}
	r.ready = ready
	r.world.waiting = append(r.world.waiting, r)
	if !r.yield(struct{}{}) {
		return false
	}
	return true
}

// poll makes a step of each routine that need not wait any longer.
func (w *World) poll() {
	if len(w.waiting) == 0 {
		return
	}
	kept := w.waiting[:0]
	for _, r := range w.waiting {
		if !r.ready() {
			kept = append(kept, r)
			continue
		}
		r.ready = nil
		w.sched.Go(r.name, func() { r.next() })
	}
	clear(w.waiting[len(kept):])
	w.waiting = kept
}

// stopRoutines ends the routines that wait: their Await reports false.
func (w *World) stopRoutines() {
	for len(w.waiting) > 0 {
		all := w.waiting
		w.waiting = nil
		for _, r := range all {
			r.stop()
		}
	}
}
