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
	m := newMemory(c, 0)
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
	first := make([]byte, 2*trimBytes)
	if look() != 0 {
		t.Error("memory was given back while the first requests were answered")
	}
	runtime.KeepAlive(first)
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
	m := newMemory(c, 0)
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

// While collections follow each other the heap has room for garbage; it has none
// when they do not, for a small heap, and for one that fills the room by itself.
func TestWorkHasRoomForGarbage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usualGrowth))
	m := newMemory(clock.NewVirtual(time.Unix(0, 0)), 1024<<20)
	for _, c := range []struct {
		since           time.Duration
		objects, liveMB uint64
		want            int
	}{
		{time.Second, 1, 100, 256},
		{time.Second, 1, 65, 393},
		{time.Second, 1, 60, usualGrowth},
		{time.Second, 1, 256, usualGrowth},
		{time.Second, 1, 900, usualGrowth},
		{time.Second, manyObjects, 100, comingGrowth},
		{time.Hour, manyObjects, 100, comingGrowth},
		{time.Hour, manyObjects, 60, usualGrowth},
		{busyInterval, 0, 100, usualGrowth},
	} {
		m.pace(c.since, c.objects, c.liveMB<<20)
		if got := debug.SetGCPercent(m.growth); got != c.want || m.growth != c.want {
			t.Errorf("%d MB live, %v and %d objects after the collection before: the heap grows by %d %%, want %d", c.liveMB, c.since, c.objects, got, c.want)
		}
	}
	m.pace(0, 0, 100<<20)
	for range manyObjects - 1 {
		m.opened()
	}
	if m.clock.(*clock.Virtual).Step() || m.growth == usualGrowth {
		t.Errorf("%d objects took the room away", manyObjects-1)
	}
	m.opened()
	if !m.clock.(*clock.Virtual).Step() || m.growth != usualGrowth {
		t.Errorf("%d objects leave a growth of %d %%", manyObjects, m.growth)
	}
	large := make([]byte, 2*packLimit)
	runtime.GC()
	m.pace(time.Hour, 0, 100<<20)
	for range manyObjects {
		m.opened()
	}
	if !m.clock.(*clock.Virtual).Step() || m.growth != comingGrowth {
		t.Errorf("%d objects leave a large heap a growth of %d %%", 2*manyObjects, m.growth)
	}
	runtime.KeepAlive(large)
	m.pace(0, 0, 100<<20)
	m.started(new(shrunk))
	defer m.stop()
	if m.growth != usualGrowth {
		t.Errorf("a server that has started grows by %d %%", m.growth)
	}
	last := func() time.Time {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.cycled
	}
	for range 2 { // what hears of a collection hears of the next one
		m.mu.Lock()
		m.cycled = time.Time{}
		m.mu.Unlock()
		for last().IsZero() {
			runtime.GC()
		}
	}
}
