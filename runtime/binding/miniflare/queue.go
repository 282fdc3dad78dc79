package miniflare

import (
	"sync"

	"minido.dev/minido/internal/sched"
)

// Queue runs operations one after the other, in the order in which they came:
// what a worker starts without waiting for it must not overtake what it started
// before. Safe for concurrent use. It is bounded by what its callers wait for:
// each operation is one of a context.
type Queue struct {
	scheduler sched.Scheduler

	mu      sync.Mutex // guards the rest
	waiting []func()
	running bool
}

// NewQueue returns an empty queue.
func NewQueue(s sched.Scheduler) *Queue { return &Queue{scheduler: s} }

// Add runs an operation, which is called what, after those that were added before.
func (q *Queue) Add(what string, operation func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, operation)
	if !q.running {
		q.running = true
		q.scheduler.Go(what, func() { q.next(what) })
	}
}

// TryNow runs an operation at once, on the caller's goroutine, unless others run or
// wait. It is for what never blocks for long: the caller may be a loop.
func (q *Queue) TryNow(what string, operation func()) bool {
	q.mu.Lock()
	if q.running {
		q.mu.Unlock()
		return false
	}
	q.running = true
	q.mu.Unlock()
	operation()
	q.ended(what)
	return true
}

func (q *Queue) next(what string) {
	q.mu.Lock()
	operation := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.mu.Unlock()
	operation()
	q.ended(what)
}

// ended goes on with what has come meanwhile.
func (q *Queue) ended(what string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running = len(q.waiting) > 0; q.running {
		q.scheduler.Go(what, func() { q.next(what) })
	}
}
