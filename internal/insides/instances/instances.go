// Package instances is the one place that looks into wazero's instances of modules.
package instances

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero/api"

	"minido.dev/minido/internal/planted"
)

// wazero's API has no tables, and no way from a reference to its function. What
// it exports from packages of its own does: the fields and methods below are
// found by their names, and Check holds them against what is expected, so
// that another version of wazero is refused instead of misread.

// Engine is what wazero's ModuleInstance.Engine implements, of which these
// are needed.
type Engine interface {
	NewFunction(index uint32) api.Function
	FunctionInstanceReference(index uint32) uintptr
}

// Cell is a global: wazero's GlobalInstance.
type Cell interface {
	Value() (lo, hi uint64)
	SetValue(lo, hi uint64)
}

// Growable is wazero's TableInstance.
type Growable interface {
	Grow(delta uint32, initial uintptr) (previous uint32)
}

func field(m api.Module, name string) reflect.Value {
	return reflect.ValueOf(m).Elem().FieldByName(name)
}

// EngineOf is what makes functions of an instance, and references to them; nil if it is
// not known.
func EngineOf(m api.Module) Engine {
	e, _ := field(m, "Engine").Interface().(Engine)
	return e
}

// TableOf is table i of an instance, imported ones first: its elements, and what
// grows it.
func TableOf(m api.Module, i int) (elements *[]uintptr, grow Growable) {
	t := field(m, "Tables").Index(i)
	elements, _ = t.Elem().FieldByName("References").Addr().Interface().(*[]uintptr)
	grow, _ = t.Interface().(Growable)
	return elements, grow
}

// GlobalOf is global i of an instance.
func GlobalOf(m api.Module, i int) Cell {
	g, _ := field(m, "Globals").Index(i).Interface().(Cell)
	return g
}

// PresetGlobal sets a global of ours before anyone has imported it: constant
// expressions of importers read the initial value, code reads the current one.
func PresetGlobal(m api.Module, v uint64) {
	g := field(m, "Globals").Index(0)
	g.Elem().FieldByName("Val").SetUint(v)
	GlobalOf(m, 0).SetValue(v, 0)
}

// WithoutMemory takes an imported memory from an instance that will be closed:
// closing would unhook it from who owns it.
func WithoutMemory(m api.Module) { field(m, "MemoryInstance").SetZero() }

// Code identifies a function: where its machine code is, and for which instance.
// It is what wazero's functionInstance begins with, to which references point.
type Code struct{ executable, Instance uintptr }

// CodeOf is what a reference points to.
func CodeOf(ref uintptr) Code { return **(**Code)(unsafe.Pointer(&ref)) }

// errUnknown is why there is no WebAssembly.
var errUnknown = errors.New("the layout of wazero's instances is unknown: its tables, globals and memories cannot be looked into, and there is no WebAssembly")

// looked are the fields of wazero's ModuleInstance that are looked at.
var looked = []struct {
	name, as string
	is       func(reflect.Type) bool
}{
	{"Tables", "a slice of structs with References []uintptr, that grow", func(f reflect.Type) bool {
		if f.Kind() != reflect.Slice || f.Elem().Kind() != reflect.Pointer || f.Elem().Elem().Kind() != reflect.Struct {
			return false
		}
		refs, ok := f.Elem().Elem().FieldByName("References")
		return ok && refs.Type == reflect.TypeFor[[]uintptr]() && f.Elem().Implements(reflect.TypeFor[Growable]())
	}},
	{"Globals", "a slice of structs with Val uint64, that have a value", func(f reflect.Type) bool {
		if f.Kind() != reflect.Slice || f.Elem().Kind() != reflect.Pointer || f.Elem().Elem().Kind() != reflect.Struct {
			return false
		}
		val, ok := f.Elem().Elem().FieldByName("Val")
		return ok && val.Type.Kind() == reflect.Uint64 && f.Elem().Implements(reflect.TypeFor[Cell]())
	}},
	{"MemoryInstance", "a pointer", func(f reflect.Type) bool { return f.Kind() == reflect.Pointer }},
	{"Engine", "an interface, whose value gives functions and references to them", func(f reflect.Type) bool { return f.Kind() == reflect.Interface }},
}

// Check holds an instance of a module with a function against what is expected; the
// error names what is otherwise. wrong is a field that is taken for unknown, for tests.
func Check(m api.Module, wrong string) error {
	t := reflect.TypeOf(m)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("%w (%v is no struct)", errUnknown, t)
	}
	for _, l := range looked {
		if f, ok := t.Elem().FieldByName(l.name); !ok || !l.is(f.Type) || l.name == wrong || planted.Layout == "wasm.ModuleInstance."+l.name {
			return fmt.Errorf("%w (%v.%s is not as expected)", errUnknown, t.Elem(), l.name)
		}
	}
	engine := EngineOf(m)
	if engine == nil {
		return fmt.Errorf("%w (its engine gives no references)", errUnknown)
	}
	// A reference points to what begins with where the code is, and whose: the same for
	// the same function.
	one, two := engine.FunctionInstanceReference(0), engine.FunctionInstanceReference(0)
	if one == 0 || CodeOf(one) != CodeOf(two) || CodeOf(one).executable == 0 || CodeOf(one).Instance == 0 {
		return fmt.Errorf("%w (a reference does not lead to code)", errUnknown)
	}
	return nil
}
