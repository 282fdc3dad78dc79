package insides

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/appending"
)

// goja joins strings without asking anybody, and `s += s` in a loop makes a
// value of gigabytes in two dozen steps. So the two instructions that join
// strings get, in every program that is compiled, method tables of ours, which
// are goja's but for the one method: that asks first and then calls goja's.

// joining is what the replacement needs to know. Immutable after learn, but
// for programs.
type joining struct {
	known       bool
	add, concat instructionKind
	spread      instructionKind
	runtime     uintptr           // in the virtual machine
	tracker     uintptr           // in the runtime
	numbers     [2]unsafe.Pointer // method tables of numbers as values
	programs    programWalk
	theirs      *Goja
}

// instructionKind is a kind of instruction.
type instructionKind struct {
	table    unsafe.Pointer    // goja's method table
	original executing         // its method
	ours     *instructionTable // what replaces the table
}

// instructionTable is a method table of goja's interface of instructions
// (internal/abi.ITab).
type instructionTable struct {
	_     unsafe.Pointer // the interface's type
	value unsafe.Pointer // the instruction's
	_     uint32
	exec  uintptr
}

// executing is the method of instructions: of what the interface points to, and
// the virtual machine.
type executing = func(instruction, machine unsafe.Pointer)

// Joiner is asked before strings are joined. The runtime's AsyncContextTracker
// implements it: the one thing of the engine that goja keeps.
type Joiner interface {
	// Join is called on the loop before a string of n characters is made of
	// others; it may panic with a JavaScript value.
	Join(n int)
	// Spread is called on the loop before the properties of a value are copied to an object;
	// it may panic with a JavaScript value.
	Spread(from goja.Value)
	// Appends is what is known of the runtime's strings. It is called on the loop.
	Appends() *Appends
	// Iterating is what the runtime has of iterators. It is called on the loop.
	Iterating() *Iterating
	// Numbers is where the runtime's numbers are made. It is called on the loop.
	Numbers() *Numbers
	// TooBig is called on the loop before a BigInt is made that is longer than V8's may
	// be, or that takes too long; it panics with a JavaScript value.
	TooBig()
	// Tag is the number of who owns what is made now, 0 for nobody. It is called on the loop.
	Tag() uint32
	// Follow is asked about a pending promise of another owner than that of now: what
	// to wait for instead, nil for the promise itself. It is called on the loop.
	Follow(p *goja.Promise, owner uint32) *goja.Promise
	// Made is called on the loop when a method of AdoptMethods was made; it runs no JavaScript.
	Made(method int, fn *goja.Object)
}

// joinAsked is the length from which a Joiner is asked.
const joinAsked = 256 << 10

// joined is written once, by learn, before any program is changed.
var (
	joined joining
	learn  sync.Once
)

func (j *joining) learn(l *look) {
	in := TheGoja()
	j.programs, j.theirs = programWalk{theirs: in, places: map[unsafe.Pointer][]uintptr{}}, in
	if !l.Is("goja.Object.self", "known", in.Known) {
		return
	}
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer)
	j.runtime = l.Typed(machine.Type, "r", reflect.TypeFor[*goja.Runtime]())
	j.tracker = l.Typed(reflect.TypeFor[goja.Runtime](), "asyncContextTracker", reflect.TypeFor[goja.AsyncContextTracker]())
	kind := in.codeType.Elem()
	one := kind.Kind() == reflect.Interface && kind.NumMethod() == 1
	if one {
		exec := kind.Method(0).Type
		one = exec.NumIn() == 1 && exec.In(0) == machine.Type && exec.NumOut() == 0
	}
	program, err := goja.Compile("", "var a; a + a; `${a}${a}`; ({...a})", false)
	if !l.Is(kind.String(), "an interface of one method, of the machine", one) || !l.Is("an instruction", "compiled", err == nil) || !l.Known() {
		return
	}
	code := j.programs.code(program)
	for i := range code {
		t := j.programs.typeOf(&code[i])
		l.Is("the method table of an instruction", "its type's, as internal/abi.ITab has it", (*instructionTable)(code[i].tab).value == typeWord(t))
		switch {
		case !l.Known():
			return
		case t.Name() == "_add":
			j.add = replaced(code[i].tab, addition)
		case t.Name() == "concatStrings" && t.Kind() == reflect.Int:
			j.concat = replaced(code[i].tab, template)
		case t.Name() == "_copySpread":
			j.spread = replaced(code[i].tab, spread)
		}
	}
	for i, sample := range []any{1, 1.5} {
		v := (*goja.Runtime)(nil).ToValue(sample) // numbers belong to none
		j.numbers[i] = wordsOf(&v).tab
	}
	l.Is("goja._add", "the instruction of +", j.add.ours != nil)
	l.Is("goja.concatStrings", "the instruction of templates, an int", j.concat.ours != nil)
	l.Is("goja._copySpread", "the instruction of ... in an object", j.spread.ours != nil)
	j.known = l.Known()
}

// replaced is a kind of instruction whose method is exec.
func replaced(table unsafe.Pointer, exec executing) instructionKind {
	ours := *(*instructionTable)(table)
	original := &ours.exec // a func value points to where its code's address is
	kept := *original
	ours.exec = reflect.ValueOf(exec).Pointer()
	at := &kept
	return instructionKind{table, *(*executing)(unsafe.Pointer(&at)), &ours}
}

