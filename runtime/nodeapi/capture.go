package nodeapi

import (
	"reflect"

	"github.com/dop251/goja"
)

// builtin is a function of the language called without going through
// JavaScript; it panics with the exception it throws.
type builtin func(goja.FunctionCall) goja.Value

// captured are built-ins as they were before user code ran. Immutable.
type captured struct {
	viewLength, viewOffset, viewBuffer builtin // of %TypedArray%.prototype
	dataLength, dataOffset, dataBuffer builtin // of DataView.prototype
	uint8Array                         func(newTarget *goja.Object, args ...goja.Value) (*goja.Object, error)
	uint8ArrayCtor, dataViewProto      *goja.Object
	symbolFor                          goja.Value
}

var (
	bytesType       = reflect.TypeFor[[]byte]()
	arrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()
	arrayType       = reflect.TypeFor[[]any]()    // of arrays and Sets
	pairsType       = reflect.TypeFor[[][2]any]() // of Maps
)

func capture(vm *goja.Runtime) captured {
	object := vm.Get("Object").(*goja.Object)
	descriptor := asBuiltin(object.Get("getOwnPropertyDescriptor"))
	getter := func(of *goja.Object, name string) builtin {
		d := descriptor(goja.FunctionCall{Arguments: []goja.Value{of, vm.ToValue(name)}}).(*goja.Object)
		return asBuiltin(d.Get("get"))
	}
	ctor := vm.Get("Uint8Array").(*goja.Object)
	view := ctor.Get("prototype").(*goja.Object).Prototype()
	data := vm.Get("DataView").(*goja.Object).Get("prototype").(*goja.Object)
	c := captured{
		viewLength: getter(view, "byteLength"), viewOffset: getter(view, "byteOffset"), viewBuffer: getter(view, "buffer"),
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

func this(v goja.Value) goja.FunctionCall { return goja.FunctionCall{This: v} }

// viewKind says what a value is as a source of bytes.
type viewKind int

const (
	notBytes viewKind = iota
	isUint8
	isTypedArray
	isDataView
	isArrayBuffer
)

func (m *Modules) kindOf(v goja.Value) viewKind {
	obj, ok := v.(*goja.Object)
	if !ok {
		return notBytes
	}
	switch t := obj.ExportType(); {
	case t == bytesType:
		return isUint8
	case t == arrayBufferType:
		return isArrayBuffer
	case t != nil && t.Kind() == reflect.Slice && t != arrayType && t != pairsType:
		return isTypedArray
	}
	if obj.ClassName() == "DataView" || m.inherits(obj, m.prims.dataViewProto) {
		return isDataView
	}
	return notBytes
}

// inherits reports whether proto is on obj's prototype chain.
func (m *Modules) inherits(obj, proto *goja.Object) bool {
	if obj.ClassName() != "Object" {
		return false
	}
	found := false
	m.vm.Try(func() {
		for p := obj.Prototype(); p != nil; p = p.Prototype() {
			if p == proto {
				found = true
				return
			}
		}
	})
	return found
}

// bytes is the memory of an ArrayBuffer or a view on one: shared, not a copy.
// That of a detached one is empty.
func (m *Modules) bytes(v goja.Value) ([]byte, bool) {
	switch m.kindOf(v) {
	case isUint8:
		if m.prims.viewLength(this(v)).ToInteger() == 0 { // also detached: it must not reach Export
			return nil, true
		}
		data, ok := v.Export().([]byte)
		return data, ok
	case isArrayBuffer:
		return v.Export().(goja.ArrayBuffer).Bytes(), true
	case isTypedArray:
		return m.window(v, m.prims.viewBuffer, m.prims.viewOffset, m.prims.viewLength), true
	case isDataView:
		var data []byte
		ok := m.vm.Try(func() {
			data = m.window(v, m.prims.dataBuffer, m.prims.dataOffset, m.prims.dataLength)
		}) == nil
		return data, ok
	}
	return nil, false
}

func (m *Modules) window(v goja.Value, buffer, offset, length builtin) []byte {
	n := length(this(v)).ToInteger()
	if n == 0 {
		return nil
	}
	memory := buffer(this(v)).Export().(goja.ArrayBuffer).Bytes()
	start := offset(this(v)).ToInteger()
	return memory[start : start+n]
}
