package insides

import (
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/texts"
)

// Maker makes values of one runtime as goja does, in fewer pieces. Loop-confined.
type Maker struct {
	vm                      *goja.Runtime
	objectProto, arrayProto *goja.Object
	Plain                   *Plain
	smallMaps               *mapNames
}

// NewMaker is the maker of a runtime in which no program has run yet.
func NewMaker(vm *goja.Runtime) *Maker {
	return &Maker{vm: vm, objectProto: vm.NewObject().Prototype(), arrayProto: vm.NewArray().Prototype(), Plain: ThePlainLayout(), smallMaps: TheMapNames()}
}

// Lacks reports whether a look shows that neither an object nor its prototypes have
// a property. It is none that goja gives to Object.prototype or Array.prototype.
func (e *Maker) Lacks(o *goja.Object, name unistring.String) bool {
	l := e.Plain
	if !l.Known {
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

// fewMembers and fewItems are how many names, and items, have room with their object.
const fewMembers, fewItems = 4, 6

// Member is a property that JSON reads.
type Member struct {
	Name  *Name
	Value goja.Value
}

// ObjectOf makes an object that has these members, whatever the prototypes have.
// Of two of one name, the second gives the value. It is nil if goja's objects are
// not known: then they are made through goja's interface.
func (e *Maker) ObjectOf(members []Member) *goja.Object {
	switch {
	case !e.Plain.Known:
		return nil
	case e.smallMaps.Known && len(members) <= smallMapSlots && len(members) > 0:
		last := members[len(members)-1].Name
		if s := last.shape; s != nil && s.is(members) {
			last.misses = 0
			return e.shapedObjectOf(s, members)
		}
		if differ(members) {
			last.miss(e.smallMaps, members)
			return e.smallObjectOf(members)
		}
	}
	made := &struct {
		object gojaObject
		base   Object
	}{}
	o := e.asObject(&made.object, &made.base)
	made.base.values = make(map[unistring.String]goja.Value, len(members))
	names := make([]unistring.String, 0, len(members))
	for i := range members {
		m := &members[i]
		made.base.values[m.Name.Text] = m.Value
		if len(made.base.values) > len(names) {
			names = append(names, m.Name.Text)
		}
	}
	made.base.propNames = names
	return o
}

// differ reports whether no two members have one name.
func differ(members []Member) bool {
	for i := range members {
		for j := range i {
			if members[i].Name == members[j].Name || members[i].Name.hash == members[j].Name.hash && members[i].Name.Text == members[j].Name.Text {
				return false
			}
		}
	}
	return true
}

// smallObjectOf makes one of a few members, whose names differ, in one piece.
func (e *Maker) smallObjectOf(members []Member) *goja.Object {
	made := &struct {
		object gojaObject
		base   Object
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
		made.values.add(i, m.Name, m.Value)
		names[i] = m.Name.Text
	}
	made.base.propNames = names[:len(members)]
	return o
}

// shapedObjectOf makes one whose names are a shape's.
func (e *Maker) shapedObjectOf(s *shape, members []Member) *goja.Object {
	made := &struct {
		object gojaObject
		base   Object
		values smallMap
	}{}
	o := e.asObject(&made.object, &made.base)
	made.base.propNames = s.texts
	made.base.values = made.values.own(e.smallMaps.seed)
	made.values.group.control, made.values.head.used = s.control, uint64(len(members))
	slots := made.values.group.slots[:len(members)]
	for i := range slots {
		slots[i] = mapSlot{s.texts[i], members[i].Value}
	}
	return o
}

// asObject makes an ordinary object of its two parts, without properties.
func (e *Maker) asObject(object *gojaObject, base *Object) *goja.Object {
	o := (*goja.Object)(unsafe.Pointer(object))
	object.runtime, object.self = e.vm, words{e.Plain.object, unsafe.Pointer(base)}
	base.class, base.val, base.prototype, base.extensible = "Object", o, e.objectProto, true
	return o
}

// ArrayOf makes an array of these items.
func (e *Maker) ArrayOf(items []goja.Value) *goja.Object {
	switch {
	case !e.Plain.Known:
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item
		}
		return e.vm.NewArray(list...)
	case e.smallMaps.Known:
		made := &struct {
			object gojaObject
			array  Array
			values smallMap
			items  [fewItems]goja.Value
		}{}
		o, length := e.asArray(&made.object, &made.array, append(made.items[:0:fewItems], items...))
		made.array.baseObject.values = made.values.own(e.smallMaps.seed)
		made.values.add(0, &e.smallMaps.length, length)
		made.array.baseObject.propNames = e.smallMaps.lengthAlone
		return o
	}
	made := &struct {
		object gojaObject
		array  Array
		items  [fewItems]goja.Value
	}{}
	o, length := e.asArray(&made.object, &made.array, append(made.items[:0:fewItems], items...))
	made.array.baseObject.values = map[unistring.String]goja.Value{"length": length}
	made.array.baseObject.propNames = []unistring.String{"length"}
	return o
}

// asArray makes an array of its two parts, without properties, and the one that is
// its length.
func (e *Maker) asArray(object *gojaObject, array *Array, items []goja.Value) (o *goja.Object, length goja.Value) {
	o = (*goja.Object)(unsafe.Pointer(object))
	object.runtime, object.self = e.vm, words{e.Plain.array, unsafe.Pointer(array)}
	base := &array.baseObject
	base.class, base.val, base.prototype, base.extensible = "Array", o, e.arrayProto, true
	array.values, array.length, array.objCount = items, uint32(len(items)), len(items)
	array.lengthProp.writable = true
	return o, boxed(e.Plain.property, unsafe.Pointer(&array.lengthProp))
}

// boxed is the value whose words these are.
func boxed(tab, data unsafe.Pointer) (v goja.Value) {
	*wordsOf(&v) = words{tab, data}
	return v
}

// String is a string of valid UTF-8. Text in ASCII costs one look at it and one
// small allocation; other text is converted when its units are asked for.
func (e *Maker) String(s string) goja.String {
	if texts.IsASCII(s) {
		return e.AsciiString(s)
	}
	return e.vm.ToValue(s).(goja.String)
}

// AsciiString is a string of text that is known to be ASCII.
func (e *Maker) AsciiString(s string) goja.String {
	if !e.Plain.Known {
		return e.vm.ToValue(s).(goja.String)
	}
	text := s
	return stringOver(e.Plain.asciiString, unsafe.Pointer(&text))
}

// stringOver is boxed for strings.
func stringOver(tab, data unsafe.Pointer) (text goja.String) {
	*(*words)(unsafe.Pointer(&text)) = words{tab, data}
	return text
}

// WideString is a string of code units after goja's mark, that are not all ASCII.
// It takes them over.
func (e *Maker) WideString(units []uint16) goja.String {
	if !e.Plain.Known {
		return goja.StringFromUTF16(units[1:])
	}
	marked := units
	return stringOver(e.Plain.wideString, unsafe.Pointer(&marked))
}

// NameOf is a string as goja names properties; textOf is the way back.
func NameOf(s goja.String) unistring.String {
	if a, ok := texts.AsciiOf(s); ok {
		return unistring.String(a)
	}
	return unistring.FromUtf16(append([]uint16{unistring.BOM}, texts.UnitsOf(s)...))
}

// TextOf is the string that a property is named by.
func (e *Maker) TextOf(name unistring.String) goja.Value {
	if units := name.AsUtf16(); units != nil {
		return goja.StringFromUTF16(units[1:])
	}
	return e.vm.ToValue(string(name))
}

// Know is a property's name with what a small map needs to know of it.
func (e *Maker) Know(text unistring.String) Name { return e.smallMaps.know(text) }
