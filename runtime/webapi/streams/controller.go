package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// controller is what both controllers of a readable stream have, and the state of
// each (Streams, sections 4.6.2 and 4.7.2). Loop-confined.
type controller struct {
	p      *Streams
	stream *readable
	mark   float64 // the high water mark
	size   float64 // of all that is queued
	obj    *goja.Object

	started, closing, pulling, again bool

	pull   func() *engine.Deferred // nil: there is nothing to ask
	cancel func(reason goja.Value) *engine.Deferred
	source *source // bytes from Go: pull is told by callbacks, without promises

	// A default controller's.
	queue queue[sized]
	sizes goja.Callable

	// A byte controller's.
	bytes        bool
	pieces       queue[piece]
	pending      queue[*pullInto]
	request      *byobRequest
	autoAllocate int
	canceling    func(reason goja.Value) // nil, or told of a cancellation before reads that wait are
	emptied      func()                  // nil, or told when a read has taken the last of what was queued

	pulled, failed func(goja.Value) // made once
}

func (p *Streams) newController(s *readable, mark float64) *controller {
	c := &controller{p: p, stream: s, mark: mark}
	s.controller = c
	return c
}

// forget is ReadableStreamDefaultControllerClearAlgorithms and its like.
func (c *controller) forget() { c.pull, c.cancel, c.sizes = nil, nil, nil }

// clear drops what is queued.
func (c *controller) clear() {
	if c.bytes {
		c.pending = queue[*pullInto]{}
		if c.request != nil && !c.request.over {
			c.invalidate()
		}
	}
	c.queue, c.pieces, c.size = queue[sized]{}, queue[piece]{}, 0
}

// open is ReadableStreamDefaultControllerCanCloseOrEnqueue.
func (c *controller) open() bool { return !c.closing && c.stream.state == stateReadable }

// desired is the desired size; ok is false for an errored stream.
func (c *controller) desired() (n float64, ok bool) {
	switch c.stream.state {
	case stateErrored:
		return 0, false
	case stateClosed:
		return 0, true
	}
	return c.mark - c.size, true
}

func (c *controller) desiredSize() goja.Value {
	n, ok := c.desired()
	if !ok {
		return goja.Null()
	}
	return c.p.VM.ToValue(n)
}

// wanted is ReadableStreamDefaultControllerShouldCallPull.
func (c *controller) wanted() bool {
	return c.started && c.open() && (c.stream.waiting() || c.mark > c.size)
}

// fail is ReadableStreamDefaultControllerError and its like.
func (c *controller) fail(reason goja.Value) {
	if c.stream.state != stateReadable {
		return
	}
	c.retire()
	c.clear()
	c.forget()
	c.stream.fail(reason)
}

// callPull is ReadableStreamDefaultControllerCallPullIfNeeded and its like.
func (c *controller) callPull() {
	if c.pull == nil || !c.wanted() {
		return
	}
	if c.pulling {
		c.again = true
		return
	}
	c.pulling = true
	if c.source != nil {
		c.pull()
		return
	}
	if c.pulled == nil {
		c.pulled, c.failed = c.hasPulled, c.fail
	}
	c.pull().Then(c.pulled, c.failed)
}

func (c *controller) hasPulled(goja.Value) {
	c.pulling = false
	if c.again {
		c.again = false
		c.callPull()
	}
}

// startAfter lets pulls begin once started is fulfilled.
func (c *controller) startAfter(started *engine.Deferred) {
	started.Then(func(goja.Value) {
		c.started = true
		c.callPull()
	}, c.fail)
}
