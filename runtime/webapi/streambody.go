package webapi

import (
	"io"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// maxBufferedBytes bounds what text(), json() and their relatives collect, as
// production's memory limit does.
const maxBufferedBytes = 128 << 20

const (
	textLockedReader = "The ReadableStream has been locked to a reader."
	textLocked       = "This ReadableStream is currently locked to a reader."
	textLockedBody   = "This ReadableStream is locked to a reader, and cannot be used as a body."
	textDisturbed    = "This ReadableStream is disturbed (has already been read from), and cannot be used as a body."
	textTooLong      = "Memory limit exceeded before EOF."
	textNotBytes     = "This ReadableStream did not return bytes."
)

// streamSource is a body from outside behind a ReadableStream.
type streamSource struct {
	body  event.Body
	owner *engine.Context // nil: anybody's
}

// StreamFromBody makes a ReadableStream of bytes that come from outside; it
// belongs to the current context.
func (p *Platform) StreamFromBody(b event.Body) *goja.Object {
	return p.streamFromBody(b, p.Engine.Current())
}

func (p *Platform) streamFromBody(b event.Body, owner *engine.Context) *goja.Object {
	src := p.VM.NewObject()
	p.Engine.Attach(src, &streamSource{b, owner})
	return p.streamCall("fromSource", src).(*goja.Object)
}

// BodyFromStream takes a ReadableStream's bytes out of JavaScript, as the body
// of a response is: see ResponseToEvent. The stream is locked from then on. The
// error is a JavaScript exception (engine.FromGo).
func (p *Platform) BodyFromStream(v goja.Value) (event.Body, error) {
	var out event.Body
	if ex := p.VM.Try(func() {
		stream, ok := v.(*goja.Object)
		if !ok || !p.isStream(v) {
			p.Engine.Throw("TypeError", "The value is not a ReadableStream.")
		}
		p.checkUsable(stream)
		out = p.takeStream(stream, nil)
	}); ex != nil {
		return nil, ex
	}
	return out, nil
}

// takeNative takes the source of a stream that nobody has touched. It throws
// if the source is another context's I/O.
func (p *Platform) takeNative(s *goja.Object) (event.Body, bool) {
	src, ok := p.Engine.Attached(p.streamCall("source", s)).(*streamSource)
	if !ok {
		return nil, false
	}
	if src.owner != nil {
		src.owner.Check()
	}
	p.spendStream(s)
	return src.body, true
}

// checkUsable throws unless a stream can be used as a body.
func (p *Platform) checkUsable(stream *goja.Object) {
	if p.streamDisturbed(stream) {
		p.Engine.Throw("TypeError", textDisturbed)
	}
	if p.streamLocked(stream) {
		p.Engine.Throw("TypeError", textLockedBody)
	}
}

// takeStream moves the bytes of a stream out of JavaScript. What came from
// outside passes through; else the current context pumps the stream, chunk by
// chunk through its output gate, and is held until the stream ends. gone, if not
// nil, is called at most once, in a turn, when nobody reads on. It throws if the
// stream is locked.
func (p *Platform) takeStream(stream *goja.Object, gone func()) event.Body {
	if p.streamLocked(stream) {
		p.Engine.Throw("TypeError", textLocked)
	}
	if native, ok := p.takeNative(stream); ok {
		return native
	}
	return p.pumpStream(stream, gone)
}

// consumeStream reads a whole stream and gives the promise of what convert
// makes of its bytes, or that itself if they are at hand. Strings among its
// chunks count as UTF-8 if texts. It throws if the stream is locked.
func (p *Platform) consumeStream(stream *goja.Object, what string, texts bool, convert func([]byte) goja.Value) goja.Value {
	if p.streamLocked(stream) {
		p.Engine.Throw("TypeError", textLocked)
	}
	if native, ok := p.takeNative(stream); ok {
		return p.readNative(native, what, convert)
	}
	bytesOf := p.BytesOf
	if texts {
		bytesOf = p.chunkBytes
	}
	return p.readStream(stream, bytesOf, convert)
}

// readNative collects a body from outside.
func (p *Platform) readNative(source event.Body, what string, convert func([]byte) goja.Value) goja.Value {
	if data, ok := event.Buffered(source); ok {
		return convert(data)
	}
	op := p.Engine.StartOp("reading a body with " + what + "()").OnCancel(source.Cancel)
	promise := op.Promise()
	event.ReadAll(source, maxBufferedBytes, func(data []byte, err error) {
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

// pullBody reads a chunk of a body that belongs to a context, nil: anybody's. It
// settles at once if the chunk is there, else in a turn of its own: with 0 and an
// ArrayBuffer, with 1 at the end, or with 2 and an error.
func (p *Platform) pullBody(b event.Body, owner *engine.Context, settle goja.Value) {
	p.pullSource(&streamSource{b, owner}, settle)
}

// pullSource reads a chunk and settles the pull at once if it is there, else
// in a turn of its own.
func (p *Platform) pullSource(s *streamSource, settle goja.Value) {
	if s.owner != nil {
		s.owner.Check()
	}
	x := &pulled{}
	s.body.Read(func(chunk []byte, err error) {
		x.mu.Lock()
		op := x.op
		x.done, x.chunk, x.err = true, chunk, err
		x.mu.Unlock()
		if op != nil {
			op.Complete("body chunk", func() { p.settlePull(settle, chunk, err) })
		}
	})
	x.mu.Lock()
	if x.done {
		chunk, err := x.chunk, x.err
		x.mu.Unlock()
		p.settlePull(settle, chunk, err)
		return
	}
	x.op = p.Engine.StartOp("reading a body").OnCancel(s.body.Cancel)
	x.mu.Unlock()
}

// settlePull tells the stream: 0 a chunk, 1 the end, 2 an error.
func (p *Platform) settlePull(settle goja.Value, chunk []byte, err error) {
	switch {
	case err == nil:
		p.Engine.Call(settle, goja.Undefined(), p.VM.ToValue(0), p.NewArrayBuffer(chunk))
	case err == io.EOF:
		p.Engine.Call(settle, goja.Undefined(), p.VM.ToValue(1))
	default:
		p.Engine.Call(settle, goja.Undefined(), p.VM.ToValue(2), p.bodyError(err))
	}
}
