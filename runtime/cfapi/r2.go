package cfapi

import (
	"bytes"
	_ "embed"
	"encoding/json"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

//go:embed js/r2.js
var r2Source string

var r2Prelude = engine.NewPrelude("r2.js", r2Source)

// R2 is what a bucket's binding calls: an operation with its arguments as JSON,
// and bytes for a put; done is called once, from any goroutine, with the answer
// as JSON and the bytes of a get. It must not block.
type R2 func(op string, args, body []byte, done func(reply, data []byte, err error))

// Bucket is an R2 bucket on env. An operation leaves as an output does, after
// what its object has written before. It is made before user code runs, so that
// it uses the platform's own classes.
func (a *API) Bucket(bucket R2) goja.Value {
	call := engine.Func{Name: "call", Length: 3, Fn: func(call goja.FunctionCall) goja.Value {
		name, args := call.Argument(0).String(), []byte(call.Argument(1).String())
		var body []byte
		if buffer, ok := call.Argument(2).Export().(goja.ArrayBuffer); ok {
			body = bytes.Clone(buffer.Bytes())
		}
		c := a.Engine.IO("R2")
		op := a.Engine.StartOp("r2 " + name)
		promise := op.Promise()
		c.Emit(func() {
			bucket(name, args, body, func(reply, data []byte, err error) {
				if err != nil {
					op.Reject("r2", func() goja.Value { return a.Engine.NewError("Error", name+": "+err.Error()) })
					return
				}
				op.Resolve("r2", func() goja.Value {
					return a.vm.NewArray(a.ParseJSON(string(reply)), a.vm.NewArrayBuffer(data))
				})
			})
		})
		return promise
	}}
	create := a.Engine.Load(r2Prelude, a.Engine.Native(call))
	global := a.vm.GlobalObject()
	return a.Engine.Call(create, goja.Undefined(), global.Get("Response"), global.Get("Headers"), global.Get("Blob"), global.Get("ReadableStream"))
}

// R2Call makes an R2 of a function that takes and returns Go values; spawn runs
// it off the loop.
func R2Call[Request, Reply any](spawn func(name string, fn func()), do func(op string, r Request, body []byte) (Reply, []byte, error)) R2 {
	return func(op string, args, body []byte, done func(reply, data []byte, err error)) {
		spawn("r2 "+op, func() {
			var r Request
			if err := json.Unmarshal(args, &r); err != nil {
				done(nil, nil, err)
				return
			}
			reply, data, err := do(op, r, body)
			if err != nil {
				done(nil, nil, err)
				return
			}
			text, err := json.Marshal(reply)
			done(text, data, err)
		})
	}
}
