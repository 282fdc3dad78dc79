package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

const (
	textPartial         = "This ReadableStream was closed with a partial read pending."
	textClosedBytes     = "This ReadableByteStreamController is closed."
	textClosed          = "This ReadableStream is closed."
	textDetachedRequest = "The BYOB request's buffer has been detached"
)

// byteController is a controller as JavaScript sees it where it is one of bytes.
type byteController struct{ *controller }

// The kinds of readers of a pullInto (Streams, section 4.7.2, "reader type").
type pullIntoKind uint8

const (
	intoDefault pullIntoKind = iota // a chunk that was allocated automatically
	intoView                        // a view that a BYOB reader gave
	intoNobody                      // its reader has been released
)

// pullInto is a pull-into descriptor (section 4.7.2). Numbers are in bytes.
type pullInto struct {
	buffer              *goja.Object
	bufferLen, off, len int
	filled, min, size   int
	class               *goja.Object
	kind                pullIntoKind
}

// releaseSteps is [[ReleaseSteps]] (section 4.7.4).
func (c *controller) releaseSteps() {
	if !c.bytes || c.pending.empty() {
		return
	}
	first := *c.pending.first()
	first.kind = intoNobody
	c.pending = queue[*pullInto]{}
	c.pending.push(first)
}

func (c *controller) push(x piece) {
	c.pieces.push(x)
	c.size += float64(x.len)
}

// pushCopy is ReadableByteStreamControllerEnqueueClonedChunkToQueue.
func (c *controller) pushCopy(buffer *goja.Object, off, n int) {
	clone := c.p.newBuffer(n)
	c.p.copyBytes(clone, 0, buffer, off, n)
	c.push(piece{clone, 0, n})
}

// invalidate is ReadableByteStreamControllerInvalidateBYOBRequest.
func (c *controller) invalidate() {
	if c.request != nil {
		c.request.controller, c.request.view = nil, goja.Null()
		c.request = nil
	}
}

// retire lets go of the request for bytes of a stream that has ended: who holds it can
// still answer it, with nothing, and it stays the controller's until then, as in workerd.
func (c *controller) retire() {
	q := c.request
	if q == nil || q.over {
		return
	}
	v := c.p.viewOf(q.view)
	n := min(v.len, len(memory(v.buffer)))
	left := piece{c.p.newBuffer(n), 0, n}
	c.p.copyBytes(left.buffer, 0, v.buffer, v.off, n)
	q.over, q.least, q.view = true, 0, c.p.bytesOver(left)
}

// finish closes the stream. Those who read into views get them back: as chunks if there
// is something in them, which the standard answers as the end, where the bytes are lost
// on who looks at done first (workerd: src/workerd/api/streams/queue.c++, resolveAsDone).
func (c *controller) finish() {
	c.retire()
	c.forget()
	c.stream.close()
	c.giveBack()
}

// giveBack answers the reads into views of a stream that is closed, those that were
// allocated for them included.
func (c *controller) giveBack() {
	waiting := c.pending.takeAll()
	r := c.stream.reader
	if r == nil || !r.byob && !c.allocates() {
		return
	}
	for _, d := range waiting {
		if d.kind != intoNobody {
			c.answer(d, r.requests.take())
		}
	}
}

// answer gives a reader what was filled, or its empty view and the end.
func (c *controller) answer(d *pullInto, request readRequest) {
	v := d.view(c.p)
	if d.filled < d.size {
		c.ended(request, v)
		return
	}
	request.chunk(v)
}

// ended tells a reader that read into a view of the end of the stream. Streams of the
// platform's own keep the view before the flag internal_stream_byob_return_view.
func (c *controller) ended(request readRequest, v *goja.Object) {
	if c.stream.single && !c.p.Enabled(compat.InternalStreamByobReturnView) {
		request.close(goja.Undefined())
		return
	}
	request.close(v)
}

// drained is ReadableByteStreamControllerHandleQueueDrain.
func (c *controller) drained() {
	if c.size == 0 && c.closing {
		c.finish()
		return
	}
	c.callPull()
}

