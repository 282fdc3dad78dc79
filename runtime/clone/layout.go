package clone

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// kind says how an object is cloned.
type kind uint8

const (
	kindUnknown kind = iota
	kindPlain        // an ordinary object, instances of user classes included
	kindArray
	kindSparseArray
	kindFunction
	kindProxy
	kindMap
	kindSet
	kindDate
	kindRegExp
	kindError
	kindPrimitive // a boxed boolean, number, bigint or symbol
	kindString    // a boxed string
	kindBuffer
	kindTypedArray
	kindDataView
	kindUncloneable // known, and V8 refuses it
)

// goja's public API names an object's class, but "Object" for a DataView, an
// iterator and an ordinary object alike, and what user code can reach (tags,
// prototypes, constructors) it can also forge. The Go type behind an object is
// neither ambiguous nor forgeable, so it is looked at through reflection; the
// types are learnt from samples, not from names. In the same way ordinary
// objects and arrays are read where they lie instead of through lists of keys,
// which is several times faster and keeps lone surrogates in keys.
//
// layout is immutable after learnLayout. If goja's internals were to change so
// that a part is not found, that part stays zero and the reading goes through
// goja's public API instead; TestLayoutIsKnown says so.
type layout struct {
	self  []int // index path of goja.Object's implementation
	kinds map[reflect.Type]kind

	plainType reflect.Type // of an ordinary object
	arrayType reflect.Type // of an array without large gaps
	accessor  reflect.Type // of a property that is not plain data

	// Offsets within an ordinary object's and an array's implementation.
	direct                             bool
	plainValues, plainNames            uintptr
	arrayNames, arrayItems             uintptr
	arrayLength, arrayCount, arrayProp uintptr

	intType, floatType, boolType, asciiType, unicodeType reflect.Type
}

var theLayout = sync.OnceValue(learnLayout)

// samples is evaluated in a fresh runtime; the order is that of sampleKinds.
const samples = `[
	{}, [1], (() => { const a = []; a[100000] = 1; return a; })(),
	() => 1, function() {}, class {}, async () => 1, async function() {}, function*() {}, ({m() {}}).m,
	Array.prototype.push, (function() {}).bind(null), Array, ({async m() {}}).m, ({*m() {}}).m,
	new Proxy({}, {}), new Map(), new Set(), new Date(0), /a/, new Error("e"),
	Object(1), Object("s"), new ArrayBuffer(1), new Uint8Array(1), new DataView(new ArrayBuffer(1)),
	Promise.resolve(1), new WeakMap(), new WeakSet(), (function*() {})(),
	(function() { return arguments; })(1), (function(a) { return arguments; })(1),
	[][Symbol.iterator](), new Map().keys(), new Set().keys(), ""[Symbol.iterator](), "a".matchAll(/a/g),
	Math, JSON, Reflect,
]`

var sampleKinds = [...]kind{
	kindPlain, kindArray, kindSparseArray,
	kindFunction, kindFunction, kindFunction, kindFunction, kindFunction, kindFunction, kindFunction,
	kindFunction, kindFunction, kindFunction, kindFunction, kindFunction,
	kindProxy, kindMap, kindSet, kindDate, kindRegExp, kindError,
	kindPrimitive, kindString, kindBuffer, kindTypedArray, kindDataView,
	kindUncloneable, kindUncloneable, kindUncloneable, kindUncloneable,
	kindUncloneable, kindUncloneable,
	kindUncloneable, kindUncloneable, kindUncloneable, kindUncloneable, kindUncloneable,
	kindPlain, kindPlain, kindPlain,
}

func learnLayout() *layout {
	l := &layout{kinds: map[reflect.Type]kind{}}
	l.intType = reflect.TypeOf(goja.New().ToValue(1))
	l.floatType = reflect.TypeOf(goja.NaN())
	l.boolType = reflect.TypeOf(goja.New().ToValue(true))
	l.asciiType = reflect.TypeOf(goja.StringFromUTF16([]uint16{'a'}))
	l.unicodeType = reflect.TypeOf(goja.StringFromUTF16([]uint16{0x416}))
	if l.unicodeType.Kind() != reflect.Slice || l.unicodeType.Elem().Kind() != reflect.Uint16 {
		l.unicodeType = nil
	}
	field, ok := reflect.TypeFor[goja.Object]().FieldByName("self")
	if !ok || field.Type.Kind() != reflect.Interface {
		return l
	}
	l.self = field.Index
	vm := goja.New()
	list, err := vm.RunString(samples)
	assert(err == nil, "clone: the samples do not run: %v", err)
	array := list.ToObject(vm)
	for i, k := range sampleKinds {
		l.kinds[l.typeOf(array.Get(itoa(i)).ToObject(vm))] = k
	}
	l.plainType = l.typeOf(array.Get("0").ToObject(vm))
	l.arrayType = l.typeOf(array)
	l.learnOffsets(vm)
	return l
}

