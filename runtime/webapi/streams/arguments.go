package streams

import (
	"math"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// idl converts arguments and makes promises and results. Loop-confined.
type idl struct {
	*views
	void  *engine.Deferred // what is done already, for all who need no promise of their own
	names struct{ value, done *insides.Name }
}

// callback is a function of an underlying source, sink or transformer; it is
// called with that as its receiver.
type callback struct {
	fn   goja.Callable // nil: there is none
	self goja.Value
}

// member is the function that a dictionary has under a name.
func (p *idl) member(dict *goja.Object, name, owner string) callback {
	if dict == nil {
		return callback{}
	}
	v := dict.Get(name)
	if webidl.IsUndefined(v) {
		return callback{}
	}
	fn, ok := goja.AssertFunction(v)
	if !ok {
		p.Engine.Throw("TypeError", "Incorrect type for the '%s' field on '%s': the provided value is not of type 'function'.", name, owner)
	}
	return callback{fn, dict}
}

// argument is a member that may be anything.
func argument(dict *goja.Object, name string) goja.Value {
	if dict == nil {
		return goja.Undefined()
	}
	if v := dict.Get(name); v != nil {
		return v
	}
	return goja.Undefined()
}

// object is a constructor's argument that is an object; nil: it is missing.
func (p *idl) object(v goja.Value, n int, owner, typ string) *goja.Object {
	if webidl.IsMissing(v) {
		return nil
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		p.BadConstruct(owner, n, typ)
	}
	return obj
}

// options is a method's argument that is a dictionary; nil: it is missing.
func (p *idl) options(v goja.Value, n int, owner, method, typ string) *goja.Object {
	if webidl.IsMissing(v) {
		return nil
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		p.BadArgument(owner, method, n, typ)
	}
	return obj
}

// strategy is an argument that is a QueuingStrategy (Streams, section 7.1).
type strategy struct {
	mark   float64
	marked bool
	size   goja.Callable // nil: each chunk counts as 1
}

func (p *idl) strategy(v goja.Value, n int, owner string) strategy {
	return p.strategyOf(v, n, owner, "StreamQueuingStrategy")
}

func (p *idl) strategyOf(v goja.Value, n int, owner, typ string) (s strategy) {
	dict := p.object(v, n, owner, typ)
	if mark := argument(dict, "highWaterMark"); !goja.IsUndefined(mark) {
		s.mark, s.marked = p.count(mark), true
	}
	s.size = p.member(dict, "size", "StreamQueuingStrategy").fn
	return s
}

// or is the high water mark, or another if the strategy has none.
func (s strategy) or(otherwise float64) float64 {
	if !s.marked {
		return otherwise
	}
	return s.mark
}

// workerd's texts for numbers that are no count (src/workerd/jsg/value.h).
const (
	textNoInteger = "The value cannot be converted because it is not an integer."
	textNegative  = "The value cannot be converted because it is negative and this API expects a positive bigint."
)

// count converts to an unsigned integer as workerd does: what is finite is cut off.
// It throws a TypeError for other numbers.
func (p *idl) count(v goja.Value) float64 {
	if n, ok := v.Export().(int64); ok && n >= 0 {
		return float64(n)
	}
	n := p.Engine.Call(p.Engine.Primordial("Number"), goja.Undefined(), v).ToFloat()
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		p.Engine.Throw("TypeError", textNoInteger)
	case n <= -1:
		p.Engine.Throw("TypeError", textNegative)
	}
	return math.Abs(math.Trunc(n))
}

// length is how many bytes are announced: v as a count.
func (p *idl) length(v goja.Value) int64 { return int64(min(p.count(v), 1<<53)) }

// sizeOf is what a strategy says of a chunk; thrown, if not nil, is what it threw.
func (p *idl) sizeOf(size goja.Callable, chunk goja.Value) (n float64, thrown goja.Value) {
	if size == nil {
		return 1, nil
	}
	v, err := size(goja.Undefined(), chunk)
	if err != nil {
		return 0, engine.Caught(err)
	}
	thrown = p.Engine.Try(func() { n = p.count(v) })
	return n, thrown
}

// typeError makes a TypeError.
func (p *idl) typeError(text string) goja.Value { return p.Engine.Errors.New("TypeError", text) }

// refused is a rejected promise for JavaScript.
func (p *idl) refused(text string) goja.Value {
	return given(p.Engine.Promises.Rejected(p.typeError(text)))
}

// given is a promise as a method gives it to JavaScript: in workerd one of its own, which
// follows the platform's a job later (jsg/promise.h).
func given(d *engine.Deferred) goja.Value { return d.Chain(nil, nil).Object() }

// shown is such a promise of an accessor, which gives the same one as long as the
// platform's is the same. Loop-confined.
type shown struct{ of, outer *engine.Deferred }

// object is the promise that follows d; a rejection of it concerns nobody.
func (s *shown) object(d *engine.Deferred) goja.Value {
	if s.of != d {
		s.of, s.outer = d, d.Chain(nil, nil).Handled()
	}
	return s.outer.Object()
}

// done is a promise that is fulfilled with undefined.
func (p *idl) done() *engine.Deferred { return p.Engine.Promises.Fulfilled(goja.Undefined()) }

// invoke calls a callback and gives the promise of what it returns (Web IDL,
// section 3.12, "invoke a callback function" that returns a promise).
func (p *idl) invoke(c callback, args ...goja.Value) *engine.Deferred {
	v, err := c.fn(c.self, args...)
	if err != nil {
		return p.Engine.Promises.Rejected(engine.Caught(err))
	}
	return p.promiseOf(v)
}

// promiseOf is a promise resolved with v.
func (p *idl) promiseOf(v goja.Value) (d *engine.Deferred) {
	if v == nil || goja.IsUndefined(v) {
		return p.void
	}
	if _, isObject := v.(*goja.Object); !isObject {
		return p.Engine.Promises.Fulfilled(v)
	}
	if !p.Enabled(compat.UnwrapCustomThenables) && !p.Engine.Settles(v) {
		return p.Engine.Promises.Fulfilled(v)
	}
	if thrown := p.Engine.Try(func() { d = p.Engine.Promises.Of(v) }); thrown != nil {
		return p.Engine.Promises.Rejected(thrown)
	}
	return d
}

// attempt calls fn, which settles nothing by itself: what it throws rejects.
func (p *idl) attempt(fn func()) *engine.Deferred {
	if thrown := p.Engine.Try(fn); thrown != nil {
		return p.Engine.Promises.Rejected(thrown)
	}
	return p.void
}

// promised is what a method that returns a promise gives for what fn returns or
// throws.
func (p *idl) promised(fn func() *engine.Deferred) goja.Value {
	var d *engine.Deferred
	if thrown := p.Engine.Try(func() { d = fn() }); thrown != nil {
		d = p.Engine.Promises.Rejected(thrown)
	}
	return d.Object()
}
