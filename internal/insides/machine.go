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
	interrupted                uintptr
	callType                   reflect.Type // of an active call
	callSB                     uintptr      // in it
	callProgram, callNewTarget uintptr
	newTarget                  uintptr // in the virtual machine
	code, source               uintptr // in goja.Program
	codeType                   reflect.Type
}

// sliceHeader is a slice whose elements are not looked at.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

// TheGoja is learnt at the first call. Safe for concurrent use.
var TheGoja = sync.OnceValue(learnInsides)

func learnInsides() *Goja {
	in := &Goja{Known: true}
	field := func(t reflect.Type, name string, fits func(reflect.Type) bool) reflect.StructField {
		f, found := t.FieldByName(name)
		if !found || !fits(f.Type) {
			in.Known = false
			return reflect.StructField{Type: reflect.TypeFor[*struct{}]()}
		}
		return f
	}
	is := func(want reflect.Type) func(reflect.Type) bool {
		return func(t reflect.Type) bool { return t == want }
	}
	kind := func(want reflect.Kind) func(reflect.Type) bool {
		return func(t reflect.Type) bool { return t.Kind() == want }
	}
	number := is(reflect.TypeFor[int]())

	machine := field(reflect.TypeFor[goja.Runtime](), "vm", kind(reflect.Pointer))
	in.vm = machine.Offset
	t := machine.Type.Elem()
	in.stack = field(t, "stack", func(t reflect.Type) bool {
		return t.Kind() == reflect.Slice && t.Elem() == reflect.TypeFor[goja.Value]()
	}).Offset
	in.sp, in.sb, in.pc = field(t, "sp", number).Offset, field(t, "sb", number).Offset, field(t, "pc", number).Offset
	in.program = field(t, "prg", is(reflect.TypeFor[*goja.Program]())).Offset
	calls := field(t, "callStack", func(t reflect.Type) bool {
		return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
	})
	in.calls = calls.Offset
	in.tries = field(t, "tryStack", kind(reflect.Slice)).Offset
	in.callsMax = field(t, "maxCallStackSize", number).Offset
	in.newTarget = field(t, "newTarget", is(reflect.TypeFor[goja.Value]())).Offset
	in.interrupted = field(t, "interrupted", kind(reflect.Uint32)).Offset

	t = reflect.TypeFor[goja.Program]()
	code := field(t, "code", kind(reflect.Slice))
	in.code, in.codeType = code.Offset, code.Type
	in.source = field(t, "src", is(reflect.TypeFor[*file.File]())).Offset

	if in.Known {
		in.callType = calls.Type.Elem()
		in.callSB = field(in.callType, "sb", number).Offset
		in.callProgram = field(in.callType, "prg", is(reflect.TypeFor[*goja.Program]())).Offset
		in.callNewTarget = field(in.callType, "newTarget", is(reflect.TypeFor[goja.Value]())).Offset
	}
	self := field(reflect.TypeFor[goja.Object](), "self", kind(reflect.Interface))
	in.self = self.Index
	if !in.Known {
		return in
	}
	runtime := goja.New()
	for i, sample := range []string{"TypeError", "BigInt"} { // of each implementation
		t := in.implementation(runtime.Get(sample).(*goja.Object)).Type()
		in.functions[i] = implementation{t, field(t.Elem(), "f", is(reflect.TypeFor[Function]())).Offset}
	}
	for i, sample := range []string{"TypeError", "Date"} {
		t := in.implementation(runtime.Get(sample).(*goja.Object)).Type()
		in.constructors[i] = implementation{t, field(t.Elem(), "construct", is(reflect.TypeFor[constructor]())).Offset}
	}
	in.programs = map[reflect.Type]uintptr{}
	samples, err := runtime.RunString("[function () {}, () => {}, class {}, ({ m() {} }).m, function* () {}, ({ *m() {} }).m, async () => {}, ({ async m() {} }).m, async function () {}]")
	if err != nil {
		in.Known = false
		return in
	}
	runtime.ForOf(samples, func(sample goja.Value) bool {
		t := in.implementation(sample.(*goja.Object)).Type()
		in.programs[t] = field(t.Elem(), "prg", is(reflect.TypeFor[*goja.Program]())).Offset
		return true
	})
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

// Peek is the nth value from the top of the stack, 1 for the top; nil below
// its end.
func (m Machine) Peek(n int) goja.Value {
	stack, sp := *m.Stack(), *m.number(m.In.sp)
	if n < 1 || n > sp || sp > len(stack) {
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
