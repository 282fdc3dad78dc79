package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// writer is what has locked a WritableStream (Streams, section 5.3). Loop-confined.
type writer struct {
	p             *Streams
	stream        *writable // nil: it has been released
	ready, closed *engine.Deferred

	shownReady, shownClosed shown
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
	switch {
	case w.aborting():
		x.ready, x.closed = done(), e.Promises.New()
	case w.state == stateWritable || w.state == stateErroring:
		x.closed = e.Promises.New()
		switch compliant := w.p.compliant(); {
		case compliant && w.state == stateErroring:
			x.ready = failed()
		case compliant && !w.closing() && w.backpressure, !compliant && !w.started:
			x.ready = e.Promises.New()
		default:
			x.ready = done()
		}
	case w.state == stateEnded:
		x.ready, x.closed = done(), done()
	default:
		x.ready, x.closed = failed(), failed()
	}
	return x
}

// compliant tells whether writers do as the standard has it when they lock a stream and
// release it; before, what is settled stays, and ready tells whether the stream has
// started (workerd: writable_stream_spec_compliant_writer).
func (p *idl) compliant() bool { return p.Enabled(compat.WritableStreamSpecCompliantWriter) }

// release is WritableStreamDefaultWriterRelease (section 5.5.5). As in workerd closed
// stays if it is settled.
func (x *writer) release() {
	if x.stream == nil {
		return
	}
	reason := x.p.typeError(textReleasedWriter)
	if x.ready.Pending() || x.p.compliant() && x.stream.state != stateErroring && !x.stream.aborting() && !x.stream.internal {
		x.ready = x.p.broken(x.ready, reason)
	}
	if x.closed.Pending() {
		x.closed.Handled().Reject(reason)
	}
	x.stream.dropRequests(reason)
	x.stream.writer, x.stream = nil, nil
}

// dropRequests drops the chunks that are queued when a writer releases its lock, and
// tells who waits for them: as in workerd they are never written. Streams of the
// platform's own, whose sinks are not JavaScript's, keep them.
func (w *writable) dropRequests(reason goja.Value) {
	if w.internal || w.adrift {
		return
	}
	for _, request := range w.requests.takeAll() {
		request.fail(reason)
	}
	queued := w.queue.takeAll()
	w.size = 0
	for i, item := range queued {
		if item.close || i == 0 && w.writing != nil { // the first is with the sink
			w.queue.push(item)
			w.size += item.size
		}
	}
	w.backpressure = w.mark-w.size <= 0
}

// write is WritableStreamDefaultWriterWrite (section 5.5.5): the request is told
// what has become of the chunk.
func (x *writer) write(chunk goja.Value, request writeRequest) {
	w, p := x.stream, x.p
	if w == nil {
		request.fail(p.typeError(textReleasedWriter))
		return
	}
	ended := w.state == stateEnded
	n, thrown := p.sizeOf(w.sizes, chunk)
	if thrown != nil {
		w.fail(thrown)
		n = 1
	}
	switch {
	case thrown != nil && w.err != nil && !w.internal:
		request.fail(w.err)
		return
	case w.writer == nil && p.compliant(): // size() has released it
		request.fail(p.typeError(textReleasedWriter))
		return
	case w.state == stateFailed && !w.internal:
		request.fail(w.err)
		return
	case !w.internal && !w.over && (w.closing() && w.state == stateWritable || w.state == stateEnded && !ended):
		request.fail(p.typeError(textClosedReadable)) // the reference's text
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
			{Name: "closed", Get: func(x *writer, _ *goja.Object) goja.Value { return x.shownClosed.object(x.closed) }},
			{Name: "ready", Get: func(x *writer, _ *goja.Object) goja.Value { return x.shownReady.object(x.ready) }},
			{Name: "desiredSize", Get: func(x *writer, _ *goja.Object) goja.Value {
				w := x.stream
				switch {
				case w == nil:
					p.Engine.Throw("TypeError", textReleasedWriter)
				case w.state == stateWritable, w.state == stateErroring && !w.internal, w.aborting(): // as workerd
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
				return given(x.stream.abort(call.Argument(0)))
			}},
			{Name: "close", Fn: func(x *writer, _ goja.FunctionCall) goja.Value {
				if x.stream == nil {
					return p.refused(textReleasedWriter)
				}
				return x.stream.closeFor()
			}},
			{Name: "write", Fn: func(x *writer, call goja.FunctionCall) goja.Value {
				request := p.newWrite()
				x.write(call.Argument(0), request)
				return request.Object()
			}},
			{Name: "releaseLock", Fn: func(x *writer, _ goja.FunctionCall) goja.Value {
				if w := x.stream; w == nil || !w.internal || w.state == stateWritable && w.pendingAbort == nil {
					x.release() // as workerd, where a stream of its own that has ended stays locked
				}
				return goja.Undefined()
			}},
		},
	})
}
