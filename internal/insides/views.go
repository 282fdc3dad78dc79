package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// Views is where goja keeps what a view shows. Immutable.
type Views struct {
	Known                          bool
	array, data, buffer            reflect.Type
	arrayBuffer, arrayLen, arrayAt uintptr // in an array, in elements
	elementSize                    uintptr
	dataBuffer, dataLen, dataAt    uintptr // in a DataView
	bytes                          uintptr // in a buffer
}

// TheViews is learnt at the first call. Safe for concurrent use.
var TheViews = learnt(learnViews)

func learnViews(l *look) *Views {
	in, v := TheGoja(), &Views{}
	if !l.Is("goja.Object.self", "known", in.Known) {
		return v
	}
	vm := goja.New()
	typeOf := func(class string, args ...goja.Value) reflect.Type {
		o, err := vm.New(vm.Get(class), args...)
		if !l.Is("new "+class, "an object", err == nil) {
			return reflect.TypeFor[*struct{}]()
		}
		return in.implementation(o).Type()
	}
	v.buffer = typeOf("ArrayBuffer")
	v.array, v.data = typeOf("Uint8Array"), typeOf("DataView", vm.ToValue(vm.NewArrayBuffer(nil)))
	number := reflect.TypeFor[int]()
	v.arrayBuffer, v.dataBuffer = l.Typed(v.array, "viewedArrayBuf", v.buffer), l.Typed(v.data, "viewedArrayBuf", v.buffer)
	v.arrayLen, v.arrayAt, v.elementSize = l.Typed(v.array, "length", number), l.Typed(v.array, "offset", number), l.Typed(v.array, "elemSize", number)
	v.dataLen, v.dataAt = l.Typed(v.data, "byteLen", number), l.Typed(v.data, "byteOffset", number)
	v.bytes = l.Typed(v.buffer, "data", reflect.TypeFor[[]byte]())
	if v.Known = l.Known(); !v.Known {
		return &Views{}
	}
	return v
}

// View is what a view shows of which buffer; size is that of an element.
type View struct {
	buffer     *unsafe.Pointer
	length, at *int // in elements
	size       int
}

// Look looks into a view; ok is false for anything else.
func (v *Views) Look(o *goja.Object) (s View, ok bool) {
	if !v.Known {
		return s, false
	}
	value := TheGoja().implementation(o)
	place := func(offset uintptr) unsafe.Pointer { return unsafe.Add(value.UnsafePointer(), offset) }
	switch value.Type() {
	case v.array:
		return View{(*unsafe.Pointer)(place(v.arrayBuffer)), (*int)(place(v.arrayLen)), (*int)(place(v.arrayAt)), *(*int)(place(v.elementSize))}, true
	case v.data:
		return View{(*unsafe.Pointer)(place(v.dataBuffer)), (*int)(place(v.dataLen)), (*int)(place(v.dataAt)), 1}, true
	}
	return View{}, false
}

// Over reports whether a view lies over buffer, which has to be one.
func (s View) Over(buffer *goja.Object) bool {
	return *s.buffer == TheGoja().implementation(buffer).UnsafePointer()
}

// Put has a view lie over buffer, at an offset and with a length in elements.
func (s View) Put(buffer *goja.Object, at, length int) {
	*s.buffer, *s.at, *s.length = TheGoja().implementation(buffer).UnsafePointer(), at, length
}

// BytesOf is where a buffer keeps its bytes.
func (v *Views) BytesOf(buffer *goja.Object) *[]byte {
	return (*[]byte)(unsafe.Add(TheGoja().implementation(buffer).UnsafePointer(), v.bytes))
}

// IsArray reports whether o is a typed array.
func (v *Views) IsArray(o *goja.Object) bool {
	return v.Known && TheGoja().implementation(o).Type() == v.array
}

// Length is how many elements a view has.
func (s View) Length() int { return *s.length }

// At is where a view begins, in elements.
func (s View) At() int { return *s.at }

// Size is that of an element, in bytes.
func (s View) Size() int { return s.size }
