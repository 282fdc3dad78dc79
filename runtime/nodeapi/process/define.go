// Package process holds node:process and what tells about the process: module, os, perf_hooks, constants.
package process

import (
	"embed"
	"strings"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/constants", "constants.js", nil)
	s.JS("constants", "constants_module.js", nil)
	s.JS("module", "module.js", moduleModule)
	s.JS("os", "os.js", nil).Flag(compat.EnableNodejsOsModule)
	s.JS("perf_hooks", "perf_hooks.js", nil).Flag(compat.EnableNodejsPerfHooksModule)
	s.JS("process", "process.js", processModule)
	s.Globals(func(m *node.Modules) { m.LazyGlobal("process", "process") })
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules

	output [3]strings.Builder // of standard output and error: the line begun
}
