package insides

import (
	"math"
	"reflect"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/binary16"
)

// goja has no array of halves, and its typed arrays know their elements through
// an interface whose methods nobody else can declare. But a Float16Array
// differs from a Uint16Array in nothing but how an element is read, written and
// compared: so halves is the method table of goja's Uint16Array with functions
// of ours at these places. Which method has which place reflection says, and
// their types are checked; if anything is not as expected, ok is false and
// there is no Float16Array. Immutable after learnHalves.
type halves struct {
	Known    bool
	table    *methodTable
	elements uintptr // of the interface in an implementation
	class    uintptr // of the default constructor in it
	array    reflect.Type
}

// methodTable is what an interface value of Go begins with (internal/abi.ITab).
type methodTable struct {
	_       unsafe.Pointer // the interface's type
	value   unsafe.Pointer // the value's
	_       uint32
	methods [elementMethods]uintptr
}

const elementMethods = 10

// TheHalves is learnt at the first call. Safe for concurrent use.
var TheHalves = learnt(learnKnownHalves)

func learnKnownHalves(l *look) *halves {
	return whole(l, learnHalves(l), func(known *halves) { known.Known = true })
}

func learnHalves(l *look) *halves {
	in, h := TheGoja(), &halves{}
	if !l.Is("goja.Object.self", "known", in.Known) {
		return h
	}
	vm := goja.New()
	sample, err := vm.New(vm.Get("Uint16Array"))
	if !l.Is("new Uint16Array", "an object", err == nil) {
		return h
	}
	v := in.implementation(sample)
	h.array = v.Type()
	elements := l.Field(h.array, "typedArray", "an interface of ten methods", func(t reflect.Type) bool {
		return t.Kind() == reflect.Interface && t.NumMethod() == elementMethods
	})
	h.elements, h.class = elements.Offset, l.Typed(h.array, "defaultCtor", reflect.TypeFor[*goja.Object]())
	if !l.Known() {
		return h
	}
	theirs := *(**methodTable)(unsafe.Add(v.UnsafePointer(), h.elements))
	table := *theirs
	held := reflect.NewAt(elements.Type, unsafe.Add(v.UnsafePointer(), h.elements)).Elem().Elem().Type()
	l.Is("the method table of an interface", "its type's, as internal/abi.ITab has it", table.value == typeWord(held))
	replaced := 0
	for i := range elements.Type.NumMethod() { // in the order of the table
		m := elements.Type.Method(i)
		if fn, ours := halfMethods[m.Name]; ours && l.Is(elements.Type.String()+"."+m.Name, m.Type.String(), sameMethod(reflect.TypeOf(fn), m.Type)) {
			table.methods[i] = reflect.ValueOf(fn).Pointer()
			replaced++
		}
	}
	l.Is(elements.Type.String(), "six methods that know what an element is", replaced == len(halfMethods))
	h.table = &table
	return h
}

// typeWord is what an interface value that holds a t begins with.
func typeWord(t reflect.Type) unsafe.Pointer {
	v := reflect.Zero(t).Interface()
	return (*words)(unsafe.Pointer(&v)).tab
}

// sameMethod reports whether fn is method with the receiver as its first parameter.
func sameMethod(fn, method reflect.Type) bool {
	if fn.NumIn() != method.NumIn()+1 || fn.NumOut() != method.NumOut() {
		return false
	}
	for i := range method.NumIn() {
		if fn.In(i+1) != method.In(i) {
			return false
		}
	}
	for i := range method.NumOut() {
		if fn.Out(i) != method.Out(i) {
			return false
		}
	}
	return true
}

// Adopt makes array, a Uint16Array, one of halves, whose constructor is class.
// It reports false for anything else.
func (h *halves) Adopt(in *Goja, array, class *goja.Object) bool {
	if !h.Known {
		return false
	}
	v := in.implementation(array)
	if v.Type() != h.array {
		return false
	}
	*(**methodTable)(unsafe.Add(v.UnsafePointer(), h.elements)) = h.table
	*(**goja.Object)(unsafe.Add(v.UnsafePointer(), h.class)) = class
	return true
}

// half is an element: the receiver points to the buffer's bytes, an index
// counts elements, and goja has checked it.
func half(data *[]byte, i int) *uint16 {
	return (*uint16)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(*data)), i*2))
}

// halfMethods are the methods of goja's interface that know what an element is.
// Raw elements are what includes and indexOf compare, so zeros are equal there,
// and every NaN is.
var halfMethods = map[string]any{
	"get": func(data *[]byte, i int) goja.Value {
		var any *goja.Runtime // numbers belong to none
		return any.ToValue(binary16.Value(*half(data, i)))
	},
	"set": func(data *[]byte, i int, v goja.Value) {
		bits := binary16.Bits(v.ToFloat()) // which may move the data, or take them away
		if (i+1)*2 <= len(*data) {
			*half(data, i) = bits
		}
	},
	"toRaw": func(_ *[]byte, v goja.Value) uint64 { return uint64(binary16.Bits(v.ToFloat())) },
	"getRaw": func(data *[]byte, i int) uint64 {
		switch x := binary16.Value(*half(data, i)); {
		case x == 0:
			return 0
		case math.IsNaN(x):
			return uint64(binary16.Bits(x))
		}
		return uint64(*half(data, i))
	},
	"less": func(data *[]byte, i, j int) bool {
		x, y := binary16.Value(*half(data, i)), binary16.Value(*half(data, j))
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			return !math.IsNaN(x)
		case x == 0 && y == 0:
			return math.Signbit(x) && !math.Signbit(y)
		}
		return x < y
	},
	"typeMatch": func(_ *[]byte, v goja.Value) bool {
		t := v.ExportType()
		return (t == reflect.TypeFor[int64]() || t == reflect.TypeFor[float64]()) && (v.ToFloat() == binary16.Value(binary16.Bits(v.ToFloat())) || math.IsNaN(v.ToFloat()))
	},
}
