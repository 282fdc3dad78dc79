package webapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// installConsole defines console (WHATWG Console), written through the
// engine's logger.
func (p *Platform) installConsole() { p.Engine.LazyGlobal("console", p.makeConsole) }

func (p *Platform) makeConsole() goja.Value {
	c := &console{p: p, counts: map[string]int{}, timers: map[string]float64{}}
	obj := p.vm.NewObject()
	for _, m := range []struct {
		name  string
		level engine.Level
	}{{"log", engine.Log}, {"info", engine.Info}, {"debug", engine.Debug}, {"warn", engine.Warn}, {"error", engine.Error},
		{"dir", engine.Log}, {"dirxml", engine.Log}, {"table", engine.Log}, {"trace", engine.Log}} {
		p.Engine.DefineFunc(obj, engine.Func{Name: m.name, Fn: func(call goja.FunctionCall) goja.Value {
			c.write(m.level, c.format(call.Arguments))
			return goja.Undefined()
		}})
	}
	define := func(name string, fn func(label string, args []goja.Value)) {
		p.Engine.DefineFunc(obj, engine.Func{Name: name, Fn: func(call goja.FunctionCall) goja.Value {
			label := "default"
			if v := call.Argument(0); !isUndefined(v) {
				label = p.Engine.Text(v)
			}
			fn(label, call.Arguments)
			return goja.Undefined()
		}})
	}
	group := func(_ string, args []goja.Value) {
		if len(args) > 0 {
			c.write(engine.Log, c.format(args))
		}
		c.depth++
	}
	define("group", group)
	define("groupCollapsed", group)
	define("groupEnd", func(string, []goja.Value) { c.depth = max(0, c.depth-1) })
	define("count", func(label string, _ []goja.Value) {
		c.counts[label]++
		c.write(engine.Log, fmt.Sprintf("%s: %d", label, c.counts[label]))
	})
	define("countReset", func(label string, _ []goja.Value) { delete(c.counts, label) })
	now := func() float64 { return float64(p.Engine.Clock().Now().UnixMicro()) / 1000 }
	define("time", func(label string, _ []goja.Value) { c.timers[label] = now() })
	show := func(label string, _ []goja.Value) {
		if began, ok := c.timers[label]; ok {
			c.write(engine.Log, fmt.Sprintf("%s: %.3fms", label, now()-began))
		}
	}
	define("timeLog", show)
	define("timeEnd", func(label string, args []goja.Value) { show(label, args); delete(c.timers, label) })
	p.Engine.DefineFunc(obj, engine.Func{Name: "assert", Fn: func(call goja.FunctionCall) goja.Value {
		if !call.Argument(0).ToBoolean() {
			text := "Assertion failed"
			if len(call.Arguments) > 1 {
				text += ": " + c.format(call.Arguments[1:])
			}
			c.write(engine.Error, text)
		}
		return goja.Undefined()
	}})
	return obj
}

// console is the state of one isolate's console. Loop-confined.
type console struct {
	p      *Platform
	depth  int
	counts map[string]int
	timers map[string]float64
}

func (c *console) write(level engine.Level, text string) {
	if c.depth > 0 {
		pad := strings.Repeat("  ", c.depth)
		text = pad + strings.ReplaceAll(text, "\n", "\n"+pad)
	}
	c.p.Engine.Log(level, text)
}

// format is the Console specification's Formatter.
func (c *console) format(args []goja.Value) string {
	var parts []string
	if len(args) > 0 {
		if _, isObject := args[0].(*goja.Object); !isObject && !isMissing(args[0]) && len(args) > 1 {
			if text := args[0].String(); strings.Contains(text, "%") {
				var used int
				text, used = c.specifiers(text, args[1:])
				parts, args = append(parts, text), args[1+used:]
			}
		}
	}
	for _, v := range args {
		if _, isObject := v.(*goja.Object); isObject || isMissing(v) {
			parts = append(parts, c.p.Inspect(v))
			continue
		}
		if s, ok := v.Export().(string); ok {
			parts = append(parts, s)
			continue
		}
		parts = append(parts, c.p.Inspect(v))
	}
	return strings.Join(parts, " ")
}

func (c *console) specifiers(text string, args []goja.Value) (string, int) {
	var b strings.Builder
	used := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		if text[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if used == len(args) || !strings.ContainsRune("sdifoOcj", rune(text[i])) {
			b.WriteByte('%')
			b.WriteByte(text[i])
			continue
		}
		v := args[used]
		used++
		switch text[i] {
		case 's':
			b.WriteString(c.p.Engine.Text(v))
		case 'd', 'i':
			b.WriteString(c.number(v, text[i] == 'i'))
		case 'f':
			b.WriteString(strconv.FormatFloat(v.ToFloat(), 'g', -1, 64))
		case 'c':
		default:
			b.WriteString(c.p.Inspect(v))
		}
	}
	return b.String(), used
}

