package engine

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// What JSON does with objects, arrays and strings: by a look through the mirrors
// where goja is as they show it, otherwise through goja's interface.

// UnreadStack is the stack of an error that no code has asked for its `stack`:
// once it has, that is a property like others. Loop-confined.
func UnreadStack(o *goja.Object) (frames []goja.StackFrame, ok bool) {
	l := thePlainLayout()
	if !l.ok {
		return nil, false
	}
	self := mirrorOf(o).self
	if self.tab != l.failure || *(*bool)(unsafe.Add(self.data, l.read)) {
		return nil, false
	}
	return *(*[]goja.StackFrame)(unsafe.Add(self.data, l.frames)), true
}

// jsonMember is a property that JSON reads or writes.
type jsonMember struct {
	name  unistring.String
	value goja.Value // nil if it is not known yet
}

// appendMembers appends an object's own enumerable properties. Their values are
// those of now, if a look is enough; code of the user's may run otherwise, and
// ran says so.
func (e *Engine) appendMembers(list []jsonMember, o *goja.Object) (_ []jsonMember, ran bool) {
	if list, ok := e.plain.appendMembers(list, o); ok {
		return list, false
	}
	keys := e.Call(e.Primordial("ObjectKeys"), goja.Undefined(), o).(*goja.Object)
	for i := range int(e.arrayLength(keys)) {
		list = append(list, jsonMember{name: nameOf(e.element(keys, i).(goja.String))})
	}
	return list, true
}

// appendMembers does so for an ordinary object; ok is false if there is a property
// that needs more than a look: an accessor, an index, which has another place.
func (l *plainLayout) appendMembers(list []jsonMember, o *goja.Object) (_ []jsonMember, ok bool) {
	base := l.plain(o)
	if base == nil {
		return list, false
	}
	n := len(list)
	for _, name := range base.propNames {
		v := base.values[name]
		if wordsOf(&v).tab == l.property || name != "" && name[0] >= '0' && name[0] <= '9' {
			return list[:n], false
		}
		list = append(list, jsonMember{name, v})
	}
	return list, true
}

// element is that of an array, nil if it needs more than a look.
func (l *plainLayout) element(o *goja.Object, i int) goja.Value {
	list := l.list(o)
	if list == nil || i >= len(list.values) {
		return nil
	}
	if v := list.values[i]; wordsOf(&v).tab != l.property {
		return v
	}
	return nil
}

// element is Get(o, i), nil if there is none.
func (e *Engine) element(o *goja.Object, i int) goja.Value {
	if v := e.plain.element(o, i); v != nil {
		return v
	}
	return o.Get(strconv.Itoa(i))
}

// own is the value of an ordinary object's property, nil if it needs more than a
// look.
func (l *plainLayout) own(o *goja.Object, name unistring.String) goja.Value {
	if base := l.plain(o); base != nil {
		if v := base.values[name]; wordsOf(&v).tab != l.property {
			return v
		}
	}
	return nil
}

// get is Get(o, name), nil if there is none.
func (e *Engine) get(o *goja.Object, name unistring.String) goja.Value {
	if v := e.plain.own(o, name); v != nil {
		return v
	}
	if units := name.AsUtf16(); units != nil {
		return e.Call(e.Primordial("ReflectGet"), goja.Undefined(), o, goja.StringFromUTF16(units[1:]))
	}
	return o.Get(string(name))
}

// lacks reports whether a look shows that neither an object nor its prototypes have
// a property. It is none that goja gives to Object.prototype or Array.prototype.
func (e *Engine) lacks(o *goja.Object, name unistring.String) bool {
	l := e.plain
	if !l.ok {
		return false
	}
	for o != nil {
		switch mirrorOf(o).self.tab {
		case l.object, l.array:
		case l.builtin, l.builtinArray:
			if o != e.objectProto && o != e.arrayProto {
				return false // Date.prototype has a toJSON
			}
		default:
			return false
		}
		base := baseOf(o)
		if _, has := base.values[name]; has {
			return false
		}
		if o == e.arrayProto { // goja sets what follows when it is asked for it
			o = o.Prototype()
		} else {
			o = base.prototype
		}
	}
	return true
}

