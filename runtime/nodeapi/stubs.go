package nodeapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// consoleModule are the natives of js/console.js.
func consoleModule(m *Modules) []engine.Func {
	return []engine.Func{{Name: "table", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
		return m.vm.ToValue(m.platform.ConsoleTable(c.Argument(0), c.Argument(1)))
	}}}
}

// eventsModule are the natives of js/events.js.
func eventsModule(m *Modules) []engine.Func {
	return []engine.Func{{Name: "listeners", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
		list, ok := m.platform.Listeners(c.Argument(0), c.Argument(1).String())
		if !ok {
			return goja.Undefined()
		}
		return m.vm.NewArray(list...)
	}}}
}

// miscModule are the natives of js/misc.js.
func miscModule(m *Modules) []engine.Func {
	return []engine.Func{{Name: "receive", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
		data, found, isPort := m.platform.TakeMessage(c.Argument(0))
		if !isPort {
			m.throwArgType("port", "a MessagePort instance", c.Argument(0))
		}
		if !found {
			return goja.Undefined()
		}
		o := m.vm.NewObject()
		m.define(o, "message", data)
		return o
	}}}
}
