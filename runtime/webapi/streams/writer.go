package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// writer is what has locked a WritableStream (Streams, section 5.3). Loop-confined.
type writer struct {
	p             *Streams
	stream        *writable // nil: it has been released
	ready, closed *engine.Deferred
}

// broken is a promise that is rejected: the one there is, if it is pending.
func (p *idl) broken(d *engine.Deferred, reason goja.Value) *engine.Deferred {
	if !d.Pending() {
		return p.Engine.Promises.Rejected(reason).Handled()
	}
	d.Handled().Reject(reason)
	return d
}

// acquire is SetUpWritableStreamDefaultWriter (section 5.5.1). It throws if the
// stream is locked.
func (w *writable) acquire() *writer {
	e := w.p.Engine
	if w.writer != nil {
		e.Throw("TypeError", textLockedWriter)
	}
	x := &writer{p: w.p, stream: w}
	w.writer = x
	done := func() *engine.Deferred { return e.Promises.Fulfilled(goja.Undefined()) }
	failed := func() *engine.Deferred { return e.Promises.Rejected(w.err).Handled() }
	switch w.state {
	case stateWritable:
		if !w.closing() && w.backpressure {
			x.ready = e.Promises.New()
		} else {
			x.ready = done()
		}
		x.closed = e.Promises.New()
	case stateErroring:
		x.ready, x.closed = failed(), e.Promises.New()
	case stateEnded:
		x.ready, x.closed = done(), done()
	default:
		x.ready, x.closed = failed(), failed()
	}
	return x
}

// release is WritableStreamDefaultWriterRelease (section 5.5.5).
func (x *writer) release() {
	if x.stream == nil {
		return
	}
	reason := x.p.typeError(textReleasedWriter)
	x.ready = x.p.broken(x.ready, reason)
	x.closed = x.p.broken(x.closed, reason)
	x.stream.dropRequests(reason)
	x.stream.writer, x.stream = nil, nil
}

// dropRequests tells who waits for chunks that are queued that they wait no longer;
// the chunks are written all the same. As in workerd streams of the platform's own
// let them wait.
func (w *writable) dropRequests(reason goja.Value) {
	if w.controller == nil {
		return
	}
	for i := w.requests.head; i < len(w.requests.items); i++ {
		w.requests.items[i].fail(reason)
		w.requests.items[i] = nobody{}
	}
}

// nobody waits for a chunk to be written.
type nobody struct{}

func (nobody) done()           {}
func (nobody) fail(goja.Value) {}

// write is WritableStreamDefaultWriterWrite (section 5.5.5): the request is told
// what has become of the chunk.
func (x *writer) write(chunk goja.Value, request writeRequest) {
	w, p := x.stream, x.p
	if w == nil {
		request.fail(p.typeError(textReleasedWriter))
		return
	}
	n, thrown := p.sizeOf(w.sizes, chunk)
	if thrown != nil {
		w.fail(thrown)
		n = 1
	}
	switch {
	case w != x.stream:
		request.fail(p.typeError(textReleasedWriter))
		return
	case w.state == stateFailed && !w.internal:
		request.fail(w.err)
		return
	case w.closing() || w.state == stateEnded || w.state == stateFailed || w.internal && w.pendingAbort != nil:
		request.fail(p.typeError(textEnded))
		return
	case w.state == stateErroring:
		request.fail(w.err)
		return
	}
	if w.sink.refuses != nil {
		if reason := w.sink.refuses(chunk); reason != nil {
			request.fail(reason)
			return
		}
	}
	w.requests.push(request)
	w.queue.push(sized{chunk: chunk, size: n})
	w.size += n
	if !w.closing() && w.state == stateWritable {
		w.updateBackpressure()
	}
	w.advance()
}

// closePropagating is WritableStreamDefaultWriterCloseWithErrorPropagation.
func (x *writer) closePropagating() *engine.Deferred {
	w := x.stream
	if w.closing() || w.state == stateEnded {
		return x.p.done()
	}
	if w.state == stateFailed {
		return x.p.Engine.Promises.Rejected(w.err)
	}
	return w.close()
}

func defineWriter(p *Streams) *engine.Class[*writer] {
	promise := func(get func(x *writer) *engine.Deferred) func(*writer, *goja.Object) goja.Value {
		return func(x *writer, _ *goja.Object) goja.Value { return get(x).Object() }
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*writer]{
		Name: "WritableStreamDefaultWriter",
		New: func(call goja.ConstructorCall) *writer {
			w := p.writableOf(call.Argument(0))
			if w == nil {
				p.BadConstruct("WritableStreamDefaultWriter", 1, "WritableStream")
			}
			return w.acquire()
		},
		Accessors: []engine.Accessor[*writer]{
			{Name: "closed", Get: promise(func(x *writer) *engine.Deferred { return x.closed })},
			{Name: "ready", Get: promise(func(x *writer) *engine.Deferred { return x.ready })},
			{Name: "desiredSize", Get: func(x *writer, _ *goja.Object) goja.Value {
				w := x.stream
				switch {
				case w == nil:
					p.Engine.Throw("TypeError", textReleasedWriter)
				case w.state == stateWritable:
					return p.VM.ToValue(w.mark - w.size)
				case w.state == stateEnded || w.internal:
					return p.VM.ToValue(0)
				}
				return goja.Null()
			}},
		},
		Methods: []engine.Method[*writer]{
			{Name: "abort", Fn: func(x *writer, call goja.FunctionCall) goja.Value {
				if x.stream == nil {
					return p.refused(textReleasedWriter)
				}
				return x.stream.abort(call.Argument(0)).Object()
			}},
			{Name: "close", Fn: func(x *writer, _ goja.FunctionCall) goja.Value {
				if x.stream == nil {
					return p.refused(textReleasedWriter)
				}
				return x.stream.close().Object()
			}},
			{Name: "write", Fn: func(x *writer, call goja.FunctionCall) goja.Value {
				request := p.newWrite()
				x.write(call.Argument(0), request)
				return request.Object()
			}},
			{Name: "releaseLock", Fn: func(x *writer, _ goja.FunctionCall) goja.Value { x.release(); return goja.Undefined() }},
		},
	})
}
