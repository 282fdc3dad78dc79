package ecma

import (
	_ "embed"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/binary16"
	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

//go:embed builtins.js
var builtinsSource string

var builtinsPrelude = engine.NewPrelude("builtins.js", builtinsSource)

// installBuiltins adds what goja lacks of ECMAScript's built-ins and can be
// said in JavaScript.
func installBuiltins(e *engine.Engine) {
	e.Load(builtinsPrelude, e.Native(append(e.Hiding(),
		engine.Func{Name: "fromHalf", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return e.VM().ToValue(binary16.Value(uint16(call.Argument(0).ToInteger())))
		}},
		engine.Func{Name: "toHalf", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return e.VM().ToValue(binary16.Bits(call.Argument(0).ToFloat()))
		}},
		engine.Func{Name: "adoptHalves", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			array, isArray := call.Argument(0).(*goja.Object)
			class, isClass := call.Argument(1).(*goja.Object)
			return e.VM().ToValue(isArray && isClass && insides.TheHalves().Adopt(insides.TheGoja(), array, class))
		}},
		engine.Func{Name: "isBuffer", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			obj, ok := call.Argument(0).(*goja.Object)
			return e.VM().ToValue(ok && obj.ExportType() == builtin.ArrayBufferType)
		}},
		engine.Func{Name: "isCollection", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			obj, ok := call.Argument(0).(*goja.Object)
			return e.VM().ToValue(ok && (obj.ClassName() == "Set" || obj.ClassName() == "Map"))
		}},
		engine.Func{Name: "detached", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			buffer, _ := builtin.AsBuffer(call.Arguments)
			return e.VM().ToValue(buffer.Detached())
		}},
		engine.Func{Name: "show", Length: 1, Fn: func(call goja.FunctionCall) goja.Value { return e.VM().ToValue(builtin.Show(e, call.Argument(0))) }},
		engine.Func{Name: "called", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return e.VM().ToValue(builtin.CallSite(e, call.Argument(0)))
		}},
		engine.Func{Name: "index", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			return e.VM().ToValue(builtin.ToIndex(e, call.Argument(0), call.Argument(1).String()))
		}},
		engine.Func{Name: "limitOf", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			if of := buffers.ResizableOf(e, call.Argument(0)); of != nil {
				return e.VM().ToValue(of.Limit)
			}
			return goja.Undefined()
		}},
		engine.Func{Name: "resize", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			buffers.Resize(e, buffers.ResizableOf(e, call.Argument(0)), int(call.Argument(1).ToInteger()))
			return goja.Undefined()
		}},
		engine.Func{Name: "transfer", Length: 3, Fn: func(call goja.FunctionCall) goja.Value {
			return buffers.Transfer(e, call.Argument(0), call.Argument(1).ToInteger(), call.Argument(2))
		}},
		engine.Func{Name: "keepShared", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			buffers.TakeShared(e, call.Argument(0).(*goja.Object))
			return goja.Undefined()
		}},
		engine.Func{Name: "describes", Length: 3, Fn: func(call goja.FunctionCall) goja.Value {
			describeForProxies(e, call.Argument(0), call.Argument(1), call.Argument(2))
			return goja.Undefined()
		}},
		engine.Func{Name: "keepTraps", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			proxyTraps.Of(e).prototype = call.Argument(0)
			return goja.Undefined()
		}},
	)...))
}

// traps is what stands between a program's handler and its proxy, see ProxyHandler.
type traps struct{ prototype goja.Value }

var proxyTraps = engine.NewLocal(func(*engine.Engine) *traps { return &traps{} })

// ProxyHandler is the handler that the program gave a proxy; nil when it was
// revoked. Loop-confined.
func ProxyHandler(e *engine.Engine, p goja.Proxy) *goja.Object {
	handler := p.Handler()
	if between, ok := builtin.AsProxy(handler); ok && builtin.Inherits(between.Handler(), proxyTraps.Of(e).prototype) {
		return between.Target()
	}
	return handler
}

// describeForProxies has what defines properties give a proxy's trap a descriptor
// of its own, which described makes; all defines several, and key makes a key.
func describeForProxies(e *engine.Engine, described, all, key goja.Value) {
	object := e.VM().Get("Object").(*goja.Object)
	for _, holder := range []*goja.Object{object, e.VM().Get("Reflect").(*goja.Object)} {
		builtin.Guard(e, holder, "defineProperty", func(c *goja.FunctionCall) {
			if proxy, ok := c.Argument(0).(*goja.Object); ok && proxy.ExportType() == builtin.ProxyType {
				name := e.Call(key, goja.Undefined(), c.Argument(1))
				c.Arguments = []goja.Value{proxy, name, e.Call(described, goja.Undefined(), c.Argument(2))}
			}
		})
	}
	builtin.Wrap(e, object, "defineProperties", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if proxy, ok := c.Argument(0).(*goja.Object); ok && proxy.ExportType() == builtin.ProxyType {
			return e.Call(all, goja.Undefined(), proxy, c.Argument(1))
		}
		return method(c)
	})
}
