package streams

import (
	"io"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// MaxBufferedBytes bounds what text(), json() and their relatives collect, as
// production's memory limit does.
const MaxBufferedBytes = 128 << 20

// workerd's texts for streams that cannot be used.
const (
	TextLockedReader = "The ReadableStream has been locked to a reader."
	TextLocked       = "This ReadableStream is currently locked to a reader."
	TextTeeLocked    = "This ReadableStream is currently locked to a reader," // workerd's comma
	textLockedBody   = "This ReadableStream is locked to a reader, and cannot be used as a body."
	TextDisturbed    = "This ReadableStream is disturbed (has already been read from), and cannot be used as a body."
	textTooLong      = "Memory limit exceeded before EOF."
	TextNotBytes     = "This ReadableStream did not return bytes."
)

// source is a body from outside behind a ReadableStream.
type source struct {
	body  event.Body
	owner *engine.Context // nil: anybody's
}

// StreamFromBody makes a ReadableStream of bytes that come from outside; it
// belongs to the current context.
func (p *Streams) FromBody(b event.Body) *goja.Object {
	return p.FromBodyOf(b, p.Engine.Current())
}

// IOType is how workerd names the type of bodies where one is another request's (io-own.h).
const IOType = "ReadableStreamSource>"

// FromBodyOf is FromBody for what belongs to owner; nil: to nobody.
func (p *Streams) FromBodyOf(b event.Body, owner *engine.Context) *goja.Object {
	return p.fromSource(&source{b, owner}).object()
}

// BodyFromStream takes a ReadableStream's bytes out of JavaScript, as the body
// of a response is: see ResponseToEvent. The stream is locked from then on. The
// error is a JavaScript exception (engine.Errors.FromGo).
func (p *Streams) BodyFrom(v goja.Value) (event.Body, error) {
	var out event.Body
	if ex := p.VM.Try(func() {
		stream, ok := v.(*goja.Object)
		if !ok || !p.Is(v) {
			p.Engine.Throw("TypeError", "The value is not a ReadableStream.")
		}
		p.CheckUsable(stream)
		out = p.Take(stream, Way{})
	}); ex != nil {
		return nil, ex
	}
	return out, nil
}

// takeNative takes the source of a stream that nobody has touched. It throws
// if the source is another context's I/O.
func (p *Streams) takeNative(obj *goja.Object) (event.Body, bool) {
	s := p.stream(obj)
	if !s.untouched() {
		return nil, false
	}
	src := s.controller.source
	s.spend()
	if src.owner != nil {
		src.owner.CheckOf(IOType)
	}
	return src.body, true
}

// CheckUsable throws unless a stream can be used as a body.
func (p *Streams) CheckUsable(stream *goja.Object) {
	if p.Disturbed(stream) {
		p.Engine.Throw("TypeError", TextDisturbed)
	}
	if p.Locked(stream) {
		p.Engine.Throw("TypeError", textLockedBody)
	}
}

// Take moves the bytes of a stream out of JavaScript. What came from
// outside passes through; else the current context pumps the stream, chunk by
// chunk through its output gate, and is held until the stream ends. It throws if the
// stream is locked.
func (p *Streams) Take(stream *goja.Object, way Way) event.Body {
	if p.Locked(stream) {
		p.Engine.Throw("TypeError", TextLocked)
	}
	if native, ok := p.takeNative(stream); ok {
		return native
	}
	return p.pump(stream, way)
}

// Consume reads a whole stream and gives the promise of what convert
// makes of its bytes, or that itself if they are at hand. Strings among its
// chunks count as UTF-8 if texts. It throws if the stream is locked.
func (p *Streams) Consume(stream *goja.Object, what string, texts bool, convert func([]byte) goja.Value) goja.Value {
	if p.Locked(stream) {
		p.Engine.Throw("TypeError", TextLocked)
	}
	if native, ok := p.takeNative(stream); ok {
		return p.ReadBody(native, what, convert)
	}
	bytesOf := p.BytesOf
	if texts {
		bytesOf = p.ChunkBytes
	}
	return p.readStream(stream, bytesOf, convert)
}

// ReadBody collects a body from outside.
func (p *Streams) ReadBody(source event.Body, what string, convert func([]byte) goja.Value) goja.Value {
	if data, ok := event.Buffered(source); ok {
		return convert(data)
	}
	op := p.Engine.StartOp("reading a body with " + what + "()").OnCancel(source.Cancel)
	promise := op.Promise()
	event.ReadAll(source, MaxBufferedBytes, func(data []byte, err error) {
		if err != nil {
			op.Reject("body", func() goja.Value { return p.bodyError(err) })
			return
		}
		op.Resolve("body", func() goja.Value { return convert(data) })
	})
	return promise
}

// pulled is the hand-over of one chunk between the loop and whoever reads the
// body. Safe for concurrent use.
type pulled struct {
	mu    sync.Mutex // guards everything below
	op    *engine.Op // set once the loop waits
	done  bool       // the chunk came first
	chunk []byte
	err   error
}

// PullBody reads a chunk of a body that belongs to a context, nil: anybody's. It
// settles at once if the chunk is there, else in a turn of its own: with 0 and an
// ArrayBuffer, with 1 at the end, or with 2 and an error.
func (p *Streams) PullBody(b event.Body, owner *engine.Context, settle goja.Value) {
	p.pull(&source{b, owner}, func(chunk []byte, err error) { p.settlePull(settle, chunk, err) })
}

// pull reads a chunk and settles the pull at once if it is there, else
// in a turn of its own.
func (p *Streams) pull(s *source, settle func(chunk []byte, err error)) {
	if s.owner != nil {
		s.owner.CheckOf(IOType)
	}
	x := &pulled{}
	s.body.Read(func(chunk []byte, err error) {
		x.mu.Lock()
		op := x.op
		x.done, x.chunk, x.err = true, chunk, err
		x.mu.Unlock()
		if op != nil {
			op.Complete("body chunk", func() { settle(chunk, err) })
		}
	})
	x.mu.Lock()
	if x.done {
		chunk, err := x.chunk, x.err
		x.mu.Unlock()
		settle(chunk, err)
		return
	}
	x.op = p.Engine.StartOp("reading a body").OnCancel(s.body.Cancel)
	x.mu.Unlock()
}

// settlePull tells who called PullBody: 0 a chunk, 1 the end, 2 an error.
func (p *Streams) settlePull(settle goja.Value, chunk []byte, err error) {
	switch {
	case err == nil:
		p.Engine.Call(settle, goja.Undefined(), p.VM.ToValue(0), p.NewArrayBuffer(chunk))
	case err == io.EOF:
		p.Engine.Call(settle, goja.Undefined(), p.VM.ToValue(1))
	default:
		p.Engine.Call(settle, goja.Undefined(), p.VM.ToValue(2), p.bodyError(err))
	}
}

// fromSource makes the stream of a body: it is pulled by callbacks, when somebody
// reads, and not before.
func (p *Streams) fromSource(src *source) *readable {
	s := p.create(readableOptions{bytes: true})
	s.single = true
	c := s.controller
	c.source = src
	c.pull = func() *engine.Deferred {
		thrown := p.Engine.Try(func() { p.pull(c.source, c.settled) })
		if thrown == nil {
			return nil
		}
		// Another context's code asked: it fails, the stream does not.
		c.pulling = false
		if r := c.stream.reader; r != nil {
			c.pending = queue[*pullInto]{}
			r.fail(thrown)
		}
		return nil
	}
	c.cancel = func(reason goja.Value) *engine.Deferred {
		if src := c.source; src != nil {
			c.source = nil
			src.body.Cancel(p.Engine.Errors.ToEvent(reason))
		}
		return p.done()
	}
	return s
}

// settled is told what a pull of a source has given.
func (c *controller) settled(chunk []byte, err error) {
	c.pulling = false
	if c.stream.state != stateReadable {
		return
	}
	if err == nil {
		c.give(chunk)
		if c.again {
			c.again = false
			c.callPull()
		}
		return
	}
	c.source = nil
	if err != io.EOF {
		c.fail(c.p.bodyError(err))
		return
	}
	c.end()
}

// end closes a stream of the platform's own.
func (c *controller) end() {
	if !c.pending.empty() {
		if d := *c.pending.first(); d.filled%d.size != 0 {
			c.fail(c.p.typeError(textPartial))
			return
		}
	}
	c.closeBytes()
}
