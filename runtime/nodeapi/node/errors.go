package node

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// nodeCodes are the codes without ERR_ whose errors are of node's classes in workerd.
var nodeCodes = map[string]bool{"EPIPE": true, "ECONNRESET": true}

// NewError makes an error with Node's `code`; an empty code sets none
// (nodejs.org/api/errors.html, "Node.js error codes"). Errors of most codes are of the
// classes that workerd has for them (src/node/internal/internal_errors.ts), with code,
// name and, unless they are of class "Error", toString as enumerable properties.
func (m *Modules) NewError(class, code, message string) *goja.Object {
	switch {
	case code == "":
		return m.Engine.Errors.New(class, message)
	case !strings.HasPrefix(code, "ERR_") && !nodeCodes[code]:
		err := m.Engine.Errors.New(class, message)
		m.Define(err, "code", m.VM.ToValue(code))
		return err
	}
	name := class
	if class == "URIError" {
		class = "Error"
	}
	err := m.Engine.Errors.New(class, message)
	mark := m.Load("internal/errors").(*goja.Object).Get("mark")
	m.Engine.Call(mark, goja.Undefined(), err, m.VM.ToValue(name), m.VM.ToValue(code))
	return err
}

// TextError is a failure in the words of Node or workerd, which do not follow
// Go's rules for error texts.
type TextError string

// Error implements error.
func (e TextError) Error() string { return string(e) }

// Throw raises an error; it does not return.
func (m *Modules) Throw(class, code, format string, args ...any) {
	panic(m.NewError(class, code, fmt.Sprintf(format, args...)))
}

// ThrowArgType raises ERR_INVALID_ARG_TYPE; expected is what follows "must be".
func (m *Modules) ThrowArgType(name, expected string, v goja.Value) {
	panic(m.argType(name, expected, v))
}

func (m *Modules) argType(name, expected string, v goja.Value) *goja.Object {
	return m.NewError("TypeError", "ERR_INVALID_ARG_TYPE",
		fmt.Sprintf("%s must be %s. Received %s", argument(name), expected, m.received(v, 25)))
}

// ThrowRange throws ERR_OUT_OF_RANGE; must says what the value has to be.
func (m *Modules) ThrowRange(name, must string, v goja.Value) {
	m.Throw("RangeError", "ERR_OUT_OF_RANGE", "The value of \"%s\" is out of range. It must be %s. Received %s", name, must, m.receivedNumber(v))
}

func argument(name string) string {
	switch {
	case strings.HasSuffix(name, " argument"):
		return "The " + name
	case strings.Contains(name, "."):
		return "The \"" + name + "\" property"
	}
	return "The \"" + name + "\" argument"
}

// Received describes a value that has the wrong type, as what is said of a result does.
func (m *Modules) Received(v goja.Value) string { return m.received(v, 28) }

// received shortens what it shows to 25 UTF-16 units if there are more than limit.
func (m *Modules) received(v goja.Value, limit int) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	}
	if obj, ok := v.(*goja.Object); ok {
		if name, named := m.nameOf(obj); named {
			return name
		}
	}
	shown := utf16.Encode([]rune(m.inspect(v, goja.Undefined())))
	if len(shown) > limit {
		shown = append(shown[:25:25], '.', '.', '.')
	}
	return fmt.Sprintf("type %s (%s)", TypeOf(v), string(utf16.Decode(shown)))
}

// nameOf is what is said of an object, or of a function with a name.
func (m *Modules) nameOf(obj *goja.Object) (text string, named bool) {
	if engine.IsCallable(obj) {
		name := obj.Get("name")
		if name == nil || !name.ToBoolean() {
			return "", false
		}
		return "function " + name.String(), true
	}
	if constructor, ok := obj.Get("constructor").(*goja.Object); ok {
		if name := constructor.Get("name"); name != nil && name.ToBoolean() {
			return "an instance of " + name.String(), true
		}
	}
	shallow := m.VM.NewObject()
	m.Define(shallow, "depth", m.VM.ToValue(-1))
	return m.inspect(obj, shallow), true
}

// inspect is util.inspect(v, options).
func (m *Modules) inspect(v, options goja.Value) string {
	return m.Platform.Console.InspectWith(v, options, goja.Undefined())
}

