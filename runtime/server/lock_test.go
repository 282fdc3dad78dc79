package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
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
	owner, err := lockSpace(dir, "do", "Room", "w-Room")
	if err != nil {
		t.Fatal(err)
	}
	claim := func(ctx context.Context) (*Server, error) {
		s := &Server{opts: Options{Scheduler: threads, PersistDir: dir}}
		return s, own(ctx, s, place{"do", "Room", "w-Room"})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var locked *LockedError
	if _, err := claim(ended); !errors.As(err, &locked) {
		t.Fatalf("an owner that stays: %v", err)
	}
	other := &Server{opts: Options{Scheduler: threads, PersistDir: dir}}
	if err := errors.Join(own(ended, other, place{"do", "Hall", "w-Hall"}), disown(other)); err != nil {
		t.Fatalf("another namespace of the directory: %v", err)
	}
	released := make(chan error, 1)
	time.AfterFunc(3*patienceStep, func() { released <- owner.release() })
	s, err := claim(t.Context())
	if err != nil {
		t.Fatalf("an owner that goes: %v", err)
	}
	if err := errors.Join(<-released, disown(s)); err != nil {
		t.Fatal(err)
	}
}