// learnOffsets finds the fields that the direct reading needs, and uses none
// unless all are there with the types that are expected.
func (l *layout) learnOffsets(vm *goja.Runtime) {
	plain, array := l.plainType.Elem(), l.arrayType.Elem()
	ok := true
	offset := func(t reflect.Type, want reflect.Type, names ...string) (at uintptr) {
		for i, name := range names {
			f, found := t.FieldByName(name)
			if !found || (i == len(names)-1 && f.Type != want) {
				ok = false
				return 0
			}
			at, t = at+f.Offset, f.Type
		}
		return at
	}
	names, values := reflect.TypeFor[[]unistring.String](), reflect.TypeFor[map[unistring.String]goja.Value]()
	l.plainValues = offset(plain, values, "values")
	l.plainNames = offset(plain, names, "propNames")
	l.arrayNames = offset(array, names, "baseObject", "propNames")
	l.arrayItems = offset(array, reflect.TypeFor[[]goja.Value](), "values")
	l.arrayLength = offset(array, reflect.TypeFor[uint32](), "length")
	l.arrayCount = offset(array, reflect.TypeFor[int](), "objCount")
	l.arrayProp = offset(array, reflect.TypeFor[int](), "propValueCount")
	if !ok {
		return
	}
	sample, err := vm.RunString(`({get x() { return 1; }})`)
	assert(err == nil, "clone: the accessor sample does not run: %v", err)
	l.direct = true
	_, properties, found := l.plain(sample.ToObject(vm))
	if l.direct = found && properties["x"] != nil; l.direct {
		l.accessor = reflect.TypeOf(properties["x"])
	}
}

// typeOf returns the Go type behind an object, nil where it cannot be seen.
func (l *layout) typeOf(o *goja.Object) reflect.Type {
	if l.self == nil {
		return nil
	}
	return reflect.ValueOf(o).Elem().FieldByIndex(l.self).Elem().Type()
}

// kindOf says how to clone an object. Types that no sample had are told apart
// by goja's class names.
func (l *layout) kindOf(o *goja.Object) kind {
	if k := l.kinds[l.typeOf(o)]; k != kindUnknown {
		return k
	}
	if o.ExportType() == reflect.TypeFor[goja.Proxy]() {
		return kindProxy
	}
	switch o.ClassName() {
	case "Object", "Math", "JSON", "global":
		return kindPlain
	case "Array":
		return kindSparseArray
	case "Function", "AsyncFunction", "GeneratorFunction":
		return kindFunction
	case "Error":
		return kindError
	}
	return kindUncloneable
}

// impl returns the address of an object's implementation if it has type t.
func (l *layout) impl(o *goja.Object, t reflect.Type) unsafe.Pointer {
	v := reflect.ValueOf(o).Elem().FieldByIndex(l.self).Elem()
	if v.Type() != t {
		return nil
	}
	return v.UnsafePointer()
}

// plain returns an ordinary object's names and properties where they lie: both
// are goja's own and must only be read. A property that is not plain,
// enumerable data has the type l.accessor.
func (l *layout) plain(o *goja.Object) ([]unistring.String, map[unistring.String]goja.Value, bool) {
	if !l.direct {
		return nil, nil, false
	}
	p := l.impl(o, l.plainType)
	if p == nil {
		return nil, nil, false
	}
	return *(*[]unistring.String)(unsafe.Add(p, l.plainNames)), *(*map[unistring.String]goja.Value)(unsafe.Add(p, l.plainValues)), true
}

// denseItems returns the elements of an array that has no hole and no accessor
// among them, where they lie, and whether it has other properties besides.
func (l *layout) denseItems(o *goja.Object) (items []goja.Value, extras, ok bool) {
	if !l.direct {
		return nil, false, false
	}
	p := l.impl(o, l.arrayType)
	if p == nil {
		return nil, false, false
	}
	items = *(*[]goja.Value)(unsafe.Add(p, l.arrayItems))
	length := *(*uint32)(unsafe.Add(p, l.arrayLength))
	if uint64(length) != uint64(len(items)) || *(*int)(unsafe.Add(p, l.arrayCount)) != len(items) || *(*int)(unsafe.Add(p, l.arrayProp)) != 0 {
		return nil, false, false
	}
	// "length" itself is one of the names.
	return items, len(*(*[]unistring.String)(unsafe.Add(p, l.arrayNames))) > 1, true
}

// units returns a string's UTF-16 code units where they lie, if goja keeps it
// in that form.
func (l *layout) units(s goja.Value) ([]uint16, bool) {
	if l.unicodeType == nil || reflect.TypeOf(s) != l.unicodeType {
		return nil, false
	}
	units := reflect.ValueOf(s).Convert(reflect.TypeFor[[]uint16]()).Interface().([]uint16)
	return units[1:], true // the first is a byte order mark that marks the form
}
