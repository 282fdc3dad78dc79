package engine

import (
	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides"
)

// hideSlots keeps the symbol under which platform objects carry their Go value
// from everyone who lists the keys of an object: they are internal slots
// (ECMA-262, section 6.1.7.2), which no reflection shows.
func (e *Engine) hideSlots() {
	slot := e.classes.slot
	strip := func(c goja.FunctionCall, method insides.Function) goja.Value {
		v := method(c)
		keys, ok := v.(*goja.Object)
		if !ok {
			return v
		}
		e.orderKeys(keys, c.Argument(0))
		for i := int(keys.Get("length").ToInteger()) - 1; i >= 0; i-- { // symbols come last
			key, isSymbol := keys.Get(e.vm.ToValue(i).String()).(*goja.Symbol)
			if !isSymbol {
				break
			}
			if key == slot {
				return e.listWithout(keys, i)
			}
		}
		return v
	}
	e.wrap(e.vm.Get("Reflect").(*goja.Object), "ownKeys", strip)
	object := e.vm.Get("Object").(*goja.Object)
	e.wrap(object, "getOwnPropertySymbols", strip)
	e.wrap(object, "getOwnPropertyNames", func(c goja.FunctionCall, method insides.Function) goja.Value {
		v := method(c)
		if keys, ok := v.(*goja.Object); ok {
			e.orderKeys(keys, c.Argument(0))
		}
		return v
	})
	e.wrap(object, "getOwnPropertyDescriptors", func(c goja.FunctionCall, method insides.Function) goja.Value {
		v := method(c)
		if all, ok := v.(*goja.Object); ok {
			if err := all.DeleteSymbol(slot); err != nil {
				panic(err)
			}
		}
		return v
	})
}

// orderKeys puts a function's prototype behind its length and name, as
// OrdinaryFunctionCreate and MakeConstructor (10.2.3, 10.2.5) make them.
func (e *Engine) orderKeys(keys *goja.Object, of goja.Value) {
	fn, ok := of.(*goja.Object)
	list := e.maker.Plain.Array(keys)
	if !ok || list == nil || len(list.Values()) < 3 || fn.ClassName() != "Function" {
		return
	}
	if k := list.Values(); textOf(k[0]).String() == "prototype" && textOf(k[1]).String() == "length" && textOf(k[2]).String() == "name" {
		k[0], k[1], k[2] = k[1], k[2], k[0]
	}
}

// listWithout is an array of the elements of list but for one.
func (e *Engine) listWithout(list *goja.Object, without int) goja.Value {
	var kept []any
	for i := range int(list.Get("length").ToInteger()) {
		if i != without {
			kept = append(kept, list.Get(e.vm.ToValue(i).String()))
		}
	}
	return e.vm.NewArray(kept...)
}
