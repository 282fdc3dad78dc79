package webapi

import (
	"errors"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// drainer reads a stream of JavaScript from Go. Loop-confined.
type drainer struct {
	p            *Platform
	step, cancel goja.Callable
}

// drain locks a stream; each step asks for a chunk, of which the callbacks are
// told, perhaps before step returns.
func (p *Platform) drain(stream *goja.Object, onChunk func(goja.Value), onClose func(), onError func(goja.Value)) *drainer {
	fn := func(f func(goja.Value)) goja.Value {
		return p.VM.ToValue(func(call goja.FunctionCall) goja.Value { f(call.Argument(0)); return goja.Undefined() })
	}
	handle := p.streamCall("drain", stream, fn(onChunk), fn(func(goja.Value) { onClose() }), fn(onError)).(*goja.Object)
	d := &drainer{p: p}
	d.step, _ = goja.AssertFunction(handle.Get("step"))
	d.cancel, _ = goja.AssertFunction(handle.Get("cancel"))
	return d
}

func (d *drainer) next() {
	if _, err := d.step(goja.Undefined()); err != nil {
		d.p.Engine.Rethrow(err)
	}
}

func (d *drainer) stop(reason goja.Value) {
	if _, err := d.cancel(goja.Undefined(), reason); err != nil {
		d.p.Engine.Rethrow(err)
	}
}

// readStream collects a stream, whose chunks are bytes as bytesOf has it, and
// gives the promise of them all.
func (p *Platform) readStream(stream *goja.Object, bytesOf func(goja.Value) ([]byte, bool), convert func([]byte) goja.Value) goja.Value {
	promise, resolve, reject := p.Engine.NewPromise()
	var all []byte
	var d *drainer
	ended := false
	fail := func(reason goja.Value) {
		ended = true
		reject(reason)
		d.stop(reason)
	}
	d = p.drain(stream, func(v goja.Value) {
		data, ok := bytesOf(v)
		switch {
		case ended:
		case !ok:
			fail(p.Engine.NewError("TypeError", textNotBytes))
		case len(all)+len(data) > maxBufferedBytes:
			fail(p.Engine.NewError("TypeError", textTooLong))
		default:
			all = append(all, data...)
			d.next()
		}
	}, func() {
		if ended {
			return
		}
		ended = true
		var v goja.Value
		if ex := p.VM.Try(func() { v = convert(all) }); ex != nil {
			reject(ex.Value())
			return
		}
		resolve(v)
	}, func(reason goja.Value) {
		if !ended {
			ended = true
			reject(reason)
		}
	})
	d.next()
	return p.VM.ToValue(promise)
}

var errContextEnded = errors.New("the context that streamed the body has ended")

// pump carries a stream of JavaScript out of the isolate, one chunk at a time:
// each leaves through the context's output gate, and the next is read when it
// has been taken. Loop-confined.
type pump struct {
	p     *Platform
	c     *engine.Context
	frame *engine.Frame
	op    *engine.Op
	pipe  *event.Pipe
	d     *drainer
	ended bool
	gone  func() // told when nobody reads on
}

func (p *Platform) pumpStream(stream *goja.Object, gone func()) event.Body {
	e := p.Engine
	u := &pump{p: p, c: e.IO("streaming a body"), frame: e.Frame(), pipe: event.NewPipe(p.fixedLength(stream)), gone: gone}
	u.op = e.StartOp("streaming a body").OnCancel(func(error) {
		u.ended = true
		u.pipe.Close(errContextEnded)
	})
	u.c.Hold()
	u.d = p.drain(stream, u.chunk, func() { u.finish(nil) }, func(reason goja.Value) { u.finish(e.ToEvent(reason)) })
	u.pipe.OnCancel(func(reason error) {
		e.Post(u.frame, "body canceled", func() { u.abandon(reason) })
	})
	u.d.next()
	return u.pipe
}

// chunkBytes is what a chunk of a stream puts on the wire: a string is sent as
// UTF-8 (as in workerd, where the body mixin alone insists on bytes).
func (p *Platform) chunkBytes(v goja.Value) ([]byte, bool) {
	if text, isText := v.(goja.String); isText {
		return []byte(text.String()), true
	}
	return p.BytesOf(v)
}

func (u *pump) chunk(v goja.Value) {
	if u.ended {
		return
	}
	data, ok := u.p.chunkBytes(v)
	if !ok {
		err := u.p.Engine.NewError("TypeError", textNotBytes)
		u.finish(u.p.Engine.ToEvent(err))
		u.d.stop(err)
		return
	}
	if len(data) == 0 {
		u.d.next()
		return
	}
	data = append([]byte(nil), data...)
	u.c.Emit(func() {
		u.pipe.Write(data, func(err error) {
			u.p.Engine.Post(u.frame, "body chunk taken", func() {
				switch {
				case u.ended:
				case err != nil:
					u.abandon(err)
				default:
					u.d.next()
				}
			})
		})
	})
}

// abandon stops the stream because nobody reads on.
func (u *pump) abandon(reason error) {
	if u.ended {
		return
	}
	u.ended = true
	u.d.stop(u.p.bodyError(reason))
	if u.gone != nil {
		u.gone()
	}
	u.close(reason)
}

func (u *pump) finish(err error) {
	if u.ended {
		return
	}
	u.ended = true
	u.close(err)
}

// close tells the reader, and lets the context go.
func (u *pump) close(err error) {
	u.op.Drop()
	u.c.Emit(func() { u.pipe.Close(err) })
	u.c.Release()
}

// fixedLength is the length of a FixedLengthStream's readable side, else -1.
func (p *Platform) fixedLength(stream *goja.Object) int64 {
	fixed := p.fetch.streams.fixed
	if fixed == nil {
		return -1
	}
	v, err := fixed(goja.Undefined(), stream)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return v.ToInteger()
}
