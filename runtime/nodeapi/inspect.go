package nodeapi

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// inspectOptions are those of util.inspect
// (nodejs.org/api/util.html#utilinspectobject-options).
type inspectOptions struct {
	showHidden, colors, custom, showProxy, getters bool
	sorted                                         bool
	comparer                                       goja.Value // of sorted, if it is a function
	depth                                          float64
	maxArray, maxString                            int
	breakLength                                    int
	compact                                        int // 0 is false, -1 is true
	separators                                     bool
}

func defaultInspect() inspectOptions {
	return inspectOptions{custom: true, depth: 2, maxArray: 100, maxString: 10000, breakLength: 80, compact: 3}
}

// unbounded is how options spell Infinity and null where a length is meant.
const unbounded = math.MaxInt32

func readInspectOptions(v goja.Value) inspectOptions {
	o := defaultInspect()
	obj, ok := v.(*goja.Object)
	if !ok {
		return o
	}
	get := func(name string) (goja.Value, bool) {
		x := obj.Get(name)
		return x, !absent(x)
	}
	flag := func(name string, to *bool) {
		if x, ok := get(name); ok {
			*to = x.ToBoolean()
		}
	}
	length := func(name string, to *int) {
		x, ok := get(name)
		if !ok {
			return
		}
		*to = unbounded
		if f := x.ToFloat(); !goja.IsNull(x) && f < unbounded {
			*to = int(max(f, 0))
		}
	}
	flag("showHidden", &o.showHidden)
	flag("colors", &o.colors)
	flag("customInspect", &o.custom)
	flag("showProxy", &o.showProxy)
	flag("getters", &o.getters)
	flag("sorted", &o.sorted)
	flag("numericSeparator", &o.separators)
	length("maxArrayLength", &o.maxArray)
	length("maxStringLength", &o.maxString)
	length("breakLength", &o.breakLength)
	if x, ok := get("sorted"); ok && engine.IsCallable(x) {
		o.comparer = x
	}
	if x, ok := get("depth"); ok {
		if o.depth = x.ToFloat(); goja.IsNull(x) {
			o.depth = math.Inf(1)
		}
	}
	if x, ok := get("compact"); ok {
		o.compact = int(x.ToInteger())
		if typeOf(x) == "boolean" {
			if o.compact = 0; x.ToBoolean() {
				o.compact = -1
			}
		}
	}
	return o
}

// inspection is one call of util.inspect. Loop-confined.
type inspection struct {
	m        *Modules
	o        inspectOptions
	seen     []*goja.Object
	circular map[*goja.Object]int
	indent   int
	current  int // how deep the value formatted last lies
}

// inspect is util.inspect(value, options).
func (m *Modules) inspect(v, options goja.Value) goja.Value {
	return m.vm.ToValue(m.newInspection(readInspectOptions(options)).value(v, 0))
}

func (m *Modules) newInspection(o inspectOptions) *inspection {
	return &inspection{m: m, o: o, circular: map[*goja.Object]int{}}
}

// styles are the colours of util.inspect.styles.
var styles = map[string][2]string{
	"special": {"36", "39"}, "number": {"33", "39"}, "bigint": {"33", "39"}, "boolean": {"33", "39"}, "undefined": {"90", "39"},
	"null": {"1", "22"}, "string": {"32", "39"}, "symbol": {"32", "39"}, "date": {"35", "39"}, "regexp": {"31", "39"},
}

func (in *inspection) style(text, kind string) string {
	s, ok := styles[kind]
	if !in.o.colors || !ok {
		return text
	}
	return "\x1b[" + s[0] + "m" + text + "\x1b[" + s[1] + "m"
}

// width is the number of characters shown, without colours.
func (in *inspection) width(s string) int {
	if in.o.colors {
		s = ansi.ReplaceAllString(s, "")
	}
	return utf8.RuneCountInString(s)
}

// value formats any value that lies depth levels deep.
func (in *inspection) value(v goja.Value, depth int) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		return in.primitive(v)
	}
	shown := obj
	if proxy, isProxy := in.proxy(obj); isProxy {
		if in.o.showProxy {
			return in.showProxy(proxy, depth)
		}
		for isProxy {
			target := proxy.Target()
			if target == nil {
				return in.style("<Revoked Proxy>", "special")
			}
			shown = target
			proxy, isProxy = in.proxy(shown)
		}
	}
	if in.o.custom {
		if text, done := in.customized(obj, shown, depth); done {
			return text
		}
	}
	for _, s := range in.seen {
		if s == shown {
			n, known := in.circular[shown]
			if !known {
				n = len(in.circular) + 1
				in.circular[shown] = n
			}
			return in.style("[Circular *"+itoa(n)+"]", "special")
		}
	}
	return in.object(shown, depth)
}

func (in *inspection) proxy(obj *goja.Object) (goja.Proxy, bool) {
	if obj.ExportType() != proxyType {
		return goja.Proxy{}, false
	}
	p, ok := obj.Export().(goja.Proxy)
	return p, ok
}