// receivedNumber is what a value out of range is shown as: the digits of large integers
// are grouped, and what is no number is inspected.
func (m *Modules) receivedNumber(v goja.Value) string {
	if n, ok := BigOf(v); ok {
		text := n.String()
		if n.CmpAbs(big.NewInt(1<<32)) > 0 {
			text = grouped(text)
		}
		return text + "n"
	}
	if IsNumber(v) {
		if x := v.ToFloat(); x == math.Trunc(x) && !math.IsInf(x, 0) && math.Abs(x) > 1<<32 {
			return grouped(m.Engine.Text(v))
		}
	}
	return m.inspect(OrUndefined(v), goja.Undefined())
}

// grouped puts an underscore before every three characters from the end, as workerd does,
// also where they are no digits: 1e_+21.
func grouped(text string) string {
	first := 1
	if strings.HasPrefix(text, "-") {
		first = 2
	}
	for i := len(text) - 3; i >= first; i -= 3 {
		text = text[:i] + "_" + text[i:]
	}
	return text
}

// TypeOf is the operator typeof.
func TypeOf(v goja.Value) string {
	switch x := v.(type) {
	case nil:
		return "undefined"
	case *goja.Symbol:
		return "symbol"
	case *goja.Object:
		if _, ok := goja.AssertFunction(x); ok {
			return "function"
		}
		return "object"
	}
	switch v.Export().(type) {
	case nil:
		if goja.IsNull(v) {
			return "object"
		}
		return "undefined"
	case string:
		return "string"
	case bool:
		return "boolean"
	case *big.Int:
		return "bigint"
	}
	return "number"
}

// IsNumber reports whether typeof v is "number".
func IsNumber(v goja.Value) bool { return v != nil && goja.IsNumber(v) }

// BigOf is the value of a bigint. Objects are never exported: a view on a
// detached buffer would take goja down.
func BigOf(v goja.Value) (*big.Int, bool) {
	if _, isObject := v.(*goja.Object); isObject || v == nil {
		return nil, false
	}
	n, ok := v.Export().(*big.Int)
	return n, ok
}

// IsString reports whether a value is a primitive string.
func IsString(v goja.Value) bool { return v != nil && goja.IsString(v) }

// Absent is an argument that was left out.
func Absent(v goja.Value) bool { return v == nil || goja.IsUndefined(v) }

// Text checks a string argument.
func (m *Modules) Text(v goja.Value, name string) string {
	if !IsString(v) {
		m.ThrowArgType(name, "of type string", v)
	}
	return v.String()
}

// Integer checks a number argument that must be an integer in [low, high].
func (m *Modules) Integer(v goja.Value, name string, low, high float64) float64 {
	if !IsNumber(v) {
		m.ThrowArgType(name, "of type number", v)
	}
	f := v.ToFloat()
	if f != math.Trunc(f) || math.IsInf(f, 0) || math.IsNaN(f) {
		m.ThrowRange(name, "an integer", v)
	}
	if f < low || f > high {
		m.ThrowRange(name, fmt.Sprintf(">= %s && <= %s", Number(low), Number(high)), v)
	}
	return f
}

// Number is a number as JavaScript writes small ones.
func Number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Function checks a function argument.
func (m *Modules) Function(v goja.Value, name string) goja.Value {
	if !engine.IsCallable(v) {
		m.ThrowArgType(name, "of type function", v)
	}
	return v
}

