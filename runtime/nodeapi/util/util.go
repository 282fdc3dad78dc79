package util

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

var (
	promiseType = reflect.TypeFor[*goja.Promise]()
	proxyType   = reflect.TypeFor[goja.Proxy]()
)

// typesModule are the natives of js/util_types.js.
func typesModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{{Name: "classOf", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
		return m.VM.ToValue(m.classOf(c.Argument(0)))
	}}}
}

// classOf is the engine's brand of an object: "Date", "Error", "Proxy", ...
// Maps, sets and generators have none of their own.
func (m *module) classOf(v goja.Value) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		return ""
	}
	switch obj.ExportType() {
	case promiseType:
		return "Promise"
	case proxyType:
		return "Proxy"
	case node.ArrayBufferType:
		return "ArrayBuffer"
	}
	return obj.ClassName()
}

// comparisonsModule are the natives of js/comparisons.js.
func comparisonsModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{{Name: "sameBytes", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
		a, _ := m.Bytes(c.Argument(0))
		b, _ := m.Bytes(c.Argument(1))
		return m.VM.ToValue(bytes.Equal(a, b))
	}}}
}

// utilModule are the natives of js/util.js.
func utilModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "inspect", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(m.Platform.Console.InspectWith(c.Argument(0), c.Argument(1), m.inspectFunction()))
		}},
		{Name: "format", Length: 2, Fn: m.format},
		{Name: "logLine", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			m.LogLine(int(c.Argument(0).ToInteger()), c.Argument(1).String())
			return goja.Undefined()
		}},
		{Name: "usv", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(c.Argument(0).String()) // Go strings have no lone surrogates
		}},
		{Name: "parseEnv", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			o := m.VM.NewObject()
			for _, kv := range parseEnv(c.Argument(0).String()) {
				m.Define(o, kv[0], m.VM.ToValue(kv[1]))
			}
			return o
		}},
	}
}

// inspectFunction is util.inspect itself, undefined until util has been loaded.
func (m *module) inspectFunction() goja.Value {
	if util, ok := m.Loaded("util").(*goja.Object); ok {
		return util.Get("inspect")
	}
	return goja.Undefined()
}

// format is util.formatWithOptions: (options, args)
// (nodejs.org/api/util.html#utilformatformat-args).
func (m *module) format(c goja.FunctionCall) goja.Value {
	options, list := c.Argument(0), c.Argument(1).(*goja.Object)
	args := make([]goja.Value, list.Get("length").ToInteger())
	length := int64(0)
	for i := range args {
		args[i] = node.OrUndefined(list.Get(strconv.Itoa(i)))
		if s, ok := args[i].(goja.String); ok {
			length += int64(s.Length())
		}
	}
	m.Engine.Memory.Allocate(length, "Invalid string length")
	return m.VM.ToValue(m.Platform.Console.FormatWith(options, m.inspectFunction(), args))
}

// parseEnv reads the text of a .env file as util.parseEnv does: later lines
// win, but the order is that of first mention.
func parseEnv(text string) (pairs [][2]string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	at := map[string]int{}
	for text != "" {
		var line string
		if line, text, _ = strings.Cut(text, "\n"); strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		key = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(key), "export "))
		value, text = envValue(strings.TrimLeft(value, " \t"), text)
		if key == "" {
			continue
		}
		if i, seen := at[key]; seen {
			pairs[i][1] = value
			continue
		}
		at[key] = len(pairs)
		pairs = append(pairs, [2]string{key, value})
	}
	return pairs
}

// envValue reads a value that begins on a line; one in quotes may go on over
// the lines that follow.
func envValue(value, rest string) (string, string) {
	if value == "" {
		return "", rest
	}
	quote := value[0]
	if quote == '"' || quote == '\'' || quote == '`' {
		whole := value[1:] + "\n" + rest
		if end := strings.IndexByte(whole, quote); end >= 0 {
			_, after, _ := strings.Cut(whole[end+1:], "\n")
			inner := whole[:end]
			if quote == '"' {
				inner = strings.ReplaceAll(inner, `\n`, "\n")
			}
			return inner, after
		}
	}
	value, _, _ = strings.Cut(value, "#")
	return strings.TrimSpace(value), rest
}