func (in *inspection) showProxy(p goja.Proxy, depth int) string {
	if float64(depth) > in.o.depth {
		return in.style("Proxy [Array]", "special")
	}
	depth++
	in.indent += 2
	var parts []string
	for _, x := range []*goja.Object{p.Target(), in.m.engine.ProxyHandler(p)} {
		if x == nil {
			in.indent -= 2
			return in.style("<Revoked Proxy>", "special")
		}
		parts = append(parts, in.value(x, depth))
	}
	in.indent -= 2
	return in.reduce(parts, "", [2]string{"Proxy [", "]"}, true, depth, nil)
}

// customized calls a value's own inspector.
func (in *inspection) customized(obj, shown *goja.Object, depth int) (string, bool) {
	m := in.m
	fn := obj.GetSymbol(m.symbolFor("nodejs.util.inspect.custom"))
	if !engine.IsCallable(fn) || fn == m.inspectFunction() {
		return "", false
	}
	if ctor, ok := shown.Get("constructor").(*goja.Object); ok && ctor.Get("prototype") == goja.Value(shown) {
		return "", false
	}
	left := m.vm.ToValue(in.o.depth - float64(depth))
	if math.IsInf(in.o.depth, 1) {
		left = goja.Null()
	}
	result := m.engine.Call(fn, obj, left, in.optionsObject(left), m.inspectFunction())
	if result == goja.Value(obj) {
		return "", false
	}
	if _, isObject := result.(*goja.Object); isObject {
		return in.value(result, depth), true
	}
	return strings.ReplaceAll(in.m.engine.Text(result), "\n", "\n"+strings.Repeat(" ", in.indent)), true
}

// inspectFunction is util.inspect itself, which custom inspectors get.
func (m *Modules) inspectFunction() goja.Value {
	if util, ok := m.loaded["util"].(*goja.Object); ok {
		return util.Get("inspect")
	}
	return goja.Undefined()
}

func (in *inspection) optionsObject(depth goja.Value) goja.Value {
	m := in.m
	o := m.vm.NewObject()
	set := func(name string, v any) { m.define(o, name, m.vm.ToValue(v)) }
	length := func(name string, n int) {
		if n == unbounded {
			set(name, math.Inf(1))
			return
		}
		set(name, n)
	}
	set("showHidden", in.o.showHidden)
	set("depth", depth)
	set("colors", in.o.colors)
	set("customInspect", in.o.custom)
	set("showProxy", in.o.showProxy)
	length("maxArrayLength", in.o.maxArray)
	length("maxStringLength", in.o.maxString)
	length("breakLength", in.o.breakLength)
	switch in.o.compact {
	case -1:
		set("compact", true)
	case 0:
		set("compact", false)
	default:
		set("compact", in.o.compact)
	}
	set("sorted", in.o.sorted)
	set("getters", in.o.getters)
	set("numericSeparator", in.o.separators)
	m.define(o, "stylize", m.engine.Func("stylize", 2, func(c goja.FunctionCall) goja.Value {
		return m.vm.ToValue(in.style(c.Argument(0).String(), c.Argument(1).String()))
	}))
	return o
}

func (in *inspection) primitive(v goja.Value) string {
	switch kind := typeOf(v); kind {
	case "string":
		return in.quoted(v.String())
	case "number":
		return in.style(in.number(v), "number")
	case "bigint":
		text := v.String()
		if in.o.separators {
			text = grouped(text)
		}
		return in.style(text+"n", "bigint")
	case "symbol":
		return in.style(symbolText(v.(*goja.Symbol)), "symbol")
	case "object":
		return in.style("null", "null")
	default:
		return in.style(v.String(), kind)
	}
}

func symbolText(s *goja.Symbol) string { return "Symbol(" + s.String() + ")" }

func (in *inspection) number(v goja.Value) string {
	if f := v.ToFloat(); f == 0 && math.Signbit(f) {
		return "-0"
	}
	text := v.String()
	if !in.o.separators {
		return text
	}
	whole, fraction, dot := strings.Cut(text, ".")
	if whole = grouped(whole); !dot {
		return whole
	}
	for i := 3; i < len(fraction); i += 4 {
		fraction = fraction[:i] + "_" + fraction[i:]
	}
	return whole + "." + fraction
}

