package inspect

import (
	"math"
	"reflect"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// inspectOptions are those of Node's util.inspect
// (nodejs.org/api/util.html#utilinspectobject-options).
type inspectOptions struct {
	showHidden, colors, custom, showProxy bool
	getters, pairs                        bool // getters are called: those without a setter, and those with one
	sorted                                bool
	comparer                              goja.Value // of sorted, if it is a function
	depth                                 float64    // levels shown below the first
	maxArray, maxString                   int
	breakLength                           int
	compact                               int // 0 is false, compactAlways true
	separators                            bool
}

const (
	compactAlways = -1
	// unbounded is how options spell Infinity and null where a length is meant.
	unbounded = math.MaxInt32
)

// defaultInspect are the options of the console, and of util.inspect.
func defaultInspect() inspectOptions {
	return inspectOptions{custom: true, depth: 2, maxArray: 100, maxString: 10000, breakLength: 80, compact: 3}
}

// read takes what options say; what they do not mention stays.
func (o *inspectOptions) read(options goja.Value) {
	flag := func(name string, to *bool) goja.Value {
		v := webidl.Get(options, name)
		if !webidl.IsUndefined(v) {
			*to = v.ToBoolean()
		}
		return v
	}
	length := func(name string, to *int) {
		v := webidl.Get(options, name)
		if webidl.IsUndefined(v) {
			return
		}
		*to = unbounded
		if f := v.ToFloat(); !goja.IsNull(v) && f < unbounded {
			*to = int(max(f, 0))
		}
	}
	flag("showHidden", &o.showHidden)
	flag("colors", &o.colors)
	flag("customInspect", &o.custom)
	flag("showProxy", &o.showProxy)
	if v := webidl.Get(options, "getters"); !webidl.IsUndefined(v) {
		both := v.ExportType() == boolType && v.ToBoolean()
		o.getters, o.pairs = both || isText(v) && v.String() == "get", both || isText(v) && v.String() == "set"
	}
	flag("numericSeparator", &o.separators)
	if v := flag("sorted", &o.sorted); engine.IsCallable(v) {
		o.comparer = v
	}
	length("maxArrayLength", &o.maxArray)
	length("maxStringLength", &o.maxString)
	length("breakLength", &o.breakLength)
	if v := webidl.Get(options, "depth"); !webidl.IsUndefined(v) {
		if o.depth = v.ToFloat(); goja.IsNull(v) {
			o.depth = math.Inf(1)
		}
	}
	if v := webidl.Get(options, "compact"); !webidl.IsUndefined(v) {
		o.compact = int(v.ToInteger())
		if v.ExportType() == boolType {
			if o.compact = 0; v.ToBoolean() {
				o.compact = compactAlways
			}
		}
	}
}

var boolType = reflect.TypeFor[bool]()

// styles are the colours of util.inspect.styles.
var styles = map[string][2]string{
	"special": {"36", "39"}, "number": {"33", "39"}, "bigint": {"33", "39"}, "boolean": {"33", "39"}, "undefined": {"90", "39"},
	"null": {"1", "22"}, "string": {"32", "39"}, "symbol": {"32", "39"}, "date": {"35", "39"}, "regexp": {"31", "39"},
}

var ansi = lazyregexp.New("\x1b\\[\\d+m")

func (in *inspector) style(text, kind string) string {
	s, ok := styles[kind]
	if !in.o.colors || !ok {
		return text
	}
	return "\x1b[" + s[0] + "m" + text + "\x1b[" + s[1] + "m"
}

// optionsObject are the options that a custom inspect method is given.
func (in *inspector) optionsObject(depth goja.Value) *goja.Object {
	length := func(n int) any {
		if n == unbounded {
			return math.Inf(1)
		}
		return n
	}
	var compact any = in.o.compact
	if in.o.compact <= 0 {
		compact = in.o.compact == compactAlways
	}
	var getters any = in.o.getters
	switch {
	case in.o.getters && !in.o.pairs:
		getters = "get"
	case in.o.pairs && !in.o.getters:
		getters = "set"
	}
	return in.p.Record("showHidden", in.o.showHidden, "depth", depth, "colors", in.o.colors, "customInspect", in.o.custom,
		"showProxy", in.o.showProxy, "maxArrayLength", length(in.o.maxArray), "maxStringLength", length(in.o.maxString),
		"breakLength", length(in.o.breakLength), "compact", compact, "sorted", in.o.sorted, "getters", getters,
		"numericSeparator", in.o.separators,
		"stylize", in.p.Engine.Func("stylize", 2, func(call goja.FunctionCall) goja.Value {
			return in.p.VM.ToValue(in.style(call.Argument(0).String(), call.Argument(1).String()))
		}))
}
