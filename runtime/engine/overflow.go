package engine

import (
	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// A stack overflow is a RangeError that JavaScript can catch. goja's own
// overflow passes every catch and finally block, but before it is thrown the
// stack is captured, and with it the names of native functions are read. So
// every turn and every promise job stands on a native function whose name is a
// getter: it throws the RangeError when the call depth has been exceeded, and, in
// the same way, the error of a turn that computes for too long (Patience).
//
// What is left of goja's overflow (it condemns the isolate) are stacks that do
// not stand on it: what runs outside of turns, and the then() of a custom
// thenable where it is called by goja.

// overflow is loop-confined.
type overflow struct {
	machine  insides.Machine
	bottom   *insides.Bottom // the native function below all
	known    bool            // the machine may be looked into
	standing bool            // a promise job stands on the root
	making   bool            // the RangeError is being made: its stack is captured too
}

// StackExceeded is V8's text.
const StackExceeded = "Maximum call stack size exceeded"

// rootName marks the lowest frame, which no stack shows.
const rootName = "minido:root"

// init makes the root of fn, and gives what calls it.
func (o *overflow) init(e *Engine, fn func(goja.FunctionCall) goja.Value) goja.Callable {
	root := e.vm.ToValue(fn).(*goja.Object)
	if in := insides.TheGoja(); in.Known {
		o.known, o.machine = true, in.MachineOf(e.vm)
		o.bottom = o.machine.BottomOf(root)
	}
	name := e.vm.ToValue(rootName)
	getter := e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if !o.known || o.making {
			return name
		}
		if calls, limit := o.machine.Depth(); calls > limit {
			o.making = true
			defer func() { o.making = false }()
			o.machine.Mend()
			panic(e.Errors.New("RangeError", StackExceeded))
		}
		o.making = true
		defer func() { o.making = false }()
		if failure := e.Watchdog.failure(); failure != nil {
			panic(failure)
		}
		return name
	})
	root.DefineAccessorProperty("name", getter, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	enter, _ := goja.AssertFunction(e.Load(enterPrelude, root))
	return enter
}

// enterPrelude calls the root from JavaScript: only then is it on the stack.
var enterPrelude = NewPrelude("enter.js", `function (root) { "use strict"; return () => root(); }`)

// stand puts the root below a promise job, which goja starts with an empty
// stack.
func (o *overflow) stand() {
	if !o.known || o.standing {
		return
	}
	if calls, _ := o.machine.Depth(); calls != 0 {
		return
	}
	o.bottom.Stand()
	o.standing = true
}

// leave takes the root away when the job is over.
func (o *overflow) leave() {
	if !o.standing {
		return
	}
	o.standing = false
	o.bottom.Leave()
}
