package driver

import (
	"io"
	"testing"
)

type counted struct{ closed int }

func (c *counted) Close() error { c.closed++; return nil }

// A pause closes each store and keeps it for its next use; the end forgets it.
func TestStoresPause(t *testing.T) {
	s := NewStores[io.Closer](&Session{PersistDir: func() string { return "state" }}, "kv_namespace")
	open := func(string) (io.Closer, error) { return &counted{}, nil }
	first, err := s.Get("a", open)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Pause(); err != nil || first.(*counted).closed != 1 {
		t.Errorf("closed %d times, %v", first.(*counted).closed, err)
	}
	if again, err := s.Get("a", open); err != nil || again != first {
		t.Errorf("after the pause it is another store (%v)", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Get("a", open); err != nil || again == first {
		t.Errorf("after the end it is the same store (%v)", err)
	}
}
