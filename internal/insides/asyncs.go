package insides

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/dop251/goja"
)

// goja makes two functions, objects with two properties each, to settle the promise of
// each call of an async function, and six more pieces at each await. None of them can
// be seen. So the async functions of programs that are compiled get method tables of
// ours, in which a call settles its promise itself, and has one pair of reactions
// (ECMA-262, 27.7.5 and Await). A function that may look for its home object keeps
// goja's table: that look compares tables.

//go:linkname generatorEnter github.com/dop251/goja.(*generator).enter
func generatorEnter(generator unsafe.Pointer)

//go:linkname generatorStep github.com/dop251/goja.(*generator).step
func generatorStep(generator unsafe.Pointer) (goja.Value, uint8, *goja.Exception)

//go:linkname generatorNext github.com/dop251/goja.(*generator).next
func generatorNext(generator unsafe.Pointer, v goja.Value) (goja.Value, uint8, *goja.Exception)

//go:linkname generatorThrow github.com/dop251/goja.(*generator).nextThrow
func generatorThrow(generator unsafe.Pointer, v any) (goja.Value, uint8, *goja.Exception)

//go:linkname popTryFrame github.com/dop251/goja.(*vm).popTryFrame
func popTryFrame(machine unsafe.Pointer)

//go:linkname popCtx github.com/dop251/goja.(*vm).popCtx
func popCtx(machine unsafe.Pointer)

//go:linkname push github.com/dop251/goja.(*vm).push
func push(machine unsafe.Pointer, v goja.Value)

//go:linkname prepareForCall github.com/dop251/goja.(*baseJsFuncObject).prepareForVmCall
func prepareForCall(fn unsafe.Pointer, c goja.FunctionCall)

//go:linkname callFunction github.com/dop251/goja.(*baseJsFuncObject).vmCall
func callFunction(fn, machine unsafe.Pointer, n int)

//go:linkname callArrow github.com/dop251/goja.(*arrowFuncObject).vmCall
func callArrow(fn, machine unsafe.Pointer, n int)

//go:linkname promiseOf github.com/dop251/goja.(*Runtime).promiseResolve
func promiseOf(vm *goja.Runtime, constructor *goja.Object, v goja.Value) *goja.Object

//go:linkname promiseConstructor github.com/dop251/goja.(*Runtime).getPromise
func promiseConstructor(vm *goja.Runtime) *goja.Object

//go:linkname promisePrototype github.com/dop251/goja.(*Runtime).getPromisePrototype
func promisePrototype(vm *goja.Runtime) *goja.Object

//go:linkname thenableJob github.com/dop251/goja.(*Runtime).newPromiseResolveThenableJob
func thenableJob(vm *goja.Runtime, p *goja.Promise, thenable goja.Value, then *jobCallback) func()

//go:linkname callableOf github.com/dop251/goja.assertCallable
func callableOf(v goja.Value) (Function, bool)

// asyncs is what the tables need to know. Immutable after learn.
type asyncs struct {
	known     bool
	kinds     [3]asyncKind
	loadSuper unsafe.Pointer // the method table of the instruction that looks for a home object
	theirs    *Goja
	programs  programWalk

	object, promise uintptr        // of an object's value, in a function and in goja.Promise
	promises        unsafe.Pointer // the method table of promises
	current         uintptr        // the call that runs, in the virtual machine

	runner                          reflect.Type // goja's record of a call
	generator, capability, function uintptr      // in it
	machine                         uintptr      // in the generator
}

// asyncKind is a kind of async function.
type asyncKind struct {
	made        instructionKind // the instruction that makes one
	table, ours unsafe.Pointer  // goja's method table, and ours
	keep        []uintptr       // ours
	call        func(fn, machine unsafe.Pointer, n int)
}

// capability mirrors goja's record of a promise and what settles it (ECMA-262,
// PromiseCapability Records).
type capability struct{ promise, resolveObj, rejectObj *goja.Object }

// theAsyncs is written once, by learn, before any program is changed.
var theAsyncs asyncs

// asyncSamples are the kinds of async functions, with the function that runs one.
var asyncSamples = [3]struct {
	source, made string
	call         func(fn, machine unsafe.Pointer, n int)
}{
	{"(async function () {})", "newAsyncFunc", callFunction},
	{"(async () => {})", "newAsyncArrowFunc", callArrow},
	{"({ async m() {} }).m", "newAsyncMethod", callFunction},
}

