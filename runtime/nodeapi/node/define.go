package node

import "github.com/dop251/goja"

// defineMethods is (target, list): every property of the literal becomes a
// writable, enumerable property of target. Symbols too.
func (m *Modules) defineMethods(c goja.FunctionCall) goja.Value {
	target, list := c.Argument(0).(*goja.Object), c.Argument(1).(*goja.Object)
	for _, name := range list.Keys() {
		m.Define(target, name, list.Get(name))
	}
	for _, s := range list.Symbols() {
		target.DefineDataPropertySymbol(s, list.GetSymbol(s), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	return target
}

// defineAccessors is (target, list): each property of the literal is a getter,
// or {get, set}.
func (m *Modules) defineAccessors(c goja.FunctionCall) goja.Value {
	target, list := c.Argument(0).(*goja.Object), c.Argument(1).(*goja.Object)
	for _, name := range list.Keys() {
		get := list.Get(name)
		var set goja.Value
		if _, callable := goja.AssertFunction(get); !callable {
			pair := get.(*goja.Object)
			get, set = pair.Get("get"), pair.Get("set")
		}
		target.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return target
}

// mixin is (target, source, base): target gets source's own properties, except
// the constructor, pipe, and those that base has; destroy is always source's.
func (m *Modules) mixin(c goja.FunctionCall) goja.Value {
	target, source, base := c.Argument(0).(*goja.Object), c.Argument(1).(*goja.Object), c.Argument(2).(*goja.Object)
	taken := map[string]bool{"constructor": true, "pipe": true}
	for _, name := range base.GetOwnPropertyNames() {
		taken[name] = name != "destroy"
	}
	describe, define := m.Engine.Primordial("ObjectGetOwnPropertyDescriptor"), m.Engine.Primordial("ObjectDefineProperty")
	for _, name := range source.GetOwnPropertyNames() {
		if !taken[name] {
			key := m.VM.ToValue(name)
			m.Engine.Call(define, goja.Undefined(), target, key, m.Engine.Call(describe, goja.Undefined(), source, key))
		}
	}
	return target
}
