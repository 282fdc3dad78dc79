package engine

import (
	_ "embed"
	"slices"
	"strconv"

	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides"
)

// goja's methods of Array.prototype take short cuts that proxies, objects like
// arrays and arrays of a user's class can see: a `length` read once more, elements
// read without being asked for first. Such receivers get methods that take the
// specification's steps (js/arrays.js), and so does whoever passes something that
// cannot be called, whose text in the error must not be made by its own toString.

//go:embed js/arrays.js
var arraysSource string

var arraysPrelude = NewPrelude("arrays.js", arraysSource)

// arrayMethods are those with short cuts, by how they are called.
var arrayMethods = struct{ plain, calling, sorting []string }{
	plain: []string{"at", "concat", "copyWithin", "fill", "flat", "includes", "indexOf", "join", "lastIndexOf", "pop", "reverse", "shift", "slice",
		"splice", "toLocaleString", "toReversed", "toSpliced", "toString", "unshift", "with"},
	calling: []string{"every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach", "map", "reduce", "reduceRight", "some"},
	sorting: []string{"sort", "toSorted"},
}

// arrays are the methods that take every step. Loop-confined.
type arrays struct {
	engine  *Engine
	methods *goja.Object // nil until they are needed
	joining []*goja.Object
}

// installArrays has the methods of Array.prototype choose.
func (e *Engine) installArrays() {
	if !e.maker.Plain.Known {
		return
	}
	a := &arrays{engine: e}
	proto := e.prototype("Array")
	for _, name := range arrayMethods.plain {
		e.wrap(proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			if !a.ordinary(c.This) || name == "concat" && slices.ContainsFunc(c.Arguments, isProxy) {
				return a.instead(name, c)
			}
			return method(c)
		})
	}
	e.wrap(e.vm.Get("Array").(*goja.Object), "from", func(c goja.FunctionCall, method insides.Function) goja.Value {
		if o, ok := c.Argument(0).(*goja.Object); ok && e.listening(o) {
			return a.instead("from", c)
		}
		return method(c)
	})
	for _, name := range arrayMethods.calling {
		e.wrap(proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			if !a.ordinary(c.This) || !IsCallable(c.Argument(0)) {
				return a.instead(name, c)
			}
			return method(c)
		})
	}
	for _, name := range arrayMethods.sorting {
		e.wrap(proto, name, func(c goja.FunctionCall, method insides.Function) goja.Value {
			if compare := c.Argument(0); a.ordinary(c.This) {
				if goja.IsUndefined(compare) {
					return method(c)
				}
				if IsCallable(compare) {
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
func (e *Engine) listening(o *goja.Object) bool {
	base := e.maker.Plain.Object(o)
	if base == nil {
		return o.ExportType() == proxyType
	}
	return base.HasSymbols() || base.Has("length") && e.maker.Plain.Own(o, "length") == nil
}

func isProxy(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && o != nil && o.ExportType() == proxyType
}

// ordinary reports whether v is an array that goja may take for what it is. One
// that is longer than a built-in may walk is not: the steps that are bounded by
// arguments go on.
func (a *arrays) ordinary(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	if !ok || o == nil {
		return false
	}
	if list := a.engine.maker.Plain.Array(o); list != nil {
		return list.Length() <= MaxElements && list.Properties() <= 1 // length alone: no constructor of its own
	}
	return !a.engine.maker.Plain.Known && o.ClassName() == "Array" && o.ExportType() != proxyType
}

// instead calls the method that takes every step.
func (a *arrays) instead(name string, c goja.FunctionCall) goja.Value {
	e := a.engine
	if a.methods == nil {
		native := e.Native(
			Func{"show", 1, func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(e.Show(c.Argument(0))) }},
			Func{"called", 1, func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(site{engine: e}.show(c.Argument(0), true)) }},
			Func{"fixed", 2, func(c goja.FunctionCall) goja.Value { return e.vm.ToValue(e.whyFixed(c.Argument(0), c.Argument(1))) }},
			Func{"isConstructor", 1, func(c goja.FunctionCall) goja.Value {
				_, ok := goja.AssertConstructor(c.Argument(0))
				return e.vm.ToValue(ok)
			}},
			Func{"sorted", 2, func(c goja.FunctionCall) goja.Value {
				values := e.elements(c.Argument(0).(*goja.Object))
				e.sortValues(values, c.Argument(1))
				return e.maker.ArrayOf(values)
			}},
			Func{"cyclic", 2, func(c goja.FunctionCall) goja.Value { return a.join(c.Argument(0).(*goja.Object), c.Argument(1)) }},
			Func{"join", 2, func(c goja.FunctionCall) goja.Value {
				return e.Call(e.Primordial("ArrayPrototypeJoin"), goja.Undefined(), c.Argument(0), c.Argument(1))
			}},
			Func{"describe", 1, func(c goja.FunctionCall) goja.Value {
				return e.Call(e.Primordial("ObjectPrototypeToString"), goja.Undefined(), c.Argument(0))
			}},
		)
		native.Set("most", MaxElements)
		native.Set("longest", MaxValueBytes)
		native.Set("deepest", maxNesting)
		a.methods = e.Load(arraysPrelude, native).(*goja.Object)
	}
	return e.Call(a.methods.Get(name), c.This, slices.Clone(c.Arguments)...)
}

// join is what write returns, "" while o is being joined already: V8 breaks cycles
// so, which the specification leaves endless.
func (a *arrays) join(o *goja.Object, write goja.Value) goja.Value {
	if slices.Contains(a.joining, o) {
		return a.engine.vm.ToValue("")
	}
	a.joining = append(a.joining, o)
	defer func() { a.joining = a.joining[:len(a.joining)-1] }()
	return a.engine.Call(write, goja.Undefined())
}

// elements are those of an array that has no holes.
func (e *Engine) elements(list *goja.Object) []goja.Value {
	values := make([]goja.Value, e.arrayLength(list))
	for i := range values {
		values[i] = e.element(list, i)
	}
	return values
}

// sortOrdinary sorts an array by a function of the user's, in place or as a copy;
// nil, and nothing has happened, if the array has holes or accessors.
func (a *arrays) sortOrdinary(o *goja.Object, compare goja.Value, inPlace bool) goja.Value {
	e := a.engine
	list := e.maker.Plain.Array(o)
	if list == nil || len(list.Values()) != int(list.Length()) {
		return nil
	}
	for _, v := range list.Values() {
		if v == nil || e.maker.Plain.Special(v) {
			return nil
		}
	}
	values := slices.Clone(list.Values())
	e.sortValues(values, compare)
	if !inPlace {
		return e.maker.ArrayOf(values)
	}
	for i, v := range values {
		if now := e.maker.Plain.Array(o); now != nil && i < len(now.Values()) && now.Values()[i] != nil && !e.maker.Plain.Special(now.Values()[i]) {
			now.Values()[i] = v
			continue
		}
		if err := o.Set(strconv.Itoa(i), v); err != nil { // compare has changed the array
			e.Rethrow(err)
		}
	}
	return o
}
