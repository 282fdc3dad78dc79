// Package misc holds modules that Workers have for programs which merely import them, and those
// whose work minido cannot do.
package misc

import (
	"embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/misc", "misc.js", miscModule)
	for _, x := range []struct{ name, flag string }{
		{"_http_common", "enable_nodejs_http_modules"}, {"cluster", "enable_nodejs_cluster_module"},
		{"dgram", "enable_nodejs_dgram_module"},
		{"domain", "enable_nodejs_domain_module"}, {"http2", "enable_nodejs_http2_module"}, {"inspector", "enable_nodejs_inspector_module"},
		{"repl", "enable_nodejs_repl_module"}, {"trace_events", "enable_nodejs_trace_events_module"},
		{"tty", "enable_nodejs_tty_module"}, {"v8", "enable_nodejs_v8_module"}, {"vm", "enable_nodejs_vm_module"},
		{"worker_threads", "enable_nodejs_worker_threads_module"},
	} {
		s.Go(x.name, func(m *node.Modules) goja.Value {
			make := m.Load("internal/misc").(*goja.Object).Get(x.name)
			return m.Engine.Call(make, goja.Undefined())
		}).Flag(x.flag)
	}
	for _, x := range []struct{ name, flag string }{
		{"_stream_wrap", "enable_nodejs_stream_wrap_module"},
		{"child_process", "enable_nodejs_child_process_module"},
		{"sqlite", "enable_nodejs_sqlite_module"}, {"wasi", "enable_nodejs_wasi_module"},
	} {
		s.Go(x.name, makeUnsupported).Flag(x.flag)
	}
	s.Alias("inspector/promises", "inspector").Flag("enable_nodejs_inspector_module")
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}

// makeUnsupported makes a module of which every function throws.
func makeUnsupported(m *node.Modules) goja.Value { return m.VM.NewObject() }
