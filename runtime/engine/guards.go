package engine

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides"
)

// A native of goja cannot be interrupted, and an allocation that fails ends the
// process. So built-ins whose result can be far larger than their arguments
// check its size first. The bound is production's memory limit of an isolate,
// which no single value can exceed there.
const (
	// MaxValueBytes bounds one string or buffer.
	MaxValueBytes = 128 << 20
	// MaxElements bounds the length of an array that a built-in walks or makes.
	MaxElements = 1 << 24
)

// V8's texts.
const (
	badStringLength = "Invalid string length"
	badArrayLength  = "Invalid array length"
	badBufferLength = "Array buffer allocation failed"
)

// Allocate throws a RangeError if n bytes more are too much for one value, or
// for the heap's limit. Natives call it before they make something large.
func (e *Engine) Allocate(n int64, message string) {
	if n > MaxValueBytes || n < 0 {
		e.Throw("RangeError", "%s", message)
	}
	const often = 16 << 20
	if e.unseen += n; e.unseen >= often {
		if e.watch.heap.over(uint64(n)) {
			e.Throw("RangeError", "%s", message)
		}
		e.unseen = 0
	}
}

// guardSizes replaces the built-ins in question.
func (e *Engine) guardSizes() {
	e.guardStrings()
	e.guardArrays()
	e.guardBuffers()
	e.guardTypedCreation()
	e.guardCalls()
	e.guardBigInt()
	e.guardNumbers()
	e.guardPrototypes()
}

// guard puts a check before a method. What it converts, by user code perhaps,
// it gives to the method in its converted form.
func (e *Engine) guard(holder *goja.Object, name string, check func(c *goja.FunctionCall)) {
	e.wrap(holder, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
		check(&c)
		return method(c)
	})
}

