// Package hugepages places Go's heap in pages of 2 MB if Linux provides them on
// request. A process that starts touches a hundred megabytes for the first time; with
// pages of 4 kB each of them interrupts it 25,000 times, which on virtual machines is
// up to half of its start.
package hugepages

import (
	"runtime"
	"strings"
)

// Heap is a part of the address space that Go's heap grows into. Nil is none: the system
// has no such pages, gives them to everybody, or bounds the address space. Methods may
// be called at any time, by one goroutine after the other.
type Heap struct {
	start, size uintptr
	large       bool
}

// Prepare makes the next size bytes that the heap grows into large pages. It takes
// addresses and no memory, and collects garbage once, so it belongs to the beginning of
// a process (Linux: madvise(2), MADV_HUGEPAGE).
func Prepare(size int) *Heap {
	if !offered() {
		return nil
	}
	h := reserve(size)
	runtime.GC() // what was reserved is free, and still has its advice
	h.Large(true)
	return h
}

// reserve allocates what the heap is to grow into, and forgets it. A Builder's memory is
// not cleared; make sometimes clears what it gives, and so would touch all of it.
//
//go:noinline
func reserve(size int) *Heap {
	var b strings.Builder
	b.Grow(size)
	b.WriteByte(0)
	return region(b.String(), size)
}

// Large says whether pages are to be large from now on. A process that gives memory back
// wants small ones: the system makes large pages of what lies between what it has freed.
func (h *Heap) Large(on bool) {
	if h == nil || h.large == on {
		return
	}
	h.large = on
	advise(h.start, h.size, on)
}
