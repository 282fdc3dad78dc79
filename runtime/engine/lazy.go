package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// LazyGlobal defines a global that is made at its first use, so that a worker
// pays only for what it touches. make runs on the loop in the global scope
// frame; reading it from native code (VM().Get) triggers it too.
func (e *Engine) LazyGlobal(name string, make func() goja.Value) {
	e.Lazy(e.vm.GlobalObject(), name, listed(name), make)
}

// Lazy is LazyGlobal for a property of any object. One of the global object, or
// one that is not enumerable, is made too when a program asks how it is defined,
// and so shows as the data property that it stands for; the exports of modules
// stay accessors, which bundled code copies without a need for their values.
func (e *Engine) Lazy(obj *goja.Object, name string, enumerable goja.Flag, make func() goja.Value) {
	settle := func(v goja.Value) {
		obj.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, enumerable)
		delete(e.lazies[obj], name)
	}
	get := e.Func("get "+name, 0, func(goja.FunctionCall) goja.Value {
		var v goja.Value
		e.In(GlobalFrame, func() { v = make() })
		settle(v)
		return v
	})
	set := e.Func("set "+name, 1, func(call goja.FunctionCall) goja.Value {
		settle(call.Argument(0))
		return goja.Undefined()
	})
	obj.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, enumerable)
	if enumerable == goja.FLAG_FALSE || obj == e.vm.GlobalObject() {
		if e.lazies[obj] == nil {
			e.lazies[obj] = map[string]goja.Value{}
		}
		e.lazies[obj][name] = get
	}
}

// installLazies has questions for a property's descriptor make what is lazy.
func (e *Engine) installLazies() {
	for _, class := range []string{"Object", "Reflect"} {
		describe, _ := e.vm.Get(class).(*goja.Object).Get("getOwnPropertyDescriptor").(*goja.Object)
		insides.Amend(describe, func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value {
			if obj, ok := c.Argument(0).(*goja.Object); ok && len(e.lazies[obj]) > 0 {
				if key, isText := c.Argument(1).(goja.String); isText {
					if get := e.lazies[obj][key.String()]; get != nil {
						e.Call(get, obj)
					}
				}
			}
			return method(c)
		})
	}
}