func (a *asyncs) learn(l *look) {
	a.theirs = TheGoja()
	a.programs = programWalk{theirs: a.theirs, places: map[unsafe.Pointer][]uintptr{}}
	if !l.Is("goja.Object.self", "known", a.theirs.Known) || !l.Mirrors(reflect.TypeFor[gojaObject](), reflect.TypeFor[goja.Object]()) {
		return
	}
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer)
	reactions := reactionsOf(l)
	if !l.Known() {
		return
	}
	runner := l.Kind(reactions.Elem().Elem(), "asyncRunner", reflect.Pointer).Type
	a.current = l.Typed(machine.Type, "curAsyncRunner", runner)
	generator := l.Kind(runner, "gen", reflect.Struct)
	record := l.Kind(runner, "promiseCap", reflect.Pointer)
	a.runner, a.generator, a.capability = runner.Elem(), generator.Offset, record.Offset
	a.function = l.Typed(runner, "f", reflect.TypeFor[*goja.Object]())
	a.machine = l.Typed(generator.Type, "vm", machine.Type)
	a.promise = l.Within(reflect.TypeFor[*goja.Promise](), "val", reflect.TypeFor[*goja.Object]())
	if !l.Known() || !l.Mirrors(reflect.TypeFor[capability](), record.Type.Elem()) {
		return
	}
	implementation, _ := reflect.TypeFor[goja.Object]().FieldByName("self")
	call, callable := -1, -1
	for i := range implementation.Type.NumMethod() {
		switch m := implementation.Type.Method(i); m.Name {
		case "vmCall":
			if m.Type.NumIn() == 2 && m.Type.In(0) == machine.Type && m.Type.In(1) == reflect.TypeFor[int]() && m.Type.NumOut() == 0 {
				call = i
			}
		case "assertCallable":
			if m.Type.NumIn() == 0 && m.Type.NumOut() == 2 && m.Type.Out(0) == reflect.TypeFor[Function]() {
				callable = i
			}
		}
	}
	if !l.Is(implementation.Type.String(), "an interface with vmCall and assertCallable", call >= 0 && callable >= 0) {
		return
	}
	vm := goja.New()
	a.promises = mirrorOf(promiseOf(vm, promiseConstructor(vm), goja.Undefined())).self.tab
	for i := range asyncSamples {
		a.learnKind(l, vm, i, implementation.Type.NumMethod(), call, callable)
	}
	program, err := goja.Compile("", "({ m() { super.m(); } })", false)
	if !l.Is("an instruction", "compiled", err == nil) || !l.Known() {
		return
	}
	a.programs.each(program, func(i *words) {
		if a.programs.typeOf(i).Name() == "_loadSuper" {
			a.loadSuper = i.tab
		}
	})
	l.Is("goja._loadSuper", "the instruction that looks for a home object", a.loadSuper != nil)
	a.known = l.Known()
}

// learnKind makes the tables of a kind; goja's has so many methods, and these two
// among them.
func (a *asyncs) learnKind(l *look, vm *goja.Runtime, i, methods, call, callable int) {
	sample, kind := asyncSamples[i], &a.kinds[i]
	v, err := vm.RunString(sample.source)
	program, err2 := goja.Compile("", sample.source, false)
	if !l.Is(sample.source, "a function", err == nil && err2 == nil) {
		return
	}
	t := implementationOf(v.(*goja.Object))
	a.object = l.Within(t, "val", reflect.TypeFor[*goja.Object]())
	kind.table, kind.call = mirrorOf(v.(*goja.Object)).self.tab, sample.call
	methodsOf := unsafe.Slice((*uintptr)(unsafe.Add(kind.table, unsafe.Offsetof(instructionTable{}.exec))), methods)
	named := func(i int, name string) bool {
		return strings.HasSuffix(runtime.FuncForPC(methodsOf[i]).Name(), "."+name)
	}
	if !l.Is("the method table of "+t.Elem().String(), "its type's, as internal/abi.ITab has it", (*instructionTable)(kind.table).value == typeWord(t) && named(call, "vmCall") && named(callable, "assertCallable")) || !l.Known() {
		return
	}
	head := int(unsafe.Offsetof(instructionTable{}.exec) / unsafe.Sizeof(uintptr(0)))
	kind.keep = slices.Clone(unsafe.Slice((*uintptr)(kind.table), head+methods))
	kind.keep[head+call] = reflect.ValueOf(callAsync).Pointer()
	kind.keep[head+callable] = reflect.ValueOf(asyncCallable).Pointer()
	kind.ours = unsafe.Pointer(unsafe.SliceData(kind.keep))
	a.programs.each(program, func(in *words) {
		if t := a.programs.typeOf(in); t.Kind() == reflect.Pointer && t.Elem().Name() == sample.made {
			kind.made = replaced(in.tab, asyncMakers[i])
		}
	})
	l.Is("goja."+sample.made, "the instruction that makes one", kind.made.ours != nil)
}

