// Package stepwise copies long slices so that a collection need not wait for it. A copy is
// one instruction for Go's scheduler: while a goroutine moves a hundred megabytes to memory
// that the system has yet to clear, each other goroutine that the collector has stopped
// waits, and with it each other worker of the process.
package stepwise

// Bytes is how much is copied at once.
const Bytes = 1 << 20

// Unit is what texts and buffers consist of.
type Unit interface{ byte | uint16 }

// Copy is copy.
func Copy[T Unit](to, from []T) int {
	n := min(len(to), len(from))
	for at := 0; at < n; at += Bytes {
		step(to[at:n], from[at:n])
	}
	return n
}

// step copies the beginning. It is a call, for it is at calls that a goroutine makes way
// when it could not be stopped within a copy.
//
//go:noinline
func step[T Unit](to, from []T) { copy(to[:min(Bytes, len(to))], from) }

// Grow is slices.Grow: it makes sure that n more fit behind what a slice holds.
func Grow[T Unit](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	grown := make([]T, len(s), max(len(s)+n, len(s)+len(s)/4))
	Copy(grown, s)
	return grown
}