// fewMembers is how many names, or items, have room with their object.
const fewMembers = 4

// parsedMember is a property that JSON reads.
type parsedMember struct {
	name  *knownName
	value goja.Value
}

// objectOf makes an object that has these members, whatever the prototypes have.
// Of two of one name, the second gives the value.
func (e *Engine) objectOf(members []parsedMember) *goja.Object {
	switch {
	case !e.plain.ok:
		o := e.vm.NewObject()
		for _, m := range members {
			e.define(o, m.name.text, m.value)
		}
		return o
	case e.smallMaps.ok && len(members) <= smallMapSlots && len(members) > 0 && differ(members):
		return e.smallObjectOf(members)
	}
	made := &struct {
		object gojaObject
		base   gojaBase
	}{}
	o := e.asObject(&made.object, &made.base)
	made.base.values = make(map[unistring.String]goja.Value, len(members))
	names := make([]unistring.String, 0, len(members))
	for i := range members {
		m := &members[i]
		made.base.values[m.name.text] = m.value
		if len(made.base.values) > len(names) {
			names = append(names, m.name.text)
		}
	}
	made.base.propNames = names
	return o
}

// differ reports whether no two members have one name.
func differ(members []parsedMember) bool {
	for i := range members {
		for j := range i {
			if members[i].name == members[j].name || members[i].name.hash == members[j].name.hash && members[i].name.text == members[j].name.text {
				return false
			}
		}
	}
	return true
}

// smallObjectOf makes one of a few members, whose names differ, in one piece.
func (e *Engine) smallObjectOf(members []parsedMember) *goja.Object {
	made := &struct {
		object gojaObject
		base   gojaBase
		values smallMap
		names  [fewMembers]unistring.String
	}{}
	o := e.asObject(&made.object, &made.base)
	made.base.values = made.values.own(e.smallMaps.seed)
	names := made.names[:]
	if len(members) > fewMembers {
		names = make([]unistring.String, len(members))
	}
	for i := range members {
		m := &members[i]
		made.values.add(i, m.name, m.value)
		names[i] = m.name.text
	}
	made.base.propNames = names[:len(members)]
	return o
}

// asObject makes an ordinary object of its two parts, without properties.
func (e *Engine) asObject(object *gojaObject, base *gojaBase) *goja.Object {
	o := (*goja.Object)(unsafe.Pointer(object))
	object.runtime, object.self = e.vm, words{e.plain.object, unsafe.Pointer(base)}
	base.class, base.val, base.prototype, base.extensible = "Object", o, e.objectProto, true
	return o
}

// arrayOf makes an array of these items.
func (e *Engine) arrayOf(items []goja.Value) *goja.Object {
	switch {
	case !e.plain.ok:
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item
		}
		return e.vm.NewArray(list...)
	case e.smallMaps.ok:
		made := &struct {
			object gojaObject
			array  gojaArray
			values smallMap
			names  [1]unistring.String
			items  [fewMembers]goja.Value
		}{}
		o, length := e.asArray(&made.object, &made.array, append(made.items[:0:fewMembers], items...))
		made.array.baseObject.values = made.values.own(e.smallMaps.seed)
		made.values.add(0, &e.smallMaps.length, length)
		made.names[0] = "length"
		made.array.baseObject.propNames = made.names[:]
		return o
	}
	made := &struct {
		object gojaObject
		array  gojaArray
		items  [fewMembers]goja.Value
	}{}
	o, length := e.asArray(&made.object, &made.array, append(made.items[:0:fewMembers], items...))
	made.array.baseObject.values = map[unistring.String]goja.Value{"length": length}
	made.array.baseObject.propNames = []unistring.String{"length"}
	return o
}

