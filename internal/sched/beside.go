package sched

import "sync/atomic"

// Beside is a scheduler whose loops run on a loop that exists: what they are posted runs
// there, one function at a time with those of the loop itself, so that code of several
// isolates may touch the same data. Its clock and background work are those of s, and s
// is who closes them.
func Beside(s Scheduler, loop Loop) Scheduler { return beside{s, loop} }

type beside struct {
	Scheduler
	host Loop
}

// NewLoop implements Scheduler.
func (b beside) NewLoop(string) Loop { return &guestLoop{host: b.host} }

// guestLoop is a loop that runs on another one. Safe for concurrent use.
type guestLoop struct {
	host     Loop
	draining atomic.Bool // accepts nothing more
	closed   atomic.Bool // runs nothing more
}

// Post implements Loop.
func (l *guestLoop) Post(fn func()) error {
	if l.draining.Load() {
		return ErrClosed
	}
	return l.host.Post(func() {
		if !l.closed.Load() {
			fn()
		}
	})
}

// Close implements Loop.
func (l *guestLoop) Close() {
	l.draining.Store(true)
	l.closed.Store(true)
}

// Drain implements Loop.
func (l *guestLoop) Drain() {
	l.draining.Store(true)
	_ = l.host.Post(func() { l.closed.Store(true) }) // a host that has ended runs nothing anyway
}

// Done implements Loop: it is closed when the host has ended.
func (l *guestLoop) Done() <-chan struct{} { return l.host.Done() }
