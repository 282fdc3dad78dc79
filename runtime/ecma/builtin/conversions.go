package builtin

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// NumberAt converts the i-th argument, in place; NaN if there is none.
func NumberAt(e *engine.Engine, c *goja.FunctionCall, i int) float64 {
	if i >= len(c.Arguments) {
		return math.NaN()
	}
	if _, isObject := c.Arguments[i].(*goja.Object); isObject {
		args := append([]goja.Value(nil), c.Arguments...)
		args[i] = e.VM().ToValue(args[i].ToFloat())
		c.Arguments = args
	}
	return c.Arguments[i].ToFloat()
}

// ReceiverText converts the receiver, in place; what has no text is left to the method.
func ReceiverText(e *engine.Engine, c *goja.FunctionCall) goja.String {
	switch v := c.This.(type) {
	case goja.String:
		return v
	case *goja.Object:
		c.This = v.ToString()
		s, _ := c.This.(goja.String)
		return s
	}
	return nil
}

// ToPrimitive is ToPrimitive without a hint (ECMA-262, section 7.1.1).
func ToPrimitive(e *engine.Engine, obj *goja.Object) goja.Value {
	return ToPrimitiveFor(e, obj, "default")
}

// ToPrimitiveFor is ToPrimitive with the hint "default" or "number".
func ToPrimitiveFor(e *engine.Engine, obj *goja.Object, hint string) goja.Value {
	if method := obj.GetSymbol(goja.SymToPrimitive); method != nil && !goja.IsUndefined(method) && !goja.IsNull(method) {
		if !engine.IsCallable(method) {
			shown := Show(e, method)
			e.Throw("TypeError", "'%s' returned for property 'Symbol(Symbol.toPrimitive)' of object '%s' is not a function", shown, Show(e, obj))
		}
		v := e.Call(method, obj, e.String(hint))
		if _, isObject := v.(*goja.Object); isObject {
			e.Throw("TypeError", "Cannot convert object to primitive value")
		}
		return v
	}
	for _, name := range []string{"valueOf", "toString"} {
		if method := obj.Get(name); engine.IsCallable(method) {
			if v := e.Call(method, obj); !IsObjectValue(v) {
				return v
			}
		}
	}
	e.Throw("TypeError", "Cannot convert object to primitive value")
	return nil
}

// IsObjectValue reports whether v is an object.
func IsObjectValue(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

// ToNumber is ToNumber (7.1.4).
func ToNumber(e *engine.Engine, v goja.Value) goja.Value {
	if obj, isObject := v.(*goja.Object); isObject {
		v = ToPrimitiveFor(e, obj, "number")
	}
	switch TypeOf(e, v) {
	case "symbol":
		e.Throw("TypeError", "Cannot convert a Symbol value to a number")
	case "bigint":
		e.Throw("TypeError", "Cannot convert a BigInt value to a number")
	}
	return v.ToNumber()
}

// TextOf is ToString (7.1.17).
func TextOf(v goja.Value) goja.String {
	if text, ok := v.ToString().(goja.String); ok {
		return text
	}
	return goja.StringFromUTF16(utf16.Encode([]rune(v.String()))) // a number, which goja leaves as it is
}

// ListFrom is CreateListFromArrayLike (7.3.18).
func ListFrom(e *engine.Engine, o *goja.Object) *goja.Object {
	var n goja.Value = goja.Undefined()
	if v := o.Get("length"); v != nil {
		n = v
	}
	length := n.ToFloat()
	if length > MaxElements {
		e.Throw("RangeError", BadArrayLength)
	}
	if !(length >= 1) {
		return e.VM().NewArray()
	}
	values := make([]goja.Value, int(length))
	for i := range values {
		if values[i] = o.Get(strconv.Itoa(i)); values[i] == nil {
			values[i] = goja.Undefined()
		}
	}
	return e.Maker().ArrayOf(values)
}

// ToIndex is ToIndex (7.1.22).
func ToIndex(e *engine.Engine, v goja.Value, message string) int64 {
	n := v.ToNumber().ToInteger()
	if n < 0 || n > 1<<53-1 {
		e.Throw("RangeError", "%s", message)
	}
	return n
}

// ToString is ToString (7.1.17).
func ToString(e *engine.Engine, v goja.Value) goja.String {
	switch v := v.(type) {
	case goja.String:
		return v
	case *goja.Symbol:
		e.Throw("TypeError", "Cannot convert a Symbol value to a string")
	case *goja.Object:
		return e.Call(e.Primordial("String"), goja.Undefined(), v).(goja.String)
	}
	return e.VM().ToValue(v.String()).(goja.String)
}

// FirstText converts the first argument to a string, in place; nil without one.
func FirstText(e *engine.Engine, c *goja.FunctionCall) goja.Value {
	if len(c.Arguments) == 0 {
		return nil
	}
	if _, isText := c.Arguments[0].(goja.String); !isText {
		args := append([]goja.Value(nil), c.Arguments...)
		args[0] = args[0].ToString()
		c.Arguments = args
	}
	return c.Arguments[0]
}

// IsWhiteSpace reports WhiteSpace and LineTerminator (ECMA-262, sections 12.2 and 12.3).
func IsWhiteSpace(r rune) bool {
	return strings.ContainsRune("\t\n\v\f\r \u00A0\u1680\u2028\u2029\u202F\u205F\u3000\uFEFF", r) || r >= 0x2000 && r <= 0x200A
}

// Element is Get(o, i), nil if there is none.
func Element(e *engine.Engine, o *goja.Object, i int) goja.Value {
	if v := e.Maker().Plain.Element(o, i); v != nil {
		return v
	}
	return o.Get(strconv.Itoa(i))
}
