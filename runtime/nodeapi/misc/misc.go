package misc

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// miscModule are the natives of js/misc.js.
func miscModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{{Name: "receive", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
		data, found, isPort := m.Platform.Events.TakeMessage(c.Argument(0))
		if !isPort {
			m.ThrowArgType("port", "a MessagePort instance", c.Argument(0))
		}
		if !found {
			return goja.Undefined()
		}
		o := m.VM.NewObject()
		m.Define(o, "message", data)
		return o
	}}}
}
