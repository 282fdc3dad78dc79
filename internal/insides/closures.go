package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// Each time a function, method or arrow function is evaluated, goja makes nine pieces for
// it: the function, what JavaScript sees of it, a map, its group, two lists of names, the
// property name, its text. Ours make one that holds them all.

// closures is what the replacements need to know. Immutable after learn.
type closures struct {
	known                   bool
	function, method, arrow closureKind
	stash, private          uintptr // in the virtual machine: the variables and private names around
	realm, prototype        uintptr // in the runtime: its built-ins; among these: Function.prototype
	length, name            Name
	theirs                  *Goja
	plain                   *Plain
	seed                    uintptr
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
	if !l.is("goja.Object.self", "known", c.theirs.Known && c.plain.Known) || !l.is("maps", "known", maps.Known) {
		return
	}
	c.length, c.name = maps.know("length"), maps.know("name")
	runtime := reflect.TypeFor[goja.Runtime]()
	machine := l.kind(runtime, "vm", reflect.Pointer)
	c.stash, c.private = l.kind(machine.Type, "stash", reflect.Pointer).Offset, l.kind(machine.Type, "privEnv", reflect.Pointer).Offset
	realm := l.kind(runtime, "global", reflect.Struct)
	c.realm, c.prototype = realm.Offset, l.typed(realm.Type, "FunctionPrototype", reflect.TypeFor[*goja.Object]())
	program, err := goja.Compile("", "[function () {}, () => {}, { m() {} }.m]", false)
	vm := goja.New()
	v, failed := vm.RunProgram(program)
	if !l.is("functions of each kind", "samples that run", err == nil && failed == nil) || !l.known() {
		return
	}
	samples := v.(*goja.Object)
	c.function = c.kindOf(l, program, "newFunc", makeFunction, reflect.TypeFor[gojaNewFunc](), reflect.TypeFor[gojaFunction](), samples.Get("0"))
	c.arrow = c.kindOf(l, program, "newArrowFunc", makeArrow, reflect.TypeFor[gojaNewArrow](), reflect.TypeFor[gojaArrow](), samples.Get("1"))
	c.method = c.kindOf(l, program, "newMethod", makeMethod, reflect.TypeFor[gojaNewMethod](), reflect.TypeFor[gojaMethod](), samples.Get("2"))
	c.known = l.known()
}

// kindOf is a kind of function: the instruction of this name in the program, which exec
// replaces, and what it makes.
func (c *closures) kindOf(l *look, program *goja.Program, name string, exec executing, instruction, object reflect.Type, sample goja.Value) (k closureKind) {
	walk := programWalk{theirs: c.theirs, places: map[unsafe.Pointer][]uintptr{}}
	made := implementationOf(sample.(*goja.Object))
	if !l.is(made.String(), "a pointer", made.Kind() == reflect.Pointer) || !l.mirrors(object, made.Elem()) {
		return k
	}
	walk.each(program, func(i *words) {
		if t := walk.typeOf(i); t.Kind() == reflect.Pointer && t.Elem().Name() == name && l.mirrors(instruction, t.Elem()) {
			k = closureKind{replaced(i.tab, exec), mirrorOf(sample.(*goja.Object)).self.tab}
		}
	})
	l.is("goja."+name, "an instruction", k.instruction.ours != nil)
	return k
}

// instrument has instructions make functions in one piece.
func (c *closures) instrument(instruction *words) {
	for _, k := range []*closureKind{&c.function, &c.arrow, &c.method} {
		if instruction.tab == k.instruction.table && (*gojaNewFunc)(instruction.data).name.AsUtf16() == nil {
			instruction.tab = unsafe.Pointer(k.instruction.ours)
		}
	}
}

// functionParts are what every function has besides its implementation. They do not move.
type functionParts struct {
	object gojaObject
	name   gojaProperty
	values smallMap
	names  [2]unistring.String
}

// assemble makes a function of its parts, as n says. fn is the beginning of its
// implementation. It is nil before goja has made Function.prototype.
func (c *closures) assemble(k *closureKind, n *gojaNewFunc, machine unsafe.Pointer, fn *gojaScripted, p *functionParts) *goja.Object {
	runtime := *(**goja.Runtime)(unsafe.Add(machine, joined.runtime))
	prototype := *(**goja.Object)(unsafe.Add(unsafe.Pointer(runtime), c.realm+c.prototype))
	if prototype == nil {
		return nil
	}
	o := (*goja.Object)(unsafe.Pointer(&p.object))
	p.object.runtime, p.object.self = runtime, words{k.object, unsafe.Pointer(fn)}
	base := &fn.baseFuncObject.baseObject
	base.class, base.val, base.prototype, base.extensible = "Function", o, prototype, true
	length := &fn.baseFuncObject.lenProp
	length.configurable, length.value = true, boxed(c.plain.integer, unsafe.Pointer(&n.length))
	p.name.configurable, p.name.value = true, boxed(c.plain.ascii, unsafe.Pointer(&n.name))
	base.values = p.values.own(c.seed)
	p.values.add(0, &c.length, boxed(c.plain.property, unsafe.Pointer(length)))
	p.values.add(1, &c.name, boxed(c.plain.property, unsafe.Pointer(&p.name)))
	p.names[0], p.names[1] = "length", "name"
	base.propNames = p.names[:]
	fn.stash, fn.privEnv = *(*unsafe.Pointer)(unsafe.Add(machine, c.stash)), *(*unsafe.Pointer)(unsafe.Add(machine, c.private))
	fn.prg, fn.src, fn.strict = theWriting.latest(n.prg), n.source, n.strict
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
		functionParts
	}{}
	o := c.assemble(&c.function, (*gojaNewFunc)(instruction), machine, &made.fn.baseJsFuncObject, &made.functionParts)
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
		functionParts
	}{}
	made.fn.funcObj, made.fn.newTarget = around, *(*goja.Value)(unsafe.Add(machine, c.theirs.newTarget))
	o := c.assemble(&c.arrow, &(*gojaNewArrow)(instruction).newFunc, machine, &made.fn.baseJsFuncObject, &made.functionParts)
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
		functionParts
	}{}
	made.fn.homeObject = home
	o := c.assemble(&c.method, &n.newFunc, machine, &made.fn.baseJsFuncObject, &made.functionParts)
	c.method.done(instruction, machine, o)
}
