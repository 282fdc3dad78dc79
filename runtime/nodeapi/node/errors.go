package node

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/inspect"
)

// NewError makes an error of a built-in class with Node's `code`; an empty
// code sets none (nodejs.org/api/errors.html, "Node.js error codes").
func (m *Modules) NewError(class, code, message string) *goja.Object {
	err := m.Engine.Errors.New(class, message)
	if code != "" {
		m.Define(err, "code", m.VM.ToValue(code))
	}
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
		fmt.Sprintf("%s must be %s. Received %s", argument(name), expected, m.Received(v)))
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

// Received describes a value that has the wrong type.
func (m *Modules) Received(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	}
	if obj, ok := v.(*goja.Object); ok {
		return m.receivedObject(obj)
	}
	return fmt.Sprintf("type %s (%s)", TypeOf(v), m.Brief(v))
}

func (m *Modules) receivedObject(obj *goja.Object) (text string) {
	text = "an object"
	m.VM.Try(func() {
		if _, callable := goja.AssertFunction(obj); callable {
			if name := obj.Get("name").String(); name != "" {
				text = "function " + name
				return
			}
			shown := m.Platform.Console.InspectWith(obj, goja.Undefined(), goja.Undefined())
			if r := []rune(shown); len(r) > 28 {
				shown = string(r[:25]) + "..."
			}
			text = "type function (" + shown + ")"
			return
		}
		if obj.Prototype() == nil {
			text = m.Platform.Console.InspectWith(obj, goja.Undefined(), goja.Undefined())
			return
		}
		if ctor, ok := obj.Get("constructor").(*goja.Object); ok {
			if name := ctor.Get("name"); name != nil && name.String() != "" {
				text = "an instance of " + name.String()
			}
		}
	})
	return text
}

// Brief shows a primitive as util.inspect does, shortened.
func (m *Modules) Brief(v goja.Value) string {
	if TypeOf(v) == "string" {
		s := v.String()
		if len(s) > 28 {
			s = strings.ToValidUTF8(s[:25], "") + "..."
		}
		return "'" + strings.ReplaceAll(s, "'", "\\'") + "'"
	}
	text := m.Engine.Text(v)
	switch TypeOf(v) {
	case "bigint":
		text += "n"
	case "symbol":
		text = "Symbol(" + text + ")"
	}
	return text
}

// receivedNumber groups the digits of large numbers.
func (m *Modules) receivedNumber(v goja.Value) string {
	if obj, ok := v.(*goja.Object); ok {
		return m.receivedObject(obj)
	}
	switch x := v.Export().(type) {
	case int64:
		if x > 1<<32 || x < -(1<<32) {
			return inspect.GroupDigits(strconv.FormatInt(x, 10))
		}
	case float64:
		if x == math.Trunc(x) && math.Abs(x) > 1<<32 {
			return inspect.GroupDigits(m.Engine.Text(v))
		}
	case *big.Int:
		if x.CmpAbs(big.NewInt(1<<32)) > 0 {
			return inspect.GroupDigits(x.String()) + "n"
		}
		return x.String() + "n"
	}
	if TypeOf(v) == "string" {
		return m.Brief(v)
	}
	return m.Engine.Text(v)
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
	shown := m.Platform.Console.InspectWith(v, goja.Undefined(), goja.Undefined())
	if r := []rune(shown); len(r) > 128 {
		shown = string(r[:128]) + "..."
	}
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
