package insides

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// goja's ordinary objects and arrays keep their properties in a map, a list of
// names and a slice, which its interface reaches one property at a time, with
// several allocations for each. JSON goes through a great many: it looks into
// them, and makes them, through mirrors: types whose memory is that of goja's.
// When the process starts, reflection compares each mirror with the original,
// field by field.

// words are those of an interface value.
type words struct{ tab, data unsafe.Pointer }

// gojaObject mirrors goja.Object.
type gojaObject struct {
	self    words // the implementation
	runtime *goja.Runtime
}

// Object mirrors the implementation of an ordinary object, which the others
// begin with.
type Object struct {
	class                           string
	val                             *goja.Object
	prototype                       *goja.Object
	extensible                      bool
	values                          map[unistring.String]goja.Value
	propNames                       []unistring.String // as they were made: indices have another place
	lastSortedPropLen, idxPropCount int
	symValues                       unsafe.Pointer
	privateElements                 unsafe.Pointer
}

// Array mirrors the implementation of an array.
type Array struct {
	baseObject     Object
	values         []goja.Value
	length         uint32
	objCount       int
	propValueCount int
	lengthProp     gojaProperty
}

// gojaProperty mirrors a property that is an accessor, not writable, hidden or
// fixed.
type gojaProperty struct {
	value                                        goja.Value
	writable, configurable, enumerable, accessor bool
	getterFunc, setterFunc                       *goja.Object
}

// mirrors reports whether a value of type original has the memory that its
// mirror says.
func mirrors(mirror, original reflect.Type) bool {
	switch {
	case mirror == original:
		return true
	case mirror == reflect.TypeFor[words]():
		return original.Kind() == reflect.Interface
	case mirror.Kind() == reflect.UnsafePointer:
		return original.Kind() == reflect.Pointer || original.Kind() == reflect.Map
	case mirror.Kind() != reflect.Struct || original.Kind() != reflect.Struct ||
		mirror.NumField() != original.NumField() || mirror.Size() != original.Size():
		return false
	}
	for i := range mirror.NumField() {
		m, o := mirror.Field(i), original.Field(i)
		if m.Name != o.Name || m.Offset != o.Offset || !mirrors(m.Type, o.Type) {
			return false
		}
	}
	return true
}

// Plain is how goja's objects, arrays and primitives are told apart: by
// the first word of an interface value.
//
// It is immutable. If goja's internals were to change, ok is false and JSON takes
// the long way; TestInsidesAreKnown says so.
type Plain struct {
	Known bool

	// Of an implementation.
	object, array         unsafe.Pointer
	builtin, builtinArray unsafe.Pointer // Object.prototype, Array.prototype: they know more properties than their maps have
	failure               unsafe.Pointer // an error
	frames, read          uintptr        // in it: its stack, and whether it has become a property

	// Of a goja.Value.
	ascii, wide, integer, float, boolean, null unsafe.Pointer
	property                                   unsafe.Pointer // see gojaProperty
	// Of a goja.String.
	asciiString, wideString unsafe.Pointer

	letters [Latin1]goja.String // the strings of one unit that occur most
}

// Latin1 is how many strings of one unit exist beforehand.
const Latin1 = 256

// ThePlainLayout is learnt at the first call. Safe for concurrent use.
var ThePlainLayout = sync.OnceValue(func() *Plain {
	if l := learnPlainLayout(); l.Known {
		return l
	}
	return &Plain{}
})

