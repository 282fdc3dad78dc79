package inspect

import (
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// formatter joins values to a line of text. Loop-confined.
type formatter struct {
	p       *Console
	inspect goja.Value
	lenient bool // exceptions of the user's code are swallowed
}

// FormatWith is Node's util.formatWithOptions(options, ...args); inspect and
// exceptions are as for InspectWith. Loop-confined.
func (p *Console) FormatWith(options, inspect goja.Value, args []goja.Value) string {
	o := defaultInspect()
	o.read(options)
	return formatter{p: p, inspect: inspect}.format(o, args)
}

// format lets the first argument hold directives (Console, section 2.2); the
// rest follows with spaces between.
func (f formatter) format(o inspectOptions, args []goja.Value) string {
	var parts []string
	if len(args) > 1 && isText(args[0]) {
		text, rest := f.directives(o, args[0].String(), args[1:])
		parts, args = append(parts, text), rest
	}
	for _, v := range args {
		if isText(v) {
			parts = append(parts, v.String())
			continue
		}
		parts = append(parts, f.show(v, o))
	}
	return strings.Join(parts, " ")
}

func (f formatter) show(v goja.Value, o inspectOptions) string {
	if f.lenient {
		return f.p.inspectQuietly(v, o)
	}
	return f.p.inspectStrictly(v, o, f.inspect)
}

// directives replaces %s and its relatives and returns the arguments left.
func (f formatter) directives(o inspectOptions, text string, args []goja.Value) (string, []goja.Value) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String(), args
		}
		kind := byte(0)
		if after != "" {
			kind = after[0]
		}
		switch {
		case kind == '%':
			b.WriteByte('%')
			after = after[1:]
		case kind != 0 && strings.IndexByte("sdifjoOc", kind) >= 0 && len(args) > 0:
			b.WriteString(f.directive(o, kind, args[0]))
			args, after = args[1:], after[1:]
		default:
			b.WriteByte('%')
		}
		text = after
	}
}

func (f formatter) directive(o inspectOptions, kind byte, v goja.Value) string {
	switch kind {
	case 's':
		return f.plain(o, v)
	case 'd', 'i', 'f':
		return f.number(o, v, kind)
	case 'j':
		return f.json(v)
	case 'o':
		o.showHidden, o.showProxy, o.depth = true, true, 4
		return f.show(v, o)
	case 'O':
		return f.show(v, o)
	}
	return "" // %c styles text, which a log has none of
}

// plain is %s: objects that have a toString of their own, or of a class that is none of
// ECMAScript's, are asked.
func (f formatter) plain(o inspectOptions, v goja.Value) string {
	o.colors, o.depth, o.compact = false, 0, 3
	obj, ok := v.(*goja.Object)
	if !ok {
		if isText(v) {
			return v.String()
		}
		return f.show(v, o)
	}
	if !engine.IsCallable(v) && f.showsItself(obj) {
		return f.show(v, o)
	}
	return f.p.Engine.Text(v)
}

// showsItself reports whether an object has ECMAScript's toString, or none.
func (f formatter) showsItself(obj *goja.Object) bool {
	in := &inspector{p: f.p, lenient: f.lenient}
	for range inspectTraps {
		proxy, isProxy := builtin.AsProxy(obj)
		if !isProxy {
			break
		}
		if obj = proxy.Target(); obj == nil {
			return true
		}
	}
	if obj.ExportType() == webidl.ProxyType {
		return true
	}
	shows := true
	in.attempt(func() {
		if !engine.IsCallable(obj.Get("toString")) {
			return
		}
		name := f.p.VM.ToValue("toString")
		if in.descriptor(obj, name) != nil {
			shows = false
			return
		}
		for p := obj.Prototype(); p != nil && p.ExportType() != webidl.ProxyType; p = p.Prototype() {
			if in.descriptor(p, name) != nil {
				shows = in.isLanguages(p)
				return
			}
		}
	})
	return shows
}

// number is %d, or %i and %f, which parse.
func (f formatter) number(o inspectOptions, v goja.Value, kind byte) string {
	if _, isSymbol := v.(*goja.Symbol); isSymbol {
		return "NaN"
	}
	o.colors = false
	in := &inspector{p: f.p, o: o, lenient: f.lenient}
	parse := func(name string) string {
		return in.number(f.p.Engine.Call(f.p.Engine.Primordial("Number").Get(name), goja.Undefined(), v))
	}
	text := "NaN"
	in.attempt(func() {
		switch {
		case kind == 'f':
			text = parse("parseFloat")
		case v.ExportType() == bigintType:
			text = in.number(v) + "n"
		case kind == 'i':
			text = parse("parseInt")
		default:
			text = in.number(v.ToNumber())
		}
	})
	return text
}

func (f formatter) json(v goja.Value) (text string) {
	e := f.p.Engine
	thrown := e.Try(func() { text = e.Text(e.Call(e.Primordial("JSONStringify"), goja.Undefined(), v)) })
	switch {
	case thrown == nil:
		return text
	case f.lenient || strings.Contains(e.Text(thrown), "circular"):
		return "[Circular]"
	}
	panic(thrown)
}
