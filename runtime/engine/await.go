package engine

import (
	"reflect"

	"github.com/dop251/goja"
)

var promiseType = reflect.TypeFor[*goja.Promise]()

// NewPromise is a pending promise and the functions that settle it. A promise
// that a native settles may run its reactions at once; what ends these abruptly
// (an interrupt, a stack overflow) ends the turn, whether or not the caller
// looks at the error.
func (e *Engine) NewPromise() (p *goja.Promise, resolve, reject func(any) error) {
	p, res, rej := e.vm.NewPromise()
	e.owners.own(p)
	watched := func(settle func(any) error) func(any) error {
		return func(v any) error {
			err := settle(v)
			if err != nil && e.Turns.abrupt == nil {
				e.Turns.abrupt = err
			}
			return err
		}
	}
	return p, watched(res), watched(rej)
}

// Settles reports whether Await waits for v: a promise, or a thenable unless the
// engine's Options leave them alone. It asks a thenable for its then.
func (e *Engine) Settles(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() == promiseType {
		return ok
	}
	if e.promisesOnly {
		return false
	}
	method := obj.Get("then")
	return method != nil && isCallable(method)
}

// Await is Follow, but that the thenables of Options.PromisesOnly are values.
func (e *Engine) Await(v goja.Value, then, fail func(v goja.Value)) {
	if e.promisesOnly && !e.Settles(v) {
		then(v)
		return
	}
	e.Follow(v, then, fail)
}

// Follow calls then with the value of v once it is known, or fail with the
// reason, in the frame that is current now: at once if v is not a promise or a
// promise that is fulfilled already, else as a promise job. Thenables are
// followed. It must be called within a turn.
func (e *Engine) Follow(v goja.Value, then, fail func(v goja.Value)) {
	obj, ok := v.(*goja.Object)
	if !ok {
		then(v)
		return
	}
	// Export would copy an object, and run its getters: ask for the type first.
	native := obj.ExportType() == promiseType
	if native {
		if p := obj.Export().(*goja.Promise); p.State() == goja.PromiseStateFulfilled {
			then(p.Result())
			return
		}
	}
	if !native {
		if method := obj.Get("then"); method == nil || !isCallable(method) {
			then(v)
			return
		}
		obj = e.Call(e.Primordial("PromiseResolve"), goja.Undefined(), v).(*goja.Object)
	}
	frame := e.Frame()
	settle := func(fn func(goja.Value)) goja.Value {
		return e.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			arg := call.Argument(0)
			if e.owners.strange(frame) {
				e.owners.later(frame, func() { fail(e.Errors.New("Error", "Promise will never complete.")) })
				return goja.Undefined()
			}
			e.In(frame, func() { fn(arg) })
			return goja.Undefined()
		})
	}
	e.Call(e.Primordial("PromisePrototypeThen"), goja.Undefined(), obj, settle(then), settle(fail))
}

func isCallable(v goja.Value) bool {
	_, ok := goja.AssertFunction(v)
	return ok
}

// IsCallable reports whether v is a function.
func IsCallable(v goja.Value) bool { return v != nil && isCallable(v) }

// Try calls fn and returns what it threw, nil if nothing. An interrupt or a
// stack overflow passes through.
func (e *Engine) Try(fn func()) goja.Value {
	if ex := e.vm.Try(fn); ex != nil {
		return ex.Value()
	}
	return nil
}

// Call calls a JavaScript function and panics with what it throws, so that
// natives pass exceptions through.
func (e *Engine) Call(fn goja.Value, this goja.Value, args ...goja.Value) goja.Value {
	call, ok := goja.AssertFunction(fn)
	if !ok {
		e.Throw("TypeError", "%s is not a function", e.Text(fn))
	}
	v, err := call(this, args...)
	if err != nil {
		e.Rethrow(err)
	}
	return v
}
