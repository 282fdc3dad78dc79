package clone

import (
	"strings"

	"github.com/dop251/goja"
)

// refuse makes V8's error for a value that cannot be cloned.
func (c *Codec) refuse(v goja.Value) error {
	return &DataCloneError{Message: c.describe(v) + " could not be cloned."}
}

// Describe is describe for messages about values that never get as far as a
// clone. Call it on the loop.
func (c *Codec) Describe(v goja.Value) string { return c.describe(v) }

// describe renders a value as V8 does in messages, without side effects
// (Object::NoSideEffectsToString).
func (c *Codec) describe(v goja.Value) string {
	o, isObject := v.(*goja.Object)
	if !isObject {
		return c.prim.symbolToString(goja.FunctionCall{This: v}).String()
	}
	switch c.layout.kindOf(o) {
	case kindFunction:
		return c.source(o)
	case kindProxy:
		return c.describeProxy(o)
	case kindPrimitive:
		return "[object Symbol]" // the only boxed value that is refused
	}
	// Iterators and generators have no constructor of their own to be named by.
	if tag, ok := c.inheritedData(o, goja.SymToStringTag); ok {
		if name := tag.String(); name == "Generator" || strings.HasSuffix(name, " Iterator") {
			return "[object " + name + "]"
		}
	}
	return "#<" + c.className(o) + ">"
}

// source is a function's text; V8 leaves the name of bound functions out.
func (c *Codec) source(o *goja.Object) string {
	text := c.prim.functionToString(goja.FunctionCall{This: o}).String()
	if strings.HasPrefix(text, "function bound ") && strings.HasSuffix(text, "() { [native code] }") {
		return "function () { [native code] }"
	}
	return text
}

func (c *Codec) describeProxy(o *goja.Object) string {
	proxy, _ := o.Export().(goja.Proxy)
	target := proxy.Target()
	if target == nil {
		return "#<Object>" // revoked
	}
	switch c.layout.kindOf(target) {
	case kindFunction:
		return c.source(target)
	case kindArray, kindSparseArray:
		return "[object Object]"
	}
	return "#<Object>"
}

// className is the name of the class an object was made with, as far as data
// properties of its prototypes tell (v8::Object::GetConstructorName).
func (c *Codec) className(o *goja.Object) string {
	if c.layout.kindOf(o) == kindProxy {
		return "Object"
	}
	if ctor, ok := c.inheritedData(o, c.vm.ToValue("constructor")); ok {
		if f, isObject := ctor.(*goja.Object); isObject && c.layout.kindOf(f) == kindFunction {
			if name, ok := c.ownData(f, "name"); ok && name.String() != "" {
				return name.String()
			}
		}
	}
	return "Object"
}

// inheritedData looks a data property up along the prototypes. It runs no user
// code: it stops at accessors and proxies.
func (c *Codec) inheritedData(o *goja.Object, key goja.Value) (goja.Value, bool) {
	const longestChain = 100
	for range longestChain {
		if o == nil || c.layout.kindOf(o) == kindProxy {
			return nil, false
		}
		d, _ := c.prim.getOwnDescriptor(goja.FunctionCall{Arguments: []goja.Value{o, key}}).(*goja.Object)
		if d != nil {
			v := d.Get("value")
			return v, v != nil
		}
		o = o.Prototype()
	}
	return nil, false
}
