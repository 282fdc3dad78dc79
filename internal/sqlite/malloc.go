package sqlite

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// heap is what SQLite allocates from, for all connections of the process. The
// allocator of libc rounds every size up to a power of two, which nearly
// doubles the pages of a cache (4,368 bytes) and a connection with little in
// it; here a size is rounded up by an eighth at most. Memory that was freed
// serves later allocations of its class, and goes back to the system by trim;
// what is larger than maxSlot is libc's, which gives it back at once.
//
// In front of what an allocation returns stand 8 bytes with the size of its
// slot. Guarded by mu.
type heap struct {
	mu      sync.Mutex
	classes [numClasses]class
}

// class keeps the slots of one size.
type class struct {
	size      uintptr   // of its slots
	free      uintptr   // slots that were given back, linked through their first word
	next, end uintptr   // what is left of the class's last slab
	slabs     []uintptr // where they begin, ascending
}

const (
	slotHeader = 8
	minShift   = 4 // slots of up to 256 bytes are multiples of 16
	fineSteps  = 16
	fineLimit  = fineSteps << minShift
	maxShift   = 14
	maxSlot    = 1 << maxShift
	numClasses = fineSteps + (maxShift-8)*(fineSteps/2)
	// slabSize is what libc gives in one piece, less its own header.
	slabSize = 64<<10 - 64
)

// classOf gives the class of slots that hold n bytes, 0 < n <= maxSlot, and
// their size: above fineLimit there are eight classes to each power of two.
func classOf(n uintptr) (index int, size uintptr) {
	if n <= fineLimit {
		i := (n - 1) >> minShift
		return int(i), (i + 1) << minShift
	}
	shift := uint(bits.Len64(uint64(n-1))) - 4 // the top bit and three more count
	step := (n - 1) >> shift                   // 8 to 15
	return fineSteps + int(shift-5)*8 + int(step-8), (step + 1) << shift
}

// slotOf is how large the slot, or libc's piece, for an allocation of n bytes is.
func slotOf(n uintptr) uintptr {
	n += slotHeader
	if n > maxSlot {
		return (n + 15) &^ 15
	}
	_, size := classOf(n)
	return size
}

// alloc returns 0 when there is no memory.
func (h *heap) alloc(tls *libc.TLS, n uintptr) uintptr {
	size := slotOf(n)
	slot := uintptr(0)
	if size > maxSlot {
		slot = libc.Xmalloc(tls, libc.Tsize_t(size))
	} else {
		i, _ := classOf(size)
		h.mu.Lock()
		slot = h.classes[i].take(tls, size)
		h.mu.Unlock()
	}
	if slot == 0 {
		return 0
	}
	*(*uintptr)(at(slot)) = size
	return slot + slotHeader
}

// take is called with the heap's mu held.
func (c *class) take(tls *libc.TLS, size uintptr) uintptr {
	if slot := c.free; slot != 0 {
		c.free = *(*uintptr)(at(slot))
		return slot
	}
	if c.end-c.next < size {
		c.next = libc.Xmalloc(tls, slabSize)
		if c.next == 0 {
			c.end = 0
			return 0
		}
		c.end, c.size = c.next+slabSize, size
		c.slabs = slices.Insert(c.slabs, c.slabOf(c.next)+1, c.next)
	}
	slot := c.next
	c.next += size
	return slot
}

func (h *heap) free(tls *libc.TLS, p uintptr) {
	slot := p - slotHeader
	size := *(*uintptr)(at(slot))
	if size > maxSlot {
		libc.Xfree(tls, slot)
		return
	}
	i, _ := classOf(size)
	c := &h.classes[i]
	h.mu.Lock()
	*(*uintptr)(at(slot)) = c.free
	c.free = slot
	h.mu.Unlock()
}

// trim gives the slabs of which no slot is in use back to the system. It looks at
// every free slot.
func (h *heap) trim(tls *libc.TLS) {
	for i := range h.classes {
		h.mu.Lock() // for each class again: others wait for one at most
		h.classes[i].trim(tls)
		h.mu.Unlock()
	}
}

// slabOf is the index of the slab that has the address p, or would precede it.
func (c *class) slabOf(p uintptr) int {
	i, found := slices.BinarySearch(c.slabs, p)
	if !found {
		i--
	}
	return i
}

