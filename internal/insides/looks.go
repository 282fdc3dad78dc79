package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// What an inspector wants to see of goja's objects without changing them, or
// without the cost of the way through its interface.

// iterators is where goja keeps how far the iterators of Maps and Sets have
// come. Immutable; what goja does not have as expected is not in places.
type iterators struct {
	Places map[reflect.Type]iteratorPlace
}

// iteratorPlace is of one of the two kinds of iterators.
type iteratorPlace struct{ position, kind uintptr }

// pairs is goja's number for an iterator of entries.
const pairs = 2

// TheIterators is learnt at the first call. Safe for concurrent use.
var TheIterators = learnt(learnIterators)

func learnIterators(l *look) *iterators {
	in, its := TheGoja(), &iterators{map[reflect.Type]iteratorPlace{}}
	if !l.Is("goja.Object.self", "known", in.Known) {
		return its
	}
	vm := goja.New()
	for _, source := range []string{"new Map().keys()", "new Set().keys()"} {
		v, err := vm.RunString(source)
		if !l.Is(source, "an object", err == nil) {
			break
		}
		t := in.implementation(v.(*goja.Object)).Type()
		position, kind := l.Kind(t, "iter", reflect.Pointer), l.Kind(t, "kind", reflect.Int)
		if l.Known() && l.Mirrors(reflect.TypeFor[gojaPosition](), position.Type.Elem()) {
			its.Places[t] = iteratorPlace{position.Offset, kind.Offset}
		}
	}
	if !l.Known() {
		clear(its.Places)
	}
	return its
}

// gojaPosition mirrors how far an iterator has come.
type gojaPosition struct{ m, cur unsafe.Pointer }

// Peek runs walk, which may call next on the iterator of a Map or Set, and then
// puts the iterator back to where it was. inPairs says that it gives entries; ok
// is false, and walk does not run, for anything else. Loop-confined.
func Peek(iterator *goja.Object, walk func(inPairs bool)) (ok bool) {
	in := TheGoja()
	if !in.Known {
		return false
	}
	v := in.implementation(iterator)
	place, ok := TheIterators().Places[v.Type()]
	if !ok {
		return false
	}
	at := (*unsafe.Pointer)(unsafe.Add(v.UnsafePointer(), place.position))
	position := *at
	if position != nil { // nil at its end
		state := *(*gojaPosition)(position)
		defer func() { *at, *(*gojaPosition)(position) = position, state }()
	}
	walk(*(*int)(unsafe.Add(v.UnsafePointer(), place.kind)) == pairs)
	return true
}

// NamedOffset is where arrays and views keep the names of properties that are
// not elements; ok is false if goja has it elsewhere. Immutable.
var NamedOffset = learnt(learnNamed)

func learnNamed(l *look) namedPlace {
	if l.Kind(reflect.TypeFor[goja.Object](), "self", reflect.Interface); !l.Known() {
		return namedPlace{}
	}
	t := implementationOf(goja.New().NewObject())
	return namedPlace{l.Within(t, "propNames", reflect.TypeFor[[]unistring.String]()), l.Known()}
}

// namedPlace is an offset; Known is false if goja has it elsewhere.
type namedPlace struct {
	offset uintptr
	Known  bool
}

// NamedProperties are the names of the properties of an array or a typed array
// that are not elements, enumerable or not; ok is false for other objects. It
// takes no longer for a long array. Loop-confined.
func NamedProperties(o *goja.Object) (names []string, ok bool) {
	in, place := TheGoja(), NamedOffset()
	if !in.Known || !place.Known {
		return nil, false
	}
	v := in.implementation(o)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	if base := v.Elem().Type().Field(0); o.ClassName() != "Array" && v.Type() != TheViews().array || base.Name != "baseObject" || !base.Anonymous {
		return nil, false
	}
	for _, name := range *(*[]unistring.String)(unsafe.Add(v.UnsafePointer(), place.offset)) {
		names = append(names, name.String())
	}
	return names, true
}

