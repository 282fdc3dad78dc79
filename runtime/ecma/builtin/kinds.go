package builtin

import (
	"math/big"
	"reflect"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/engine"
)

// KindOf is a value's type with an article, as V8 has it in a message.
func KindOf(e *engine.Engine, v goja.Value) string {
	switch kind := TypeOf(e, v); kind {
	case "undefined":
		return "undefined"
	case "object":
		return "an object"
	default:
		return "a " + kind
	}
}

// TypeOf is what the operator typeof says.
func TypeOf(e *engine.Engine, v goja.Value) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case *goja.Object:
		if engine.IsCallable(v) {
			return "function"
		}
		return "object"
	case goja.String:
		return "string"
	case *goja.Symbol:
		return "symbol"
	}
	switch {
	case goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "object"
	}
	switch v.Export().(type) {
	case bool:
		return "boolean"
	case *big.Int:
		return "bigint"
	}
	return "number"
}

// ProxyType is what the ExportType of a proxy is.
var ProxyType = reflect.TypeFor[goja.Proxy]()

// IsTyped reports whether o is a typed array.
func IsTyped(e *engine.Engine, o *goja.Object) bool {
	return insides.TheViews().IsArray(o)
}

// ArrayBufferType is what the ExportType of an ArrayBuffer is.
var ArrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()

// AsProxy is the proxy that v is; ok is false for anything else. Loop-confined.
func AsProxy(v goja.Value) (p goja.Proxy, ok bool) {
	if obj, isObject := v.(*goja.Object); isObject && obj != nil && obj.ExportType() == ProxyType {
		p, ok = obj.Export().(goja.Proxy)
	}
	return p, ok
}

// Inherits reports whether proto is what obj inherits from, at once and without
// asking code: a proxy, and nil, inherit from nothing. Loop-confined.
func Inherits(obj *goja.Object, proto goja.Value) bool {
	return obj != nil && obj.ExportType() != ProxyType && goja.Value(obj.Prototype()) == proto
}

// AsBuffer is the first of args, if it is an ArrayBuffer.
func AsBuffer(args []goja.Value) (buffer goja.ArrayBuffer, ok bool) {
	if len(args) == 0 {
		return buffer, false
	}
	if o, isObject := args[0].(*goja.Object); isObject && o.ExportType() == ArrayBufferType {
		return o.Export().(goja.ArrayBuffer), true
	}
	return buffer, false
}

// IsArray is IsArray (7.2.2).
func IsArray(e *engine.Engine, o *goja.Object) bool {
	if o.ExportType() != ProxyType {
		return o.ClassName() == "Array"
	}
	return e.Call(e.Primordial("ArrayIsArray"), goja.Undefined(), o).ToBoolean()
}

// IsNumber reports whether a value is a Number, and no object.
func IsNumber(v goja.Value) bool {
	t := v.ExportType()
	return t == intType || t == floatType
}

var intType, floatType = reflect.TypeFor[int64](), reflect.TypeFor[float64]()
