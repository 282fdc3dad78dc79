package streams

import (
	"bytes"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webidl"
)

// natives is the `native` of the stream preludes.
func (p *Streams) natives() *goja.Object {
	e, s := p.Engine, &p.state
	fn := func(name string, length int, f func(args func(int) goja.Value) goja.Value) engine.Func {
		return engine.Func{Name: name, Length: length, Fn: func(call goja.FunctionCall) goja.Value {
			if v := f(call.Argument); v != nil {
				return v
			}
			return goja.Undefined()
		}}
	}
	native := e.Native(append(p.bufferNative(fn),
		fn("pull", 2, func(arg func(int) goja.Value) goja.Value {
			p.pull(e.Attached(arg(0)).(*source), arg(1))
			return nil
		}),
		fn("cancel", 2, func(arg func(int) goja.Value) goja.Value {
			e.Attached(arg(0)).(*source).body.Cancel(e.ToEvent(arg(1)))
			return nil
		}),
		fn("microtask", 1, func(arg func(int) goja.Value) goja.Value {
			return e.Call(e.Primordial("PromisePrototypeThen"), goja.Undefined(), p.Promise(func() goja.Value { return goja.Undefined() }), arg(0))
		}),
		fn("pipes", 0, func(func(int) goja.Value) goja.Value { return s.pipes() }),
		fn("writable", 0, func(func(int) goja.Value) goja.Value { return s.writable() }),
		fn("isSignal", 1, func(arg func(int) goja.Value) goja.Value {
			_, ok := p.Engine.Attached(arg(0)).(*events.Signal)
			return p.VM.ToValue(ok)
		}),
		fn("onAbort", 2, func(arg func(int) goja.Value) goja.Value {
			callback := arg(1)
			remove := p.Engine.Attached(arg(0)).(*events.Signal).OnAbort(func(reason goja.Value) { e.Call(callback, goja.Undefined(), reason) })
			return e.Func("", 0, func(goja.FunctionCall) goja.Value { remove(); return goja.Undefined() })
		}),
		fn("clone", 1, func(arg func(int) goja.Value) goja.Value {
			v, _ := p.cloner.Clone(arg(0), nil)
			return v
		}),
		fn("newAbortController", 0, func(func(int) goja.Value) goja.Value { return p.Construct("AbortController") }),
		fn("abort", 2, func(arg func(int) goja.Value) goja.Value {
			return p.Invoke(arg(0).(*goja.Object), "abort", arg(1))
		}),
		fn("newTextDecoder", 2, func(arg func(int) goja.Value) goja.Value {
			return p.Construct("TextDecoder", arg(0), arg(1))
		}),
		fn("decode", 3, func(arg func(int) goja.Value) goja.Value {
			return p.Invoke(arg(0).(*goja.Object), "decode", arg(1), p.Record("stream", arg(2)))
		}),
		fn("io", 1, func(arg func(int) goja.Value) goja.Value {
			e.IO(arg(0).String())
			return nil
		}),
		fn("newCodec", 2, func(arg func(int) goja.Value) goja.Value {
			obj := p.VM.NewObject()
			e.Attach(obj, newCompressor(arg(0).String(), arg(1).ToBoolean()))
			return obj
		}),
		fn("code", 4, func(arg func(int) goja.Value) goja.Value {
			p.code(e.Attached(arg(0)).(compressor), arg(1), arg(2).ToBoolean(), arg(3))
			return nil
		}),
	)...)
	return native
}

// bufferNative are the functions about bytes.
func (p *Streams) bufferNative(fn func(string, int, func(func(int) goja.Value) goja.Value) engine.Func) []engine.Func {
	buffer := func(v goja.Value) goja.ArrayBuffer {
		if !webidl.IsArrayBuffer(v) {
			p.Engine.Throw("TypeError", "not an ArrayBuffer")
		}
		return v.Export().(goja.ArrayBuffer)
	}
	return []engine.Func{
		fn("transfer", 1, func(arg func(int) goja.Value) goja.Value {
			b := buffer(arg(0))
			if b.Detached() {
				p.Engine.Throw("TypeError", "Unable to use a detached ArrayBuffer.")
			}
			if buffers.IsShared(p.Engine, arg(0).(*goja.Object)) || buffers.Kept(p.Engine, arg(0)) {
				p.Engine.Throw("TypeError", "Unable to use non-detachable ArrayBuffer.")
			}
			data := b.Bytes()
			limit, resizable := buffers.MaxByteLength(p.Engine, arg(0).(*goja.Object))
			b.Detach()
			if resizable {
				return buffers.NewResizableBuffer(p.Engine, data, limit)
			}
			return p.NewArrayBuffer(data)
		}),
		fn("detached", 1, func(arg func(int) goja.Value) goja.Value { return p.VM.ToValue(buffer(arg(0)).Detached()) }),
		fn("isBuffer", 1, func(arg func(int) goja.Value) goja.Value { return p.VM.ToValue(webidl.IsArrayBuffer(arg(0))) }),
		fn("length", 1, func(arg func(int) goja.Value) goja.Value { return p.VM.ToValue(len(buffer(arg(0)).Bytes())) }),
		fn("copy", 5, func(arg func(int) goja.Value) goja.Value {
			dst, src := buffer(arg(0)).Bytes(), buffer(arg(2)).Bytes()
			to, from, n := int(arg(1).ToInteger()), int(arg(3).ToInteger()), int(arg(4).ToInteger())
			if to+n > len(dst) || from+n > len(src) {
				p.Engine.Throw("TypeError", "Unable to use a detached ArrayBuffer.")
			}
			copy(dst[to:to+n], src[from:])
			return nil
		}),
		fn("bytes", 1, func(arg func(int) goja.Value) goja.Value {
			data, ok := p.BytesOf(arg(0))
			if !ok {
				return nil
			}
			return p.NewArrayBuffer(bytes.Clone(data))
		}),
		fn("encode", 1, func(arg func(int) goja.Value) goja.Value { return p.NewArrayBuffer([]byte(arg(0).String())) }),
	}
}
