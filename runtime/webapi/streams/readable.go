package streams

import (
	"math/big"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// The states of a ReadableStream (Streams, section 4.2.2).
type readableState uint8

const (
	stateReadable readableState = iota
	stateClosed
	stateErrored
)

const (
	textReleasedReader = "This ReadableStream reader has been released."
	textNoBYOB         = "This ReadableStream does not support BYOB reads."
)

// readable is a ReadableStream (section 4.2). Loop-confined.
type readable struct {
	p          *Streams
	state      readableState
	disturbed  bool
	single     bool       // of the platform's own: one read at a time
	lost       bool       // whoever its bytes go to is gone
	reading    bool       // such a read is not over
	err        goja.Value // why it is errored
	reader     *reader    // nil: it is not locked
	controller *controller
	obj        *goja.Object // nil until JavaScript sees it
	fixed      int64        // how many bytes it will give, -1 if that is not known
}

// length is how many bytes a stream of the platform's own gives, -1 if that is not known.
func (s *readable) length() int64 {
	if src := s.controller.source; src != nil {
		return src.body.Length()
	}
	return s.fixed
}

// shownLength is what the console says of length.
func (s *readable) shownLength() goja.Value {
	n := s.length()
	if s.single && s.state == stateClosed {
		n = 0
	}
	if n < 0 {
		return goja.Undefined()
	}
	return s.p.VM.ToValue(big.NewInt(n))
}

func (p *Streams) newReadable() *readable { return &readable{p: p, fixed: -1} }

// object is the stream as JavaScript sees it.
func (s *readable) object() *goja.Object {
	if s.obj == nil {
		s.obj = s.p.classes.readable().Wrap(s)
		s.p.loaded = true
	}
	return s.obj
}

// waiting reports whether somebody reads and has nothing yet.
func (s *readable) waiting() bool { return s.reader != nil && !s.reader.requests.empty() }

// close is ReadableStreamClose (section 4.9.2).
func (s *readable) close() {
	s.end()
	s.tellClosed()
}

// end closes the stream; its reader's closed has yet to be told. As in workerd those who
// wait for a chunk are told first.
func (s *readable) end() {
	s.state = stateClosed
	if r := s.reader; r != nil && !r.byob && !s.controller.allocates() { // else giveBack answers them
		for _, request := range r.requests.takeAll() {
			request.close(nil)
		}
	}
}

func (s *readable) tellClosed() {
	if r := s.reader; r != nil && r.closed != nil {
		r.closed.Fulfil(goja.Undefined())
	}
}

// fail is ReadableStreamError (section 4.9.2).
func (s *readable) fail(reason goja.Value) {
	s.state, s.err = stateErrored, reason
	r := s.reader
	if r == nil {
		return
	}
	r.fail(reason)
	if r.closed != nil {
		r.closed.Handled().Reject(reason)
	}
}

// cancel is ReadableStreamCancel (section 4.9.2).
func (s *readable) cancel(reason goja.Value) *engine.Deferred {
	s.disturbed = true
	switch s.state {
	case stateClosed:
		return s.p.done()
	case stateErrored:
		return s.p.Engine.Promises.Rejected(s.err)
	}
	if s.controller.canceling != nil {
		s.controller.canceling(reason)
	}
	s.end()
	c := s.controller
	c.giveBack()
	cancel := c.cancel
	c.clear()
	result := s.p.void
	if cancel != nil {
		result = cancel(reason)
	}
	c.forget()
	s.tellClosed()
	if cancel == nil {
		return s.p.done()
	}
	return result.Chain(func(_ goja.Value, next *engine.Deferred) { next.Fulfil(goja.Undefined()) }, nil)
}

// detach moves the stream into another one and leaves this one locked.
func (s *readable) detach() *readable {
	if s.reader != nil {
		s.p.Engine.Throw("TypeError", "%s", TextLocked)
	}
	t, c := s.p.newReadable(), s.controller
	t.state, t.err, t.controller, t.fixed, t.single = s.state, s.err, c, s.fixed, s.single
	c.stream = t
	s.p.newController(s, 0)
	s.disturbed = true
	s.acquire(false)
	return t
}

// untouched reports whether the stream is as its source of Go's is.
func (s *readable) untouched() bool {
	c := s.controller
	return c.source != nil && !s.disturbed && s.reader == nil && c.size == 0 && !c.pulling
}

// spend leaves the stream as reading all of it does: closed, and locked for ever.
func (s *readable) spend() {
	s.disturbed = true
	s.controller.source = nil
	if s.state == stateReadable {
		s.controller.forget()
		s.close()
	}
	s.acquire(false)
}

func defineReadable(p *Streams) *engine.Class[*readable] {
	class := engine.DefineClass(p.Engine, engine.ClassDef[*readable]{
		Name: "ReadableStream",
		New:  func(call goja.ConstructorCall) *readable { return constructReadable(p, call) },
		Accessors: []engine.Accessor[*readable]{
			{Name: "locked", Get: func(s *readable, _ *goja.Object) goja.Value { return p.VM.ToValue(s.reader != nil) }},
		},
		Shown: []engine.Accessor[*readable]{
			{Name: "state", Get: func(s *readable, _ *goja.Object) goja.Value {
				return p.VM.ToValue([...]string{"readable", "closed", "errored"}[s.state])
			}},
			{Name: "supportsBYOB", Get: func(s *readable, _ *goja.Object) goja.Value { return p.VM.ToValue(s.controller.bytes) }},
			{Name: "length", Get: func(s *readable, _ *goja.Object) goja.Value { return s.shownLength() }},
		},
		Methods: []engine.Method[*readable]{
			{Name: "cancel", Fn: func(s *readable, call goja.FunctionCall) goja.Value {
				if s.reader != nil {
					return p.refused(TextLocked)
				}
				return given(s.cancel(call.Argument(0)))
			}},
			{Name: "getReader", Fn: func(s *readable, call goja.FunctionCall) goja.Value { return s.getReader(call.Argument(0)) }},
			{Name: "pipeThrough", Fn: func(s *readable, call goja.FunctionCall) goja.Value {
				return s.through(call.Argument(0), call.Argument(1))
			}},
			{Name: "pipeTo", Fn: func(s *readable, call goja.FunctionCall) goja.Value {
				return p.promised(func() *engine.Deferred { return s.pipeTo(call.Argument(0), call.Argument(1)) })
			}},
			{Name: "tee", Fn: func(s *readable, _ goja.FunctionCall) goja.Value {
				a, b := s.tee()
				return p.VM.NewArray(a.object(), b.object())
			}},
			{Name: "values", Fn: func(s *readable, call goja.FunctionCall) goja.Value { return s.values(call.Argument(0)) }},
		},
		Statics: []engine.Func{{Name: "from", Fn: func(call goja.FunctionCall) goja.Value {
			if s := p.from(call.Argument(0)); s != nil {
				return s.object()
			}
			p.BadArgument("ReadableStream", "from", 1, "AsyncGenerator")
			return nil
		}}},
	})
	class.Alias(p.Symbol("asyncIterator"), "values")
	p.loaded = true
	return class
}

// constructReadable is the constructor (section 4.2.4). As in workerd the members
// come in the order of their declaration, a strategy behind the source, and a
// stream without start() has started.
func constructReadable(p *Streams, call goja.ConstructorCall) *readable {
	source := p.object(call.Argument(0), 1, "ReadableStream", "UnderlyingSource")
	s := p.newReadable()
	s.obj = call.This
	kind := ""
	if v := argument(source, "type"); !goja.IsUndefined(v) {
		kind = p.DOMString(v)
	}
	auto := defaultAllocation
	if v := argument(source, "autoAllocateChunkSize"); !goja.IsUndefined(v) {
		auto = int(p.Int32(v))
	}
	start, pull, cancel := p.member(source, "start", "UnderlyingSource"), p.member(source, "pull", "UnderlyingSource"), p.member(source, "cancel", "UnderlyingSource")
	if v := argument(source, "expectedLength"); !goja.IsUndefined(v) {
		s.fixed = p.length(v)
	}
	queuing := p.strategy(call.Argument(1), 2, "ReadableStream")
	var c *controller
	if kind == "" {
		c = p.newController(s, queuing.or(1))
		c.sizes = queuing.size
		c.obj = p.classes.controller().Wrap(c)
	} else if kind == "bytes" {
		c = p.newController(s, queuing.or(0))
		c.bytes = true
		if auto <= 0 {
			p.Engine.Throw("TypeError", "The autoAllocateChunkSize option cannot be zero.")
		}
		c.autoAllocate = auto
		c.obj = p.classes.byteController().Wrap(&byteController{c})
	} else {
		p.Engine.Throw("TypeError", "%q is not a valid type of ReadableStream.", kind)
	}
	if pull.fn != nil {
		c.pull = func() *engine.Deferred { return p.invoke(pull, c.obj) }
	}
	if cancel.fn != nil {
		c.cancel = func(reason goja.Value) *engine.Deferred { return p.invoke(cancel, reason) }
	}
	// As in workerd a stream that is not started pulls, too, once somebody reads or
	// something is enqueued.
	c.started = true
	if start.fn == nil {
		c.callPull()
		return s
	}
	c.startAfter(p.invoke(start, c.obj))
	return s
}

// defaultAllocation is how many bytes a stream of bytes allocates for a reader that
// brings no buffer (workerd: UnderlyingSource::DEFAULT_AUTO_ALLOCATE_CHUNK_SIZE).
const defaultAllocation = 4096

// getReader is section 4.2.4 (getReader).
func (s *readable) getReader(choice goja.Value) goja.Value {
	p := s.p
	mode := argument(p.options(choice, 1, "ReadableStream", "getReader", "GetReaderOptions"), "mode")
	if goja.IsUndefined(mode) {
		return p.classes.reader().Wrap(s.acquire(false))
	}
	if p.DOMString(mode) != "byob" {
		p.Engine.Throw("TypeError", "mode must be undefined or 'byob' in call to getReader().")
	}
	return p.classes.byobReader().Wrap(&byobReader{s.acquire(true)})
}

// readableOf is the stream behind an object, nil if it is none.
func (p *Streams) readableOf(v goja.Value) *readable {
	if !p.loaded {
		return nil
	}
	s, _ := p.Engine.Attached(v).(*readable)
	return s
}

// stream is readableOf for what is known to be one.
func (p *Streams) stream(obj *goja.Object) *readable {
	s := p.readableOf(obj)
	if s == nil {
		p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
	}
	return s
}

// create makes a stream of the platform's own. With late it starts in a
// microtask, as the standard's streams do.
func (p *Streams) create(o readableOptions) *readable {
	s := p.newReadable()
	c := p.newController(s, o.mark)
	c.pull, c.cancel, c.bytes = o.pull, o.cancel, o.bytes
	c.sizes = o.sizes
	c.started = !o.late
	if o.late {
		c.startAfter(p.void)
	}
	return s
}

// readableOptions describe a stream of the platform's own.
type readableOptions struct {
	pull   func() *engine.Deferred
	cancel func(reason goja.Value) *engine.Deferred
	mark   float64 // the high water mark
	sizes  goja.Callable
	bytes  bool
	late   bool
}