// fromQueue is ReadableByteStreamControllerFillReadRequestFromQueue.
func (c *controller) fromQueue(request readRequest) {
	x := c.next()
	c.drained()
	request.chunk(c.p.bytesOver(x))
	if c.size == 0 && c.emptied != nil {
		c.emptied()
	}
}

// maxRead is how many bytes a read of a stream of the platform's own gives at the most
// (workerd: src/workerd/api/streams/internal.c++, ReadableStreamInternalController::read).
const maxRead = 4096

// next takes the oldest bytes: those of a piece, or as many of them as one read gives.
func (c *controller) next() piece {
	first := c.pieces.first()
	if !c.parts() || first.off == 0 && first.len <= maxRead {
		c.size -= float64(first.len)
		return c.pieces.take()
	}
	n := min(first.len, maxRead)
	x := piece{c.p.newBuffer(n), 0, n}
	c.p.copyBytes(x.buffer, 0, first.buffer, first.off, n)
	first.off += n
	first.len -= n
	if c.size -= float64(n); first.len == 0 {
		c.pieces.take()
	}
	return x
}

// parts reports whether a read gives maxRead bytes at the most: what Go reads on leaves
// as it came.
func (c *controller) parts() bool {
	r := c.stream.reader
	return c.stream.single && (r == nil || !r.whole)
}

// allocates reports whether reads without a view are given one, of autoAllocate bytes, that
// is filled as if a reader had brought it (workerd: src/workerd/api/streams/queue.c++,
// ByteQueue). What Go reads is left as it came.
func (c *controller) allocates() bool {
	r := c.stream.reader
	return c.autoAllocate > 0 && r != nil && !r.byob && !r.whole
}

// pullBytes is [[PullSteps]] of a byte controller (section 4.7.4).
func (c *controller) pullBytes(request readRequest) {
	if !c.allocates() {
		if c.size > 0 {
			c.fromQueue(request)
			return
		}
		c.stream.reader.requests.push(request)
		c.callPull()
		return
	}
	n := c.autoAllocate
	var buffer *goja.Object
	if thrown := c.p.Engine.Try(func() { buffer = c.p.newBuffer(n) }); thrown != nil {
		request.fail(thrown)
		return
	}
	d := &pullInto{buffer: buffer, bufferLen: n, len: n, min: 1, size: 1, class: c.p.Engine.Primordial("Uint8Array"), kind: intoDefault}
	if c.size > 0 {
		c.fill(d)
		c.drained()
		request.chunk(d.view(c.p))
		return
	}
	c.pending.push(d)
	c.stream.reader.requests.push(request)
	c.callPull()
}

// view is what has been filled (ReadableByteStreamControllerConvertPullIntoDescriptor).
func (d *pullInto) view(p *Streams) *goja.Object {
	return p.newView(d.class, p.transfer(d.buffer), d.off, d.filled/d.size)
}

// commit is ReadableByteStreamControllerCommitPullIntoDescriptor.
func (c *controller) commit(d *pullInto) { c.stream.reader.requests.take().chunk(d.view(c.p)) }

// fill is ReadableByteStreamControllerFillPullIntoDescriptorFromQueue: it reports
// whether the descriptor has what its reader needs.
func (c *controller) fill(d *pullInto) bool {
	most := d.filled + min(int(c.size), d.len-d.filled)
	aligned := most - most%d.size
	ready := aligned >= d.min
	left := most - d.filled
	if ready {
		left = aligned - d.filled
	}
	for left > 0 {
		x := c.pieces.first()
		n := min(left, x.len)
		c.p.copyBytes(d.buffer, d.off+d.filled, x.buffer, x.off, n)
		if n == x.len {
			c.pieces.take()
		} else {
			x.off += n
			x.len -= n
		}
		c.size -= float64(n)
		d.filled += n
		left -= n
	}
	return ready
}

// fillPending is ReadableByteStreamControllerProcessPullIntoDescriptorsUsingQueue,
// and commits what was filled.
func (c *controller) fillPending() {
	var done []*pullInto
	for !c.pending.empty() && c.size > 0 {
		if c.fill(*c.pending.first()) {
			done = append(done, c.pending.take())
		}
	}
	for _, d := range done {
		c.commit(d)
	}
}

