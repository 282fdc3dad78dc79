// Package sched decides where code runs. Every isolate's loop and every piece
// of background work is started here and nowhere else: with Threads they are
// goroutines, with Seeded all of them are steps of one goroutine in an order
// that a seed chooses. This is the only package that may say `go`; a lint test
// enforces it.
package sched

import (
	"context"
	"errors"

	"minido.dev/minido/internal/clock"
)

// ErrClosed is returned by Post once a loop or its scheduler is closed; the
// function was not and will not be run.
var ErrClosed = errors.New("sched: closed")

// Scheduler starts loops and background work. Implementations are safe for
// concurrent use.
type Scheduler interface {
	// Clock is the clock whose timers run on this scheduler.
	Clock() clock.Clock
	// NewLoop returns a loop; name appears in traces.
	NewLoop(name string) Loop
	// Go runs fn off every loop. With Threads fn may block (a socket read, a
	// DNS lookup). With Seeded it is one step: fn must finish without waiting
	// for anything else in the world.
	Go(name string, fn func())
	// Close drops what is queued, and returns when every loop and every
	// background function has ended or ctx is done.
	Close(ctx context.Context) error
}

// Loop runs functions one at a time, in the order of Post.
type Loop interface {
	// Post queues fn. It never blocks and may be called from anywhere,
	// including from a function that the loop runs.
	Post(fn func()) error
	// Close drops what is queued and accepts nothing more. The function that
	// runs at the moment, if any, finishes. Close does not wait for it; Done does.
	Close()
	// Drain accepts nothing more, runs what is queued, and then closes.
	Drain()
	// Done is closed when the loop has run its last function.
	Done() <-chan struct{}
}
