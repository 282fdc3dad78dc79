package driver

import (
	"bytes"
	"fmt"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/engine"
)

// Operation is something that a binding does outside the loop: args is JSON, body
// bytes that came with it; done is called once, from any goroutine, with JSON and
// the bytes that come back. It must not block.
type Operation func(op string, args, body []byte, done func(reply, data []byte, err error))

// Async starts an operation outside the loop and is a promise of its value. run
// starts it when it leaves, as an output does, after what its object has written
// before; it must not block. It calls settle once, from any goroutine; make runs
// on the loop, and what it throws rejects the promise. what names the kind in
// stacks and errors ("R2").
func Async(a *cfapi.API, what, name string, run func(settle func(make func() goja.Value))) goja.Value {
	c := a.Engine.IO(what)
	op := a.Engine.StartOp(what + " " + name)
	promise := op.Promise()
	c.Emit(func() { run(func(make func() goja.Value) { op.Resolve(what, make) }) })
	return promise
}

// Call is a function for a binding's JavaScript, call(op, args, body): a promise
// of [reply, data]. The operation leaves as an output does, after what its object
// has written before. what names the kind in stacks and errors ("R2").
func Call(a *cfapi.API, what string, run Operation) engine.Func {
	return engine.Func{Name: "call", Length: 3, Fn: func(call goja.FunctionCall) goja.Value {
		name, args := call.Argument(0).String(), []byte(call.Argument(1).String())
		var body []byte
		if buffer, ok := call.Argument(2).Export().(goja.ArrayBuffer); ok {
			body = bytes.Clone(buffer.Bytes())
		}
		return Async(a, what, name, func(settle func(func() goja.Value)) {
			run(name, args, body, func(reply, data []byte, err error) {
				settle(func() goja.Value {
					if err != nil {
						a.Engine.Throw("Error", "%s: %s", name, err)
					}
					vm := a.Engine.VM()
					return vm.NewArray(a.ParseJSON(string(reply)), vm.NewArrayBuffer(data))
				})
			})
		})
	}}
}

// UUID is a new random identifier (RFC 9562, section 5.4). On the loop.
func UUID(a *cfapi.API) string {
	var id [16]byte
	if _, err := a.Engine.Entropy().Read(id[:]); err != nil {
		a.Engine.Throw("Error", "%s", err)
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
