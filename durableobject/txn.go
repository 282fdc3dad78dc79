package durableobject

import (
	"errors"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/sqlstore"
)

// asyncTxn is the txn argument of transaction(). Loop-confined.
type asyncTxn struct {
	o          *Object
	savepoint  *sqlstore.Savepoint
	alarm      pendingAlarm // as it was before the transaction
	rolledBack bool
	closed     bool
}

func (t *asyncTxn) object() *Object { return t.o }

// use refuses operations on a transaction that is over.
func (t *asyncTxn) use(op string) {
	t.o.mayUseStorage()
	e := t.o.realm.eng
	if t.rolledBack {
		e.Throw("Error", "Cannot %s() on rolled back transaction", op)
	}
	if t.closed {
		e.Throw("Error", "Cannot call %s() on transaction that has already committed: did you move `txn` outside of the closure?", op)
	}
}

func (r *Realm) defineTxn() {
	async := func(name string, length int, fn func(o *Object, call goja.FunctionCall) goja.Value) engine.Method[*asyncTxn] {
		check := r.optionsCheck("DurableObjectTransaction", name)
		return method(name, length, func(t *asyncTxn, call goja.FunctionCall) goja.Value {
			return r.promised(func() goja.Value {
				check(call)
				t.use(name)
				return fn(t.o, call)
			})
		})
	}
	checkDelete := r.deleteCheck("DurableObjectTransaction")
	r.txn = engine.DefineClass(r.eng, engine.ClassDef[*asyncTxn]{
		Name: "DurableObjectTransaction",
		Methods: []engine.Method[*asyncTxn]{
			async("get", 2, func(o *Object, c goja.FunctionCall) goja.Value {
				return o.storage.asyncGet(c, "DurableObjectTransaction")
			}),
			async("put", 3, func(o *Object, c goja.FunctionCall) goja.Value {
				return o.storage.asyncPut(c, "DurableObjectTransaction")
			}),
			method("delete", 2, func(t *asyncTxn, c goja.FunctionCall) goja.Value {
				checkDelete(c)
				return r.promised(func() goja.Value {
					t.use("delete")
					return t.o.storage.asyncDelete(c, "DurableObjectTransaction")
				})
			}),
			async("list", 1, func(o *Object, c goja.FunctionCall) goja.Value {
				return o.storage.asyncList(c, "DurableObjectTransaction")
			}),
			async("getAlarm", 1, func(o *Object, c goja.FunctionCall) goja.Value { return o.storage.getAlarm() }),
			async("setAlarm", 2, func(o *Object, c goja.FunctionCall) goja.Value {
				o.storage.setAlarm(c.Argument(0), goja.Undefined())
				return goja.Undefined()
			}),
			async("deleteAlarm", 1, func(o *Object, c goja.FunctionCall) goja.Value {
				o.storage.deleteAlarm(goja.Undefined())
				return goja.Undefined()
			}),
			method("deleteAll", 0, func(*asyncTxn, goja.FunctionCall) goja.Value {
				r.eng.Throw("Error", "Cannot call deleteAll() within a transaction")
				return nil
			}),
			method("rollback", 0, func(t *asyncTxn, _ goja.FunctionCall) goja.Value {
				if t.rolledBack {
					return goja.Undefined() // rolling back twice is allowed
				}
				t.use("rollback")
				t.rollback()
				return goja.Undefined()
			}),
		},
	})
}

func (t *asyncTxn) rollback() {
	if err := t.savepoint.Rollback(); errors.Is(err, sqlstore.ErrInnerSavepoint) {
		t.o.realm.eng.Throw("Error", "Cannot roll back an outer transaction while a nested transaction is still running.")
	} else if err != nil {
		t.o.realm.storageError(err)
	}
	t.rolledBack = true
	t.o.alarm.restore(t.alarm)
}

// transaction implements storage.transaction(): what was written before it
// commits first, because the closure begins in a turn of its own; the closure is a
// critical section, so closures run one after another and no other event sees what
// is not committed.
func (o *storage) transaction(closure goja.Value) goja.Value {
	r := o.realm
	if !engine.IsCallable(closure) {
		return r.notFunction("DurableObjectStorage", "transaction")
	}
	frame := r.eng.Frame()
	promise, resolve, reject := r.eng.NewPromise()
	o.ctx.Hold()
	o.enter(frame, func(inside *engine.Frame, s *critical) {
		r.eng.Turns.After(func() {
			r.eng.Turns.Enter(inside, r.eng.Cause(), func() {
				o.mayUseStorage()
				o.runTransaction(s, closure, resolve, reject)
			})
		})
	})
	return r.vm.ToValue(promise)
}

func (o *storage) runTransaction(s *critical, closure goja.Value, resolve, reject func(any) error) {
	r := o.realm
	finish := func(settle func(any) error, v goja.Value) {
		o.ctx.Release()
		o.leave(s)
		settle(v)
	}
	sp, err := o.store.Savepoint()
	if err != nil {
		finish(reject, r.eng.Errors.FromGo(err))
		return
	}
	t := &asyncTxn{o: o.Object, savepoint: sp, alarm: o.alarm.pending()}
	o.storage.txns++
	o.wrote()
	end := func(settle func(any) error, v goja.Value, keep bool) {
		if o.ended {
			return
		}
		if !t.rolledBack {
			var err error
			if keep {
				err = sp.Release()
			} else {
				err = sp.Rollback()
				o.alarm.restore(t.alarm)
			}
			if err != nil {
				settle, v = reject, r.eng.Errors.FromGo(err)
			}
		}
		t.closed = true
		o.storage.txns--
		o.wrote() // the turn that ends the outermost transaction commits it
		finish(settle, v)
	}
	thrown := r.eng.Try(func() {
		r.eng.Await(r.eng.Call(closure, goja.Undefined(), r.txn.Wrap(t)),
			func(v goja.Value) { end(resolve, v, true) },
			func(reason goja.Value) { end(reject, reason, false) })
	})
	if thrown != nil {
		end(reject, thrown, false)
	}
}

// transactionSync implements storage.transactionSync(): a savepoint around a
// synchronous closure. What an async closure does after its first await is
// outside, as in the reference.
func (o *storage) transactionSync(closure goja.Value) goja.Value {
	r := o.realm
	if !engine.IsCallable(closure) {
		r.eng.Throw("TypeError", "Failed to execute 'transactionSync' on 'DurableObjectStorage': parameter 1 is not of type 'function'.")
	}
	sp, err := o.db().Savepoint()
	if err != nil {
		r.storageError(err)
	}
	var v goja.Value
	alarm := o.alarm.pending()
	thrown := r.eng.Try(func() { v = r.eng.Call(closure, goja.Undefined()) })
	if o.ended {
		panic(r.eng.Errors.FromGo(o.orFailure(ErrEvicted)))
	}
	if thrown != nil {
		if err := sp.Rollback(); err != nil {
			r.storageError(err)
		}
		o.alarm.restore(alarm)
		panic(thrown)
	}
	if err := sp.Release(); err != nil {
		r.storageError(err)
	}
	o.wrote()
	return v
}
