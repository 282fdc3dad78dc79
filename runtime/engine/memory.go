package engine

// MemoryLimit bounds what natives make: goja cannot be interrupted while it allocates,
// and an allocation that fails ends the process. Loop-confined.
type MemoryLimit struct {
	engine *Engine
	heap   *HeapWatch // nil: the heap has no limit
	unseen int64      // bytes allocated since the heap was looked at
}

// Allocate throws a RangeError if n bytes more are too much for one value, or
// for the heap's limit. Natives call it before they make something large.
func (m *MemoryLimit) Allocate(n int64, message string) {
	if n > MaxValueBytes || n < 0 {
		m.engine.Throw("RangeError", "%s", message)
	}
	const often = 16 << 20
	if m.unseen += n; m.unseen >= often {
		if m.heap.over(uint64(n)) {
			m.engine.Throw("RangeError", "%s", message)
		}
		m.unseen = 0
	}
}

// Fit throws a RangeError if n bytes more are too much for the heap's limit: of
// what is made of many small values, which no bound of one value concerns.
func (m *MemoryLimit) Fit(n int64, message string) {
	if !m.Fits(n) {
		m.engine.Throw("RangeError", "%s", message)
	}
}

// Fits reports whether n bytes more are within the heap's limit.
func (m *MemoryLimit) Fits(n int64) bool { return n <= 1<<20 || !m.heap.over(uint64(n)) }

// Allows reports whether a native that runs for long may go on and take n bytes more: it
// may not when the turn has been interrupted, or the heap's limit would be exceeded.
func (m *MemoryLimit) Allows(n int) bool {
	return !m.engine.Natives.Interrupted() && m.Fits(int64(n))
}

// badStringLength is V8's text.
const badStringLength = "Invalid string length"

// MaxValueBytes bounds one string or buffer. A native of goja cannot be interrupted,
// and an allocation that fails ends the process: what makes something large asks
// Allocate first. It is production's memory limit of an isolate.
const MaxValueBytes = 128 << 20
