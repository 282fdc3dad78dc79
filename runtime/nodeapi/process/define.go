// Package process holds node:process and the modules that describe the process:
// module, os, perf_hooks, constants.
package process

import (
	"embed"

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
	s.JS("os", "os.js", nil).Flag(compat.EnableNodejsOsModule).StandsIn(node.Polyfill(compat.EnableNodejsOsModule, "internal/os_polyfill"))
	s.Internal("internal/os_polyfill", "os_polyfill.js", nil)
	s.Internal("internal/tty_polyfill", "tty_polyfill.js", nil)
	s.JS("perf_hooks", "perf_hooks.js", nil).Flag(compat.EnableNodejsPerfHooksModule)
	s.JS("process", "process.js", processModule).StandsIn(processOf)
	s.Internal("internal/process_v1", "process_v1.js", nil)
	s.Internal("internal/process_polyfill", "process_polyfill.js", nil)
	s.Globals(func(m *node.Modules) { m.LazyGlobal("process", "process") })
}

// processOf says which process a worker has: wrangler bundles a polyfill unless workerd's
// whole process comes with what fetch makes of iterables since then
// (@cloudflare/unenv-preset). Before wrangler bundles anything, it is workerd's of that date.
func processOf(on func(flag compat.Flag) bool) string {
	switch {
	case on(compat.NodejsCompatV2) && !(on(compat.EnableNodejsProcessV2) && on(compat.FetchIterableTypeSupport) && on(compat.FetchIterableTypeSupportOverrideAdjustment)):
		return "internal/process_polyfill"
	case on(compat.EnableNodejsProcessV2):
		return ""
	}
	return "internal/process_v1"
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
