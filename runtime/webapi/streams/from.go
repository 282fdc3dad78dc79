package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// The texts of what an iterator does that is none (workerd: src/workerd/jsg/iterator.h,
// which takes it for a generator of promises).
const (
	textNoPromise = "Callback returned incorrect type; expected 'Promise'"
	textNoResult  = "Incorrect type for Promise: the Promise did not resolve to 'GeneratorNext'."
)

// from is ReadableStream.from (Streams, section 4.9.1, ReadableStreamFromIterable), nil
// for what has no iterator.
func (p *Streams) from(iterable goja.Value) *readable {
	method := goja.Undefined()
	sync := false
	if !webidl.IsMissing(iterable) {
		obj := iterable.ToObject(p.VM)
		if method = obj.GetSymbol(p.Symbol("asyncIterator")); webidl.IsMissing(method) {
			sync = true
			method = obj.GetSymbol(goja.SymIterator)
		}
	}
	open, ok := goja.AssertFunction(method)
	if !ok {
		return nil
	}
	v, err := open(iterable)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	it, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	f := &iterableSource{p: p, it: it, next: argument(it, "next"), sync: sync}
	f.stream = p.create(readableOptions{pull: f.pull, cancel: f.cancel})
	return f.stream
}

// iterableSource gives what an iterator does. Loop-confined.
type iterableSource struct {
	p      *Streams
	stream *readable
	it     *goja.Object
	next   goja.Value
	sync   bool
}

// call calls a method of the iterator and gives a promise of the object that it
// has to return.
func (f *iterableSource) call(method goja.Value, args ...goja.Value) *engine.Deferred {
	p := f.p
	var v goja.Value
	if thrown := p.Engine.Try(func() { v = p.Engine.Call(method, f.it, args...) }); thrown != nil {
		return p.Engine.Promises.Rejected(thrown)
	}
	return f.result(v).Chain(func(v goja.Value, next *engine.Deferred) {
		if _, ok := v.(*goja.Object); !ok {
			next.Reject(p.typeError(textNoResult))
			return
		}
		next.Fulfil(v)
	}, nil)
}

// result is a promise of what a method has returned.
func (f *iterableSource) result(v goja.Value) *engine.Deferred {
	if _, isObject := v.(*goja.Object); !isObject {
		return f.p.Engine.Promises.Rejected(f.p.typeError(textNoPromise))
	}
	return f.p.promiseOf(v)
}

func (f *iterableSource) pull() *engine.Deferred {
	p, c := f.p, f.stream.controller
	if !engine.IsCallable(f.next) { // as workerd: it has come to its end
		c.closeOpen()
		return p.done()
	}
	var v goja.Value
	if thrown := p.Engine.Try(func() { v = p.Engine.Call(f.next, f.it) }); thrown != nil {
		return p.Engine.Promises.Rejected(thrown)
	}
	enqueue := func(v goja.Value, next *engine.Deferred) {
		if thrown := c.enqueue(v); thrown != nil {
			next.Reject(thrown)
			return
		}
		next.Fulfil(goja.Undefined())
	}
	return f.result(v).Chain(func(v goja.Value, next *engine.Deferred) {
		result, ok := v.(*goja.Object)
		switch {
		case !ok:
			next.Reject(p.typeError(textNoResult))
		case argument(result, "done").ToBoolean():
			c.closeOpen()
			next.Fulfil(goja.Undefined())
		case !f.sync:
			enqueue(argument(result, "value"), next)
		default:
			value := argument(result, "value")
			var d *engine.Deferred
			if _, isObject := value.(*goja.Object); isObject {
				d = p.Engine.Promises.Of(value)
			} else {
				d = p.Engine.Promises.Fulfilled(value)
			}
			next.Follow(d.Chain(enqueue, nil))
		}
	}, nil)
}

func (f *iterableSource) cancel(reason goja.Value) *engine.Deferred {
	p := f.p
	var method goja.Value
	if thrown := p.Engine.Try(func() { method = argument(f.it, "return") }); thrown != nil {
		return p.Engine.Promises.Rejected(thrown)
	}
	if webidl.IsMissing(method) {
		return p.done()
	}
	return f.call(method, reason)
}
