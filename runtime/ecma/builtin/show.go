package builtin

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// shown is what Show compares with. Loop-confined.
var shown = engine.NewLocal(func(e *engine.Engine) *originals {
	return &originals{toString: Prototype(e, "Object").Get("toString")}
})

// originals are built-ins as they were before the program ran.
type originals struct{ toString goja.Value }

// KeepShown keeps the built-ins that Show compares with, before the program can
// replace them.
func KeepShown(e *engine.Engine) { shown.Of(e) }

// Bounds of what Show looks through: errors whose messages are errors, and proxies, both
// of which can hold themselves.
const (
	shownErrors  = 50
	shownProxies = 100
)

// Show is a value as V8's messages have it where they name one (its
// Object::NoSideEffectsToString): strings as they are, objects as "#<Class>" or, if
// they have another toString than Object's, by their tag, functions by their source,
// errors by name and message. No code of the program's runs for it. Loop-confined.
func Show(e *engine.Engine, v goja.Value) string { return show(e, v, 0) }

func show(e *engine.Engine, v goja.Value, errors int) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case *goja.Object:
		return showObject(e, v, errors)
	case *goja.Symbol:
		return "Symbol(" + v.String() + ")"
	default:
		return v.String()
	}
}

// CallSite is a value as V8's messages have it for what is called or iterated over
// where there is no source to show (its BuildDefaultCallSite): its type, and a string, a
// number, a boolean or null itself. No code of the program's runs for it. Loop-confined.
func CallSite(e *engine.Engine, v goja.Value) string {
	kind := TypeOf(e, v)
	switch {
	case kind == "string":
		return `string "` + v.String() + `"`
	case kind == "number", kind == "boolean":
		return kind + " " + v.String()
	case v != nil && goja.IsNull(v):
		return "object null"
	}
	return kind
}

func showObject(e *engine.Engine, o *goja.Object, errors int) string {
	isProxy := o.ExportType() == ProxyType
	if !isProxy && engine.IsCallable(o) {
		return SourceOf(e, o)
	}
	if o.ClassName() == "Error" && !isProxy && errors < shownErrors {
		return showError(e, o, errors+1)
	}
	if dataProperty(e, o, "toString") == goja.Value(shown.Of(e).toString) {
		if name := className(e, o); name != "" {
			return "#<" + name + ">"
		}
	}
	if tag, ok := dataSymbol(e, o, goja.SymToStringTag).(goja.String); ok {
		return "[object " + tag.String() + "]"
	}
	return "[object " + builtinTag(e, o) + "]"
}

// showError is what Error.prototype.toString makes of an error, without getters.
func showError(e *engine.Engine, o *goja.Object, errors int) string {
	part := func(name, missing string) string {
		if v := dataProperty(e, o, name); v != nil && !goja.IsUndefined(v) {
			return show(e, v, errors)
		}
		return missing
	}
	name, message := part("name", "Error"), part("message", "")
	if name == "" || message == "" {
		return name + message
	}
	return name + ": " + message
}

// builtinTag is the tag of an object that has none of its own.
func builtinTag(e *engine.Engine, o *goja.Object) string {
	switch {
	case o.ExportType() == ProxyType:
		if engine.IsCallable(o) {
			return "Function"
		}
		return "Object"
	case IsTyped(e, o):
		return e.Call(e.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), o).String()
	}
	return o.ClassName()
}

// ClassName is the name of what made an object, "Object" if only code of the
// program's could tell it.
func ClassName(e *engine.Engine, o *goja.Object) string {
	if name := className(e, o); name != "" {
		return name
	}
	return "Object"
}

func className(e *engine.Engine, o *goja.Object) string {
	if made, ok := dataProperty(e, o, "constructor").(*goja.Object); ok && engine.IsCallable(made) {
		if name, ok := dataProperty(e, made, "name").(goja.String); ok {
			return name.String()
		}
	}
	return ""
}

// dataProperty is the value of the property that o has or inherits, nil if it is an
// accessor. Of a proxy it is its target's.
func dataProperty(e *engine.Engine, o *goja.Object, name string) goja.Value {
	return dataOf(e, o, e.VM().ToValue(name))
}

func dataSymbol(e *engine.Engine, o *goja.Object, symbol *goja.Symbol) goja.Value {
	return dataOf(e, o, symbol)
}

func dataOf(e *engine.Engine, o *goja.Object, key goja.Value) goja.Value {
	describe := e.Primordial("ObjectGetOwnPropertyDescriptor")
	for proxies := 0; o != nil && proxies < shownProxies; {
		if p, ok := AsProxy(o); ok {
			o = p.Target()
			proxies++
			continue
		}
		if d, ok := e.Call(describe, goja.Undefined(), o, key).(*goja.Object); ok {
			return d.Get("value")
		}
		o = o.Prototype()
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
