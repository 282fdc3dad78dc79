package wasm

import (
	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides/instances"
)

// externs are the values of JavaScript that modules hold: an externref is a
// number, the value's place in a list, and 0 is null. A value that is there
// keeps its place, so that the list is no longer than there are different values.
// Loop-confined.
type externs struct {
	values []goja.Value // place i+1
	free   []uint64
	places map[any]uint64
	sweep  int // the length at which it is looked which are still held
}

const firstSweep = 1024

// placeKey is what says whether two values are one; nil if that is not known.
func placeKey(v goja.Value) any {
	if o, ok := v.(*goja.Object); ok {
		return o
	}
	return nil
}

// handle is the number of a value.
func (x *externs) handle(s *Store, v goja.Value) uint64 {
	if goja.IsNull(v) {
		return 0
	}
	key := placeKey(v)
	if key != nil {
		if at, ok := x.places[key]; ok {
			return at
		}
	}
	var at uint64
	if n := len(x.free); n > 0 {
		at, x.free = x.free[n-1], x.free[:n-1]
		x.values[at-1] = v
	} else {
		x.values = append(x.values, v)
		at = uint64(len(x.values))
	}
	if key != nil {
		if x.places == nil {
			x.places = map[any]uint64{}
		}
		x.places[key] = at
	}
	return at
}

func (x *externs) value(at uint64) goja.Value {
	if at == 0 || at > uint64(len(x.values)) {
		return goja.Null()
	}
	return x.values[at-1]
}

// collect frees the places of values that no table and no global holds, if there
// are many. While a call is in progress its arguments and locals may hold any, so
// it is called before the outermost one.
func (x *externs) collect(s *Store) {
	if len(x.free) > 0 || len(x.values) < max(x.sweep, firstSweep) {
		return
	}
	held := make([]bool, len(x.values)+1)
	hold := func(v uint64) {
		if v < uint64(len(held)) {
			held[v] = true
		}
	}
	for _, i := range s.living() {
		i.externrefs(hold)
	}
	for at := uint64(1); at <= uint64(len(x.values)); at++ {
		v := x.values[at-1]
		if held[at] || v == nil {
			continue
		}
		if key := placeKey(v); key != nil {
			delete(x.places, key)
		}
		x.values[at-1] = nil
		x.free = append(x.free, at)
	}
	x.sweep = max(firstSweep, 2*(len(x.values)-len(x.free)))
}

// externrefs calls hold for each externref in the instance's own tables and
// globals.
func (i *instance) externrefs(hold func(uint64)) {
	for n, t := range i.tables {
		if t.typ.element == typeExternref && t.inst == i {
			elements, _ := instances.TableOf(i.mod, n)
			for _, ref := range *elements {
				hold(uint64(ref))
			}
		}
	}
	if i.thrown != nil {
		for k, t := range i.code.rewritten.unwind.types {
			if t == typeExternref {
				v, _ := i.unwindGlobal(k).Value()
				hold(v)
			}
		}
	}
	for n, g := range i.globals {
		if g.typ.value == typeExternref && g.inst == i {
			v, _ := instances.GlobalOf(i.mod, n).Value()
			hold(v)
		}
	}
}
