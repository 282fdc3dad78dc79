package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// Hiding are natives for preludes that define built-ins, which are writable, configurable and
// not enumerable. In JavaScript each needs a descriptor, and a list of names. Loop-confined.
func (e *Engine) Hiding() []Func {
	return []Func{
		// hide(obj, key, value) defines one.
		{"hide", 3, func(c goja.FunctionCall) goja.Value {
			e.hide(c.Argument(0).(*goja.Object), c.Argument(1), c.Argument(2))
			return goja.Undefined()
		}},
		// add(obj, from) gives obj the properties of the literal from that it lacks.
		{"add", 2, func(c goja.FunctionCall) goja.Value {
			obj, from := c.Argument(0).(*goja.Object), c.Argument(1).(*goja.Object)
			members, ok := e.maker.Plain.AppendMembers(nil, from)
			for _, m := range members {
				if name := e.maker.TextOf(m.Name); !has(obj, name) {
					e.hide(obj, name, m.Value)
				}
			}
			if !ok {
				for _, name := range from.GetOwnPropertyNames() {
					if key := e.vm.ToValue(name); !has(obj, key) {
						e.hide(obj, key, from.Get(name))
					}
				}
			}
			for _, symbol := range from.Symbols() {
				if !has(obj, symbol) {
					e.hide(obj, symbol, from.GetSymbol(symbol))
				}
			}
			return goja.Undefined()
		}},
	}
}

// has reports whether an object that is no proxy, or what it inherits from, has a property.
func has(o *goja.Object, key goja.Value) bool {
	for ; o != nil; o = o.Prototype() {
		if _, has := insides.OwnProperty(o, key); has {
			return true
		}
	}
	return false
}

func (e *Engine) hide(o *goja.Object, key, value goja.Value) {
	var err error
	if symbol, ok := key.(*goja.Symbol); ok {
		err = o.DefineDataPropertySymbol(symbol, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	} else {
		err = o.DefineDataProperty(key.String(), value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	if err != nil {
		panic(err)
	}
}
