package clone

import (
	"strings"
	"unicode/utf16"

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
// (Object::NoSideEffectsToString): "#<Name>" for what has Object.prototype's
// toString and a constructor with a name, else "[object Tag]".
func (c *Codec) describe(v goja.Value) string {
	o, isObject := v.(*goja.Object)
	if !isObject {
		return c.prim.symbolToString(goja.FunctionCall{This: v}).String()
	}
	proxied := false
	if c.layout.kindOf(o) == kindProxy {
		if o = c.targetOf(o); o == nil {
			return "null" // revoked
		}
		proxied = true
	}
	switch c.layout.kindOf(o) {
	case kindFunction:
		return omitted(c.source(o))
	case kindError:
		return c.errorText(o)
	}
	tag := ""
	if v, ok := c.inheritedData(o, goja.SymToStringTag); ok {
		if text, isString := v.(goja.String); isString {
			tag = text.String()
		}
	}
	// Iterators have no constructor of their own to be named by; those of a bare
	// goja would have Object.
	if text, ok := c.inheritedData(o, c.vm.ToValue("toString")); ok && text == c.prim.objectToString && !strings.HasSuffix(tag, " Iterator") {
		if name := c.constructorName(o); name != "" {
			return "#<" + name + ">"
		}
	}
	if tag != "" {
		return "[object " + tag + "]"
	}
	if proxied {
		return "[object Object]"
	}
	return "[object " + o.ClassName() + "]"
}

// errorText is an error as its toString() has it, as far as data properties tell.
func (c *Codec) errorText(o *goja.Object) string {
	name, message := "Error", ""
	if v, ok := c.inheritedData(o, c.vm.ToValue("name")); ok && !goja.IsUndefined(v) {
		name = c.textOf(v)
	}
	if v, ok := c.inheritedData(o, c.vm.ToValue("message")); ok && !goja.IsUndefined(v) {
		message = c.textOf(v)
	}
	switch {
	case name == "":
		return message
	case message == "":
		return name
	}
	return name + ": " + message
}

// textOf is a primitive's text, and a description of an object.
func (c *Codec) textOf(v goja.Value) string {
	switch v.(type) {
	case *goja.Object, *goja.Symbol:
		return c.describe(v)
	}
	return v.String()
}

// targetOf is what a proxy stands for, through further proxies; nil if one of them
// is revoked.
func (c *Codec) targetOf(o *goja.Object) *goja.Object {
	for o != nil && c.layout.kindOf(o) == kindProxy {
		proxy, _ := o.Export().(goja.Proxy)
		o = proxy.Target()
	}
	return o
}

// omitted shortens a function's text as V8 does in messages: what is longer than
// 128 characters keeps its first 111 and its last 2.
func omitted(text string) string {
	const longest, head, tail = 128, 111, 2
	units := utf16.Encode([]rune(text))
	if len(units) <= longest {
		return text
	}
	return string(utf16.Decode(units[:head])) + "...<omitted>..." + string(utf16.Decode(units[len(units)-tail:]))
}

// source is a function's text; V8 leaves the name of bound functions out.
func (c *Codec) source(o *goja.Object) string {
	text := c.prim.functionToString(goja.FunctionCall{This: o}).String()
	if strings.HasPrefix(text, "function bound ") && strings.HasSuffix(text, "() { [native code] }") {
		return "function () { [native code] }"
	}
	return text
}

// className is the name of the class an object was made with, as far as data
// properties of its prototypes tell (v8::Object::GetConstructorName).
func (c *Codec) className(o *goja.Object) string {
	if c.layout.kindOf(o) == kindProxy {
		return "Object"
	}
	if name := c.constructorName(o); name != "" && name != "Object" {
		return name
	}
	if v, ok := c.inheritedData(o, goja.SymToStringTag); ok { // of prototypes without a constructor
		if tag, isString := v.(goja.String); isString {
			return tag.String()
		}
	}
	return "Object"
}

// constructorName is the name of the function that an object has as its
// constructor, "" if there is none.
func (c *Codec) constructorName(o *goja.Object) string {
	ctor, ok := c.inheritedData(o, c.vm.ToValue("constructor"))
	if !ok {
		return ""
	}
	f, isObject := ctor.(*goja.Object)
	if !isObject || c.layout.kindOf(f) != kindFunction {
		return ""
	}
	name, ok := c.ownData(f, "name")
	if !ok {
		return ""
	}
	return name.String()
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
