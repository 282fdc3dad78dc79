// Package array is the methods of Array (ECMA-262, section 23.1) and sorting. Everything
// is loop-confined.
package array

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// goja's methods of Array.prototype take short cuts that proxies, objects like
// arrays and arrays of a user's class can see: a `length` read once more, elements
// read without being asked for first. Such receivers get methods that take the
// specification's steps (js/arrays.js), and so does whoever passes something that
// cannot be called, whose text in the error must not be made by its own toString.

//go:embed arrays.js
var arraysSource string

var arraysPrelude = engine.NewPrelude("arrays.js", arraysSource)

// Methods are those with short cuts, by how they are called.
var Methods = struct{ plain, Calling, Sorting []string }{
	plain: []string{"at", "concat", "copyWithin", "fill", "flat", "includes", "indexOf", "join", "lastIndexOf", "pop", "reverse", "shift", "slice",
		"splice", "toLocaleString", "toReversed", "toSpliced", "toString", "unshift", "with"},
	Calling: []string{"every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach", "map", "reduce", "reduceRight", "some"},
	Sorting: []string{"sort", "toSorted"},
}

// methods are the methods that take every step. Loop-confined.
type methods struct {
	engine  *engine.Engine
	methods *goja.Object // nil until they are needed
	joining []*goja.Object

	array, object *goja.Object // Array.prototype, Object.prototype
}

// Install has the methods of Array.prototype choose.
func Install(e *engine.Engine) {
	if !e.Maker().Plain.Known {
		return
	}
	proto := builtin.Prototype(e, "Array")
	a := &methods{engine: e, array: proto, object: proto.Prototype()}
	for _, name := range Methods.plain {
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			if !a.ordinary(c.This) || name == "concat" && slices.ContainsFunc(c.Arguments, isProxy) || name == "toLocaleString" && len(c.Arguments) > 0 {
				return a.instead(name, c)
			}
			if name == "fill" && a.fill(c) {
				return c.This
			}
			return method(c)
		})
	}
	builtin.Wrap(e, e.VM().Get("Array").(*goja.Object), "from", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if o, ok := c.Argument(0).(*goja.Object); ok && listening(e, o) {
			return a.instead("from", c)
		}
		return method(c)
	})
	for _, name := range Methods.Calling {
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			if !a.ordinary(c.This) || !engine.IsCallable(c.Argument(0)) {
				return a.instead(name, c)
			}
			return method(c)
		})
	}
	for _, name := range Methods.Sorting {
		builtin.Wrap(e, proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			if compare := c.Argument(0); a.ordinary(c.This) {
				if goja.IsUndefined(compare) {
					if sorted := a.sortByText(c.This.(*goja.Object), name == "sort"); sorted != nil {
						return sorted
					}
					return method(c)
				}
				if engine.IsCallable(compare) {
					if sorted := a.sortOrdinary(c.This.(*goja.Object), compare, name == "sort"); sorted != nil {
						return sorted
					}
				}
			}
			return a.instead(name, c)
		})
	}
}

// listening reports whether code of an object's may notice how often it is asked for
// its iterator or its length.
func listening(e *engine.Engine, o *goja.Object) bool {
	base := e.Maker().Plain.Object(o)
	if base == nil {
		return o.ExportType() == builtin.ProxyType
	}
	return base.HasSymbols() || base.Has("length") && e.Maker().Plain.Own(o, "length") == nil
}

func isProxy(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && o != nil && o.ExportType() == builtin.ProxyType
}

// ordinary reports whether v is an array that goja may take for what it is. One
// that is longer than a built-in may walk is not: the steps that are bounded by
// arguments go on.
func (a *methods) ordinary(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok || o == nil {
		return false
	}
	if list := a.engine.Maker().Plain.Array(o); list != nil {
		return list.Length() <= builtin.MaxElements && list.Properties() <= 1 // length alone: no constructor of its own
	}
	return !a.engine.Maker().Plain.Known && o.ClassName() == "Array" && o.ExportType() != builtin.ProxyType
}

// fill fills the whole of an ordinary array in one go, or throws a RangeError if the heap has no
// room for it. It reports false where goja's method has to take its steps: of a part, of a short
// array, and where an inherited index might be a setter.
func (a *methods) fill(c goja.FunctionCall) bool {
	const short = 256
	o := c.This.(*goja.Object)
	list := a.engine.Maker().Plain.Array(o)
	if list == nil || int(list.Length()) < short || len(c.Arguments) > 1 {
		return false
	}
	for proto := o.Prototype(); proto != nil; proto = proto.Prototype() {
		if proto != a.array && proto != a.object || slices.ContainsFunc(proto.GetOwnPropertyNames(), startsWithDigit) {
			return false
		}
	}
	a.engine.Memory.Fit(int64(list.Length())*int64(unsafe.Sizeof(goja.Value(nil))), builtin.BadArrayLength)
	return list.Fill(c.Argument(0))
}

// startsWithDigit holds for every name that is an index.
func startsWithDigit(name string) bool { return name != "" && name[0] >= '0' && name[0] <= '9' }