// asyncMakers are the methods of the instructions that make async functions.
var asyncMakers = [3]executing{
	func(instruction, machine unsafe.Pointer) { theAsyncs.make(0, instruction, machine) },
	func(instruction, machine unsafe.Pointer) { theAsyncs.make(1, instruction, machine) },
	func(instruction, machine unsafe.Pointer) { theAsyncs.make(2, instruction, machine) },
}

// make has goja make a function, and gives it our table.
func (a *asyncs) make(i int, instruction, machine unsafe.Pointer) {
	kind := &a.kinds[i]
	kind.made.original(instruction, machine)
	m := Machine{a.theirs, machine}
	if fn, ok := m.Peek(1).(*goja.Object); ok && mirrorOf(fn).self.tab == kind.table {
		mirrorOf(fn).self.tab = kind.ours
	}
}

// instrument has an instruction that makes an async function make one of ours.
func (a *asyncs) instrument(instruction *words) {
	for i := range a.kinds {
		if kind := &a.kinds[i]; instruction.tab == kind.made.table {
			home := false
			for _, p := range a.programs.inner(unsafe.Slice(instruction, 1), nil) {
				a.programs.each(p, func(i *words) { home = home || i.tab == a.loadSuper || theWriting.looksHome(i) })
			}
			if !home {
				instruction.tab = unsafe.Pointer(kind.made.ours)
			}
		}
	}
}

// asyncCall is a call of an async function. Loop-confined.
type asyncCall struct {
	vm                  *goja.Runtime
	machine, runner     unsafe.Pointer // runner is goja's record of the call
	promise             *goja.Promise
	capability          capability
	fulfilled, rejected reaction
	ok, fail            jobCallback
}

// callAsync is the method of functions that instructions call: with n arguments, on the
// machine's stack.
func callAsync(fn, machine unsafe.Pointer, n int) {
	push(machine, theAsyncs.start(fn, machine, n).capability.promise)
	*Machine{theAsyncs.theirs, machine}.number(theAsyncs.theirs.pc)++
}

// asyncCallable is the method of functions that gives what natives call.
func asyncCallable(fn unsafe.Pointer) (call Function, ok bool) {
	return func(c goja.FunctionCall) goja.Value {
		vm := mirrorOf(*(**goja.Object)(unsafe.Add(fn, theAsyncs.object))).runtime
		prepareForCall(fn, c)
		return theAsyncs.start(fn, theAsyncs.theirs.MachineOf(vm).at, len(c.Arguments)).capability.promise
	}, true
}

// start runs a function until its first await, or its end.
func (a *asyncs) start(fn, machine unsafe.Pointer, n int) *asyncCall {
	object := *(**goja.Object)(unsafe.Add(fn, a.object))
	vm := mirrorOf(object).runtime
	c := &asyncCall{vm: vm, machine: machine, runner: reflect.New(a.runner).UnsafePointer(), promise: newPromise(vm, promisePrototype(vm))}
	if promises := ThePromises(); promises.Known {
		*promises.Owner(c.promise) = joined.joiner(machine).Tag()
	}
	c.capability.promise = a.objectOf(c.promise)
	generator := unsafe.Add(c.runner, a.generator)
	*(*unsafe.Pointer)(unsafe.Add(generator, a.machine)) = machine
	*(*unsafe.Pointer)(unsafe.Add(c.runner, a.capability)) = unsafe.Pointer(&c.capability)
	*(**goja.Object)(unsafe.Add(c.runner, a.function)) = object
	sp := Machine{a.theirs, machine}.number(a.theirs.sp)
	before := *sp
	generatorEnter(generator)
	a.kindOf(object).call(fn, machine, n)
	v, how, ex := generatorStep(generator)
	c.step(v, how, ex)
	if ex != nil {
		*sp = before - n - 2
	}
	popTryFrame(machine)
	popCtx(machine)
	return c
}

