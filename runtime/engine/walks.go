package engine

import (
	"math/big"
	"reflect"
	"slices"
	"strconv"

	"github.com/dop251/goja"
)

// Guards of built-ins that walk what they are given, which can be far more than
// it takes to write it down.

// guardCalls bounds lists of arguments, and what String.raw and split make.
func (e *Engine) guardCalls() {
	bound := func(list goja.Value) {
		if e.arrayLength(list) > MaxElements {
			e.Throw("RangeError", badArrayLength)
		}
	}
	// listed has the i-th argument read once (7.3.18), where reading can be seen.
	listed := func(c *goja.FunctionCall, i int) {
		list, ok := c.Argument(i).(*goja.Object)
		switch {
		case !ok:
		case e.maker.Plain.Array(list) != nil:
			bound(list)
		default:
			args := slices.Clone(c.Arguments)
			args[i] = e.listFrom(list)
			c.Arguments = args
		}
	}
	reflection := e.vm.Get("Reflect").(*goja.Object)
	e.guard(e.prototype("Function"), "apply", func(c *goja.FunctionCall) {
		if IsCallable(c.This) {
			listed(c, 1)
		}
	})
	e.guard(reflection, "apply", func(c *goja.FunctionCall) {
		if !IsCallable(c.Argument(0)) {
			e.Throw("TypeError", "Function.prototype.apply was called on %s, which is %s and not a function", e.Show(c.Argument(0)), e.kind(c.Argument(0)))
		}
		listed(c, 2)
	})
	e.guard(reflection, "construct", func(c *goja.FunctionCall) {
		e.constructor(c.Argument(0))
		if len(c.Arguments) > 2 {
			e.constructor(c.Arguments[2])
		}
		listed(c, 1)
	})
	e.guard(e.vm.Get("String").(*goja.Object), "raw", func(c *goja.FunctionCall) {
		if template, ok := c.Argument(0).(*goja.Object); ok {
			bound(template.Get("raw"))
		}
	})
	e.guard(e.prototype("String"), "split", func(c *goja.FunctionCall) {
		if stringLength(c.This) > MaxElements && stringLength(c.Argument(0)) < 8 {
			if n := c.Argument(1); goja.IsUndefined(n) || n.ToFloat() > MaxElements {
				e.Throw("RangeError", badArrayLength)
			}
		}
	})
	e.guardFlat()
}

// constructor refuses what is none.
func (e *Engine) constructor(v goja.Value) {
	if _, ok := goja.AssertConstructor(v); !ok {
		e.Throw("TypeError", "%s is not a constructor", e.Show(v))
	}
}

// kind is a value's type with an article, as V8 has it in a message.
func (e *Engine) kind(v goja.Value) string {
	switch kind := e.typeOf(v); kind {
	case "undefined":
		return "undefined"
	case "object":
		return "an object"
	default:
		return "a " + kind
	}
}

