package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// mapping is a transform of the platform's own, with readable and writable of its
// own class, as the mixin GenericTransformStream gives them (Streams, section 8.2
// of its predecessor, now 9.3). Loop-confined.
type mapping struct {
	transform
	decoder *goja.Object // a TextDecoder, nil for others
}

// mapped describes one: both functions hand what they make to give, which is to be
// seen even if they throw then.
type mapped struct {
	chunk func(chunk goja.Value, give func(goja.Value))
	end   func(give func(goja.Value))
}

func (p *Streams) newMapping(of mapped) *mapping {
	m := &mapping{}
	o := transformOptions{writeMark: 1}
	if !p.Enabled(compat.EncoderStreamSpecCompliantBackpressure) {
		o.readMark = 1
	}
	o.started = p.void
	p.newTransform(&m.transform, o)
	give := func(v goja.Value) {
		if thrown := m.enqueue(v); thrown != nil {
			panic(thrown)
		}
	}
	m.work.transform = func(chunk goja.Value) *engine.Deferred {
		return p.attempt(func() { of.chunk(chunk, give) })
	}
	m.work.flush = func() *engine.Deferred { return p.attempt(func() { of.end(give) }) }
	return m
}

// giveBytes gives a Uint8Array unless there are no bytes.
func (p *views) giveBytes(data []byte, give func(goja.Value)) {
	if len(data) > 0 {
		give(p.NewUint8Array(data))
	}
}

// mappingClass is the class of mappings that New makes.
func mappingClass(p *Streams, name string, construct func(goja.ConstructorCall) *mapping, more ...engine.Accessor[*mapping]) *engine.Class[*mapping] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*mapping]{
		Name: name, Extends: p.classes.transform().Ctor, New: construct, Accessors: more,
	})
}
