package world

import "iter"

// Routine is sequential code within a simulation: a client that asks, waits for
// the answer and asks again. It is a coroutine: it runs as steps, one from each
// wait to the next, and never beside anything else.
type Routine struct {
	name    string
	sim     *Sim
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	ready   func() bool // while it waits
	stopped bool
}

// Spawn starts fn as a routine, in a step of its own.
func (s *Sim) Spawn(name string, fn func(*Routine)) {
	r := &Routine{name: name, sim: s}
	r.next, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
		fn(r)
	})
	s.routines = append(s.routines, r)
	s.sched.Go(name, func() { s.resume(r) })
}

// resume runs r up to its next wait.
func (s *Sim) resume(r *Routine) {
	if r.stopped {
		return
	}
	more := false
	s.enter(r, func() { _, more = r.next() })
	if !more {
		s.ended(r)
	}
}

// enter notes that r runs while fn does.
func (s *Sim) enter(r *Routine, fn func()) {
	outer := s.current
	s.current = r
	defer func() { s.current = outer }()
	fn()
}

func (s *Sim) ended(r *Routine) {
	r.stopped = true
	for i, x := range s.routines {
		if x == r {
			s.routines = append(s.routines[:i], s.routines[i+1:]...)
			return
		}
	}
}

// Await lets the simulation go on until ready reports true. It reports false
// when the simulation has ended before; the routine should return then.
func (r *Routine) Await(ready func() bool) bool {
	if r.stopped || ready() {
		return !r.stopped
	}
	r.ready = ready
	r.sim.waiting = append(r.sim.waiting, r)
	if !r.yield(struct{}{}) {
		r.stopped = true
	}
	return !r.stopped
}

// poll makes a step of each routine that need not wait any longer.
func (s *Sim) poll() {
	kept := s.waiting[:0]
	for _, r := range s.waiting {
		switch {
		case r.stopped:
		case !r.ready():
			kept = append(kept, r)
		default:
			r.ready = nil
			s.sched.Go(r.name, func() { s.resume(r) })
		}
	}
	clear(s.waiting[len(kept):])
	s.waiting = kept
}
