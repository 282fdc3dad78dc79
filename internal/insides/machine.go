package insides

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

// Goja says neither which value a failed access found nor where in the source
// it failed, and its stack overflow passes every catch block. Both can be put
// right only with a look at its virtual machine, which this file takes through
// reflection: fields are found by name and type when the process starts.
//
// insides is immutable after learnInsides. If goja's internals were to change
// so that a part is not found, ok is false, texts stay goja's own and an
// overflow condemns the isolate; TestInsidesAreKnown says so.
type Goja struct {
	Known bool

	self         []int             // index path of goja.Object's implementation
	functions    [2]implementation // of native functions
	constructors [2]implementation // of native constructors

	programs map[reflect.Type]uintptr // where functions of JavaScript keep their program

	vm                         uintptr // in goja.Runtime
	stack, sp, sb, pc, program uintptr // in the virtual machine
	calls, callsMax, tries     uintptr
	interrupted, lock, reason  uintptr      // of interrupts
	callType                   reflect.Type // of an active call
	callSB                     uintptr      // in it
	callProgram, callNewTarget uintptr
	plain, class               reflect.Type // functions and classes, which alone can be constructed
	newTarget                  uintptr      // in the virtual machine
	code, source               uintptr      // in goja.Program
	codeType                   reflect.Type
}

// sliceHeader is a slice whose elements are not looked at.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// TheGoja is learnt at the first call. Safe for concurrent use.
var TheGoja = learnt(learnGoja)

func learnGoja(l *look) *Goja {
	in := &Goja{}
	number, value, program := reflect.TypeFor[int](), reflect.TypeFor[goja.Value](), reflect.TypeFor[*goja.Program]()
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer)
	in.vm = machine.Offset
	t := machine.Type
	in.stack = l.Field(t, "stack", "a slice of goja.Value", func(t reflect.Type) bool {
		return t.Kind() == reflect.Slice && t.Elem() == value
	}).Offset
	in.sp, in.sb, in.pc = l.Typed(t, "sp", number), l.Typed(t, "sb", number), l.Typed(t, "pc", number)
	in.program = l.Typed(t, "prg", program)
	calls := l.Field(t, "callStack", "a slice of structs", func(t reflect.Type) bool {
		return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
	})
	in.calls, in.tries = calls.Offset, l.Kind(t, "tryStack", reflect.Slice).Offset
	in.callsMax, in.newTarget = l.Typed(t, "maxCallStackSize", number), l.Typed(t, "newTarget", value)
	in.interrupted = l.Typed(t, "interrupted", reflect.TypeFor[uint32]())
	in.lock = l.Typed(t, "interruptLock", reflect.TypeFor[sync.Mutex]())
	in.reason = l.Typed(t, "interruptVal", reflect.TypeFor[any]())

	t = reflect.TypeFor[goja.Program]()
	code := l.Kind(t, "code", reflect.Slice)
	in.code, in.codeType = code.Offset, code.Type
	in.source = l.Typed(t, "src", reflect.TypeFor[*file.File]())

	if in.callType = calls.Type.Elem(); l.Known() {
		in.callSB, in.callProgram, in.callNewTarget = l.Typed(in.callType, "sb", number), l.Typed(in.callType, "prg", program), l.Typed(in.callType, "newTarget", value)
	}
	in.self = l.Kind(reflect.TypeFor[goja.Object](), "self", reflect.Interface).Index
	if !l.Known() {
		return &Goja{}
	}
	runtime := goja.New()
	for i, sample := range []string{"TypeError", "BigInt"} { // of each implementation
		t := in.implementation(runtime.Get(sample).(*goja.Object)).Type()
		in.functions[i] = implementation{t, l.Within(t, "f", reflect.TypeFor[Function]())}
	}
	for i, sample := range []string{"TypeError", "Date"} {
		t := in.implementation(runtime.Get(sample).(*goja.Object)).Type()
		in.constructors[i] = implementation{t, l.Within(t, "construct", reflect.TypeFor[constructor]())}
	}
	in.programs = map[reflect.Type]uintptr{}
	samples, err := runtime.RunString("[function () {}, () => {}, class {}, ({ m() {} }).m, function* () {}, ({ *m() {} }).m, async () => {}, ({ async m() {} }).m, async function () {}]")
	if !l.Is("functions of each kind", "samples that run", err == nil) {
		return &Goja{}
	}
	var kinds []reflect.Type
	runtime.ForOf(samples, func(sample goja.Value) bool {
		t := in.implementation(sample.(*goja.Object)).Type()
		kinds = append(kinds, t)
		in.programs[t] = l.Within(t, "prg", program)
		return true
	})
	if in.Known = l.Known(); !in.Known {
		return &Goja{}
	}
	in.plain, in.class = kinds[0], kinds[2]
	return in
}

func (in *Goja) implementation(o *goja.Object) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByIndex(in.self).Elem()
}

// Machine is the virtual machine of a runtime. Loop-confined.
type Machine struct {
	In *Goja
	at unsafe.Pointer
}

// MachineOf is the virtual machine of a runtime; not to be called if it is not Known.
func (in *Goja) MachineOf(vm *goja.Runtime) Machine {
	return Machine{in, *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(vm), in.vm))}
}

func (m Machine) number(offset uintptr) *int { return (*int)(unsafe.Add(m.at, offset)) }

// Stack is the machine's stack of values, in use up to its pointer.
func (m Machine) Stack() *[]goja.Value { return (*[]goja.Value)(unsafe.Add(m.at, m.In.stack)) }

// Depth is how many calls are active, and how many may be.
func (m Machine) Depth() (calls, limit int) {
	return (*sliceHeader)(unsafe.Add(m.at, m.In.calls)).len, *m.number(m.In.callsMax)
}

// Peek is the nth value from the top of the stack, 1 for the top, 0 for what was there
// last; nil below its end.
func (m Machine) Peek(n int) goja.Value {
	stack, sp := *m.Stack(), *m.number(m.In.sp)
	if n < 0 || n > sp || sp-n >= len(stack) {
		return nil
	}
	return stack[sp-n]
}

// Argument is the nth argument of the native function that runs, -2 for its
// receiver; nil without one.
func (m Machine) Argument(n int) goja.Value {
	stack, at := *m.Stack(), *m.number(m.In.sb)+n
	if *m.number(m.In.sb) < 1 || at < 0 || at >= *m.number(m.In.sp) || at >= len(stack) {
		return nil
	}
	return stack[at]
}

// Instruction is the one that runs, invalid in a native function.
func (m Machine) Instruction() reflect.Value {
	p := *(*unsafe.Pointer)(unsafe.Add(m.at, m.In.program))
	if p == nil {
		return reflect.Value{}
	}
	code := reflect.NewAt(m.In.codeType, unsafe.Add(p, m.In.code)).Elem()
	if pc := *m.number(m.In.pc); pc >= 0 && pc < code.Len() {
		return code.Index(pc).Elem()
	}
	return reflect.Value{}
}

// Source is the file whose code runs, nil in a native function.
func (m Machine) Source() *file.File {
	p := *(*unsafe.Pointer)(unsafe.Add(m.at, m.In.program))
	if p == nil {
		return nil
	}
	return *(**file.File)(unsafe.Add(p, m.In.source))
}
