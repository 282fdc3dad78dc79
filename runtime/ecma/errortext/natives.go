package errortext

import (
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// native is the call of a built-in function: its receiver and arguments as they are on
// the machine's stack. What Function.prototype.call and apply and Reflect.apply call
// stands in their place.
type native struct {
	name  string
	fn    *goja.Object // nil if it is not known
	this  goja.Value
	first goja.Value
}

// native is the built-in function that runs.
func (s site) native() native {
	arg := func(n int) goja.Value {
		if v := s.machine.Argument(n); v != nil {
			return v
		}
		return goja.Undefined()
	}
	listed := func(v goja.Value) goja.Value {
		if list, ok := v.(*goja.Object); ok && list.ClassName() == "Array" {
			if first := s.ownValue(list, "0"); first != nil {
				return first
			}
		}
		return goja.Undefined()
	}
	n := native{name: s.function(), this: arg(-2), first: arg(0)}
	n.fn, _ = arg(-1).(*goja.Object)
	target := func(v goja.Value) bool {
		fn, ok := v.(*goja.Object)
		if !ok || !engine.IsCallable(fn) || fn == n.fn {
			return false
		}
		n.fn, n.name = fn, s.nameOf(fn)
		return true
	}
	switch n.name {
	case "call":
		if target(arg(-2)) || n.fn != nil && arg(-2) == goja.Value(n.fn) {
			n.this, n.first = arg(0), arg(1)
		}
	case "apply":
		if target(arg(-2)) {
			n.this, n.first = arg(0), listed(arg(1))
		} else if target(arg(0)) {
			n.this, n.first = arg(1), listed(arg(2))
		}
	}
	return n
}

// nameOf is a function's name; "" if it has none of its own, or a getter for it.
func (s site) nameOf(fn *goja.Object) string {
	if name, ok := s.ownValue(fn, "name").(goja.String); ok {
		return name.String()
	}
	return ""
}

// constructedClass is the name of the class that `new` makes an object of, "" elsewhere.
func (s site) constructedClass() string {
	if s.op() != "new" {
		return ""
	}
	callee, ok := s.machine.Peek(s.count() + 1).(*goja.Object)
	if !ok {
		return ""
	}
	return s.nameOf(callee)
}

// iterating reports whether a built-in function or class iterates over its first argument.
func (s site) iterating() bool {
	switch s.op() {
	case "":
		return iterators[s.native().name]
	case "new":
		return iterators[s.constructedClass()]
	}
	return false
}

// iterators are the built-in functions and classes that iterate over their first argument.
var iterators = map[string]bool{"all": true, "allSettled": true, "any": true, "race": true, "fromEntries": true, "from": true,
	"Map": true, "Set": true, "WeakMap": true, "WeakSet": true, "AggregateError": true}

// first is the first argument of the built-in function or class that runs.
func (s site) first() goja.Value {
	if s.op() != "new" {
		return s.native().first
	}
	if s.count() == 0 {
		return goja.Undefined()
	}
	return s.machine.Peek(s.count())
}

// methodName is what V8 calls a method of the class of a prototype, or a getter: its
// name with the class before it; "" if it is none of the classes whose methods refuse
// other receivers.
func (s site) methodName(fn *goja.Object) string {
	describe := s.engine.Primordial("ObjectGetOwnPropertyDescriptor")
	name := strings.TrimPrefix(s.nameOf(fn), "get ")
	for _, class := range []string{"Map", "Set", "WeakMap", "WeakSet", "Promise", "Error"} {
		proto := builtin.Prototype(s.engine, class)
		d, ok := s.engine.Call(describe, goja.Undefined(), proto, s.engine.VM().ToValue(name)).(*goja.Object)
		switch {
		case !ok:
		case d.Get("value") == goja.Value(fn):
			return class + ".prototype." + name
		case d.Get("get") == goja.Value(fn):
			return "get " + class + ".prototype." + name
		}
	}
	return ""
}

// receiver: a method was called on another receiver than it takes; before is what goja
// calls the method.
func (s site) receiver(before string) string {
	n := s.native()
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(before, "get "), "TypedArray.prototype."); ok && rest != "length" {
		if untyped[rest] {
			return "this is not a typed array."
		}
		before = strings.Replace(before, "TypedArray", "%TypedArray%", 1)
	}
	if rest, ok := strings.CutSuffix(before, " getter"); ok && strings.HasPrefix(rest, "RegExp.") {
		return before + " called on non-RegExp object"
	}
	return "Method " + before + " called on incompatible receiver " + builtin.Show(s.engine, n.this)
}

