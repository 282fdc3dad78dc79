package webapi

import "github.com/dop251/goja"

// defineCaches makes `caches`, whose first use says that it is missing.
func (p *Platform) defineCaches() goja.Value {
	missing := func(goja.FunctionCall) goja.Value {
		p.Engine.Throw("Error", "The Cache API (caches) is not built yet: run without it, for example by keeping what you would cache in a Durable Object or a variable.")
		return nil
	}
	obj := p.vm.NewObject()
	for _, name := range []string{"open", "match", "has", "delete", "keys"} {
		obj.Set(name, p.Engine.Func(name, 1, missing))
	}
	obj.DefineAccessorProperty("default", p.Engine.Func("get default", 0, missing), nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
	return obj
}
