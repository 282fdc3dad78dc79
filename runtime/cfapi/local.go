package cfapi

import (
	"cmp"
	"reflect"
	"sync/atomic"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// byReference reports whether v passes by reference: a function, a Proxy or an
// instance of RpcTarget.
func (a *API) byReference(v goja.Value) bool {
	obj, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	return engine.IsCallable(v) || isProxy(obj) || a.vm.InstanceOf(v, a.rpcTarget)
}

func isProxy(obj *goja.Object) bool { return obj.ExportType() == reflect.TypeFor[goja.Proxy]() }

// local is a reference to a target that lives in this isolate. One that was
// given away keeps the context of its target alive until it is released; so do
// its copies. Safe for concurrent use: other isolates hold references too.
type local struct {
	api     *API
	context *engine.Context
	event   engine.Invocation // that made it, which its calls belong to; nil: nobody wants to know
	target  *goja.Object      // for the loop of api alone
	shared  *localShared
	inner   bool // the platform's own, as receiver.inner
	sent    bool // set before the reference is handed on, immutable then
	done    atomic.Bool
}

type localShared struct{ refs atomic.Int32 }

func (a *API) export(target *goja.Object) *local {
	l := &local{api: a, context: a.Engine.IO("an RPC stub"), event: a.Engine.Frame().Invocation, target: target, inner: a.inner, shared: &localShared{}}
	l.shared.refs.Store(1)
	return l
}

// send marks a new reference, which nobody else has yet, as one that leaves in
// a message. A copy of a reference from elsewhere has been sent before, so this
// is for the loop of api.
func (l *local) send() {
	if !l.sent {
		l.sent = true
		l.hold()
	}
}

// hold keeps what the target belongs to until release.
func (l *local) hold() {
	l.context.Hold()
	if l.event != nil {
		l.event.Hold()
	}
}

func (l *local) release() {
	l.context.Release()
	if l.event != nil {
		l.event.Release()
	}
}

// Call implements event.Capability.
func (l *local) Call(c *event.Call, done func(*event.Payload, error)) {
	if l.done.Load() {
		done(nil, &event.Error{Name: "Error", Message: "RPC stub used after being disposed."})
		return
	}
	deliverIn(l.api, l.context.Frame().WithInvocation(l.event), cmp.Or(c.Cause, "rpc"), func(f *engine.Frame) {
		receiver{api: l.api, target: l.target, reserved: reservedOfTransients, transient: true, inner: l.inner}.invoke(c, done)
	}, func(err error) { done(nil, err) })
}

// Dup implements event.Capability.
func (l *local) Dup() event.Capability {
	l.shared.refs.Add(1)
	d := &local{api: l.api, context: l.context, event: l.event, target: l.target, shared: l.shared, inner: l.inner, sent: l.sent}
	if l.done.Load() {
		d.done.Store(true) // a copy of what is gone is gone
		return d
	}
	if d.sent {
		// The copied reference holds the context until its own release, which
		// comes to the loop later. A closed loop has no contexts.
		_ = l.api.Engine.PostLoop(l.hold)
	}
	return d
}

// Release implements event.Capability. After the last release the target's
// Symbol.dispose method is called, if it has one.
func (l *local) Release() {
	if l.done.Swap(true) {
		return
	}
	a := l.api
	last := l.shared.refs.Add(-1) == 0
	if !last && !l.sent {
		return
	}
	// A closed loop has nothing left to dispose of.
	_ = a.Engine.PostLoop(func() {
		if last {
			a.Engine.Turns.Enter(l.context.Frame().WithInvocation(l.event), "dispose", l.dispose)
		}
		if l.sent {
			l.release()
		}
	})
}

func (l *local) dispose() {
	a := l.api
	sym := a.Engine.Primordial("Symbol").Get("dispose").(*goja.Symbol)
	if d := l.target.GetSymbol(sym); engine.IsCallable(d) {
		a.Engine.Call(d, l.target)
	}
}
