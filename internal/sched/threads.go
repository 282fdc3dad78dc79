package sched

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"sync"

	"minido.dev/minido/internal/clock"
)

// Threads gives every loop and every background function a goroutine of its
// own. Its zero value is not usable; see NewThreads.
type Threads struct {
	clock    clock.Clock
	wg       sync.WaitGroup
	load     load
	panicked func(name string, x any, stack []byte) // nil for Go's own report

	mu     sync.Mutex // guards everything below
	closed bool
	loops  map[*threadLoop]struct{}
	alive  map[string]int // names of running background functions, for Close's complaint
}

// NewThreads returns a scheduler on real goroutines. The clock is handed in so
// that tests can run threads on a virtual one.
func NewThreads(c clock.Clock) *Threads {
	return &Threads{clock: c, load: load{zero: make(chan struct{}, 1)}, loops: map[*threadLoop]struct{}{}, alive: map[string]int{}}
}

// Panicked has fn report a panic of what t runs, in place of Go's report: the name of the
// loop or background function, the panic's value and the stack. fn must end the process:
// nobody knows what the function has left half done. It must be called before t runs
// anything.
func (t *Threads) Panicked(fn func(name string, x any, stack []byte)) { t.panicked = fn }

// report is deferred where a goroutine begins.
func (t *Threads) report(name string) {
	if t.panicked == nil {
		return
	}
	if x := recover(); x != nil {
		t.panicked(name, x, debug.Stack())
	}
}

// Clock implements Scheduler.
func (t *Threads) Clock() clock.Clock { return t.clock }

// Go implements Scheduler. After Close it runs nothing.
func (t *Threads) Go(name string, fn func()) {
	t.load.add(1)
	t.spawn(name, func() {
		defer t.load.add(-1)
		fn()
	}, func() { t.load.add(-1) })
}

// Attend implements Attendant.
func (t *Threads) Attend(name string, fn func()) { t.spawn(name, fn, func() {}) }

// spawn runs fn, or refused after Close.
func (t *Threads) spawn(name string, fn, refused func()) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		refused()
		return
	}
	t.alive[name]++
	t.wg.Add(1)
	t.mu.Unlock()
	go func() {
		defer func() {
			t.mu.Lock()
			if t.alive[name]--; t.alive[name] == 0 {
				delete(t.alive, name)
			}
			t.mu.Unlock()
			t.wg.Done()
		}()
		defer t.report(name)
		fn()
	}()
}

// NewLoop implements Scheduler.
func (t *Threads) NewLoop(name string) Loop {
	l := &threadLoop{name: name, parent: t, done: make(chan struct{})}
	l.wake.L = &l.mu
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		l.closed = true
		close(l.done)
		return l
	}
	t.loops[l] = struct{}{}
	t.wg.Add(1)
	go l.run()
	return l
}

// Close implements Scheduler. Its error names what is still running.
func (t *Threads) Close(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	loops := make([]*threadLoop, 0, len(t.loops))
	for l := range t.loops { // order-independent: closing one loop does not affect another
		loops = append(loops, l)
	}
	t.mu.Unlock()
	for _, l := range loops {
		l.Close()
	}
	done := make(chan struct{})
	go func() { t.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), fmt.Errorf("sched: still running: %v", t.running()))
	}
}

func (t *Threads) running() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for name := range t.alive {
		names = append(names, name)
	}
	for l := range t.loops {
		names = append(names, "loop "+l.name)
	}
	sort.Strings(names)
	return names
}

// threadLoop is a queue and the goroutine that empties it. The queue is not
// bounded here: those who post (the gateway, the pool) bound what they admit.
type threadLoop struct {
	name   string
	parent *Threads
	done   chan struct{}

	mu       sync.Mutex // guards everything below
	wake     sync.Cond
	queue    []func()
	closed   bool
	draining bool
}

func (l *threadLoop) Post(fn func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.draining {
		return ErrClosed
	}
	l.parent.load.add(1)
	l.queue = append(l.queue, fn)
	if len(l.queue) == 1 {
		l.wake.Signal()
	}
	return nil
}

func (l *threadLoop) Close() {
	l.mu.Lock()
	l.closed = true
	l.parent.load.add(-len(l.queue))
	l.queue = nil
	l.wake.Signal()
	l.mu.Unlock()
}

func (l *threadLoop) Drain() {
	l.mu.Lock()
	l.draining = true
	l.wake.Signal()
	l.mu.Unlock()
}

func (l *threadLoop) Done() <-chan struct{} { return l.done }

func (l *threadLoop) run() {
	defer func() {
		l.parent.mu.Lock()
		delete(l.parent.loops, l)
		l.parent.mu.Unlock()
		close(l.done)
		l.parent.wg.Done()
	}()
	defer l.parent.report("loop " + l.name)
	var batch []func()
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.closed && !l.draining {
			l.wake.Wait()
		}
		if l.closed || len(l.queue) == 0 {
			l.closed = true
			l.mu.Unlock()
			return
		}
		batch, l.queue = l.queue, batch[:0]
		l.mu.Unlock()
		for i, fn := range batch {
			batch[i] = nil
			fn()
			l.parent.load.add(-1)
			if i%64 == 63 && l.isClosed() {
				l.parent.load.add(i + 1 - len(batch))
				return
			}
		}
	}
}

func (l *threadLoop) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
