package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// A turn that fills the heap, in many small steps or in few huge ones, is
// stopped, and named.
func TestHeapLimit(t *testing.T) {
	for name, src := range map[string]string{
		"many arrays":     "const kept = []; for (;;) kept.push(new Array(100000).fill(kept.length))",
		"doubled strings": `let s = "x"; for (;;) s += s`,
	} {
		t.Run(name, func(t *testing.T) {
			th := sched.NewThreads(clock.Real{})
			done := make(chan error, 1)
			e := New(Options{Name: "x", Scheduler: th, Entropy: entropy.NewSeeded(1), Heap: NewHeapWatch(64 << 20), Condemned: func(r error) { done <- r },
				TurnLimit: time.Hour}) // a slow machine takes its time to fill the heap
			c := e.NewContext(ObjectContext, "Room/lobby")
			if err := e.Post(c.Frame(), "rpc", func() {
				_, err := e.VM().RunString(src)
				e.Rethrow(err)
			}); err != nil {
				t.Fatal(err)
			}
			err := <-done
			var limit *LimitError
			if !errors.As(err, &limit) || limit.Resource != Memory || !strings.Contains(err.Error(), "during an event of Room/lobby (rpc)") {
				t.Errorf("condemned by %v", err)
			}
			if e.Health.Suspect() != c {
				t.Error("another context is suspected")
			}
			if err := th.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A turn that takes longer than its limit, but computes less, is not stopped: that is what
// it looks like on a machine that others keep busy.
func TestWaitingIsNoComputing(t *testing.T) {
	th := sched.NewThreads(clock.Real{})
	const limit = 100 * time.Millisecond
	stopped, ran := make(chan error, 1), make(chan error, 1)
	e := New(Options{Name: "x", Scheduler: th, Entropy: entropy.NewSeeded(1), Condemned: func(r error) { stopped <- r }, TurnLimit: limit})
	post := func(turn func()) {
		if err := e.Post(e.NewContext(ObjectContext, "Room/lobby").Frame(), "rpc", turn); err != nil {
			t.Fatal(err)
		}
	}
	post(func() {
		<-time.NewTimer(4 * limit).C
		_, err := e.VM().RunString("0") // throws if the turn was stopped
		ran <- err
	})
	if err := <-ran; err != nil {
		t.Errorf("it waited: %v", err)
	}
	post(func() {
		_, err := e.VM().RunString("for (;;);")
		e.Rethrow(err)
	})
	var over *LimitError
	if err := <-stopped; !errors.As(err, &over) || over.Resource != CPUTime {
		t.Errorf("it computed: %v", err)
	}
	if err := th.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A match that backtracks without end does not end as one that found nothing, also on a machine
// that gives the process no CPU time to speak of.
func TestMatchOnABusyMachine(t *testing.T) {
	const limit = 200 * time.Millisecond
	BoundMatches(limit)
	defer BoundMatches(DefaultTurnLimit)
	th := sched.NewThreads(clock.Real{})
	stopped := make(chan error, 1)
	e := New(Options{Name: "x", Scheduler: th, Entropy: entropy.NewSeeded(1), Condemned: func(r error) { stopped <- r }, TurnLimit: limit})
	e.Watchdog.cpu = func() (time.Duration, error) { return 0, nil }
	if err := e.Post(e.NewContext(ObjectContext, "Room/lobby").Frame(), "rpc", func() {
		v, err := e.VM().RunString("/(?!b)(a|aa)+$/.test('a'.repeat(60) + '!')")
		if err == nil {
			stopped <- fmt.Errorf("the match was said to be %v", v)
		}
		e.Rethrow(err)
	}); err != nil {
		t.Fatal(err)
	}
	var over *LimitError
	if err := <-stopped; !errors.As(err, &over) || over.Resource != CPUTime {
		t.Error(err)
	}
	if err := th.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Garbage that came between two looks is collected before anyone is blamed for it.
func TestGarbageIsNoGrowth(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it stays until the watch collects it
	w := newWorld(t)
	h := NewHeapWatch(HeapBytes() + 64<<20)
	for i, pause := range []time.Duration{0, time.Hour, time.Hour} {
		w.clock.Advance(pause)
		if err := w.e.Post(GlobalFrame, "garbage", func() {
			garbage := make([]byte, 1<<20)
			for range 40 * i {
				garbage = make([]byte, len(garbage)+1)
			}
			runtime.KeepAlive(garbage)
			h.look(w.e)
			if _, err := w.e.VM().RunString("0"); err != nil {
				w.e.Rethrow(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		w.run()
	}
	if err := w.e.Health.CondemnedBy(); err != nil {
		t.Error(err)
	}
}

// An isolate that computes while the heap is full of another one's values is not
// to blame, also when the other one runs no turn at the moment.
func TestTheInnocentIsSpared(t *testing.T) {
	w, innocent := newWorld(t), newWorld(t)
	var heap uint64 // not the process's, in which garbage of other tests lies
	h := newHeapWatch(64<<20, func() uint64 { return heap })
	turn := func(e *Engine, megabytes int) func() {
		return func() {
			heap += uint64(megabytes) << 20
			h.look(e)
			if _, err := e.VM().RunString("0"); err != nil {
				e.Rethrow(err)
			}
		}
	}
	for _, step := range []struct {
		w         *world
		megabytes int
	}{{w, 0}, {innocent, 0}, {w, 20}, {w, 20}, {innocent, 20}, {innocent, 15}} {
		if err := step.w.e.Post(GlobalFrame, "test", turn(step.w.e, step.megabytes)); err != nil {
			t.Fatal(err)
		}
		step.w.run()
	}
	w.run()
	var limit *LimitError
	if err := w.e.Health.CondemnedBy(); !errors.As(err, &limit) || limit.Resource != Memory {
		t.Errorf("the one that filled the heap was condemned by: %v", err)
	}
	if err := innocent.e.Health.CondemnedBy(); err != nil {
		t.Errorf("the innocent: %v", err)
	}
}

// Very many timers that are due let other events in between.
func TestTimersLetOthersIn(t *testing.T) {
	w := newWorld(t)
	const timers = 10 * firedAtOnce
	fired, between := 0, -1
	if err := w.e.Post(w.e.NewContext(RequestContext, "").Frame(), "test", func() {
		for range timers {
			w.e.Timers.Set(0, false, func() {
				if fired++; fired == 1 {
					if err := w.e.Post(GlobalFrame, "event", func() { between = fired }); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}); err != nil {
		t.Fatal(err)
	}
	w.run()
	w.clock.Advance(time.Second)
	w.run()
	if between != firedAtOnce || fired != timers {
		t.Errorf("an event came after %d of %d timers", between, fired)
	}
}
