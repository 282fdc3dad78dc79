package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// goja goes through an array as through every iterable: next() is called, and makes an
// object of two properties for each item. Where the iterator is an array's own, its
// next() the one of the language, and the item an ordinary one, nothing can see that
// object; so the two instructions that ask an iterator take the item from the array.

// Iterating is what a runtime has of iterators. Immutable.
type Iterating struct {
	next    *Function // what the next() of arrays' iterators runs
	missing Function  // stands for a next() that is no function, which goja would call all the same
}

// IteratingOf is for a runtime in which no program has run yet.
func IteratingOf(vm *goja.Runtime) Iterating {
	var it Iterating
	v, err := vm.RunString("Object.getPrototypeOf([].values()).next")
	if fn, ok := v.(*goja.Object); ok && err == nil {
		it.next = TheGoja().FunctionOf(fn)
	}
	m := TheGoja().MachineOf(vm)
	it.missing = func(c goja.FunctionCall) goja.Value {
		next := c.This.ToObject(vm).Get("next")
		if next == nil {
			next = goja.Undefined()
		}
		push(m.at, next) // where errors look for what they are about
		panic(vm.NewTypeError("iterator.next is missing or not a function"))
	}
	return it
}

// iterations is what the replacements need to know. Immutable after learn.
type iterations struct {
	known          bool
	step, pattern  instructionKind // of loops, and of patterns such as [a, b]
	stack          uintptr         // of iterators, in the virtual machine
	size, record   uintptr         // of one there, and where it keeps the iterator's record
	iterator, next uintptr         // in the record
	array          unsafe.Pointer  // the method table of arrays' iterators
	of, index      uintptr         // of one: the array, and how far it has come
	kind           uintptr         // of one: what it gives
	items          int             // that it gives items
	theirs         *Goja
	plain          *Plain
}

// theIterations is written once, by learn, before any program is changed.
var theIterations iterations

func (it *iterations) learn(l *look) {
	it.theirs, it.plain = TheGoja(), ThePlainLayout()
	if !l.Is("goja.Object.self", "known", it.theirs.Known && it.plain.Known) {
		return
	}
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer)
	stack := l.Kind(machine.Type, "iterStack", reflect.Slice)
	if !l.Known() {
		return
	}
	record := l.Kind(stack.Type.Elem(), "iter", reflect.Pointer)
	it.stack, it.size, it.record = stack.Offset, stack.Type.Elem().Size(), record.Offset
	l.Is(stack.Type.Elem().String()+".val", "the first", l.Typed(stack.Type.Elem(), "val", reflect.TypeFor[goja.Value]()) == 0)
	it.iterator, it.next = l.Typed(record.Type, "iterator", reflect.TypeFor[*goja.Object]()), l.Typed(record.Type, "next", reflect.TypeFor[Function]())
	vm := goja.New()
	v, err := vm.RunString("[1].values()")
	if !l.Is("[].values()", "an object", err == nil) {
		return
	}
	sample := v.(*goja.Object)
	t := implementationOf(sample)
	it.array = mirrorOf(sample).self.tab
	it.of, it.index = l.Typed(t, "obj", reflect.TypeFor[*goja.Object]()), l.Typed(t, "nextIdx", reflect.TypeFor[int64]())
	it.kind = l.Kind(t, "kind", reflect.Int).Offset
	program, err := goja.Compile("", "for (const a of []); const [b] = [];", false)
	if !l.Is("an instruction", "compiled", err == nil) || !l.Known() {
		return
	}
	it.items = *(*int)(unsafe.Add(mirrorOf(sample).self.data, it.kind))
	walk := programWalk{theirs: it.theirs, places: map[unsafe.Pointer][]uintptr{}}
	walk.each(program, func(i *words) {
		switch t := walk.typeOf(i); {
		case t.Name() == "iterNext" && t.Kind() == reflect.Int32:
			it.step = replaced(i.tab, stepLoop)
		case t.Name() == "iterGetNextOrUndef" && t.Size() == 0:
			it.pattern = replaced(i.tab, stepPattern)
		}
	})
	l.Is("goja.iterNext", "the instruction of loops, an int32", it.step.ours != nil)
	l.Is("goja.iterGetNextOrUndef", "the instruction of patterns", it.pattern.ours != nil)
	it.known = l.Known()
}

// instrument has the loops and patterns of instructions take items from arrays.
func (it *iterations) instrument(instruction *words) {
	switch instruction.tab {
	case it.step.table:
		instruction.tab = unsafe.Pointer(it.step.ours)
	case it.pattern.table:
		instruction.tab = unsafe.Pointer(it.pattern.ours)
	}
}

// take is the next item of the innermost iteration, nil at its end; ok is false if it
// needs more than a look. top is the iteration.
func (it *iterations) take(machine unsafe.Pointer) (item goja.Value, top unsafe.Pointer, ok bool) {
	stack := (*sliceHeader)(unsafe.Add(machine, it.stack))
	top = unsafe.Add(stack.data, uintptr(stack.len-1)*it.size)
	record := *(*unsafe.Pointer)(unsafe.Add(top, it.record))
	iterator := (**goja.Object)(unsafe.Add(record, it.iterator))
	if *iterator == nil {
		return nil, top, false
	}
	if next := (*Function)(unsafe.Add(record, it.next)); *next == nil {
		*next = joined.joiner(machine).Iterating().missing
	}
	if mirrorOf(*iterator).self.tab != it.array {
		return nil, top, false
	}
	at := mirrorOf(*iterator).self.data
	array, index := (**goja.Object)(unsafe.Add(at, it.of)), (*int64)(unsafe.Add(at, it.index))
	if *(*int)(unsafe.Add(at, it.kind)) != it.items || *array == nil {
		return nil, top, false
	}
	items := it.plain.Array(*array)
	next := (*Function)(unsafe.Add(record, it.next))
	if items == nil || !joined.joiner(machine).Iterating().isNext(next) {
		return nil, top, false
	}
	if *index >= int64(items.length) {
		*array, *iterator, *next = nil, nil, nil
		return nil, top, true
	}
	if *index >= int64(len(items.values)) {
		return nil, top, false
	}
	item = items.values[*index]
	if item == nil || wordsOf(&item).tab == it.plain.property {
		return nil, top, false
	}
	*index++
	return item, top, true
}

// isNext reports whether a function is what the next() of arrays' iterators runs.
func (it *Iterating) isNext(fn *Function) bool {
	return it.next != nil && *(*unsafe.Pointer)(unsafe.Pointer(it.next)) == *(*unsafe.Pointer)(unsafe.Pointer(fn))
}

// stepLoop is the method of the instruction of loops, which is how far behind the
// loop's end is.
func stepLoop(instruction, machine unsafe.Pointer) {
	it := &theIterations
	item, top, ok := it.take(machine)
	if !ok {
		it.step.original(instruction, machine)
		return
	}
	pc := Machine{it.theirs, machine}.number(it.theirs.pc)
	if item == nil {
		*pc += int(*(*int32)(instruction))
		return
	}
	*(*goja.Value)(top) = item
	*pc++
}

// stepPattern is the method of the instruction of patterns.
func stepPattern(instruction, machine unsafe.Pointer) {
	it := &theIterations
	item, _, ok := it.take(machine)
	if !ok {
		it.pattern.original(instruction, machine)
		return
	}
	if item == nil {
		item = goja.Undefined()
	}
	push(machine, item)
	*Machine{it.theirs, machine}.number(it.theirs.pc)++
}
