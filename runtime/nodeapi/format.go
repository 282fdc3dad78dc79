package nodeapi

import (
	"strings"

	"github.com/dop251/goja"
)

// format is util.formatWithOptions: (options, args)
// (nodejs.org/api/util.html#utilformatformat-args).
func (m *Modules) format(c goja.FunctionCall) goja.Value {
	list := c.Argument(1).(*goja.Object)
	n := int(list.Get("length").ToInteger())
	args := make([]goja.Value, n)
	for i := range args {
		args[i] = orUndefined(list.Get(itoa(i)))
	}
	return m.vm.ToValue(m.formatArgs(readInspectOptions(c.Argument(0)), args))
}

func (m *Modules) formatArgs(o inspectOptions, args []goja.Value) string {
	var parts []string
	if len(args) > 0 && isString(args[0]) {
		text := args[0].String()
		rest := args[1:]
		if len(rest) > 0 && strings.Contains(text, "%") {
			text, rest = m.directives(o, text, rest)
		}
		parts, args = append(parts, text), rest
	}
	for _, a := range args {
		if isString(a) {
			parts = append(parts, a.String())
		} else {
			parts = append(parts, m.newInspection(o).value(a, 0))
		}
	}
	return strings.Join(parts, " ")
}

// directives replaces %s and its relatives, and returns the arguments left.
func (m *Modules) directives(o inspectOptions, text string, args []goja.Value) (string, []goja.Value) {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '%')
		if i < 0 || i+1 == len(text) {
			b.WriteString(text)
			return b.String(), args
		}
		b.WriteString(text[:i])
		kind := text[i+1]
		text = text[i+2:]
		switch {
		case kind == '%':
			b.WriteByte('%')
		case len(args) == 0 || strings.IndexByte("sjdOoifc", kind) < 0:
			b.WriteByte('%')
			b.WriteByte(kind)
		default:
			b.WriteString(m.directive(o, kind, args[0]))
			args = args[1:]
		}
	}
}

func (m *Modules) directive(o inspectOptions, kind byte, v goja.Value) string {
	in := m.newInspection(o)
	in.o.colors = false
	switch kind {
	case 's':
		return m.formatString(in, v)
	case 'j':
		return m.formatJSON(v)
	case 'd':
		switch typeOf(v) {
		case "bigint":
			return v.String() + "n"
		case "symbol":
			return "NaN"
		}
		return in.number(v.ToNumber())
	case 'i', 'f':
		return m.formatNumber(in, v, kind == 'i')
	case 'O':
		return m.newInspection(o).value(v, 0)
	case 'o':
		o.showHidden, o.showProxy, o.depth = true, true, 4
		return m.newInspection(o).value(v, 0)
	}
	return "" // %c takes its argument and shows nothing
}

func (m *Modules) formatNumber(in *inspection, v goja.Value, whole bool) string {
	switch typeOf(v) {
	case "bigint":
		if whole {
			return v.String() + "n"
		}
	case "symbol":
		return "NaN"
	}
	name := "parseFloat"
	if whole {
		name = "parseInt"
	}
	parse := m.engine.Primordial("Number").Get(name)
	return in.number(m.engine.Call(parse, goja.Undefined(), v))
}

func (m *Modules) formatString(in *inspection, v goja.Value) string {
	switch typeOf(v) {
	case "number":
		return in.number(v)
	case "bigint":
		return v.String() + "n"
	case "symbol":
		return symbolText(v.(*goja.Symbol))
	case "object":
		if obj, ok := v.(*goja.Object); ok && m.builtInToString(obj) {
			in.o.depth = 0
			return in.value(v, 0)
		}
	}
	return m.engine.Text(v)
}

// builtInToString reports whether an object's toString is the language's own.
func (m *Modules) builtInToString(obj *goja.Object) bool {
	fn, ok := obj.Get("toString").(*goja.Object)
	if !ok {
		return true
	}
	source := m.engine.Call(m.engine.Primordial("FunctionPrototypeToString"), goja.Undefined(), fn).String()
	return strings.Contains(source, "[native code]")
}

func (m *Modules) formatJSON(v goja.Value) string {
	var text goja.Value
	thrown := m.engine.Try(func() {
		text = m.engine.Call(m.engine.Primordial("JSONStringify"), goja.Undefined(), v)
	})
	if thrown == nil {
		return m.engine.Text(text)
	}
	if strings.Contains(m.engine.Text(thrown), "circular") {
		return "[Circular]"
	}
	panic(thrown)
}

// symbolFor is Symbol.for(name).
func (m *Modules) symbolFor(name string) *goja.Symbol {
	if s, ok := m.symbols[name]; ok {
		return s
	}
	s := m.engine.Call(m.prims.symbolFor, goja.Undefined(), m.vm.ToValue(name)).(*goja.Symbol)
	m.symbols[name] = s
	return s
}