// errorsObject is what preludes get as native.errors.
func (m *Modules) errorsObject() *goja.Object {
	if m.errors == nil {
		arg := func(c goja.FunctionCall, i int) string { return c.Argument(i).String() }
		m.errors = m.Engine.Native(
			engine.Func{Name: "make", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				return m.NewError(arg(c, 0), arg(c, 1), arg(c, 2))
			}},
			engine.Func{Name: "argType", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				return m.argType(arg(c, 0), arg(c, 1), c.Argument(2))
			}},
			engine.Func{Name: "argValue", Length: 3, Fn: m.argValue},
			engine.Func{Name: "range", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				return m.NewError("RangeError", "ERR_OUT_OF_RANGE", fmt.Sprintf("The value of \"%s\" is out of range. It must be %s. Received %s", arg(c, 0), arg(c, 1), m.receivedNumber(c.Argument(2))))
			}},
			engine.Func{Name: "refused", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
				return m.Refused(arg(c, 0))
			}},
			engine.Func{Name: "string", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				m.Text(c.Argument(0), arg(c, 1))
				return goja.Undefined()
			}},
			engine.Func{Name: "object", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				if obj, ok := c.Argument(0).(*goja.Object); !ok || engine.IsCallable(obj) || obj.ClassName() == "Array" {
					m.ThrowArgType(arg(c, 1), "of type object", c.Argument(0))
				}
				return goja.Undefined()
			}},
			engine.Func{Name: "bool", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				if TypeOf(c.Argument(0)) != "boolean" {
					m.ThrowArgType(arg(c, 1), "of type boolean", c.Argument(0))
				}
				return goja.Undefined()
			}},
			engine.Func{Name: "func", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				m.Function(c.Argument(0), arg(c, 1))
				return goja.Undefined()
			}},
			engine.Func{Name: "integer", Length: 4, Fn: func(c goja.FunctionCall) goja.Value {
				low, high := -float64(1<<53-1), float64(1<<53-1)
				if v := c.Argument(2); !Absent(v) {
					low = v.ToFloat()
				}
				if v := c.Argument(3); !Absent(v) {
					high = v.ToFloat()
				}
				m.Integer(c.Argument(0), arg(c, 1), low, high)
				return goja.Undefined()
			}},
			engine.Func{Name: "number", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				if v := c.Argument(0); !IsNumber(v) {
					m.ThrowArgType(arg(c, 1), "of type number", v)
				} else if low := c.Argument(2).ToFloat(); !(v.ToFloat() >= low) {
					m.ThrowRange(arg(c, 1), ">= "+Number(low), v)
				}
				return goja.Undefined()
			}},
			engine.Func{Name: "uint32", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				f := m.Integer(c.Argument(0), arg(c, 1), math.Inf(-1), math.Inf(1))
				if f < 0 || f > math.MaxUint32 {
					m.ThrowRange(arg(c, 1), ">= 0 && < 4294967296", c.Argument(0))
				}
				return goja.Undefined()
			}},
			engine.Func{Name: "received", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
				return m.VM.ToValue(m.Received(c.Argument(0)))
			}},
		)
	}
	return m.errors
}

// argValue is argValueError for preludes: (name, value, reason).
func (m *Modules) argValue(c goja.FunctionCall) goja.Value {
	reason := "is invalid"
	if r := c.Argument(2); !Absent(r) {
		reason = r.String()
	}
	return m.ArgValueError(c.Argument(0).String(), c.Argument(1), reason)
}

// ArgValueError makes ERR_INVALID_ARG_VALUE.
func (m *Modules) ArgValueError(name string, v goja.Value, reason string) *goja.Object {
	shown := m.inspect(OrUndefined(v), goja.Undefined())
	kind := "argument"
	if strings.Contains(name, ".") {
		kind = "property"
	}
	return m.NewError("TypeError", "ERR_INVALID_ARG_VALUE", fmt.Sprintf("The %s '%s' %s. Received %s", kind, name, reason, shown))
}

// Index checks an optional argument that must be an integer in [0, high].
func (m *Modules) Index(v goja.Value, name string, fallback, high int) int {
	if Absent(v) {
		return fallback
	}
	return int(m.Integer(v, name, 0, float64(high)))
}

// ToInt64 is ToInteger for numbers, 0 for what is none.
func ToInt64(v goja.Value) int64 {
	if Absent(v) || goja.IsNull(v) {
		return 0
	}
	return v.ToInteger()
}

// OrUndefined is a value, undefined for nil.
func OrUndefined(v goja.Value) goja.Value {
	if v == nil {
		return goja.Undefined()
	}
	return v
}

// List is an array of strings.
func (m *Modules) List(names []string) goja.Value {
	items := make([]any, len(names))
	for i, n := range names {
		items[i] = n
	}
	return m.VM.NewArray(items...)
}

// Random reads entropy; the global scope has none.
func (m *Modules) Random(b []byte) {
	m.Engine.IO("random values")
	_, _ = m.Engine.Entropy().Read(b) // entropy.Source never fails
}
