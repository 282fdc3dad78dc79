package clock

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Mode says how the time of a Steered clock passes.
type Mode string

// The modes.
const (
	Running Mode = "real"    // at the machine's pace
	Still   Mode = "virtual" // only when it is advanced
	Auto    Mode = "auto"    // to the next timer whenever nothing is left to do (package sched)
)

// ParseMode reads a mode's text form.
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case Running, Still, Auto:
		return m, nil
	}
	return "", fmt.Errorf("%q is no mode of a clock; write real, virtual or auto", text)
}

// Steered is a clock whose mode can be changed while it is in use. Its time never
// goes backwards: a mode begins where the one before has come to. It is safe for
// concurrent use; timer functions run on goroutines of the machine clock's, or on
// that of who calls Step.
type Steered struct {
	machine Clock
	virtual *Virtual // has all timers; its own time is behind while the mode is Running
	state   atomic.Pointer[steering]
	changed chan struct{} // has an element after a change of mode or timers
	firing  atomic.Int32  // timer functions that run by themselves

	mu     sync.Mutex // guards everything below, and the changes of state
	wake   Timer      // of the machine's, nil without one
	wakeAt time.Time
}

// steering is immutable.
type steering struct {
	mode   Mode
	offset time.Duration // from the machine's time, while Running
}

// NewSteered returns a clock that begins at machine's time.
func NewSteered(machine Clock, m Mode) *Steered {
	s := &Steered{machine: machine, virtual: NewVirtual(machine.Now()), changed: make(chan struct{}, 1)}
	s.state.Store(&steering{mode: m})
	return s
}

// Now implements Clock.
func (s *Steered) Now() time.Time {
	if st := s.state.Load(); st.mode == Running {
		return s.machine.Now().Add(st.offset)
	}
	return s.virtual.Now()
}

// AfterFunc implements Clock.
func (s *Steered) AfterFunc(d time.Duration, f func()) Timer {
	t := s.virtual.at(s.Now().Add(max(d, 0)), f)
	s.mu.Lock()
	s.arm()
	s.mu.Unlock()
	s.note()
	return t
}

// Mode is the present one.
func (s *Steered) Mode() Mode { return s.state.Load().mode }

// SetMode changes how time passes from now on.
func (s *Steered) SetMode(m Mode) {
	s.mu.Lock()
	now := s.Now()
	s.virtual.raise(now)
	s.state.Store(&steering{mode: m, offset: now.Sub(s.machine.Now())})
	if s.wake != nil {
		s.wake.Stop()
		s.wake = nil
	}
	s.arm()
	s.mu.Unlock()
	s.note()
}

// Next is the deadline of the earliest pending timer.
func (s *Steered) Next() (at time.Time, ok bool) { return s.virtual.Next() }

// Step moves the time to the earliest pending timer if that is not after limit,
// and runs it; the zero limit is none. Otherwise it moves the time to limit and
// reports false. It is for the modes in which time does not run by itself.
func (s *Steered) Step(limit time.Time) bool {
	if s.virtual.step(limit) {
		return true
	}
	s.virtual.raise(limit)
	return false
}

// Changed gets an element after a change of mode and after each new timer.
func (s *Steered) Changed() <-chan struct{} { return s.changed }

// Firing says that a timer's function runs, other than by Step.
func (s *Steered) Firing() bool { return s.firing.Load() > 0 }

func (s *Steered) note() {
	select {
	case s.changed <- struct{}{}:
	default: // who reads will see this change, too
	}
}

// arm has the machine wake this clock at the earliest deadline, if time runs, or
// at once for what is due. Call it with mu held.
func (s *Steered) arm() {
	at, ok := s.virtual.Next()
	now := s.Now()
	if !ok || s.state.Load().mode != Running && at.After(now) {
		return
	}
	if s.wake != nil {
		if !at.Before(s.wakeAt) {
			return
		}
		s.wake.Stop()
	}
	s.wakeAt = at
	s.wake = s.machine.AfterFunc(at.Sub(now), s.tick)
}

// tick runs what is due.
func (s *Steered) tick() {
	s.firing.Add(1)
	s.mu.Lock()
	s.wake = nil
	now := s.Now()
	s.mu.Unlock()
	s.virtual.AdvanceTo(now)
	s.firing.Add(-1)
	s.mu.Lock()
	s.arm()
	s.mu.Unlock()
	s.note()
}
