package webidl

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// goIterator is an iterator implemented in Go; next reports false at the end.
// Loop-confined.
type goIterator struct {
	class string
	next  func() (goja.Value, bool)
}

// iteratorState holds the prototypes of iterators, by their classes.
type iteratorState struct {
	base   *goja.Object // %IteratorPrototype%
	protos map[string]*goja.Object
}

// Iterator makes an iterator of a class of the platform around next. tag is its
// class in workerd: KeyIterator, ValueIterator or EntryIterator, each owner having
// its own (jsg/iterator.h). It inherits from Iterator.prototype, so that map, filter
// and toArray work on it.
func (r *Realm) Iterator(owner, tag string, next func() (goja.Value, bool)) *goja.Object {
	class := owner + " " + tag
	return r.iterator(class, r.Engine.Attach, next, func(base *goja.Object) *goja.Object {
		c := engine.DefineClass(r.Engine, engine.ClassDef[*goIterator]{Name: tag})
		c.Proto.SetPrototype(base)
		self := r.Engine.Func("", 0, func(call goja.FunctionCall) goja.Value { return call.This })
		c.Proto.DefineDataPropertySymbol(goja.SymIterator, self, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		return c.Proto
	})
}

// LanguageIterator is Iterator for one of ECMAScript's.
func (r *Realm) LanguageIterator(tag string, next func() (goja.Value, bool)) *goja.Object {
	return r.iterator(tag, r.Engine.AttachLanguage, next, func(base *goja.Object) *goja.Object {
		proto := r.VM.CreateObject(base)
		proto.DefineDataPropertySymbol(goja.SymToStringTag, r.VM.ToValue(tag), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		return proto
	})
}

// iterator makes an iterator of a class whose prototype define makes once; attach
// hangs its state on it.
func (r *Realm) iterator(class string, attach func(*goja.Object, any), next func() (goja.Value, bool), define func(base *goja.Object) *goja.Object) *goja.Object {
	st := &r.iterators
	if st.protos == nil {
		list := r.Engine.Call(r.Engine.Primordial("ArrayPrototypeValues"), goja.Undefined(), r.VM.NewArray()).(*goja.Object)
		st.base, st.protos = list.Prototype().Prototype(), map[string]*goja.Object{}
	}
	proto := st.protos[class]
	if proto == nil {
		proto = define(st.base)
		r.Engine.DefineFunc(proto, engine.Func{Name: "next", Fn: func(call goja.FunctionCall) goja.Value { return r.advance(class, call.This) }})
		st.protos[class] = proto
	}
	obj := r.VM.CreateObject(proto)
	attach(obj, &goIterator{class, next})
	return obj
}

// advance is next() of an iterator of a class.
func (r *Realm) advance(class string, this goja.Value) goja.Value {
	it, ok := r.Engine.Attached(this).(*goIterator)
	if !ok || it.class != class {
		r.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
	}
	if v, more := it.next(); more {
		return r.Record("done", false, "value", v)
	}
	return r.Record("done", true, "value", goja.Undefined())
}