// UnreadStack is the stack of an error that no code has asked for its `stack`:
// once it has, that is a property like others. Loop-confined.
func UnreadStack(o *goja.Object) (frames []goja.StackFrame, ok bool) {
	l := ThePlainLayout()
	if !l.Known {
		return nil, false
	}
	self := mirrorOf(o).self
	if self.tab != l.failure || *(*bool)(unsafe.Add(self.data, l.read)) {
		return nil, false
	}
	return *(*[]goja.StackFrame)(unsafe.Add(self.data, l.frames)), true
}

// StackOf is the stack of an error, whether or not code has asked for it; ok is
// false for other objects. Loop-confined.
func StackOf(o *goja.Object) (frames []goja.StackFrame, ok bool) {
	l := ThePlainLayout()
	self := mirrorOf(o).self
	if !l.Known || self.tab != l.failure {
		return nil, false
	}
	return *(*[]goja.StackFrame)(unsafe.Add(self.data, l.frames)), true
}

// SetFrames gives an error another stack. Loop-confined.
func SetFrames(o *goja.Object, frames []goja.StackFrame) {
	if _, ok := StackOf(o); ok {
		*(*[]goja.StackFrame)(unsafe.Add(mirrorOf(o).self.data, ThePlainLayout().frames)) = frames
	}
}

// ReplaceStack gives an error whose stack is unread an accessor in the place of
// goja's text, as its first property. goja formats no text then. Loop-confined.
func ReplaceStack(o *goja.Object, getter, setter goja.Value) {
	if _, ok := UnreadStack(o); !ok {
		return
	}
	*(*bool)(unsafe.Add(mirrorOf(o).self.data, ThePlainLayout().read)) = true
	o.DefineAccessorProperty("stack", getter, setter, goja.FLAG_TRUE, goja.FLAG_FALSE)
	if names := baseOf(o).propNames; len(names) > 1 && names[len(names)-1] == "stack" {
		copy(names[1:], names)
		names[0] = "stack"
	}
}

// Property is a property that JSON reads or writes.
type Property struct {
	Name  unistring.String
	Value goja.Value // nil if it is not known yet
}

// AppendMembers does so for an ordinary object; ok is false if there is a property
// that needs more than a look: an accessor, an index, which has another place.
func (l *Plain) AppendMembers(list []Property, o *goja.Object) (_ []Property, ok bool) {
	base := l.Object(o)
	if base == nil {
		return list, false
	}
	n := len(list)
	for _, name := range base.propNames {
		v := base.values[name]
		if wordsOf(&v).tab == l.property || name != "" && name[0] >= '0' && name[0] <= '9' {
			return list[:n], false
		}
		list = append(list, Property{name, v})
	}
	return list, true
}

// Element is that of an array, nil if it needs more than a look.
func (l *Plain) Element(o *goja.Object, i int) goja.Value {
	list := l.Array(o)
	if list == nil || i >= len(list.values) {
		return nil
	}
	if v := list.values[i]; wordsOf(&v).tab != l.property {
		return v
	}
	return nil
}

// Own is the value of an ordinary object's property, nil if it needs more than a
// look.
func (l *Plain) Own(o *goja.Object, name unistring.String) goja.Value {
	if base := l.Object(o); base != nil {
		if v := base.values[name]; wordsOf(&v).tab != l.property {
			return v
		}
	}
	return nil
}

//go:linkname ownProperty github.com/dop251/goja.(*Object).getOwnProp
func ownProperty(o *goja.Object, key goja.Value) goja.Value

// Described is a property as a descriptor has it (ECMA-262, section 6.2.6). Known is false if goja's
// properties are not known.
type Described struct {
	Value                                               goja.Value // nil for an accessor
	Getter, Setter                                      *goja.Object
	Writable, Configurable, Enumerable, Accessor, Known bool
}

// OwnProperty is an object's own property; has is false if there is none.
func OwnProperty(o *goja.Object, key goja.Value) (d Described, has bool) {
	l, v := ThePlainLayout(), ownProperty(o, key)
	if !l.Known || v == nil || wordsOf(&v).tab != l.property {
		return Described{Value: v, Writable: true, Configurable: true, Enumerable: true, Known: l.Known}, v != nil
	}
	p := (*gojaProperty)(wordsOf(&v).data)
	return Described{p.value, p.getterFunc, p.setterFunc, p.writable, p.configurable, p.enumerable, p.accessor, true}, true
}
