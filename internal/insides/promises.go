package insides

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// goja's interface makes a promise with two functions that settle it, objects
// with properties of their own, and reacts to one through its then(), which
// makes another promise. A native that only wants to wait, or to be waited for,
// needs neither. These functions are goja's own, found when minido is linked.

//go:linkname newPromise github.com/dop251/goja.(*Runtime).newPromise
func newPromise(vm *goja.Runtime, proto *goja.Object) *goja.Promise

//go:linkname fulfilPromise github.com/dop251/goja.(*Promise).fulfill
func fulfilPromise(p *goja.Promise, v goja.Value) goja.Value

//go:linkname rejectPromise github.com/dop251/goja.(*Promise).reject
func rejectPromise(p *goja.Promise, reason goja.Value) goja.Value

//go:linkname addReactions github.com/dop251/goja.(*Promise).addReactions
func addReactions(p *goja.Promise, fulfilled, rejected *reaction)

//go:linkname prototypeFrom github.com/dop251/goja.(*Runtime).getPrototypeFromCtor
func prototypeFrom(vm *goja.Runtime, newTarget, class, proto *goja.Object) *goja.Object

//go:linkname newNative github.com/dop251/goja.(*Runtime).newNativeFunc
func newNative(vm *goja.Runtime, fn Function, name unistring.String, length int) *goja.Object

//go:linkname enqueueJob github.com/dop251/goja.(*Runtime).enqueuePromiseJob
func enqueueJob(vm *goja.Runtime, job func())

// reaction mirrors goja's record of what follows on a promise (ECMA-262,
// PromiseReaction Records).
type reaction struct {
	capability  unsafe.Pointer // nil: nobody waits for what the handler returns
	typ         int            // 0: fulfilled, 1: rejected
	handler     unsafe.Pointer // of a jobCallback
	asyncRunner unsafe.Pointer
	//lint:ignore U1000 it stands for a field of goja's
	asyncCtx any
}

// jobCallback mirrors what a reaction calls.
type jobCallback struct{ callback Function }

// Promises makes and settles promises of a runtime without the objects that
// goja's interface makes for each, and queues jobs. It is immutable.
type Promises struct {
	Known   bool
	handled uintptr // in goja.Promise
	owner   uintptr // four bytes behind it, which nothing of goja's lies in
	tab     unsafe.Pointer
}

// ThePromises is learnt at the first call. Safe for concurrent use.
var ThePromises = learnt(learnKnownPromises)

func learnKnownPromises(l *look) *Promises {
	return whole(l, learnPromises(l), func(known *Promises) { known.Known = true })
}

// reactionsOf is the type of what follows on a promise, in goja.Promise.
func reactionsOf(l *look) reflect.Type {
	t := l.Field(reflect.TypeFor[goja.Promise](), "fulfillReactions", "a slice of pointers to structs", func(t reflect.Type) bool {
		return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Pointer && t.Elem().Elem().Kind() == reflect.Struct
	}).Type
	if l.Known() && !l.Mirrors(reflect.TypeFor[reaction](), t.Elem().Elem()) {
		l.Is("goja.Promise", "with reactions", false)
	}
	return t
}

func learnPromises(l *look) *Promises {
	p := &Promises{}
	promise := reflect.TypeFor[goja.Promise]()
	p.handled = l.Typed(promise, "handled", reflect.TypeFor[bool]())
	reactions := reactionsOf(l)
	if !l.Known() {
		return p
	}
	handler, _ := reactions.Elem().Elem().FieldByName("handler")
	if !l.Mirrors(reflect.TypeFor[jobCallback](), handler.Type.Elem()) {
		return p
	}
	p.owner = (p.handled + 4) &^ 3
	free := p.owner+4 <= promise.Size()
	for i := range promise.NumField() {
		f := promise.Field(i)
		free = free && (f.Offset >= p.owner+4 || f.Offset+f.Type.Size() <= p.owner)
	}
	l.Is("goja.Promise", "with four bytes that nothing lies in", free)
	if vm := goja.New(); l.Known() {
		promise, _, _ := vm.NewPromise()
		p.tab = mirrorOf(vm.ToValue(promise).(*goja.Object)).self.tab
		l.Is("goja.Promise", "settled, with reactions in their order", p.works())
	}
	return p
}