// releaseDetached is ReadableByteStreamControllerEnqueueDetachedPullIntoToQueue.
func (c *controller) releaseDetached(d *pullInto) {
	if d.filled > 0 {
		c.pushCopy(d.buffer, d.off, d.filled)
	}
	c.pending.take()
}

// enqueueBytes is ReadableByteStreamControllerEnqueue (section 4.9.5): the buffer
// is the stream's from now on.
func (c *controller) enqueueBytes(x piece) {
	if !c.open() {
		return
	}
	if !c.pending.empty() {
		first := *c.pending.first()
		if detached(first.buffer) {
			c.p.Engine.Throw("TypeError", "%s and so cannot be filled with an enqueued chunk", textDetachedRequest)
		}
		c.invalidate()
		first.buffer = c.p.transfer(first.buffer)
		if first.kind == intoNobody {
			c.releaseDetached(first)
		}
	}
	switch r := c.stream.reader; {
	case r == nil:
		c.push(x)
	case r.byob || c.allocates():
		c.push(x)
		c.fillPending()
	default:
		for !r.requests.empty() && c.size > 0 {
			c.fromQueue(r.requests.take())
		}
		if r.requests.empty() {
			c.push(x)
			break
		}
		if !c.pending.empty() {
			c.pending.take()
		}
		if x.len > maxRead && c.parts() {
			c.push(x)
			c.fromQueue(r.requests.take())
			break
		}
		r.requests.take().chunk(c.p.bytesOver(x))
	}
	c.callPull()
}

// give enqueues bytes of Go's, which are the stream's from now on.
func (c *controller) give(data []byte) {
	c.enqueueBytes(piece{c.p.bufferOver(data), 0, len(data)})
}

// closeBytes is ReadableByteStreamControllerClose (section 4.9.5).
func (c *controller) closeBytes() {
	if !c.open() {
		return
	}
	if c.size > 0 {
		c.closing = true
		return
	}
	if !c.pending.empty() {
		if d := *c.pending.first(); d.filled%d.size != 0 {
			reason := c.p.typeError(textPartial)
			if c.request == nil { // who has it may still fill the rest
				c.fail(reason)
			}
			panic(reason)
		}
	}
	c.finish()
}

// pullIntoView is ReadableByteStreamControllerPullInto (section 4.9.5).
func (c *controller) pullIntoView(v view, minimum int, request readRequest) {
	p, s := c.p, c.stream
	var buffer *goja.Object
	if thrown := p.Engine.Try(func() { buffer = p.transfer(v.buffer) }); thrown != nil {
		request.fail(thrown)
		return
	}
	d := &pullInto{buffer: buffer, bufferLen: len(memory(buffer)), off: v.off, len: v.len, min: minimum * v.size, size: v.size, class: v.class, kind: intoView}
	if s.single { // as workerd: bytes, whatever the view was one of
		d.size, d.class = 1, p.Engine.Primordial("Uint8Array")
	}
	switch {
	case !c.pending.empty():
		c.pending.push(d)
		s.reader.requests.push(request)
		c.callPull()
		return
	case s.state == stateClosed:
		c.ended(request, p.newView(d.class, buffer, d.off, 0))
		return
	case c.size > 0:
		if c.fill(d) {
			filled := d.view(p)
			c.drained()
			request.chunk(filled)
			return
		}
		if c.closing {
			c.finish()
			c.answer(d, request)
			return
		}
	}
	c.pending.push(d)
	s.reader.requests.push(request)
	c.callPull()
}

// responded is ReadableByteStreamControllerRespondInternal.
func (c *controller) responded(n int) {
	d := *c.pending.first()
	c.invalidate()
	d.filled += n
	switch {
	case d.kind == intoNobody:
		c.releaseDetached(d)
		c.fillPending()
	case d.filled >= d.min:
		c.pending.take()
		rest := d.filled % d.size
		if rest > 0 {
			c.pushCopy(d.buffer, d.off+d.filled-rest, rest)
		}
		d.filled -= rest
		c.commit(d)
		c.fillPending()
	}
	c.callPull()
}

