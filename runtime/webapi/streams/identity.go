package streams

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// identity passes bytes through; a write is done once they have been read
// (workerd: src/workerd/api/streams/internal.c++, IdentityTransformStreamImpl).
// Loop-confined.
type identity struct {
	p       *Streams
	s       *readable
	w       *writable
	limited bool
	left    int64            // how many bytes may follow, if limited
	pulled  *engine.Deferred // nil: nobody reads
	written *engine.Deferred // nil: nothing is being written
	pending []byte           // nil: nothing is
}

const (
	textTooManyBytes = "Attempt to write too many bytes through a FixedLengthStream."
	textTooFewBytes  = "FixedLengthStream did not see all expected bytes before close()."
	textCanceled     = "The readable side was canceled."
	textBytesOnly    = "This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/ArrayBufferView type on its writable side."
)

// sizeOf is the size of a chunk, as a strategy's size().
func (x *identity) sizeOf(_ goja.Value, arguments ...goja.Value) (goja.Value, error) {
	data, _ := x.p.chunkCopy(arguments[0])
	return x.p.VM.ToValue(len(data)), nil
}

// newIdentity makes both sides; length is -1 if there is no limit.
func (p *Streams) newIdentity(length int64, queuing strategy) *transform {
	x := &identity{p: p, limited: length >= 0, left: length}
	x.s = p.create(readableOptions{bytes: true, pull: x.pull, cancel: x.cancel})
	x.s.fixed, x.s.single = length, true
	x.s.controller.emptied = x.taken
	var sizes goja.Callable
	if queuing.marked { // then it counts bytes
		if length >= 0 {
			queuing.mark = min(queuing.mark, float64(length))
		}
		sizes = x.sizeOf
	}
	x.w = p.createWritable(sinkOf{write: x.write, close: x.close, abort: func(reason goja.Value) *engine.Deferred {
		x.fail(reason)
		return p.done()
	}}, queuing.or(1), sizes, nil)
	return &transform{p: p, readable: x.s, writable: x.w}
}

func (x *identity) fail(reason goja.Value) {
	x.s.controller.fail(reason)
	x.pending = nil
}

func (x *identity) refuse(text string) *engine.Deferred {
	reason := x.p.typeError(text)
	x.fail(reason)
	return x.p.Engine.Promises.Rejected(reason)
}

// deliver hands over what is written to who reads.
func (x *identity) deliver() {
	if x.pending == nil || x.pulled == nil {
		return
	}
	pulled, data := x.pulled, x.pending
	x.pulled, x.pending = nil, nil
	x.s.controller.give(data)
	pulled.Fulfil(goja.Undefined())
	if x.s.controller.size == 0 {
		x.taken()
	}
}

// taken ends a write.
func (x *identity) taken() {
	if x.written != nil {
		x.written.Fulfil(goja.Undefined())
		x.written = nil
	}
}

func (x *identity) pull() *engine.Deferred {
	if x.pending == nil {
		x.taken()
	}
	pulled := x.p.Engine.Promises.New()
	x.pulled = pulled
	x.deliver()
	return pulled
}

func (x *identity) cancel(reason goja.Value) *engine.Deferred {
	if goja.IsUndefined(reason) {
		reason = x.p.typeError(textCanceled)
	}
	x.w.fail(reason)
	if x.written != nil {
		x.written.Reject(reason)
		x.written = nil
	}
	return x.p.done()
}

func (x *identity) write(chunk goja.Value) *engine.Deferred {
	if goja.IsUndefined(chunk) {
		return x.p.done()
	}
	data, ok := x.p.chunkCopy(chunk)
	if !ok {
		return x.refuse(textBytesOnly)
	}
	if x.limited {
		if x.left -= int64(len(data)); x.left < 0 {
			return x.refuse(textTooManyBytes)
		}
	}
	if len(data) == 0 {
		return x.p.done()
	}
	written := x.p.Engine.Promises.New()
	x.pending, x.written = data, written
	x.deliver()
	return written
}

func (x *identity) close() *engine.Deferred {
	if x.limited && x.left > 0 {
		return x.refuse(textTooFewBytes)
	}
	c := x.s.controller
	c.closeBytes()
	if x.s.state == stateClosed && !c.pending.empty() {
		c.respond(0)
	}
	if x.pulled != nil {
		x.pulled.Fulfil(goja.Undefined())
		x.pulled = nil
	}
	return x.p.done()
}

// chunkCopy is a copy of a chunk of bytes, as which workerd takes a string too.
func (p *views) chunkCopy(chunk goja.Value) ([]byte, bool) {
	if text, ok := chunk.(goja.String); ok {
		return []byte(text.String()), true
	}
	data, ok := p.BytesOf(chunk)
	return append([]byte{}, data...), ok
}

func defineIdentity(p *Streams) *engine.Class[*transform] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*transform]{
		Name: "IdentityTransformStream", Extends: p.classes.transform().Ctor,
		New: func(call goja.ConstructorCall) *transform {
			queuing := p.strategyOf(call.Argument(0), 1, "IdentityTransformStream", "QueuingStrategy")
			p.Engine.IO("IdentityTransformStream")
			return p.newIdentity(-1, queuing)
		},
	})
}

func defineFixedLength(p *Streams) *engine.Class[*transform] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*transform]{
		Name: "FixedLengthStream", Extends: p.classes.identity().Ctor,
		New: func(call goja.ConstructorCall) *transform {
			length := call.Argument(0)
			if goja.IsUndefined(length) {
				p.BadConstruct("FixedLengthStream", 1, "bigint")
			}
			n := p.Engine.Call(p.Engine.Primordial("Number"), goja.Undefined(), length).ToFloat()
			if n != math.Trunc(n) || math.IsNaN(n) || math.IsInf(n, 0) {
				p.Engine.Throw("TypeError", "The value cannot be converted because it is not an integer.")
			}
			if n < 0 {
				p.Engine.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive bigint.")
			}
			queuing := p.strategyOf(call.Argument(1), 2, "FixedLengthStream", "QueuingStrategy")
			p.Engine.IO("IdentityTransformStream")
			return p.newIdentity(int64(min(n, 1<<53)), queuing)
		},
	})
}
