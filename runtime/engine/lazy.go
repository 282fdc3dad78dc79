package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// Lazies are properties that are made at their first use. Loop-confined.
type Lazies struct {
	engine *Engine
	// getters of what has not been made yet, by object and name
	getters map[*goja.Object]map[string]goja.Value
}

// Global defines a global that is made at its first use, so that a worker
// pays only for what it touches. make runs on the loop in the global scope
// frame; reading it from native code (VM().Get) triggers it too.
func (l *Lazies) Global(name string, make func() goja.Value) {
	l.Property(l.engine.vm.GlobalObject(), name, listed(name), make)
}

// Interface is Engine.Interface of what is made at its first use.
func (l *Lazies) Interface(name string, make func() goja.Value) {
	l.Property(l.engine.Scope(), name, goja.FLAG_TRUE, make)
}

// Property is Global for a property of any object. It is made too when a program asks
// how it is defined, and so shows as the data property that it stands for.
func (l *Lazies) Property(obj *goja.Object, name string, enumerable goja.Flag, make func() goja.Value) {
	get := l.define(obj, name, enumerable, make)
	if l.getters[obj] == nil {
		l.getters[obj] = map[string]goja.Value{}
	}
	l.getters[obj][name] = get
}

// Export is an enumerable Property that stays an accessor until it is read, as
// bundled code copies the exports of modules without a need for their values.
func (l *Lazies) Export(obj *goja.Object, name string, make func() goja.Value) {
	l.define(obj, name, goja.FLAG_TRUE, make)
}

func (l *Lazies) define(obj *goja.Object, name string, enumerable goja.Flag, make func() goja.Value) goja.Value {
	settle := func(v goja.Value) {
		obj.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, enumerable)
		delete(l.getters[obj], name)
	}
	get := l.engine.Func("get "+name, 0, func(goja.FunctionCall) goja.Value {
		var v goja.Value
		l.engine.In(GlobalFrame, func() { v = make() })
		settle(v)
		return v
	})
	set := l.engine.Func("set "+name, 1, func(call goja.FunctionCall) goja.Value {
		if heir, ok := call.This.(*goja.Object); ok && heir != obj { // an assignment to what inherits a data property
			heir.DefineDataProperty(name, call.Argument(0), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			return goja.Undefined()
		}
		settle(call.Argument(0))
		return goja.Undefined()
	})
	obj.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, enumerable)
	return get
}

// install has questions for a property's descriptor make what is lazy.
func (l *Lazies) install() {
	for _, class := range []string{"Object", "Reflect"} {
		describe, _ := l.engine.vm.Get(class).(*goja.Object).Get("getOwnPropertyDescriptor").(*goja.Object)
		insides.Amend(describe, func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value {
			if obj, ok := c.Argument(0).(*goja.Object); ok && len(l.getters[obj]) > 0 {
				if key, isText := c.Argument(1).(goja.String); isText {
					if get := l.getters[obj][key.String()]; get != nil {
						l.engine.Call(get, obj)
					}
				}
			}
			return method(c)
		})
	}
}
