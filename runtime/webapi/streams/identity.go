package streams

import (
	"math"
	"math/big"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// identity passes bytes through; a write is done once they have been read
// (workerd: src/workerd/api/streams/internal.c++, IdentityTransformStreamImpl).
// Loop-confined.
type identity struct {
	p       *Streams
	c       *controller // of the readable side
	w       *writable
	limited bool
	left    int64            // how many bytes may follow, if limited
	pulled  *engine.Deferred // nil: nobody reads
	written *engine.Deferred // nil: nothing is being written
	pending []byte           // nil: nothing is
	broken  goja.Value       // what the next write fails with, nil: it does not
}

const (
	textTooManyBytes = "Attempt to write too many bytes through a FixedLengthStream."
	textTooFewBytes  = "FixedLengthStream did not see all expected bytes before close()."
	textCanceled     = "Stream was cancelled."
	textLost         = "Network connection lost."
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
	s := p.create(readableOptions{bytes: true, pull: x.pull, cancel: x.cancel})
	s.fixed, s.single = length, true
	x.c = s.controller
	x.c.emptied, x.c.canceling = x.taken, x.canceling
	var sizes goja.Callable = p.weightless
	if queuing.marked { // then it counts bytes
		if length >= 0 {
			queuing.mark = min(queuing.mark, float64(length))
		}
		sizes = x.sizeOf
	}
	x.w = p.createWritable(sinkOf{write: x.write, close: x.close, abort: x.abort, interrupt: x.stop, refuses: p.refusesBytes}, queuing.or(1), sizes, nil)
	x.w.internal = true
	return &transform{p: p, readable: s, writable: x.w}
}

// weightless is the size of a chunk in a stream whose desired size never changes.
func (p *Streams) weightless(goja.Value, ...goja.Value) (goja.Value, error) {
	return p.VM.ToValue(0), nil
}

// refusesBytes has what is no bytes, which leaves the stream as it is.
func (p *Streams) refusesBytes(chunk goja.Value) goja.Value {
	if goja.IsUndefined(chunk) {
		return nil
	}
	if _, text := chunk.(goja.String); text {
		return nil
	}
	if _, ok := p.BytesOf(chunk); ok {
		return nil
	}
	return p.typeError(textBytesOnly)
}

// fail breaks the readable side.
func (x *identity) fail(reason goja.Value) {
	x.c.fail(reason)
	x.pending, x.pulled = nil, nil
}

// abort is what the writer's abort() does to the readable side.
func (x *identity) abort(reason goja.Value) *engine.Deferred {
	if x.broken == nil {
		x.broken = x.p.carried(reason)
	}
	x.fail(x.broken)
	return x.p.done()
}

// stop ends the write that goes on: who reads is told that the connection is lost.
func (x *identity) stop(reason goja.Value) {
	if x.written == nil {
		return
	}
	x.broken = x.lost()
	x.pending = nil
	x.written.Reject(reason)
	x.written = nil
}

// carried is a reason as the other side sees it: an Error, with the text of what is
// none (workerd: jsg::Error to kj::Exception and back).
func (p *Streams) carried(reason goja.Value) goja.Value {
	if obj, ok := reason.(*goja.Object); ok && obj.ClassName() == "Error" {
		return reason
	}
	return p.Engine.Errors.New("Error", reason.String())
}

func (x *identity) lost() goja.Value { return x.p.Engine.Errors.New("Error", textLost) }

// deliver hands over what is written to who reads.
func (x *identity) deliver() {
	if x.pending == nil || x.pulled == nil {
		return
	}
	pulled, data := x.pulled, x.pending
	if x.limited && int64(len(data)) > x.left { // the write has succeeded: the next one fails
		x.broken = x.p.typeError(textTooManyBytes)
		x.taken()
		x.fail(x.broken)
		pulled.Fulfil(goja.Undefined())
		return
	}
	x.left -= int64(len(data))
	x.pulled, x.pending = nil, nil
	x.c.give(data)
	pulled.Fulfil(goja.Undefined())
	if x.c.size == 0 {
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

// canceling has reads that wait for bytes fail, and says what writes fail with:
// those that come when nobody waited to read, with the reason.
func (x *identity) canceling(reason goja.Value) {
	if goja.IsUndefined(reason) {
		reason = x.p.Engine.Errors.New("Error", textCanceled)
	}
	x.broken = x.p.carried(reason)
	if r := x.c.stream.reader; r != nil && x.pulled != nil {
		for _, request := range r.requests.takeAll() {
			request.fail(x.broken)
		}
		x.broken = x.lost()
	}
}

// cancel fails the write that goes on; without one the writer learns of it with its
// next write, unless whoever the bytes went to is gone.
func (x *identity) cancel(reason goja.Value) *engine.Deferred {
	x.pulled, x.pending = nil, nil
	if x.c.stream.lost {
		x.broken = reason
		x.w.fail(reason)
	}
	if x.written != nil {
		x.written.Reject(x.broken)
		x.written = nil
	}
	return x.p.done()
}

func (x *identity) write(chunk goja.Value) *engine.Deferred {
	if goja.IsUndefined(chunk) {
		return x.p.done()
	}
	if x.broken != nil {
		return x.p.Engine.Promises.Rejected(x.broken)
	}
	data, _ := x.p.chunkCopy(chunk)
	if len(data) == 0 {
		return x.p.done()
	}
	written := x.p.Engine.Promises.New()
	x.pending, x.written = data, written
	x.deliver()
	return written
}

func (x *identity) close() *engine.Deferred {
	if x.broken != nil && x.c.stream.state == stateErrored {
		return x.p.Engine.Promises.Rejected(x.broken)
	}
	if x.limited && x.left > 0 {
		x.fail(x.p.typeError(textTooFewBytes))
		return x.p.done()
	}
	x.c.closeBytes()
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
			if len(call.Arguments) == 0 {
				p.BadConstruct("FixedLengthStream", 1, "bigint")
			}
			n := p.fixedLength(call.Argument(0))
			queuing := p.strategyOf(call.Argument(1), 2, "FixedLengthStream", "QueuingStrategy")
			p.Engine.IO("IdentityTransformStream")
			return p.newIdentity(n, queuing)
		},
	})
}

// fixedLength converts a length as workerd does with 64 bits without a sign.
func (p *Streams) fixedLength(v goja.Value) int64 {
	n := p.Engine.Call(p.Engine.Primordial("Number"), goja.Undefined(), v).ToFloat()
	_, isBig := v.Export().(*big.Int)
	switch {
	case isBig && (n < 0 || n >= 1<<64):
		p.Engine.Throw("TypeError", "The value cannot be converted because it is either negative and this API expects a positive bigint, or the value would be truncated.")
	case math.IsNaN(n) || math.IsInf(n, 0):
		p.Engine.Throw("TypeError", "The value cannot be converted because it is not an integer.")
	case n < 0:
		p.Engine.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive bigint.")
	case n >= 1<<53:
		p.Engine.Throw("TypeError", "FixedLengthStream requires an integer expected length less than 2^53.")
	}
	return int64(n)
}
