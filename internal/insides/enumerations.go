package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// goja's for-in goes on through the prototypes when the object's own names are done, and
// keeps all names it has met in a map: a dozen for Object.prototype alone, none of which
// is enumerable. So the instruction that begins a loop looks at ordinary objects first.
// Where no prototype has an enumerable property, it lists the object's own names, and the
// loop goes through these, without those that are gone by then. As in V8, what a loop
// adds to the object or to a prototype while it runs is not met by it.

// enumerations is what the replacement needs to know. Immutable after learn.
type enumerations struct {
	known      bool
	begin      instructionKind
	stack      uintptr // of iterators, in the virtual machine
	size, next uintptr // of one there, and the function that gives its next item
	theirs     *Goja
	plain      *Plain
}

// theEnumerations is written once, by learn, before any program is changed.
var theEnumerations enumerations

// enumerated mirrors goja's propIterItem: a property that a loop comes to.
type enumerated struct {
	name, value goja.Value
	enumerable  int
}

// enumerableYes is goja's number for a property that is known to be enumerable.
const enumerableYes = 2

// nextName mirrors goja's iterNextFunc: the next property and what gives the one after
// it, nil at the end.
type nextName func() (enumerated, nextName)

func (en *enumerations) learn(l *look) {
	en.theirs, en.plain = TheGoja(), ThePlainLayout()
	if !l.Is("goja.Object.self", "known", en.theirs.Known && en.plain.Known) {
		return
	}
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer)
	stack := l.Kind(machine.Type, "iterStack", reflect.Slice)
	if !l.Known() {
		return
	}
	next := l.Kind(stack.Type.Elem(), "f", reflect.Func)
	en.stack, en.size, en.next = stack.Offset, stack.Type.Elem().Size(), next.Offset
	if t := next.Type; l.Is(t.String(), "a function that gives an item and itself", l.Known() && t.NumIn() == 0 && t.NumOut() == 2 && t.Out(1) == t) {
		l.Mirrors(reflect.TypeFor[enumerated](), t.Out(0))
	}
	program, err := goja.Compile("", "for (const a in {}) break;", false)
	if !l.Is("an instruction", "compiled", err == nil) || !l.Known() {
		return
	}
	walk := programWalk{theirs: en.theirs, places: map[unsafe.Pointer][]uintptr{}}
	walk.each(program, func(i *words) {
		if t := walk.typeOf(i); t.Name() == "_enumerate" && t.Size() == 0 {
			en.begin = replaced(i.tab, beginLoop)
		}
	})
	l.Is("goja._enumerate", "the instruction that begins for-in", en.begin.ours != nil)
	v, err := goja.New().RunString("let n = 0; for (const k in Object.prototype) n++; n")
	l.Is("Object.prototype", "without an enumerable property", err == nil && v.ToInteger() == 0)
	en.known = l.Known()
}

// instrument has the for-in loops of instructions look at ordinary objects.
func (en *enumerations) instrument(instruction *words) {
	if instruction.tab == en.begin.table {
		instruction.tab = unsafe.Pointer(en.begin.ours)
	}
}

// names are those that a loop over an ordinary object goes through, if that needs no more than a look.
func (en *enumerations) names(base *Object) (own []unistring.String, ok bool) {
	for p := base.prototype; p != nil; {
		self := mirrorOf(p).self
		if self.tab != en.plain.object && (self.tab != en.plain.builtin || baseOf(p).prototype != nil) {
			return nil, false
		}
		proto := baseOf(p)
		for _, v := range proto.values { // order-independent: one is enough
			if en.enumerable(v) {
				return nil, false
			}
		}
		p = proto.prototype
	}
	for _, name := range base.propNames {
		if !en.enumerable(base.values[name]) {
			continue
		}
		if name != "" && name[0] >= '0' && name[0] <= '9' || name.AsUtf16() != nil {
			return nil, false // an index has another place
		}
		own = append(own, name)
	}
	return own, true
}

// enumerable is of what stands for a property's value.
func (en *enumerations) enumerable(v goja.Value) bool {
	w := wordsOf(&v)
	return w.tab != nil && (w.tab != en.plain.property || (*gojaProperty)(w.data).enumerable)
}

// ownNames are the names that are left of a loop over an ordinary object.
type ownNames struct {
	object *Object
	left   []unistring.String
}

func (n *ownNames) next() (enumerated, nextName) {
	en := &theEnumerations
	for len(n.left) > 0 {
		name := n.left[0]
		n.left = n.left[1:]
		if v := n.object.values[name]; en.enumerable(v) {
			text := string(name)
			return enumerated{name: boxed(en.plain.ascii, unsafe.Pointer(&text)), value: v, enumerable: enumerableYes}, n.next
		}
	}
	return enumerated{}, nil
}

// beginLoop is the method of the instruction that begins for-in.
func beginLoop(instruction, machine unsafe.Pointer) {
	en := &theEnumerations
	m := Machine{en.theirs, machine}
	subject := &(*m.Stack())[*m.number(m.In.sp)-1]
	var base *Object
	if o, ok := (*subject).(*goja.Object); ok {
		base = en.plain.Object(o)
	}
	if base == nil {
		en.begin.original(instruction, machine)
		return
	}
	own, ok := en.names(base)
	if !ok {
		en.begin.original(instruction, machine)
		return
	}
	*subject = goja.Undefined() // goja goes through nothing then
	en.begin.original(instruction, machine)
	if len(own) > 0 {
		stack := (*sliceHeader)(unsafe.Add(machine, en.stack))
		top := unsafe.Add(stack.data, uintptr(stack.len-1)*en.size)
		*(*nextName)(unsafe.Add(top, en.next)) = (&ownNames{base, own}).next
	}
}
