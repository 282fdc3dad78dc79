package webapi

import (
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// The defaults of Node's util.inspect, whose form the console of Workers has.
const (
	inspectDepth   = 2
	inspectItems   = 100
	inspectText    = 10000 // characters shown of a string within an object
	inspectWidth   = 80    // columns, with a reserve for what surrounds the text
	inspectCompact = 3     // innermost levels that may share a line
	inspectBytes   = 50    // bytes shown of an ArrayBuffer
	inspectTraps   = 100   // proxies of proxies that are looked through
)

// inspector renders one value. Loop-confined.
type inspector struct {
	p        *Platform
	symbol   *goja.Symbol // names custom inspect methods
	depth    int          // levels shown below the first; negative: all
	indent   int
	current  int            // the level of the object last begun
	seen     []*goja.Object // the objects that are being shown
	circular []*goja.Object // those that were found within themselves
}

// Inspect shows a value as the console does: in the form of Node's
// util.inspect, nested two levels deep, with source-mapped stacks of errors.
// It never throws and calls none of the user's code but custom inspect methods
// (Symbol.for("nodejs.util.inspect.custom")) and toStringTag getters, whose
// exceptions it swallows. Loop-confined.
func (p *Platform) Inspect(v goja.Value) string { return p.inspectDeep(v, inspectDepth) }

// inspectDeep is Inspect for another depth; a negative one is without limit.
func (p *Platform) inspectDeep(v goja.Value, depth int) (text string) {
	in := &inspector{p: p, depth: depth, symbol: p.inspectSymbol()}
	if thrown := p.Engine.Try(func() { text = in.value(v, 0, false) }); thrown != nil {
		return "[a value that cannot be shown]"
	}
	return text
}

// value shows v at a level of nesting. asked tells that v has
// no say in it: its custom inspect method has returned it.
func (in *inspector) value(v goja.Value, level int, asked bool) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		return in.primitive(v)
	}
	for range inspectTraps {
		if obj.ExportType() != proxyType {
			break
		}
		proxy, _ := obj.Export().(goja.Proxy)
		if obj = proxy.Target(); obj == nil {
			return "<Revoked Proxy>"
		}
	}
	if obj.ExportType() == proxyType {
		return "[Proxy]"
	}
	if !asked {
		if text, ok := in.custom(obj, level); ok {
			return text
		}
	}
	for _, s := range in.seen {
		if s == obj {
			return "[Circular *" + strconv.Itoa(in.reference(obj)) + "]"
		}
	}
	text := "[Object]"
	indent, seen := in.indent, len(in.seen)
	if in.p.Engine.Try(func() { text = in.object(obj, level) }) != nil {
		in.indent, in.seen = indent, in.seen[:seen]
	}
	return text
}

// reference is the number of an object that contains itself.
func (in *inspector) reference(obj *goja.Object) int {
	for i, s := range in.circular {
		if s == obj {
			return i + 1
		}
	}
	in.circular = append(in.circular, obj)
	return len(in.circular)
}

// custom asks the object itself, as Node does.
func (in *inspector) custom(obj *goja.Object, level int) (text string, ok bool) {
	if in.symbol == nil {
		return "", false
	}
	indent, seen := in.indent, len(in.seen)
	thrown := in.p.Engine.Try(func() {
		method := obj.GetSymbol(in.symbol)
		if method == nil || !engine.IsCallable(method) {
			return
		}
		options := in.p.record("depth", in.depth-level, "compact", inspectCompact, "breakLength", inspectWidth, "stylize",
			in.p.Engine.Func("stylize", 2, func(call goja.FunctionCall) goja.Value { return call.Argument(0).ToString() }))
		inspect := in.p.Engine.Func("inspect", 2, func(call goja.FunctionCall) goja.Value {
			return in.p.vm.ToValue(in.p.inspectDeep(call.Argument(0), depthOption(call.Argument(1))))
		})
		v := in.p.Engine.Call(method, obj, in.p.vm.ToValue(in.depth-level), options, inspect)
		if same, isObject := v.(*goja.Object); isObject {
			ok = same != obj
			if ok {
				text = in.value(v, level, false)
			}
			return
		}
		text, ok = in.p.Engine.Text(v), true
		text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", in.indent))
	})
	if thrown != nil {
		in.indent, in.seen = indent, in.seen[:seen]
		return "", false
	}
	return text, ok
}

// depthOption reads {depth} of an options object.
func depthOption(options goja.Value) int {
	v := get(options, "depth")
	switch {
	case isUndefined(v):
		return inspectDepth
	case goja.IsNull(v) || v.ToFloat() > math.MaxInt16:
		return -1
	}
	return max(0, int(v.ToInteger()))
}

// inspectSymbol is Symbol.for("nodejs.util.inspect.custom"), nil if user code
// has broken Symbol.
func (p *Platform) inspectSymbol() (symbol *goja.Symbol) {
	p.Engine.Try(func() {
		symbol, _ = p.invoke(p.Engine.Primordial("Symbol"), "for", p.vm.ToValue("nodejs.util.inspect.custom")).(*goja.Symbol)
	})
	return symbol
}

// primitive shows what is no object.
func (in *inspector) primitive(v goja.Value) string {
	if v == nil {
		return "undefined"
	}
	if symbol, ok := v.(*goja.Symbol); ok {
		return showSymbol(symbol)
	}
	switch v.ExportType() {
	case stringType:
		return in.text(v.String())
	case bigintType:
		return v.String() + "n"
	}
	return showNumber(v)
}

var (
	stringType = reflect.TypeFor[string]()
	bigintType = reflect.TypeFor[*big.Int]()
)

// showNumber shows a number, a boolean, undefined or null; unlike String, it
// tells -0 from 0.
func showNumber(v goja.Value) string {
	if f, ok := v.Export().(float64); ok && f == 0 && math.Signbit(f) {
		return "-0"
	}
	return v.String()
}

func showSymbol(s *goja.Symbol) string { return "Symbol(" + s.String() + ")" }

// text shows a string: quoted, long ones cut, and at several lines as a sum.
func (in *inspector) text(s string) string {
	rest := ""
	if n := utf8.RuneCountInString(s); n > inspectText {
		s = string([]rune(s)[:inspectText])
		more := n - inspectText
		rest = "... " + strconv.Itoa(more) + " more character" + plural(more)
	}
	const short, frame = 16, 4 // characters: never split; around the text
	if n := utf8.RuneCountInString(s); n > short && n > inspectWidth-in.indent-frame && strings.Contains(strings.TrimSuffix(s, "\n"), "\n") {
		lines := strings.SplitAfter(s, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for i, line := range lines {
			lines[i] = quote(line)
		}
		return strings.Join(lines, " +\n"+strings.Repeat(" ", in.indent+2)) + rest
	}
	return quote(s) + rest
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// quote is a string literal: in the first kind of quotes that s does not have.
func quote(s string) string {
	mark := byte('\'')
	if strings.Contains(s, "'") {
		switch {
		case !strings.Contains(s, `"`):
			mark = '"'
		case !strings.Contains(s, "`") && !strings.Contains(s, "${"):
			mark = '`'
		}
	}
	var b strings.Builder
	b.WriteByte(mark)
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r == '\\' || r == rune(mark):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			const hex = "0123456789ABCDEF"
			b.WriteString(`\x`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(mark)
	return b.String()
}

var identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z_0-9]*$`)

// propertyName is a key as it stands in an object literal.
func propertyName(key string) string {
	switch {
	case key == "__proto__":
		return "['__proto__']"
	case identifier.MatchString(key):
		return key
	}
	return quote(key)
}
