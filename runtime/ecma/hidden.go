package ecma

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// hideSlots keeps the symbol under which platform objects carry their Go value
// from everyone who lists the keys of an object: they are internal slots
// (ECMA-262, section 6.1.7.2), which no reflection shows.
func hideSlots(e *engine.Engine) {
	slot := e.Slot()
	strip := func(c goja.FunctionCall, method insides.Function) goja.Value {
		v := method(c)
		keys, ok := v.(*goja.Object)
		if !ok {
			return v
		}
		orderKeys(e, keys, c.Argument(0))
		for i := int(keys.Get("length").ToInteger()) - 1; i >= 0; i-- { // symbols come last
			key, isSymbol := keys.Get(e.VM().ToValue(i).String()).(*goja.Symbol)
			if !isSymbol {
				break
			}
			if key == slot {
				return listWithout(e, keys, i)
			}
		}
		return v
	}
	builtin.Wrap(e, e.VM().Get("Reflect").(*goja.Object), "ownKeys", strip)
	object := e.VM().Get("Object").(*goja.Object)
	builtin.Wrap(e, object, "getOwnPropertySymbols", strip)
	builtin.Wrap(e, object, "getOwnPropertyNames", func(c goja.FunctionCall, method insides.Function) goja.Value {
		v := method(c)
		if keys, ok := v.(*goja.Object); ok {
			orderKeys(e, keys, c.Argument(0))
		}
		return v
	})
	builtin.Wrap(e, object, "getOwnPropertyDescriptors", func(c goja.FunctionCall, method insides.Function) goja.Value {
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
func orderKeys(e *engine.Engine, keys *goja.Object, of goja.Value) {
	fn, ok := of.(*goja.Object)
	list := e.Maker().Plain.Array(keys)
	if !ok || list == nil || len(list.Values()) < 3 || fn.ClassName() != "Function" {
		return
	}
	if k := list.Values(); builtin.TextOf(k[0]).String() == "prototype" && builtin.TextOf(k[1]).String() == "length" && builtin.TextOf(k[2]).String() == "name" {
		k[0], k[1], k[2] = k[1], k[2], k[0]
	}
}

// listWithout is an array of the elements of list but for one.
func listWithout(e *engine.Engine, list *goja.Object, without int) goja.Value {
	var kept []any
	for i := range int(list.Get("length").ToInteger()) {
		if i != without {
			kept = append(kept, list.Get(e.VM().ToValue(i).String()))
		}
	}
	return e.VM().NewArray(kept...)
}