// asArray makes an array of its two parts, without properties, and the one that is
// its length.
func (e *Engine) asArray(object *gojaObject, array *gojaArray, items []goja.Value) (o *goja.Object, length goja.Value) {
	o = (*goja.Object)(unsafe.Pointer(object))
	object.runtime, object.self = e.vm, words{e.plain.array, unsafe.Pointer(array)}
	base := &array.baseObject
	base.class, base.val, base.prototype, base.extensible = "Array", o, e.arrayProto, true
	array.values, array.length, array.objCount = items, uint32(len(items)), len(items)
	array.lengthProp.writable = true
	return o, boxed(e.plain.property, unsafe.Pointer(&array.lengthProp))
}

// define makes an own property of an object that JSON has made, whatever the
// prototypes have.
func (e *Engine) define(o *goja.Object, name unistring.String, v goja.Value) {
	if name.AsUtf16() == nil {
		o.DefineDataProperty(string(name), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return
	}
	d := e.vm.NewObject()
	for _, flag := range []string{"writable", "enumerable", "configurable"} {
		d.Set(flag, true)
	}
	d.Set("value", v)
	e.Call(e.Primordial("ObjectDefineProperty"), goja.Undefined(), o, e.textOf(name), d)
}

// numberOf is a Number. goja keeps what is an integer as one.
func (e *Engine) numberOf(f float64) goja.Value {
	if !e.plain.ok || f == math.Trunc(f) || math.IsNaN(f) {
		return e.vm.ToValue(f)
	}
	box := f
	return boxed(e.plain.float, unsafe.Pointer(&box))
}

// boxed is the value whose words these are.
func boxed(tab, data unsafe.Pointer) (v goja.Value) {
	*wordsOf(&v) = words{tab, data}
	return v
}

// integerOf is a Number that is an integer of at most 15 digits.
func (e *Engine) integerOf(n int64) goja.Value {
	if !e.plain.ok || n < 256 { // the small ones exist already
		return e.vm.ToValue(n)
	}
	box := n
	return boxed(e.plain.integer, unsafe.Pointer(&box))
}

// String is a string of valid UTF-8. Text in ASCII costs one look at it and one
// small allocation; other text is converted when its units are asked for.
func (e *Engine) String(s string) goja.String {
	if isASCII(s) {
		return e.asciiString(s)
	}
	return e.vm.ToValue(s).(goja.String)
}

// asciiString is a string of text that is known to be ASCII.
func (e *Engine) asciiString(s string) goja.String {
	if !e.plain.ok {
		return e.vm.ToValue(s).(goja.String)
	}
	text := s
	return stringOver(e.plain.asciiString, unsafe.Pointer(&text))
}

// shortText is how long a text has room with its string.
const shortText = 16

// shortString is a string of at most shortText units that are all ASCII.
func (e *Engine) shortString(units []uint16) goja.String {
	made := &struct {
		text  string
		bytes [shortText]byte
	}{}
	for i, c := range units {
		made.bytes[i] = byte(c)
	}
	made.text = unsafe.String(&made.bytes[0], len(units))
	if !e.plain.ok {
		return e.vm.ToValue(made.text).(goja.String)
	}
	return stringOver(e.plain.asciiString, unsafe.Pointer(&made.text))
}

// stringOver is boxed for strings.
func stringOver(tab, data unsafe.Pointer) (text goja.String) {
	*(*words)(unsafe.Pointer(&text)) = words{tab, data}
	return text
}

// wideString is a string of code units after goja's mark, that are not all ASCII.
// It takes them over.
func (e *Engine) wideString(units []uint16) goja.String {
	if !e.plain.ok {
		return goja.StringFromUTF16(units[1:])
	}
	marked := units
	return stringOver(e.plain.wideString, unsafe.Pointer(&marked))
}

// nameOf is a string as goja names properties; textOf is the way back.
func nameOf(s goja.String) unistring.String {
	if a, ok := asciiOf(s); ok {
		return unistring.String(a)
	}
	return unistring.FromUtf16(append([]uint16{unistring.BOM}, unitsOf(s)...))
}

func (e *Engine) textOf(name unistring.String) goja.Value {
	if units := name.AsUtf16(); units != nil {
		return goja.StringFromUTF16(units[1:])
	}
	return e.vm.ToValue(string(name))
}
