// Package buffers adds what goja's ArrayBuffers and typed arrays lack (ECMA-262,
// sections 23.2 and 25.1): resizable and shared buffers, buffers that only their owner
// may detach, arrays of users' constructors. Everything is loop-confined.
package buffers

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// state is what is known of an isolate's buffers.
type state struct {
	viewClasses map[string]*goja.Object // the constructors of typed arrays, by name
	resizables  *resizables             // nil until there is a resizable buffer
	shared      *goja.Object            // knows SharedArrayBuffers; nil until the first one is made, see IsShared
	kept        keptBuffers
}

var states = engine.NewLocal(func(*engine.Engine) *state { return &state{viewClasses: map[string]*goja.Object{}} })

// TakeShared takes what knows SharedArrayBuffers.
func TakeShared(e *engine.Engine, knows *goja.Object) { states.Of(e).shared = knows }

// GuardConstructors puts a check before the constructors of buffers and views.
func GuardConstructors(e *engine.Engine) {
	builtin.Guard(e, e.Primordial("TypedArray").Get("prototype").(*goja.Object), "set", func(c *goja.FunctionCall) { guardEmptySource(e, c) })
	for class, size := range map[string]int64{ // order-independent: each class is its own
		"ArrayBuffer": 1, "Int8Array": 1, "Uint8Array": 1, "Uint8ClampedArray": 1, "Int16Array": 2, "Uint16Array": 2, "Int32Array": 4,
		"Uint32Array": 4, "Float32Array": 4, "Float64Array": 8, "BigInt64Array": 8, "BigUint64Array": 8,
	} {
		target, ok := e.VM().Get(class).(*goja.Object)
		if !ok {
			continue
		}
		if slot := insides.TheGoja().ConstructorOf(target); slot != nil {
			states.Of(e).viewClasses[class] = target
			construct := *slot
			*slot = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
				return guardedObject(e, class, size, args, func(args []goja.Value) *goja.Object { return construct(args, newTarget) })
			}
			refuseCalls(e, target, class)
			continue
		}
		proto := target.Get("prototype").(*goja.Object)
		guarded := guardedConstructor(e, target, class, size)
		states.Of(e).viewClasses[class] = guarded
		e.VM().GlobalObject().DefineDataProperty(class, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		proto.DefineDataProperty("constructor", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// refuseCalls has a constructor refuse to be called without new.
func refuseCalls(e *engine.Engine, constructor *goja.Object, class string) {
	insides.Amend(constructor, func(goja.FunctionCall, func(goja.FunctionCall) goja.Value) goja.Value {
		e.Throw("TypeError", "Constructor %s requires 'new'", class)
		return nil
	})
}

// guardedObject is what construct makes of the arguments of a class, after the check.
func guardedObject(e *engine.Engine, class string, size int64, args []goja.Value, construct func(args []goja.Value) *goja.Object) *goja.Object {
	c := goja.FunctionCall{Arguments: args}
	checkBuffer(e, class, size, &c)
	limit, resizable := 0, false
	if class == "ArrayBuffer" && len(c.Arguments) > 1 {
		limit, resizable = limitOf(e, builtin.ToIndex(e, c.Arguments[0], "Invalid array buffer length"), c.Arguments[1])
	}
	if states.Of(e).resizables != nil && class != "ArrayBuffer" {
		return states.Of(e).resizables.track(c.Arguments, int(size), construct)
	}
	obj := construct(c.Arguments)
	if resizable {
		makeResizable(e, obj, limit)
	}
	return obj
}

// guardEmptySource keeps goja from taking the address of the first element of a
// typed array that has none: %TypedArray%.prototype.set gets an empty list in its
// place, once it is clear that the specification would not refuse the array.
func guardEmptySource(e *engine.Engine, c *goja.FunctionCall) {
	source, ok := c.Argument(0).(*goja.Object)
	if !ok || !insides.TheViews().Known {
		return
	}
	s, isView := insides.TheViews().Look(source)
	if !isView || s.Length() > 0 {
		return
	}
	tag := func(v goja.Value) string { // "undefined" for what is no typed array
		return e.Call(e.Primordial("TypedArrayPrototypeGetTag"), goja.Undefined(), v).String()
	}
	if tag(source) == "undefined" {
		return
	}
	of := ResizableOf(e, source)
	buffer := e.Call(e.Primordial("TypedArrayPrototypeGetBuffer"), goja.Undefined(), source).Export().(goja.ArrayBuffer)
	if buffer.Detached() || of != nil && s.Over(of.nobody) {
		return // goja refuses it
	}
	if target := tag(c.This); target != "undefined" && strings.HasPrefix(target, "Big") != strings.HasPrefix(tag(source), "Big") {
		e.Throw("TypeError", "Cannot mix BigInt and other types, use explicit conversions")
	}
	c.Arguments = append([]goja.Value{e.VM().NewArray()}, c.Arguments[1:]...)
}

// guardedConstructor is target with a check before it, where goja cannot be looked into: the same
// prototype, static members and name. A Proxy would do, if goja's instanceof took one.
func guardedConstructor(e *engine.Engine, target *goja.Object, class string, size int64) *goja.Object {
	construct, ok := goja.AssertConstructor(target)
	if !ok {
		panic("engine: " + class + " is no constructor")
	}
	proto := target.Get("prototype").(*goja.Object)
	var guarded *goja.Object
	guarded = e.VM().ToValue(func(call goja.ConstructorCall) *goja.Object {
		newTarget := call.NewTarget
		if newTarget == nil {
			if newTarget = guarded; call.This.Prototype() != proto {
				e.Throw("TypeError", "Constructor %s requires 'new'", class)
			}
		}
		return guardedObject(e, class, size, call.Arguments, func(args []goja.Value) *goja.Object {
			obj, err := construct(newTarget, args...)
			if err != nil {
				e.Rethrow(err)
			}
			return obj
		})
	}).(*goja.Object)
	object := e.VM().Get("Object").(*goja.Object)
	describe, defineProperty := object.Get("getOwnPropertyDescriptor"), object.Get("defineProperty")
	keys := []goja.Value{goja.SymSpecies}
	for _, key := range target.GetOwnPropertyNames() {
		keys = append(keys, e.VM().ToValue(key))
	}
	for _, key := range keys {
		if d, has := insides.OwnProperty(target, key); d.Known {
			if has {
				define(guarded, key, d)
			}
			continue
		}
		if d := e.Call(describe, goja.Undefined(), target, key); !goja.IsUndefined(d) {
			e.Call(defineProperty, goja.Undefined(), guarded, key, d)
		}
	}
	guarded.SetPrototype(target.Prototype())
	refuseCalls(e, guarded, class)
	return guarded
}

// define defines an object's property.
func define(o *goja.Object, key goja.Value, d insides.Described) {
	fn := func(fn *goja.Object) goja.Value {
		if fn == nil {
			return goja.Undefined()
		}
		return fn
	}
	symbol, _ := key.(*goja.Symbol)
	var err error
	switch {
	case d.Accessor && symbol != nil:
		err = o.DefineAccessorPropertySymbol(symbol, fn(d.Getter), fn(d.Setter), goja.ToFlag(d.Configurable), goja.ToFlag(d.Enumerable))
	case d.Accessor:
		err = o.DefineAccessorProperty(key.String(), fn(d.Getter), fn(d.Setter), goja.ToFlag(d.Configurable), goja.ToFlag(d.Enumerable))
	case symbol != nil:
		err = o.DefineDataPropertySymbol(symbol, d.Value, goja.ToFlag(d.Writable), goja.ToFlag(d.Configurable), goja.ToFlag(d.Enumerable))
	default:
		err = o.DefineDataProperty(key.String(), d.Value, goja.ToFlag(d.Writable), goja.ToFlag(d.Configurable), goja.ToFlag(d.Enumerable))
	}
	if err != nil {
		panic(err)
	}
}

// listOf is an array of what the constructor of a typed array takes from an object
// (23.2.5.1, step 6.b.iii.5): what it iterates over, or its elements.
func listOf(e *engine.Engine, o *goja.Object) *goja.Object {
	method := o.GetSymbol(goja.SymIterator)
	if method == nil || goja.IsUndefined(method) || goja.IsNull(method) {
		return builtin.ListFrom(e, o)
	}
	if !engine.IsCallable(method) {
		e.Throw("TypeError", "%s is not a function", builtin.CallSite(e, method))
	}
	iterable := e.VM().NewObject()
	iterator := e.Func("[Symbol.iterator]", 0, func(goja.FunctionCall) goja.Value { return e.Call(method, o) })
	iterable.DefineDataPropertySymbol(goja.SymIterator, iterator, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	var values []goja.Value
	e.VM().ForOf(iterable, func(v goja.Value) bool {
		values = append(values, v)
		return true
	})
	return e.Maker().ArrayOf(values)
}

func checkBuffer(e *engine.Engine, class string, size int64, c *goja.FunctionCall) {
	if len(c.Arguments) == 0 {
		return
	}
	message := builtin.BadBufferLength
	var n float64
	if obj, isObject := c.Arguments[0].(*goja.Object); isObject && class != "ArrayBuffer" {
		if obj.ExportType() == builtin.ArrayBufferType {
			return // a view
		}
		if e.Maker().Plain.Array(obj) == nil && !builtin.IsTyped(e, obj) {
			c.Arguments = append([]goja.Value{listOf(e, obj)}, c.Arguments[1:]...)
			obj = c.Arguments[0].(*goja.Object)
		}
		n = float64(builtin.LengthOf(e, obj))
	} else {
		n = builtin.NumberAt(e, c, 0)
	}
	if class != "ArrayBuffer" {
		message = "Invalid typed array length: " + strconv.FormatFloat(n, 'f', -1, 64)
	}
	e.Memory.Allocate(builtin.Product(n, size), message)
}

// Transfer moves the bytes of a buffer into a new one of n bytes, which can be
// resized if it has a limit.
func Transfer(e *engine.Engine, v goja.Value, n int64, limit goja.Value) goja.Value {
	buffer := v.Export().(goja.ArrayBuffer)
	if Kept(e, v) {
		e.Throw("TypeError", "ArrayBuffer is not detachable and could not be cloned.")
	}
	data := buffer.Bytes()
	if n != int64(len(data)) {
		e.Memory.Allocate(n, builtin.BadBufferLength)
		moved := make([]byte, n)
		copy(moved, data)
		data = moved
	}
	buffer.Detach()
	made := e.VM().ToValue(e.VM().NewArrayBuffer(data)).(*goja.Object)
	if !goja.IsUndefined(limit) {
		makeResizable(e, made, int(limit.ToInteger()))
	}
	return made
}
