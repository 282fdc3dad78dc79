package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// The states of a WritableStream (Streams, section 5.2.2).
type writableState uint8

const (
	stateWritable writableState = iota
	stateErroring
	stateEnded // "closed"
	stateFailed
)

const (
	textLockedWriter   = "This WritableStream is currently locked to a writer."
	textReleasedWriter = "This WritableStream writer has been released."
	textEnded          = "This WritableStream has been closed."
	textClosingWriter  = "Cannot close a writer that is already being closed"
	// textDestinationEnded is what a pipe says of such a destination.
	textDestinationEnded = "This destination writable stream is closed."
)

// writeRequest is who waits for a chunk to be written. One of the two is called,
// once for each write.
type writeRequest interface {
	done()
	fail(reason goja.Value)
}

// writePromise is a writeRequest of JavaScript's: what it is told it becomes a job later, as
// promises that are given do.
type writePromise struct {
	engine.Deferred
	p *idl
}

func (w *writePromise) done() {
	w.p.Engine.Promises.AfterIn(w.p.Engine.Frame(), 1, w.Fulfil, goja.Undefined())
}

func (w *writePromise) fail(reason goja.Value) {
	w.p.Engine.Promises.AfterIn(w.p.Engine.Frame(), 1, w.Reject, reason)
}

func (p *idl) newWrite() *writePromise {
	w := &writePromise{p: p}
	w.Init(p.Engine)
	return w
}

// writable is a WritableStream and its controller (sections 5.2 and 5.4).
// Loop-confined.
type writable struct {
	p            *Streams
	state        writableState
	backpressure bool
	err          goja.Value
	writer       *writer // nil: it is not locked
	requests     queue[writeRequest]
	writing      writeRequest // of the chunk that the sink has
	closeRequest *engine.Deferred
	closingNow   *engine.Deferred // the sink has been told to close
	pendingAbort *pendingAbort
	internal     bool         // as those that workerd has no controller for: once failed, it is closed to writers
	over         bool         // what it writes to has ended it
	scripted     bool         // its sink is JavaScript's, or a transform
	obj          *goja.Object // nil until JavaScript sees it

	// The controller's.
	started    bool
	queue      queue[sized]
	size, mark float64
	sizes      goja.Callable
	sink       sinkOf
	signal     *goja.Object // its AbortController, nil until it is asked for
	aborted    goja.Value   // why, nil: it is not
	controller *goja.Object

	written, writeFailed func(goja.Value) // made once

	// settled: it has ended or failed, and its writer knows. adrift: breakOff was called,
	// state and err are what writers see, and these two what the sink's side has come to.
	settled  bool
	adrift   bool
	inner    writableState
	innerErr goja.Value
}

// sinkOf is what a stream writes to; nil functions do nothing.
type sinkOf struct {
	write func(chunk goja.Value) *engine.Deferred
	close func() *engine.Deferred
	abort func(reason goja.Value) *engine.Deferred
	// interrupt ends a write that an abort would wait for.
	interrupt func(reason goja.Value)
	// refuses is why a chunk is not taken at all, nil if it is: the stream goes on.
	refuses func(chunk goja.Value) goja.Value
}

type pendingAbort struct {
	promise *engine.Deferred
	reason  goja.Value
	late    bool // the stream was erroring already
}

func (p *Streams) newWritable(mark float64, sizes goja.Callable) *writable {
	return &writable{p: p, mark: mark, sizes: sizes, backpressure: mark <= 0}
}

// createWritable makes a stream of the platform's own; with started, which may be
// nil, it writes once that is fulfilled.
func (p *Streams) createWritable(sink sinkOf, mark float64, sizes goja.Callable, started *engine.Deferred) *writable {
	w := p.newWritable(mark, sizes)
	w.sink = sink
	if started == nil {
		w.started = true
	} else {
		w.startAfter(started)
	}
	return w
}

func (w *writable) startAfter(started *engine.Deferred) {
	started.Then(func(goja.Value) {
		w.started = true
		if w.writer != nil && w.state == stateWritable {
			w.writer.ready.Fulfil(goja.Undefined()) // as workerd, with backpressure too
		}
		w.advance()
	}, func(reason goja.Value) {
		w.started = true
		w.rejection(reason)
	})
}

// object is the stream as JavaScript sees it.
func (w *writable) object() *goja.Object {
	if w.obj == nil {
		w.obj = w.p.classes.writable().Wrap(w)
	}
	return w.obj
}

// closing is WritableStreamCloseQueuedOrInFlight.
func (w *writable) closing() bool { return w.closeRequest != nil || w.closingNow != nil }

