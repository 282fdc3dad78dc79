package insides

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"

	"minido.dev/minido/internal/insides/literals"
	"minido.dev/minido/internal/insides/smallmaps"
)

// Each time a function, method or arrow function is evaluated, goja makes nine pieces for
// it: the function, what JavaScript sees of it, a map, its group, two lists of names, the
// property name, its text. Ours make one that holds them all, with room for the properties that
// most have: another makes the map grow.

//go:linkname arrayPrototype github.com/dop251/goja.(*Runtime).getArrayPrototype
func arrayPrototype(vm *goja.Runtime) *goja.Object

// closures is what the replacements need to know. Immutable after learn.
type closures struct {
	known                   bool
	function, method, arrow closureKind
	array, literal          instructionKind // what makes the arrays and objects of literals
	stash, private          uintptr         // in the virtual machine: the variables and private names around
	realm, prototype        uintptr         // in the runtime: its built-ins; among these: Function.prototype
	ordinary                uintptr         // and Object.prototype
	theirs                  *Goja
	functionShape
}

// functionShape is what making a function of any kind needs to know.
type functionShape struct {
	length, name Name
	names        []unistring.String // both, shared
	plain        *Plain
	seed         uintptr
}

// closureKind is a kind of function.
type closureKind struct {
	instruction instructionKind
	object      unsafe.Pointer // the method table of its implementation
}

// theClosures is written once, by learn, before any program is changed.
var theClosures closures

// gojaNewFunc mirrors the instruction that makes a function.
type gojaNewFunc struct {
	prg    *goja.Program
	name   unistring.String
	source string
	length int
	strict bool
}

// gojaNewArrow mirrors the one of arrow functions.
type gojaNewArrow struct{ newFunc gojaNewFunc }

// gojaNewMethod mirrors the one of methods.
type gojaNewMethod struct {
	newFunc       gojaNewFunc
	homeObjOffset uint32 // how deep in the stack the object is that has it; 0 for none
}

// gojaBaseFunction, gojaScripted, gojaFunction, gojaArrow and gojaMethod mirror the
// implementations of functions.
type gojaBaseFunction struct {
	baseObject Object
	lenProp    gojaProperty
}

type gojaScripted struct {
	baseFuncObject gojaBaseFunction
	stash, privEnv unsafe.Pointer
	prg            *goja.Program
	src            string
	strict         bool
}

type gojaFunction struct{ baseJsFuncObject gojaScripted }

type gojaArrow struct {
	baseJsFuncObject gojaScripted
	funcObj          *goja.Object
	newTarget        goja.Value
}

type gojaMethod struct {
	baseJsFuncObject gojaScripted
	homeObject       *goja.Object
}

func (c *closures) learn(l *look) {
	maps := TheMapNames()
	c.theirs, c.plain, c.seed = TheGoja(), ThePlainLayout(), maps.seed
	if !l.Is("goja.Object.self", "known", c.theirs.Known && c.plain.Known) || !l.Is("maps", "known", maps.Known) {
		return
	}
	c.length, c.name, c.names = maps.know("length"), maps.know("name"), maps.lengthAndName
	runtime := reflect.TypeFor[goja.Runtime]()
	machine := l.Kind(runtime, "vm", reflect.Pointer)
	c.stash, c.private = l.Kind(machine.Type, "stash", reflect.Pointer).Offset, l.Kind(machine.Type, "privEnv", reflect.Pointer).Offset
	realm := l.Kind(runtime, "global", reflect.Struct)
	c.realm, c.prototype, c.ordinary = realm.Offset, l.Typed(realm.Type, "FunctionPrototype", reflect.TypeFor[*goja.Object]()), l.Typed(realm.Type, "ObjectPrototype", reflect.TypeFor[*goja.Object]())
	program, err := goja.Compile("", "[function () {}, () => {}, { m() {} }.m]", false)
	vm := goja.New()
	v, failed := vm.RunProgram(program)
	if !l.Is("functions of each kind", "samples that run", err == nil && failed == nil) || !l.Known() {
		return
	}
	samples := v.(*goja.Object)
	c.function = c.kindOf(l, program, "newFunc", makeFunction, reflect.TypeFor[gojaNewFunc](), reflect.TypeFor[gojaFunction](), samples.Get("0"))
	c.arrow = c.kindOf(l, program, "newArrowFunc", makeArrow, reflect.TypeFor[gojaNewArrow](), reflect.TypeFor[gojaArrow](), samples.Get("1"))
	c.method = c.kindOf(l, program, "newMethod", makeMethod, reflect.TypeFor[gojaNewMethod](), reflect.TypeFor[gojaMethod](), samples.Get("2"))
	walk := programWalk{theirs: c.theirs, places: map[unsafe.Pointer][]uintptr{}}
	walk.each(program, func(i *words) {
		if t := walk.typeOf(i); t.Name() == "newArray" && t.Kind() == reflect.Uint32 {
			c.array = replaced(i.tab, makeArray)
		} else if t.Name() == "_newObject" && t.Size() == 0 {
			c.literal = replaced(i.tab, makeObject)
		}
	})
	l.Is("goja._newObject", "the instruction of object literals, without an operand", c.literal.ours != nil)
	l.Is("goja.newArray", "the instruction of array literals, a number of items", c.array.ours != nil)
	c.known = l.Known()
}

