package webidl

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// goIterator is an iterator implemented in Go; next reports false at the end.
// Loop-confined.
type goIterator struct {
	tag  string
	next func() (goja.Value, bool)
}

// iteratorState holds the prototypes of iterators, by their tags.
type iteratorState struct {
	base   *goja.Object // %IteratorPrototype%
	protos map[string]*goja.Object
}

// GoIterator makes an iterator object around next. It inherits from
// Iterator.prototype, so that map, filter and toArray work on it.
func (r *Realm) GoIterator(tag string, next func() (goja.Value, bool)) *goja.Object {
	obj := r.VM.CreateObject(r.iteratorProto(tag))
	r.Engine.Attach(obj, &goIterator{tag, next})
	return obj
}

func (r *Realm) iteratorProto(tag string) *goja.Object {
	st := &r.iterators
	if proto := st.protos[tag]; proto != nil {
		return proto
	}
	if st.protos == nil {
		list := r.Engine.Call(r.Engine.Primordial("ArrayPrototypeValues"), goja.Undefined(), r.VM.NewArray()).(*goja.Object)
		st.base, st.protos = list.Prototype().Prototype(), map[string]*goja.Object{}
	}
	proto := r.VM.CreateObject(st.base)
	r.Engine.DefineFunc(proto, engine.Func{Name: "next", Fn: func(call goja.FunctionCall) goja.Value {
		it, ok := r.Engine.Attached(call.This).(*goIterator)
		if !ok || it.tag != tag {
			r.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
		}
		v, more := it.next()
		if !more {
			return r.Record("done", true, "value", goja.Undefined())
		}
		return r.Record("done", false, "value", v)
	}})
	proto.DefineDataPropertySymbol(goja.SymToStringTag, r.VM.ToValue(tag), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	st.protos[tag] = proto
	return proto
}
