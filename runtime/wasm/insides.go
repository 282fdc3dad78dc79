package wasm

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
)

// wazero's API has no tables, and no way from a reference to its function. What
// it exports from packages of its own does: the fields and methods below are
// found by their names, and insidesKnown holds them against what is expected, so
// that another version of wazero is refused instead of misread.

// moduleEngine is what wazero's ModuleInstance.Engine implements, of which these
// are needed.
type moduleEngine interface {
	NewFunction(index uint32) api.Function
	FunctionInstanceReference(index uint32) uintptr
}

// cell is a global: wazero's GlobalInstance.
type cell interface {
	Value() (lo, hi uint64)
	SetValue(lo, hi uint64)
}

// growable is wazero's TableInstance.
type growable interface {
	Grow(delta uint32, initial uintptr) (previous uint32)
}

func field(m api.Module, name string) reflect.Value {
	return reflect.ValueOf(m).Elem().FieldByName(name)
}

func engineOf(m api.Module) moduleEngine {
	e, _ := field(m, "Engine").Interface().(moduleEngine)
	return e
}

// tableOf is table i of an instance, imported ones first: its elements, and what
// grows it.
func tableOf(m api.Module, i int) (elements *[]uintptr, grow growable) {
	t := field(m, "Tables").Index(i)
	elements, _ = t.Elem().FieldByName("References").Addr().Interface().(*[]uintptr)
	grow, _ = t.Interface().(growable)
	return elements, grow
}

// globalOf is global i of an instance.
func globalOf(m api.Module, i int) cell {
	g, _ := field(m, "Globals").Index(i).Interface().(cell)
	return g
}

// presetGlobal sets a global of ours before anyone has imported it: constant
// expressions of importers read the initial value, code reads the current one.
func presetGlobal(m api.Module, v uint64) {
	g := field(m, "Globals").Index(0)
	g.Elem().FieldByName("Val").SetUint(v)
	globalOf(m, 0).SetValue(v, 0)
}

// withoutMemory takes an imported memory from an instance that will be closed:
// closing would unhook it from who owns it.
func withoutMemory(m api.Module) { field(m, "MemoryInstance").SetZero() }

// code identifies a function: where its machine code is, and for which instance.
// It is what wazero's functionInstance begins with, to which references point.
type code struct{ executable, instance uintptr }

func codeOf(ref uintptr) code { return **(**code)(unsafe.Pointer(&ref)) }

// insidesKnown reports whether all of it is as expected.
func insidesKnown(e *compiler) (err error) {
	wrong := errors.New("wazero has changed: its tables cannot be looked into")
	fails := guarded(func() error {
		m := engineOf(e.tick)
		if m == nil {
			return wrong
		}
		one, two := m.FunctionInstanceReference(0), m.FunctionInstanceReference(0)
		if one == 0 || codeOf(one) != codeOf(two) || codeOf(one).executable == 0 || codeOf(one).instance == 0 {
			return wrong
		}
		t := reflect.TypeOf(e.tick).Elem()
		for name, is := range map[string]func(reflect.Type) bool{ // order-independent: all have to hold
			"Tables": func(f reflect.Type) bool {
				refs, ok := f.Elem().Elem().FieldByName("References")
				return ok && refs.Type == reflect.TypeFor[[]uintptr]() && f.Elem().Implements(reflect.TypeFor[growable]())
			},
			"Globals": func(f reflect.Type) bool {
				val, ok := f.Elem().Elem().FieldByName("Val")
				return ok && val.Type.Kind() == reflect.Uint64 && f.Elem().Implements(reflect.TypeFor[cell]())
			},
			"MemoryInstance": func(f reflect.Type) bool { return f.Kind() == reflect.Pointer },
		} {
			f, ok := t.FieldByName(name)
			if !ok || !is(f.Type) {
				return wrong
			}
		}
		return nil
	})
	if fails != nil {
		return wrong
	}
	return nil
}
