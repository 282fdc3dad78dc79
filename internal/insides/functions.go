package insides

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

// Prelude reports whether a function is of a prelude.
func (in *Goja) Prelude(fn *goja.Object) bool {
	if !in.Known || fn.ClassName() != "Function" {
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

// Function is goja's form of a native function.
type Function = func(goja.FunctionCall) goja.Value

// ConstructorOf is where a native constructor keeps its Go function; nil for
// other objects.
func (in *Goja) ConstructorOf(o *goja.Object) *constructor {
	if !in.Known {
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

// FunctionOf is where a native function keeps its Go function; nil for other
// objects.
func (in *Goja) FunctionOf(o *goja.Object) *Function {
	if !in.Known {
		return nil
	}
	v := in.implementation(o)
	for _, f := range in.functions {
		if v.Type() == f.of {
			return (*Function)(unsafe.Add(v.UnsafePointer(), f.offset))
		}
	}
	return nil
}

// Amend has fn run in the place of what a native function does, which fn gets as
// method; the function object stays the same. It reports false, and does nothing,
// if goja cannot be looked into. Loop-confined.
func Amend(native *goja.Object, fn func(c goja.FunctionCall, method func(goja.FunctionCall) goja.Value) goja.Value) bool {
	in := TheGoja()
	if !in.Known {
		return false
	}
	slot := in.FunctionOf(native)
	if slot == nil {
		return false
	}
	method := *slot
	*slot = func(c goja.FunctionCall) goja.Value { return fn(c, method) }
	return true
}
