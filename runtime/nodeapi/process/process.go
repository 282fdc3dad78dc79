package process

import (
	"fmt"
	"math/big"
	"path"
	"sort"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// processModule are the natives of js/process.js.
func processModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "env", Fn: func(goja.FunctionCall) goja.Value { return m.environment() }},
		{Name: "nanoseconds", Fn: func(goja.FunctionCall) goja.Value {
			return m.VM.ToValue(big.NewInt(m.Engine.Now().UnixNano()))
		}},
		{Name: "builtin", Length: 1, Fn: m.builtin},
		{Name: "logLine", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			m.LogLine(int(c.Argument(0).ToInteger()), c.Argument(1).String())
			return goja.Undefined()
		}},
		{Name: "write", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			b, _ := m.Bytes(c.Argument(1))
			m.Write(int(c.Argument(0).ToInteger()), b)
			return goja.Undefined()
		}},
	}
}

// environment is the first content of process.env, by name.
func (m *module) environment() goja.Value {
	o := m.VM.NewObject()
	if m.Options.Env == nil || !m.Options.Compat(compat.NodejsCompatPopulateProcessEnv) {
		return o
	}
	env := m.Options.Env()
	names := make([]string, 0, len(env))
	for name := range env {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		m.Define(o, name, m.VM.ToValue(env[name]))
	}
	return o
}

// builtin is a module of workerd by name, undefined if there is none.
func (m *module) builtin(c goja.FunctionCall) goja.Value {
	return m.Native(c.Argument(0).String())
}

// imported is what a function of createRequire() gives. Before require_returns_default_export
// that is a module's namespace, as that of a cloudflare: module at every date.
func (m *module) imported(c goja.FunctionCall) goja.Value {
	spec := c.Argument(0).String()
	whole := strings.HasPrefix(spec, "cloudflare:")
	if name, ok := m.Resolve(spec); ok && !whole {
		if m.Options.Compat(compat.RequireReturnsDefaultExport) || m.Options.Import == nil {
			return m.Native(spec)
		}
		spec, whole = "node:"+name, true
	}
	if whole && m.Options.Import != nil {
		if ns, err := m.Options.Import(spec); err == nil {
			return ns
		}
	}
	text := "Module not found: " + spec // the reference's texts
	if !m.Options.Compat(compat.NewModuleRegistry) {
		text = fmt.Sprintf("No such module %q.", strings.TrimPrefix(path.Clean(spec), "/"))
	}
	panic(m.Engine.Errors.New("Error", text))
}

// moduleModule are the natives of js/module.js.
func moduleModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "imported", Length: 1, Fn: m.imported},
		{Name: "names", Fn: func(goja.FunctionCall) goja.Value {
			var names []string
			for _, n := range m.Registry.Names() {
				if !node.PrefixOnly[n] {
					names = append(names, n)
				}
			}
			return m.List(names)
		}},
	}
}
