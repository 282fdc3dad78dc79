package engine

import "github.com/dop251/goja"

// Lazies are properties that are made at their first use. Loop-confined.
type Lazies struct {
	engine *Engine
	// getters of what has not been made yet, by object and name
	getters map[*goja.Object]map[string]*goja.Object
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
		l.getters[obj] = map[string]*goja.Object{}
	}
	l.getters[obj][name] = get
}

// Export is an enumerable Property that stays an accessor until it is read, as
// bundled code copies the exports of modules without a need for their values.
func (l *Lazies) Export(obj *goja.Object, name string, make func() goja.Value) {
	l.define(obj, name, goja.FLAG_TRUE, make)
}

// define defines one, and gives its getter.
func (l *Lazies) define(obj *goja.Object, name string, enumerable goja.Flag, make func() goja.Value) *goja.Object {
	p := &lazy{l, obj, name, enumerable, make}
	// They end at once, or in what make calls: there is nothing to bound (Natives).
	get := l.engine.maker.Native(p.get, "get "+name, 0)
	obj.DefineAccessorProperty(name, get, l.engine.maker.Native(p.set, "set "+name, 1), goja.FLAG_TRUE, enumerable)
	return get
}

// lazy is a property that has not been made.
type lazy struct {
	of         *Lazies
	obj        *goja.Object
	name       string
	enumerable goja.Flag
	make       func() goja.Value
}

func (p *lazy) settle(v goja.Value) {
	p.obj.DefineDataProperty(p.name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, p.enumerable)
	delete(p.of.getters[p.obj], p.name)
}

func (p *lazy) get(goja.FunctionCall) (v goja.Value) {
	p.of.engine.In(GlobalFrame, func() { v = p.make() })
	p.settle(v)
	return v
}

func (p *lazy) set(call goja.FunctionCall) goja.Value {
	if heir, ok := call.This.(*goja.Object); ok && heir != p.obj { // an assignment to what inherits a data property
		heir.DefineDataProperty(p.name, call.Argument(0), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return goja.Undefined()
	}
	p.settle(call.Argument(0))
	return goja.Undefined()
}

// install has questions for a property's descriptor make what is lazy.
func (l *Lazies) install() {
	for _, class := range []string{"Object", "Reflect"} {
		l.engine.Builtins.Amend(l.engine.vm.Get(class).(*goja.Object), "getOwnPropertyDescriptor", func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value {
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
