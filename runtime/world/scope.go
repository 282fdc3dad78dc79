package world

import (
	"context"
	"strings"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// scope is the scheduler of one life: what runs in it ends with it. It belongs
// to the simulation's goroutine.
type scope struct {
	sim     *Sim
	over    bool
	count   int
	timers  map[int]*scopedTimer
	machine *clock.Shifted // what the server lives by
	loops   []sched.Loop
	posts   int // to loops
	// syncTakes delays the functions that sync what an object has committed.
	syncTakes time.Duration
}

func newScope(sim *Sim) *scope {
	s := &scope{sim: sim, timers: map[int]*scopedTimer{}}
	s.machine = &clock.Shifted{Clock: scopedClock{s}}
	s.machine.Jump(sim.ahead)
	sim.machine = s.machine
	return s
}

// end drops everything that has not run.
func (s *scope) end() {
	s.over = true
	for n := range s.count {
		if t := s.timers[n]; t != nil {
			t.Stop()
		}
	}
	for _, l := range s.loops {
		l.Close()
	}
	s.loops = nil
}

// Clock implements sched.Scheduler.
func (s *scope) Clock() clock.Clock { return s.machine }

// NewLoop implements sched.Scheduler.
func (s *scope) NewLoop(name string) sched.Loop {
	l := &scopedLoop{s.sim.sched.NewLoop(name), s}
	s.loops = append(s.loops, l)
	return l
}

// scopedLoop counts what is posted: it goes with the life.
type scopedLoop struct {
	sched.Loop
	scope *scope
}

// Post implements sched.Loop.
func (l *scopedLoop) Post(fn func()) error {
	err := l.Loop.Post(fn)
	if err == nil {
		l.scope.posts++
	}
	return err
}

// Go implements sched.Scheduler.
func (s *scope) Go(name string, fn func()) {
	if s.over {
		return
	}
	run := func() {
		s.sim.sched.Go(name, func() {
			if !s.over {
				fn()
			}
		})
	}
	if s.syncTakes > 0 && strings.HasPrefix(name, "sync ") {
		s.Clock().AfterFunc(s.syncTakes, run)
		return
	}
	run()
}

// Close implements sched.Scheduler.
func (s *scope) Close(context.Context) error {
	s.end()
	return nil
}

type scopedClock struct{ s *scope }

// Now implements clock.Clock.
func (c scopedClock) Now() time.Time { return c.s.sim.clock.Now() }

// IsVirtual is what clock.IsVirtual asks.
func (c scopedClock) IsVirtual() bool { return true }

// AfterFunc implements clock.Clock.
func (c scopedClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	s := c.s
	t := &scopedTimer{s: s, n: s.count}
	s.count++
	if s.over {
		return t
	}
	s.timers[t.n] = t
	t.timer = s.sim.clock.AfterFunc(d, func() {
		delete(s.timers, t.n)
		f()
	})
	return t
}

type scopedTimer struct {
	s     *scope
	n     int
	timer clock.Timer
}

// Stop implements clock.Timer.
func (t *scopedTimer) Stop() bool {
	delete(t.s.timers, t.n)
	return t.timer != nil && t.timer.Stop()
}
