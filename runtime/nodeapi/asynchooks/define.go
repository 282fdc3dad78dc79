// Package asynchooks holds node:async_hooks and node:diagnostics_channel.
package asynchooks

import (
	"embed"

	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/async_hooks", "async_hooks.js", nil)
	s.Go("async_hooks", makeAsyncHooks)
	s.JS("diagnostics_channel", "diagnostics_channel.js", nil)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
