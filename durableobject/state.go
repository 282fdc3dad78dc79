package durableobject

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// defineState makes ctx: DurableObjectState (workerd: api/actor-state.h).
func (r *Realm) defineState() {
	methods := []engine.Method[*Object]{
		method("waitUntil", 1, func(o *Object, c goja.FunctionCall) goja.Value {
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
		Accessors: []engine.Accessor[*Object]{
			{Name: "id", Get: func(o *Object, this *goja.Object) goja.Value {
				return o.pinned(this, "id", func() goja.Value { return r.iso.CF.ObjectID(o.opts.ID) })
			}},
			{Name: "storage", Get: func(o *Object, this *goja.Object) goja.Value {
				return o.pinned(this, "storage", func() goja.Value { return r.storage.Wrap(o) })
			}},
			{Name: "props", Get: func(o *Object, this *goja.Object) goja.Value {
				return o.pinned(this, "props", func() goja.Value {
					if o.opts.Props == nil {
						return r.vm.NewObject()
					}
					return r.iso.CF.Unpack(o.opts.Props)
				})
			}},
			{Name: "exports", Get: func(*Object, *goja.Object) goja.Value { return r.iso.Exports() }},
			{Name: "facets", Get: func(o *Object, this *goja.Object) goja.Value {
				return o.pinned(this, "facets", func() goja.Value { return r.facets.Wrap(&facetsAPI{o}) })
			}},
			{Name: "container", Get: func(*Object, *goja.Object) goja.Value { return goja.Undefined() }},
		},
	})
}

// waitUntil logs a rejection; an object lives on without it.
func (o *Object) waitUntil(promise goja.Value) {
	e := o.realm.eng
	o.ctx.Hold()
	e.Await(promise, func(goja.Value) { o.ctx.Release() }, func(reason goja.Value) {
		e.ReportUncaught(reason)
		o.ctx.Release()
	})
}

// abort implements ctx.abort(reason): it resets the object and throws. The
// reason is a string; callers see it as the message of an Error
// (api/actor-state.h, DurableObjectState::abort).
func (o *Object) abort(reason, options goja.Value) goja.Value {
	r := o.realm
	ev := &event.Error{Name: "Error", Message: "Application called abort() to reset Durable Object.", ObjectReset: true}
	if !goja.IsUndefined(reason) {
		ev.Message = reason.String()
	}
	if opts, ok := options.(*goja.Object); ok {
		if retry := opts.Get("retryAlarm"); retry != nil && !goja.IsUndefined(retry) && !retry.ToBoolean() {
			o.giveUpAlarm()
		}
	}
	o.fail(ev)
	panic(r.eng.FromGo(ev))
}

// giveUpAlarm drops the alarm whose handler is running (abort with
// {retryAlarm: false}): what else is uncommitted is lost, the deletion is not.
func (o *Object) giveUpAlarm() {
	if !o.alarm.running || !o.alarm.deferred {
		return
	}
	if err := o.store.Rollback(); err != nil {
		o.realm.storageError(err)
	}
	o.forgetAlarm()
	o.commitNow()
}
