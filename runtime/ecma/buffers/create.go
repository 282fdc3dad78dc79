package buffers

import (
	_ "embed"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/engine"
)

//go:embed typedcreate.js
var typedCreateSource string

var typedCreatePrelude = engine.NewPrelude("typedcreate.js", typedCreateSource)

// GuardCreation keeps goja's %TypedArray%.from, of and map away from arrays
// that a constructor of the user's makes: goja would write to them, without
// looking, after user code has taken their buffer, which ends the process.
func GuardCreation(e *engine.Engine) {
	typed := e.Primordial("TypedArray")
	proto := typed.Get("prototype").(*goja.Object)
	var methods *goja.Object // loaded when they are needed
	instead := func(name string, args ...goja.Value) goja.Value {
		if methods == nil {
			methods = e.Load(typedCreatePrelude, e.Native(
				engine.Func{Name: "classOf", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return states.Of(e).viewClasses[c.Argument(0).String()] }},
				engine.Func{Name: "object", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return c.Argument(0).ToObject(e.VM()) }},
			)).(*goja.Object)
		}
		return e.Call(methods.Get(name), goja.Undefined(), args...)
	}
	// users is the constructor v, if it is one and not the language's.
	users := func(v goja.Value) (*goja.Object, bool) {
		c, ok := v.(*goja.Object)
		if !ok || c.SameAs(typed) {
			return nil, false
		}
		for _, known := range states.Of(e).viewClasses { // order-independent: looks for one
			if c.SameAs(known) {
				return nil, false
			}
		}
		_, ok = goja.AssertConstructor(c)
		return c, ok
	}
	amend := func(holder *goja.Object, name string, fn func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value) {
		if native, ok := holder.Get(name).(*goja.Object); ok {
			insides.Amend(native, fn)
		}
	}
	amend(typed, "from", func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
		if class, ok := users(c.This); ok {
			return instead("from", class, c.Argument(0), c.Argument(1), c.Argument(2))
		}
		return original(c)
	})
	amend(typed, "of", func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
		if class, ok := users(c.This); ok {
			items := make([]any, len(c.Arguments))
			for i, v := range c.Arguments {
				items[i] = v
			}
			return instead("of", class, e.VM().NewArray(items...))
		}
		return original(c)
	})
	amend(proto, "map", func(c goja.FunctionCall, original func(goja.FunctionCall) goja.Value) goja.Value {
		array, ok := c.This.(*goja.Object)
		if !ok || !engine.IsCallable(c.Argument(0)) || !LiveTyped(e, array) {
			return original(c) // which refuses it
		}
		class := array.Get("constructor")
		if class == nil {
			class = goja.Undefined()
		}
		if known, ok := class.(*goja.Object); ok {
			if _, other := users(known); !other && !known.SameAs(typed) && known.SameAs(known.GetSymbol(goja.SymSpecies)) {
				return original(c)
			}
		}
		return instead("map", array, class, c.Argument(0), c.Argument(1))
	})
}

// LiveTyped reports whether o is a typed array whose buffer is there.
func LiveTyped(e *engine.Engine, o *goja.Object) bool {
	if !insides.TheViews().IsArray(o) {
		return false
	}
	buffer := e.Call(e.Primordial("TypedArrayPrototypeGetBuffer"), goja.Undefined(), o).Export().(goja.ArrayBuffer)
	return !buffer.Detached()
}
