package nodeapi

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi"
)

// newError makes an error of a built-in class with Node's `code`; an empty
// code sets none (nodejs.org/api/errors.html, "Node.js error codes").
func (m *Modules) newError(class, code, message string) *goja.Object {
	err := m.engine.NewError(class, message)
	if code != "" {
		m.define(err, "code", m.vm.ToValue(code))
	}
	return err
}

// textError is a failure in the words of Node or workerd, which do not follow
// Go's rules for error texts.
type textError string

// Error implements error.
func (e textError) Error() string { return string(e) }

// throw raises an error; it does not return.
func (m *Modules) throw(class, code, format string, args ...any) {
	panic(m.newError(class, code, fmt.Sprintf(format, args...)))
}

// throwArgType raises ERR_INVALID_ARG_TYPE; expected is what follows "must be".
func (m *Modules) throwArgType(name, expected string, v goja.Value) {
	panic(m.argType(name, expected, v))
}

func (m *Modules) argType(name, expected string, v goja.Value) *goja.Object {
	return m.newError("TypeError", "ERR_INVALID_ARG_TYPE",
		fmt.Sprintf("%s must be %s. Received %s", argument(name), expected, m.received(v)))
}

func (m *Modules) throwRange(name, must string, v goja.Value) {
	m.throw("RangeError", "ERR_OUT_OF_RANGE", "The value of \"%s\" is out of range. It must be %s. Received %s", name, must, m.receivedNumber(v))
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

// received describes a value that has the wrong type.
func (m *Modules) received(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	}
	if obj, ok := v.(*goja.Object); ok {
		return m.receivedObject(obj)
	}
	return fmt.Sprintf("type %s (%s)", typeOf(v), m.brief(v))
}

