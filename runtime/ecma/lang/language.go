// Package lang adds the parts of ECMAScript that goja lacks, and V8's additions:
// iterator helpers, groupBy, stacks of errors, weak references, code from strings,
// disposable stacks.
package lang

import (
	_ "embed"
	"math"
	"math/big"
	"strings"
	"unicode/utf16"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/ecma/errortext"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

//go:embed js/language.js
var languageSource string

var languagePrelude = engine.NewPrelude("language.js", languageSource)

// Language is the language of one isolate. Loop-confined.
type Language struct {
	*webidl.Realm

	callSite    goja.Value     // makes the CallSite of a frame, in js/language.js
	kept        []*goja.Object // what WeakRef.deref has shown, until the turn ends (ECMA-262, section 9.10: KeepDuringJob)
	disposables *goja.Object   // the classes of js/disposable.js, nil until one is needed
}

// New makes the part; Install defines its globals.
func New(r *webidl.Realm) *Language { return &Language{Realm: r} }

// Install adds what goja lacks of ECMAScript.
func (p *Language) Install() {
	p.Engine.Load(languagePrelude, p.Engine.Native(append(p.Engine.Hiding(), p.languageNatives()...)...))
	p.installCodeGeneration()
	p.installWeak()
	errortext.FormatStacks(p.Engine, func(obj *goja.Object, frames []goja.StackFrame) goja.Value {
		return p.formatStack(obj, userFrames(frames))
	})
}

func (p *Language) languageNatives() []engine.Func {
	fn := func(name string, call func(goja.FunctionCall) goja.Value) engine.Func {
		return engine.Func{Name: name, Fn: call}
	}
	return []engine.Func{
		fn("show", func(c goja.FunctionCall) goja.Value { return p.VM.ToValue(builtin.Show(p.Engine, c.Argument(0))) }),
		fn("called", func(c goja.FunctionCall) goja.Value { return p.VM.ToValue(builtin.CallSite(p.Engine, c.Argument(0))) }),
		fn("isWellFormed", func(c goja.FunctionCall) goja.Value {
			return p.VM.ToValue(isWellFormed(c.Argument(0).ToString().(goja.String)))
		}),
		fn("toWellFormed", func(c goja.FunctionCall) goja.Value {
			s := c.Argument(0).ToString().(goja.String)
			if isWellFormed(s) {
				return s
			}
			return p.VM.ToValue(s.String())
		}),
		fn("toLength", func(c goja.FunctionCall) goja.Value {
			return p.VM.ToValue(min(max(c.Argument(0).ToInteger(), 0), 1<<53-1))
		}),
		p.markLanguage(),
		fn("isError", func(c goja.FunctionCall) goja.Value { return p.VM.ToValue(isErrorObject(c.Argument(0))) }),
		fn("captureStack", p.captureStack),
		fn("keepCallSite", func(c goja.FunctionCall) goja.Value {
			p.callSite = c.Argument(0)
			return goja.Undefined()
		}),
		fn("escapeRegExp", func(c goja.FunctionCall) goja.Value {
			s, ok := c.Argument(0).(goja.String)
			if !ok {
				p.Engine.Throw("TypeError", "input argument must be a string")
			}
			return escapeRegExp(s)
		}),
		fn("f16round", func(c goja.FunctionCall) goja.Value { return p.VM.ToValue(f16round(c.Argument(0).ToFloat())) }),
		fn("sumPrecise", func(c goja.FunctionCall) goja.Value {
			var list []float64
			p.ForOf(c.Argument(0), func(v goja.Value) { list = append(list, v.ToFloat()) })
			return p.VM.ToValue(sumPrecise(list))
		}),
	}
}

// markLanguage is (proto): what inherits from proto has internal slots in V8.
func (p *Language) markLanguage() engine.Func {
	return engine.Func{Name: "markLanguage", Fn: func(c goja.FunctionCall) goja.Value {
		p.Engine.MarkLanguage(c.Argument(0).(*goja.Object))
		return goja.Undefined()
	}}
}

// isErrorObject is Error.isError: what the Error constructors made.
func isErrorObject(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	return ok && obj.ClassName() == "Error"
}

func (p *Language) errorHeader(v goja.Value) string {
	name, message := "Error", ""
	if x := webidl.Get(v, "name"); !webidl.IsUndefined(x) {
		name = x.String()
	}
	if x := webidl.Get(v, "message"); !webidl.IsUndefined(x) {
		message = x.String()
	}
	if name == "" {
		return message
	}
	return webidl.StackHeader(name, message)
}

// captureStack is (obj, above): obj gets the stack of the user's code that runs
// now, without what is up to and including the innermost call of above.
func (p *Language) captureStack(call goja.FunctionCall) goja.Value {
	obj := call.Argument(0).(*goja.Object)
	above, _ := call.Argument(1).(*goja.Object)
	frames := userFrames(errortext.NamedStack(p.Engine, above))
	p.describeStack(obj, frames)
	return goja.Undefined()
}

// userFrames are those from the innermost of the user's functions on.
func userFrames(all []goja.StackFrame) (frames []goja.StackFrame) {
	for _, f := range all {
		if !strings.HasPrefix(f.SrcName(), "minido:") && (f.SrcName() != "<native>" || strings.HasSuffix(f.FuncName(), engine.BuiltinFrame)) {
			frames = append(frames, f)
		}
	}
	return frames
}

// describeStack gives obj its `stack` (V8's Error.captureStackTrace).
func (p *Language) describeStack(obj *goja.Object, frames []goja.StackFrame) {
	obj.DefineDataProperty("stack", p.formatStack(obj, frames), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// formatStack is what obj has as `stack` in V8: what Error.prepareStackTrace makes, if
// there is one, and no more than Error.stackTraceLimit frames.
func (p *Language) formatStack(obj *goja.Object, frames []goja.StackFrame) goja.Value {
	class := p.Engine.Primordial("Error")
	limit := class.Get("stackTraceLimit")
	if limit == nil || !builtin.IsNumber(limit) {
		return goja.Undefined()
	}
	frames = frames[:min(max(limit.ToInteger(), 0), int64(len(frames)))]
	prepare := class.Get("prepareStackTrace")
	if !engine.IsCallable(prepare) {
		return p.Engine.String(p.Engine.Errors.MapStack(p.errorHeader(obj) + errortext.FormatFrames(frames)))
	}
	sites := make([]any, len(frames))
	for i, f := range frames {
		at, name := f.Position(), strings.TrimSuffix(f.FuncName(), engine.BuiltinFrame)
		if name == "<anonymous>" {
			name = ""
		}
		sites[i] = p.Engine.Call(p.callSite, goja.Undefined(),
			p.Record("name", name, "file", at.Filename, "line", at.Line, "column", at.Column, "native", at.Line == 0))
	}
	return p.Engine.Call(prepare, class, obj, p.VM.NewArray(sites...))
}

func isWellFormed(s goja.String) bool {
	for i, n := 0, s.Length(); i < n; i++ {
		c := rune(s.CharAt(i))
		if !utf16.IsSurrogate(c) {
			continue
		}
		if i+1 >= n || utf16.DecodeRune(c, rune(s.CharAt(i+1))) == '\uFFFD' {
			return false
		}
		i++
	}
	return true
}

// escapeRegExp is RegExp.escape (ECMA-262, section 22.2.5.1).
func escapeRegExp(s goja.String) goja.Value {
	const hex = "0123456789abcdef"
	var out []uint16
	add := func(text string) {
		for i := 0; i < len(text); i++ {
			out = append(out, uint16(text[i]))
		}
	}
	unit := func(c uint16) {
		add(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			out = append(out, uint16(hex[c>>shift&15]))
		}
	}
	for i, n := 0, s.Length(); i < n; i++ {
		c := s.CharAt(i)
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		at := -1
		if c < 0x80 {
			at = strings.IndexByte("\t\n\v\f\r", byte(c))
		}
		switch {
		case i == 0 && alnum, c < 0x80 && strings.IndexByte(",-=<>#&!%:;@~'`\" ", byte(c)) >= 0, c == 0xA0:
			add(`\x`)
			out = append(out, uint16(hex[c>>4&15]), uint16(hex[c&15]))
		case c < 0x80 && strings.IndexByte(`^$\.*+?()[]{}|/`, byte(c)) >= 0:
			out = append(out, '\\', c)
		case at >= 0:
			out = append(out, '\\', uint16("tnvfr"[at]))
		case c == 0xFEFF || c == 0x1680 || c >= 0x2000 && c <= 0x200A || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000:
			unit(c)
		case utf16.IsSurrogate(rune(c)):
			if i+1 < n && utf16.DecodeRune(rune(c), rune(s.CharAt(i+1))) != '\uFFFD' {
				out = append(out, c, s.CharAt(i+1))
				i++
			} else {
				unit(c)
			}
		default:
			out = append(out, c)
		}
	}
	return goja.StringFromUTF16(out)
}

// f16round rounds to the nearest IEEE 754 half, ties to even.
func f16round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	abs := math.Abs(x)
	_, exp := math.Frexp(abs)
	ulp := math.Ldexp(1, max(exp-11, -24))
	rounded := math.RoundToEven(abs/ulp) * ulp
	if rounded > 65504 {
		rounded = math.Inf(1)
	}
	return math.Copysign(rounded, x)
}

// sumPrecise is Math.sumPrecise: the sum rounded once.
func sumPrecise(list []float64) float64 {
	special, minusZero := 0.0, true
	sum := new(big.Float).SetPrec(2200) // wide enough for any doubles
	for _, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			special += x
			continue
		}
		minusZero = minusZero && x == 0 && math.Signbit(x)
		sum.Add(sum, new(big.Float).SetFloat64(x))
	}
	switch {
	case special != 0:
		return special
	case minusZero:
		return math.Copysign(0, -1)
	}
	result, _ := sum.Float64()
	return result
}
