package insides

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// In V8 the stack of an error that a promise job makes ends with the async functions that wait
// for the job's promise (src/execution/isolate.cc, CaptureAsyncStackTrace).

// Waiter is a frame of an async function that waits, or of Promise.all: then Fn is nil.
type Waiter struct {
	Frame    goja.StackFrame
	Fn, This goja.Value
}

// Waiters finds who waits for a promise. Immutable.
type Waiters struct {
	Known               bool
	reactions           [2]uintptr // in goja.Promise: to its fulfilment, and to its rejection
	current             uintptr    // in the machine: the call of an async function that goes on
	stopped, capability uintptr    // in such a call: where it stands, and its promise
	program, pc, stack  uintptr    // in where it stands
	name                uintptr    // in goja.Program
	goja, ours          [2]closure // of what settles promises: fulfils, and rejects
	all                 closure
}

// closure is of which code the functions are that are made at one place of goja's source, and
// where they have what is asked for.
type closure struct {
	code uintptr
	at   int
}

// TheWaiters is learnt at the first call. Safe for concurrent use.
var TheWaiters = learnt(learnWaiters)

func learnWaiters(l *look) *Waiters {
	w, promise, reactions := &Waiters{}, reflect.TypeFor[goja.Promise](), reactionsOf(l)
	if !l.Known() || !l.Is("goja.Promise", "known", ThePromises().Known && FramesKnown()) {
		return w
	}
	w.reactions = [2]uintptr{l.Typed(promise, "fulfillReactions", reactions), l.Typed(promise, "rejectReactions", reactions)}
	w.current = l.Kind(l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer).Type, "curAsyncRunner", reflect.Pointer).Offset
	runner, _ := reactions.Elem().Elem().FieldByName("asyncRunner")
	generator, record := l.Kind(runner.Type, "gen", reflect.Struct), l.Kind(runner.Type, "promiseCap", reflect.Pointer)
	stopped := l.Kind(generator.Type, "ctx", reflect.Struct)
	context := l.Kind(stopped.Type, "context", reflect.Struct)
	w.stopped, w.capability = generator.Offset+stopped.Offset, record.Offset
	w.program, w.pc = context.Offset+l.Typed(context.Type, "prg", reflect.TypeFor[*goja.Program]()), context.Offset+l.Typed(context.Type, "pc", reflect.TypeFor[int]())
	w.stack = l.Field(stopped.Type, "stack", "a slice of goja.Value", func(t reflect.Type) bool {
		return t.Kind() == reflect.Slice && t.Elem() == reflect.TypeFor[goja.Value]()
	}).Offset
	w.name = l.Typed(reflect.TypeFor[goja.Program](), "funcName", reflect.TypeFor[unistring.String]())
	if l.Known() && l.Mirrors(reflect.TypeFor[capability](), record.Type.Elem()) {
		l.Is("functions that settle promises", "of one code, with what they settle", w.learnCodes())
	}
	w.Known = l.Known()
	return w
}

// learnCodes has promises wait for others in each way, and looks for them in what waits.
func (w *Waiters) learnCodes() bool {
	vm := goja.New()
	v, err := vm.RunString(`const p = () => new Promise(() => {}), one = p(), list = [p(), p(), p()];
[one, Promise.resolve({ then(ok, no) { one.then(ok, no); } }), ...list, Promise.all(list)]`)
	if err != nil {
		return false
	}
	at := func(i int) *goja.Promise { return ThePromises().Of(v.(*goja.Object).Get(fmt.Sprint(i))) }
	for kind, ours := range []Function{(&settling{}).resolve, (&settling{}).reject} {
		w.ours[kind] = closure{**(**uintptr)(unsafe.Pointer(&ours)), 1}
		for n, r := 1, w.reaction(at(0), kind); n < 4; n++ {
			if w.word(r, n) == uintptr(unsafe.Pointer(at(1))) {
				w.goja[kind] = closure{w.word(r, 0), n}
			}
		}
	}
	for n, r := 1, w.reaction(at(2), 0); n < 7; n++ {
		if w.word(r, n) == 0 && w.word(w.reaction(at(3), 0), n) == 1 && w.word(w.reaction(at(4), 0), n) == 2 {
			w.all = closure{w.word(r, 0), n}
		}
	}
	return w.goja[0].at > 0 && w.goja[1].at > 0 && w.all.at > 0 && w.settled(w.reaction(at(2), 1)) == at(5)
}

