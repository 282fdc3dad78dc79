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
		return []engine.Func{{Name: "published", Fn: func(goja.FunctionCall) goja.Value {
			m.Engine.IO("publish()") // workerd notes it for tail workers (api/node/diagnostics-channel.c++)
			return goja.Undefined()
		}}}
	})
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
