package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/events"
)

// pipeOptions are StreamPipeOptions (Streams, section 4.2.1).
type pipeOptions struct {
	preventAbort, preventCancel, preventClose bool
	signal                                    *events.Signal // nil: none
	buffers                                   bool           // chunks are written as ArrayBuffers
}

// pipeOptionsOf converts them, their members in their order.
func (p *Streams) pipeOptionsOf(v goja.Value, method string) (o pipeOptions) {
	dict := p.options(v, 2, "ReadableStream", method, "PipeToOptions")
	o.preventAbort = argument(dict, "preventAbort").ToBoolean()
	o.preventCancel = argument(dict, "preventCancel").ToBoolean()
	o.preventClose = argument(dict, "preventClose").ToBoolean()
	if signal := argument(dict, "signal"); !goja.IsUndefined(signal) {
		var ok bool
		if o.signal, ok = p.Engine.Attached(signal).(*events.Signal); !ok {
			p.Engine.Throw("TypeError", "Incorrect type for the 'signal' field on 'PipeToOptions': the provided value is not of type 'AbortSignal'.")
		}
	}
	return o
}

// pipeTo is section 4.2.4 (pipeTo). It throws what rejects the promise.
func (s *readable) pipeTo(destination, options goja.Value) *engine.Deferred {
	p := s.p
	w := p.writableOf(destination)
	if w == nil {
		p.Engine.Throw("TypeError", "Failed to execute 'pipeTo' on 'ReadableStream': parameter 1 is not of type 'WritableStream'.")
	}
	o := p.pipeOptionsOf(options, "pipeTo")
	s.checkLocks(w)
	return s.pipe(w, o)
}

func (s *readable) checkLocks(w *writable) {
	if s.reader != nil {
		s.p.Engine.Throw("TypeError", TextLocked)
	}
	if w.writer != nil {
		s.p.Engine.Throw("TypeError", textLockedWriter)
	}
}

// through is section 4.2.4 (pipeThrough).
func (s *readable) through(pair, options goja.Value) goja.Value {
	p := s.p
	transform, ok := pair.(*goja.Object)
	if !ok {
		p.BadArgument("ReadableStream", "pipeThrough", 1, "Transform")
	}
	out := argument(transform, "readable")
	if p.readableOf(out) == nil {
		p.Engine.Throw("TypeError", "Incorrect type for the 'readable' field on 'Transform': the provided value is not of type 'ReadableStream'.")
	}
	w := p.writableOf(argument(transform, "writable"))
	if w == nil {
		p.Engine.Throw("TypeError", "Incorrect type for the 'writable' field on 'Transform': the provided value is not of type 'WritableStream'.")
	}
	o := p.pipeOptionsOf(options, "pipeThrough")
	s.checkLocks(w)
	s.pipe(w, o)
	return out
}

// piping is a pipe from one stream to another (section 4.9.1,
// ReadableStreamPipeTo). Loop-confined.
type piping struct {
	pipeOptions
	p          *Streams
	s          *readable
	w          *writable
	r          *reader
	x          *writer
	result     *engine.Deferred
	shutting   bool
	unfinished int    // chunks that are read and not written
	idle       func() // called once there are none
	reading    bool   // a read is in progress
	failed     bool   // a write has failed
	deferred   func() // what the signal does once the read in progress has ended, nil if it has not fired
	unlisten   func()
	write      func(chunk goja.Value) // made once
}

func (s *readable) pipe(w *writable, o pipeOptions) *engine.Deferred {
	u := &piping{pipeOptions: o, p: s.p, s: s, w: w, r: s.acquire(false), x: w.acquire(), result: s.p.Engine.Promises.New().Handled()}
	u.write = func(chunk goja.Value) { u.x.write(chunk, (*pipeWrite)(u)) }
	s.disturbed = true
	if signal := o.signal; signal != nil {
		aborted := signal.Aborted()
		u.unlisten = signal.OnAbort(u.abort)
		if aborted {
			return u.result
		}
	}
	u.watch()
	u.next()
	return u.result
}

// watch has errors and closing propagate.
func (u *piping) watch() {
	sourceFailed := func(reason goja.Value) {
		u.shutdown(u.unless(u.preventAbort, func() *engine.Deferred { return u.w.abort(reason) }), true, reason)
	}
	destinationFailed := func(reason goja.Value) { u.shutdown(u.cancel(reason), true, reason) }
	sourceClosed := func(goja.Value) {
		u.shutdown(u.unless(u.preventClose, u.x.closePropagating), false, nil)
	}
	if u.s.state == stateErrored {
		sourceFailed(u.s.err)
	} else {
		u.r.whenClosed().Then(nil, sourceFailed)
	}
	if u.w.state == stateFailed {
		destinationFailed(u.w.err)
	} else {
		u.x.closed.Then(nil, func(reason goja.Value) {
			if u.unfinished > 0 || u.failed || u.p.Enabled(compat.PipeToBackwardPropagation) {
				destinationFailed(reason)
				return
			}
			u.strand(reason)
		})
	}
	if u.s.state == stateClosed {
		sourceClosed(nil)
	} else {
		u.r.whenClosed().Then(sourceClosed, nil)
	}
	if u.w.closing() || u.w.state == stateEnded {
		reason := u.p.typeError(textDestinationEnded)
		u.shutdown(u.cancel(reason), true, reason)
	}
}