// reaction is the one reaction of a kind to a pending promise; nil if there are none, or more.
func (w *Waiters) reaction(p *goja.Promise, kind int) *reaction {
	if list := *(*[]*reaction)(unsafe.Add(unsafe.Pointer(p), w.reactions[kind])); len(list) == 1 {
		return list[0]
	}
	return nil
}

// word is one of the memory of the function that a reaction calls: its code, then what it has captured.
// The look for a place (learnCodes) reads past functions that have captured less, a number and no pointer.
//
//go:nocheckptr
func (*Waiters) word(r *reaction, n int) uintptr {
	if r == nil || r.handler == nil {
		return 0
	}
	return *(*uintptr)(unsafe.Add(*(*unsafe.Pointer)(r.handler), n*int(unsafe.Sizeof(uintptr(0)))))
}

// settled is the promise that a reaction's function settles; nil if it is not known to settle one.
func (w *Waiters) settled(r *reaction) *goja.Promise {
	var at uintptr
	switch w.word(r, 0) {
	case w.goja[r.typ].code:
		at = w.word(r, w.goja[r.typ].at)
		return *(**goja.Promise)(unsafe.Pointer(&at))
	case w.ours[r.typ].code:
		at = w.word(r, w.ours[r.typ].at)
		return (*(**settling)(unsafe.Pointer(&at))).promise
	}
	return nil
}

// Of is who waits for a pending promise, the innermost first, and no more than most.
func (w *Waiters) Of(p *goja.Promise, most int) (list []Waiter) {
	const steps = 1000 // promises can wait for each other in a circle
	for n := 0; n < steps && p != nil && len(list) < most && p.State() == goja.PromiseStatePending; n++ {
		yes, no := w.reaction(p, 0), w.reaction(p, 1)
		if p = nil; yes == nil || no == nil {
			break
		}
		switch {
		case yes.asyncRunner != nil:
			list = append(list, w.function(yes.asyncRunner))
			p = w.Result(yes.asyncRunner)
		case w.word(yes, 0) == w.all.code:
			frame := gojaFrameOf{funcName: unistring.NewFromString(fmt.Sprintf("async Promise.all (index %d)", w.word(yes, w.all.at)))}
			list = append(list, Waiter{Frame: *(*goja.StackFrame)(unsafe.Pointer(&frame))})
			p = w.settled(no)
		default:
			if p = w.settled(yes); p == nil && yes.capability != nil {
				p = ThePromises().Of((*capability)(yes.capability).promise)
			}
		}
	}
	return list
}

// Result is the promise of a call of an async function.
func (w *Waiters) Result(call unsafe.Pointer) *goja.Promise {
	return ThePromises().Of((*(**capability)(unsafe.Add(call, w.capability))).promise)
}

// function is the frame of a call of an async function that waits.
func (w *Waiters) function(call unsafe.Pointer) (f Waiter) {
	stopped := unsafe.Add(call, w.stopped)
	frame := gojaFrameOf{prg: *(*unsafe.Pointer)(unsafe.Add(stopped, w.program)), pc: *(*int)(unsafe.Add(stopped, w.pc)) - 1} // it goes on behind its await
	frame.funcName = *(*unistring.String)(unsafe.Add(frame.prg, w.name))
	f.Frame = *(*goja.StackFrame)(unsafe.Pointer(&frame))
	if stack := *(*[]goja.Value)(unsafe.Add(stopped, w.stack)); len(stack) > 1 {
		f.Fn, f.This = stack[0], stack[1]
	}
	return f
}

// Current is the promise of the async function that goes on now; nil if none does.
func (w *Waiters) Current(m Machine) *goja.Promise {
	if call := *(*unsafe.Pointer)(unsafe.Add(m.at, w.current)); call != nil {
		return w.Result(call)
	}
	return nil
}
