package engine

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
)

// A stack overflow is a RangeError that JavaScript can catch. goja's own
// overflow passes every catch and finally block, but before it is thrown the
// stack is captured, and with it the names of native functions are read. So
// every turn and every promise job stands on a native function whose name is a
// getter: it throws the RangeError when the call depth has been exceeded.
//
// What is left of goja's overflow (it condemns the isolate) are stacks that do
// not stand on it: what runs outside of turns, and the then() of a custom
// thenable where it is called by goja.

// overflow is loop-confined.
type overflow struct {
	machine  machine
	root     goja.Value    // the native function below all
	frame    reflect.Value // a call whose function is the root
	calls    reflect.Value // the machine's active calls
	known    bool          // the machine may be looked into
	standing bool          // a promise job stands on the root
	making   bool          // the RangeError is being made: its stack is captured too
}

// stackExceeded is V8's text.
const stackExceeded = "Maximum call stack size exceeded"

// rootName marks the lowest frame, which no stack shows.
const rootName = "minido:root"

// init makes the root of fn, and gives what calls it.
func (o *overflow) init(e *Engine, fn func(goja.FunctionCall) goja.Value) goja.Callable {
	root := e.vm.ToValue(fn).(*goja.Object)
	o.root = root
	if in := theInsides(); in.ok {
		o.known, o.machine = true, in.machineOf(e.vm)
		o.frame = reflect.New(in.callType).Elem()
		*(*int)(unsafe.Add(o.frame.Addr().UnsafePointer(), in.callSB)) = 1
		o.calls = reflect.NewAt(reflect.SliceOf(in.callType), unsafe.Add(o.machine.at, in.calls)).Elem()
	}
	name := e.vm.ToValue(rootName)
	getter := e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if !o.known || o.making {
			return name
		}
		if calls, limit := o.machine.depth(); calls > limit {
			o.making = true
			defer func() { o.making = false }()
			o.mend()
			panic(e.NewError("RangeError", stackExceeded))
		}
		return name
	})
	root.DefineAccessorProperty("name", getter, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	enter, _ := goja.AssertFunction(e.Load(enterPrelude, root))
	return enter
}

// mend takes away the try block that goja leaves behind when the call that
// starts an async function or a generator overflows: it has been opened by
// then, and is closed only after a call that succeeds. What is thrown next
// would end up in it.
func (o *overflow) mend() {
	m := o.machine
	if m.source() != nil || *m.number(m.in.sb) != -1 || *m.number(m.in.pc) != -2 {
		return
	}
	if tries := (*sliceHeader)(unsafe.Add(m.at, m.in.tries)); tries.len > 0 {
		tries.len--
	}
}

// enterPrelude calls the root from JavaScript: only then is it on the stack.
var enterPrelude = NewPrelude("enter.js", `function (root) { "use strict"; return () => root(); }`)

// stand puts the root below a promise job, which goja starts with an empty
// stack.
func (o *overflow) stand() {
	if !o.known || o.standing {
		return
	}
	if calls, _ := o.machine.depth(); calls != 0 {
		return
	}
	in := o.machine.in
	o.calls.Set(reflect.Append(o.calls.Slice(0, 0), o.frame))
	stack := o.machine.stack()
	if len(*stack) < 2 {
		*stack = make([]goja.Value, 2, 1024)
	}
	(*stack)[0], (*stack)[1] = o.root, goja.Undefined()
	*o.machine.number(in.sp) = 2
	o.standing = true
}

// leave takes the root away when the job is over.
func (o *overflow) leave() {
	if !o.standing {
		return
	}
	o.standing = false
	in := o.machine.in
	calls := (*sliceHeader)(unsafe.Add(o.machine.at, in.calls))
	calls.len = 0
	*o.machine.number(in.sp) = 0
}