// busy is WritableStreamHasOperationMarkedInFlight.
func (w *writable) busy() bool { return w.writing != nil || w.closingNow != nil }

// forget is WritableStreamDefaultControllerClearAlgorithms.
func (w *writable) forget() { w.sink, w.sizes = sinkOf{}, nil }

// breakOff fails the stream for its writers at once, as a transform does whose other side
// has gone (workerd: WritableStreamJsController::doError). Its sink is not told: the write
// that goes on ends as it does, and then, if it does not fail, the others come to nothing.
func (w *writable) breakOff(reason goja.Value) {
	if w.adrift || w.settled {
		return
	}
	w.adrift, w.inner, w.innerErr = true, w.state, w.err
	w.state, w.err = stateFailed, reason
	w.forget()
	if x := w.writer; x != nil {
		x.closed.Handled().Reject(reason)
		x.ready.Fulfil(goja.Undefined()) // if it is pending
	}
}

// phase is the state that the sink's side has come to, and why it fails if it does.
func (w *writable) phase() (writableState, goja.Value) {
	if w.adrift {
		return w.inner, w.innerErr
	}
	return w.state, w.err
}

func (w *writable) become(state writableState, reason goja.Value) {
	if w.adrift {
		w.inner, w.innerErr = state, reason
		return
	}
	w.state, w.err = state, reason
}

// aborting reports whether the stream has failed while its sink's abort() goes on: as in
// workerd its writer is not told before that has ended.
func (w *writable) aborting() bool {
	return w.state == stateFailed && !w.settled && !w.adrift && !w.internal
}

// is reports whether the sink's side has come to a state.
func (w *writable) is(state writableState) bool {
	now, _ := w.phase()
	return now == state
}

// startErroring is WritableStreamStartErroring (section 5.5.3).
func (w *writable) startErroring(reason goja.Value) {
	w.become(stateErroring, reason)
	switch {
	case w.writer == nil:
	case w.internal:
		w.writer.ready.Fulfil(goja.Undefined())
	default:
		w.writer.ready = w.p.broken(w.writer.ready, reason)
	}
	if !w.busy() && w.started {
		w.finishErroring()
	}
}

// rejectClosed is WritableStreamRejectCloseAndClosedPromiseIfNeeded.
func (w *writable) rejectClosed() {
	w.settled = true
	_, reason := w.phase()
	if w.closeRequest != nil {
		w.closeRequest.Reject(reason)
		w.closeRequest = nil
	}
	if w.writer != nil && w.writer.closed.Pending() {
		w.writer.closed.Handled().Reject(reason)
	}
}

// finishErroring is WritableStreamFinishErroring (section 5.5.3).
func (w *writable) finishErroring() {
	pending := w.pendingAbort
	_, reason := w.phase()
	w.become(stateFailed, reason)
	w.queue, w.size = queue[sized]{}, 0
	for _, request := range w.requests.takeAll() {
		request.fail(reason)
	}
	w.pendingAbort = nil
	if pending == nil {
		w.rejectClosed()
		return
	}
	if pending.late {
		pending.promise.Reject(reason)
		w.rejectClosed()
		return
	}
	done := func(goja.Value) {
		pending.promise.Fulfil(goja.Undefined())
		w.rejectClosed()
	}
	abort := w.sink.abort
	w.forget()
	if abort == nil {
		done(goja.Undefined())
		return
	}
	abort(pending.reason).Then(done, func(reason goja.Value) {
		pending.promise.Reject(reason)
		w.rejectClosed()
	})
}

// rejection is WritableStreamDealWithRejection (section 5.5.3).
func (w *writable) rejection(reason goja.Value) {
	if w.is(stateWritable) {
		w.startErroring(reason)
		return
	}
	w.finishErroring()
}

// abort is WritableStreamAbort (section 5.5.2).
func (w *writable) abort(reason goja.Value) *engine.Deferred {
	if w.state == stateEnded || w.state == stateFailed {
		return w.p.done()
	}
	w.aborted = reason
	if w.signal != nil {
		w.p.Invoke(w.signal, "abort", reason)
	}
	if w.state == stateEnded || w.state == stateFailed {
		return w.p.done()
	}
	if w.pendingAbort != nil {
		return w.pendingAbort.promise
	}
	pending := &pendingAbort{promise: w.p.Engine.Promises.New(), late: w.state == stateErroring}
	w.pendingAbort = pending
	if pending.late {
		pending.reason = goja.Undefined()
	} else {
		pending.reason = reason
		w.startErroring(reason)
	}
	if interrupt := w.sink.interrupt; interrupt != nil && w.writing != nil && w.p.Enabled(compat.InternalWritableStreamAbortClearsQueue) {
		interrupt(reason)
	}
	return pending.promise
}

