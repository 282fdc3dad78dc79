// Package webidl is the base of every part of the web platform: the conversions of Web
// IDL, workerd's texts for wrong arguments, promises, sequences, iterators and
// DOMException. It knows no interface of the platform.
package webidl

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
)

// Options are what a realm is told from outside. Both functions are called on
// the loop.
type Options struct {
	// Compat answers for a compatibility flag (its enable name). Nil: every flag
	// is as at the newest compatibility date.
	Compat func(flag compat.Flag) bool
	// Go runs fn off the loop, as sched.Scheduler.Go does. Nil: what would be
	// computed there is computed on the loop.
	Go func(name string, fn func())
}

// Realm is one isolate as the parts of its platform see it. Each part holds the
// same realm. Loop-confined.
type Realm struct {
	Options
	Engine *engine.Engine
	VM     *goja.Runtime
	// Hosts holds the codecs of platform objects; each part adds its own.
	Hosts *clone.Registry
	// Clone is the structured clone of the isolate.
	Clone *clone.Codec

	exceptions *engine.Class[*domException] // made at its first use
	iterators  iteratorState
}

// New makes the realm of an engine. Who makes it sets Clone before user code
// runs.
func New(e *engine.Engine, o Options) *Realm {
	return &Realm{Options: o, Engine: e, VM: e.VM(), Hosts: clone.NewRegistry()}
}

// Lazily calls make once, in the global scope frame.
func Lazily[T any](e *engine.Engine, make func() T) func() T {
	var value T
	made := false
	return func() T {
		if !made {
			made = true
			e.In(engine.GlobalFrame, func() { value = make() })
		}
		return value
	}
}

// LazyClass defines the global of a class that ctor makes.
func (r *Realm) LazyClass(name string, ctor func() *goja.Object) {
	r.Engine.Lazies.Interface(name, func() goja.Value { return ctor() })
}

// GlobalClass is a constructor of the platform.
func (r *Realm) GlobalClass(name string) *goja.Object {
	obj, ok := r.VM.GlobalObject().Get(name).(*goja.Object)
	if !ok {
		r.Engine.Throw("Error", "the platform's %s is missing", name)
	}
	return obj
}

// Construct is `new name(...args)`.
func (r *Realm) Construct(name string, args ...goja.Value) *goja.Object {
	obj, err := r.VM.New(r.GlobalClass(name), args...)
	if err != nil {
		r.Engine.Rethrow(err)
	}
	return obj
}

// Invoke calls a method of an object.
func (r *Realm) Invoke(obj *goja.Object, method string, args ...goja.Value) goja.Value {
	return r.Engine.Call(obj.Get(method), obj, args...)
}

// Enabled reports whether a compatibility flag is on.
func (r *Realm) Enabled(flag compat.Flag) bool {
	if r.Compat == nil {
		return compat.Set{Date: compat.LatestDate}.On(flag)
	}
	return r.Compat(flag)
}

// CalledOnGlobal reports whether an operation of the global scope was called on
// it: as a plain function, or as a method of globalThis (Web IDL, section 3.7.7).
func (r *Realm) CalledOnGlobal(call goja.FunctionCall) bool {
	return IsMissing(call.This) || call.This == r.VM.GlobalObject()
}

// GlobalFunc makes an operation of the global scope.
func (r *Realm) GlobalFunc(name string, fn func(goja.FunctionCall) goja.Value) goja.Value {
	return r.Engine.Func(name, 0, func(call goja.FunctionCall) goja.Value {
		if !r.CalledOnGlobal(call) {
			r.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
		}
		return fn(call)
	})
}

// Milliseconds is the time that JavaScript sees, in ms since 1970: workerd's
// time origin is 0, so that performance.now() equals Date.now() (performance.h).
func (r *Realm) Milliseconds() float64 {
	if r.Engine.Current() == nil {
		return 0 // the global scope has no time
	}
	return float64(r.Engine.Now().UnixMilli())
}
