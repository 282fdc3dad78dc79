package asynchooks

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// storage is one AsyncLocalStorage: its identity is the key in engine.Frame.
type storage struct {
	name     goja.Value
	fallback goja.Value
}

// makeAsyncHooks makes node:async_hooks (nodejs.org/api/async_context.html;
// workerd: src/workerd/api/node/async-hooks.c++). Frames of the engine carry
// the values; what is bound keeps only these, never the context, so that a
// snapshot taken in the global scope may be used in any request.
func makeAsyncHooks(base *node.Modules) goja.Value {
	m := &module{Modules: base}

	exports := m.Load("internal/async_hooks").(*goja.Object)
	m.Define(exports, "AsyncLocalStorage", m.asyncLocalStorage())
	m.Define(exports, "AsyncResource", m.asyncResource())
	return exports
}

func (m *module) asyncLocalStorage() *goja.Object {
	e := m.Engine
	type method = engine.Method[*storage]
	class := engine.DefineClass(e, engine.ClassDef[*storage]{
		Name: "AsyncLocalStorage",
		New: func(call goja.ConstructorCall) *storage {
			s := &storage{name: m.VM.ToValue(""), fallback: goja.Undefined()}
			if o, ok := call.Argument(0).(*goja.Object); ok {
				if v := o.Get("name"); !node.Absent(v) {
					s.name = v
				}
				if v := o.Get("defaultValue"); v != nil {
					s.fallback = v
				}
			}
			return s
		},
		Methods: []method{
			{Name: "run", Length: 2, Fn: func(s *storage, call goja.FunctionCall) goja.Value {
				return m.inFrame("run", e.Frame().WithLocal(s, node.OrUndefined(call.Argument(0))), call, 1)
			}},
			{Name: "exit", Length: 1, Fn: func(s *storage, call goja.FunctionCall) goja.Value {
				return m.inFrame("exit", e.Frame().WithLocal(s, goja.Undefined()), call, 0)
			}},
			{Name: "enterWith", Length: 1, Fn: func(*storage, goja.FunctionCall) goja.Value {
				panic(m.Refused("async_hooks.enterWith"))
			}},
			{Name: "disable", Fn: func(*storage, goja.FunctionCall) goja.Value {
				panic(m.Refused("async_hooks.disable"))
			}},
		},
		Accessors: []engine.Accessor[*storage]{
			{Name: "name", Get: func(s *storage, _ *goja.Object) goja.Value { return s.name }},
		},
		Statics: []engine.Func{
			{Name: "bind", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
				fn := call.Argument(0)
				if !engine.IsCallable(fn) {
					e.Throw("TypeError", "Failed to execute 'bind' on 'AsyncLocalStorage': parameter 1 is not of type 'Function'.")
				}
				return m.bound(e.Frame(), fn, nil)
			}},
			{Name: "snapshot", Fn: func(goja.FunctionCall) goja.Value {
				frame := e.Frame()
				return e.Func("", 0, func(call goja.FunctionCall) goja.Value {
					m.requireContext(frame)
					if !engine.IsCallable(call.Argument(0)) {
						e.Throw("TypeError", "The function to run in the snapshot is not of type 'function'.")
					}
					return m.inFrame("snapshot", e.Frame().WithLocalsOf(frame), call, 0)
				})
			}},
		},
	})
	m.defineGetStore(class)
	return class.Ctor
}

// defineGetStore defines the method that agents call at every step. It
// remembers the last receiver, which is nearly always the next one as well.
func (m *module) defineGetStore(class *engine.Class[*storage]) {
	var last *goja.Object
	var found *storage
	m.Engine.DefineFunc(class.Proto, engine.Func{Name: "getStore", Fn: func(call goja.FunctionCall) goja.Value {
		if obj, ok := call.This.(*goja.Object); !ok || obj != last {
			found = class.Self(call.This)
			last = obj
		}
		if v := m.Engine.Frame().Local(found); v != nil {
			return v
		}
		return found.fallback
	}})
}

