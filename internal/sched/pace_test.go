package sched

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
)

// paced is threads under a steered clock.
func paced(t *testing.T, m clock.Mode) (*Threads, *Pacer) {
	c := clock.NewSteered(clock.Real{}, m)
	threads := NewThreads(c)
	t.Cleanup(func() {
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return threads, NewPacer(threads, c, clock.Real{})
}

// chain sets n timers, each in a loop's function that the one before has posted,
// and tells when they ran.
func chain(threads *Threads, n int, pause time.Duration) <-chan []time.Duration {
	c, loop := threads.Clock(), threads.NewLoop("chain")
	began, done := c.Now(), make(chan []time.Duration, 1)
	var at []time.Duration
	var next func()
	next = func() {
		if at = append(at, c.Now().Sub(began)); len(at) == n {
			done <- at
			return
		}
		c.AfterFunc(pause, func() { _ = loop.Post(next) })
	}
	c.AfterFunc(pause, func() { _ = loop.Post(next) })
	return done
}

// What a timer starts is done before time goes on, and a background function
// that runs holds it.
func TestAdvanceGoesFromTimerToTimer(t *testing.T) {
	threads, p := paced(t, clock.Still)
	ran := chain(threads, 3, time.Hour)
	work := make(chan struct{})
	threads.Go("slow", func() { <-work })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Advance(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("while something ran: %v", err)
	}
	close(work)
	began := threads.Clock().Now()
	if err := p.Advance(context.Background(), 10*time.Hour); err != nil {
		t.Fatal(err)
	}
	if at := <-ran; !slices.Equal(at, []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}) {
		t.Errorf("ran at %v", at)
	}
	if took := threads.Clock().Now().Sub(began); took != 10*time.Hour {
		t.Errorf("advanced by %v", took)
	}
	p.Clock().SetMode(clock.Running)
	if err := p.Advance(context.Background(), time.Second); !errors.Is(err, ErrRunning) {
		t.Errorf("a running clock: %v", err)
	}
}

// Auto jumps; what only attends does not hold it.
func TestAutoJumps(t *testing.T) {
	threads, p := paced(t, clock.Running)
	stop := make(chan struct{})
	Attend(threads, "listener", func() { <-stop })
	defer close(stop)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go p.Auto(ctx)
	ran := chain(threads, 3, 24*time.Hour)
	p.Clock().SetMode(clock.Auto)
	for i, at := range <-ran {
		if want := time.Duration(i+1) * 24 * time.Hour; at < want || at > want+time.Hour {
			t.Errorf("timer %d ran after %v", i, at)
		}
	}
}
