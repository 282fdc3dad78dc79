package engine

import (
	_ "embed"

	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides"
)

//go:embed js/builtins.js
var builtinsSource string

var builtinsPrelude = NewPrelude("builtins.js", builtinsSource)

// installBuiltins adds what goja lacks of ECMAScript's built-ins and can be
// said in JavaScript.
func (e *Engine) installBuiltins() {
	e.Load(builtinsPrelude, e.Native(
		Func{"fromHalf", 1, func(call goja.FunctionCall) goja.Value {
			return e.vm.ToValue(insides.FromHalf(uint16(call.Argument(0).ToInteger())))
		}},
		Func{"toHalf", 1, func(call goja.FunctionCall) goja.Value {
			return e.vm.ToValue(insides.ToHalf(call.Argument(0).ToFloat()))
		}},
		Func{"adoptHalves", 2, func(call goja.FunctionCall) goja.Value {
			array, isArray := call.Argument(0).(*goja.Object)
			class, isClass := call.Argument(1).(*goja.Object)
			return e.vm.ToValue(isArray && isClass && insides.TheHalves().Adopt(insides.TheGoja(), array, class))
		}},
		Func{"isBuffer", 1, func(call goja.FunctionCall) goja.Value {
			obj, ok := call.Argument(0).(*goja.Object)
			return e.vm.ToValue(ok && obj.ExportType() == arrayBufferType)
		}},
		Func{"isCollection", 1, func(call goja.FunctionCall) goja.Value {
			obj, ok := call.Argument(0).(*goja.Object)
			return e.vm.ToValue(ok && (obj.ClassName() == "Set" || obj.ClassName() == "Map"))
		}},
		Func{"detached", 1, func(call goja.FunctionCall) goja.Value {
			buffer, _ := asBuffer(call.Arguments)
			return e.vm.ToValue(buffer.Detached())
		}},
		Func{"show", 1, func(call goja.FunctionCall) goja.Value { return e.vm.ToValue(e.Show(call.Argument(0))) }},
		Func{"index", 2, func(call goja.FunctionCall) goja.Value {
			return e.vm.ToValue(e.index(call.Argument(0), call.Argument(1).String()))
		}},
		Func{"limitOf", 1, func(call goja.FunctionCall) goja.Value {
			if of := e.resizableOf(call.Argument(0)); of != nil {
				return e.vm.ToValue(of.limit)
			}
			return goja.Undefined()
		}},
		Func{"resize", 2, func(call goja.FunctionCall) goja.Value {
			e.resize(e.resizableOf(call.Argument(0)), int(call.Argument(1).ToInteger()))
			return goja.Undefined()
		}},
		Func{"transfer", 3, func(call goja.FunctionCall) goja.Value {
			return e.transfer(call.Argument(0), call.Argument(1).ToInteger(), call.Argument(2))
		}},
		Func{"keepShared", 1, func(call goja.FunctionCall) goja.Value {
			e.shared = call.Argument(0).(*goja.Object)
			return goja.Undefined()
		}},
		Func{"describes", 3, func(call goja.FunctionCall) goja.Value {
			e.describeForProxies(call.Argument(0), call.Argument(1), call.Argument(2))
			return goja.Undefined()
		}},
		Func{"keepTraps", 1, func(call goja.FunctionCall) goja.Value {
			e.proxyTraps = call.Argument(0)
			return goja.Undefined()
		}},
	))
}

// transfer moves the bytes of a buffer into a new one of n bytes, which can be
// resized if it has a limit.
func (e *Engine) transfer(v goja.Value, n int64, limit goja.Value) goja.Value {
	buffer := v.Export().(goja.ArrayBuffer)
	if e.Kept(v) {
		e.Throw("TypeError", "ArrayBuffer is not detachable and could not be cloned.")
	}
	data := buffer.Bytes()
	if n != int64(len(data)) {
		e.Allocate(n, badBufferLength)
		moved := make([]byte, n)
		copy(moved, data)
		data = moved
	}
	buffer.Detach()
	made := e.vm.ToValue(e.vm.NewArrayBuffer(data)).(*goja.Object)
	if !goja.IsUndefined(limit) {
		e.makeResizable(made, int(limit.ToInteger()))
	}
	return made
}

// ProxyHandler is the handler that the program gave a proxy; nil when it was
// revoked. Loop-confined.
func (e *Engine) ProxyHandler(p goja.Proxy) *goja.Object {
	handler := p.Handler()
	if between, ok := AsProxy(handler); ok && Inherits(between.Handler(), e.proxyTraps) {
		return between.Target()
	}
	return handler
}

// AsProxy is the proxy that v is; ok is false for anything else. Loop-confined.
func AsProxy(v goja.Value) (p goja.Proxy, ok bool) {
	if obj, isObject := v.(*goja.Object); isObject && obj != nil && obj.ExportType() == proxyType {
		p, ok = obj.Export().(goja.Proxy)
	}
	return p, ok
}

// Inherits reports whether proto is what obj inherits from, at once and without
// asking code: a proxy, and nil, inherit from nothing. Loop-confined.
func Inherits(obj *goja.Object, proto goja.Value) bool {
	return obj != nil && obj.ExportType() != proxyType && goja.Value(obj.Prototype()) == proto
}

// describeForProxies has what defines properties give a proxy's trap a descriptor
// of its own, which described makes; all defines several, and key makes a key.
func (e *Engine) describeForProxies(described, all, key goja.Value) {
	object := e.vm.Get("Object").(*goja.Object)
	for _, holder := range []*goja.Object{object, e.vm.Get("Reflect").(*goja.Object)} {
		e.guard(holder, "defineProperty", func(c *goja.FunctionCall) {
			if proxy, ok := c.Argument(0).(*goja.Object); ok && proxy.ExportType() == proxyType {
				name := e.Call(key, goja.Undefined(), c.Argument(1))
				c.Arguments = []goja.Value{proxy, name, e.Call(described, goja.Undefined(), c.Argument(2))}
			}
		})
	}
	e.wrap(object, "defineProperties", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if proxy, ok := c.Argument(0).(*goja.Object); ok && proxy.ExportType() == proxyType {
			return e.Call(all, goja.Undefined(), proxy, c.Argument(1))
		}
		return method(c)
	})
}