// Instrument has a program, and the functions in it, ask the Joiner of the runtime
// that runs it before it makes a long string of others, make async functions that cost
// less, make no arguments that are only counted, take the items of arrays from them, and
// list the names of ordinary objects for for-in, make functions in one piece, and
// refuse undefined and null in patterns when V8 does. Call it once, before the program runs. It
// reports false if goja is not known; then it does nothing, or only what does not depend
// on what is unknown.
func Instrument(program *goja.Program) bool {
	j, a, c, it, en, cl, co, lp := &joined, &theAsyncs, &theCounting, &theIterations, &theEnumerations, &theClosures, &theCoercions, &theLoop
	learn.Do(func() {
		j.learn(looking(""))
		a.learn(looking(""))
		c.learn(looking(""))
		it.learn(looking(""))
		en.learn(looking(""))
		cl.learn(looking(""))
		co.learn(looking(""))
		lp.learn(looking(""))
		if lp.known {
			lp.publish()
			lp.bigOperators()
			theWriting.learn(looking(""))
		}
	})
	if !j.known || program == nil {
		return j.known
	}
	j.programs.all(program, func(code []words) {
		if c.known {
			c.instrument(code)
		}
		for i := range code {
			switch instruction := &code[i]; instruction.tab {
			case j.add.table:
				if lp.known {
					lp.instrument(instruction)
				} else {
					instruction.tab = unsafe.Pointer(j.add.ours)
				}
			case j.concat.table:
				instruction.tab = unsafe.Pointer(j.concat.ours)
			case j.spread.table:
				instruction.tab = unsafe.Pointer(j.spread.ours)
			default:
				if a.known {
					a.instrument(instruction)
				}
				if it.known {
					it.instrument(instruction)
				}
				if en.known {
					en.instrument(instruction)
				}
				if cl.known {
					cl.instrument(code[i:])
				}
				if co.known {
					co.instrument(code[i:])
				}
				if lp.known {
					lp.instrument(instruction)
				}
			}
		}
	})
	return true
}

// addition is the method of `+`.
func addition(instruction, machine unsafe.Pointer) {
	j := &joined
	m := Machine{j.theirs, machine}
	stack, sp := *m.Stack(), *m.number(m.In.sp)
	left := stack[sp-2]
	if tab := wordsOf(&left).tab; tab == j.numbers[0] || tab == j.numbers[1] {
		j.add.original(instruction, machine)
		return
	}
	text, ok := left.(goja.String)
	if !ok {
		j.add.original(instruction, machine)
		return
	}
	n := text.Length()
	if right, ok := stack[sp-1].(goja.String); ok && n+right.Length() >= joinAsked {
		j.ask(machine, n+right.Length())
	}
	if n < appending.From || !ThePlainLayout().Known {
		j.add.original(instruction, machine)
		return
	}
	appends := j.joiner(machine).Appends()
	if made := appends.join(left, stack[sp-1]); made != nil {
		stack[sp-2] = made
		*m.number(m.In.sp)--
		*m.number(m.In.pc)++
		return
	}
	j.add.original(instruction, machine)
	appends.remember((*m.Stack())[sp-2])
}

// spread is the method of `...` in an object.
func spread(instruction, machine unsafe.Pointer) {
	m := Machine{joined.theirs, machine}
	joined.joiner(machine).Spread((*m.Stack())[*m.number(m.In.sp)-1])
	joined.spread.original(instruction, machine)
}

// template is the method of template literals; the instruction is the number of
// their parts.
func template(instruction, machine unsafe.Pointer) {
	j := &joined
	m := Machine{j.theirs, machine}
	stack, sp, n := *m.Stack(), *m.number(m.In.sp), 0
	for _, v := range stack[sp-*(*int)(instruction) : sp] {
		if s, ok := v.(goja.String); ok {
			n += s.Length()
		}
	}
	if n >= joinAsked {
		j.ask(machine, n)
	}
	j.concat.original(instruction, machine)
}

// ask asks the runtime's Joiner.
func (j *joining) ask(machine unsafe.Pointer, n int) { j.joiner(machine).Join(n) }

// joiner is the runtime's Joiner; one that does nothing if it has none.
func (j *joining) joiner(machine unsafe.Pointer) Joiner {
	runtime := *(*unsafe.Pointer)(unsafe.Add(machine, j.runtime))
	tracker := *(*goja.AsyncContextTracker)(unsafe.Add(runtime, j.tracker))
	if joiner, ok := tracker.(Joiner); ok {
		return joiner
	}
	return noJoiner{}
}

// noJoiner is that of a runtime without an engine: it bounds nothing and appends as
// goja does.
type noJoiner struct{}

func (noJoiner) Join(int)                                   {}
func (noJoiner) Spread(goja.Value)                          {}
func (noJoiner) Appends() *Appends                          { return &Appends{} }
func (noJoiner) Iterating() *Iterating                      { return &Iterating{} }
func (noJoiner) Numbers() *Numbers                          { return &Numbers{} }
func (noJoiner) TooBig()                                    {}
func (noJoiner) Tag() uint32                                { return 0 }
func (noJoiner) Follow(*goja.Promise, uint32) *goja.Promise { return nil }
func (noJoiner) Made(int, *goja.Object)                     {}
