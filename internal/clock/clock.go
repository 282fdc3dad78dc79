// Package clock is injected time. Everything that reads the time or waits for it takes
// a Clock through its constructor, so that a test or a simulation can decide what time
// it is. This is the only package that may call time.Now, time.AfterFunc and their
// relatives; a lint test enforces it.
package clock

import (
	"sync"
	"time"

	"minido.dev/minido/internal/heap"
)

// Clock tells the time and wakes callers up. Implementations are safe for
// concurrent use.
type Clock interface {
	// Now is the wall-clock time, with a monotonic reading where the clock is real.
	Now() time.Time
	// AfterFunc calls f once, d from now, on a goroutine of the clock's
	// choosing. f must not block: it posts to a loop and returns. d <= 0 means
	// as soon as possible, never synchronously.
	AfterFunc(d time.Duration, f func()) Timer
}

// IsVirtual reports whether c is a Virtual, or says that it stands for one: then
// nothing that the machine decides may be observable.
func IsVirtual(c Clock) bool {
	v, ok := c.(interface{ IsVirtual() bool })
	return ok && v.IsVirtual()
}

// Timer is a pending AfterFunc.
type Timer interface {
	// Stop prevents the call if it has not begun; it reports whether it did so.
	Stop() bool
}

// Real is the machine's clock.
type Real struct{}

// Now implements Clock.
func (Real) Now() time.Time { return time.Now() }

// AfterFunc implements Clock; f runs on a goroutine of its own.
func (Real) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Virtual is a clock that moves only when told to. Timers run inside
// AdvanceTo/Step, in order of their deadline and, at equal deadlines, in the
// order in which they were set: that order is deterministic.
//
// Virtual is safe for concurrent use; timer functions run on the goroutine
// that moves the clock, without the clock's lock held.
type Virtual struct {
	mu     sync.Mutex
	now    time.Time
	seq    uint64
	timers heap.Queue[*virtualTimer]
}

// NewVirtual returns a clock that stands at start.
func NewVirtual(start time.Time) *Virtual { return &Virtual{now: start.UTC()} }

// Now implements Clock.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// AfterFunc implements Clock.
func (v *Virtual) AfterFunc(d time.Duration, f func()) Timer {
	return v.at(v.Now().Add(max(d, 0)), f)
}

// at is AfterFunc with a moment.
func (v *Virtual) at(at time.Time, f func()) Timer {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq++
	t := &virtualTimer{clock: v, at: at, seq: v.seq, f: f}
	v.timers.Put(t)
	return t
}

// IsVirtual is true; see the function of that name.
func (v *Virtual) IsVirtual() bool { return true }

// Next is the deadline of the earliest pending timer.
func (v *Virtual) Next() (at time.Time, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.timers.Len() == 0 {
		return time.Time{}, false
	}
	return v.timers.First().at, true
}

// Step moves the clock to the earliest pending timer and runs that one timer.
// It reports false, and moves nothing, when no timer is pending.
func (v *Virtual) Step() bool { return v.step(time.Time{}) }

// step is Step for a timer that is not due after limit; the zero limit is none.
func (v *Virtual) step(limit time.Time) bool {
	v.mu.Lock()
	if v.timers.Len() == 0 || !limit.IsZero() && v.timers.First().at.After(limit) {
		v.mu.Unlock()
		return false
	}
	t := v.timers.Pop()
	if t.at.After(v.now) {
		v.now = t.at
	}
	v.mu.Unlock()
	t.f()
	return true
}

// AdvanceTo runs every timer that is due up to and including at, then sets the
// clock to at. A time in the past runs what is overdue and moves nothing.
func (v *Virtual) AdvanceTo(at time.Time) {
	for {
		next, ok := v.Next()
		if !ok || next.After(at) {
			break
		}
		v.Step()
	}
	v.raise(at)
}

// raise sets the clock to at, if that is later, and runs nothing.
func (v *Virtual) raise(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at.After(v.now) {
		v.now = at.UTC()
	}
}

// Advance is AdvanceTo(Now()+d).
func (v *Virtual) Advance(d time.Duration) { v.AdvanceTo(v.Now().Add(d)) }

// Jump sets the clock d forward (or, with a negative d, backwards) without
// running what becomes due on the way: the next Step or AdvanceTo does.
func (v *Virtual) Jump(d time.Duration) {
	v.mu.Lock()
	v.now = v.now.Add(d)
	v.mu.Unlock()
}

type virtualTimer struct {
	clock *Virtual
	at    time.Time
	seq   uint64
	f     func()
	place int // in the queue, 0 once popped or stopped
}

func (t *virtualTimer) Place() *int { return &t.place }

func (t *virtualTimer) Before(o *virtualTimer) bool {
	if !t.at.Equal(o.at) {
		return t.at.Before(o.at)
	}
	return t.seq < o.seq
}

func (t *virtualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.timers.Remove(t)
}
