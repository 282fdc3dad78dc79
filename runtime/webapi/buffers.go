package webapi

import (
	"reflect"

	"github.com/dop251/goja"
)

var (
	promiseType     = reflect.TypeFor[*goja.Promise]()
	arrayBufferType = reflect.TypeFor[goja.ArrayBuffer]()
	listType        = reflect.TypeFor[[]any]()    // of arrays and Sets
	pairsType       = reflect.TypeFor[[][2]any]() // of Maps
)

// promiseOf is the native promise that v is, nil if it is none.
func promiseOf(v goja.Value) *goja.Promise {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() != promiseType {
		return nil
	}
	promise, _ := obj.Export().(*goja.Promise)
	return promise
}

// isArrayBuffer reports whether v is an ArrayBuffer.
func isArrayBuffer(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	return ok && obj.ExportType() == arrayBufferType
}

// bytesOf is the memory of a BufferSource, an ArrayBuffer or a view: not a copy.
// A SharedArrayBuffer is none (Web IDL, section 3.2.25).
func (p *Platform) bytesOf(v goja.Value) ([]byte, bool) {
	if obj, ok := v.(*goja.Object); ok && p.Engine.IsShared(obj) {
		return nil, false
	}
	return p.memoryOf(v)
}

// memoryOf is bytesOf for what [AllowShared] stands at.
func (p *Platform) memoryOf(v goja.Value) ([]byte, bool) {
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
	case p.vm.InstanceOf(obj, p.Engine.Primordial("DataView")):
		class = "DataView"
	default:
		return nil, false
	}
	// What is detached, or no view at all, must not reach goja's export.
	var length int64
	if p.vm.Try(func() {
		length = p.Engine.Call(p.Engine.Primordial(class+"PrototypeGetByteLength"), goja.Undefined(), obj).ToInteger()
	}) != nil {
		return nil, class == "TypedArray"
	}
	var data []byte
	if length > 0 && p.vm.ExportTo(obj, &data) != nil {
		return nil, false
	}
	return data, true
}
