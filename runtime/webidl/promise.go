package webidl

import (
	"reflect"

	"github.com/dop251/goja"
)

var promiseType = reflect.TypeFor[*goja.Promise]()

// PromiseOf is the native promise that v is, nil if it is none.
func PromiseOf(v goja.Value) *goja.Promise {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() != promiseType {
		return nil
	}
	promise, _ := obj.Export().(*goja.Promise)
	return promise
}

// Promise calls fn and gives a promise for what it returns or throws.
func (r *Realm) Promise(fn func() goja.Value) goja.Value {
	var v goja.Value
	if ex := r.VM.Try(func() { v = fn() }); ex != nil {
		return r.Rejected(ex.Value())
	}
	if PromiseOf(v) != nil {
		return v
	}
	promise, resolve, _ := r.Engine.NewPromise()
	resolve(v)
	return r.VM.ToValue(promise)
}

// Rejected is a promise rejected with reason.
func (r *Realm) Rejected(reason goja.Value) goja.Value {
	promise, _, reject := r.Engine.NewPromise()
	reject(reason)
	return r.VM.ToValue(promise)
}
