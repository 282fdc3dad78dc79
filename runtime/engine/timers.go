package engine

import (
	"math"
	"slices"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/heap"
)

// timer is one setTimeout or setInterval.
type timer struct {
	id       int64
	queue    *Timers
	frame    *Frame
	at       time.Time
	set      time.Time // when Set was called
	seq      int64
	interval time.Duration // 0: once
	fn       func()
	place    int // in the heap; 0 when not in it
	gone     bool
}

func (t *timer) Place() *int { return &t.place }

func (t *timer) Before(o *timer) bool {
	if !t.at.Equal(o.at) {
		return t.at.Before(o.at)
	}
	return t.seq < o.seq
}

// Timers orders the isolate's timers by deadline, then by when they were
// set, and keeps one clock timer armed for the earliest. Loop-confined.
type Timers struct {
	engine *Engine
	seq    int64 // also numbers operations
	heap   heap.Queue[*timer]
	armed  clock.Timer
	armAt  time.Time
	closed bool
}

// PendingTimer is a setTimeout or setInterval that has not run yet.
type PendingTimer struct {
	At time.Time
	// Label is that of its context: "Class/name", or "" of the stateless worker.
	Label  string
	Repeat bool
}

// Pending lists the isolate's timers by deadline. Loop-confined.
func (q *Timers) Pending() []PendingTimer {
	var all []*timer
	for t := range q.heap.All() {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *timer) int {
		if a.Before(b) {
			return -1
		}
		return 1
	})
	var out []PendingTimer
	for _, t := range all {
		out = append(out, PendingTimer{At: t.at, Label: t.frame.Context.Label, Repeat: t.interval > 0})
	}
	return out
}

// Set calls fn as a turn of the current frame after delay, or every delay
// if repeat. The id is unique in the isolate. It throws in the global scope. Code that
// nobody waits for can still run when its context has finished: its timers never fire, as in workerd.
func (q *Timers) Set(delay time.Duration, repeat bool, fn func()) int64 {
	if c := q.engine.Current(); c != nil && c.dead != nil && c.keepOutputs {
		q.seq++
		return q.seq
	}
	c := q.engine.IO("timer")
	q.seq++
	t := &timer{id: q.seq, queue: q, frame: q.engine.Turns.cur, fn: fn, seq: q.seq}
	t.set = q.clock().Now()
	t.at = t.set.Add(delay)
	if repeat {
		t.interval = max(delay, time.Millisecond)
	}
	if c.timers == nil {
		c.timers = map[int64]*timer{}
	}
	c.timers[t.id] = t
	q.heap.Put(t)
	q.arm()
	return t.id
}

// Clear cancels a timer of the current context; other ids are ignored.
func (q *Timers) Clear(id int64) {
	if c := q.engine.Current(); c != nil {
		if t := c.timers[id]; t != nil {
			t.cancel()
		}
	}
}

// Milliseconds converts a delay as JavaScript gives it; what is not a finite
// number of milliseconds is 0, and no timer waits longer than 2^31-1 ms.
func Milliseconds(ms float64) time.Duration {
	if math.IsNaN(ms) || ms < 0 {
		return 0
	}
	return time.Duration(math.Min(ms, math.MaxInt32) * float64(time.Millisecond))
}

func (t *timer) cancel() {
	if t.gone {
		return
	}
	t.gone = true
	delete(t.frame.Context.timers, t.id)
	t.queue.heap.Remove(t)
}

// clock is what deadlines are told by: no timer moves when the time of day is set.
func (q *Timers) clock() clock.Clock { return clock.Steady(q.engine.clock) }

// arm keeps the clock timer at the earliest deadline. A clock timer that was
// armed too early is left alone: it finds nothing due and arms anew.
func (q *Timers) arm() {
	if q.heap.Len() == 0 || q.closed {
		return
	}
	at := q.heap.First().at
	if q.armed != nil {
		if !at.Before(q.armAt) {
			return
		}
		q.armed.Stop()
	}
	q.armAt = at
	q.armed = q.clock().AfterFunc(at.Sub(q.clock().Now()), func() {
		q.engine.loop.Post(q.fire)
	})
}

// firedAtOnce is how many timers run before other events have their turn.
const firedAtOnce = 64

// fire runs the timers that are due, each in a turn of its own; when there are
// very many, other events come in between.
func (q *Timers) fire() {
	q.armed = nil
	now := q.clock().Now()
	last := q.seq // timers set by these turns wait for the next round
	var later []*timer
	for fired := 0; q.heap.Len() > 0 && !q.heap.First().at.After(now) && fired < firedAtOnce; fired++ {
		t := q.heap.Pop()
		if t.seq > last {
			later = append(later, t)
			continue
		}
		if t.interval > 0 {
			q.seq++
			t.at, t.seq = now.Add(t.interval), q.seq
			q.heap.Put(t)
			q.engine.Turns.Enter(t.frame, "timer", func() {
				if !t.gone {
					t.fn()
				}
			})
			continue
		}
		q.engine.Turns.Enter(t.frame, "timer", func() {
			if !t.gone {
				t.gone = true
				delete(t.frame.Context.timers, t.id)
				t.fn()
			}
		})
	}
	for _, t := range later {
		if t.gone {
			continue
		}
		q.heap.Put(t)
	}
	q.arm()
}

func (q *Timers) close() {
	q.engine.loop.Post(func() { q.closed = true })
}