func (a *asyncs) kindOf(fn *goja.Object) *asyncKind {
	for i := range a.kinds {
		if kind := &a.kinds[i]; kind.ours == mirrorOf(fn).self.tab {
			return kind
		}
	}
	panic("insides: an async function has the table of another kind")
}

func (a *asyncs) objectOf(p *goja.Promise) *goja.Object {
	return *(**goja.Object)(unsafe.Add(unsafe.Pointer(p), a.promise))
}

// step goes on after the function has ended (0), has awaited, or has thrown.
func (c *asyncCall) step(v goja.Value, how uint8, ex *goja.Exception) {
	switch {
	case ex != nil:
		rejectPromise(c.promise, ex.Value())
	case how == 0:
		resolvePromise(c.vm, c.promise, v)
	default:
		c.await(v)
	}
}

// followed is what to wait for in the place of a promise: the promise itself, unless it is
// pending and another owner's (Joiner.Follow).
func (c *asyncCall) followed(p *goja.Promise) *goja.Promise {
	promises := ThePromises()
	if !promises.Known {
		return p
	}
	owner := *promises.Owner(p)
	if owner == 0 || p.State() != goja.PromiseStatePending {
		return p
	}
	if joiner := joined.joiner(c.machine); owner != joiner.Tag() {
		if other := joiner.Follow(p, owner); other != nil {
			return other
		}
	}
	return p
}

// await has the function go on once v is settled.
func (c *asyncCall) await(v goja.Value) {
	a := &theAsyncs
	var p *goja.Promise
	if o, ok := v.(*goja.Object); ok && mirrorOf(o).self.tab == a.promises {
		p = (*goja.Promise)(mirrorOf(promiseOf(c.vm, promiseConstructor(c.vm), v)).self.data)
		p = c.followed(p)
	} else {
		p = newPromise(c.vm, promisePrototype(c.vm))
		resolvePromise(c.vm, p, v)
	}
	if c.ok.callback == nil {
		c.ok.callback = func(call goja.FunctionCall) goja.Value { return c.goOn(generatorNext, call.Argument(0)) }
		c.fail.callback = func(call goja.FunctionCall) goja.Value { return c.throw(call.Argument(0)) }
		c.fulfilled.handler, c.rejected.handler = unsafe.Pointer(&c.ok), unsafe.Pointer(&c.fail)
		c.fulfilled.asyncRunner, c.rejected.asyncRunner = c.runner, c.runner
		c.rejected.typ = 1
	}
	addReactions(p, &c.fulfilled, &c.rejected)
}

// goOn runs the function until its next await, or its end. goja's stacks name who
// awaits the call that runs.
func (c *asyncCall) goOn(next func(unsafe.Pointer, goja.Value) (goja.Value, uint8, *goja.Exception), v goja.Value) goja.Value {
	a := &theAsyncs
	current := (*unsafe.Pointer)(unsafe.Add(c.machine, a.current))
	*current = c.runner
	defer func() { *current = nil }()
	c.step(next(unsafe.Add(c.runner, a.generator), v))
	return goja.Undefined()
}

func (c *asyncCall) throw(reason goja.Value) goja.Value {
	return c.goOn(func(generator unsafe.Pointer, v goja.Value) (goja.Value, uint8, *goja.Exception) {
		return generatorThrow(generator, v)
	}, reason)
}

// resolvePromise resolves a pending promise that nothing else resolves (ECMA-262,
// Promise Resolve Functions).
func resolvePromise(vm *goja.Runtime, p *goja.Promise, v goja.Value) {
	o, ok := v.(*goja.Object)
	switch {
	case !ok:
		fulfilPromise(p, v)
		return
	case o == theAsyncs.objectOf(p):
		rejectPromise(p, vm.NewTypeError("Promise self-resolution"))
		return
	}
	var then goja.Value
	if ex := vm.Try(func() { then = o.Get("then") }); ex != nil {
		rejectPromise(p, ex.Value())
		return
	}
	if call, ok := callableOf(then); ok {
		enqueueJob(vm, thenableJob(vm, p, v, &jobCallback{call}))
		return
	}
	fulfilPromise(p, v)
}