// answerable reports whether something can be written into a request; of a stream that
// has ended it takes nothing any more, and is then done with.
func (c *controller) answerable(what string, n int) bool {
	switch {
	case c.request != nil && c.request.over && n != 0:
		c.p.Engine.Throw("TypeError", "The %s must be zero after the stream is closed.", what)
	case c.request != nil && c.request.over:
		c.invalidate()
		return false
	case n <= 0:
		c.p.Engine.Throw("TypeError", "The %s must be more than zero while the stream is open.", what)
	}
	return true
}

// respond is ReadableByteStreamControllerRespond (section 4.9.5).
func (c *controller) respond(n int) {
	if !c.answerable("bytesWritten", n) {
		return
	}
	d := *c.pending.first()
	if d.filled+n > d.len {
		c.p.Engine.Throw("RangeError", "Too many bytes [%d] in response to a BYOB read request.", n)
	}
	d.buffer = c.p.transfer(d.buffer)
	c.responded(n)
}

// respondWithView is ReadableByteStreamControllerRespondWithNewView (section 4.9.5).
func (c *controller) respondWithView(v view) {
	if detached(v.buffer) {
		c.p.Engine.Throw("TypeError", "The given view's buffer has been detached.")
	}
	if !c.answerable("view byte length", v.len) {
		return
	}
	d := *c.pending.first()
	switch {
	case d.off+d.filled != v.off:
		c.p.Engine.Throw("RangeError", "The given view has an invalid byte offset.")
	case d.bufferLen != len(memory(v.buffer)):
		c.p.Engine.Throw("RangeError", "The underlying ArrayBuffer is not the correct length.")
	case d.filled+v.len > d.len:
		c.p.Engine.Throw("RangeError", "The view is not the correct length.")
	}
	d.buffer = c.p.transfer(v.buffer)
	c.responded(v.len)
}

func defineByteController(p *Streams) *engine.Class[*byteController] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*byteController]{
		Name: "ReadableByteStreamController",
		Accessors: []engine.Accessor[*byteController]{
			{Name: "byobRequest", Get: func(c *byteController, _ *goja.Object) goja.Value {
				if request := c.byobRequest(); request != nil {
					return request.object()
				}
				return goja.Null()
			}},
			{Name: "desiredSize", Get: func(c *byteController, _ *goja.Object) goja.Value { return c.desiredSize() }},
		},
		Methods: []engine.Method[*byteController]{
			{Name: "close", Fn: func(c *byteController, _ goja.FunctionCall) goja.Value {
				if !c.open() {
					p.Engine.Throw("TypeError", textClosed)
				}
				c.closeBytes()
				return goja.Undefined()
			}},
			{Name: "enqueue", Fn: func(c *byteController, call goja.FunctionCall) goja.Value {
				c.enqueueChunk(call.Argument(0))
				return goja.Undefined()
			}},
			{Name: "error", Fn: func(c *byteController, call goja.FunctionCall) goja.Value {
				c.fail(call.Argument(0))
				return goja.Undefined()
			}},
		},
	})
}

// enqueueChunk is section 4.7.3 (enqueue).
func (c *byteController) enqueueChunk(chunk goja.Value) {
	var x piece
	switch {
	case webidl.IsArrayBuffer(chunk):
		x.buffer = chunk.(*goja.Object)
		x.len = len(memory(x.buffer))
	case c.p.isView(chunk):
		v := c.p.viewOf(chunk)
		x = piece{v.buffer, v.off, v.len}
	default:
		c.p.BadArgument("ReadableByteStreamController", "enqueue", 1, "BufferSource")
	}
	if x.len == 0 {
		c.p.Engine.Throw("TypeError", "Cannot enqueue a zero-length ArrayBuffer.")
	}
	if !c.open() {
		c.p.Engine.Throw("TypeError", "%s", textClosedBytes)
	}
	x.buffer = c.p.transfer(x.buffer)
	c.enqueueBytes(x)
}
