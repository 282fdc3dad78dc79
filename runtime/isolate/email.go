package isolate

import (
	"bytes"
	_ "embed"
	"encoding/base64"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

//go:embed js/email.js
var emailSource string

var emailPrelude = engine.NewPrelude("email.js", emailSource)

// Email delivers a message to the default entrypoint's email handler. done gets
// what the handler threw, nil if it succeeded. Safe for concurrent use.
func (i *Isolate) Email(m *event.Email, actions event.EmailActions, done func(error)) {
	finished := false
	finish := func(err error) {
		if !finished {
			finished = true
			done(err)
		}
	}
	t := &entrypoint{i: i, name: defaultEntrypoint}
	begin := func() *Invocation {
		return i.Invoked(defaultEntrypoint, "", event.TraceEvent{Type: "email", Mail: &event.TraceMail{From: m.From, To: m.To, Bytes: len(m.Raw)}}, nil)
	}
	i.dispatch(i.Engine.NewContext(engine.RequestContext, ""), begin, "email", func(ctx *engine.Context, end func()) {
		inv := i.current()
		forget := ctx.AtDeath(finish)
		over := func(err error) { inv.failed(err); inv.Returned(); forget(); finish(err); end() }
		thrown := i.Engine.Try(func() {
			receiver, fn, args := t.handler(ctx, "email")
			result := i.Engine.Call(fn, receiver, append([]goja.Value{i.emailMessage(m, actions)}, args...)...)
			i.Engine.Await(result, func(goja.Value) { over(nil) }, func(r goja.Value) { over(i.Engine.Errors.ToEvent(r)) })
		})
		if thrown != nil {
			over(i.Engine.Errors.ToEvent(thrown))
		}
	}, finish)
}

// emailMessage is what the handler gets.
func (i *Isolate) emailMessage(m *event.Email, actions event.EmailActions) goja.Value {
	vm := i.vm
	promised := func(name string, start func(done func(string, error))) goja.Value {
		op := i.Engine.StartOp("email " + name)
		promise := op.Promise()
		i.Engine.IO("email").Emit(func() {
			start(func(id string, err error) {
				if err != nil {
					op.Reject("email", func() goja.Value { return i.Engine.Errors.New("Error", err.Error()) })
					return
				}
				op.Resolve("email", func() goja.Value { return vm.ToValue(id) })
			})
		})
		return promise
	}
	native := i.Engine.Native(
		engine.Func{Name: "reject", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			actions.Reject(call.Argument(0).String())
			return goja.Undefined()
		}},
		engine.Func{Name: "forward", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			var header event.Header
			list := call.Argument(1).ToObject(vm)
			for _, key := range list.Keys() {
				pair := list.Get(key).ToObject(vm)
				header = append(header, event.Field{Name: pair.Get("0").String(), Value: pair.Get("1").String()})
			}
			recipient := call.Argument(0).String()
			return promised("forward", func(done func(string, error)) { actions.Forward(recipient, header, done) })
		}},
		engine.Func{Name: "reply", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			from := call.Argument(0).String()
			buffer, _ := call.Argument(1).Export().(goja.ArrayBuffer)
			raw := bytes.Clone(buffer.Bytes())
			return promised("reply", func(done func(string, error)) { actions.Reply(from, raw, done) })
		}},
		engine.Func{Name: "replyBuilt", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			builder := []byte(call.Argument(0).String())
			return promised("reply", func(done func(string, error)) { actions.ReplyBuilt(builder, done) })
		}},
	)
	var fields []any
	for _, f := range m.Header {
		fields = append(fields, vm.NewArray(f.Name, f.Value))
	}
	encode := engine.Func{Name: "base64", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
		data, _ := i.Platform.BytesOf(call.Argument(0))
		return vm.ToValue(base64.StdEncoding.EncodeToString(data))
	}}
	make := i.Engine.Load(emailPrelude, i.Engine.Native(encode))
	global := vm.GlobalObject()
	message := i.Engine.Call(make, goja.Undefined(), global.Get("Response"), global.Get("Headers"), vm.ToValue(m.From), vm.ToValue(m.To), vm.ToValue(vm.NewArrayBuffer(m.Raw)), vm.NewArray(fields...))
	return i.Engine.Call(message, goja.Undefined(), native)
}