// cancel is how the destination's failure reaches the source. Before the flag
// pipe_to_backward_propagation what becomes of it concerns nobody.
func (u *piping) cancel(reason goja.Value) func() *engine.Deferred {
	return u.unless(u.preventCancel, func() *engine.Deferred {
		canceled := u.s.cancel(reason)
		if u.p.Enabled(compat.PipeToBackwardPropagation) {
			return canceled
		}
		canceled.Handled()
		return u.p.done()
	})
}

// strand is what workerd does before the flag pipe_to_backward_propagation when
// the destination fails while the pipe waits for a chunk: the source is
// canceled, which ends the pipe as if the source had closed. A pipe that may not
// cancel never settles.
func (u *piping) strand(reason goja.Value) {
	if u.shutting {
		return
	}
	u.shutting = true
	if u.preventCancel {
		u.let()
		return
	}
	u.s.cancel(reason).Handled()
	u.finalize(false, nil)
}

func (u *piping) unless(prevented bool, action func() *engine.Deferred) func() *engine.Deferred {
	if prevented {
		return nil
	}
	return action
}

// abort is what the signal does. As in workerd a pipe that waits for a chunk
// looks at its signal only once it has it; that chunk is lost.
func (u *piping) abort(reason goja.Value) {
	if u.reading {
		u.deferred = func() { u.abort(reason) }
		return
	}
	u.shutdown(func() *engine.Deferred {
		// As in workerd the source is canceled first, and what becomes of that
		// concerns nobody.
		if !u.preventCancel && u.s.state == stateReadable {
			u.s.cancel(reason).Handled()
		}
		if !u.preventAbort && u.w.state == stateWritable {
			return u.w.abort(reason)
		}
		return u.p.done()
	}, true, reason)
}

// shutdown is "shutdown with an action"; action may be nil. Chunks that were read
// are written before the pipe ends.
func (u *piping) shutdown(action func() *engine.Deferred, failed bool, reason goja.Value) {
	if u.shutting {
		return
	}
	u.shutting = true
	rest := func() {
		if action == nil {
			u.finalize(failed, reason)
			return
		}
		action().Then(func(goja.Value) { u.finalize(failed, reason) }, func(reason goja.Value) { u.finalize(true, reason) })
	}
	switch {
	case u.w.state != stateWritable || u.w.closing():
		rest()
	case u.unfinished > 0:
		u.idle = func() { u.p.Engine.Promises.Microtask(rest) }
	default:
		u.p.Engine.Promises.Microtask(rest)
	}
}

// let gives up both streams and the signal.
func (u *piping) let() {
	u.x.release()
	u.r.release()
	if u.unlisten != nil {
		u.unlisten()
	}
}

func (u *piping) finalize(failed bool, reason goja.Value) {
	u.let()
	if failed {
		u.result.Reject(reason)
		return
	}
	u.result.Fulfil(goja.Undefined())
}

func (u *piping) next() {
	if !u.shutting {
		u.reading = true
		u.r.read((*pipeRead)(u))
	}
}

// pipeRead is a pipe as who reads: a write may call user code, not from within a
// read.
type pipeRead piping

func (u *pipeRead) chunk(v goja.Value) {
	u.reading = false
	if u.deferred != nil {
		u.p.Engine.Promises.Microtask(u.deferred)
		return
	}
	if u.buffers {
		data, _ := u.p.BytesOf(v)
		v = u.p.VM.ToValue(u.p.VM.NewArrayBuffer(append([]byte(nil), data...)))
	}
	u.unfinished++
	u.p.Engine.Promises.AfterIn(u.p.Engine.Frame(), 2, u.write, v) // as workerd, behind what the source does next
}

func (u *pipeRead) close(goja.Value) { u.reading = false }
func (u *pipeRead) fail(goja.Value)  { u.reading = false }

// pipeWrite is a pipe as who has written. As in workerd the next chunk is read once
// this one is written, whatever the destination would take.
type pipeWrite piping

func (u *pipeWrite) done() {
	u.finished()
	(*piping)(u).next()
}

func (u *pipeWrite) finished() {
	if u.unfinished--; u.unfinished == 0 && u.idle != nil {
		u.idle()
	}
}

func (u *pipeWrite) fail(goja.Value) {
	u.failed = true
	u.finished()
}
