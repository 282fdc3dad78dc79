// Package asynchooks holds node:async_hooks and node:diagnostics_channel.
package asynchooks

import (
	"embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/async_hooks", "async_hooks.js", nil)
	s.Go("async_hooks", makeAsyncHooks)
	s.JS("diagnostics_channel", "diagnostics_channel.js", func(m *node.Modules) []engine.Func {
		return []engine.Func{{Name: "published", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			m.Engine.IO("publish()")
			if inv := m.Engine.Frame().Invocation; inv != nil { // for tail workers (workerd: api/node/diagnostics-channel.c++)
				inv.Published(call.Argument(0), call.Argument(1))
			}
			return goja.Undefined()
		}}}
	})
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
