package durableobject

import (
	"cmp"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// connect delivers a connection to the object's connect() handler, which goes on when the client has
// closed its end.
func connect(o *Object, req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	r := o.realm
	nothing := func() {}
	o.deliver(cmp.Or(req.Cause, "connect"), func() {
		o.traced(isolate.TraceConnection(), req.Parent, func(_ *isolate.Invocation, end func()) {
			isolate.Connect(r.iso, req, func() (*goja.Object, goja.Value, []goja.Value) {
				return o.instance, o.instance.Get("connect"), []goja.Value{goja.Undefined(), goja.Undefined()}
			}, nothing, func(resp *event.Response, err error) { done(resp, o.orFailure(err)) }, func() {
				end()
				o.done()
			})
		})
	}, func(err error) {
		Unborn(o, req, req.Parent)
		done(nil, err)
	})
	return func(error) {}
}
