package wasm

import (
	"github.com/dop251/goja"
	"minido.dev/minido/internal/insides/instances"
)

// maxTable is V8's bound on the elements of a table (v8: kV8MaxWasmTableSize).
const maxTable = 10_000_000

// table is a WebAssembly.Table. Loop-confined.
type table struct {
	inst    *instance // that defines it
	index   int       // in inst
	typ     tableType
	through *instance
	name    string
	object  *goja.Object
}

func (t *table) elements() *[]uintptr {
	elements, _ := instances.TableOf(t.inst.mod, t.index)
	return elements
}

func (t *table) length() int { return len(*t.elements()) }

// at is an element as JavaScript sees it.
func (t *table) at(i uint32) goja.Value {
	return t.inst.store.toJS(uint64((*t.elements())[i]), t.typ.element)
}

// convert makes an element of the argument, or of the type's default where there
// is none; ok is false if it is of another type.
func (t *table) convert(args []goja.Value, n int) (ref uintptr, ok bool) {
	s := t.inst.store
	if n >= len(args) {
		if t.typ.element == typeFuncref {
			return 0, true
		}
		return uintptr(s.extern.handle(s, goja.Undefined())), true
	}
	if t.typ.element != typeFuncref {
		return uintptr(s.extern.handle(s, args[n])), true
	}
	r, ok := s.reference(args[n], t.inst)
	return uintptr(r), ok
}

// grow adds elements; ok is false if there would be too many.
func (t *table) grow(delta uint32, with uintptr) (before int, ok bool) {
	before = t.length()
	limit := uint64(maxTable)
	if t.typ.limits.bounded {
		limit = min(limit, t.typ.limits.max)
	}
	if uint64(before)+uint64(delta) > limit {
		return 0, false
	}
	_, g := instances.TableOf(t.inst.mod, t.index)
	g.Grow(delta, with)
	return before, true
}

// global is a WebAssembly.Global. Loop-confined.
type global struct {
	inst    *instance // that defines it
	index   int
	typ     globalType
	through *instance
	name    string
	object  *goja.Object
}

func (g *global) get() goja.Value {
	lo, _ := instances.GlobalOf(g.inst.mod, g.index).Value()
	return g.inst.store.toJS(lo, g.typ.value)
}

func (g *global) set(v uint64) { instances.GlobalOf(g.inst.mod, g.index).SetValue(v, 0) }
