package util

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// consoleModule are the natives of js/console.js.
func consoleModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{{Name: "table", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
		return m.VM.ToValue(m.Platform.Console.Table(c.Argument(0), c.Argument(1)))
	}}}
}
