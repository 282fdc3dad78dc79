package sched

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/clock"
)

// Attendant is a Scheduler that tells work from attendance.
type Attendant interface {
	Scheduler
	// Attend is Go for what waits for somebody who need not come: an accept loop,
	// the reader of an idle socket, a watcher of files. It is no work.
	Attend(name string, fn func())
}

// Attend runs fn on s as attendance where s knows it, else as work.
func Attend(s Scheduler, name string, fn func()) {
	if a, ok := s.(Attendant); ok {
		a.Attend(name, fn)
		return
	}
	s.Go(name, fn)
}

// load counts what Threads has to do: functions posted to loops, and background
// functions. Safe for concurrent use.
type load struct {
	work    atomic.Int64
	changes atomic.Uint64
	zero    chan struct{} // has an element after work has come to 0
}

func (l *load) add(n int) {
	l.changes.Add(1)
	if l.work.Add(int64(n)) == 0 && n < 0 {
		select {
		case l.zero <- struct{}{}:
		default: // who reads has not seen the last one yet
		}
	}
}

// Pacer moves a steered clock under the loops of Threads: step by step, each when
// nothing is left to do. Nothing is left to do when no loop has a function queued
// or running, no background function runs (a fetch that waits for its answer, a
// sync of a file), and that stays so for a moment of the machine's time, in which
// what is in the kernel arrives. Clients that wait for an answer, and idle
// sockets, are no work: only time can help them.
//
// It is safe for concurrent use.
type Pacer struct {
	clock   *clock.Steered
	machine clock.Clock
	threads *Threads

	moving sync.Mutex // one at a time moves the clock
}

// settle is how long nothing must happen before time moves.
const settle = 2 * time.Millisecond

// patience is how long Advance waits for the end of what goes on.
const patience = 30 * time.Second

// NewPacer returns a pacer of t, whose clock is c. Auto must run for c's mode of
// that name to have an effect.
func NewPacer(t *Threads, c *clock.Steered, machine clock.Clock) *Pacer {
	return &Pacer{clock: c, machine: machine, threads: t}
}

// Clock is the clock that it moves.
func (p *Pacer) Clock() *clock.Steered { return p.clock }

// ErrRunning is returned by Advance while time passes by itself.
var ErrRunning = errors.New("time runs at the machine's pace; only a clock in mode virtual or auto can be advanced")

// Advance moves the time by d, from timer to timer. What a timer starts is done
// before the time goes on.
//
// # Errors
//
// ErrRunning; ctx's; that the server did not come to an end with what it does:
// then the time has moved only so far.
func (p *Pacer) Advance(ctx context.Context, d time.Duration) error {
	if p.clock.Mode() == clock.Running {
		return ErrRunning
	}
	p.moving.Lock()
	defer p.moving.Unlock()
	target := p.clock.Now().Add(d)
	for more := true; more; {
		if err := p.quiet(ctx, patience); err != nil {
			return fmt.Errorf("advance: %w; %v of %v have passed", err, d-target.Sub(p.clock.Now()), d)
		}
		more = p.clock.Step(target)
	}
	return nil
}

// Auto jumps to the next timer whenever nothing is left to do, while the clock's
// mode is clock.Auto. It returns when ctx ends.
func (p *Pacer) Auto(ctx context.Context) {
	for ctx.Err() == nil {
		if p.clock.Mode() == clock.Auto && p.jump(ctx) {
			continue
		}
		select {
		case <-p.threads.load.zero:
		case <-p.clock.Changed():
		case <-ctx.Done():
		}
	}
}

// jump goes to the next timer, and reports false if there is none or something is
// left to do.
func (p *Pacer) jump(ctx context.Context) bool {
	if _, ok := p.clock.Next(); !ok || p.quiet(ctx, settle) != nil {
		return false
	}
	if !p.moving.TryLock() {
		return false // an advance is under way; its timers will wake Auto
	}
	defer p.moving.Unlock()
	return p.clock.Mode() == clock.Auto && p.clock.Step(time.Time{})
}

// errBusy says that something is left to do.
var errBusy = errors.New("the server does not come to rest: a turn, a fetch or a write is in progress")

// quiet waits until nothing is left to do, for the machine's time limit.
func (p *Pacer) quiet(ctx context.Context, limit time.Duration) error {
	for waited := time.Duration(0); ; waited += settle {
		before, idle := p.threads.load.changes.Load(), p.idle()
		pause := make(chan struct{})
		timer := p.machine.AfterFunc(settle, func() { close(pause) })
		select {
		case <-pause:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		switch {
		case idle && p.idle() && p.threads.load.changes.Load() == before:
			return nil
		case waited >= limit:
			return errBusy
		}
	}
}

func (p *Pacer) idle() bool { return p.threads.load.work.Load() == 0 && !p.clock.Firing() }
