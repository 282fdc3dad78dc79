package webapi

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

// FedStream is a ReadableStream whose bytes Go brings. Loop-confined.
type FedStream struct {
	e      *engine.Engine
	handle *goja.Object
}

// newFedStream makes a stream that pulls when somebody reads, and not before.
func (p *Platform) newFedStream(src ByteSource) *FedStream {
	fn := func(f func(goja.Value) goja.Value) goja.Value {
		return p.VM.ToValue(func(call goja.FunctionCall) goja.Value { return f(call.Argument(0)) })
	}
	handle := p.streamCall("feed", fn(func(goja.Value) goja.Value { return src.Pull() }), fn(src.Cancel))
	return &FedStream{p.Engine, handle.(*goja.Object)}
}

func callHandle(e *engine.Engine, handle *goja.Object, name string, args ...goja.Value) goja.Value {
	return e.Call(handle.Get(name), handle, args...)
}

// Object is the ReadableStream.
func (s *FedStream) Object() *goja.Object { return s.handle.Get("obj").(*goja.Object) }

// Push hands over an ArrayBuffer; it belongs to the stream from then on.
func (s *FedStream) Push(buffer goja.Value) { callHandle(s.e, s.handle, "push", buffer) }

// End closes the stream when what was pushed has been read.
func (s *FedStream) End() { callHandle(s.e, s.handle, "end") }

// Fail breaks the stream off, unless it has ended.
func (s *FedStream) Fail(reason goja.Value) { callHandle(s.e, s.handle, "fail", reason) }

// Open reports whether the stream has neither ended nor failed.
func (s *FedStream) Open() bool { return callHandle(s.e, s.handle, "open").ToBoolean() }

// Lock locks the stream for ever. It throws if it is locked.
func (s *FedStream) Lock() { callHandle(s.e, s.handle, "lock") }

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

// DrainedStream is a WritableStream whose chunks Go takes. Loop-confined.
type DrainedStream struct {
	e      *engine.Engine
	handle *goja.Object
}

// newDrainedStream makes a stream that writes into a sink.
func (p *Platform) newDrainedStream(sink Sink) *DrainedStream {
	fn := func(f func(goja.Value) goja.Value) goja.Value {
		return p.VM.ToValue(func(call goja.FunctionCall) goja.Value { return f(call.Argument(0)) })
	}
	o := p.Record("write", fn(sink.Write), "close", fn(func(goja.Value) goja.Value { return sink.Close() }), "abort", fn(sink.Abort), "hwm", sink.HighWaterMark)
	if sink.Interrupt != nil {
		o.Set("interrupt", fn(func(reason goja.Value) goja.Value { sink.Interrupt(reason); return goja.Undefined() }))
	}
	return &DrainedStream{p.Engine, p.streamsCall("writable", "sink", o).(*goja.Object)}
}

// Object is the WritableStream.
func (s *DrainedStream) Object() *goja.Object { return s.handle.Get("obj").(*goja.Object) }

// Fail breaks the stream off, unless it has ended.
func (s *DrainedStream) Fail(reason goja.Value) { callHandle(s.e, s.handle, "fail", reason) }

// End closes the stream when what was written has been taken.
func (s *DrainedStream) End() { callHandle(s.e, s.handle, "end") }

// Ending is the promise of a close that is not done, undefined if there is none.
func (s *DrainedStream) Ending() goja.Value { return callHandle(s.e, s.handle, "ending") }

// Lock locks the stream for ever; it throws if it is locked. flush gives the
// promise that all which was written before has been taken.
func (s *DrainedStream) Lock() (flush goja.Value) { return callHandle(s.e, s.handle, "lock") }
