package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/engine"
)

// readRequest is who waits for a chunk (Streams, sections 4.4.2 and 4.5.2: read
// and read-into requests). Of the three one is called, once for each read.
type readRequest interface {
	chunk(v goja.Value)
	// close gets the view of a read into one, nil or undefined where there is none.
	close(view goja.Value)
	fail(reason goja.Value)
}

// reader is what has locked a stream (section 4.3, ReadableStreamGenericReader).
// Loop-confined.
type reader struct {
	p        *Streams
	stream   *readable // nil: it has been released
	byob     bool
	whole    bool // it is Go that reads: chunks come as they are, however long
	requests queue[readRequest]
	closed   *engine.Deferred // nil until it is asked for
	gone     goja.Value       // what it was released with
	shown    shown
}

// textSingleRead is what a second read says that has not waited for the first, of
// a stream of the platform's own (workerd: src/workerd/api/streams/internal.c++).
const textSingleRead = "This ReadableStream only supports a single pending read request at a time."

// acquire locks a stream. It throws if it is locked, or gives no bytes to a reader
// that brings its own buffers.
func (s *readable) acquire(byob bool) *reader {
	if s.reader != nil {
		s.p.Engine.Throw("TypeError", "%s", TextLocked)
	}
	if byob && !s.controller.bytes {
		s.p.Engine.Throw("TypeError", "%s", textNoBYOB)
	}
	s.reader = &reader{p: s.p, stream: s, byob: byob}
	return s.reader
}

// whenClosed is the promise [[closedPromise]].
func (r *reader) whenClosed() *engine.Deferred {
	if r.closed != nil {
		return r.closed
	}
	e := r.p.Engine
	switch {
	case r.gone != nil:
		r.closed = e.Promises.Rejected(r.gone).Handled()
	case r.stream.state == stateClosed:
		r.closed = e.Promises.Fulfilled(goja.Undefined())
	case r.stream.state == stateErrored:
		r.closed = e.Promises.Rejected(r.stream.err).Handled()
	default:
		r.closed = e.Promises.New()
	}
	return r.closed
}

// release is ReadableStreamDefaultReaderRelease and its like for BYOB readers
// (sections 4.9.3 and 4.9.4).
func (r *reader) release() {
	s := r.stream
	if s == nil {
		return
	}
	r.gone = r.p.typeError(textReleasedReader)
	if s.state != stateReadable {
		r.whenClosed()
	}
	if r.closed != nil {
		r.closed.Handled().Reject(r.gone) // one that is settled stays as it is, as in workerd
	}
	s.controller.releaseSteps()
	s.reader, r.stream = nil, nil
	r.fail(r.gone)
}

// fail tells everybody who waits.
func (r *reader) fail(reason goja.Value) {
	for _, request := range r.requests.takeAll() {
		request.fail(reason)
	}
}

func (r *reader) cancel(reason goja.Value) *engine.Deferred {
	if r.stream == nil {
		return r.p.Engine.Promises.Rejected(r.p.typeError(textReleasedReader))
	}
	return r.stream.cancel(reason)
}

// read is ReadableStreamDefaultReaderRead (section 4.9.4).
func (r *reader) read(request readRequest) {
	s := r.stream
	s.disturbed = true
	switch {
	case s.state == stateClosed:
		request.close(nil)
	case s.state == stateErrored:
		request.fail(s.err)
	case s.controller.bytes:
		s.controller.pullBytes(request)
	default:
		s.controller.pullSteps(request)
	}
}

// readResult is a read that JavaScript made. Where JavaScript is the source, its promise is
// settled in a job of its own: in workerd it follows another one (api/streams/readable.c++).
type readResult struct {
	p *idl
	engine.Deferred
	of *readable // nil, or the stream that has one read at a time
}

func (p *idl) newRead() *readResult {
	r := &readResult{p: p}
	r.Init(p.Engine)
	return r
}

func (r *readResult) chunk(v goja.Value) {
	r.over(r.give, v)
}

func (r *readResult) close(view goja.Value) {
	r.over(r.end, view)
}

func (r *readResult) fail(reason goja.Value) {
	r.over(r.Reject, reason)
}

func (r *readResult) give(v goja.Value)   { r.Resolve(r.p.result(v, false)) }
func (r *readResult) end(view goja.Value) { r.Resolve(r.p.result(view, true)) }

// over settles the promise, and lets the next read of a stream that has one at a time begin,
// in a job before those that wait for this one.
func (r *readResult) over(settle func(goja.Value), v goja.Value) {
	s := r.of
	if s == nil {
		r.p.Engine.Promises.AfterIn(r.p.Engine.Frame(), 1, settle, v)
		return
	}
	r.of = nil
	r.p.Engine.Promises.Microtask(func() { s.reading = false })
	settle(v)
}

// newReadOf is a read of a stream. It throws if the stream has one read at a time
// and one that is not over.
func (p *idl) newReadOf(s *readable) *readResult {
	r := p.newRead()
	if !s.single {
		return r
	}
	if s.reading && s.state == stateReadable {
		p.Engine.Throw("TypeError", textSingleRead)
	}
	s.reading, r.of = true, s
	return r
}

// result is a ReadableStreamReadResult.
func (p *idl) result(v goja.Value, done bool) *goja.Object {
	if v == nil {
		v = goja.Undefined()
	}
	p.learnNames()
	return p.pair(insides.Member{Name: p.names.value, Value: v}, insides.Member{Name: p.names.done, Value: p.VM.ToValue(done)})
}

func (p *idl) learnNames() {
	if p.names.value == nil {
		value, done := p.Engine.Maker().Know("value"), p.Engine.Maker().Know("done")
		p.names.value, p.names.done = &value, &done
	}
}

// pair makes an object of two members.
func (p *idl) pair(a, b insides.Member) *goja.Object {
	members := [2]insides.Member{a, b}
	if obj := p.Engine.Maker().ObjectOf(members[:]); obj != nil {
		return obj
	}
	obj := p.VM.NewObject()
	for _, m := range members {
		p.DefinePlain(obj, string(m.Name.Text), m.Value)
	}
	return obj
}

// lockOf is what the constructor of a reader does (sections 4.4.3 and 4.5.3).
func lockOf(p *Streams, call goja.ConstructorCall, class string, byob bool) *reader {
	s := p.readableOf(call.Argument(0))
	if s == nil {
		p.BadConstruct(class, 1, "ReadableStream")
	}
	return s.acquire(byob)
}

func defineReader(p *Streams) *engine.Class[*reader] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*reader]{
		Name: "ReadableStreamDefaultReader",
		New:  func(call goja.ConstructorCall) *reader { return lockOf(p, call, "ReadableStreamDefaultReader", false) },
		Methods: []engine.Method[*reader]{
			{Name: "cancel", Fn: func(r *reader, call goja.FunctionCall) goja.Value { return given(r.cancel(call.Argument(0))) }},
			{Name: "read", Fn: func(r *reader, _ goja.FunctionCall) goja.Value {
				if r.stream == nil {
					return p.refused(textReleasedReader)
				}
				return p.promised(func() *engine.Deferred {
					request := p.newReadOf(r.stream)
					r.read(request)
					return &request.Deferred
				})
			}},
			{Name: "releaseLock", Fn: func(r *reader, _ goja.FunctionCall) goja.Value { r.release(); return goja.Undefined() }},
		},
		Accessors: []engine.Accessor[*reader]{
			{Name: "closed", Get: func(r *reader, _ *goja.Object) goja.Value { return r.shown.object(r.whenClosed()) }},
		},
	})
}
