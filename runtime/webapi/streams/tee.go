package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// teeing is one stream that is read for two (Streams, section 4.9.1,
// ReadableStreamDefaultTee and ReadableByteStreamTee). Loop-confined.
type teeing struct {
	p        *Streams
	s        *readable
	r        *reader        // the one that cancels the source once both are canceled
	branches [2]*controller // which stay, also when a branch moves into another object
	canceled [2]bool
	reading  bool
	byob     bool
	again    [2]bool
}

// tee makes two streams of one. It throws if it is locked.
func (s *readable) tee() (a, b *readable) {
	p := s.p
	if s.reader != nil {
		p.Engine.Throw("TypeError", TextTeeLocked)
	}
	t := &teeing{p: p, s: s, r: s.acquire(false)}
	bytes := s.controller.bytes
	var made [2]*readable
	for i := range t.branches {
		o := readableOptions{late: true, cancel: func(reason goja.Value) *engine.Deferred { return t.cancel(i, reason) }}
		o.pull = func() *engine.Deferred { t.pull(0); return p.void }
		if bytes {
			o.bytes = true
			o.pull = func() *engine.Deferred { t.pullBytes(i); return p.void }
		}
		made[i] = p.create(o)
		t.branches[i] = made[i].controller
		t.branches[i].autoAllocate = s.controller.autoAllocate
		if s.single && !s.disturbed {
			made[i].fixed = s.length()
		}
	}
	t.forward(t.r)
	return made[0], made[1]
}

// cancel ends one branch; the source ends with the second, and gets that one's
// reason (workerd: src/workerd/api/streams/queue.h, where a tee shares the queue).
func (t *teeing) cancel(i int, reason goja.Value) *engine.Deferred {
	t.canceled[i] = true
	if t.canceled[1-i] {
		return t.r.cancel(reason)
	}
	return t.p.done()
}

// forward has the branches fail as the source does.
func (t *teeing) forward(r *reader) {
	r.whenClosed().Then(nil, func(reason goja.Value) {
		if r != t.r {
			return
		}
		t.failBoth(reason)
	})
}

func (t *teeing) failBoth(reason goja.Value) {
	for _, branch := range t.branches {
		branch.fail(reason)
	}
}

// each calls fn for the branches that are not canceled.
func (t *teeing) each(fn func(c *controller)) {
	for i, branch := range t.branches {
		if !t.canceled[i] {
			fn(branch)
		}
	}
}

func (t *teeing) pull(int) {
	if t.reading {
		t.again[0] = true
		return
	}
	t.reading = true
	t.r.read((*teeRead)(t))
}

// teeRead is a tee of values as who reads.
type teeRead teeing

func (r *teeRead) chunk(v goja.Value) {
	t := (*teeing)(r)
	t.p.Engine.Promises.Microtask(func() {
		t.again[0] = false
		t.each(func(c *controller) {
			if thrown := c.enqueue(v); thrown != nil {
				panic(thrown)
			}
		})
		t.reading = false
		if t.again[0] {
			t.pull(0)
		}
	})
}

func (r *teeRead) close(goja.Value) {
	t := (*teeing)(r)
	t.reading = false
	t.each((*controller).close)
}

func (r *teeRead) fail(goja.Value) { r.reading = false }
