// Package streams is the Streams standard of an isolate, with what workerd adds:
// identity and fixed length streams, text coding, compression, and streams as
// bodies. Other packages reach a stream through the methods of Streams, Fed,
// Drained and Drainer alone; how a stream keeps its state is not theirs to know.
package streams

import (
	_ "embed"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webidl"
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

// state holds the stream preludes of an isolate. Loop-confined.
type state struct {
	native    *goja.Object
	readable  func() *goja.Object
	pipes     func() *goja.Object
	writable  func() *goja.Object
	transform func() *goja.Object
	loaded    bool // readable has run: there may be streams
	calls     map[string]goja.Callable
	protos    []*goja.Object // of the classes that there are
	carriers  *goja.Object   // the prototype of what stands for streams in clones
	carrying  bool           // a clone is being read in which something stands for streams
	// Nil until transform or writable has run: there are no such streams.
	fixed, isWritable, isTransform goja.Callable
}

// Streams is what an isolate has of streams. Loop-confined.
type Streams struct {
	*webidl.Realm
	cloner *structured.Cloner
	state
}

// New defines the globals of streams in a realm and makes them transferable.
// Text coding streams use the global TextDecoder, aborts those of package events.
func New(r *webidl.Realm, cloner *structured.Cloner) *Streams {
	p := &Streams{Realm: r, cloner: cloner}
	p.install()
	return p
}

func (p *Streams) install() {
	p.cloner.AddTransferable(structured.Transferable{Refuse: p.untransferable, Move: p.move})
	p.installCodecs()
	e, s := p.Engine, &p.state
	s.calls = map[string]goja.Callable{}
	load := func(prelude *engine.Prelude) func() *goja.Object {
		return webidl.Lazily(e, func() *goja.Object {
			if s.native == nil {
				s.native = p.natives()
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
		p.global(name, s.readable)
	}
	for _, name := range []string{"WritableStream", "WritableStreamDefaultWriter", "WritableStreamDefaultController"} {
		p.global(name, s.writable)
	}
	for _, name := range []string{"TransformStream", "TransformStreamDefaultController", "IdentityTransformStream", "FixedLengthStream",
		"TextEncoderStream", "TextDecoderStream", "CompressionStream", "DecompressionStream"} {
		p.global(name, s.transform)
	}
	e.LazyGlobal("ByteLengthQueuingStrategy", func() goja.Value {
		return p.defineStrategy("ByteLengthQueuingStrategy", func(chunk goja.Value) goja.Value {
			return chunk.ToObject(p.VM).Get("byteLength")
		})
	})
	e.LazyGlobal("CountQueuingStrategy", func() goja.Value {
		return p.defineStrategy("CountQueuingStrategy", func(goja.Value) goja.Value { return p.VM.ToValue(1) })
	})
}

// Class is the class of that name, one of those of streams.
func (p *Streams) Class(name string) *goja.Object {
	s := &p.state
	load := s.transform
	switch name {
	case "ReadableStream":
		load = s.readable
	case "WritableStream":
		load = s.writable
	}
	return load().Get("classes").(*goja.Object).Get(name).(*goja.Object)
}

func (p *Streams) global(name string, exports func() *goja.Object) {
	p.Engine.LazyGlobal(name, func() goja.Value { return exports().Get("classes").(*goja.Object).Get(name) })
}

// Loaded reports whether there may be streams: their classes are made at their
// first use.
func (p *Streams) Loaded() bool { return p.loaded }

// defineStrategy makes one of the two queuing strategies (Streams, section 7).
func (p *Streams) defineStrategy(name string, size func(goja.Value) goja.Value) goja.Value {
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
			mark := webidl.Present(init, "highWaterMark")
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

// call calls one of the readable prelude's functions for Go.
func (p *Streams) call(name string, args ...goja.Value) goja.Value {
	s := &p.state
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

// Inherits reports whether an object is of a class of the preludes. It
// runs no user code.
func (p *Streams) Inherits(obj *goja.Object) bool {
	for obj != nil && obj.ExportType() != webidl.ProxyType {
		if slices.Contains(p.protos, obj) {
			return true
		}
		obj = obj.Prototype()
	}
	return false
}

// kindOf names what kind of stream an object is, "" if it is none.
func (p *Streams) kindOf(obj *goja.Object) string {
	s := &p.state
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
	case p.Is(obj):
		return "readable"
	case is(s.isWritable):
		return "writable"
	case is(s.isTransform):
		return "transform"
	}
	return ""
}

// untransferable says why a stream cannot be transferred, "" if it can;
// own is false for what is no stream.
func (p *Streams) untransferable(obj *goja.Object) (text string, own bool) {
	if obj.ExportType() == webidl.ProxyType {
		return "", false
	}
	kind := p.kindOf(obj)
	if kind != "" && !p.callOf(kind, "transferable", obj).ToBoolean() {
		text = "A locked stream could not be transferred."
	}
	return text, kind != ""
}

// move moves a stream into a new object.
func (p *Streams) move(obj *goja.Object) *goja.Object {
	return p.callOf(p.kindOf(obj), "transfer", obj).(*goja.Object)
}

// callOf calls a function of a kind's prelude.
func (p *Streams) callOf(kind, name string, args ...goja.Value) goja.Value {
	s := &p.state
	exports := map[string]func() *goja.Object{"readable": s.readable, "writable": s.writable, "transform": s.transform}[kind]()
	return p.Engine.Call(exports.Get(name), goja.Undefined(), args...)
}

// Is tells ReadableStreams from other values. It runs no user code.
func (p *Streams) Is(v goja.Value) bool {
	return p.loaded && p.call("isStream", v).ToBoolean()
}

// Disturbed reports whether a ReadableStream has been read from or canceled.
func (p *Streams) Disturbed(s *goja.Object) bool {
	return p.call("disturbed", s).ToBoolean()
}

// Locked reports whether a ReadableStream has a reader.
func (p *Streams) Locked(s *goja.Object) bool { return p.call("locked", s).ToBoolean() }

// Spend leaves a stream closed, disturbed and locked.
func (p *Streams) Spend(s *goja.Object) { p.call("spend", s) }

// Detach moves a stream into a new object and leaves the old one locked.
func (p *Streams) Detach(s *goja.Object) *goja.Object {
	return p.call("detach", s).(*goja.Object)
}

// Tee makes two streams of one, which is locked then. It throws if it was locked.
func (p *Streams) Tee(s *goja.Object) (a, b *goja.Object) {
	pair := p.call("tee", s).(*goja.Object)
	return pair.Get("0").(*goja.Object), pair.Get("1").(*goja.Object)
}

// FromIterable is ReadableStream.from.
func (p *Streams) FromIterable(v goja.Value) *goja.Object {
	stream, ok := p.call("from", v).(*goja.Object)
	if !ok {
		panic("ReadableStream.from gave no stream")
	}
	return stream
}
