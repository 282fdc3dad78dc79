package durableobject

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// iterators is a class of iterators over rows or keys; what they iterate over
// is a function.
type iterators struct {
	class *engine.Class[*iterator]
}

// iterator is one such iterator. next reports false at the end, after which it
// is not called any more. Loop-confined.
type iterator struct {
	o    *Object
	next func() (goja.Value, bool)
	done bool
}

func (it *iterator) object() *Object { return it.o }

// wholeStructs reports whether structs of workerd's have members that are undefined.
func (r *Realm) wholeStructs() bool { return r.compat(compat.EnableFastJsgStruct) }

// defineIterators makes a class whose prototype inherits from
// %IteratorPrototype%, as JSG_ITERATOR does (jsg/iterator.h).
func (r *Realm) defineIterators(name string, methods ...engine.Method[*iterator]) iterators {
	class := engine.DefineClass(r.eng, engine.ClassDef[*iterator]{
		Name: name,
		Methods: append([]engine.Method[*iterator]{
			method("next", 0, func(it *iterator, _ goja.FunctionCall) goja.Value {
				res := r.vm.NewObject()
				v, ok := it.step()
				res.Set("done", !ok)
				switch {
				case ok:
					res.Set("value", v)
				case r.wholeStructs():
					res.Set("value", goja.Undefined())
				}
				return res
			}),
		}, methods...),
	})
	values := r.vm.NewArray().Get("values")
	array, ok := r.eng.Call(values, r.vm.NewArray()).(*goja.Object)
	if !ok {
		panic("durableobject: Array.prototype.values gave no iterator")
	}
	class.Proto.SetPrototype(array.Prototype().Prototype())
	class.Proto.DefineDataPropertySymbol(goja.SymIterator, r.eng.Func("[Symbol.iterator]", 0, func(c goja.FunctionCall) goja.Value { return c.This }),
		goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return iterators{class}
}

func (i iterators) wrap(o *Object, next func() (goja.Value, bool)) *goja.Object {
	return i.class.Wrap(&iterator{o: o, next: next})
}

func (it *iterator) step() (goja.Value, bool) {
	if it.done {
		return nil, false
	}
	v, ok := it.next()
	it.done = !ok
	return v, ok
}
