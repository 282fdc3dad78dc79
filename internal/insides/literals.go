package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// goja makes an object of four pieces, and one more for each doubling of its names; an
// array of six. For literals ours make one, with room for a few names or items. A literal
// that is followed by no property keeps goja's way: it would take room for nothing.

// literals is what the replacements need to know. Immutable after learn.
type literals struct {
	known                   bool
	object, array           instructionKind
	property                map[unsafe.Pointer]bool // the instructions that give a new object a property
	realm                   uintptr                 // in the runtime: its built-ins
	objectProto, arrayProto uintptr                 // in these
	length                  Name
	seed                    uintptr
	theirs                  *Goja
	plain                   *Plain
}

// theLiterals is written once, by learn, before any program is changed.
var theLiterals literals

// literalAhead is how far behind the beginning of an object's literal its first property
// is looked for, in instructions.
const literalAhead = 4

func (lit *literals) learn(l *look) {
	maps := TheMapNames()
	lit.theirs, lit.plain, lit.seed = TheGoja(), ThePlainLayout(), maps.seed
	if !l.is("goja.Object.self", "known", lit.theirs.Known && lit.plain.Known) || !l.is("maps", "known", maps.Known) {
		return
	}
	lit.length, lit.property = maps.know("length"), map[unsafe.Pointer]bool{}
	realm, object := l.kind(reflect.TypeFor[goja.Runtime](), "global", reflect.Struct), reflect.TypeFor[*goja.Object]()
	lit.realm = realm.Offset
	lit.objectProto, lit.arrayProto = l.typed(realm.Type, "ObjectPrototype", object), l.typed(realm.Type, "ArrayPrototype", object)
	program, err := goja.Compile("", "var b; [{ a: 1 }, { b: b }, { m() {} }, [1]]", false)
	if !l.is("an instruction", "compiled", err == nil) || !l.known() {
		return
	}
	walk := programWalk{theirs: lit.theirs, places: map[unsafe.Pointer][]uintptr{}}
	walk.each(program, func(i *words) {
		switch t := walk.typeOf(i); {
		case t.Name() == "_newObject" && t.Size() == 0:
			lit.object = replaced(i.tab, makeObject)
		case t.Name() == "newArray" && t.Kind() == reflect.Uint32:
			lit.array = replaced(i.tab, makeArray)
		case t.Name() == "putProp", t.Kind() == reflect.Pointer && t.Elem().Name() == "defineMethod":
			lit.property[i.tab] = true
		}
	})
	l.is("goja._newObject", "the instruction of objects", lit.object.ours != nil)
	l.is("goja.newArray", "the instruction of arrays, a uint32", lit.array.ours != nil)
	l.is("goja.putProp", "the instruction of an object's property", len(lit.property) > 0)
	lit.known = l.known()
}

// instrument has the literals of instructions make one piece each.
func (lit *literals) instrument(code []words) {
	for i := range code {
		switch code[i].tab {
		case lit.array.table:
			code[i].tab = unsafe.Pointer(lit.array.ours)
		case lit.object.table:
			for _, next := range code[i+1 : min(i+1+literalAhead, len(code))] {
				if lit.property[next.tab] {
					code[i].tab = unsafe.Pointer(lit.object.ours)
					break
				}
			}
		}
	}
}

// maker is a Maker for one value; ok is false before goja has made the prototypes.
func (lit *literals) maker(machine unsafe.Pointer) (e Maker, ok bool) {
	e.vm = *(**goja.Runtime)(unsafe.Add(machine, joined.runtime))
	realm := unsafe.Add(unsafe.Pointer(e.vm), lit.realm)
	e.objectProto, e.arrayProto = *(**goja.Object)(unsafe.Add(realm, lit.objectProto)), *(**goja.Object)(unsafe.Add(realm, lit.arrayProto))
	e.Plain = lit.plain
	return e, e.objectProto != nil && e.arrayProto != nil
}

// makeObject is the method of the instruction of objects.
func makeObject(instruction, machine unsafe.Pointer) {
	lit := &theLiterals
	e, ok := lit.maker(machine)
	if !ok {
		lit.object.original(instruction, machine)
		return
	}
	made := &struct {
		object gojaObject
		base   Object
		values smallMap
		names  [fewMembers]unistring.String
	}{}
	o := e.asObject(&made.object, &made.base)
	made.base.values, made.base.propNames = made.values.own(lit.seed), made.names[:0]
	push(machine, o)
	*Machine{lit.theirs, machine}.number(lit.theirs.pc)++
}

// makeArray is the method of the instruction of arrays, which is how many items will be
// appended.
func makeArray(instruction, machine unsafe.Pointer) {
	lit := &theLiterals
	e, ok := lit.maker(machine)
	if !ok {
		lit.array.original(instruction, machine)
		return
	}
	made := &struct {
		object gojaObject
		array  Array
		values smallMap
		names  [1]unistring.String
		items  [fewMembers]goja.Value
	}{}
	items := made.items[:0]
	if n := int(*(*uint32)(instruction)); n > fewMembers {
		items = make([]goja.Value, 0, n)
	}
	o, length := e.asArray(&made.object, &made.array, items)
	made.array.baseObject.values = made.values.own(lit.seed)
	made.values.add(0, &lit.length, length)
	made.names[0] = "length"
	made.array.baseObject.propNames = made.names[:]
	push(machine, o)
	*Machine{lit.theirs, machine}.number(lit.theirs.pc)++
}
