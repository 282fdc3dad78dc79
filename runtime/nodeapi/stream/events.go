package stream

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// eventsModule are the natives of js/events.js.
func eventsModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{{Name: "listeners", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
		list, ok := m.Platform.Events.Listeners(c.Argument(0), c.Argument(1).String())
		if !ok {
			return goja.Undefined()
		}
		return m.VM.NewArray(list...)
	}}}
}