// kindOf is a kind of function: the instruction of this name in the program, which exec
// replaces, and what it makes.
func (c *closures) kindOf(l *look, program *goja.Program, name string, exec executing, instruction, object reflect.Type, sample goja.Value) (k closureKind) {
	walk := programWalk{theirs: c.theirs, places: map[unsafe.Pointer][]uintptr{}}
	made := implementationOf(sample.(*goja.Object))
	if !l.Is(made.String(), "a pointer", made.Kind() == reflect.Pointer) || !l.Mirrors(object, made.Elem()) {
		return k
	}
	walk.each(program, func(i *words) {
		if t := walk.typeOf(i); t.Kind() == reflect.Pointer && t.Elem().Name() == name && l.Mirrors(instruction, t.Elem()) {
			k = closureKind{replaced(i.tab, exec), mirrorOf(sample.(*goja.Object)).self.tab}
		}
	})
	l.Is("goja."+name, "an instruction", k.instruction.ours != nil)
	return k
}

// effects are those of instructions by their method tables.
type effects struct {
	mu    sync.Mutex // guards known
	known map[unsafe.Pointer]literals.Effect
}

var theEffects = effects{known: map[unsafe.Pointer]literals.Effect{}}

// properties is how many properties the literal has that begins with code, of instructions that
// nothing has replaced yet; -1 if that cannot be told.
func (e *effects) properties(code []words) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return literals.Properties(0, len(code), func(pc int) (literals.Effect, unsafe.Pointer) {
		effect, has := e.known[code[pc].tab]
		if !has {
			effect = literals.EffectOf(joined.programs.typeOf(&code[pc]))
			e.known[code[pc].tab] = effect
		}
		return effect, code[pc].data
	})
}

// rooms are the operands of instructions that make objects of so many properties.
var rooms = [literals.Most + 1]int{0, 1, 2, 3, 4, 5, 6, 7, 8}

// instrument has the first instruction make a function, an array or an object in one piece.
func (c *closures) instrument(code []words) {
	instruction := &code[0]
	switch instruction.tab {
	case c.array.table:
		instruction.tab = unsafe.Pointer(c.array.ours)
		return
	case c.literal.table:
		if n := theEffects.properties(code); n > 0 {
			*instruction = words{unsafe.Pointer(c.literal.ours), unsafe.Pointer(&rooms[n])}
		}
		return
	}
	for _, k := range []*closureKind{&c.function, &c.arrow, &c.method} {
		if instruction.tab == k.instruction.table && (*gojaNewFunc)(instruction.data).name.AsUtf16() == nil {
			instruction.tab = unsafe.Pointer(k.instruction.ours)
		}
	}
}

// functionParts are what every function has besides its implementation. They do not move.
type functionParts[R smallmaps.Room] struct {
	object gojaObject
	name   gojaProperty
	values smallmaps.Map[R]
}

// functionSlots are the properties that a function has room for: its length, its name, and the
// prototype that goja makes when it is first asked for. Others have no prototype.
type (
	functionSlots = [3]smallmaps.Slot
	otherSlots    = [2]smallmaps.Slot
)

// assemble makes a function of its parts, as n says. fn is the beginning of its
// implementation. It is nil before goja has made Function.prototype.
func assemble[R smallmaps.Room](c *closures, k *closureKind, n *gojaNewFunc, machine unsafe.Pointer, fn *gojaScripted, p *functionParts[R]) *goja.Object {
	runtime := *(**goja.Runtime)(unsafe.Add(machine, joined.runtime))
	prototype := *(**goja.Object)(unsafe.Add(unsafe.Pointer(runtime), c.realm+c.prototype))
	if prototype == nil {
		return nil
	}
	o := shaped(&c.functionShape, p, runtime, prototype, words{k.object, unsafe.Pointer(fn)}, &fn.baseFuncObject, &n.length, (*string)(&n.name))
	fn.stash, fn.privEnv = *(*unsafe.Pointer)(unsafe.Add(machine, c.stash)), *(*unsafe.Pointer)(unsafe.Add(machine, c.private))
	fn.prg, fn.src, fn.strict = theWriting.latest(n.prg), n.source, n.strict
	return o
}