// works does what the engine does with promises and looks at the order.
func (p *Promises) works() bool {
	vm := goja.New()
	var got []string
	note := func(what string) func(goja.Value) {
		return func(v goja.Value) { got = append(got, what+v.String()) }
	}
	_, err := vm.RunString("(enter) => enter()")
	if err != nil {
		return false
	}
	fn, err := vm.RunString("(a, b, note) => { a.then((v) => note('then ' + v)); b.catch((v) => note('catch ' + v)); }")
	if err != nil {
		return false
	}
	call, _ := goja.AssertFunction(fn)
	proto := vm.Get("Promise").(*goja.Object).Get("prototype").(*goja.Object)
	enter, _ := goja.AssertFunction(vm.ToValue(func(goja.FunctionCall) goja.Value {
		a, b := p.New(vm, proto), p.New(vm, proto)
		p.React(a, note("ok "), note("fail "))
		if _, err := call(goja.Undefined(), vm.ToValue(a), vm.ToValue(b), vm.ToValue(func(s string) { got = append(got, s) })); err != nil {
			return nil
		}
		p.React(b, note("ok "), note("fail "))
		p.Fulfil(a, vm.ToValue(1))
		p.Reject(b, vm.ToValue(2))
		p.Enqueue(vm, func() { got = append(got, "job") })
		return goja.Undefined()
	}))
	if _, err := enter(goja.Undefined()); err != nil || len(got) != 5 {
		return false
	}
	return got[0] == "ok 1" && got[1] == "then 1" && got[2] == "catch 2" && got[3] == "fail 2" && got[4] == "job"
}

// Owner is where a promise has room for the number of who made it; 0 until it is written.
// It may be asked where Promises is Known.
func (p *Promises) Owner(promise *goja.Promise) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(promise), p.owner))
}

// Of is the promise that v is; nil if it is none.
func (p *Promises) Of(v goja.Value) *goja.Promise {
	if o, ok := v.(*goja.Object); ok && mirrorOf(o).self.tab == p.tab {
		return (*goja.Promise)(mirrorOf(o).self.data)
	}
	return nil
}

// Construct is new Promise(executor), as goja's own constructor of class does it for
// newTarget; but what settles the promise is asked first whether it may (ECMA-262,
// Promise Constructor).
func (p *Promises) Construct(vm *goja.Runtime, class, newTarget *goja.Object, executor goja.Value, may func() bool) *goja.Promise {
	s := &settling{vm: vm, promise: newPromise(vm, prototypeFrom(vm, newTarget, class, promisePrototype(vm))), may: may}
	resolve, reject := newNative(vm, s.resolve, "", 1), newNative(vm, s.reject, "", 1)
	call, _ := callableOf(executor)
	if ex := vm.Try(func() { call(goja.FunctionCall{Arguments: []goja.Value{resolve, reject}}) }); ex != nil && !s.done {
		s.done = true
		rejectPromise(s.promise, ex.Value())
	}
	return s.promise
}

// settling is what settles a promise that Construct makes. Loop-confined.
type settling struct {
	vm      *goja.Runtime
	promise *goja.Promise
	may     func() bool
	done    bool
}

func (s *settling) resolve(c goja.FunctionCall) goja.Value {
	return s.settle(func() { resolvePromise(s.vm, s.promise, c.Argument(0)) })
}

func (s *settling) reject(c goja.FunctionCall) goja.Value {
	return s.settle(func() { rejectPromise(s.promise, c.Argument(0)) })
}

func (s *settling) settle(fn func()) goja.Value {
	if !s.done {
		if s.done = true; s.may() {
			fn()
		}
	}
	return goja.Undefined()
}

// New makes a pending promise.
func (*Promises) New(vm *goja.Runtime, proto *goja.Object) *goja.Promise {
	return newPromise(vm, proto)
}

// Fulfil settles a pending promise with a value that is not looked into for a
// then().
func (*Promises) Fulfil(p *goja.Promise, v goja.Value) { fulfilPromise(p, v) }

// Reject settles a pending promise.
func (*Promises) Reject(p *goja.Promise, reason goja.Value) { rejectPromise(p, reason) }

// Enqueue queues a promise job. It is called by code of a turn.
func (*Promises) Enqueue(vm *goja.Runtime, job func()) { enqueueJob(vm, job) }

// Handle marks a pending promise as one whose rejection concerns nobody.
func (p *Promises) Handle(promise *goja.Promise) {
	*(*bool)(unsafe.Add(unsafe.Pointer(promise), p.handled)) = true
}

// React has one of two functions called in a job once the promise is settled, in
// the frame of now.
func (*Promises) React(p *goja.Promise, ok, fail func(goja.Value)) {
	r := &struct {
		fulfilled, rejected reaction
		ok, fail            jobCallback
	}{}
	r.ok.callback = func(c goja.FunctionCall) goja.Value { ok(c.Argument(0)); return goja.Undefined() }
	r.fail.callback = func(c goja.FunctionCall) goja.Value { fail(c.Argument(0)); return goja.Undefined() }
	r.fulfilled.handler, r.rejected.handler = unsafe.Pointer(&r.ok), unsafe.Pointer(&r.fail)
	r.rejected.typ = 1
	addReactions(p, &r.fulfilled, &r.rejected)
}
