// Package wait waits for conditions of the real world: a line in a log, a row in a
// file that another process writes. A caller states what it waits for and how long at
// most; nothing here sleeps for a guessed time and hopes.
package wait

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
)

// ErrTimeout is returned, wrapped, when a condition did not come true in time.
var ErrTimeout = errors.New("timed out")

// Step is how often Until looks at its condition.
const Step = 10 * time.Millisecond

// Until calls check at once and then every Step until it reports true, fails,
// limit has passed or ctx is done. It runs check on the caller's goroutine.
//
// # Errors
//
// check's own error; ErrTimeout, wrapped with what; or the cause of ctx's end.
func Until(ctx context.Context, c clock.Clock, limit time.Duration, what string, check func() (bool, error)) error {
	deadline := c.Now().Add(limit)
	for {
		done, err := check()
		if done || err != nil {
			return err
		}
		if !c.Now().Before(deadline) {
			return fmt.Errorf("%s: %w after %v", what, ErrTimeout, limit)
		}
		if err := Pause(ctx, c, Step); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// Pause returns after d, or with the cause of ctx's end before that. It is for
// pacing and for faults that are defined by a time, never for "long enough".
func Pause(ctx context.Context, c clock.Clock, d time.Duration) error {
	return PauseWithin(ctx, ctx, c, d)
}

// PauseWithin is Pause that life's end ends, too, with its cause.
func PauseWithin(ctx, life context.Context, c clock.Clock, d time.Duration) error {
	fired := make(chan struct{})
	t := c.AfterFunc(d, func() { close(fired) })
	defer t.Stop()
	yield(c, func() bool { return over(fired) || ctx.Err() != nil || life.Err() != nil })
	if over(fired) {
		return nil // whatever else has happened
	}
	select {
	case <-fired:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-life.Done():
		return context.Cause(life)
	}
}

// yield lets others run until ready reports true, where waiters share one
// goroutine: the clock of such a simulation has a method Wait.
func yield(c clock.Clock, ready func() bool) {
	if w, ok := c.(interface{ Wait(ready func() bool) }); ok {
		w.Wait(ready)
	}
}

// over reports whether a channel that nothing is sent on is closed.
func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Channel waits until done is closed, limit has passed, or ctx is
// done; what names the wait in the error.
func Channel(ctx context.Context, c clock.Clock, limit time.Duration, what string, done <-chan struct{}) error {
	late := make(chan struct{})
	t := c.AfterFunc(limit, func() { close(late) })
	defer t.Stop()
	yield(c, func() bool { return over(done) || over(late) || ctx.Err() != nil })
	if _, shared := c.(interface{ Wait(ready func() bool) }); shared && over(done) {
		return nil // whatever else has happened
	}
	select {
	case <-done:
		return nil
	case <-late:
		return fmt.Errorf("%s: %w after %v", what, ErrTimeout, limit)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
}

// WithLimit returns a context that ends after limit with ErrTimeout as its
// cause. The caller must call cancel.
func WithLimit(ctx context.Context, c clock.Clock, limit time.Duration) (context.Context, context.CancelFunc) {
	return WithLimitBeside(ctx, c, limit, func() time.Duration { return 0 })
}

// WithLimitBeside is WithLimit, where beside is how much of the time since then
// does not count. It is asked when the limit has passed, on the goroutine of c.
func WithLimitBeside(ctx context.Context, c clock.Clock, limit time.Duration, beside func() time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	var mu sync.Mutex // guards t and counted; and after the end no timer is set
	var t clock.Timer
	var counted time.Duration
	var over func()
	over = func() {
		mu.Lock()
		defer mu.Unlock()
		if now := beside(); now > counted && limited.Err() == nil {
			t = c.AfterFunc(now-counted, over)
			counted = now
			return
		}
		cancel(fmt.Errorf("%w after %v", ErrTimeout, limit))
	}
	mu.Lock()
	defer mu.Unlock()
	t = c.AfterFunc(limit, over)
	return limited, func() {
		mu.Lock()
		defer mu.Unlock()
		t.Stop()
		cancel(context.Canceled)
	}
}
