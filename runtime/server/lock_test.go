package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
)

// A start waits for an owner that is going, and names one that stays.
func TestClaimIsPatient(t *testing.T) {
	threads := sched.NewThreads(clock.Real{})
	t.Cleanup(func() {
		if err := threads.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	owner, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(ctx context.Context) (*Server, error) {
		s := &Server{opts: Options{Scheduler: threads, PersistDir: dir, Address: Address{None: true}}}
		return s, s.claim(ctx, &config.Project{})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var locked *LockedError
	if _, err := claim(ended); !errors.As(err, &locked) {
		t.Fatalf("an owner that stays: %v", err)
	}
	released := make(chan error, 1)
	time.AfterFunc(3*patienceStep, func() { released <- owner.release() })
	s, err := claim(t.Context())
	if err != nil {
		t.Fatalf("an owner that goes: %v", err)
	}
	if err := errors.Join(<-released, s.lock.release()); err != nil {
		t.Fatal(err)
	}
}
