package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

const textNotReadable = "The readable side of this TransformStream is no longer readable."

const textTerminated = "The transform stream has been terminated"

// transform is a TransformStream (Streams, section 6.2) and its controller
// (section 6.3). Loop-confined.
type transform struct {
	p            *Streams
	readable     *readable
	writable     *writable
	backpressure bool
	change       *engine.Deferred // nil until somebody waits for another backpressure
	finish       *engine.Deferred // nil until the readable side has been canceled
	controller   *goja.Object
	work         transformer

	// What the transform has done with a side.
	readableGone, writableGone bool
}

// transformer is what a transform does; nil functions do nothing, but for transform: without
// it chunks pass as they are.
type transformer struct {
	transform func(chunk goja.Value) *engine.Deferred
	flush     func() *engine.Deferred
	cancel    func(reason goja.Value) *engine.Deferred
}

// transformOptions are high water marks, strategies, and what both sides wait for
// before they begin.
type transformOptions struct {
	started              *engine.Deferred
	writeMark, readMark  float64
	writeSizes, readSize goja.Callable
}

// newTransform is InitializeTransformStream (section 6.4.1).
func (p *Streams) newTransform(t *transform, o transformOptions) {
	t.p = p
	t.readable = p.create(readableOptions{pull: func() *engine.Deferred {
		t.setBackpressure(false)
		return t.changed()
	}, cancel: t.cancel, mark: o.readMark, sizes: o.readSize})
	c := t.readable.controller
	c.started = false
	o.started.Then(func(goja.Value) {
		c.started = true
		c.callPull()
	}, c.fail)
	t.writable = p.createWritable(sinkOf{write: t.write, close: t.close, abort: t.abort}, o.writeMark, o.writeSizes, o.started)
	t.writable.scripted = true
	t.setBackpressure(true)
}

// changed is [[backpressureChangePromise]].
func (t *transform) changed() *engine.Deferred {
	if t.change == nil {
		t.change = t.p.Engine.Promises.New()
	}
	return t.change
}

// setBackpressure is TransformStreamSetBackpressure.
func (t *transform) setBackpressure(backpressure bool) {
	change := t.change
	t.change, t.backpressure = nil, backpressure
	if change != nil {
		change.Fulfil(goja.Undefined())
	}
}

// fail breaks both sides (workerd: TransformStreamDefaultController::error).
func (t *transform) fail(reason goja.Value) {
	if !t.readableGone {
		t.readable.controller.fail(reason)
		t.readableGone = true
	}
	t.unblockWrite(reason)
}

// unblockWrite breaks the writable side and has the write that waits go on
// (workerd: errorWritableAndUnblockWrite).
func (t *transform) unblockWrite(reason goja.Value) {
	t.work = transformer{}
	if !t.writableGone {
		t.writable.breakOff(reason)
		t.writableGone = true
	}
	if t.backpressure {
		t.setBackpressure(false)
	}
}

// enqueue is TransformStreamDefaultControllerEnqueue (section 6.4.2); thrown, if
// not nil, is what it throws.
func (t *transform) enqueue(chunk goja.Value) (thrown goja.Value) {
	c := t.readable.controller
	if t.readableGone || !c.open() {
		return t.p.typeError(textNotReadable)
	}
	if thrown := c.enqueue(chunk); thrown != nil {
		t.unblockWrite(thrown)
		return t.readable.err
	}
	// Before fixup-transform-stream-backpressure workerd looks no more once a reader has asked.
	if backpressure := !t.readable.waiting() && c.mark-c.size <= 0; backpressure != t.backpressure && t.p.Enabled(compat.FixupTransformStreamBackpressure) {
		t.setBackpressure(true)
	}
	return nil
}

// terminate is TransformStreamDefaultControllerTerminate.
func (t *transform) terminate() {
	t.closeReadable()
	t.readableGone = true
	t.unblockWrite(t.p.typeError(textTerminated))
}

// closeReadable closes the readable side once it is read, unless it is gone.
func (t *transform) closeReadable() {
	if !t.readableGone {
		t.readable.controller.closeOpen()
	}
}

// follow is what becomes of a transformer's function: ok or failed is called, and the promise
// is settled as one is whose reaction returns a promise (workerd: maybeRunAlgorithm).
func (t *transform) follow(result *engine.Deferred, ok func() *engine.Deferred, failed func(reason goja.Value)) *engine.Deferred {
	return result.Chain(func(_ goja.Value, next *engine.Deferred) { next.Follow(ok()) },
		func(reason goja.Value, next *engine.Deferred) {
			failed(reason)
			next.Follow(t.p.Engine.Promises.Rejected(reason))
		})
}

func (t *transform) nothing() *engine.Deferred { return t.p.void }

// perform is TransformStreamDefaultControllerPerformTransform.
func (t *transform) perform(chunk goja.Value) *engine.Deferred {
	if t.work.transform == nil {
		if thrown := t.enqueue(chunk); thrown != nil {
			return t.p.Engine.Promises.Rejected(thrown)
		}
		return t.p.void
	}
	result := t.work.transform(chunk)
	if result == t.p.void { // most are: so many jobs does follow take
		return t.p.Engine.Promises.Later(3)
	}
	return t.follow(result, t.nothing, t.fail)
}

// write is TransformStreamDefaultSinkWriteAlgorithm (section 6.4.3).
func (t *transform) write(chunk goja.Value) *engine.Deferred {
	if !t.backpressure {
		return t.perform(chunk)
	}
	return t.changed().Chain(func(_ goja.Value, next *engine.Deferred) {
		if !t.writableGone && t.writable.state == stateErroring {
			next.Follow(t.p.Engine.Promises.Rejected(t.writable.err))
			return
		}
		next.Follow(t.perform(chunk))
	}, nil)
}

