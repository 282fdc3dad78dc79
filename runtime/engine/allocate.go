package engine

import "sync/atomic"

// Allocate throws a RangeError if n bytes more are too much for one value, or
// for the heap's limit. Natives call it before they make something large.
func (e *Engine) Allocate(n int64, message string) {
	if n > MaxValueBytes || n < 0 {
		e.Throw("RangeError", "%s", message)
	}
	const often = 16 << 20
	if e.unseen += n; e.unseen >= often {
		if e.watch.heap.over(uint64(n)) {
			e.Throw("RangeError", "%s", message)
		}
		e.unseen = 0
	}
}

// Fit throws a RangeError if n bytes more are too much for the heap's limit: of
// what is made of many small values, which no bound of one value concerns.
func (e *Engine) Fit(n int64, message string) {
	if !e.Fits(n) {
		e.Throw("RangeError", "%s", message)
	}
}

// Fits reports whether n bytes more are within the heap's limit.
func (e *Engine) Fits(n int64) bool { return n <= 1<<20 || !e.watch.heap.over(uint64(n)) }

// Interrupted reports whether the turn is to end: what cannot call Pause where it
// works asks, stops, and calls it later.
func (e *Engine) Interrupted() bool { return atomic.LoadUint32(e.natives.interrupted) != 0 }

// badStringLength is V8's text.
const badStringLength = "Invalid string length"

// MaxValueBytes bounds one string or buffer. A native of goja cannot be interrupted,
// and an allocation that fails ends the process: what makes something large asks
// Allocate first. It is production's memory limit of an isolate.
const MaxValueBytes = 128 << 20
