package child

import (
	"runtime"
	"syscall"
)

// heapAhead is how much of the heap is put on large pages at the start, in bytes:
// about what a child needs for a bundle with its packages.
const heapAhead = 96 << 20

// enlargePages has the kernel back the heap with large pages. A child touches most
// of its heap once and is then killed: half of what it costs the kernel is in
// making and taking down small pages. It is a matter of speed: a kernel that does not
// know large pages changes nothing.
func enlargePages() {
	ahead := make([]byte, heapAhead)
	_ = syscall.Madvise(ahead, syscall.MADV_HUGEPAGE) // EINVAL where there are none
	runtime.KeepAlive(ahead)
	ahead = nil
	runtime.GC() // the next allocations take its place
}
