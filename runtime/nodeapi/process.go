package nodeapi

import (
	"math/big"
	"sort"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// The versions of Node.js that workerd claims to be (src/node/process.ts).
const (
	nodeVersion22 = "22.23.4"
	nodeVersion24 = "24.22.2"
)

// processModule are the natives of js/process.js.
func processModule(m *Modules) []engine.Func {
	return []engine.Func{
		{Name: "env", Fn: func(goja.FunctionCall) goja.Value { return m.environment() }},
		{Name: "nanoseconds", Fn: func(goja.FunctionCall) goja.Value {
			return m.vm.ToValue(big.NewInt(m.engine.Now().UnixNano()))
		}},
		{Name: "builtin", Length: 1, Fn: m.builtin},
		{Name: "logLine", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			m.logLine(int(c.Argument(0).ToInteger()), c.Argument(1).String())
			return goja.Undefined()
		}},
		{Name: "write", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			b, _ := m.bytes(c.Argument(1))
			m.writeOut(int(c.Argument(0).ToInteger()), decodeUTF8(b))
			return goja.Undefined()
		}},
	}
}

// environment is the first content of process.env, by name.
func (m *Modules) environment() goja.Value {
	o := m.vm.NewObject()
	if m.opts.Env == nil || !m.opts.Compat("nodejs_compat_populate_process_env") {
		return o
	}
	env := m.opts.Env()
	names := make([]string, 0, len(env))
	for name := range env {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		m.define(o, name, m.vm.ToValue(env[name]))
	}
	return o
}

// builtin is a module by name, undefined if there is none.
func (m *Modules) builtin(c goja.FunctionCall) goja.Value {
	name, ok := m.resolve(c.Argument(0).String())
	if !ok {
		return goja.Undefined()
	}
	return m.load(name)
}

// writeOut logs whole lines of what is written to standard output or error,
// and keeps the last, unfinished one.
func (m *Modules) writeOut(fd int, text string) {
	b := &m.output[fd]
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found {
			b.WriteString(text)
			break
		}
		b.WriteString(line)
		m.logLine(fd, b.String())
		b.Reset()
		text = rest
	}
	if b.Len() > maxOutputLine {
		m.logLine(fd, b.String())
		b.Reset()
	}
}

// maxOutputLine bounds, in bytes, what is kept of a line that does not end.
const maxOutputLine = 64 << 10

// moduleModule are the natives of js/module.js.
func moduleModule(m *Modules) []engine.Func {
	return []engine.Func{
		{Name: "builtin", Length: 1, Fn: m.builtin},
		{Name: "names", Fn: func(goja.FunctionCall) goja.Value {
			var names []string
			for _, n := range Names() {
				if !prefixOnly[n] {
					names = append(names, n)
				}
			}
			return m.list(names)
		}},
	}
}
