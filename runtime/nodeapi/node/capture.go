package node

import (
	"reflect"

	"github.com/dop251/goja"
)

// builtin is a function of the language called without going through
// JavaScript; it panics with the exception it throws.
type builtin func(goja.FunctionCall) goja.Value

// Captured are built-ins as they were before user code ran. Immutable.
type Captured struct {
	viewLength, ViewOffset, ViewBuffer builtin // of %TypedArray%.prototype
	dataLength, dataOffset, dataBuffer builtin // of DataView.prototype
	uint8Array                         func(newTarget *goja.Object, args ...goja.Value) (*goja.Object, error)
	uint8ArrayCtor, dataViewProto      *goja.Object
	symbolFor                          goja.Value
}

var (
	bytesType = reflect.TypeFor[[]byte]()
	// ArrayBufferType is the Go type of an exported ArrayBuffer.
	ArrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()
	arrayType       = reflect.TypeFor[[]any]()    // of arrays and Sets
	pairsType       = reflect.TypeFor[[][2]any]() // of Maps
)

func capture(vm *goja.Runtime) Captured {
	object := vm.Get("Object").(*goja.Object)
	descriptor := asBuiltin(object.Get("getOwnPropertyDescriptor"))
	getter := func(of *goja.Object, name string) builtin {
		d := descriptor(goja.FunctionCall{Arguments: []goja.Value{of, vm.ToValue(name)}}).(*goja.Object)
		return asBuiltin(d.Get("get"))
	}
	ctor := vm.Get("Uint8Array").(*goja.Object)
	view := ctor.Get("prototype").(*goja.Object).Prototype()
	data := vm.Get("DataView").(*goja.Object).Get("prototype").(*goja.Object)
	c := Captured{
		viewLength: getter(view, "byteLength"), ViewOffset: getter(view, "byteOffset"), ViewBuffer: getter(view, "buffer"),
		dataLength: getter(data, "byteLength"), dataOffset: getter(data, "byteOffset"), dataBuffer: getter(data, "buffer"),
		uint8ArrayCtor: ctor, dataViewProto: data,
		symbolFor: vm.Get("Symbol").(*goja.Object).Get("for"),
	}
	c.uint8Array, _ = goja.AssertConstructor(ctor)
	return c
}

func asBuiltin(v goja.Value) builtin {
	fn, ok := v.Export().(func(goja.FunctionCall) goja.Value)
	if !ok {
		panic("nodeapi: not a built-in function; make the modules before user code runs")
	}
	return fn
}

// This is a call without arguments on a value.
func This(v goja.Value) goja.FunctionCall { return goja.FunctionCall{This: v} }

// viewKind says what a value is as a source of bytes.
type viewKind int

const (
	// NotBytes is anything else.
	NotBytes viewKind = iota
	// IsUint8 is a Uint8Array, Buffers among them.
	IsUint8
	// isTypedArray is another typed array.
	isTypedArray
	// IsDataView is a DataView, also one of another class.
	IsDataView
	// IsArrayBuffer is an ArrayBuffer.
	IsArrayBuffer
)

// KindOf says what a value is as a source of bytes.
func (m *Modules) KindOf(v goja.Value) viewKind {
	obj, ok := v.(*goja.Object)
	if !ok {
		return NotBytes
	}
	switch t := obj.ExportType(); {
	case t == bytesType:
		return IsUint8
	case t == ArrayBufferType:
		return IsArrayBuffer
	case t != nil && t.Kind() == reflect.Slice && t != arrayType && t != pairsType:
		return isTypedArray
	}
	if obj.ClassName() == "DataView" || m.inherits(obj, m.Prims.dataViewProto) {
		return IsDataView
	}
	return NotBytes
}

// inherits reports whether proto is on obj's prototype chain.
func (m *Modules) inherits(obj, proto *goja.Object) bool {
	if obj.ClassName() != "Object" {
		return false
	}
	found := false
	m.VM.Try(func() {
		for p := obj.Prototype(); p != nil; p = p.Prototype() {
			if p == proto {
				found = true
				return
			}
		}
	})
	return found
}

// Bytes is the memory of an ArrayBuffer or a view on one: shared, not a copy.
// That of a detached one is empty.
func (m *Modules) Bytes(v goja.Value) ([]byte, bool) {
	switch m.KindOf(v) {
	case IsUint8:
		if m.Prims.viewLength(This(v)).ToInteger() == 0 { // also detached: it must not reach Export
			return nil, true
		}
		data, ok := v.Export().([]byte)
		return data, ok
	case IsArrayBuffer:
		return v.Export().(goja.ArrayBuffer).Bytes(), true
	case isTypedArray:
		return m.window(v, m.Prims.ViewBuffer, m.Prims.ViewOffset, m.Prims.viewLength), true
	case IsDataView:
		var data []byte
		ok := m.VM.Try(func() {
			data = m.window(v, m.Prims.dataBuffer, m.Prims.dataOffset, m.Prims.dataLength)
		}) == nil
		return data, ok
	}
	return nil, false
}

func (m *Modules) window(v goja.Value, buffer, offset, length builtin) []byte {
	n := length(This(v)).ToInteger()
	if n == 0 {
		return nil
	}
	memory := buffer(This(v)).Export().(goja.ArrayBuffer).Bytes()
	start := offset(This(v)).ToInteger()
	return memory[start : start+n]
}
