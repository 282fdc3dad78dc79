package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// busyClock is a clock on a busy machine: time passes while it is read, and what
// is due at once has fired before anybody can stop it.
type busyClock struct{ now atomic.Int64 }

func (c *busyClock) Now() time.Time { return time.Unix(1000, c.now.Add(1000)) }

func (c *busyClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	if d > 0 {
		return time.AfterFunc(d, f)
	}
	f()
	return fired{}
}

type fired struct{}

func (fired) Stop() bool { return false }

// Timers that multiply without end let other events in after two rounds at most.
func TestTimersThatMultiplyLetOtherEventsIn(t *testing.T) {
	threads := sched.NewThreads(&busyClock{})
	e := New(Options{Name: "test", Scheduler: threads, Entropy: entropy.NewSeeded(1), Logger: func(Level, *Context, string) {}})
	var turns atomic.Int64
	many := make(chan struct{})
	var multiply func()
	multiply = func() {
		if turns.Add(1) == 20_000 {
			close(many)
		}
		e.Timers.Set(0, false, multiply)
		e.Timers.Set(0, false, multiply)
	}
	frame := e.NewContext(RequestContext, "").Frame()
	e.Post(frame, "test", multiply)
	<-many
	for range 10 {
		ran := make(chan int64)
		e.Post(frame, "test", func() {
			before := turns.Load() // in a turn, so that what this goroutine waits for does not count
			e.Post(frame, "test", func() { ran <- turns.Load() - before })
		})
		if n := <-ran; n > 4*64 {
			t.Errorf("%d timers ran before another event", n)
		}
	}
	e.Close()
	if err := threads.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