// close is TransformStreamDefaultSinkCloseAlgorithm (section 6.4.3).
func (t *transform) close() *engine.Deferred {
	if t.work.flush == nil {
		t.closeReadable()
		return t.p.void
	}
	return t.follow(t.work.flush(), func() *engine.Deferred {
		t.closeReadable()
		return t.p.void
	}, t.fail)
}

// stop calls the transformer's cancel(), and then ok or failed, unless the readable side has
// been canceled.
func (t *transform) stop(reason goja.Value, ok, failed func(reason goja.Value)) *engine.Deferred {
	if t.finish != nil {
		return t.finish
	}
	if t.work.cancel == nil {
		ok(reason)
		return t.p.void
	}
	return t.follow(t.work.cancel(reason), func() *engine.Deferred {
		ok(reason)
		return t.p.void
	}, failed)
}

// abort is TransformStreamDefaultSinkAbortAlgorithm (section 6.4.3). As in workerd a
// cancellation that comes meanwhile calls cancel() again.
func (t *transform) abort(reason goja.Value) *engine.Deferred { return t.stop(reason, t.fail, t.fail) }

// cancel is TransformStreamDefaultSourceCancelAlgorithm (section 6.4.4).
func (t *transform) cancel(reason goja.Value) *engine.Deferred {
	gone := func(reason goja.Value) {
		t.readableGone = true
		t.unblockWrite(reason)
	}
	t.finish = t.stop(reason, gone, gone)
	return t.finish.Handled()
}

// constructTransform is the constructor (section 6.2.4).
func constructTransform(p *Streams, call goja.ConstructorCall) *transform {
	const owner = "Transformer"
	given := p.object(call.Argument(0), 1, "TransformStream", owner)
	kinds := [2]goja.Value{argument(given, "readableType"), argument(given, "writableType")}
	start, work := p.member(given, "start", owner), p.member(given, "transform", owner)
	flush, cancel := p.member(given, "flush", owner), p.member(given, "cancel", owner)
	expected := int64(-1)
	if v := argument(given, "expectedLength"); !goja.IsUndefined(v) {
		expected = p.length(v)
	}
	writing, reading := p.strategy(call.Argument(1), 2, "TransformStream"), p.strategy(call.Argument(2), 3, "TransformStream")
	for i, name := range []string{"readableType", "writableType"} {
		if !goja.IsUndefined(kinds[i]) {
			p.Engine.Throw("TypeError", "transformer.%s must be undefined.", name)
		}
	}
	readMark, writeMark := reading.or(1), writing.or(1) // as workerd: a strategy that says nothing has 1
	if goja.IsUndefined(call.Argument(2)) {
		readMark = 0
	}
	started := p.void
	if start.fn != nil {
		started = p.Engine.Promises.New()
	}
	t := &transform{}
	p.newTransform(t, transformOptions{started, writeMark, readMark, writing.size, reading.size})
	t.readable.fixed = expected
	t.controller = p.classes.transformController().Wrap(&transformController{t})
	if work.fn != nil {
		t.work.transform = func(chunk goja.Value) *engine.Deferred { return p.invoke(work, chunk, t.controller) }
	}
	if flush.fn != nil {
		t.work.flush = func() *engine.Deferred { return p.invoke(flush, t.controller) }
	}
	if cancel.fn != nil {
		t.work.cancel = func(reason goja.Value) *engine.Deferred { return p.invoke(cancel, reason) }
	}
	if start.fn != nil { // as workerd, whose constructor does not throw what start() throws
		p.invoke(start, t.controller).Then(started.Fulfil, started.Reject)
	}
	return t
}

// transformHolder is a TransformStream, or of a class that inherits from it.
type transformHolder interface{ base() *transform }

func (t *transform) base() *transform { return t }

func defineTransform(p *Streams) *engine.Class[transformHolder] {
	return engine.DefineClass(p.Engine, engine.ClassDef[transformHolder]{
		Name: "TransformStream", New: func(call goja.ConstructorCall) transformHolder { return constructTransform(p, call) },
		Accessors: []engine.Accessor[transformHolder]{
			webidl.Reader("readable", func(t transformHolder) goja.Value { return t.base().readable.object() }),
			webidl.Reader("writable", func(t transformHolder) goja.Value { return t.base().writable.object() }),
		},
	})
}

// transformController is the controller as JavaScript sees it.
type transformController struct{ *transform }

func defineTransformController(p *Streams) *engine.Class[*transformController] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*transformController]{
		Name: "TransformStreamDefaultController",
		Accessors: []engine.Accessor[*transformController]{
			{Name: "desiredSize", Get: func(c *transformController, _ *goja.Object) goja.Value {
				if !c.readable.controller.open() {
					return goja.Null() // as workerd
				}
				return c.readable.controller.desiredSize()
			}},
		},
		Methods: []engine.Method[*transformController]{
			{Name: "enqueue", Fn: func(c *transformController, call goja.FunctionCall) goja.Value {
				if thrown := c.enqueue(call.Argument(0)); thrown != nil {
					panic(thrown)
				}
				return goja.Undefined()
			}},
			{Name: "error", Fn: func(c *transformController, call goja.FunctionCall) goja.Value {
				c.transform.fail(call.Argument(0))
				return goja.Undefined()
			}},
			{Name: "terminate", Fn: func(c *transformController, _ goja.FunctionCall) goja.Value {
				c.terminate()
				return goja.Undefined()
			}},
		},
	})
}
