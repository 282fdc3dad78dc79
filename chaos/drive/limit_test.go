package drive

import (
	"testing"
	"time"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
)

// A step's limit does not count the time that the driver lets pass while the step
// waits, whichever of the two began first.
func TestLimitOfSteps(t *testing.T) {
	c := clock.NewVirtual(time.Unix(0, 0))
	s := NewSession(history.NewRecorder(c, nil), sched.NewSeeded(c, entropy.NewSeeded(1)), 30*time.Second)
	s.Grant(time.Hour)
	c.Advance(time.Minute)
	during, stop := s.limited(t.Context())
	defer stop()
	c.Advance(59 * time.Minute)
	after, stop := s.limited(t.Context())
	defer stop()
	c.Advance(29 * time.Second)
	if during.Err() != nil || after.Err() != nil {
		t.Errorf("ended early: %v, %v", during.Err(), after.Err())
	}
	c.Advance(time.Second)
	if during.Err() == nil || after.Err() == nil {
		t.Errorf("go on: %v, %v", during.Err(), after.Err())
	}
}
