package sched

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
)

// A loop on threads runs what is posted in order, and Close waits for it.
func TestThreadsOrderAndClose(t *testing.T) {
	s := NewThreads(clock.Real{})
	l := s.NewLoop("a")
	var got []int
	done := make(chan struct{})
	for i := range 1000 {
		if err := l.Post(func() {
			got = append(got, i)
			if i == 999 {
				close(done)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	<-done
	if !slices.IsSorted(got) || len(got) != 1000 {
		t.Fatalf("ran out of order: %v", got)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := l.Post(func() {}); err != ErrClosed {
		t.Fatalf("Post after Close: %v", err)
	}
}

// Close names the background function that does not end.
func TestThreadsCloseNamesTheStuck(t *testing.T) {
	s := NewThreads(clock.Real{})
	hold := make(chan struct{})
	s.Go("stuck reader", func() { <-hold })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Close(ctx)
	if err == nil || !slices.Contains(s.running(), "stuck reader") {
		t.Fatalf("Close: %v", err)
	}
	close(hold)
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// seededHistory runs two loops that talk to each other, timers and background
// work, and returns what happened.
func seededHistory(seed uint64) []string {
	v := clock.NewVirtual(time.Unix(0, 0))
	s := NewSeeded(v, entropy.NewSeeded(seed))
	var h []string
	s.Trace = func(step int, name string) { h = append(h, fmt.Sprintf("%d %s", step, name)) }
	a, b := s.NewLoop("a"), s.NewLoop("b")
	for i := range 10 {
		a.Post(func() { h = append(h, fmt.Sprint("a", i)); b.Post(func() { h = append(h, fmt.Sprint("b<-a", i)) }) })
		b.Post(func() { h = append(h, fmt.Sprint("b", i)) })
		v.AfterFunc(time.Duration(i)*time.Minute, func() {
			a.Post(func() { h = append(h, fmt.Sprint("timer", i, v.Now().Unix())) })
		})
	}
	s.Go("work", func() { a.Post(func() { h = append(h, "worked") }) })
	for s.Step() {
	}
	return h
}

// The same seed gives the same history; another seed gives another order; each
// loop keeps its own order; half an hour passes at once.
func TestSeededIsReproducible(t *testing.T) {
	one, two := seededHistory(7), seededHistory(7)
	if !slices.Equal(one, two) {
		t.Fatal("same seed, different histories")
	}
	different := false
	for seed := uint64(8); seed < 12; seed++ {
		different = different || !slices.Equal(one, seededHistory(seed))
	}
	if !different {
		t.Fatal("the seed does not choose")
	}
	for i := range 9 {
		if slices.Index(one, fmt.Sprint("a", i)) > slices.Index(one, fmt.Sprint("a", i+1)) {
			t.Fatalf("loop a ran out of order: %v", one)
		}
	}
	if !slices.Contains(one, "timer9 540") {
		t.Fatalf("the clock did not jump to the last timer: %v", one)
	}
}

// With slack, time passes while work is ready: what becomes due then is a choice
// beside it. Without it, the clock waits for the work.
func TestSlack(t *testing.T) {
	run := func(seed uint64, slack time.Duration) (order string, took time.Duration) {
		start := time.Unix(0, 0)
		s := NewSeeded(clock.NewVirtual(start), entropy.NewSeeded(seed))
		s.Slack = slack
		loop, left := s.NewLoop("work"), 100
		var work func()
		work = func() {
			if left--; left > 0 {
				_ = loop.Post(work)
			} else {
				order += "work "
			}
		}
		_ = loop.Post(work)
		s.Clock().AfterFunc(time.Second, func() { s.Go("timer", func() { order += "timer " }) })
		if err := s.Run(func() bool { return len(order) == len("work timer ") }, time.Hour); err != nil {
			t.Fatal(err)
		}
		return order, s.Clock().Now().Sub(start)
	}
	if order, took := run(1, 0); order != "work timer " || took != time.Second {
		t.Errorf("without slack: %s in %v", order, took)
	}
	order, took := run(1, time.Second)
	if order != "timer work " || took <= time.Second || took > 100*time.Second {
		t.Errorf("with slack: %s in %v", order, took)
	}
	if again, same := run(1, time.Second); again != order || same != took {
		t.Errorf("the same seed: %s in %v, then %s in %v", order, took, again, same)
	}
}
