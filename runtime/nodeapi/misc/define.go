// Package misc holds modules that exist only so that programs can import them, and
// modules that minido cannot implement.
package misc

import (
	"embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/misc", "misc.js", miscModule)
	for _, x := range []struct {
		name string
		flag compat.Flag
	}{
		{"_http_common", compat.EnableNodejsHttpModules}, {"cluster", compat.EnableNodejsClusterModule},
		{"dgram", compat.EnableNodejsDgramModule},
		{"domain", compat.EnableNodejsDomainModule}, {"http2", compat.EnableNodejsHttp2Module}, {"inspector", compat.EnableNodejsInspectorModule},
		{"repl", compat.EnableNodejsReplModule}, {"trace_events", compat.EnableNodejsTraceEventsModule},
		{"tty", compat.EnableNodejsTtyModule}, {"v8", compat.EnableNodejsV8Module}, {"vm", compat.EnableNodejsVmModule},
		{"worker_threads", compat.EnableNodejsWorkerThreadsModule},
	} {
		d := s.Go(x.name, func(m *node.Modules) goja.Value {
			make := m.Load("internal/misc").(*goja.Object).Get(x.name)
			return m.Engine.Call(make, goja.Undefined())
		}).Flag(x.flag)
		if x.name == "tty" {
			d.StandsIn(node.Polyfill(x.flag, "internal/tty_polyfill"))
		}
	}
	for _, x := range []struct {
		name string
		flag compat.Flag
	}{
		{"_stream_wrap", compat.EnableNodejsStreamWrapModule},
		{"child_process", compat.EnableNodejsChildProcessModule},
		{"sqlite", compat.EnableNodejsSqliteModule}, {"wasi", compat.EnableNodejsWasiModule},
	} {
		s.Go(x.name, makeUnsupported).Flag(x.flag)
	}
	s.Alias("inspector/promises", "inspector").Flag(compat.EnableNodejsInspectorModule)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}

// makeUnsupported makes a module of which every function throws.
func makeUnsupported(m *node.Modules) goja.Value { return m.VM.NewObject() }
