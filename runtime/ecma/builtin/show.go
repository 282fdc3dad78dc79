package builtin

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// Show is a value as V8's messages have it: strings in quotes, objects as
// "#<Class>", functions by their source. No code of the program's runs for it.
// Loop-confined.
func Show(e *engine.Engine, v goja.Value) string {
	return Describe(e, v, false)
}

// ClassName is the name of what made an object, "Object" if only code of the
// program's could tell it.
func ClassName(e *engine.Engine, o *goja.Object) string {
	if made, ok := dataProperty(e, o, "constructor").(*goja.Object); ok {
		if name, ok := dataProperty(e, made, "name").(goja.String); ok && name.Length() > 0 {
			return name.String()
		}
	}
	return "Object"
}

// dataProperty is the value of the property that o has or inherits, if it is no
// accessor and no proxy is in the way; nil otherwise.
func dataProperty(e *engine.Engine, o *goja.Object, name string) goja.Value {
	for ; o != nil && o.ExportType() != ProxyType; o = o.Prototype() {
		if d, ok := e.Call(e.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), o, e.VM().ToValue(name)).(*goja.Object); ok {
			return d.Get("value")
		}
	}
	return nil
}

// SourceOf is what Function.prototype.toString says of a function.
func SourceOf(e *engine.Engine, fn *goja.Object) string {
	return e.Call(e.Primordial("FunctionPrototypeToString"), goja.Undefined(), fn).String()
}

// WhyFixed is the text for a property that cannot be made.
func WhyFixed(e *engine.Engine, object, key goja.Value) string {
	o := object.(*goja.Object)
	has := e.Call(e.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), o, key).ToBoolean()
	switch {
	case has:
		return "Cannot redefine property: " + key.String()
	case o.ExportType() == ProxyType:
		return "'defineProperty' on proxy: trap returned falsish for property '" + key.String() + "'"
	}
	return "Cannot add property " + key.String() + ", object is not extensible"
}

// Describe is a value as V8 shows it in a message; kind puts the type before it,
// as V8 does where it has no source to show.
func Describe(e *engine.Engine, v goja.Value, kind bool) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		if kind {
			return "object null"
		}
		return "null"
	}
	text, class := "", ""
	switch v := v.(type) {
	case *goja.Object:
		return DescribeObject(e, v)
	case goja.String:
		text, class = `"`+v.String()+`"`, "string"
	case *goja.Symbol:
		text, class = "Symbol("+v.String()+")", "symbol"
	default:
		text, class = v.String(), "number"
		if text == "true" || text == "false" {
			class = "boolean"
		}
	}
	if kind {
		return class + " " + text
	}
	return text
}

// DescribeObject shows an object: "#<Name>" by its constructor, arrays by their tag,
// functions by their source.
func DescribeObject(e *engine.Engine, o *goja.Object) string {
	if o.ExportType() == ProxyType {
		if engine.IsCallable(o) {
			return SourceOf(e, o)
		}
		return "#<Object>"
	}
	if o.ClassName() == "Array" {
		return "[object Array]"
	}
	if engine.IsCallable(o) {
		return SourceOf(e, o)
	}
	return "#<" + ClassName(e, o) + ">"
}
