// Package streams is the Streams standard of an isolate, with workerd's additions:
// identity and fixed length streams, text coding, compression, and streams as bodies.
// Other packages reach a stream through the methods of Streams, Fed, Drained and
// Drainer alone; how a stream keeps its state is not theirs to know.
package streams

import (
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Streams is what an isolate has of streams. Loop-confined.
type Streams struct {
	*idl
	classes classes
	loaded  bool           // there may be ReadableStreams
	protos  []*goja.Object // of the classes that there are

	iterators *goja.Object // the prototype of asynchronous iterators

	carriers *goja.Object // the prototype of what stands for streams in clones
	carrying bool         // a clone is being read in which something stands for streams
}

// classes are made at their first use.
type classes struct {
	readable            func() *engine.Class[*readable]
	reader              func() *engine.Class[*reader]
	byobReader          func() *engine.Class[*byobReader]
	controller          func() *engine.Class[*controller]
	byteController      func() *engine.Class[*byteController]
	byobRequest         func() *engine.Class[*byobRequest]
	writable            func() *engine.Class[*writable]
	writer              func() *engine.Class[*writer]
	writableController  func() *engine.Class[*writableController]
	transform           func() *engine.Class[transformHolder]
	identity, fixed     func() *engine.Class[*transform]
	transformController func() *engine.Class[*transformController]
	constructors        map[string]func() *goja.Object
}

// New defines the globals of streams in a realm.
// Text coding streams use the global TextDecoder, aborts those of package events.
func New(r *webidl.Realm) *Streams {
	p := &Streams{idl: &idl{views: &views{Realm: r, viewClasses: map[string]*goja.Object{}}}}
	p.void = p.done()
	p.classes.constructors = map[string]func() *goja.Object{}
	p.install()
	return p
}

// lazyClass defines the global of a class that is made at its first use.
func lazyClass[T any](p *Streams, name string, define func(*Streams) *engine.Class[T]) func() *engine.Class[T] {
	class := webidl.Lazily(p.Engine, func() *engine.Class[T] {
		c := define(p)
		p.protos = append(p.protos, c.Proto)
		return c
	})
	p.classes.constructors[name] = func() *goja.Object { return class().Ctor }
	p.LazyClass(name, p.classes.constructors[name])
	return class
}

func (p *Streams) install() {
	p.installCodecs()
	c := &p.classes
	c.readable = lazyClass(p, "ReadableStream", defineReadable)
	c.reader = lazyClass(p, "ReadableStreamDefaultReader", defineReader)
	c.byobReader = lazyClass(p, "ReadableStreamBYOBReader", defineBYOBReader)
	c.controller = lazyClass(p, "ReadableStreamDefaultController", defineController)
	c.byteController = lazyClass(p, "ReadableByteStreamController", defineByteController)
	c.byobRequest = lazyClass(p, "ReadableStreamBYOBRequest", defineBYOBRequest)
	c.writable = lazyClass(p, "WritableStream", defineWritable)
	c.writer = lazyClass(p, "WritableStreamDefaultWriter", defineWriter)
	c.writableController = lazyClass(p, "WritableStreamDefaultController", defineWritableController)
	c.transform = lazyClass(p, "TransformStream", defineTransform)
	c.transformController = lazyClass(p, "TransformStreamDefaultController", defineTransformController)
	c.identity = lazyClass(p, "IdentityTransformStream", defineIdentity)
	c.fixed = lazyClass(p, "FixedLengthStream", defineFixedLength)
	lazyClass(p, "TextEncoderStream", defineTextEncoder)
	lazyClass(p, "TextDecoderStream", defineTextDecoder)
	lazyClass(p, "CompressionStream", func(p *Streams) *engine.Class[*mapping] { return defineCompression(p, "CompressionStream", false) })
	lazyClass(p, "DecompressionStream", func(p *Streams) *engine.Class[*mapping] { return defineCompression(p, "DecompressionStream", true) })
	e := p.Engine
	e.Lazies.Interface("ByteLengthQueuingStrategy", func() goja.Value {
		return defineStrategy(p, "ByteLengthQueuingStrategy", func(chunk goja.Value) goja.Value {
			if obj, ok := chunk.(*goja.Object); ok {
				if n := argument(obj, "byteLength"); isNumber(n) {
					return n
				}
			}
			return goja.Undefined()
		})
	})
	e.Lazies.Interface("CountQueuingStrategy", func() goja.Value {
		return defineStrategy(p, "CountQueuingStrategy", func(goja.Value) goja.Value { return p.VM.ToValue(1) })
	})
}

// Class is the class of that name, one of those of streams.
func (p *Streams) Class(name string) *goja.Object { return p.classes.constructors[name]() }

// Loaded reports whether there may be streams: their classes are made at their
// first use.
func (p *Streams) Loaded() bool { return p.loaded }

// Inherits reports whether an object is of a class of streams. It runs no user
// code.
func (p *Streams) Inherits(obj *goja.Object) bool {
	for obj != nil && obj.ExportType() != webidl.ProxyType {
		if slices.Contains(p.protos, obj) {
			return true
		}
		obj = obj.Prototype()
	}
	return false
}

// Is tells ReadableStreams from other values. It runs no user code.
func (p *Streams) Is(v goja.Value) bool { return p.readableOf(v) != nil }

// Length is how many bytes a ReadableStream will give; -1 if nobody knows, or if v is
// none. It runs no user code. On the loop.
func (p *Streams) Length(v goja.Value) int64 {
	if s := p.readableOf(v); s != nil {
		return s.length()
	}
	return -1
}

// Disturbed reports whether a ReadableStream has been read from or canceled.
func (p *Streams) Disturbed(s *goja.Object) bool { return p.stream(s).disturbed }

// Locked reports whether a ReadableStream has a reader.
func (p *Streams) Locked(s *goja.Object) bool { return p.stream(s).reader != nil }

// Spend leaves a stream closed, disturbed and locked.
func (p *Streams) Spend(s *goja.Object) { p.stream(s).spend() }

// Detach moves a stream into a new object and leaves the old one locked.
func (p *Streams) Detach(s *goja.Object) *goja.Object { return p.stream(s).detach().object() }

// Tee makes two streams of one, which is locked then. It throws if it was locked.
func (p *Streams) Tee(s *goja.Object) (a, b *goja.Object) {
	x, y := p.stream(s).tee()
	return x.object(), y.object()
}

// FromIterable is ReadableStream.from, nil for what has no iterator.
func (p *Streams) FromIterable(v goja.Value) *goja.Object {
	s := p.from(v)
	if s == nil {
		return nil
	}
	return s.object()
}