// quoted formats a string, cut to maxStringLength and, when it is long, one
// line at a time.
func (in *inspection) quoted(s string) string {
	trailer := ""
	if n := utf8.RuneCountInString(s); n > in.o.maxString {
		more := n - in.o.maxString
		s = string([]rune(s)[:in.o.maxString])
		trailer = "... " + itoa(more) + " more character" + plural(more)
	}
	n := utf8.RuneCountInString(s)
	if in.o.compact != -1 && n > 16 && n > in.o.breakLength-in.indent-4 && strings.Contains(strings.TrimSuffix(s, "\n"), "\n") {
		lines := strings.SplitAfter(s, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for i, l := range lines {
			lines[i] = in.style(quote(l), "string")
		}
		return strings.Join(lines, " +\n"+strings.Repeat(" ", in.indent+2)) + trailer
	}
	return in.style(quote(s), "string") + trailer
}

func plural(n int) string {
	if n > 1 {
		return "s"
	}
	return ""
}

// quote writes a string literal with the quotes that need no escaping.
func quote(s string) string {
	q := byte('\'')
	if strings.Contains(s, "'") {
		switch {
		case !strings.Contains(s, `"`):
			q = '"'
		case !strings.Contains(s, "`") && !strings.Contains(s, "${"):
			q = '`'
		}
	}
	var b strings.Builder
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == '\\' || r == rune(q) && q == '\'':
			b.WriteByte('\\')
			b.WriteRune(r)
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
		case r == '\v':
			b.WriteString(`\x0B`)
		case r < 0x20 || r >= 0x7f && r <= 0x9f:
			b.WriteString(`\x` + strings.ToUpper(strconv.FormatInt(int64(r)+0x100, 16)[1:]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(q)
	return b.String()
}

// reduce puts parts between braces: on one line if they fit, in columns if they
// are the items of a long array, else on lines of their own.
func (in *inspection) reduce(parts []string, base string, braces [2]string, list bool, depth int, items *goja.Object) string {
	head := ""
	if base != "" {
		head = base + " "
	}
	pad := "\n" + strings.Repeat(" ", in.indent)
	if in.o.compact == -1 {
		if in.fits(parts, 0, base) {
			if base != "" {
				base = " " + base
			}
			return braces[0] + base + " " + strings.Join(parts, ", ") + " " + braces[1]
		}
		line := " "
		if base != "" || len(braces[0]) != 1 {
			line = pad + "  "
			if base != "" {
				line = " " + base + line
			}
		}
		return braces[0] + line + strings.Join(parts, ","+pad+"  ") + " " + braces[1]
	}
	if in.o.compact >= 1 {
		n := len(parts)
		if list && n > 6 {
			parts = in.columns(parts, items)
		}
		if in.current-depth < in.o.compact && n == len(parts) {
			start := len(parts) + in.indent + len(braces[0]) + len(base) + 10
			if in.fits(parts, start, base) {
				if line := strings.Join(parts, ", "); !strings.Contains(line, "\n") {
					return head + braces[0] + " " + line + " " + braces[1]
				}
			}
		}
	}
	return head + braces[0] + pad + "  " + strings.Join(parts, ","+pad+"  ") + pad + braces[1]
}

func (in *inspection) fits(parts []string, start int, base string) bool {
	total := len(parts) + start
	if total+len(parts) > in.o.breakLength {
		return false
	}
	for _, p := range parts {
		if total += in.width(p); total > in.o.breakLength {
			return false
		}
	}
	return base == "" || !strings.Contains(base, "\n")
}

// columns arranges the items of an array in a table about as wide as high.
func (in *inspection) columns(parts []string, items *goja.Object) []string {
	n := len(parts)
	if in.o.maxArray < n {
		n-- // the last part says how many more there are
	}
	const gap = 2
	widths, total, longest := make([]int, n), 0, 0
	for i := range n {
		widths[i] = in.width(parts[i])
		total += widths[i] + gap
		longest = max(longest, widths[i])
	}
	cell := longest + gap
	if cell*3+in.indent >= in.o.breakLength || float64(total)/float64(cell) <= 5 && longest > 6 {
		return parts
	}
	bias := math.Sqrt(float64(cell) - float64(total)/float64(len(parts)))
	biased := math.Max(float64(cell)-3-bias, 1)
	count := int(math.Min(math.Min(math.Round(math.Sqrt(2.5*biased*float64(n))/biased),
		math.Floor(float64(in.o.breakLength-in.indent)/float64(cell))), math.Min(float64(in.o.compact*4), 15)))
	if count <= 1 {
		return parts
	}
	column := make([]int, count)
	for i := range n {
		column[i%count] = max(column[i%count], widths[i]+gap)
	}
	right := in.allNumbers(items, len(parts))
	var out []string
	for i := 0; i < n; i += count {
		var b strings.Builder
		end := min(i+count, n)
		for j := i; j < end; j++ {
			text, width := parts[j], widths[j]
			if j < end-1 {
				text, width = text+", ", width+gap
			}
			fill := strings.Repeat(" ", max(column[j-i]-width, 0))
			switch {
			case right && j < end-1:
				b.WriteString(fill + text)
			case right:
				b.WriteString(strings.Repeat(" ", max(column[j-i]-gap-width, 0)) + text)
			case j < end-1:
				b.WriteString(text + fill)
			default:
				b.WriteString(text)
			}
		}
		out = append(out, b.String())
	}
	if n < len(parts) {
		out = append(out, parts[n])
	}
	return out
}

// allNumbers reports whether the first n items are numbers, which are aligned
// to the right.
func (in *inspection) allNumbers(items *goja.Object, n int) bool {
	if items == nil {
		return false
	}
	for i := range n {
		if k := typeOf(items.Get(itoa(i))); k != "number" && k != "bigint" {
			return false
		}
	}
	return true
}
