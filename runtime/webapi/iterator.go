package webapi

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

// goIterator makes an iterator object around next. It inherits from
// Iterator.prototype, so that map, filter and toArray work on it.
func (p *Platform) goIterator(tag string, next func() (goja.Value, bool)) *goja.Object {
	obj := p.vm.CreateObject(p.iteratorProto(tag))
	p.Engine.Attach(obj, &goIterator{tag, next})
	return obj
}

func (p *Platform) iteratorProto(tag string) *goja.Object {
	st := &p.core.iterators
	if proto := st.protos[tag]; proto != nil {
		return proto
	}
	if st.protos == nil {
		list := p.Engine.Call(p.Engine.Primordial("ArrayPrototypeValues"), goja.Undefined(), p.vm.NewArray()).(*goja.Object)
		st.base, st.protos = list.Prototype().Prototype(), map[string]*goja.Object{}
	}
	proto := p.vm.CreateObject(st.base)
	p.Engine.DefineFunc(proto, engine.Func{Name: "next", Fn: func(call goja.FunctionCall) goja.Value {
		it, ok := p.Engine.Attached(call.This).(*goIterator)
		if !ok || it.tag != tag {
			p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
		}
		v, more := it.next()
		if !more {
			return p.record("done", true, "value", goja.Undefined())
		}
		return p.record("done", false, "value", v)
	}})
	proto.DefineDataPropertySymbol(goja.SymToStringTag, p.vm.ToValue(tag), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	st.protos[tag] = proto
	return proto
}