// typeOf is what the operator typeof says.
func (e *Engine) typeOf(v goja.Value) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case *goja.Object:
		if IsCallable(v) {
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

// listFrom is CreateListFromArrayLike (7.3.18).
func (e *Engine) listFrom(o *goja.Object) *goja.Object {
	var n goja.Value = goja.Undefined()
	if v := o.Get("length"); v != nil {
		n = v
	}
	length := n.ToFloat()
	if length > MaxElements {
		e.Throw("RangeError", badArrayLength)
	}
	if !(length >= 1) {
		return e.vm.NewArray()
	}
	values := make([]goja.Value, int(length))
	for i := range values {
		if values[i] = o.Get(strconv.Itoa(i)); values[i] == nil {
			values[i] = goja.Undefined()
		}
	}
	return e.maker.ArrayOf(values)
}

// guardFlat adds up what flat will put together: an array may hold another one
// many times.
func (e *Engine) guardFlat() {
	e.guard(e.prototype("Array"), "flat", func(c *goja.FunctionCall) {
		depth := 1.0
		if len(c.Arguments) > 0 && !goja.IsUndefined(c.Arguments[0]) {
			depth = e.number(c, 0)
		}
		if array, ok := c.This.(*goja.Object); ok {
			e.checkFlat(array, depth, 0, new(int64))
		}
	})
}

// maxNesting bounds how deep arrays may be nested where a native recurses.
const maxNesting = 5000

func (e *Engine) checkFlat(array *goja.Object, depth float64, level int, total *int64) {
	if level > maxNesting {
		e.Throw("RangeError", stackExceeded)
	}
	e.natives.look()
	n := e.arrayLength(array)
	if *total += n + 1; *total > MaxElements {
		e.Throw("RangeError", badArrayLength)
	}
	if depth < 1 {
		return
	}
	for i := range int(n) {
		if inner, ok := array.Get(strconv.Itoa(i)).(*goja.Object); ok && e.isArray(inner) {
			e.checkFlat(inner, depth-1, level+1, total)
		}
	}
}

// maxBigIntBits bounds a BigInt, whose arithmetic is no function and so cannot
// be interrupted; in V8 it is 2^30. Parsing decimal digits takes quadratic time.
const (
	maxBigIntBits   = 1 << 24
	maxBigIntDigits = 1 << 19
	badBigInt       = "Maximum BigInt size exceeded"
)

func (e *Engine) guardBigInt() {
	class := e.vm.Get("BigInt").(*goja.Object)
	for _, name := range []string{"asIntN", "asUintN"} {
		e.guard(class, name, func(c *goja.FunctionCall) {
			bits := e.number(c, 0)
			if bits <= -1 || bits > 1<<53-1 {
				e.Throw("RangeError", "Invalid value %s: not (convertible to) a safe integer", e.Text(e.vm.ToValue(bits)))
			}
			if len(c.Arguments) < 2 || !(bits > maxBigIntBits) {
				return
			}
			// Wider than any value: the value itself, unless it is negative and wraps.
			n, ok := c.Arguments[1].Export().(*big.Int)
			if ok && name == "asUintN" && n.Sign() < 0 {
				e.Throw("RangeError", badBigInt)
			}
			c.Arguments = append([]goja.Value{e.vm.ToValue(maxBigIntBits + 1)}, c.Arguments[1:]...)
		})
	}
	e.guard(e.vm.GlobalObject(), "BigInt", func(c *goja.FunctionCall) {
		if len(c.Arguments) > 0 && stringLength(c.Arguments[0]) > maxBigIntDigits {
			e.Throw("RangeError", badBigInt)
		}
	})
}

// guardPrototypes keeps the search for a property finite.
func (e *Engine) guardPrototypes() {
	for _, holder := range []string{"Object", "Reflect"} {
		e.guard(e.vm.Get(holder).(*goja.Object), "setPrototypeOf", func(c *goja.FunctionCall) {
			e.checkPrototype(c.Argument(0), c.Argument(1))
		})
	}
	object := e.vm.Get("Object").(*goja.Object)
	describe, _ := goja.AssertFunction(object.Get("getOwnPropertyDescriptor"))
	d, err := describe(goja.Undefined(), object.Get("prototype"), e.vm.ToValue("__proto__"))
	if err != nil {
		panic("engine: __proto__: " + err.Error())
	}
	e.guard(d.(*goja.Object), "set", func(c *goja.FunctionCall) { e.checkPrototype(c.This, c.Argument(0)) })
}

var proxyType = reflect.TypeFor[goja.Proxy]()

// checkPrototype refuses a prototype through which an object would find itself
// again. goja refuses it for plain objects; through a proxy's target or handler
// the search would never end.
func (e *Engine) checkPrototype(object, proto goja.Value) {
	seen := map[*goja.Object]bool{}
	var visit func(v *goja.Object, behind bool)
	visit = func(v *goja.Object, behind bool) {
		for v != nil && !seen[v] {
			if behind && v == object {
				e.Throw("TypeError", "Cyclic __proto__ value")
			}
			seen[v] = true
			if p, ok := AsProxy(v); ok {
				visit(p.Handler(), true)
				v, behind = p.Target(), true
				continue
			}
			v = v.Prototype()
		}
	}
	if p, ok := proto.(*goja.Object); ok {
		visit(p, false)
	}
}
