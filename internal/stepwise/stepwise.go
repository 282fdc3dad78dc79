// Package stepwise copies long slices so that a collection need not wait for it. A copy is
// one instruction for Go's scheduler: while a goroutine moves a hundred megabytes to memory
// that the system has yet to clear, each other goroutine that the collector has stopped
// waits, and with it each other worker of the process.
package stepwise

import "unsafe"

// Bytes is how much is copied at once.
const Bytes = 1 << 20

// Copy is copy.
func Copy[T any](to, from []T) int {
	n, most := min(len(to), len(from)), Bytes/int(unsafe.Sizeof(*new(T)))
	for at := 0; at < n; at += most {
		step(to[at:min(at+most, n)], from[at:n])
	}
	return n
}

// step copies the beginning. It is a call, for it is at calls that a goroutine makes way
// when it could not be stopped within a copy.
//
//go:noinline
func step[T any](to, from []T) { copy(to, from) }

// Grow is slices.Grow: it makes sure that n more fit behind what a slice holds.
func Grow[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	grown := make([]T, len(s), max(len(s)+n, len(s)+len(s)/4))
	Copy(grown, s)
	return grown
}