func learnPlainLayout() *Plain {
	l := &Plain{Known: mirrors(reflect.TypeFor[gojaObject](), reflect.TypeFor[goja.Object]())}
	if !l.Known {
		return l
	}
	vm := goja.New()
	object, array := vm.NewObject(), vm.NewArray()
	object.DefineDataProperty("hidden", vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	base := reflect.TypeFor[Object]()
	l.object, l.array = l.begins(object, base), l.begins(array, reflect.TypeFor[Array]())
	l.builtin, l.builtinArray = l.begins(object.Prototype(), base), l.begins(array.Prototype(), base)
	failure := vm.NewGoError(errors.New(""))
	l.failure = l.begins(failure, base)
	if l.Known = l.Known && object.Get("toJSON") == nil && array.Get("toJSON") == nil; !l.Known {
		return l
	}
	l.learnFailure(failure)
	l.property = l.word(baseOf(object).values["hidden"], reflect.Pointer)
	if special := reflect.TypeOf(baseOf(object).values["hidden"]); !l.Known || !mirrors(reflect.TypeFor[gojaProperty](), special.Elem()) {
		l.Known = false
		return l
	}
	ascii, wide := vm.ToValue("a").ToString().(goja.String), goja.StringFromUTF16([]uint16{'ç'})
	l.asciiString, l.wideString = (*words)(unsafe.Pointer(&ascii)).tab, (*words)(unsafe.Pointer(&wide)).tab
	l.ascii, l.wide = l.word(ascii, reflect.String), l.word(wide, reflect.Slice)
	l.integer, l.float = l.word(vm.ToValue(1), reflect.Int64), l.word(vm.ToValue(1.5), reflect.Float64)
	l.boolean, l.null = l.word(vm.ToValue(true), reflect.Bool), l.word(goja.Null(), reflect.Struct)
	for c := range l.letters {
		l.letters[c] = goja.StringFromUTF16([]uint16{uint16(c)})
	}
	return l
}

// begins is the first word of an object's implementation, which has to be, or to
// begin with, what the mirror shows.
func (l *Plain) begins(o *goja.Object, mirror reflect.Type) unsafe.Pointer {
	t := reflect.ValueOf(o).Elem().FieldByName("self").Elem().Type()
	if t.Kind() != reflect.Pointer {
		l.Known = false
		return nil
	}
	for t = t.Elem(); !mirrors(mirror, t); t = t.Field(0).Type {
		if t.Kind() != reflect.Struct || t.NumField() == 0 {
			l.Known = false
			return nil
		}
	}
	return mirrorOf(o).self.tab
}

// word is the first word of a value, whose Go type has to be of a kind.
func (l *Plain) word(v goja.Value, kind reflect.Kind) unsafe.Pointer {
	l.Known = l.Known && v != nil && reflect.TypeOf(v).Kind() == kind
	return wordsOf(&v).tab
}

func (l *Plain) learnFailure(o *goja.Object) {
	t := reflect.ValueOf(o).Elem().FieldByName("self").Elem().Type().Elem()
	frames, known := t.FieldByName("stack")
	read, found := t.FieldByName("stackPropAdded")
	l.Known = l.Known && known && found && frames.Type == reflect.TypeFor[[]goja.StackFrame]() && read.Type.Kind() == reflect.Bool
	l.frames, l.read = frames.Offset, read.Offset
}

func wordsOf(v *goja.Value) *words { return (*words)(unsafe.Pointer(v)) }

func mirrorOf(o *goja.Object) *gojaObject { return (*gojaObject)(unsafe.Pointer(o)) }

// baseOf is for an object whose implementation is known to begin so.
func baseOf(o *goja.Object) *Object { return (*Object)(mirrorOf(o).self.data) }

// Has reports whether there is a property of that name. Few names are compared
// sooner than one is hashed.
func (b *Object) Has(name unistring.String) bool {
	if len(b.propNames) <= 8 {
		return slices.Contains(b.propNames, name)
	}
	_, has := b.values[name]
	return has
}

// Object is an ordinary object, nil for any other.
func (l *Plain) Object(o *goja.Object) *Object {
	if l.Known && mirrorOf(o).self.tab == l.object {
		return baseOf(o)
	}
	return nil
}

// Array is an array, nil for any other object, and for one with many holes.
func (l *Plain) Array(o *goja.Object) *Array {
	if l.Known && mirrorOf(o).self.tab == l.array {
		return (*Array)(mirrorOf(o).self.data)
	}
	return nil
}

// Special reports whether what stands for a property's value is an accessor, or not
// writable, hidden or fixed.
func (l *Plain) Special(v goja.Value) bool { return wordsOf(&v).tab == l.property }

// Letter is the string of one unit below latin1; nil if strings are not known.
func (l *Plain) Letter(c uint16) goja.String {
	if !l.Known {
		return nil
	}
	return l.letters[c]
}

// HasSymbols reports whether it has properties whose keys are symbols.
func (b *Object) HasSymbols() bool { return b.symValues != nil }

// Prototype is nil for none.
func (b *Object) Prototype() *goja.Object { return b.prototype }

// Class is goja's word.
func (b *Object) Class() string { return b.class }

// Values are the items where they lie; nil for a hole.
func (a *Array) Values() []goja.Value { return a.values }

// Length is the value of the property length.
func (a *Array) Length() uint32 { return a.length }

// Base is its part of an ordinary object.
func (a *Array) Base() *Object { return &a.baseObject }

// Properties is how many there are besides the items: length is one.
func (a *Array) Properties() int { return len(a.baseObject.values) }