// inFrame calls argument n with the arguments after it, in a frame.
func (m *module) inFrame(what string, frame *engine.Frame, call goja.FunctionCall, n int) (result goja.Value) {
	fn, ok := goja.AssertFunction(call.Argument(n))
	if !ok {
		m.Engine.Throw("TypeError", "Failed to execute '%s' on 'AsyncLocalStorage': parameter %d is not of type 'function'.", what, n+1)
	}
	var args []goja.Value
	if len(call.Arguments) > n+1 {
		args = append(args, call.Arguments[n+1:]...)
	}
	m.Engine.In(frame, func() { result = m.invoke(fn, goja.Undefined(), args) })
	return result
}

func (m *module) invoke(fn goja.Callable, this goja.Value, args []goja.Value) goja.Value {
	v, err := fn(this, args...)
	if err != nil {
		m.Engine.Rethrow(err)
	}
	return v
}

// requireContext throws where the values of a frame belong to another request or
// object than the code that runs: what the global scope has bound, all may use
// (workerd: src/workerd/jsg/async-context.c++, with the flag
// bind_asynclocalstorage_snapshot_to_request).
func (m *module) requireContext(frame *engine.Frame) {
	if frame.Context != nil && frame.Context != m.Engine.Frame().Context && m.Options.Compat(compat.BindAsynclocalstorageSnapshotToRequest) {
		m.Engine.Throw("Error", "Cannot call this AsyncLocalStorage bound function outside of the request in which it was created.")
	}
}

// bound is fn with the AsyncLocalStorage values of a frame; this is the
// caller's unless self is given.
func (m *module) bound(frame *engine.Frame, fn, self goja.Value) *goja.Object {
	callable, _ := goja.AssertFunction(fn)
	return m.Engine.Func("", 0, func(call goja.FunctionCall) (result goja.Value) {
		receiver := call.This
		if self != nil {
			receiver = self
		}
		args := append([]goja.Value(nil), call.Arguments...)
		m.requireContext(frame)
		m.Engine.In(m.Engine.Frame().WithLocalsOf(frame), func() { result = m.invoke(callable, receiver, args) })
		return result
	})
}

// resource is an AsyncResource: the values that were current when it was made.
type resource struct{ frame *engine.Frame }

func (m *module) asyncResource() *goja.Object {
	e := m.Engine
	zero := m.VM.ToValue(0)
	bind := func(frame *engine.Frame, owner *goja.Object, call goja.FunctionCall, self int) goja.Value {
		if !engine.IsCallable(call.Argument(0)) {
			e.Throw("TypeError", "Failed to execute 'bind' on 'AsyncResource': parameter 1 is not of type 'Function'.")
		}
		var receiver goja.Value
		if v := call.Argument(self); !node.Absent(v) {
			receiver = v
		}
		fn := m.bound(frame, call.Argument(0), receiver)
		if owner != nil {
			m.Define(fn, "asyncResource", owner)
		}
		return fn
	}
	class := engine.DefineClass(e, engine.ClassDef[*resource]{
		Name: "AsyncResource", Length: 1,
		New: func(goja.ConstructorCall) *resource { return &resource{e.Frame()} },
		Methods: []engine.Method[*resource]{
			{Name: "asyncId", Fn: func(*resource, goja.FunctionCall) goja.Value { return zero }},
			{Name: "triggerAsyncId", Fn: func(*resource, goja.FunctionCall) goja.Value { return zero }},
			{Name: "emitDestroy", Fn: func(*resource, goja.FunctionCall) goja.Value { return goja.Undefined() }},
			{Name: "bind", Length: 1, Fn: func(r *resource, call goja.FunctionCall) goja.Value {
				owner, _ := call.This.(*goja.Object)
				return bind(r.frame, owner, call, 1)
			}},
			{Name: "runInAsyncScope", Length: 1, Fn: func(r *resource, call goja.FunctionCall) (result goja.Value) {
				fn, ok := goja.AssertFunction(call.Argument(0))
				if !ok {
					e.Throw("TypeError", "Failed to execute 'runInAsyncScope' on 'AsyncResource': parameter 1 is not of type 'function'.")
				}
				self := node.OrUndefined(call.Argument(1))
				var args []goja.Value
				if len(call.Arguments) > 2 {
					args = append(args, call.Arguments[2:]...)
				}
				m.requireContext(r.frame)
				e.In(e.Frame().WithLocalsOf(r.frame), func() { result = m.invoke(fn, self, args) })
				return result
			}},
		},
		Statics: []engine.Func{{Name: "bind", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return bind(e.Frame(), nil, call, 2)
		}}},
	})
	return class.Ctor
}
