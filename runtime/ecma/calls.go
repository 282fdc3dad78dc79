package ecma

import (
	"math"
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/array"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Guards of built-ins that walk what they are given, which can be far more than
// it takes to write it down.

// guardCalls bounds lists of arguments, and what String.raw and split make.
func guardCalls(e *engine.Engine) {
	bound := func(list goja.Value) {
		if builtin.LengthOf(e, list) > builtin.MaxElements {
			e.Throw("RangeError", builtin.BadArrayLength)
		}
	}
	// listed has the i-th argument read once (7.3.18), where reading can be seen.
	listed := func(c *goja.FunctionCall, i int) {
		list, ok := c.Argument(i).(*goja.Object)
		switch {
		case !ok:
		case e.Maker().Plain.Array(list) != nil:
			bound(list)
		default:
			args := slices.Clone(c.Arguments)
			args[i] = builtin.ListFrom(e, list)
			c.Arguments = args
		}
	}
	reflection := e.VM().Get("Reflect").(*goja.Object)
	builtin.Guard(e, builtin.Prototype(e, "Function"), "apply", func(c *goja.FunctionCall) {
		if engine.IsCallable(c.This) {
			listed(c, 1)
		}
	})
	builtin.Guard(e, reflection, "apply", func(c *goja.FunctionCall) {
		if !engine.IsCallable(c.Argument(0)) {
			e.Throw("TypeError", "Function.prototype.apply was called on %s, which is %s and not a function", builtin.Show(e, c.Argument(0)), builtin.KindOf(e, c.Argument(0)))
		}
		listed(c, 2)
	})
	builtin.Guard(e, reflection, "construct", func(c *goja.FunctionCall) {
		constructor(e, c.Argument(0))
		if len(c.Arguments) > 2 {
			constructor(e, c.Arguments[2])
		}
		listed(c, 1)
	})
	builtin.Guard(e, e.VM().Get("String").(*goja.Object), "raw", func(c *goja.FunctionCall) {
		template, ok := c.Argument(0).(*goja.Object)
		if !ok {
			return
		}
		raw := template.Get("raw")
		bound(raw)
		length := int64(0)
		if list, ok := raw.(*goja.Object); ok && e.Maker().Plain.Array(list) != nil {
			for i := range int(builtin.LengthOf(e, list)) {
				if length > engine.MaxValueBytes {
					break
				}
				length += builtin.StringLength(builtin.Element(e, list, i))
			}
		}
		for _, put := range c.Arguments[1:] {
			length += builtin.StringLength(put)
		}
		e.Memory.Allocate(length, builtin.BadStringLength)
	})
	guardTextAsObject(e)
	builtin.Guard(e, builtin.Prototype(e, "String"), "split", func(c *goja.FunctionCall) {
		if n := c.Argument(1); builtin.IsNumber(n) && math.Abs(n.ToFloat()) >= 1<<53 { // of which goja makes 0
			c.Arguments = slices.Clone(c.Arguments)
			c.Arguments[1] = e.VM().ToValue(uint32(int64(math.Mod(n.ToFloat(), 1<<32))))
		}
		e.Memory.Fit(indexBytes*builtin.StringLength(c.This)/(builtin.StringLength(c.Argument(0))+1), builtin.BadArrayLength)
		if builtin.StringLength(c.This) > builtin.MaxElements && builtin.StringLength(c.Argument(0)) < 8 {
			if n := c.Argument(1); goja.IsUndefined(n) || n.ToFloat() > builtin.MaxElements {
				e.Throw("RangeError", builtin.BadArrayLength)
			}
		}
	})
	array.GuardFlat(e)
}

// What a character or an element costs that becomes an element or a property's name, a pair
// of both or a description of it, or a property of its own, in bytes; how many characters
// become properties of one object: each is a step of a native that cannot be interrupted;
// and how many a list of them has: goja appends one by one, and each copy of the list
// holds up a collection, and with it all other goroutines. Twice as many fill the memory of
// an isolate in production.
const (
	indexBytes    = 64
	pairBytes     = 320
	propertyBytes = 160

	maxIndexes = 1 << 18
	maxListed  = 1 << 21
)

// guardTextAsObject bounds what is made of the characters of a string, or of the elements of
// an array, as the properties that they are.
func guardTextAsObject(e *engine.Engine) {
	object := e.VM().Get("Object").(*goja.Object)
	// many is how many elements or characters are listed.
	many := func(v goja.Value) int64 {
		if o, ok := v.(*goja.Object); ok && e.Maker().Plain.Array(o) != nil {
			return builtin.LengthOf(e, o)
		}
		return builtin.StringLength(v)
	}
	for _, m := range []struct {
		name  string
		bytes int64
	}{
		{"keys", indexBytes}, {"values", indexBytes}, {"entries", pairBytes}, {"getOwnPropertyNames", indexBytes},
		{"getOwnPropertyDescriptors", pairBytes}, {"freeze", propertyBytes}, {"seal", propertyBytes},
	} {
		builtin.Guard(e, object, m.name, func(c *goja.FunctionCall) {
			v := c.Argument(0)
			if builtin.StringLength(v) > maxListed {
				e.Throw("RangeError", builtin.BadArrayLength)
			}
			e.Memory.Fit(m.bytes*many(v), builtin.BadArrayLength)
		})
	}
	copied := func(source goja.Value) {
		if builtin.StringLength(source) > maxIndexes || many(source) > maxListed {
			e.Throw("RangeError", builtin.BadArrayLength)
		}
	}
	e.Natives.Spread = func(source goja.Value) {
		copied(source)
		e.Memory.Fit(propertyBytes*many(source), builtin.BadArrayLength)
	}
	builtin.Guard(e, object, "assign", func(c *goja.FunctionCall) {
		for i, source := range c.Arguments {
			if i == 0 {
				continue
			}
			copied(source)
			if target, ok := c.Arguments[0].(*goja.Object); ok && e.Maker().Plain.Array(target) == nil {
				e.Memory.Fit(propertyBytes*many(source), builtin.BadArrayLength)
			}
		}
	})
}

// constructor refuses what is none.
func constructor(e *engine.Engine, v goja.Value) {
	if _, ok := goja.AssertConstructor(v); !ok {
		e.Throw("TypeError", "%s is not a constructor", builtin.Show(e, v))
	}
}

// guardPrototypes keeps the search for a property finite.
func guardPrototypes(e *engine.Engine) {
	for _, holder := range []string{"Object", "Reflect"} {
		builtin.Guard(e, e.VM().Get(holder).(*goja.Object), "setPrototypeOf", func(c *goja.FunctionCall) {
			checkPrototype(e, c.Argument(0), c.Argument(1))
		})
	}
	object := e.VM().Get("Object").(*goja.Object)
	describe, _ := goja.AssertFunction(object.Get("getOwnPropertyDescriptor"))
	d, err := describe(goja.Undefined(), object.Get("prototype"), e.VM().ToValue("__proto__"))
	if err != nil {
		panic("engine: __proto__: " + err.Error())
	}
	builtin.Guard(e, d.(*goja.Object), "set", func(c *goja.FunctionCall) { checkPrototype(e, c.This, c.Argument(0)) })
}

// checkPrototype refuses a prototype through which an object would find itself
// again. goja refuses it for plain objects; through a proxy's target or handler
// the search would never end.
func checkPrototype(e *engine.Engine, object, proto goja.Value) {
	seen := map[*goja.Object]bool{}
	var visit func(v *goja.Object, behind bool)
	visit = func(v *goja.Object, behind bool) {
		for v != nil && !seen[v] {
			if behind && v == object {
				e.Throw("TypeError", "Cyclic __proto__ value")
			}
			seen[v] = true
			if p, ok := builtin.AsProxy(v); ok {
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