// shaped is a function of its parts and its implementation, self, of which fn is the beginning. Its name is in ASCII.
func shaped[R smallmaps.Room](s *functionShape, p *functionParts[R], vm *goja.Runtime, prototype *goja.Object, self words, fn *gojaBaseFunction, length *int, name *string) *goja.Object {
	o := (*goja.Object)(unsafe.Pointer(&p.object))
	p.object.runtime, p.object.self = vm, self
	base := &fn.baseObject
	base.class, base.val, base.prototype, base.extensible = "Function", o, prototype, true
	fn.lenProp.configurable, fn.lenProp.value = true, boxed(s.plain.integer, unsafe.Pointer(length))
	p.name.configurable, p.name.value = true, boxed(s.plain.ascii, unsafe.Pointer(name))
	base.values = p.values.Own(s.seed)
	p.values.Add(0, s.length.Text, s.length.hash, boxed(s.plain.property, unsafe.Pointer(&fn.lenProp)))
	p.values.Add(1, s.name.Text, s.name.hash, boxed(s.plain.property, unsafe.Pointer(&p.name)))
	base.propNames = s.names
	return o
}

// done pushes a function that the instruction made; goja's makes it if it is nil.
func (k *closureKind) done(instruction, machine unsafe.Pointer, o *goja.Object) {
	if o == nil {
		k.instruction.original(instruction, machine)
		return
	}
	push(machine, o)
	*Machine{theClosures.theirs, machine}.number(theClosures.theirs.pc)++
}

// makeFunction is the method of the instruction of functions.
func makeFunction(instruction, machine unsafe.Pointer) {
	c := &theClosures
	made := &struct {
		fn gojaFunction
		functionParts[functionSlots]
	}{}
	o := assemble(c, &c.function, (*gojaNewFunc)(instruction), machine, &made.fn.baseJsFuncObject, &made.functionParts)
	c.function.done(instruction, machine, o)
}

// makeArrow is the method of the instruction of arrow functions, which keep the function
// around them for its this and arguments.
func makeArrow(instruction, machine unsafe.Pointer) {
	c := &theClosures
	m := Machine{c.theirs, machine}
	var around *goja.Object
	if sb := *m.number(c.theirs.sb); sb > 0 {
		switch v := (*m.Stack())[sb-1].(type) {
		case *goja.Object:
			if around = v; mirrorOf(v).self.tab == c.arrow.object {
				around = (*gojaArrow)(mirrorOf(v).self.data).funcObj
			}
		default:
			if v != goja.Undefined() {
				c.arrow.instruction.original(instruction, machine)
				return
			}
		}
	}
	made := &struct {
		fn gojaArrow
		functionParts[otherSlots]
	}{}
	made.fn.funcObj, made.fn.newTarget = around, *(*goja.Value)(unsafe.Add(machine, c.theirs.newTarget))
	o := assemble(c, &c.arrow, &(*gojaNewArrow)(instruction).newFunc, machine, &made.fn.baseJsFuncObject, &made.functionParts)
	c.arrow.done(instruction, machine, o)
}

// makeMethod is the method of the instruction of methods, which keep the object that has
// them for super.
func makeMethod(instruction, machine unsafe.Pointer) {
	c := &theClosures
	m := Machine{c.theirs, machine}
	n := (*gojaNewMethod)(instruction)
	var home *goja.Object
	if n.homeObjOffset > 0 {
		var ok bool
		if home, ok = (*m.Stack())[*m.number(c.theirs.sp)-int(n.homeObjOffset)].(*goja.Object); !ok {
			c.method.instruction.original(instruction, machine)
			return
		}
	}
	made := &struct {
		fn gojaMethod
		functionParts[otherSlots]
	}{}
	made.fn.homeObject = home
	o := assemble(c, &c.method, &n.newFunc, machine, &made.fn.baseJsFuncObject, &made.functionParts)
	c.method.done(instruction, machine, o)
}

// makeArray is the method of the instruction of array literals. Those that follow add the items.
func makeArray(instruction, machine unsafe.Pointer) {
	vm := *(**goja.Runtime)(unsafe.Add(machine, joined.runtime))
	e := Maker{vm: vm, arrayProto: arrayPrototype(vm), Plain: theClosures.plain, smallMaps: TheMapNames()}
	push(machine, e.arrayFor(int(*(*uint32)(instruction))).baseObject.val)
	*Machine{theClosures.theirs, machine}.number(theClosures.theirs.pc)++
}

// ordinaryPrototype is a runtime's Object.prototype.
func ordinaryPrototype(vm *goja.Runtime) *goja.Object {
	return *(**goja.Object)(unsafe.Add(unsafe.Pointer(vm), theClosures.realm+theClosures.ordinary))
}

// makeObject is the method of the instruction of object literals, of which it is known how many
// properties follow.
func makeObject(instruction, machine unsafe.Pointer) {
	c := &theClosures
	vm := *(**goja.Runtime)(unsafe.Add(machine, joined.runtime))
	e := Maker{vm: vm, objectProto: ordinaryPrototype(vm), Plain: c.plain, smallMaps: TheMapNames()}
	push(machine, e.objectFor(*(*int)(instruction)))
	*Machine{c.theirs, machine}.number(c.theirs.pc)++
}
