package engine

import "github.com/dop251/goja"

// Show is a value as V8's messages have it: strings in quotes, objects as
// "#<Class>", functions by their source. No code of the program's runs for it.
// Loop-confined.
func (e *Engine) Show(v goja.Value) string {
	return site{engine: e}.show(v, false)
}

// className is the name of what made an object, "Object" if only code of the
// program's could tell it.
func (e *Engine) className(o *goja.Object) string {
	if made, ok := e.dataProperty(o, "constructor").(*goja.Object); ok {
		if name, ok := e.dataProperty(made, "name").(goja.String); ok && name.Length() > 0 {
			return name.String()
		}
	}
	return "Object"
}

// dataProperty is the value of the property that o has or inherits, if it is no
// accessor and no proxy is in the way; nil otherwise.
func (e *Engine) dataProperty(o *goja.Object, name string) goja.Value {
	for ; o != nil && o.ExportType() != proxyType; o = o.Prototype() {
		if d, ok := e.Call(e.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), o, e.vm.ToValue(name)).(*goja.Object); ok {
			return d.Get("value")
		}
	}
	return nil
}

// source is what Function.prototype.toString says of a function.
func (e *Engine) source(fn *goja.Object) string {
	return e.Call(e.Primordial("FunctionPrototypeToString"), goja.Undefined(), fn).String()
}

// whyFixed is the text for a property that cannot be made.
func (e *Engine) whyFixed(object, key goja.Value) string {
	o := object.(*goja.Object)
	has := e.Call(e.Primordial("ObjectPrototypeHasOwnProperty"), goja.Undefined(), o, key).ToBoolean()
	switch {
	case has:
		return "Cannot redefine property: " + key.String()
	case o.ExportType() == proxyType:
		return "'defineProperty' on proxy: trap returned falsish for property '" + key.String() + "'"
	}
	return "Cannot add property " + key.String() + ", object is not extensible"
}
