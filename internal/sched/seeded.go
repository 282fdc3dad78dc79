package sched

import (
	"context"
	"fmt"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/planted"
)

// Seeded runs a whole world on the goroutine that calls Run or Step. At each
// step the seed picks one of the loops (or background functions) that have
// something to do; when none has, the virtual clock jumps to the next timer.
// The same seed and the same program give the same sequence of steps.
//
// Post and Go may be called from any goroutine, but only calls made from
// within a step (or between steps, by the goroutine that drives it) keep the
// run reproducible.
type Seeded struct {
	clock  *clock.Virtual
	choice entropy.Source
	// Trace, when set before the first step, is told the name of what runs
	// next. It is called on the driving goroutine.
	Trace func(step int, name string)
	// Slack, when set before the first step, is how much time may pass at once
	// while something is ready, as on a machine that is slow; 0 lets none pass.
	// The seed chooses when and how much.
	Slack time.Duration
	// Pass, when set, is called on the driving goroutine before the clock jumps to the
	// next timer, with how far that is: it may wait as long.
	Pass func(d time.Duration)

	strays sync.WaitGroup // of a planted bug

	mu       sync.Mutex // guards everything below
	ready    []*seededTask
	steps    int
	turns    int // calls of Step
	accepted int // functions that were queued so far
	closed   bool
}

// seededTask is a unit of choice: a loop with a queue, or one background function.
type seededTask struct {
	name  string
	queue []func()
	owner *seededLoop // nil for a background function
}

// NewSeeded returns a scheduler whose choices come from choice and whose time
// is c.
func NewSeeded(c *clock.Virtual, choice entropy.Source) *Seeded {
	return &Seeded{clock: c, choice: choice}
}

// Clock implements Scheduler.
func (s *Seeded) Clock() clock.Clock { return s.clock }

// Go implements Scheduler: fn becomes one step.
func (s *Seeded) Go(name string, fn func()) {
	add := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed {
			s.ready = append(s.ready, &seededTask{name: name, queue: []func(){fn}})
			s.accepted++
		}
	}
	if planted.Goroutine {
		s.strays.Go(add)
		return
	}
	add()
}

// NewLoop implements Scheduler.
func (s *Seeded) NewLoop(name string) Loop {
	l := &seededLoop{parent: s, done: make(chan struct{})}
	l.task = &seededTask{name: name, owner: l}
	return l
}

// slackOdds is one in how many steps of a slow machine time passes before.
const slackOdds = 4

// linger lets time pass although something is ready, if the seed has it so. What
// becomes due then is ready beside it.
func (s *Seeded) linger() {
	if s.Slack > 0 && s.isReady() && s.choice.Uint64()%slackOdds == 0 {
		s.clock.Advance(time.Duration(s.choice.Uint64() % uint64(s.Slack)))
	}
}

func (s *Seeded) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready) > 0
}

// Step runs one ready function, or, when there is none, moves the clock to the
// next timer and runs it; Slack may let time pass before. It reports false when
// there was neither.
func (s *Seeded) Step() bool {
	s.mu.Lock()
	s.turns++
	s.mu.Unlock()
	s.linger()
	s.mu.Lock()
	if len(s.ready) == 0 && planted.Goroutine {
		s.mu.Unlock()
		s.strays.Wait()
		s.mu.Lock()
	}
	if len(s.ready) == 0 {
		closed := s.closed
		s.mu.Unlock()
		if at, ok := s.clock.Next(); ok && !closed && s.Pass != nil {
			s.Pass(at.Sub(s.clock.Now()))
		}
		return !closed && s.clock.Step()
	}
	i := 0
	if n := len(s.ready); n > 1 {
		i = int(s.choice.Uint64() % uint64(n))
		if planted.MapOrder {
			i = anyOf(n)
		}
	}
	t := s.ready[i]
	fn := t.queue[0]
	t.queue = t.queue[1:]
	if len(t.queue) == 0 {
		s.ready = append(s.ready[:i], s.ready[i+1:]...)
		if t.owner != nil && t.owner.draining {
			t.owner.shutLocked()
		}
	}
	s.steps++
	step := s.steps
	s.mu.Unlock()
	if s.Trace != nil {
		s.Trace(step, t.name)
	}
	fn()
	return true
}

// anyOf is a number below n, as the order of a Go map has it.
func anyOf(n int) (i int) {
	numbers := map[int]bool{}
	for j := range n {
		numbers[j] = true
	}
	for i = range numbers {
		break
	}
	return i
}

// Run steps until done reports true, until nothing is left to do, or until
// limit of virtual time has passed; only the first is success.
func (s *Seeded) Run(done func() bool, limit time.Duration) error {
	deadline := s.clock.Now().Add(limit)
	for !done() {
		if s.clock.Now().After(deadline) {
			return fmt.Errorf("sched: not done after %v of virtual time", limit)
		}
		if !s.Step() {
			return fmt.Errorf("sched: nothing left to do, and still not done")
		}
	}
	return nil
}

// Moment tells how often Step was called and how many functions were queued by
// Post and Go, so far. While the first stands still no time passes.
func (s *Seeded) Moment() (turns, accepted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns, s.accepted
}

// Close implements Scheduler: what is queued is dropped. Nothing runs outside
// Step, so there is nothing to wait for.
func (s *Seeded) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, t := range s.ready {
		if t.owner != nil {
			t.owner.shutLocked()
		}
	}
	s.ready = nil
	return nil
}

type seededLoop struct {
	parent   *Seeded
	task     *seededTask
	done     chan struct{}
	closed   bool // guarded by parent.mu
	draining bool // guarded by parent.mu
}

func (l *seededLoop) Post(fn func()) error {
	s := l.parent
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.closed || l.draining || s.closed {
		return ErrClosed
	}
	l.task.queue = append(l.task.queue, fn)
	s.accepted++
	if len(l.task.queue) == 1 {
		s.ready = append(s.ready, l.task)
	}
	return nil
}

func (l *seededLoop) Drain() {
	s := l.parent
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.draining = true; len(l.task.queue) == 0 {
		l.shutLocked()
	}
}

func (l *seededLoop) Close() {
	s := l.parent
	s.mu.Lock()
	defer s.mu.Unlock()
	l.shutLocked()
	for i, t := range s.ready {
		if t == l.task {
			s.ready = append(s.ready[:i], s.ready[i+1:]...)
			break
		}
	}
}

func (l *seededLoop) shutLocked() {
	if l.closed {
		return
	}
	l.closed = true
	l.task.queue = nil
	close(l.done)
}

func (l *seededLoop) Done() <-chan struct{} { return l.done }
