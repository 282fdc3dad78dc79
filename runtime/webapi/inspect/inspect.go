package inspect

import (
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/ecma"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

const (
	inspectTraps  = 100 // proxies of proxies that are looked through
	inspectLevels = 200 // levels shown at any depth: work grows with their square; Node stops where its stack ends
)

// inspector renders one value. Loop-confined.
type inspector struct {
	p        *Console
	o        inspectOptions
	inspect  goja.Value   // util.inspect, for custom inspect methods; nil: one is made
	lenient  bool         // exceptions of the user's code are swallowed
	symbol   *goja.Symbol // names custom inspect methods
	indent   int
	current  int            // the level of the object last begun
	seen     []*goja.Object // the objects that are being shown
	circular []*goja.Object // those that were found within themselves
}

// inspectDeep is inspectQuietly for another depth.
func (p *Console) inspectDeep(v goja.Value, depth float64) string {
	o := defaultInspect()
	o.depth = depth
	return p.inspectQuietly(v, o)
}

// inspectQuietly shows a value as the console does: in the form of Node's
// util.inspect, nested as deep as o says, with source-mapped stacks of errors.
// It never throws and calls none of the user's code but custom inspect methods
// (Symbol.for("nodejs.util.inspect.custom")) and toStringTag getters, whose
// exceptions it swallows. Loop-confined.
func (p *Console) inspectQuietly(v goja.Value, o inspectOptions) (text string) {
	in := &inspector{p: p, o: o, lenient: true, symbol: p.inspectSymbol()}
	if thrown := p.Engine.Try(func() { text = in.value(v, 0) }); thrown != nil {
		return "[a value that cannot be shown]"
	}
	return text
}

// InspectWith is Node's util.inspect(v, options); inspect is that function
// itself, which custom inspect methods are given. Exceptions of the user's code
// pass through. Loop-confined.
func (p *Console) InspectWith(v, options, inspect goja.Value) string {
	o := defaultInspect()
	o.read(options)
	return p.inspectStrictly(v, o, inspect)
}

func (p *Console) inspectStrictly(v goja.Value, o inspectOptions, inspect goja.Value) string {
	in := &inspector{p: p, o: o, inspect: inspect, symbol: p.inspectSymbol()}
	return in.value(v, 0)
}

// attempt runs what may call the user's code. false tells that it threw, and
// that nobody is told.
func (in *inspector) attempt(fn func()) bool {
	if !in.lenient {
		fn()
		return true
	}
	indent, seen := in.indent, len(in.seen)
	if in.p.Engine.Try(fn) == nil {
		return true
	}
	in.indent, in.seen = indent, in.seen[:seen]
	return false
}

// value shows v at a level of nesting.
func (in *inspector) value(v goja.Value, level int) string {
	self, ok := v.(*goja.Object)
	if !ok {
		return in.primitive(v)
	}
	if in.p.StandIn != nil && in.o.custom && self.ExportType() == webidl.ProxyType {
		if name := in.p.StandIn(self); name != "" {
			text := "[" + name + "]"
			in.attempt(func() { text = in.indented(in.resource(nil, self, name, level)) })
			return text
		}
	}
	obj, proxies := self, 0
	for range inspectTraps {
		proxy, isProxy := builtin.AsProxy(obj)
		if !isProxy {
			break
		}
		if in.o.showProxy {
			return in.showProxy(proxy, level)
		}
		if obj = proxy.Target(); obj == nil {
			return in.style("<Revoked Proxy>", "special")
		}
		proxies++
	}
	if obj.ExportType() == webidl.ProxyType {
		return "[Proxy]"
	}
	if in.o.custom {
		if text, ok := in.custom(obj, self, level); ok {
			return text
		}
	}
	for _, s := range in.seen {
		if s == obj {
			return in.style("[Circular *"+strconv.Itoa(in.reference(obj))+"]", "special")
		}
	}
	text := "[Object]"
	in.attempt(func() { text = in.object(obj, level) })
	for range proxies {
		text = in.style("Proxy(", "special") + text + in.style(")", "special")
	}
	return text
}

// showProxy shows what a proxy is made of.
func (in *inspector) showProxy(proxy goja.Proxy, level int) string {
	if float64(level) > in.o.depth {
		return in.style("Proxy [Array]", "special")
	}
	target, handler := proxy.Target(), ecma.ProxyHandler(in.p.Engine, proxy)
	if target == nil || handler == nil {
		return in.style("<Revoked Proxy>", "special")
	}
	parts := []string{in.nested(target, level), in.nested(handler, level)}
	return in.join(shape{open: "Proxy [", end: "]", list: true}, parts, nil, level+1)
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

// custom asks an object itself, as Node does; self is the proxy that it is
// behind, or the object.
func (in *inspector) custom(obj, self *goja.Object, level int) (text string, ok bool) {
	if in.symbol == nil {
		return "", false
	}
	done := in.attempt(func() {
		if inside, isResource := in.p.Engine.Resource(obj); isResource {
			if ctor, isObject := obj.Get("constructor").(*goja.Object); !isObject || ctor.Get("prototype") != goja.Value(obj) {
				text, ok = in.indented(in.resource(inside, self, "", level)), true
			}
			return
		}
		method := obj.GetSymbol(in.symbol)
		if !engine.IsCallable(method) || method == in.inspect {
			return
		}
		if ctor, isObject := obj.Get("constructor").(*goja.Object); isObject && ctor.Get("prototype") == goja.Value(obj) {
			return
		}
		left := goja.Null()
		if !math.IsInf(in.o.depth, 1) {
			left = in.p.VM.ToValue(in.o.depth - float64(level))
		}
		inspect := in.inspect
		if webidl.IsUndefined(inspect) {
			inspect = in.p.Engine.Func("inspect", 2, func(call goja.FunctionCall) goja.Value {
				return in.p.VM.ToValue(in.p.InspectWith(call.Argument(0), call.Argument(1), nil))
			})
		}
		v := in.p.Engine.Call(method, self, left, in.optionsObject(left), inspect)
		if same, isObject := v.(*goja.Object); isObject {
			if ok = same != self; ok {
				text = in.value(v, level)
			}
			return
		}
		text, ok = in.indented(in.p.Engine.Text(v)), true
	})
	return text, ok && done
}

// indented is text that knows nothing of the indentation, with it.
func (in *inspector) indented(text string) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", in.indent))
}

// inspectSymbol is Symbol.for("nodejs.util.inspect.custom"), nil if user code
// has broken Symbol.
func (p *Console) inspectSymbol() (symbol *goja.Symbol) {
	p.Engine.Try(func() {
		symbol, _ = p.Invoke(p.Engine.Primordial("Symbol"), "for", p.VM.ToValue("nodejs.util.inspect.custom")).(*goja.Symbol)
	})
	return symbol
}

// primitive shows what is no object.
func (in *inspector) primitive(v goja.Value) string {
	if symbol, ok := v.(*goja.Symbol); ok {
		return in.style(showSymbol(symbol), "symbol")
	}
	switch {
	case webidl.IsUndefined(v):
		return in.style("undefined", "undefined")
	case goja.IsNull(v):
		return in.style("null", "null")
	}
	switch v.ExportType() {
	case stringType:
		return in.text(v.String())
	case bigintType:
		return in.style(in.number(v)+"n", "bigint")
	case boolType:
		return in.style(v.String(), "boolean")
	}
	return in.style(in.number(v), "number")
}

var (
	stringType = reflect.TypeFor[string]()
	bigintType = reflect.TypeFor[*big.Int]()
)

// number shows a number; unlike String, it tells -0 from 0.
func (in *inspector) number(v goja.Value) string {
	if f, ok := v.Export().(float64); ok && f == 0 && math.Signbit(f) {
		return "-0"
	}
	text := v.String()
	if !in.o.separators {
		return text
	}
	whole, fraction, dot := strings.Cut(text, ".")
	if whole = GroupDigits(whole); !dot {
		return whole
	}
	for i := 3; i < len(fraction); i += 4 {
		fraction = fraction[:i] + "_" + fraction[i:]
	}
	return whole + "." + fraction
}

// GroupDigits separates thousands of an integer by "_", as Node does; what is
// no integer stays.
func GroupDigits(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if strings.Trim(digits, "0123456789") != "" {
		return sign + digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "_" + digits[i:]
	}
	return sign + digits
}

func showSymbol(s *goja.Symbol) string { return "Symbol(" + s.String() + ")" }

// text shows a string: quoted, long ones cut, and at several lines as a sum.
func (in *inspector) text(s string) string {
	rest := ""
	if n := utf8.RuneCountInString(s); n > in.o.maxString {
		s = string([]rune(s)[:in.o.maxString])
		more := n - in.o.maxString
		rest = "... " + strconv.Itoa(more) + " more character" + plural(more)
	}
	const short, frame = 16, 4 // characters: never split; around the text
	if n := utf8.RuneCountInString(s); in.o.compact != compactAlways && n > short && n > in.o.breakLength-in.indent-frame && strings.Contains(strings.TrimSuffix(s, "\n"), "\n") {
		lines := strings.SplitAfter(s, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for i, line := range lines {
			lines[i] = in.style(quote(line), "string")
		}
		return strings.Join(lines, " +\n"+strings.Repeat(" ", in.indent+2)) + rest
	}
	return in.style(quote(s), "string") + rest
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

var identifier = lazyregexp.New(`^[a-zA-Z_][a-zA-Z_0-9]*$`)

// key is a key as it stands in an object literal.
func (in *inspector) key(key goja.Value, enumerable bool) string {
	symbol, isSymbol := key.(*goja.Symbol)
	name := key.String()
	if isSymbol {
		name = in.style(showSymbol(symbol), "symbol")
	}
	switch {
	case isSymbol && enumerable:
		return name
	case name == "__proto__":
		return "['__proto__']"
	case !enumerable:
		return "[" + name + "]"
	case identifier.MatchString(name):
		return name
	}
	return in.style(quote(name), "string")
}
