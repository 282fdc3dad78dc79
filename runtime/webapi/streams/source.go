package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// ByteSource is what a ReadableStream of bytes asks for them. Both functions
// return promises.
type ByteSource struct {
	Pull   func() goja.Value
	Cancel func(reason goja.Value) goja.Value
}

// Fed is a ReadableStream whose bytes Go brings. Loop-confined.
type Fed struct{ s *readable }

// NewFed makes a stream that pulls when somebody reads, and not before.
func (p *Streams) NewFed(src ByteSource) *Fed {
	s := p.create(readableOptions{
		bytes:  true,
		pull:   func() *engine.Deferred { return p.promiseOf(src.Pull()) },
		cancel: func(reason goja.Value) *engine.Deferred { return p.promiseOf(src.Cancel(reason)) },
	})
	s.single = true
	return &Fed{s}
}

// Object is the ReadableStream.
func (s *Fed) Object() *goja.Object { return s.s.object() }

// Push hands over an ArrayBuffer; it belongs to the stream from then on.
func (s *Fed) Push(buffer goja.Value) {
	obj := buffer.(*goja.Object)
	s.s.controller.enqueueBytes(piece{obj, 0, len(memory(obj))})
}

// End closes the stream when what was pushed has been read.
func (s *Fed) End() { s.s.controller.closeBytes() }

// Fail breaks the stream off, unless it has ended.
func (s *Fed) Fail(reason goja.Value) { s.s.controller.fail(reason) }

// Open reports whether the stream has neither ended nor failed.
func (s *Fed) Open() bool { return s.s.state == stateReadable }

// Lock locks the stream for ever. It throws if it is locked.
func (s *Fed) Lock() { s.s.acquire(false) }

// Sink takes the chunks of a WritableStream. Write, Close and Abort return
// promises; the next chunk comes when the one before has been taken.
type Sink struct {
	HighWaterMark float64 // in chunks
	Write         func(chunk goja.Value) goja.Value
	Close         func() goja.Value
	Abort         func(reason goja.Value) goja.Value
	// Interrupt, if not nil, ends a write that an abort would wait for.
	Interrupt func(reason goja.Value)
}

// Drained is a WritableStream whose chunks Go takes. Loop-confined.
type Drained struct {
	w     *writable
	flush *goja.Object // a chunk that is none: it waits for those before it
}

// NewDrained makes a stream that writes into a sink.
func (p *Streams) NewDrained(sink Sink) *Drained {
	s := &Drained{flush: p.VM.NewObject()}
	s.w = p.createWritable(sinkOf{
		write: func(chunk goja.Value) *engine.Deferred {
			if chunk == goja.Value(s.flush) {
				return p.void
			}
			return p.promiseOf(sink.Write(chunk))
		},
		close:     func() *engine.Deferred { return p.promiseOf(sink.Close()) },
		abort:     func(reason goja.Value) *engine.Deferred { return p.promiseOf(sink.Abort(reason)) },
		interrupt: sink.Interrupt,
	}, sink.HighWaterMark, nil, nil)
	return s
}

// Object is the WritableStream.
func (s *Drained) Object() *goja.Object { return s.w.object() }

// Fail breaks the stream off, unless it has ended.
func (s *Drained) Fail(reason goja.Value) { s.w.fail(reason) }

// Break is Fail with what the reference makes of it: with writes on their way the stream is then closed
// to writers, and else its close() succeeds.
func (s *Drained) Break(reason goja.Value) {
	w := s.w
	w.internal, w.over = w.busy() || !w.requests.empty(), true
	w.fail(reason)
}

// End closes the stream when what was written has been taken.
func (s *Drained) End() {
	s.w.over = true
	if !s.w.closing() {
		s.w.close().Handled()
	}
}

// Ending is the promise of a close that is not done, undefined if there is none.
func (s *Drained) Ending() goja.Value {
	switch {
	case s.w.closeRequest != nil:
		return s.w.closeRequest.Object()
	case s.w.closingNow != nil:
		return s.w.closingNow.Object()
	}
	return goja.Undefined()
}

// Lock locks the stream for ever; it throws if it is locked. flush gives the
// promise that all which was written before has been taken.
func (s *Drained) Lock() (flush goja.Value) {
	x, p := s.w.acquire(), s.w.p
	return p.VM.ToValue(func(goja.FunctionCall) goja.Value {
		request := p.newWrite()
		x.write(s.flush, request)
		return request.Object()
	})
}
