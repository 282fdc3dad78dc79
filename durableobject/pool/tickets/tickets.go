// Package tickets is a queue of events that wait in the order of their tickets, in whatever
// order they arrive.
package tickets

import "slices"

// Queue holds events with their tickets. The zero Queue is empty. Not safe for concurrent
// use: its owner guards it.
type Queue[T any] struct{ waiting []entry[T] }

type entry[T any] struct {
	ticket uint64
	event  T
}

// Add puts an event behind those with tickets that are not larger. It takes time in
// proportion to the events with larger ones.
func (q *Queue[T]) Add(ticket uint64, event T) {
	i := len(q.waiting)
	for i > 0 && q.waiting[i-1].ticket > ticket {
		i--
	}
	q.waiting = slices.Insert(q.waiting, i, entry[T]{ticket, event})
}

// Take empties the queue and returns what it held, smallest ticket first.
func (q *Queue[T]) Take() []T {
	events := make([]T, len(q.waiting))
	for i, e := range q.waiting {
		events[i] = e.event
	}
	q.waiting = nil
	return events
}
