package streams

import "github.com/dop251/goja"

// queue is a queue with sizes (Streams, section 8.1), first in first out. What it
// holds counts for the heap's limit as everything does. Loop-confined.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) empty() bool { return q.head == len(q.items) }

func (q *queue[T]) push(item T) { q.items = append(q.items, item) }

// first is the oldest item of a queue that is not empty.
func (q *queue[T]) first() *T { return &q.items[q.head] }

func (q *queue[T]) take() T {
	var none T
	item := q.items[q.head]
	q.items[q.head] = none
	q.head++
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > manyItems {
			q.items = nil
		}
	case q.head > manyItems && q.head*2 > len(q.items):
		q.items, q.head = append([]T(nil), q.items[q.head:]...), 0
	}
	return item
}

// takeAll empties the queue.
func (q *queue[T]) takeAll() []T {
	items := q.items[q.head:]
	q.items, q.head = nil, 0
	return items
}

// manyItems is how many items a queue keeps room for.
const manyItems = 256

// sized is a chunk with what the strategy said of it.
type sized struct {
	chunk goja.Value
	size  float64
	close bool // no chunk: the stream is to be closed
}

// piece is a part of an ArrayBuffer that a byte stream owns.
type piece struct {
	buffer   *goja.Object
	off, len int
}