func (c *console) number(v goja.Value, whole bool) string {
	text := "NaN"
	c.p.Engine.Try(func() {
		n := v.ToNumber()
		if whole {
			n = c.p.vm.ToValue(n.ToInteger())
		}
		text = n.String()
	})
	return text
}

// inspector renders one value.
type inspector struct {
	p    *Platform
	seen []*goja.Object
}

// Inspect shows a value as Node's console does, two levels deep. It never
// throws.
func (p *Platform) Inspect(v goja.Value) (text string) {
	in := &inspector{p: p}
	if thrown := p.Engine.Try(func() { text = in.show(v, 0) }); thrown != nil {
		return "[a value that cannot be shown]"
	}
	return text
}

const (
	inspectDepth = 3
	inspectItems = 100
	inspectWidth = 72
)

func (in *inspector) show(v goja.Value, depth int) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		if v == nil {
			return "undefined"
		}
		if s, isString := v.Export().(string); isString {
			return quote(s)
		}
		return v.String()
	}
	for _, s := range in.seen {
		if s == obj {
			return "[Circular]"
		}
	}
	if in.p.Engine.IsError(obj) {
		return in.p.Engine.Stack(obj)
	}
	in.seen = append(in.seen, obj)
	defer func() { in.seen = in.seen[:len(in.seen)-1] }()
	switch obj.ClassName() {
	case "Function":
		name := get(obj, "name").String()
		if name == "" {
			name = "(anonymous)"
		}
		return "[Function: " + name + "]"
	case "Date":
		return in.p.Engine.Call(in.p.Engine.Primordial("DatePrototypeToISOString"), goja.Undefined(), obj).String()
	case "RegExp":
		return obj.String()
	case "Promise":
		return "Promise {}"
	}
	if depth >= inspectDepth {
		return "[" + in.name(obj, "Object") + "]"
	}
	switch obj.ClassName() {
	case "Array":
		n := int(get(obj, "length").ToInteger())
		var items []string
		for i := 0; i < n && i < inspectItems; i++ {
			items = append(items, in.show(obj.Get(strconv.Itoa(i)), depth+1))
		}
		if n > inspectItems {
			items = append(items, fmt.Sprintf("... %d more items", n-inspectItems))
		}
		return in.wrap("", "[", items, "]", depth)
	case "Map", "Set":
		return in.collection(obj, depth)
	}
	if data, ok := in.p.bytesOf(obj); ok {
		return fmt.Sprintf("%s(%d) <% x>", in.name(obj, "ArrayBuffer"), len(data), data[:min(len(data), 32)])
	}
	var items []string
	for _, key := range obj.Keys() {
		items = append(items, propertyName(key)+": "+in.show(obj.Get(key), depth+1))
	}
	prefix := in.name(obj, "Object")
	if prefix == "Object" {
		prefix = ""
	} else {
		prefix += " "
	}
	return in.wrap(prefix, "{", items, "}", depth)
}

func (in *inspector) collection(obj *goja.Object, depth int) string {
	var items []string
	isMap := obj.ClassName() == "Map"
	in.p.vm.ForOf(obj, func(v goja.Value) bool {
		if isMap {
			pair := v.(*goja.Object)
			items = append(items, in.show(pair.Get("0"), depth+1)+" => "+in.show(pair.Get("1"), depth+1))
		} else {
			items = append(items, in.show(v, depth+1))
		}
		return len(items) < inspectItems
	})
	return in.wrap(fmt.Sprintf("%s(%d) ", obj.ClassName(), get(obj, "size").ToInteger()), "{", items, "}", depth)
}

func (in *inspector) name(obj *goja.Object, otherwise string) string {
	proto := obj.Prototype()
	if proto == nil {
		return "[Object: null prototype]"
	}
	if ctor, ok := proto.Get("constructor").(*goja.Object); ok {
		if name := get(ctor, "name"); !isMissing(name) && name.String() != "" {
			return name.String()
		}
	}
	return otherwise
}

// wrap puts items on one line if they fit, else on lines of their own.
func (in *inspector) wrap(prefix, open string, items []string, end string, depth int) string {
	if len(items) == 0 {
		return prefix + open + end
	}
	one := strings.Join(items, ", ")
	if len(one)+len(prefix) <= inspectWidth && !strings.Contains(one, "\n") {
		return prefix + open + " " + one + " " + end
	}
	pad := strings.Repeat("  ", depth+1)
	return prefix + open + "\n" + pad + strings.Join(items, ",\n"+pad) + "\n" + strings.Repeat("  ", depth) + end
}

func propertyName(key string) string {
	for i, r := range key {
		if r != '_' && r != '$' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return quote(key)
		}
	}
	if key == "" {
		return "''"
	}
	return key
}

func quote(s string) string {
	if !strings.Contains(s, "'") {
		return "'" + strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`, `\`, `\\`).Replace(s) + "'"
	}
	return strconv.Quote(s)
}
