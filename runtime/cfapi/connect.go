package cfapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// errNoConnect is why a socket to a worker or an object does not open. workerd's own text is the
// first sentence; the rest is for workers that do export the handler.
var errNoConnect = &event.Error{Name: "Error", Message: "Handler does not export a connect() function. (minido calls no connect() handlers; use fetch() or RPC.)"}

// Unconnectable is a target whose sockets fail for a reason of its own.
type Unconnectable interface{ ConnectError() error }

// nativeConnect is connect(address, options) of a stub: connect() of cloudflare:sockets whose
// socket never opens, as with every worker without a connect() handler.
func (a *API) nativeConnect(call goja.FunctionCall) goja.Value {
	err := error(errNoConnect)
	if target, ok := a.Engine.Attached(call.Argument(0)).(Unconnectable); ok {
		err = target.ConnectError()
	} else if !a.toldOfConnect {
		a.toldOfConnect = true
		a.Engine.Log(engine.Warn, "Received a connect event but we lack a handler. Did you remember to export a connect() function? (minido calls no connect() handlers; use fetch() or RPC.)")
	}
	fails := func(_ *event.Request, done func(*event.Response, error)) func(error) {
		done(nil, err)
		return func(error) {}
	}
	return a.Platform.TCP.ConnectBy(fails, call.Argument(1), call.Argument(2))
}
