package webapi

import (
	_ "embed"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

//go:embed js/readable.js
var readableSource string

//go:embed js/pipes.js
var pipesSource string

//go:embed js/writable.js
var writableSource string

//go:embed js/transform.js
var transformSource string

// One prelude for each kind of stream: what is not used is not compiled.
var (
	readablePrelude  = engine.NewPrelude("readable.js", readableSource)
	pipesPrelude     = engine.NewPrelude("pipes.js", pipesSource)
	writablePrelude  = engine.NewPrelude("writable.js", writableSource)
	transformPrelude = engine.NewPrelude("transform.js", transformSource)
)

// streamState holds the stream preludes of an isolate. Loop-confined.
type streamState struct {
	native    *goja.Object
	readable  func() *goja.Object
	pipes     func() *goja.Object
	writable  func() *goja.Object
	transform func() *goja.Object
	loaded    bool // readable has run: there may be streams
	calls     map[string]goja.Callable
	protos    []*goja.Object // of the classes that there are
	// Nil until transform or writable has run: there are no such streams.
	fixed, isWritable, isTransform goja.Callable
}

func (p *Platform) installStreams() {
	p.cloner.AddTransferable(Transferable{Refuse: p.untransferableStream, Move: p.transferStream})
	e, s := p.Engine, &p.fetch.streams
	s.calls = map[string]goja.Callable{}
	load := func(prelude *engine.Prelude) func() *goja.Object {
		return lazily(e, func() *goja.Object {
			if s.native == nil {
				s.native = p.streamNative()
			}
			exports := e.Load(prelude, s.native).(*goja.Object)
			classes := exports.Get("classes")
			if list, ok := classes.(*goja.Object); ok {
				for _, name := range list.Keys() {
					s.protos = append(s.protos, list.Get(name).(*goja.Object).Get("prototype").(*goja.Object))
				}
			}
			return exports
		})
	}
	readable, writable := load(readablePrelude), load(writablePrelude)
	s.readable = func() *goja.Object {
		exports := readable()
		if !s.loaded {
			s.loaded = true
			s.native.Set("readable", exports)
		}
		return exports
	}
	s.writable = func() *goja.Object {
		s.readable()
		exports := writable()
		s.isWritable, _ = goja.AssertFunction(exports.Get("isStream"))
		return exports
	}
	pipes, transform := load(pipesPrelude), load(transformPrelude)
	s.pipes = func() *goja.Object { s.readable(); return pipes() }
	s.transform = func() *goja.Object {
		s.readable()
		exports := transform()
		s.fixed, _ = goja.AssertFunction(exports.Get("fixedLength"))
		s.isTransform, _ = goja.AssertFunction(exports.Get("isStream"))
		return exports
	}
	for _, name := range []string{"ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader",
		"ReadableStreamDefaultController", "ReadableByteStreamController", "ReadableStreamBYOBRequest"} {
		p.streamGlobal(name, s.readable)
	}
	for _, name := range []string{"WritableStream", "WritableStreamDefaultWriter", "WritableStreamDefaultController"} {
		p.streamGlobal(name, s.writable)
	}
	for _, name := range []string{"TransformStream", "TransformStreamDefaultController", "IdentityTransformStream", "FixedLengthStream",
		"TextEncoderStream", "TextDecoderStream", "CompressionStream", "DecompressionStream"} {
		p.streamGlobal(name, s.transform)
	}
	e.LazyGlobal("ByteLengthQueuingStrategy", func() goja.Value {
		return p.defineStrategy("ByteLengthQueuingStrategy", func(chunk goja.Value) goja.Value {
			return chunk.ToObject(p.vm).Get("byteLength")
		})
	})
	e.LazyGlobal("CountQueuingStrategy", func() goja.Value {
		return p.defineStrategy("CountQueuingStrategy", func(goja.Value) goja.Value { return p.vm.ToValue(1) })
	})
}

func (p *Platform) streamGlobal(name string, exports func() *goja.Object) {
	p.Engine.LazyGlobal(name, func() goja.Value { return exports().Get("classes").(*goja.Object).Get(name) })
}

// defineStrategy makes one of the two queuing strategies (Streams, section 7).
func (p *Platform) defineStrategy(name string, size func(goja.Value) goja.Value) goja.Value {
	type strategy struct{ highWaterMark goja.Value }
	length := 0
	if name == "ByteLengthQueuingStrategy" {
		length = 1
	}
	fn := p.Engine.Func("size", length, func(call goja.FunctionCall) goja.Value {
		if v := size(call.Argument(0)); v != nil {
			return v
		}
		return goja.Undefined()
	})
	return engine.DefineClass(p.Engine, engine.ClassDef[*strategy]{
		Name: name, Length: 1,
		New: func(call goja.ConstructorCall) *strategy {
			init, ok := call.Argument(0).(*goja.Object)
			if !ok {
				p.Engine.Throw("TypeError", "Failed to construct '%s': constructor parameter 1 is not of type 'QueuingStrategyInit'.", name)
			}
			mark := present(init, "highWaterMark")
			if mark == nil {
				p.Engine.Throw("TypeError", "Failed to construct '%s': the field 'highWaterMark' of 'QueuingStrategyInit' is required.", name)
			}
			return &strategy{mark.ToNumber()}
		},
		Accessors: []engine.Accessor[*strategy]{
			{Name: "highWaterMark", Get: func(s *strategy, _ *goja.Object) goja.Value { return s.highWaterMark }},
			{Name: "size", Get: func(*strategy, *goja.Object) goja.Value { return fn }},
		},
	}).Ctor
}

// streamCall calls one of the readable prelude's functions for Go.
func (p *Platform) streamCall(name string, args ...goja.Value) goja.Value {
	s := &p.fetch.streams
	fn := s.calls[name]
	if fn == nil {
		fn, _ = goja.AssertFunction(s.readable().Get(name))
		s.calls[name] = fn
	}
	v, err := fn(goja.Undefined(), args...)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return v
}

// inheritsStream reports whether an object is of a class of the preludes. It
// runs no user code.
func (p *Platform) inheritsStream(obj *goja.Object) bool {
	for obj != nil && obj.ExportType() != proxyType {
		if slices.Contains(p.fetch.streams.protos, obj) {
			return true
		}
		obj = obj.Prototype()
	}
	return false
}

// streamKind names what kind of stream an object is, "" if it is none.
func (p *Platform) streamKind(obj *goja.Object) string {
	s := &p.fetch.streams
	is := func(test goja.Callable) bool {
		if test == nil {
			return false
		}
		v, err := test(goja.Undefined(), obj)
		if err != nil {
			p.Engine.Rethrow(err)
		}
		return v.ToBoolean()
	}
	switch {
	case p.isStream(obj):
		return "readable"
	case is(s.isWritable):
		return "writable"
	case is(s.isTransform):
		return "transform"
	}
	return ""
}

// untransferableStream says why a stream cannot be transferred, "" if it can;
// own is false for what is no stream.
func (p *Platform) untransferableStream(obj *goja.Object) (text string, own bool) {
	if obj.ExportType() == proxyType {
		return "", false
	}
	kind := p.streamKind(obj)
	if kind != "" && !p.streamsCall(kind, "transferable", obj).ToBoolean() {
		text = "A locked stream could not be transferred."
	}
	return text, kind != ""
}

// transferStream moves a stream into a new object.
func (p *Platform) transferStream(obj *goja.Object) *goja.Object {
	return p.streamsCall(p.streamKind(obj), "transfer", obj).(*goja.Object)
}

// streamsCall calls a function of a kind's prelude.
func (p *Platform) streamsCall(kind, name string, args ...goja.Value) goja.Value {
	s := &p.fetch.streams
	exports := map[string]func() *goja.Object{"readable": s.readable, "writable": s.writable, "transform": s.transform}[kind]()
	return p.Engine.Call(exports.Get(name), goja.Undefined(), args...)
}

func (p *Platform) isStream(v goja.Value) bool {
	return p.fetch.streams.loaded && p.streamCall("isStream", v).ToBoolean()
}

func (p *Platform) streamDisturbed(s *goja.Object) bool {
	return p.streamCall("disturbed", s).ToBoolean()
}

func (p *Platform) streamLocked(s *goja.Object) bool { return p.streamCall("locked", s).ToBoolean() }

// spendStream leaves a stream closed, disturbed and locked.
func (p *Platform) spendStream(s *goja.Object) { p.streamCall("spend", s) }

// detachStream moves a stream into a new object and leaves the old one locked.
func (p *Platform) detachStream(s *goja.Object) *goja.Object {
	return p.streamCall("detach", s).(*goja.Object)
}

func (p *Platform) teeStream(s *goja.Object) (a, b *goja.Object) {
	pair := p.streamCall("tee", s).(*goja.Object)
	return pair.Get("0").(*goja.Object), pair.Get("1").(*goja.Object)
}

func (p *Platform) streamFromIterable(v goja.Value) *goja.Object {
	stream, ok := p.streamCall("from", v).(*goja.Object)
	if !ok {
		panic("ReadableStream.from gave no stream")
	}
	return stream
}

// streamSource is a body from outside behind a ReadableStream.
type streamSource struct {
	body  event.Body
	owner *engine.Context // nil: anybody's
}

// StreamFromBody makes a ReadableStream of bytes that come from outside; it
// belongs to the current context.
func (p *Platform) StreamFromBody(b event.Body) *goja.Object {
	return p.streamFromBody(b, p.Engine.Current())
}

func (p *Platform) streamFromBody(b event.Body, owner *engine.Context) *goja.Object {
	src := p.vm.NewObject()
	p.Engine.Attach(src, &streamSource{b, owner})
	return p.streamCall("fromSource", src).(*goja.Object)
}

// BodyFromStream takes a ReadableStream's bytes out of JavaScript, as the body
// of a response is: see ResponseToEvent. The stream is locked from then on. The
// error is a JavaScript exception (engine.FromGo).
func (p *Platform) BodyFromStream(v goja.Value) (event.Body, error) {
	var out event.Body
	if ex := p.vm.Try(func() {
		stream, ok := v.(*goja.Object)
		if !ok || !p.isStream(v) {
			p.Engine.Throw("TypeError", "The value is not a ReadableStream.")
		}
		b := body{}
		p.adoptStream(&b, stream)
		out = p.takeBody(&b, nil)
	}); ex != nil {
		return nil, ex
	}
	return out, nil
}

// takeNative takes the source of a stream that nobody has touched. It throws
// if the source is another context's I/O.
func (p *Platform) takeNative(s *goja.Object) (event.Body, bool) {
	src, ok := p.Engine.Attached(p.streamCall("source", s)).(*streamSource)
	if !ok {
		return nil, false
	}
	if src.owner != nil {
		src.owner.Check()
	}
	p.spendStream(s)
	return src.body, true
}

// pulled is the hand-over of one chunk between the loop and whoever reads the
// body. Safe for concurrent use.
type pulled struct {
	mu    sync.Mutex // guards everything below
	op    *engine.Op // set once the loop waits
	done  bool       // the chunk came first
	chunk []byte
	err   error
}

// pullSource reads a chunk and settles the pull at once if it is there, else
// in a turn of its own.
func (p *Platform) pullSource(s *streamSource, settle goja.Value) {
	if s.owner != nil {
		s.owner.Check()
	}
	x := &pulled{}
	s.body.Read(func(chunk []byte, err error) {
		x.mu.Lock()
		op := x.op
		x.done, x.chunk, x.err = true, chunk, err
		x.mu.Unlock()
		if op != nil {
			op.Complete("body chunk", func() { p.settlePull(settle, chunk, err) })
		}
	})
	x.mu.Lock()
	if x.done {
		chunk, err := x.chunk, x.err
		x.mu.Unlock()
		p.settlePull(settle, chunk, err)
		return
	}
	x.op = p.Engine.StartOp("reading a body").OnCancel(s.body.Cancel)
	x.mu.Unlock()
}

// settlePull tells the stream: 0 a chunk, 1 the end, 2 an error.
func (p *Platform) settlePull(settle goja.Value, chunk []byte, err error) {
	switch {
	case err == nil:
		p.Engine.Call(settle, goja.Undefined(), p.vm.ToValue(0), p.newArrayBuffer(chunk))
	case err == io.EOF:
		p.Engine.Call(settle, goja.Undefined(), p.vm.ToValue(1))
	default:
		p.Engine.Call(settle, goja.Undefined(), p.vm.ToValue(2), p.bodyError(err))
	}
}

// drainer reads a stream of JavaScript from Go. Loop-confined.
type drainer struct {
	p            *Platform
	step, cancel goja.Callable
}

// drain locks a stream; each step asks for a chunk, of which the callbacks are
// told, perhaps before step returns.
func (p *Platform) drain(stream *goja.Object, onChunk func(goja.Value), onClose func(), onError func(goja.Value)) *drainer {
	fn := func(f func(goja.Value)) goja.Value {
		return p.vm.ToValue(func(call goja.FunctionCall) goja.Value { f(call.Argument(0)); return goja.Undefined() })
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
		if ex := p.vm.Try(func() { v = convert(all) }); ex != nil {
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
	return p.vm.ToValue(promise)
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
	return p.bytesOf(v)
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
