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
			kvMethod("get", 1, func(k *syncKV, c goja.FunctionCall) goja.Value {
				r.need(c, 1, "SyncKvStorage", "get", "string")
				if v := k.o.storage.value(r.text(c.Argument(0))); v != nil {
					return v
				}
				return goja.Undefined()
			}),
			kvMethod("put", 2, func(k *syncKV, c goja.FunctionCall) goja.Value {
				r.need(c, 1, "SyncKvStorage", "put", "string")
				r.need(c, 2, "SyncKvStorage", "put", "Value")
				k.o.storage.put(r.text(c.Argument(0)), c.Argument(1)) // undefined is a value here
				return goja.Undefined()
			}),
			kvMethod("delete", 1, func(k *syncKV, c goja.FunctionCall) goja.Value {
				r.need(c, 1, "SyncKvStorage", "delete", "string")
				return r.vm.ToValue(k.o.storage.delete(r.text(c.Argument(0))))
			}),
			kvMethod("list", 1, func(k *syncKV, c goja.FunctionCall) goja.Value { return k.o.storage.listSync(c.Argument(0)) }),
		},
	})
}

// kvMethod is a method of objects whose class has SQLite.
func kvMethod(name string, length int, fn func(*syncKV, goja.FunctionCall) goja.Value) engine.Method[*syncKV] {
	return method(name, length, needsSQLite(legacyKV, fn))
}

// listSync returns an iterable iterator of [key, value].
func (o *storage) listSync(options goja.Value) goja.Value {
	r := o.realm
	opts := r.listOptions(options, "SyncKvStorage")
	noted := r.eng.Turns.Statement("list ", listed(opts))
	it, err := o.db().List(opts)
	noted(nil, err)
	if err != nil {
		r.storageError(err)
	}
	if old := o.storage.kvList; old != nil {
		old.expired = true
		old.it.Close()
	}
	list := &kvIterator{it: it}
	o.storage.kvList = list
	return r.listIter.wrap(o.Object, func() (goja.Value, bool) {
		o.mayUseStorage()
		if list.expired {
			r.eng.Throw("Error", "%s", kvListExpired)
		}
		key, b, ok, err := list.it.Next()
		if err != nil {
			r.storageError(err)
		}
		if !ok {
			if o.storage.kvList == list {
				o.storage.kvList = nil
			}
			return nil, false
		}
		return r.vm.NewArray(r.vm.ToValue(key), o.decode(b)), true
	})
}