// wrap replaces what a method does; its function object stays the same, if goja
// can be looked into.
func (e *Engine) wrap(holder *goja.Object, name string, fn func(c goja.FunctionCall, method insides.Function) goja.Value) {
	old, ok := holder.Get(name).(*goja.Object)
	if !ok {
		return // a method that goja does not have
	}
	if insides.Amend(old, fn) {
		return
	}
	call, _ := goja.AssertFunction(old)
	wrapped := e.Func(name, int(old.Get("length").ToInteger()), func(c goja.FunctionCall) goja.Value {
		return fn(c, func(c goja.FunctionCall) goja.Value {
			v, err := call(c.This, c.Arguments...)
			if err != nil {
				e.Rethrow(err)
			}
			return v
		})
	})
	holder.DefineDataProperty(name, wrapped, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (e *Engine) prototype(class string) *goja.Object {
	return e.vm.Get(class).(*goja.Object).Get("prototype").(*goja.Object)
}

// number converts the i-th argument, in place; NaN if there is none.
func (e *Engine) number(c *goja.FunctionCall, i int) float64 {
	if i >= len(c.Arguments) {
		return math.NaN()
	}
	if _, isObject := c.Arguments[i].(*goja.Object); isObject {
		args := append([]goja.Value(nil), c.Arguments...)
		args[i] = e.vm.ToValue(args[i].ToFloat())
		c.Arguments = args
	}
	return c.Arguments[i].ToFloat()
}

// text converts the receiver, in place; what has no text is left to the method.
func (e *Engine) text(c *goja.FunctionCall) goja.String {
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

// stringLength is that of a primitive string, 0 of anything else.
func stringLength(v goja.Value) int64 {
	if s, ok := v.(goja.String); ok {
		return int64(s.Length())
	}
	return 0
}

// product is n*each in bytes, saturated; NaN and negative n give 0.
func product(n float64, each int64) int64 {
	x := n * float64(each)
	if !(x > 0) {
		return 0
	}
	return int64(min(x, math.MaxInt64/2))
}

func (e *Engine) guardStrings() {
	p := e.prototype("String")
	e.guard(p, "repeat", func(c *goja.FunctionCall) {
		if s := e.text(c); s != nil {
			n := e.number(c, 0)
			if math.IsInf(n, 1) {
				e.Throw("RangeError", "Invalid count value: Infinity")
			}
			e.Allocate(product(n, int64(s.Length())), badStringLength)
		}
	})
	for _, name := range []string{"padStart", "padEnd"} {
		e.guard(p, name, func(c *goja.FunctionCall) {
			if e.text(c) != nil {
				e.Allocate(product(e.number(c, 0), 1), badStringLength)
			}
		})
	}
	for _, name := range []string{"replace", "replaceAll"} {
		e.guard(p, name, func(c *goja.FunctionCall) {
			if len(c.Arguments) < 2 || stringLength(c.Arguments[1]) < 64 || stringLength(c.This) < 64 {
				return // at most 64 times as long as the longer one
			}
			e.checkReplace(stringLength(c.This), stringLength(c.Arguments[1]), c)
		})
	}
}

// maxRegExpReplacement bounds the worst case of a replacement by a regular
// expression, whose matches are not counted beforehand.
const maxRegExpReplacement = 16 * MaxValueBytes

func (e *Engine) checkReplace(length, replacement int64, c *goja.FunctionCall) {
	pattern, isText := c.Arguments[0].(goja.String)
	worst := product(float64(length+1), replacement)
	switch {
	case worst <= MaxValueBytes:
	case isText:
		matches := strings.Count(c.This.String(), pattern.String())
		e.Allocate(length+product(float64(matches), replacement), badStringLength)
	case worst > maxRegExpReplacement:
		e.Throw("RangeError", badStringLength)
	}
}

// arrayLength is the length of an array or something like one.
func (e *Engine) arrayLength(v goja.Value) int64 {
	obj, ok := v.(*goja.Object)
	if !ok {
		return 0
	}
	n := obj.Get("length")
	if n == nil {
		return 0
	}
	if _, isObject := n.(*goja.Object); isObject {
		e.Throw("RangeError", badArrayLength) // its conversion is user code, which must run once
	}
	return n.ToInteger()
}

func (e *Engine) guardArrays() {
	p := e.prototype("Array")
	// pop and push take one step; what calls back is interrupted, but for holes.
	for _, name := range []string{"fill", "copyWithin", "reverse", "sort", "unshift", "shift", "slice", "splice", "toLocaleString", "toReversed", "toSorted",
		"toSpliced", "with", "indexOf", "lastIndexOf", "includes", "every", "some", "forEach", "map", "filter", "reduce", "reduceRight", "find", "findIndex",
		"findLast", "findLastIndex", "flatMap"} {
		e.guard(p, name, func(c *goja.FunctionCall) {
			if e.arrayLength(c.This) > MaxElements {
				e.Throw("RangeError", badArrayLength)
			}
		})
	}
	e.guard(p, "concat", func(c *goja.FunctionCall) {
		total := e.arrayLength(c.This)
		for _, a := range c.Arguments {
			if obj, ok := a.(*goja.Object); ok && obj.ClassName() == "Array" {
				total += e.arrayLength(a)
			}
		}
		if total > MaxElements {
			e.Throw("RangeError", badArrayLength)
		}
	})
	e.guard(p, "join", e.checkJoin)
	e.guard(e.vm.Get("Array").(*goja.Object), "from", func(c *goja.FunctionCall) {
		if len(c.Arguments) == 0 {
			return
		}
		if obj, ok := c.Arguments[0].(*goja.Object); ok && e.maker.Plain.Array(obj) != nil {
			return
		}
		obj, ok := c.Arguments[0].(*goja.Object)
		if ok && obj.GetSymbol(goja.SymIterator) == nil && e.arrayLength(obj) > MaxElements {
			e.Throw("RangeError", badArrayLength)
		}
	})
}

// checkJoin adds up the strings that join will write. Objects among them
// convert with user code, or are arrays that are joined in turn.
func (e *Engine) checkJoin(c *goja.FunctionCall) {
	obj, ok := c.This.(*goja.Object)
	n := e.arrayLength(c.This)
	if !ok || n < 2 {
		return
	}
	if n > MaxElements {
		e.Throw("RangeError", badStringLength)
	}
	total := n
	if len(c.Arguments) > 0 {
		total = product(float64(n), stringLength(c.Arguments[0]))
	}
	if obj.ClassName() == "Array" {
		for i := 0; i < int(n) && total <= MaxValueBytes; i++ {
			total += stringLength(obj.Get(strconv.Itoa(i)))
		}
	}
	e.Allocate(total, badStringLength)
}

// guardBuffers puts a check before the constructors of buffers and views.
func (e *Engine) guardBuffers() {
	e.guard(e.Primordial("TypedArray").Get("prototype").(*goja.Object), "set", e.guardEmptySource)
	for class, size := range map[string]int64{ // order-independent: each class is its own
		"ArrayBuffer": 1, "Int8Array": 1, "Uint8Array": 1, "Uint8ClampedArray": 1, "Int16Array": 2, "Uint16Array": 2, "Int32Array": 4,
		"Uint32Array": 4, "Float32Array": 4, "Float64Array": 8, "BigInt64Array": 8, "BigUint64Array": 8,
	} {
		target, ok := e.vm.Get(class).(*goja.Object)
		if !ok {
			continue
		}
		proto := target.Get("prototype").(*goja.Object)
		guarded := e.guardedConstructor(target, class, size)
		e.viewClasses[class] = guarded
		e.vm.GlobalObject().DefineDataProperty(class, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		proto.DefineDataProperty("constructor", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// guardEmptySource keeps goja from taking the address of the first element of a
// typed array that has none: %TypedArray%.prototype.set gets an empty list in its
// place, once it is clear that the specification would not refuse the array.
func (e *Engine) guardEmptySource(c *goja.FunctionCall) {
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
	of := e.resizableOf(source)
	buffer := e.Call(e.Primordial("TypedArrayPrototypeGetBuffer"), goja.Undefined(), source).Export().(goja.ArrayBuffer)
	if buffer.Detached() || of != nil && s.Over(of.nobody) {
		return // goja refuses it
	}
	if target := tag(c.This); target != "undefined" && strings.HasPrefix(target, "Big") != strings.HasPrefix(tag(source), "Big") {
		e.Throw("TypeError", "Cannot mix BigInt and other types, use explicit conversions")
	}
	c.Arguments = append([]goja.Value{e.vm.NewArray()}, c.Arguments[1:]...)
}

// guardedConstructor is target with a check before it: the same prototype,
// static members and name. A Proxy would do, if goja's instanceof took one.
func (e *Engine) guardedConstructor(target *goja.Object, class string, size int64) *goja.Object {
	construct, ok := goja.AssertConstructor(target)
	if !ok {
		panic("engine: " + class + " is no constructor")
	}
	proto := target.Get("prototype").(*goja.Object)
	var guarded *goja.Object
	guarded = e.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		newTarget := call.NewTarget
		if newTarget == nil {
			if newTarget = guarded; call.This.Prototype() != proto {
				e.Throw("TypeError", "Constructor %s requires 'new'", class)
			}
		}
		c := goja.FunctionCall{Arguments: call.Arguments}
		e.checkBuffer(class, size, &c)
		limit, resizable := 0, false
		if class == "ArrayBuffer" && len(c.Arguments) > 1 {
			limit, resizable = e.limitOf(e.index(c.Arguments[0], "Invalid array buffer length"), c.Arguments[1])
		}
		made := func(args []goja.Value) *goja.Object {
			obj, err := construct(newTarget, args...)
			if err != nil {
				e.Rethrow(err)
			}
			return obj
		}
		if e.resizables != nil && class != "ArrayBuffer" {
			return e.resizables.track(c.Arguments, int(size), made)
		}
		obj := made(c.Arguments)
		if resizable {
			e.makeResizable(obj, limit)
		}
		return obj
	}).(*goja.Object)
	object := e.vm.Get("Object").(*goja.Object)
	describe, define := object.Get("getOwnPropertyDescriptor"), object.Get("defineProperty")
	keys := []goja.Value{goja.SymSpecies}
	for _, key := range target.GetOwnPropertyNames() {
		keys = append(keys, e.vm.ToValue(key))
	}
	for _, key := range keys {
		if d := e.Call(describe, goja.Undefined(), target, key); !goja.IsUndefined(d) {
			e.Call(define, goja.Undefined(), guarded, key, d)
		}
	}
	guarded.SetPrototype(target.Prototype())
	insides.Amend(guarded, func(goja.FunctionCall, func(goja.FunctionCall) goja.Value) goja.Value {
		e.Throw("TypeError", "Constructor %s requires 'new'", class)
		return nil
	})
	return guarded
}

// isTyped reports whether o is a typed array.
func (e *Engine) isTyped(o *goja.Object) bool {
	return insides.TheViews().IsArray(o)
}

// listOf is an array of what the constructor of a typed array takes from an object
// (23.2.5.1, step 6.b.iii.5): what it iterates over, or its elements.
func (e *Engine) listOf(o *goja.Object) *goja.Object {
	method := o.GetSymbol(goja.SymIterator)
	if method == nil || goja.IsUndefined(method) || goja.IsNull(method) {
		return e.listFrom(o)
	}
	if !IsCallable(method) {
		e.Throw("TypeError", "%s is not a function", site{engine: e}.show(method, true))
	}
	iterable := e.vm.NewObject()
	iterator := e.Func("[Symbol.iterator]", 0, func(goja.FunctionCall) goja.Value { return e.Call(method, o) })
	iterable.DefineDataPropertySymbol(goja.SymIterator, iterator, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	var values []goja.Value
	e.vm.ForOf(iterable, func(v goja.Value) bool {
		values = append(values, v)
		return true
	})
	return e.maker.ArrayOf(values)
}

var arrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()

func (e *Engine) checkBuffer(class string, size int64, c *goja.FunctionCall) {
	if len(c.Arguments) == 0 {
		return
	}
	message := badBufferLength
	var n float64
	if obj, isObject := c.Arguments[0].(*goja.Object); isObject && class != "ArrayBuffer" {
		if obj.ExportType() == arrayBufferType {
			return // a view
		}
		if e.maker.Plain.Array(obj) == nil && !e.isTyped(obj) {
			c.Arguments = append([]goja.Value{e.listOf(obj)}, c.Arguments[1:]...)
			obj = c.Arguments[0].(*goja.Object)
		}
		n = float64(e.arrayLength(obj))
	} else {
		n = e.number(c, 0)
	}
	if class != "ArrayBuffer" {
		message = "Invalid typed array length: " + strconv.FormatFloat(n, 'f', -1, 64)
	}
	e.Allocate(product(n, size), message)
}