// trim is called with the heap's mu held.
func (c *class) trim(tls *libc.TLS) {
	free := make([]uintptr, len(c.slabs)) // slots of each slab
	for slot := c.free; slot != 0; slot = *(*uintptr)(at(slot)) {
		free[c.slabOf(slot)]++
	}
	unused := func(i int) bool {
		if end := c.slabs[i] + slabSize; end == c.end {
			return free[i] == (c.next-c.slabs[i])/c.size
		}
		return free[i] == slabSize/c.size
	}
	kept := uintptr(0)
	for slot := c.free; slot != 0; {
		next := *(*uintptr)(at(slot))
		if !unused(c.slabOf(slot)) {
			*(*uintptr)(at(slot)) = kept
			kept = slot
		}
		slot = next
	}
	c.free = kept
	var slabs []uintptr
	for i, slab := range c.slabs {
		if !unused(i) {
			slabs = append(slabs, slab)
			continue
		}
		libc.Xfree(tls, slab)
	}
	if c.end != 0 && unused(c.slabOf(c.end-1)) {
		c.next, c.end = 0, 0
	}
	c.slabs = slabs
}

// Trim gives memory that no connection of the process uses any more back to the
// system. It may be called at any time, from any goroutine, and looks at each
// piece of memory that was freed.
func Trim() {
	tls := libc.NewTLS()
	defer tls.Close()
	sqliteHeap.trim(tls)
}

// usable is how many bytes the allocation at p may use.
func usable(p uintptr) uintptr { return *(*uintptr)(at(p - slotHeader)) - slotHeader }

// resize returns 0, and leaves p as it is, when there is no memory.
func (h *heap) resize(tls *libc.TLS, p, n uintptr) uintptr {
	have := usable(p)
	if slotOf(n)-slotHeader == have {
		return p
	}
	if size := slotOf(n); size > maxSlot && have > maxSlot {
		slot := libc.Xrealloc(tls, p-slotHeader, libc.Tsize_t(size))
		if slot == 0 {
			return 0
		}
		*(*uintptr)(at(slot)) = size
		return slot + slotHeader
	}
	q := h.alloc(tls, n)
	if q == 0 {
		return 0
	}
	copy(bytesAt(q, int(n)), bytesAt(p, int(min(have, n))))
	h.free(tls, p)
	return q
}

// sqliteHeap is one for the process, as SQLite's configuration is.
var sqliteHeap heap

// The functions of sqlite3_mem_methods. SQLite serializes none of them.
func memMalloc(tls *libc.TLS, n int32) uintptr { return sqliteHeap.alloc(tls, uintptr(n)) }
func memFree(tls *libc.TLS, p uintptr)         { sqliteHeap.free(tls, p) }
func memRealloc(tls *libc.TLS, p uintptr, n int32) uintptr {
	return sqliteHeap.resize(tls, p, uintptr(n))
}
func memSize(_ *libc.TLS, p uintptr) int32 {
	if p == 0 {
		return 0
	}
	return int32(usable(p))
}
func memRoundup(_ *libc.TLS, n int32) int32 { return int32(slotOf(uintptr(n)) - slotHeader) }
func memInit(_ *libc.TLS, _ uintptr) int32  { return sqlite3.SQLITE_OK }
func memShutdown(_ *libc.TLS, _ uintptr)    {}

// useHeap makes SQLite allocate from sqliteHeap. It must precede SQLite's first
// use in the process.
func useHeap(tls *libc.TLS) {
	methods := sqlite3.Tsqlite3_mem_methods{
		FxMalloc: funcPtr(memMalloc), FxFree: funcPtr(memFree), FxRealloc: funcPtr(memRealloc), FxSize: funcPtr(memSize),
		FxRoundup: funcPtr(memRoundup), FxInit: funcPtr(memInit), FxShutdown: funcPtr(memShutdown),
	}
	const room = 128 // for the methods, which SQLite copies, and the argument list
	p := libc.Xcalloc(tls, 1, room)
	defer libc.Xfree(tls, p)
	*(*sqlite3.Tsqlite3_mem_methods)(at(p)) = methods
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(p+room-16, p)); rc != sqlite3.SQLITE_OK {
		panic(fmt.Sprintf("sqlite: SQLite was in use before its allocator was chosen: %s", codeName(int(rc))))
	}
}