// close is WritableStreamClose (section 5.5.2).
func (w *writable) close() *engine.Deferred {
	if w.over && !w.internal && w.state != stateEnded && w.requests.empty() && (w.closing() || w.state != stateWritable) {
		return w.p.Engine.Promises.Fulfilled(goja.Undefined())
	}
	if w.state == stateFailed && !w.internal {
		return w.p.Engine.Promises.Rejected(w.err) // as workerd
	}
	if w.state == stateFailed || w.state == stateEnded || w.closing() || w.internal && w.pendingAbort != nil {
		return w.p.Engine.Promises.Rejected(w.p.typeError(textEnded))
	}
	promise := w.p.Engine.Promises.New()
	w.closeRequest = promise
	if w.writer != nil && w.backpressure && w.state == stateWritable {
		w.writer.ready.Fulfil(goja.Undefined())
	}
	w.queue.push(sized{close: true})
	w.advance()
	return promise
}

// closeFor is close() as JavaScript calls it: in workerd it throws where the stream is being
// closed, so that its promise is rejected a job earlier than others.
func (w *writable) closeFor() goja.Value {
	if !w.internal && !w.over && w.closing() && w.state == stateWritable {
		return w.p.Engine.Promises.Rejected(w.p.typeError(textClosingWriter)).Object()
	}
	return given(w.close())
}

// updateBackpressure is WritableStreamUpdateBackpressure (section 5.5.3).
func (w *writable) updateBackpressure() {
	backpressure := w.mark-w.size <= 0
	if w.writer != nil && backpressure != w.backpressure {
		if backpressure {
			w.writer.ready = w.p.Engine.Promises.New()
		} else {
			w.writer.ready.Fulfil(goja.Undefined())
		}
	}
	w.backpressure = backpressure
}

// fail is WritableStreamDefaultControllerErrorIfNeeded.
func (w *writable) fail(reason goja.Value) {
	if w.state == stateWritable {
		w.forget()
		w.startErroring(reason)
	}
}

func (w *writable) take() {
	item := w.queue.take()
	if w.size -= item.size; w.queue.empty() {
		w.size = 0
	}
}

// advance is WritableStreamDefaultControllerAdvanceQueueIfNeeded (section 5.5.4).
func (w *writable) advance() {
	if !w.started || w.writing != nil {
		return
	}
	if w.is(stateErroring) {
		w.finishErroring()
		return
	}
	if w.queue.empty() || !w.is(stateWritable) {
		return
	}
	first := w.queue.first()
	if first.close {
		w.finish()
		return
	}
	w.writing = w.requests.take()
	if w.sink.write == nil { // as workerd, which asks nobody
		w.hasWritten(goja.Undefined())
		return
	}
	result := w.sink.write(first.chunk)
	if w.written == nil {
		w.written, w.writeFailed = w.hasWritten, w.hasNotWritten
	}
	result.Then(w.written, w.writeFailed)
}

func (w *writable) hasWritten(goja.Value) {
	w.writing.done()
	w.writing = nil
	w.take()
	if !w.closing() && w.state == stateWritable {
		w.updateBackpressure()
	}
	if w.scripted && !w.requests.empty() && w.is(stateWritable) {
		w.p.Engine.Promises.Microtask(w.goOn) // as workerd, lest streams that write at once recurse
		return
	}
	w.advance()
}

// goOn goes on with what was written meanwhile, unless the stream has ended.
func (w *writable) goOn() {
	if w.is(stateWritable) || w.is(stateErroring) {
		w.advance()
	}
}

func (w *writable) hasNotWritten(reason goja.Value) {
	if w.is(stateWritable) {
		w.forget()
	}
	w.writing.fail(reason)
	w.writing = nil
	w.rejection(reason)
}

// finish is WritableStreamDefaultControllerProcessClose (section 5.5.4).
func (w *writable) finish() {
	w.closingNow, w.closeRequest = w.closeRequest, nil
	w.take()
	end := w.sink.close
	if end == nil {
		w.forget()
		w.hasClosed(goja.Undefined())
		return
	}
	result := end()
	w.forget()
	result.Then(w.hasClosed, w.hasNotClosed)
}

