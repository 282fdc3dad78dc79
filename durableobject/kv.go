package durableobject

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/sqlstore"
)

// syncKV is storage.kv (workerd: api/sync-kv.c++).
type syncKV struct{ o *Object }

func (k *syncKV) object() *Object { return k.o }

// kvIterator is the one live iterator of storage.kv.list().
type kvIterator struct {
	it      *sqlstore.KVIterator
	expired bool
}

const kvListExpired = "kv.list() iterator was invalidated because a new call to kv.list() was started. Only one kv.list() iterator can exist at a time."

func (r *Realm) defineKV() {
	r.kv = engine.DefineClass(r.eng, engine.ClassDef[*syncKV]{
		Name: "SyncKvStorage",
		Methods: []engine.Method[*syncKV]{
			method("get", 1, func(k *syncKV, c goja.FunctionCall) goja.Value {
				if v := k.o.value(r.key("get", c.Argument(0))); v != nil {
					return v
				}
				return goja.Undefined()
			}),
			method("put", 2, func(k *syncKV, c goja.FunctionCall) goja.Value {
				key := r.key("put", c.Argument(0))
				if goja.IsUndefined(c.Argument(1)) {
					r.eng.Throw("TypeError", "put() called with undefined value.")
				}
				k.o.put(key, c.Argument(1))
				return goja.Undefined()
			}),
			method("delete", 1, func(k *syncKV, c goja.FunctionCall) goja.Value {
				return r.vm.ToValue(k.o.delete(r.key("delete", c.Argument(0))))
			}),
			method("list", 1, func(k *syncKV, c goja.FunctionCall) goja.Value { return k.o.listSync(c.Argument(0)) }),
		},
	})
}

// listSync returns an iterable iterator of [key, value].
func (o *Object) listSync(options goja.Value) goja.Value {
	r := o.realm
	it, err := o.store.List(r.listOptions(options))
	if err != nil {
		r.storageError(err)
	}
	if old := o.kvList; old != nil {
		old.expired = true
		old.it.Close()
	}
	list := &kvIterator{it: it}
	o.kvList = list
	return r.iterator(o, func() (goja.Value, bool) {
		if list.expired {
			r.eng.Throw("Error", "%s", kvListExpired)
		}
		key, b, ok, err := list.it.Next()
		if err != nil {
			r.storageError(err)
		}
		if !ok {
			if o.kvList == list {
				o.kvList = nil
			}
			return nil, false
		}
		return r.vm.NewArray(r.vm.ToValue(key), o.decode(b)), true
	})
}

// iterator makes an object with next() that iterates over itself.
func (r *Realm) iterator(o *Object, next func() (goja.Value, bool)) *goja.Object {
	obj := r.vm.NewObject()
	done := false
	r.eng.DefineFunc(obj, engine.Func{Name: "next", Fn: func(goja.FunctionCall) goja.Value {
		o.ctx.Check()
		res := r.vm.NewObject()
		var v goja.Value
		if !done {
			var ok bool
			if v, ok = next(); !ok {
				done = true
			}
		}
		if done {
			v = goja.Undefined()
		}
		res.Set("done", done)
		res.Set("value", v)
		return res
	}})
	r.eng.DefineFunc(obj, engine.Func{Name: "return", Fn: func(c goja.FunctionCall) goja.Value {
		done = true
		res := r.vm.NewObject()
		res.Set("done", true)
		res.Set("value", c.Argument(0))
		return res
	}})
	obj.DefineDataPropertySymbol(goja.SymIterator, r.eng.Func("[Symbol.iterator]", 0, func(c goja.FunctionCall) goja.Value { return c.This }),
		goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return obj
}
