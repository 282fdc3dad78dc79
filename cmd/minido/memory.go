package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/filepages"
	"minido.dev/minido/internal/hugepages"
	"minido.dev/minido/internal/sqlite"
)

// settleAfter is when, after the start, memory counts for more than speed; a server
// that has work then is looked at again every settleInterval.
const (
	settleAfter    = time.Second
	settleInterval = 250 * time.Millisecond
)

// ballastSize is how many bytes count as heap that nobody touches, so that they
// take no memory. The heap of a server with little in it is so small that
// collecting it whenever it has doubled would take a quarter of the time under
// load. It is allocated first: a place that other objects have had would be cleared,
// and so take memory.
const ballastSize = 16 << 20

// trimInterval is how often a server looks whether it has become idle.
const trimInterval = time.Second

// A server that allocates less than idleBytes between two looks is idle; it
// gives memory back at the second such look in a row, when its objects have
// shrunk, if it has allocated trimBytes since the last time.
const (
	idleBytes = 1 << 20
	trimBytes = 16 << 20
)

// New objects take the places between older ones, and what their start has left
// behind keeps those places apart: a heap that is collected only when it has
// doubled would hold three times what they need for as long as they live. So it is
// also collected after packEvery new objects, unless it is so large that this
// would cost much: more than packLimit bytes.
const (
	packEvery = 128
	packLimit = 64 << 20
)

// A heap that is collected whenever it has doubled is marked again and again while
// turns go on that allocate much. So a server with work, whose collections follow
// each other within busyInterval, lets more garbage gather: roomPart of the memory
// limit, whatever its live heap is. It costs memory only while the work goes on.
// While objects come into memory there is no such room: they would take places
// all over it, and keep it. A large heap then grows by half alone, so that they lie closer.
const (
	busyInterval = 2 * time.Second
	manyObjects  = 3
	roomPart     = 4
	usualGrowth  = 100 // in percent of the live heap
	comingGrowth = 50
	largeGrowth  = 400
)

// memory tends Go's heap while a server runs: it starts fast, and gives back to
// the system what it does not need when it is idle. Without that the heap stays
// as large as the last burst of work has made it. Safe for concurrent use.
type memory struct {
	clock  clock.Clock
	pages  *hugepages.Heap // large while there is work
	room   uint64          // for garbage while there is work, in bytes
	server shrinker        // set by started

	objects atomic.Uint64 // that came into memory
	come    atomic.Uint64 // of these, until the last collection
	roomy   atomic.Bool   // the heap grows by more than it may while many come
	packing atomic.Bool   // a collection for their sake is under way

	mu      sync.Mutex // guards everything below
	timer   clock.Timer
	stopped bool
	ballast *[ballastSize]byte
	idle    bool      // at the last look
	seen    uint64    // bytes allocated since the start, at the last look
	trimmed uint64    // and when memory was given back
	growth  int       // of the heap until it is collected, in percent
	cycled  time.Time // the last collection
}

// cycle is garbage of which the collector says that it has collected it.
type cycle struct{ of *memory }

// shrinker is a server whose objects can do with less memory when they have
// been idle for some time. Shrink must not wait for them.
type shrinker interface{ Shrink(idle time.Duration) }

// newMemory is for a process that starts; call started and stop. The heap's limit is
// in bytes; 0 is none.
func newMemory(c clock.Clock, limit uint64) *memory {
	debug.SetGCPercent(largeGrowth) // starting allocates once and fast
	m := &memory{clock: c, room: limit / roomPart, ballast: new([ballastSize]byte)}
	m.pages = hugepages.Prepare(heapReach) // behind the ballast
	return m
}

// started says that the server is up.
func (m *memory) started(s shrinker) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server = s
	// What modules that are evaluated ahead leave behind stands between what they keep:
	// the heap would stay as large as it has been.
	m.grow(usualGrowth)
	runtime.SetFinalizer(&cycle{m}, (*cycle).ended)
	m.seen = allocatedBytes()
	m.timer = m.clock.AfterFunc(settleAfter, m.settle)
}

// ended is called after a collection.
func (c *cycle) ended() {
	m := c.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	now, objects := m.clock.Now(), m.objects.Load()
	m.pace(now.Sub(m.cycled), objects-m.come.Load(), metric("/gc/heap/live:bytes"))
	m.cycled = now
	m.come.Store(objects)
	runtime.SetFinalizer(&cycle{m}, (*cycle).ended)
}

// pace decides when to collect next; the last collection left live bytes, and came so
// long and so many objects after the one before. Called with mu held.
func (m *memory) pace(since time.Duration, objects, live uint64) {
	growth := usualGrowth
	switch {
	case objects >= manyObjects:
		growth = growthOf(live)
	case since < busyInterval && live > packLimit && m.room > live:
		growth = min(int(m.room*100/live), largeGrowth)
	}
	m.grow(growth)
	m.roomy.Store(live > packLimit && growth > comingGrowth)
}

// growthOf is the growth of a heap that objects come into, with so many live bytes.
func growthOf(live uint64) int {
	if live > packLimit {
		return comingGrowth
	}
	return usualGrowth
}

// grow sets the growth. Called with mu held.
func (m *memory) grow(percent int) {
	if m.growth != percent {
		m.growth = percent
		debug.SetGCPercent(percent)
	}
}

// opened says that an object has come into memory. It does not wait.
func (m *memory) opened() {
	n := m.objects.Add(1)
	if m.roomy.Load() && n-m.come.Load() >= manyObjects && m.roomy.CompareAndSwap(true, false) {
		m.clock.AfterFunc(0, m.narrow)
	}
	if n%packEvery == 0 && m.packing.CompareAndSwap(false, true) {
		m.clock.AfterFunc(0, m.pack)
	}
}

// narrow takes the room for garbage away.
func (m *memory) narrow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.grow(growthOf(metric("/gc/heap/live:bytes")))
}

// pack collects garbage from between objects.
func (m *memory) pack() {
	defer m.packing.Store(false)
	if metric("/gc/heap/live:bytes") <= packLimit {
		runtime.GC()
	}
}

// stop ends it. Stopping twice is allowed.
func (m *memory) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped, m.ballast = true, nil
	if m.timer != nil {
		m.timer.Stop()
	}
}

// settle gives back what starting took, the bundler's memory above all, as soon as there
// is no work that would wait for it.
func (m *memory) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	now := allocatedBytes()
	if now-m.seen < idleBytes {
		m.trim(now)
		return
	}
	m.seen = now
	m.timer = m.clock.AfterFunc(settleInterval, m.settle)
}

func (m *memory) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	m.server.Shrink(trimInterval)
	now, was := allocatedBytes(), m.idle
	m.idle = now-m.seen < idleBytes
	if !m.idle {
		m.pages.Large(true)
	}
	if was && m.idle && now-m.trimmed >= trimBytes {
		m.trim(now)
		return
	}
	m.seen = now
	m.timer = m.clock.AfterFunc(trimInterval, m.look)
}

// trim gives memory back and arms the next look. Called with mu held.
func (m *memory) trim(now uint64) {
	m.grow(usualGrowth)
	m.pages.Large(false)
	sqlite.Trim()
	debug.FreeOSMemory()
	filepages.Release()
	m.seen, m.trimmed = now, now
	m.timer = m.clock.AfterFunc(trimInterval, m.look)
}

// allocatedBytes is how much the process has ever allocated.
func allocatedBytes() uint64 { return metric("/gc/heap/allocs:bytes") }

func metric(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
