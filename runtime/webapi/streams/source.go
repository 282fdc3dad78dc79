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

// FedStream is a ReadableStream whose bytes Go brings. Loop-confined.
type Fed struct {
	e      *engine.Engine
	handle *goja.Object
}

// NewFed makes a stream that pulls when somebody reads, and not before.
func (p *Streams) NewFed(src ByteSource) *Fed {
	fn := func(f func(goja.Value) goja.Value) goja.Value {
		return p.VM.ToValue(func(call goja.FunctionCall) goja.Value { return f(call.Argument(0)) })
	}
	handle := p.call("feed", fn(func(goja.Value) goja.Value { return src.Pull() }), fn(src.Cancel))
	return &Fed{p.Engine, handle.(*goja.Object)}
}

func callHandle(e *engine.Engine, handle *goja.Object, name string, args ...goja.Value) goja.Value {
	return e.Call(handle.Get(name), handle, args...)
}

// Object is the ReadableStream.
func (s *Fed) Object() *goja.Object { return s.handle.Get("obj").(*goja.Object) }

// Push hands over an ArrayBuffer; it belongs to the stream from then on.
func (s *Fed) Push(buffer goja.Value) { callHandle(s.e, s.handle, "push", buffer) }

// End closes the stream when what was pushed has been read.
func (s *Fed) End() { callHandle(s.e, s.handle, "end") }

// Fail breaks the stream off, unless it has ended.
func (s *Fed) Fail(reason goja.Value) { callHandle(s.e, s.handle, "fail", reason) }

// Open reports whether the stream has neither ended nor failed.
func (s *Fed) Open() bool { return callHandle(s.e, s.handle, "open").ToBoolean() }

// Lock locks the stream for ever. It throws if it is locked.
func (s *Fed) Lock() { callHandle(s.e, s.handle, "lock") }

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
type Drained struct {
	e      *engine.Engine
	handle *goja.Object
}

// NewDrained makes a stream that writes into a sink.
func (p *Streams) NewDrained(sink Sink) *Drained {
	fn := func(f func(goja.Value) goja.Value) goja.Value {
		return p.VM.ToValue(func(call goja.FunctionCall) goja.Value { return f(call.Argument(0)) })
	}
	o := p.Record("write", fn(sink.Write), "close", fn(func(goja.Value) goja.Value { return sink.Close() }), "abort", fn(sink.Abort), "hwm", sink.HighWaterMark)
	if sink.Interrupt != nil {
		o.Set("interrupt", fn(func(reason goja.Value) goja.Value { sink.Interrupt(reason); return goja.Undefined() }))
	}
	return &Drained{p.Engine, p.callOf("writable", "sink", o).(*goja.Object)}
}

// Object is the WritableStream.
func (s *Drained) Object() *goja.Object { return s.handle.Get("obj").(*goja.Object) }

// Fail breaks the stream off, unless it has ended.
func (s *Drained) Fail(reason goja.Value) { callHandle(s.e, s.handle, "fail", reason) }

// End closes the stream when what was written has been taken.
func (s *Drained) End() { callHandle(s.e, s.handle, "end") }

// Ending is the promise of a close that is not done, undefined if there is none.
func (s *Drained) Ending() goja.Value { return callHandle(s.e, s.handle, "ending") }

// Lock locks the stream for ever; it throws if it is locked. flush gives the
// promise that all which was written before has been taken.
func (s *Drained) Lock() (flush goja.Value) { return callHandle(s.e, s.handle, "lock") }
