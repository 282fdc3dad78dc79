package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
)

// shrunk counts how often it is asked.
type shrunk int

func (s *shrunk) Shrink(time.Duration) { *s++ }

// Memory is given back once after work, when the work is over, and never by an
// idle server.
func TestMemoryIsGivenBackWhenIdle(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	c := clock.NewVirtual(time.Unix(0, 0))
	m := newMemory(c)
	var objects shrunk
	m.started(&objects)
	defer m.stop()
	look := func() uint64 {
		t.Helper()
		if !c.Step() {
			t.Fatal("no timer is armed")
		}
		return m.trimmed
	}
	settled := look()
	if settled == 0 || m.ballast == nil {
		t.Fatal("it did not settle")
	}
	for range 2 {
		if look() != settled {
			t.Error("an idle server gave memory back again")
		}
	}
	work := make([]byte, 2*trimBytes)
	if look() != settled {
		t.Error("memory was given back in the middle of work")
	}
	runtime.KeepAlive(work)
	if look() != settled {
		t.Error("memory was given back before the objects have shrunk")
	}
	after := look()
	if after == settled {
		t.Error("memory was not given back after work")
	}
	if look() != after {
		t.Error("it was given back twice")
	}
	if objects != 6 {
		t.Errorf("objects were asked %d times to shrink, in 6 looks", objects)
	}
	m.stop()
	if c.Step() {
		t.Error("a timer is left")
	}
}

// Garbage between objects is collected once for a number of new ones, and only
// while the heap is small.
func TestObjectsArePacked(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	c := clock.NewVirtual(time.Unix(0, 0))
	m := newMemory(c)
	open := func(n int) {
		for range n {
			m.opened()
		}
	}
	collections := func() uint64 { return metric("/gc/cycles/forced:gc-cycles") }
	before := collections()
	open(packEvery - 1)
	if c.Step() {
		t.Error("a collection after too few objects")
	}
	open(1 + packEvery)
	if !c.Step() || c.Step() || collections() != before+1 {
		t.Errorf("%d collections for two times %d objects at once, want 1", collections()-before, packEvery)
	}
	large := make([]byte, 2*packLimit)
	runtime.GC()
	before = collections()
	open(packEvery)
	if !c.Step() || collections() != before {
		t.Error("a large heap was collected")
	}
	runtime.KeepAlive(large)
}
