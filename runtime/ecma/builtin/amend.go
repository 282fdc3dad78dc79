// Package builtin is what the packages of the language share: amending goja's
// built-ins in place, the conversions of ECMA-262, section 7, kinds and limits of
// values, and how V8's messages show a value. Everything is loop-confined.
package builtin

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/engine"
)

// Guard puts a check before a method. What it converts, by user code perhaps,
// it gives to the method in its converted form.
func Guard(e *engine.Engine, holder *goja.Object, name string, check func(c *goja.FunctionCall)) {
	Wrap(e, holder, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
		check(&c)
		return method(c)
	})
}

// Wrap replaces what a method does; its function object stays the same, if goja
// can be looked into; if not, another function takes its place.
func Wrap(e *engine.Engine, holder *goja.Object, name string, fn func(c goja.FunctionCall, method insides.Function) goja.Value) {
	e.Builtins.When(holder, name, func(old *goja.Object) {
		if !insides.Amend(old, fn) {
			replace(e, holder, name, old, fn)
		}
	})
}

// replace is Wrap where goja cannot be looked into.
func replace(e *engine.Engine, holder *goja.Object, name string, old *goja.Object, fn func(c goja.FunctionCall, method insides.Function) goja.Value) {
	if old.Get("prototype") != nil {
		return // a class, which a function in its place would not be: it stays goja's
	}
	call, _ := goja.AssertFunction(old)
	wrapped := e.Func(name, int(old.Get("length").ToInteger()), func(c goja.FunctionCall) goja.Value {
		return fn(c, func(c goja.FunctionCall) goja.Value {
			v, err := call(c.This, c.Arguments...)
			if err != nil {
				e.Rethrow(err)
			}
			return v
		})
	})
	holder.DefineDataProperty(name, wrapped, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// Prototype is that of a global class.
func Prototype(e *engine.Engine, class string) *goja.Object {
	return e.VM().Get(class).(*goja.Object).Get("prototype").(*goja.Object)
}
