package engine

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

// ours reports whether a function is of a prelude.
func (in *insides) ours(fn *goja.Object) bool {
	if !in.ok || fn.ClassName() != "Function" {
		return false
	}
	v := in.implementation(fn)
	offset, scripted := in.programs[v.Type()]
	if !scripted {
		return false
	}
	program := *(*unsafe.Pointer)(unsafe.Add(v.UnsafePointer(), offset))
	if program == nil {
		return false
	}
	src := *(**file.File)(unsafe.Add(program, in.source))
	return src != nil && strings.HasPrefix(src.Name(), "minido:") && src.Name() != "minido:bundle"
}

// implementation is a type of native functions, and where it keeps the Go
// function.
type implementation struct {
	of     reflect.Type
	offset uintptr
}

// constructor is goja's form of a native constructor.
type constructor = func(args []goja.Value, newTarget *goja.Object) *goja.Object

// function is goja's form of a native function.
type function = func(goja.FunctionCall) goja.Value

// constructorOf is where a native constructor keeps its Go function; nil for
// other objects.
func (in *insides) constructorOf(o *goja.Object) *constructor {
	if !in.ok {
		return nil
	}
	v := in.implementation(o)
	for _, f := range in.constructors {
		if v.Type() == f.of {
			return (*constructor)(unsafe.Add(v.UnsafePointer(), f.offset))
		}
	}
	return nil
}

// functionOf is where a native function keeps its Go function; nil for other
// objects.
func (in *insides) functionOf(o *goja.Object) *function {
	if !in.ok {
		return nil
	}
	v := in.implementation(o)
	for _, f := range in.functions {
		if v.Type() == f.of {
			return (*function)(unsafe.Add(v.UnsafePointer(), f.offset))
		}
	}
	return nil
}

// Amend has fn run in the place of what a native function does, which fn gets as
// method; the function object stays the same. It reports false, and does nothing,
// if goja cannot be looked into. Loop-confined.
func Amend(native *goja.Object, fn func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value) bool {
	in := theInsides()
	if !in.ok {
		return false
	}
	slot := in.functionOf(native)
	if slot == nil {
		return false
	}
	method := *slot
	*slot = func(c goja.FunctionCall) goja.Value { return fn(c, method) }
	return true
}
