package engine

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// What an inspector wants to see of goja's objects without changing them, or
// without the cost of the way through its interface.

// iterators is where goja keeps how far the iterators of Maps and Sets have
// come. Immutable; what goja does not have as expected is not in places.
type iterators struct {
	places map[reflect.Type]iteratorPlace
}

// iteratorPlace is of one of the two kinds of iterators.
type iteratorPlace struct{ position, kind uintptr }

// pairs is goja's number for an iterator of entries.
const pairs = 2

var theIterators = sync.OnceValue(func() *iterators {
	in, its := theInsides(), &iterators{map[reflect.Type]iteratorPlace{}}
	if !in.ok {
		return its
	}
	vm := goja.New()
	for _, source := range []string{"new Map().keys()", "new Set().keys()"} {
		v, err := vm.RunString(source)
		if err != nil {
			continue
		}
		t := in.implementation(v.(*goja.Object)).Type()
		position, found := t.Elem().FieldByName("iter")
		kind, known := t.Elem().FieldByName("kind")
		if found && known && position.Type.Kind() == reflect.Pointer && position.Type.Elem().Size() == unsafe.Sizeof([2]unsafe.Pointer{}) && kind.Type.Kind() == reflect.Int {
			its.places[t] = iteratorPlace{position.Offset, kind.Offset}
		}
	}
	return its
})

// Peek runs walk, which may call next on the iterator of a Map or Set, and then
// puts the iterator back to where it was. inPairs says that it gives entries; ok
// is false, and walk does not run, for anything else. Loop-confined.
func Peek(iterator *goja.Object, walk func(inPairs bool)) (ok bool) {
	in := theInsides()
	if !in.ok {
		return false
	}
	v := in.implementation(iterator)
	place, ok := theIterators().places[v.Type()]
	if !ok {
		return false
	}
	at := (*unsafe.Pointer)(unsafe.Add(v.UnsafePointer(), place.position))
	position := *at
	if position != nil { // nil at its end
		state := *(*[2]unsafe.Pointer)(position)
		defer func() { *at, *(*[2]unsafe.Pointer)(position) = position, state }()
	}
	walk(*(*int)(unsafe.Add(v.UnsafePointer(), place.kind)) == pairs)
	return true
}

// namedOffset is where arrays and views keep the names of properties that are
// not elements; ok is false if goja has it elsewhere. Immutable.
var namedOffset = sync.OnceValue(func() (place struct {
	offset uintptr
	ok     bool
}) {
	t := reflect.ValueOf(goja.New().NewObject()).Elem().FieldByName("self").Elem().Type()
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return place
	}
	if f, found := t.Elem().FieldByName("propNames"); found && f.Type == reflect.TypeFor[[]unistring.String]() {
		place.offset, place.ok = f.Offset, true
	}
	return place
})

// NamedProperties are the names of the properties of an array or a typed array
// that are not elements, enumerable or not; ok is false for other objects. It
// takes no longer for a long array. Loop-confined.
func NamedProperties(o *goja.Object) (names []string, ok bool) {
	in, place := theInsides(), namedOffset()
	if !in.ok || !place.ok {
		return nil, false
	}
	v := in.implementation(o)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	if base := v.Elem().Type().Field(0); o.ClassName() != "Array" && v.Type() != theViews().array || base.Name != "baseObject" || !base.Anonymous {
		return nil, false
	}
	for _, name := range *(*[]unistring.String)(unsafe.Add(v.UnsafePointer(), place.offset)) {
		names = append(names, name.String())
	}
	return names, true
}
