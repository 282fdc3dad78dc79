package isolate

import (
	"cmp"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// inner is the Target of an object of the platform's own in this isolate. Safe for
// concurrent use.
type inner struct {
	i      *Isolate
	object *goja.Object // for the loop alone
}

// Inner is a target that calls an object of the platform's own as if it were the entrypoint
// of another worker: what crosses is cloned, each call has a context of its own, and the
// methods are those of the object's prototypes. Bindings are stubs of such objects where the
// reference has a worker behind them. No tail worker hears of the calls, and they are no
// effect points: what the object does is. Safe for concurrent use.
func Inner(i *Isolate, object *goja.Object) cfapi.Target { return &inner{i, object} }

// Inner implements cfapi.Inner.
func (t *inner) Inner() {}

// Dup implements event.Capability; the object lives as long as the isolate.
func (t *inner) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t *inner) Release() {}

// Call implements event.Capability.
func (t *inner) Call(c *event.Call, done func(*event.Payload, error)) {
	done = once(done)
	t.i.dispatch(t.i.Engine.NewContext(engine.RequestContext, ""), nil, cmp.Or(c.Cause, "rpc"), func(_ *engine.Context, end func()) {
		t.i.CF.InvokeInner(t.object, c, func(p *event.Payload, err error) {
			done(p, err)
			end()
		})
	}, func(err error) { done(nil, err) })
}

// Fetch implements cfapi.Target.
func (t *inner) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	return exchange(t.i, req, nil, func(_ *engine.Context, request *goja.Object) goja.Value {
		fetch := t.object.Get("fetch")
		if !engine.IsCallable(fetch) {
			t.i.throwNoHandler("fetch")
		}
		return t.i.Engine.Call(fetch, t.object, request)
	}, done)
}