// untyped are the methods of %TypedArray%.prototype that V8 has another text for.
var untyped = map[string]bool{"copyWithin": true, "entries": true, "every": true, "fill": true, "filter": true, "find": true,
	"findIndex": true, "findLast": true, "findLastIndex": true, "forEach": true, "includes": true, "indexOf": true, "keys": true,
	"lastIndexOf": true, "map": true, "reduce": true, "reduceRight": true, "reverse": true, "set": true, "some": true, "values": true, "with": true}

// badOption is the text for an option of the methods of Uint8Array for base64.
func (s site) badOption(name string) string {
	n := s.native()
	options := n.first
	if n.name != "toBase64" {
		options = s.machine.Argument(1)
	}
	if o, ok := options.(*goja.Object); ok {
		return "invalid option " + builtin.Show(s.engine, s.ownValue(o, name))
	}
	return ""
}

// base64Texts are V8's words for what is no base64 or no hexadecimal digits, "" for
// anything else.
func base64Texts(text string) string {
	switch text {
	case "invalid base64 character", "missing padding character":
		return "Found a character that cannot be part of a valid base64 string."
	case "a single extra base64 character in the last chunk", "missing padding in the last chunk":
		return "The base64 input terminates with a single character, excluding padding (=)."
	case "extra bits in the last base64 character":
		return "The base64 input terminates with non-zero padding bits."
	case "string should have an even number of characters":
		return "Input string must contain hex characters in even length"
	}
	if strings.HasPrefix(text, "encoding/hex: ") {
		return "Input string must contain hex characters in even length"
	}
	return ""
}

// nativeNotObject: a built-in function got something else than an object.
func (s site) nativeNotObject(shown string) string {
	n := s.native()
	if n.name == "call" {
		return s.calledOn(n.this)
	}
	if function := s.function(); function == "apply" || function == "construct" {
		for i := 1; i <= 2; i++ {
			list := s.machine.Argument(i)
			if _, isObject := list.(*goja.Object); list != nil && !isObject && s.engine.Text(list) == shown && builtin.Show(s.engine, n.this) != shown {
				return "CreateListFromArrayLike called on non-object"
			}
		}
	}
	switch n.name {
	case "bind":
		return "Bind must be called on a function"
	case "fromEntries":
		return "Iterator value " + shown + " is not an entry object"
	case "defineProperty":
		if text := s.accessor(); text != "" {
			return text
		}
	}
	switch n.name {
	case "ownKeys", "getPrototypeOf", "setPrototypeOf", "has", "get", "set", "deleteProperty", "isExtensible", "preventExtensions", "getOwnPropertyDescriptor", "defineProperty":
		if reflection, ok := s.machine.Argument(-2).(*goja.Object); ok && reflection == s.engine.VM().Get("Reflect") {
			return "Reflect." + n.name + " called on non-object"
		}
	case "defineProperties":
		return "Object.defineProperties called on non-object"
	}
	if _, isObject := n.this.(*goja.Object); !isObject && n.fn != nil && s.engine.Text(n.this) == shown {
		if name := s.methodName(n.fn); name != "" {
			return "Method " + name + " called on incompatible receiver " + builtin.Show(s.engine, n.this)
		}
		if s.ownValue(s.engine.VM().Get("Promise"), n.name) == goja.Value(n.fn) {
			if n.name == "resolve" {
				return "PromiseResolve called on non-object"
			}
			return "Promise." + n.name + " called on non-object"
		}
	}
	if nativeCallbacks[n.name] {
		return s.nativeArgument(shown) + " is not a function"
	}
	return s.nativeArgument(shown) + " is not an object"
}