func (m *Modules) receivedObject(obj *goja.Object) (text string) {
	text = "an object"
	m.vm.Try(func() {
		if _, callable := goja.AssertFunction(obj); callable {
			text = "type function ([Function (anonymous)])"
			if name := obj.Get("name").String(); name != "" {
				text = "type function ([Function: " + name + "])"
			}
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

// brief shows a primitive as util.inspect does, shortened.
func (m *Modules) brief(v goja.Value) string {
	if typeOf(v) == "string" {
		s := v.String()
		if len(s) > 28 {
			s = strings.ToValidUTF8(s[:25], "") + "..."
		}
		return "'" + strings.ReplaceAll(s, "'", "\\'") + "'"
	}
	text := m.engine.Text(v)
	switch typeOf(v) {
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
			return webapi.GroupDigits(strconv.FormatInt(x, 10))
		}
	case float64:
		if x == math.Trunc(x) && math.Abs(x) > 1<<32 {
			return webapi.GroupDigits(m.engine.Text(v))
		}
	case *big.Int:
		if x.CmpAbs(big.NewInt(1<<32)) > 0 {
			return webapi.GroupDigits(x.String()) + "n"
		}
		return x.String() + "n"
	}
	if typeOf(v) == "string" {
		return m.brief(v)
	}
	return m.engine.Text(v)
}

// typeOf is the typeof operator.
func typeOf(v goja.Value) string {
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

// isNumber reports whether typeof v is "number".
func isNumber(v goja.Value) bool { return v != nil && goja.IsNumber(v) }

// bigOf is the value of a bigint. Objects are never exported: a view on a
// detached buffer would take goja down.
func bigOf(v goja.Value) (*big.Int, bool) {
	if _, isObject := v.(*goja.Object); isObject || v == nil {
		return nil, false
	}
	n, ok := v.Export().(*big.Int)
	return n, ok
}

func isString(v goja.Value) bool { return v != nil && goja.IsString(v) }

// absent is an argument that was left out.
func absent(v goja.Value) bool { return v == nil || goja.IsUndefined(v) }

// text checks a string argument.
func (m *Modules) text(v goja.Value, name string) string {
	if !isString(v) {
		m.throwArgType(name, "of type string", v)
	}
	return v.String()
}

// integer checks a number argument that must be an integer in [low, high].
func (m *Modules) integer(v goja.Value, name string, low, high float64) float64 {
	if !isNumber(v) {
		m.throwArgType(name, "of type number", v)
	}
	f := v.ToFloat()
	if f != math.Trunc(f) || math.IsInf(f, 0) || math.IsNaN(f) {
		m.throwRange(name, "an integer", v)
	}
	if f < low || f > high {
		m.throwRange(name, fmt.Sprintf(">= %s && <= %s", number(low), number(high)), v)
	}
	return f
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// function checks a function argument.
func (m *Modules) function(v goja.Value, name string) goja.Value {
	if !engine.IsCallable(v) {
		m.throwArgType(name, "of type function", v)
	}
	return v
}

// errorsObject is what preludes get as native.errors.
func (m *Modules) errorsObject() *goja.Object {
	if m.errors == nil {
		arg := func(c goja.FunctionCall, i int) string { return c.Argument(i).String() }
		m.errors = m.engine.Native(
			engine.Func{Name: "make", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				return m.newError(arg(c, 0), arg(c, 1), arg(c, 2))
			}},
			engine.Func{Name: "argType", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				return m.argType(arg(c, 0), arg(c, 1), c.Argument(2))
			}},
			engine.Func{Name: "argValue", Length: 3, Fn: m.argValue},
			engine.Func{Name: "range", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				return m.newError("RangeError", "ERR_OUT_OF_RANGE", fmt.Sprintf("The value of \"%s\" is out of range. It must be %s. Received %s", arg(c, 0), arg(c, 1), m.receivedNumber(c.Argument(2))))
			}},
			engine.Func{Name: "refused", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
				return m.refused(arg(c, 0))
			}},
			engine.Func{Name: "string", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				m.text(c.Argument(0), arg(c, 1))
				return goja.Undefined()
			}},
			engine.Func{Name: "object", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				if obj, ok := c.Argument(0).(*goja.Object); !ok || engine.IsCallable(obj) || obj.ClassName() == "Array" {
					m.throwArgType(arg(c, 1), "of type object", c.Argument(0))
				}
				return goja.Undefined()
			}},
			engine.Func{Name: "bool", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				if typeOf(c.Argument(0)) != "boolean" {
					m.throwArgType(arg(c, 1), "of type boolean", c.Argument(0))
				}
				return goja.Undefined()
			}},
			engine.Func{Name: "func", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				m.function(c.Argument(0), arg(c, 1))
				return goja.Undefined()
			}},
			engine.Func{Name: "integer", Length: 4, Fn: func(c goja.FunctionCall) goja.Value {
				low, high := -float64(1<<53-1), float64(1<<53-1)
				if v := c.Argument(2); !absent(v) {
					low = v.ToFloat()
				}
				if v := c.Argument(3); !absent(v) {
					high = v.ToFloat()
				}
				m.integer(c.Argument(0), arg(c, 1), low, high)
				return goja.Undefined()
			}},
			engine.Func{Name: "received", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
				return m.vm.ToValue(m.received(c.Argument(0)))
			}},
		)
	}
	return m.errors
}

// argValue is argValueError for preludes: (name, value, reason).
func (m *Modules) argValue(c goja.FunctionCall) goja.Value {
	reason := "is invalid"
	if r := c.Argument(2); !absent(r) {
		reason = r.String()
	}
	return m.argValueError(c.Argument(0).String(), c.Argument(1), reason)
}

// argValueError makes ERR_INVALID_ARG_VALUE.
func (m *Modules) argValueError(name string, v goja.Value, reason string) *goja.Object {
	shown := m.platform.InspectWith(v, goja.Undefined(), goja.Undefined())
	if r := []rune(shown); len(r) > 128 {
		shown = string(r[:128]) + "..."
	}
	kind := "argument"
	if strings.Contains(name, ".") {
		kind = "property"
	}
	return m.newError("TypeError", "ERR_INVALID_ARG_VALUE", fmt.Sprintf("The %s '%s' %s. Received %s", kind, name, reason, shown))
}
