// Package heap is a priority queue whose items know their position, so that any of
// them can be removed or moved: timers, alarms.
package heap

import (
	"container/heap"
	"iter"
	"slices"
)

// Item is what a Queue holds. *T is the item's pointer type.
type Item[T any] interface {
	// Before orders the queue; no two items may be equal, so that a simulation
	// repeats itself.
	Before(other T) bool
	// Place is where the queue keeps the item's place: 1 for the first, 0
	// outside any queue. An item is in one queue at most.
	Place() *int
}

// Queue holds items in order; the zero value is empty. It has no lock: its
// owner's guards it.
type Queue[T Item[T]] struct{ items items[T] }

// Len is how many items there are.
func (q *Queue[T]) Len() int { return len(q.items) }

// All yields the items in no order that means anything.
func (q *Queue[T]) All() iter.Seq[T] { return slices.Values(q.items) }

// First is the item before all others. The queue must not be empty.
func (q *Queue[T]) First() T { return q.items[0] }

// Pop takes the first item out. The queue must not be empty.
func (q *Queue[T]) Pop() T { return heap.Pop(&q.items).(T) }

// Put puts an item in or, if it is in already, moves it to where it now belongs.
func (q *Queue[T]) Put(item T) {
	if at := *item.Place(); at > 0 {
		heap.Fix(&q.items, at-1)
	} else {
		heap.Push(&q.items, item)
	}
}

// Remove takes an item out and reports whether it was in.
func (q *Queue[T]) Remove(item T) bool {
	at := *item.Place()
	if at > 0 {
		heap.Remove(&q.items, at-1)
	}
	return at > 0
}

// items implements heap.Interface.
type items[T Item[T]] []T

func (s items[T]) Len() int           { return len(s) }
func (s items[T]) Less(i, j int) bool { return s[i].Before(s[j]) }
func (s items[T]) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	*s[i].Place(), *s[j].Place() = i+1, j+1
}

// Push is heap.Interface's.
func (s *items[T]) Push(x any) {
	item := x.(T)
	*s = append(*s, item)
	*item.Place() = len(*s)
}

// Pop is heap.Interface's.
func (s *items[T]) Pop() any {
	old := *s
	item := old[len(old)-1]
	var none T
	old[len(old)-1] = none
	*s = old[:len(old)-1]
	*item.Place() = 0
	return item
}
