package array

import (
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// guardFlat adds up what flat will put together: an array may hold another one
// many times.
func GuardFlat(e *engine.Engine) {
	builtin.Guard(e, builtin.Prototype(e, "Array"), "flat", func(c *goja.FunctionCall) {
		depth := 1.0
		if len(c.Arguments) > 0 && !goja.IsUndefined(c.Arguments[0]) {
			depth = builtin.NumberAt(e, c, 0)
		}
		if array, ok := c.This.(*goja.Object); ok {
			checkFlat(e, array, depth, 0, new(int64))
		}
	})
}

func checkFlat(e *engine.Engine, array *goja.Object, depth float64, level int, total *int64) {
	if level > builtin.MaxNesting {
		e.Throw("RangeError", engine.StackExceeded)
	}
	e.Natives.Pause()
	n := builtin.LengthOf(e, array)
	if *total += n + 1; *total > builtin.MaxElements {
		e.Throw("RangeError", builtin.BadArrayLength)
	}
	if depth < 1 {
		return
	}
	for i := range int(n) {
		if inner, ok := array.Get(strconv.Itoa(i)).(*goja.Object); ok && builtin.IsArray(e, inner) {
			checkFlat(e, inner, depth-1, level+1, total)
		}
	}
}

// GuardSizes has methods that walk an array refuse one that is too long to be walked
// without an interrupt.
func GuardSizes(e *engine.Engine) {
	p := builtin.Prototype(e, "Array")
	// pop and push take one step; what calls back is interrupted, but for holes.
	for _, name := range []string{"fill", "copyWithin", "reverse", "sort", "unshift", "shift", "slice", "splice", "toLocaleString", "toReversed", "toSorted",
		"toSpliced", "with", "indexOf", "lastIndexOf", "includes", "every", "some", "forEach", "map", "filter", "reduce", "reduceRight", "find", "findIndex",
		"findLast", "findLastIndex", "flatMap"} {
		builtin.Guard(e, p, name, func(c *goja.FunctionCall) {
			if builtin.LengthOf(e, c.This) > builtin.MaxElements {
				e.Throw("RangeError", builtin.BadArrayLength)
			}
		})
	}
	// goja asks all prototypes for a setter, and copies a long array in one go, for which every other worker may have
	// to wait.
	builtin.Wrap(e, p, "push", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if o, ok := c.This.(*goja.Object); ok {
			if list := e.Maker().Plain.Array(o); list != nil && list.Append(c.Arguments...) {
				return e.VM().ToValue(list.Length())
			}
		}
		return method(c)
	})
	builtin.Guard(e, p, "concat", func(c *goja.FunctionCall) {
		total := builtin.LengthOf(e, c.This)
		for _, a := range c.Arguments {
			if obj, ok := a.(*goja.Object); ok && obj.ClassName() == "Array" {
				total += builtin.LengthOf(e, a)
			}
		}
		if total > builtin.MaxElements {
			e.Throw("RangeError", builtin.BadArrayLength)
		}
	})
	builtin.Guard(e, p, "join", func(c *goja.FunctionCall) { checkJoin(e, c) })
	builtin.Guard(e, e.VM().Get("Array").(*goja.Object), "from", func(c *goja.FunctionCall) {
		if len(c.Arguments) == 0 {
			return
		}
		if obj, ok := c.Arguments[0].(*goja.Object); ok && e.Maker().Plain.Array(obj) != nil {
			return
		}
		obj, ok := c.Arguments[0].(*goja.Object)
		if ok && obj.GetSymbol(goja.SymIterator) == nil && builtin.LengthOf(e, obj) > builtin.MaxElements {
			e.Throw("RangeError", builtin.BadArrayLength)
		}
	})
}

// checkJoin adds up the strings that join will write. Objects among them
// convert with user code, or are arrays that are joined in turn.
func checkJoin(e *engine.Engine, c *goja.FunctionCall) {
	obj, ok := c.This.(*goja.Object)
	n := builtin.LengthOf(e, c.This)
	if !ok || n < 2 {
		return
	}
	if n > builtin.MaxElements {
		e.Throw("RangeError", builtin.BadStringLength)
	}
	total := n
	if len(c.Arguments) > 0 {
		total = builtin.Product(float64(n), builtin.StringLength(c.Arguments[0]))
	}
	if obj.ClassName() == "Array" {
		for i := 0; i < int(n) && total <= engine.MaxValueBytes; i++ {
			total += builtin.StringLength(obj.Get(strconv.Itoa(i)))
		}
	}
	e.Memory.Allocate(total, builtin.BadStringLength)
}