// calledOn is the text for Function.prototype.call of what is no function.
func (s site) calledOn(v goja.Value) string {
	return "Function.prototype.call was called on " + builtin.Show(s.engine, v) + ", which is " + builtin.KindOf(s.engine, v) + " and not a function"
}

// ownValue is the value of an object's own property, nil if it is none or an accessor.
func (s site) ownValue(object goja.Value, name string) goja.Value {
	d, ok := s.engine.Call(s.engine.Primordial("ObjectGetOwnPropertyDescriptor"), goja.Undefined(), object, s.engine.VM().ToValue(name)).(*goja.Object)
	if !ok {
		return nil
	}
	return d.Get("value")
}

// nativeCallbacks are the built-in functions whose arguments that must be
// objects are functions.
var nativeCallbacks = map[string]bool{"map": true, "forEach": true, "filter": true, "find": true, "findIndex": true, "findLast": true,
	"findLastIndex": true, "some": true, "every": true, "reduce": true, "reduceRight": true, "flatMap": true, "sort": true, "from": true,
	"replace": true, "then": true, "finally": true, "groupBy": true}

// given is the argument that goja shows as shown, nil if it is not found.
func (s site) given(shown string) goja.Value {
	for n := 1; n <= 4; n++ {
		v := s.machine.Peek(n)
		if v == nil {
			break
		}
		if _, object := v.(*goja.Object); !object && s.engine.Text(v) == shown {
			return v
		}
	}
	return nil
}

// nativeArgument is the argument that goja shows as shown.
func (s site) nativeArgument(shown string) string {
	if v := s.given(shown); v != nil {
		return builtin.CallSite(s.engine, v)
	}
	return asObject(shown)
}

// asObject is what goja shows of a value as V8 does, if that is an object.
func asObject(shown string) string {
	if strings.HasPrefix(shown, "[object ") {
		return "#<" + strings.TrimSuffix(strings.TrimPrefix(shown, "[object "), "]") + ">"
	}
	return shown
}

// isGlobal reports whether a function is the value of a variable of the global scope.
func (s site) isGlobal(fn *goja.Object, name string) bool {
	return s.ownValue(s.engine.VM().GlobalObject(), name) == goja.Value(fn)
}

// trap is the name of what is done to a proxy.
func (s site) trap() string {
	switch op := s.op(); {
	case op == "":
		switch name := s.native().name; name {
		case "keys", "values", "entries", "assign", "getOwnPropertyNames", "getOwnPropertySymbols", "getOwnPropertyDescriptors":
			return "ownKeys"
		case "has", "set", "deleteProperty", "defineProperty", "getPrototypeOf", "setPrototypeOf", "isExtensible", "preventExtensions", "ownKeys", "getOwnPropertyDescriptor":
			return name
		}
	case strings.HasPrefix(op, "set"):
		return "set"
	case strings.HasPrefix(op, "delete"):
		return "deleteProperty"
	case op == "op_in", op == "inOp":
		return "has"
	case strings.HasPrefix(op, "call"):
		return "apply"
	case op == "new":
		return "construct"
	}
	return "get"
}

// accessor is the text for a descriptor whose getter or setter is no function, "" if
// they cannot be seen.
func (s site) accessor() string {
	descriptor, ok := s.machine.Argument(2).(*goja.Object)
	if !ok || s.native().name != "defineProperty" {
		return ""
	}
	for _, side := range []string{"get", "set"} {
		if v := s.ownValue(descriptor, side); v != nil && !goja.IsUndefined(v) && !engine.IsCallable(v) {
			return strings.ToUpper(side[:1]) + side[1:] + "ter must be a function: " + builtin.Show(s.engine, v)
		}
	}
	return ""
}

// notCallable: a built-in function got an object that is no function.
func (s site) notCallable(string) string {
	if s.constructedClass() == "Promise" {
		return "Promise resolver " + builtin.Show(s.engine, s.first()) + " is not a function"
	}
	switch n := s.native(); n.name {
	case "bind":
		return "Bind must be called on a function"
	case "call":
		return s.calledOn(n.this)
	}
	return "object is not a function"
}
