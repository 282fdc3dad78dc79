package durableobject

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// defineState makes ctx: DurableObjectState (workerd: api/actor-state.h).
func (r *Realm) defineState() {
	methods := []engine.Method[*Object]{
		method("waitUntil", 1, func(o *Object, c goja.FunctionCall) goja.Value {
			r.iso.Platform.Need(c, 1, "DurableObjectState", "waitUntil", "Promise")
			o.waitUntil(c.Argument(0))
			return goja.Undefined()
		}),
		method("blockConcurrencyWhile", 1, func(o *Object, c goja.FunctionCall) goja.Value {
			return o.blockConcurrencyWhile(c.Argument(0))
		}),
		method("abort", 1, func(o *Object, c goja.FunctionCall) goja.Value { return o.abort(c.Argument(0), c.Argument(1)) }),
	}
	r.state = engine.DefineClass(r.eng, engine.ClassDef[*Object]{
		Name:    "DurableObjectState",
		Methods: append(methods, r.socketMethods()...),
	})
}

// newState makes ctx. Its parts are properties of its own, as in the reference
// (JSG_LAZY_INSTANCE_PROPERTY).
func (o *Object) newState() *goja.Object {
	r := o.realm
	ctx := r.state.Wrap(o)
	props := goja.Value(r.vm.NewObject())
	if o.opts.Props != nil {
		props = r.iso.CF.Unpack(o.opts.Props)
	}
	own(ctx, "facets", r.facets.Wrap(&facetsAPI{o}))
	own(ctx, "container", goja.Undefined())
	own(ctx, "storage", o.newStorage())
	if o.opts.TextID != nil {
		own(ctx, "id", r.vm.ToValue(*o.opts.TextID))
	} else {
		own(ctx, "id", r.iso.CF.ObjectID(o.opts.ID))
	}
	own(ctx, "props", props)
	own(ctx, "exports", r.iso.Exports())
	return ctx
}

func (o *Object) newStorage() *goja.Object {
	r := o.realm
	storage := r.storage.Wrap(o)
	own(storage, "kv", r.kv.Wrap(&syncKV{o}))
	own(storage, "sql", r.sql.Wrap(&sqlAPI{o}))
	return storage
}

// own defines an instance property as the reference does: an ordinary one.
func own(obj *goja.Object, name string, v goja.Value) {
	obj.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// waitUntil logs a rejection; an object lives on without it.
func (o *Object) waitUntil(promise goja.Value) {
	e := o.realm.eng
	o.ctx.WaitUntil()
	e.Await(promise, func(goja.Value) { o.ctx.ReleaseFor() }, func(reason goja.Value) {
		e.Uncaught.Report(reason)
		o.ctx.ReleaseFor()
	})
}

// abort implements ctx.abort(reason): it resets the object and throws. The
// reason is a string; callers see it as the message of an Error
// (api/actor-state.h, DurableObjectState::abort).
func (o *Object) abort(reason, options goja.Value) goja.Value {
	r := o.realm
	ev := aborted("")
	if !goja.IsUndefined(reason) {
		ev.Message = reason.String()
	}
	if opts, ok := options.(*goja.Object); ok {
		if retry := opts.Get("retryAlarm"); retry != nil && !goja.IsUndefined(retry) && !retry.ToBoolean() {
			o.alarm.giveUpAlarm()
		}
	}
	o.fail(ev)
	panic(r.eng.Errors.FromGo(ev))
}

// giveUpAlarm drops the alarm whose handler is running (abort with
// {retryAlarm: false}): what else is uncommitted is lost, the deletion is not.
func (o *wakeUp) giveUpAlarm() {
	if !o.alarm.handling || !o.alarm.deferred || o.superseded {
		return
	}
	if err := o.store.Rollback(); err != nil {
		o.realm.storageError(err)
	}
	o.forgetAlarm()
	o.commitNow()
}
