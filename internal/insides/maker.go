package insides

import (
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/smallmaps"
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
	case e.smallMaps.Known && len(members) <= smallmaps.Slots && len(members) > 0:
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

// smallObjectOf makes one of a few members, whose names differ.
func (e *Maker) smallObjectOf(members []Member) *goja.Object {
	names, control := make([]unistring.String, len(members)), uint64(smallmaps.NoEntries)
	for i := range members {
		names[i], control = members[i].Name.Text, smallmaps.With(control, i, members[i].Name.hash)
	}
	return e.objectWith(members, names, control)
}

// shapedObjectOf makes one whose names are a shape's.
func (e *Maker) shapedObjectOf(s *shape, members []Member) *goja.Object {
	return e.objectWith(members, s.texts, s.control)
}

// objectWith makes an object of at most a small map's members in one piece, but for the list of its
// names.
func (e *Maker) objectWith(members []Member, names []unistring.String, control uint64) *goja.Object {
	switch len(members) {
	case 1:
		return objectIn[[1]smallmaps.Slot](e, members, names, control)
	case 2:
		return objectIn[[2]smallmaps.Slot](e, members, names, control)
	case 3:
		return objectIn[[3]smallmaps.Slot](e, members, names, control)
	case 4:
		return objectIn[[4]smallmaps.Slot](e, members, names, control)
	case 5:
		return objectIn[[5]smallmaps.Slot](e, members, names, control)
	case 6:
		return objectIn[[6]smallmaps.Slot](e, members, names, control)
	case 7:
		return objectIn[[7]smallmaps.Slot](e, members, names, control)
	}
	return objectIn[[8]smallmaps.Slot](e, members, names, control)
}

// objectIn makes an object that has just the room for its members.
func objectIn[R smallmaps.Room](e *Maker, members []Member, names []unistring.String, control uint64) *goja.Object {
	made := &struct {
		object gojaObject
		base   Object
		values smallmaps.Map[R]
	}{}
	o := e.asObject(&made.object, &made.base)
	made.base.propNames = names
	made.base.values = made.values.Own(e.smallMaps.seed)
	made.values.Control, made.values.Head.Used = control, smallmaps.Slots
	for i := range members {
		made.values.Slots[i] = smallmaps.Slot{Name: names[i], Value: members[i].Value}
	}
	return o
}

// objectFor makes an empty object with room for so many properties, of at most a small map's.
func (e *Maker) objectFor(properties int) *goja.Object {
	switch properties {
	case 1:
		return roomIn[[1]smallmaps.Slot, [1]unistring.String](e)
	case 2:
		return roomIn[[2]smallmaps.Slot, [2]unistring.String](e)
	case 3:
		return roomIn[[3]smallmaps.Slot, [3]unistring.String](e)
	case 4:
		return roomIn[[4]smallmaps.Slot, [4]unistring.String](e)
	case 5:
		return roomIn[[5]smallmaps.Slot, [5]unistring.String](e)
	case 6:
		return roomIn[[6]smallmaps.Slot, [6]unistring.String](e)
	case 7:
		return roomIn[[7]smallmaps.Slot, [7]unistring.String](e)
	}
	return roomIn[[8]smallmaps.Slot, [8]unistring.String](e)
}

// roomIn makes an empty object with that room.
func roomIn[R smallmaps.Room, N smallmaps.Names](e *Maker) *goja.Object {
	made := &struct {
		object gojaObject
		base   Object
		values smallmaps.Map[R]
		names  N
	}{}
	o := e.asObject(&made.object, &made.base)
	made.base.propNames = unsafe.Slice((*unistring.String)(unsafe.Pointer(&made.names)), len(made.names))[:0]
	made.base.values = made.values.Own(e.smallMaps.seed)
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
	if !e.Plain.Known {
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item
		}
		return e.vm.NewArray(list...)
	}
	a := e.arrayFor(len(items))
	a.values, a.length, a.objCount = append(a.values, items...), uint32(len(items)), len(items)
	return a.baseObject.val
}

// arrayFor makes an empty array with room for so many items, of which few lie in one piece with it.
func (e *Maker) arrayFor(items int) *Array {
	switch {
	case !e.smallMaps.Known:
		made := &struct {
			object gojaObject
			array  Array
		}{}
		length := e.asArray(&made.object, &made.array, make([]goja.Value, 0, items))
		made.array.baseObject.values = map[unistring.String]goja.Value{"length": length}
		made.array.baseObject.propNames = []unistring.String{"length"}
		return &made.array
	case items <= 1:
		return arrayIn[[1]goja.Value](e, items)
	case items <= 3:
		return arrayIn[[3]goja.Value](e, items)
	case items <= 7:
		return arrayIn[[7]goja.Value](e, items)
	}
	return arrayIn[[0]goja.Value](e, items)
}

// arrayIn makes an empty array in one piece with the items that there is room for, if these are enough.
func arrayIn[R [0]goja.Value | [1]goja.Value | [3]goja.Value | [7]goja.Value](e *Maker, items int) *Array {
	made := &struct {
		items  R
		object gojaObject
		array  Array
		values smallmaps.Map[[1]smallmaps.Slot]
	}{}
	room := unsafe.Slice((*goja.Value)(unsafe.Pointer(&made.items)), len(made.items))
	if len(room) < items {
		room = make([]goja.Value, items)
	}
	length := e.asArray(&made.object, &made.array, room[:0])
	made.array.baseObject.values = made.values.Own(e.smallMaps.seed)
	made.values.Add(0, e.smallMaps.length.Text, e.smallMaps.length.hash, length)
	made.array.baseObject.propNames = e.smallMaps.lengthAlone
	return &made.array
}

// asArray makes an array of its two parts, without properties, and the one that is
// its length.
func (e *Maker) asArray(object *gojaObject, array *Array, room []goja.Value) (length goja.Value) {
	object.runtime, object.self = e.vm, words{e.Plain.array, unsafe.Pointer(array)}
	base := &array.baseObject
	base.class, base.val, base.prototype, base.extensible = "Array", (*goja.Object)(unsafe.Pointer(object)), e.arrayProto, true
	array.values = room
	array.lengthProp.writable = true
	return boxed(e.Plain.property, unsafe.Pointer(&array.lengthProp))
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
