package nodeapi

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"
)

// surfaceText lists what each module exports in workerd 1.20261117 with the
// compatibility date 2026-09-01: one line per module, `name: exports`.
//
//go:embed surface.txt
var surfaceText string

// surface is surfaceText by module. Immutable.
var surface = func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(surfaceText) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		out[name] = strings.Fields(list)
	}
	return out
}()

// advice says, per module, what to use instead of what is missing in it.
var advice = map[string]string{
	"child_process":  "Workers run no processes; do the work in JavaScript, or call a service with fetch()",
	"cluster":        "a Worker is one isolate; use Durable Objects to divide work",
	"crypto":         "minido lacks it; use crypto.subtle, or createHash, createHmac and createCipheriv",
	"dgram":          "Workers have no UDP",
	"dns":            "minido resolves no names; fetch() a DNS-over-HTTPS service",
	"dns/promises":   "minido resolves no names; fetch() a DNS-over-HTTPS service",
	"fs":             "minido's file system holds /bundle and /tmp with plain files and folders",
	"fs/promises":    "minido's file system holds /bundle and /tmp with plain files and folders",
	"http":           "export a fetch handler instead of a server, and use fetch() for requests",
	"http2":          "use fetch(), which speaks HTTP/2 on its own",
	"https":          "export a fetch handler instead of a server, and use fetch() for requests",
	"inspector":      "Workers have no inspector module that works; use console",
	"module":         "modules are bundled before they run; use import",
	"net":            "minido opens no TCP sockets; use fetch() or a WebSocket",
	"perf_hooks":     "use performance.now() and performance.mark()",
	"readline":       "Workers have no terminal",
	"repl":           "Workers have no terminal",
	"sqlite":         "use ctx.storage.sql of a Durable Object",
	"test":           "run tests with `minido test` or vitest",
	"tls":            "minido opens no TCP sockets; use fetch() or a WebSocket",
	"tty":            "Workers have no terminal",
	"v8":             "the engine is goja; use structuredClone() to copy values",
	"vm":             "Workers do not evaluate code at run time; import it",
	"wasi":           "WebAssembly is not available in minido",
	"worker_threads": "a Worker is one isolate; use Durable Objects or service bindings",
}

// adviceFor finds the advice of a module or of the one it belongs to.
func adviceFor(name string) string {
	base := strings.TrimPrefix(strings.TrimPrefix(name, "_"), "_")
	for _, key := range []string{name, strings.Split(base, "/")[0], strings.Split(base, "_")[0]} {
		if a, ok := advice[key]; ok {
			return a
		}
	}
	return "minido lacks it; use the web platform's APIs"
}

// complete adds to a module's exports what Workers export there and minido
// lacks: functions that throw, so that imports of them succeed and their use
// says what is wrong.
func (m *Modules) complete(name string, exports *goja.Object) {
	for _, key := range surface[name] {
		if !m.hasOwn(exports, key) && exports.Get(key) == nil {
			m.define(exports, key, m.missing(name, key))
		}
	}
}

func (m *Modules) hasOwn(o *goja.Object, key string) bool {
	return m.engine.Call(m.engine.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), o, m.vm.ToValue(key)).ToBoolean()
}

// missing is a function, usable as a class, that throws when it is called.
func (m *Modules) missing(module, name string) goja.Value {
	return m.engine.Call(m.load("internal/missing"), goja.Undefined(), m.vm.ToValue(module), m.vm.ToValue(name), m.vm.ToValue(adviceFor(module)))
}

// makeUnsupported makes a module of which every function throws.
func makeUnsupported(m *Modules) goja.Value { return m.vm.NewObject() }
