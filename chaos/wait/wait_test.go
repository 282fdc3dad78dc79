package wait

import (
	"context"
	"errors"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
)

// selfStepping is a virtual clock that moves on by itself whenever somebody
// sets a timer, so that a wait of hours takes no time.
type selfStepping struct{ *clock.Virtual }

func (s selfStepping) AfterFunc(d time.Duration, f func()) clock.Timer {
	t := s.Virtual.AfterFunc(d, f)
	go s.Step()
	return t
}

func newClock() selfStepping {
	return selfStepping{clock.NewVirtual(time.Unix(1000, 0))}
}

// Until returns as soon as the condition holds, and not before.
func TestUntil(t *testing.T) {
	calls := 0
	err := Until(context.Background(), newClock(), time.Hour, "third call", func() (bool, error) {
		calls++
		return calls == 3, nil
	})
	if err != nil || calls != 3 {
		t.Fatalf("err %v after %d calls, want nil after 3", err, calls)
	}
}

// A condition that never holds ends at the limit and names what was awaited.
func TestUntilTimesOut(t *testing.T) {
	c := newClock()
	err := Until(context.Background(), c, time.Second, "a row", func() (bool, error) { return false, nil })
	if !errors.Is(err, ErrTimeout) || err.Error() != "a row: timed out after 1s" {
		t.Fatalf("err = %v", err)
	}
	if got := c.Now().Sub(time.Unix(1000, 0)); got != time.Second {
		t.Errorf("waited %v, want 1s", got)
	}
}

// The condition's own error ends the wait.
func TestUntilStopsOnError(t *testing.T) {
	boom := errors.New("boom")
	if err := Until(context.Background(), newClock(), time.Hour, "x", func() (bool, error) { return false, boom }); !errors.Is(err, boom) {
		t.Fatalf("err = %v", err)
	}
}

// A context that ends gives its cause, from each of the waits.
func TestContextEnds(t *testing.T) {
	cause := errors.New("the user pressed Ctrl-C")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	c := clock.NewVirtual(time.Unix(0, 0))
	if err := Pause(ctx, c, time.Hour); !errors.Is(err, cause) {
		t.Errorf("Pause: %v", err)
	}
	if err := Channel(ctx, c, time.Hour, "x", nil); !errors.Is(err, cause) {
		t.Errorf("Channel: %v", err)
	}
	if err := Until(ctx, c, time.Hour, "x", func() (bool, error) { return false, nil }); !errors.Is(err, cause) {
		t.Errorf("Until: %v", err)
	}
}

// WithLimit ends by itself, with the timeout as the cause, and by its parent.
func TestWithLimit(t *testing.T) {
	c := clock.NewVirtual(time.Unix(0, 0))
	ctx, cancel := WithLimit(context.Background(), c, time.Second)
	defer cancel()
	endsInASecond(t, c, ctx)
}

// What passes beside does not count, also when it grows while it passes.
func TestWithLimitBeside(t *testing.T) {
	c := clock.NewVirtual(time.Unix(0, 0))
	beside := time.Duration(0)
	ctx, cancel := WithLimitBeside(context.Background(), c, time.Second, func() time.Duration { return beside })
	defer cancel()
	for _, step := range []time.Duration{time.Hour, time.Minute} {
		beside += step
		c.Advance(step)
	}
	endsInASecond(t, c, ctx)
}

func endsInASecond(t *testing.T, c *clock.Virtual, ctx context.Context) {
	t.Helper()
	c.Advance(999 * time.Millisecond)
	if ctx.Err() != nil {
		t.Fatal("ended early")
	}
	c.Advance(time.Millisecond)
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, ErrTimeout) {
		t.Errorf("cause = %v", err)
	}
}
