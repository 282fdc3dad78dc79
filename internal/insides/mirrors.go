package insides

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/stepwise"
)

// goja's ordinary objects and arrays keep their properties in a map, a list of names and a slice,
// which its interface reaches one property at a time, with several allocations for each. JSON goes
// through a great many: it looks into them, and makes them, through mirrors: types whose memory is
// that of goja's. When the process starts, reflection compares each mirror with the original, field
// by field.

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

// Plain is how goja's objects, arrays and primitives are told apart: by the first word of an
// interface value. It is immutable. If goja's internals were to change, Known is false and JSON
// takes the long way; TestInsidesAreKnown says so.
type Plain struct {
	Known bool

	// Of an implementation.
	object, array         unsafe.Pointer
	builtin, builtinArray unsafe.Pointer // Object.prototype, Array.prototype: they know more properties than their maps have
	guarded, failure      unsafe.Pointer // RegExp.prototype, which may become an ordinary object; an error
	frames, read          uintptr        // in an error: its stack, and whether it has become a property

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
var ThePlainLayout = learnt(learnKnownPlain)

func learnKnownPlain(l *look) *Plain {
	return whole(l, learnPlain(l), func(known *Plain) { known.Known = true })
}

func learnPlain(l *look) *Plain {
	p := &Plain{}
	if !l.Mirrors(reflect.TypeFor[gojaObject](), reflect.TypeFor[goja.Object]()) {
		return p
	}
	vm := goja.New()
	object, array := vm.NewObject(), vm.NewArray()
	object.DefineDataProperty("hidden", vm.ToValue(1), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	base := reflect.TypeFor[Object]()
	p.object, p.array = l.begins(object, base), l.begins(array, reflect.TypeFor[Array]())
	p.builtin, p.builtinArray = l.begins(object.Prototype(), base), l.begins(array.Prototype(), base)
	p.guarded = l.begins(vm.Get("RegExp").(*goja.Object).Get("prototype").(*goja.Object), base)
	failure := vm.NewGoError(errors.New(""))
	p.failure = l.begins(failure, base)
	l.Is("Object.prototype.toJSON", "none", object.Get("toJSON") == nil && array.Get("toJSON") == nil)
	if !l.Known() {
		return p
	}
	t := implementationOf(failure)
	p.frames, p.read = l.Within(t, "stack", reflect.TypeFor[[]goja.StackFrame]()), l.Within(t, "stackPropAdded", reflect.TypeFor[bool]())
	special := baseOf(object).values["hidden"]
	if p.property = l.word("a property that is hidden", special, reflect.Pointer); !l.Known() || !l.Mirrors(reflect.TypeFor[gojaProperty](), reflect.TypeOf(special).Elem()) {
		return p
	}
	ascii, wide := vm.ToValue("a").ToString().(goja.String), goja.StringFromUTF16([]uint16{'ç'})
	p.asciiString, p.wideString = (*words)(unsafe.Pointer(&ascii)).tab, (*words)(unsafe.Pointer(&wide)).tab
	p.ascii, p.wide = l.word("a string in ASCII", ascii, reflect.String), l.word("another string", wide, reflect.Slice)
	p.integer, p.float = l.word("an integer", vm.ToValue(1), reflect.Int64), l.word("another number", vm.ToValue(1.5), reflect.Float64)
	p.boolean, p.null = l.word("a boolean", vm.ToValue(true), reflect.Bool), l.word("null", goja.Null(), reflect.Struct)
	for c := range p.letters {
		p.letters[c] = goja.StringFromUTF16([]uint16{uint16(c)})
	}
	return p
}

// implementationOf is the type behind an object, whose self is known to be an interface.
func implementationOf(o *goja.Object) reflect.Type {
	return reflect.ValueOf(o).Elem().FieldByName("self").Elem().Type()
}

// begins is the first word of an object's implementation, which has to be, or to begin with, what
// the mirror shows.
func (l *look) begins(o *goja.Object, mirror reflect.Type) unsafe.Pointer {
	t := implementationOf(o)
	if t.Kind() != reflect.Pointer {
		l.Is(t.String(), "a pointer", false)
		return nil
	}
	// Go to the embedded struct that has the mirror's first member for its own.
	for t = t.Elem(); t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Name != mirror.Field(0).Name; {
		t = t.Field(0).Type
	}
	if !l.Mirrors(mirror, t) {
		l.Is(t.String(), "the beginning of "+implementationOf(o).String(), false)
	}
	return mirrorOf(o).self.tab
}

// word is the first word of a value, whose Go type has to be of a kind.
func (l *look) word(what string, v goja.Value, kind reflect.Kind) unsafe.Pointer {
	l.Is("goja.Value of "+what, "a "+kind.String(), v != nil && reflect.TypeOf(v).Kind() == kind)
	return wordsOf(&v).tab
}

func wordsOf(v *goja.Value) *words { return (*words)(unsafe.Pointer(v)) }

func mirrorOf(o *goja.Object) *gojaObject { return (*gojaObject)(unsafe.Pointer(o)) }

// baseOf is for an object whose implementation is known to begin so.
func baseOf(o *goja.Object) *Object { return (*Object)(mirrorOf(o).self.data) }

// Has reports whether there is a property of that name. Few names are compared sooner than one is hashed.
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

// Mark is a byte of an ordinary object that no member of goja's lies in, nil for other objects: it
// says whether the object has been a key of a WeakMap. Loop-confined.
func (l *Plain) Mark(o *goja.Object) *bool {
	if tab := mirrorOf(o).self.tab; !l.Known || tab != l.object && tab != l.guarded {
		return nil
	}
	return (*bool)(unsafe.Add(unsafe.Pointer(&baseOf(o).extensible), 1))
}

// Alike reports whether two objects are known to be of one implementation of goja's.
func (l *Plain) Alike(o, p *goja.Object) bool {
	return l.Known && mirrorOf(o).self.tab == mirrorOf(p).self.tab
}

// Array is an array, nil for any other object, and for one with many holes.
func (l *Plain) Array(o *goja.Object) *Array {
	if l.Known && mirrorOf(o).self.tab == l.array {
		return (*Array)(mirrorOf(o).self.data)
	}
	return nil
}

// Special reports whether what stands for a property's value is an accessor, or not writable, hidden or fixed.
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

// Fill makes v every item, in one piece of memory: items that are set one by one make goja copy
// all that there are time and again, each time in one go that a collection, and with it all other
// goroutines, has to wait for. It reports false, and does nothing, if an item is an accessor or not
// writable, or if there are holes and none may be added. Whoever calls has seen that holes are
// no setter's affair.
func (a *Array) Fill(v goja.Value) bool {
	if a.propValueCount > 0 || !a.baseObject.extensible && a.objCount < int(a.length) {
		return false
	}
	if len(a.values) < int(a.length) {
		a.values = make([]goja.Value, a.length)
	}
	for i := range a.values {
		a.values[i] = v
	}
	a.objCount = int(a.length)
	return true
}

// Room makes room for n more items behind those of a long array, in steps that a collection need not wait for.
func (a *Array) Room(n int) {
	if has := cap(a.values); has >= 1<<16 && has-len(a.values) < n {
		a.values = stepwise.Grow(a.values, n)
	}
}

// Append appends items, if nothing can see how: it does not if there are holes, if the array may not grow, or if a
// prototype may have a property whose name is an index. It reports whether it did; there is room for them, as Room says.
func (a *Array) Append(items ...goja.Value) bool {
	a.Room(len(items))
	if n := len(a.values); a.objCount != n || int(a.length) != n || !a.baseObject.extensible || !a.lengthProp.writable || n+len(items) > math.MaxInt32 {
		return false
	}
	for p := a.baseObject.prototype; p != nil; p = baseOf(p).prototype {
		if !ThePlainLayout().indexless(p) {
			return false
		}
	}
	a.values = append(a.values, items...)
	a.length, a.objCount = uint32(len(a.values)), len(a.values)
	return true
}

// indexless reports whether an object is known to have no property whose name is an index. goja sorts the names
// of these before others when it lists them, and remembers how many names are in order, and how many of these are indices.
func (l *Plain) indexless(o *goja.Object) bool {
	b := baseOf(o)
	switch mirrorOf(o).self.tab {
	case l.object:
	case l.builtin, l.builtinArray:
		if b.prototype == nil && o != ordinaryPrototype(mirrorOf(o).runtime) {
			return false // goja sets it when it is asked for it
		}
	default:
		return false
	}
	for _, name := range b.propNames[b.lastSortedPropLen:] {
		if name != "" && name[0] >= '0' && name[0] <= '9' {
			return false
		}
		b.lastSortedPropLen++
	}
	return b.idxPropCount == 0
}

// Length is the value of the property length.
func (a *Array) Length() uint32 { return a.length }

// Base is its part of an ordinary object.
func (a *Array) Base() *Object { return &a.baseObject }

// Properties is how many there are besides the items: length is one.
func (a *Array) Properties() int { return len(a.baseObject.propNames) }
