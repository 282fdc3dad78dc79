package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// from is ReadableStream.from (Streams, section 4.9.1, ReadableStreamFromIterable).
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
		p.Engine.Throw("TypeError", "Failed to execute 'from' on 'ReadableStream': parameter 1 is not of type 'AsyncGenerator'.")
	}
	v, err := open(iterable)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	it, ok := v.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "Failed to execute 'from' on 'ReadableStream': the iterator is not an object.")
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
func (f *iterableSource) call(method goja.Value, name string, args ...goja.Value) *engine.Deferred {
	p := f.p
	var v goja.Value
	if thrown := p.Engine.Try(func() { v = p.Engine.Call(method, f.it, args...) }); thrown != nil {
		return p.Engine.Promises.Rejected(thrown)
	}
	return p.promiseOf(v).Chain(func(v goja.Value, next *engine.Deferred) {
		if _, ok := v.(*goja.Object); !ok {
			next.Reject(p.typeError("The iterator's " + name + "() did not return an object."))
			return
		}
		next.Fulfil(v)
	}, nil)
}

func (f *iterableSource) pull() *engine.Deferred {
	p, c := f.p, f.stream.controller
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
	return p.promiseOf(v).Chain(func(v goja.Value, next *engine.Deferred) {
		result, ok := v.(*goja.Object)
		switch {
		case !ok:
			next.Reject(p.typeError("The iterator's next() did not return an object."))
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
	return f.call(method, "return", reason)
}
