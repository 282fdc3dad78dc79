package webidl

import (
	"reflect"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/buffers"
)

var (
	arrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()
	listType        = reflect.TypeFor[[]any]()    // of arrays and Sets
	pairsType       = reflect.TypeFor[[][2]any]() // of Maps
)

// IsArrayBuffer reports whether v is an ArrayBuffer.
func IsArrayBuffer(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	return ok && obj.ExportType() == arrayBufferType
}

// BytesOf is the memory of a BufferSource, an ArrayBuffer or a view: not a copy.
// A SharedArrayBuffer is none (Web IDL, section 3.2.25).
func (r *Realm) BytesOf(v goja.Value) ([]byte, bool) {
	if obj, ok := v.(*goja.Object); ok && buffers.IsShared(r.Engine, obj) {
		return nil, false
	}
	return r.MemoryOf(v)
}

// MemoryOf is bytesOf for what [AllowShared] stands at.
func (r *Realm) MemoryOf(v goja.Value) ([]byte, bool) {
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	t := obj.ExportType()
	if t == arrayBufferType {
		return obj.Export().(goja.ArrayBuffer).Bytes(), true
	}
	class := ""
	switch {
	case t != nil && t.Kind() == reflect.Slice && t != listType && t != pairsType:
		class = "TypedArray"
	case r.VM.InstanceOf(obj, r.Engine.Primordial("DataView")):
		class = "DataView"
	default:
		return nil, false
	}
	// What is detached, or no view at all, must not reach goja's export.
	var length int64
	if r.VM.Try(func() {
		length = r.Engine.Call(r.Engine.Primordial(class+"PrototypeGetByteLength"), goja.Undefined(), obj).ToInteger()
	}) != nil {
		return nil, class == "TypedArray"
	}
	var data []byte
	if length > 0 && r.VM.ExportTo(obj, &data) != nil {
		return nil, false
	}
	return data, true
}

// NewArrayBuffer is an ArrayBuffer over data, which is not copied.
func (r *Realm) NewArrayBuffer(data []byte) goja.Value {
	return r.VM.ToValue(r.VM.NewArrayBuffer(data))
}

// NewUint8Array is a Uint8Array over data, which is not copied.
func (r *Realm) NewUint8Array(data []byte) *goja.Object {
	obj, err := r.VM.New(r.Engine.Primordial("Uint8Array"), r.NewArrayBuffer(data))
	if err != nil {
		r.Engine.Rethrow(err)
	}
	return obj
}