func (w *writable) hasClosed(goja.Value) {
	w.closingNow.Fulfil(goja.Undefined())
	w.closingNow = nil
	if w.is(stateErroring) {
		if w.pendingAbort != nil {
			w.pendingAbort.promise.Fulfil(goja.Undefined())
			w.pendingAbort = nil
		}
	}
	w.become(stateEnded, nil)
	w.settled = true
	if w.writer != nil {
		w.writer.closed.Fulfil(goja.Undefined())
	}
}

func (w *writable) hasNotClosed(reason goja.Value) {
	w.closingNow.Reject(reason)
	w.closingNow = nil
	if pending := w.pendingAbort; pending != nil {
		if w.internal {
			pending.promise.Fulfil(goja.Undefined())
		} else {
			pending.promise.Reject(reason)
		}
		w.pendingAbort = nil
	}
	w.rejection(reason)
}

func defineWritable(p *Streams) *engine.Class[*writable] {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*writable]{
		Name: "WritableStream",
		New:  func(call goja.ConstructorCall) *writable { return constructWritable(p, call) },
		Accessors: []engine.Accessor[*writable]{
			{Name: "locked", Get: func(w *writable, _ *goja.Object) goja.Value { return p.VM.ToValue(w.writer != nil) }},
		},
		Shown: []engine.Accessor[*writable]{
			{Name: "state", Get: func(w *writable, _ *goja.Object) goja.Value {
				return p.VM.ToValue([...]string{"writable", "erroring", "closed", "errored"}[w.state])
			}},
			{Name: "expectsBytes", Get: func(w *writable, _ *goja.Object) goja.Value { return p.VM.ToValue(w.internal) }},
		},
		Methods: []engine.Method[*writable]{
			{Name: "abort", Fn: func(w *writable, call goja.FunctionCall) goja.Value {
				if w.writer != nil {
					return p.refused(textLockedWriter)
				}
				return given(w.abort(call.Argument(0)))
			}},
			{Name: "close", Fn: func(w *writable, _ goja.FunctionCall) goja.Value {
				if w.writer != nil {
					return p.refused(textLockedWriter)
				}
				return w.closeFor()
			}},
			{Name: "getWriter", Fn: func(w *writable, _ goja.FunctionCall) goja.Value {
				return p.classes.writer().Wrap(w.acquire())
			}},
		},
	})
	return class
}

// constructWritable is the constructor (section 5.2.4), as workerd has it: see
// constructReadable.
func constructWritable(p *Streams, call goja.ConstructorCall) *writable {
	const owner = "UnderlyingSink"
	sink := p.object(call.Argument(0), 1, "WritableStream", owner)
	if kind := argument(sink, "type"); !goja.IsUndefined(kind) {
		p.DOMString(kind)
	}
	start, write := p.member(sink, "start", owner), p.member(sink, "write", owner)
	abort, end := p.member(sink, "abort", owner), p.member(sink, "close", owner)
	queuing := p.strategy(call.Argument(1), 2, "WritableStream")
	w := p.newWritable(queuing.or(1), queuing.size)
	w.obj, w.scripted = call.This, true
	w.controller = p.classes.writableController().Wrap(&writableController{w})
	if write.fn != nil {
		w.sink.write = func(chunk goja.Value) *engine.Deferred { return p.invoke(write, chunk, w.controller) }
	}
	if end.fn != nil {
		w.sink.close = func() *engine.Deferred { return p.invoke(end) }
	}
	if abort.fn != nil {
		w.sink.abort = func(reason goja.Value) *engine.Deferred { return p.invoke(abort, reason) }
	}
	if start.fn == nil {
		w.started = true
		return w
	}
	w.startAfter(p.invoke(start, w.controller))
	return w
}

// writableController is the controller as JavaScript sees it.
type writableController struct{ *writable }

func defineWritableController(p *Streams) *engine.Class[*writableController] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*writableController]{
		Name: "WritableStreamDefaultController",
		Accessors: []engine.Accessor[*writableController]{
			{Name: "signal", Get: func(c *writableController, _ *goja.Object) goja.Value {
				if c.signal == nil {
					c.signal = p.Construct("AbortController")
					if c.aborted != nil {
						p.Invoke(c.signal, "abort", c.aborted)
					}
				}
				return c.signal.Get("signal")
			}},
		},
		Methods: []engine.Method[*writableController]{
			{Name: "error", Fn: func(c *writableController, call goja.FunctionCall) goja.Value {
				c.writable.fail(call.Argument(0))
				return goja.Undefined()
			}},
		},
	})
}

// writableOf is the stream behind an object, nil if it is none.
func (p *Streams) writableOf(v goja.Value) *writable {
	w, _ := p.Engine.Attached(v).(*writable)
	return w
}
