package engine

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
)

// goja says neither which value a failed access found nor where in the source
// it failed, and its stack overflow passes every catch block. Both can be put
// right only with a look at its virtual machine, which this file takes through
// reflection: fields are found by name and type when the process starts.
//
// insides is immutable after learnInsides. If goja's internals were to change
// so that a part is not found, ok is false, texts stay goja's own and an
// overflow condemns the isolate; TestInsidesAreKnown says so.
type insides struct {
	ok bool

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

// implementation is a type of native functions, and where it keeps the Go
// function.
type implementation struct {
	of     reflect.Type
	offset uintptr
}

// constructor is goja's form of a native constructor.
type constructor = func(args []goja.Value, newTarget *goja.Object) *goja.Object

// function is goja's form of a native function.
type function = func(goja.FunctionCall) goja.Value

// sliceHeader is a slice whose elements are not looked at.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

var theInsides = sync.OnceValue(learnInsides)

func learnInsides() *insides {
	in := &insides{ok: true}
	field := func(t reflect.Type, name string, fits func(reflect.Type) bool) reflect.StructField {
		f, found := t.FieldByName(name)
		if !found || !fits(f.Type) {
			in.ok = false
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

	if in.ok {
		in.callType = calls.Type.Elem()
		in.callSB = field(in.callType, "sb", number).Offset
		in.callProgram = field(in.callType, "prg", is(reflect.TypeFor[*goja.Program]())).Offset
		in.callNewTarget = field(in.callType, "newTarget", is(reflect.TypeFor[goja.Value]())).Offset
	}
	self := field(reflect.TypeFor[goja.Object](), "self", kind(reflect.Interface))
	in.self = self.Index
	if !in.ok {
		return in
	}
	runtime := goja.New()
	for i, sample := range []string{"TypeError", "BigInt"} { // of each implementation
		t := in.implementation(runtime.Get(sample).(*goja.Object)).Type()
		in.functions[i] = implementation{t, field(t.Elem(), "f", is(reflect.TypeFor[function]())).Offset}
	}
	for i, sample := range []string{"TypeError", "Date"} {
		t := in.implementation(runtime.Get(sample).(*goja.Object)).Type()
		in.constructors[i] = implementation{t, field(t.Elem(), "construct", is(reflect.TypeFor[constructor]())).Offset}
	}
	in.programs = map[reflect.Type]uintptr{}
	samples, err := runtime.RunString("[function () {}, () => {}, class {}, ({ m() {} }).m, function* () {}, ({ *m() {} }).m, async () => {}, ({ async m() {} }).m, async function () {}]")
	if err != nil {
		in.ok = false
		return in
	}
	runtime.ForOf(samples, func(sample goja.Value) bool {
		t := in.implementation(sample.(*goja.Object)).Type()
		in.programs[t] = field(t.Elem(), "prg", is(reflect.TypeFor[*goja.Program]())).Offset
		return true
	})
	return in
}

// constructorOf is where a native constructor keeps its Go function; nil for
// other objects.
func (in *insides) constructorOf(o *goja.Object) *constructor {
	v := in.implementation(o)
	for _, f := range in.constructors {
		if v.Type() == f.of {
			return (*constructor)(unsafe.Add(v.UnsafePointer(), f.offset))
		}
	}
	return nil
}

// functionOf is where a native function keeps its Go function; nil for other
// objects.
func (in *insides) functionOf(o *goja.Object) *function {
	v := in.implementation(o)
	for _, f := range in.functions {
		if v.Type() == f.of {
			return (*function)(unsafe.Add(v.UnsafePointer(), f.offset))
		}
	}
	return nil
}

func (in *insides) implementation(o *goja.Object) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByIndex(in.self).Elem()
}

// machine is the virtual machine of a runtime. Loop-confined.
type machine struct {
	in *insides
	at unsafe.Pointer
}

func (in *insides) machineOf(vm *goja.Runtime) machine {
	return machine{in, *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(vm), in.vm))}
}

func (m machine) number(offset uintptr) *int { return (*int)(unsafe.Add(m.at, offset)) }

func (m machine) stack() *[]goja.Value { return (*[]goja.Value)(unsafe.Add(m.at, m.in.stack)) }

// depth is how many calls are active, and how many may be.
func (m machine) depth() (calls, limit int) {
	return (*sliceHeader)(unsafe.Add(m.at, m.in.calls)).len, *m.number(m.in.callsMax)
}

// peek is the nth value from the top of the stack, 1 for the top; nil below
// its end.
func (m machine) peek(n int) goja.Value {
	stack, sp := *m.stack(), *m.number(m.in.sp)
	if n < 1 || n > sp || sp > len(stack) {
		return nil
	}
	return stack[sp-n]
}

// argument is the nth argument of the native function that runs, -2 for its
// receiver; nil without one.
func (m machine) argument(n int) goja.Value {
	stack, at := *m.stack(), *m.number(m.in.sb)+n
	if *m.number(m.in.sb) < 1 || at < 0 || at >= *m.number(m.in.sp) || at >= len(stack) {
		return nil
	}
	return stack[at]
}

// instruction is the one that runs, invalid in a native function.
func (m machine) instruction() reflect.Value {
	p := *(*unsafe.Pointer)(unsafe.Add(m.at, m.in.program))
	if p == nil {
		return reflect.Value{}
	}
	code := reflect.NewAt(m.in.codeType, unsafe.Add(p, m.in.code)).Elem()
	if pc := *m.number(m.in.pc); pc >= 0 && pc < code.Len() {
		return code.Index(pc).Elem()
	}
	return reflect.Value{}
}

// source is the file whose code runs, nil in a native function.
func (m machine) source() *file.File {
	p := *(*unsafe.Pointer)(unsafe.Add(m.at, m.in.program))
	if p == nil {
		return nil
	}
	return *(**file.File)(unsafe.Add(p, m.in.source))
}
