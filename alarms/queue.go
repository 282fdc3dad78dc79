package alarms

import "container/heap"

// status is where an alarm stands. The zero value is waiting.
type status int

const (
	waiting  status = iota // for its time
	running                // its handler was called and has not answered
	retrying               // the handler failed; it is called again at due
)

// key names an object across namespaces.
type key struct{ namespace, id string }

// entry is one object's alarm. Guarded by the scheduler's mu.
type entry struct {
	key
	name        string
	scheduledNs int64 // the time the object asked for; what the handler is told
	dueNs       int64 // when the handler is to be called: later, if it is a retry
	status      status
	queued      bool  // an alarm was set while this one runs ...
	queuedNs    int64 // ... for this time
	counted     int   // failures that count against the limit
	backoff     int   // exponent of the next delay
	lastCounted bool  // the last failure counted
	slot        int   // position in the queue, -1 outside
}

// queue is a heap of the entries that wait for their due time, ordered by due
// time, then namespace and id, so that a simulation repeats itself.
type queue []*entry

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.dueNs != b.dueNs:
		return a.dueNs < b.dueNs
	case a.namespace != b.namespace:
		return a.namespace < b.namespace
	}
	return a.id < b.id
}
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].slot, q[j].slot = i, j
}

// Push is heap.Interface's.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.slot = len(*q)
	*q = append(*q, e)
}

// Pop is heap.Interface's.
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	e.slot = -1
	return e
}

// place puts e into the queue for its due time, or moves it there.
func (q *queue) place(e *entry) {
	if e.slot >= 0 {
		heap.Fix(q, e.slot)
	} else {
		heap.Push(q, e)
	}
}

// drop takes e out of the queue, if it is in it.
func (q *queue) drop(e *entry) {
	if e.slot >= 0 {
		heap.Remove(q, e.slot)
	}
}