// instead calls the method that takes every step.
func (a *methods) instead(name string, c goja.FunctionCall) goja.Value {
	e := a.engine
	if a.methods == nil {
		native := e.Native(
			engine.Func{Name: "show", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return e.VM().ToValue(builtin.Show(e, c.Argument(0))) }},
			engine.Func{Name: "called", Length: 1, Fn: func(c goja.FunctionCall) goja.Value { return e.VM().ToValue(builtin.CallSite(e, c.Argument(0))) }},
			engine.Func{Name: "fixed", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				return e.VM().ToValue(builtin.WhyFixed(e, c.Argument(0), c.Argument(1)))
			}},
			engine.Func{Name: "isConstructor", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
				_, ok := goja.AssertConstructor(c.Argument(0))
				return e.VM().ToValue(ok)
			}},
			engine.Func{Name: "sorted", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				values := elements(e, c.Argument(0).(*goja.Object))
				sortValues(e, values, c.Argument(1))
				return e.Maker().ArrayOf(values)
			}},
			engine.Func{Name: "cyclic", Length: 2, Fn: func(c goja.FunctionCall) goja.Value { return a.join(c.Argument(0).(*goja.Object), c.Argument(1)) }},
			engine.Func{Name: "join", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				return e.Call(e.Primordial("ArrayPrototypeJoin"), goja.Undefined(), c.Argument(0), c.Argument(1))
			}},
			engine.Func{Name: "describe", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
				return e.Call(e.Primordial("ObjectPrototypeToString"), goja.Undefined(), c.Argument(0))
			}},
		)
		native.Set("most", builtin.MaxElements)
		native.Set("longest", engine.MaxValueBytes)
		native.Set("deepest", builtin.MaxNesting)
		a.methods = e.Load(arraysPrelude, native).(*goja.Object)
	}
	return e.Call(a.methods.Get(name), c.This, slices.Clone(c.Arguments)...)
}

// join is what write returns, "" while o is being joined already: V8 breaks cycles
// so, which the specification leaves endless.
func (a *methods) join(o *goja.Object, write goja.Value) goja.Value {
	if slices.Contains(a.joining, o) {
		return a.engine.VM().ToValue("")
	}
	a.joining = append(a.joining, o)
	defer func() { a.joining = a.joining[:len(a.joining)-1] }()
	return a.engine.Call(write, goja.Undefined())
}

// elements are those of an array that has no holes.
func elements(e *engine.Engine, list *goja.Object) []goja.Value {
	values := make([]goja.Value, builtin.LengthOf(e, list))
	for i := range values {
		values[i] = builtin.Element(e, list, i)
	}
	return values
}

// sortByText sorts an array of primitive values by their texts (23.1.3.30.2), in place or as a copy,
// and makes each text once; nil, and nothing has happened, if there are objects, symbols, holes or
// accessors, of which goja's method calls code of the program's or throws.
func (a *methods) sortByText(o *goja.Object, inPlace bool) goja.Value {
	type item struct {
		text  goja.String
		value goja.Value
		at    int
	}
	e, plain := a.engine, a.engine.Maker().Plain
	list := plain.Array(o)
	if list == nil || len(list.Values()) != int(list.Length()) {
		return nil
	}
	e.Memory.Fit(int64(len(list.Values()))*int64(unsafe.Sizeof(item{})), builtin.BadArrayLength)
	items, missing := make([]item, 0, len(list.Values())), 0
	for i, v := range list.Values() {
		switch v.(type) {
		case nil, *goja.Object, *goja.Symbol:
			return nil
		}
		if plain.Special(v) {
			return nil
		}
		if goja.IsUndefined(v) { // these come last
			missing++
			continue
		}
		items = append(items, item{builtin.TextOf(v), v, i})
		if i%pauseEvery == 0 {
			e.Natives.Pause()
		}
	}
	compared := 0
	slices.SortFunc(items, func(x, y item) int {
		if compared++; compared%pauseEvery == 0 {
			e.Natives.Pause()
		}
		return cmp.Or(x.text.CompareTo(y.text), cmp.Compare(x.at, y.at))
	})
	values := list.Values()
	if !inPlace {
		values = make([]goja.Value, len(items)+missing)
	}
	for i := range values {
		if values[i] = goja.Undefined(); i < len(items) {
			values[i] = items[i].value
		}
	}
	if !inPlace {
		return e.Maker().ArrayOf(values)
	}
	return o
}

// pauseEvery is after how many steps a method asks whether it may go on.
const pauseEvery = 1024

// sortOrdinary sorts an array by a function of the user's, in place or as a copy;
// nil, and nothing has happened, if the array has holes or accessors.
func (a *methods) sortOrdinary(o *goja.Object, compare goja.Value, inPlace bool) goja.Value {
	e := a.engine
	list := e.Maker().Plain.Array(o)
	if list == nil || len(list.Values()) != int(list.Length()) {
		return nil
	}
	for _, v := range list.Values() {
		if v == nil || e.Maker().Plain.Special(v) {
			return nil
		}
	}
	values := slices.Clone(list.Values())
	sortValues(e, values, compare)
	if !inPlace {
		return e.Maker().ArrayOf(values)
	}
	for i, v := range values {
		if now := e.Maker().Plain.Array(o); now != nil && i < len(now.Values()) && now.Values()[i] != nil && !e.Maker().Plain.Special(now.Values()[i]) {
			now.Values()[i] = v
			continue
		}
		if err := o.Set(strconv.Itoa(i), v); err != nil { // compare has changed the array
			e.Rethrow(err)
		}
	}
	return o
}
