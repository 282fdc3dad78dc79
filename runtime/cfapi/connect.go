package cfapi

import (
	"errors"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
)

// nativeConnect is connect(address, options) of a stub: a Socket to the connect() handler of a
// worker or an object, to which it comes as a request with the method CONNECT.
func (a *API) nativeConnect(call goja.FunctionCall) goja.Value {
	target, ok := a.Engine.Attached(call.Argument(0)).(Target)
	if !ok {
		a.Engine.Throw("TypeError", "This stub has no connect(): it is the stub of an RPC target.")
	}
	fetch := within(a, target.Fetch)
	if _, isObject := target.(labelled); isObject {
		fetch = unmarked(fetch)
	}
	return a.Platform.TCP.ConnectTo(exchange.Route{
		Through: func(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
			if strings.HasPrefix(req.URL, "tls:") {
				done(nil, errNoTLS)
				return func(error) {}
			}
			return fetch(req, done)
		},
		Emit: func(release func(), lose func(error)) { a.sendTo(target, release, lose) },
	}, call.Argument(1), call.Argument(2))
}

// errNoTLS is why a socket with secureTransport "on" does not open, as in workerd.
var errNoTLS = &event.Error{Name: "Error", Message: "A worker has no TLS connections."}

// unmarked hides that an error came from the other side: what an object fails with is no refusal to
// connect, which the client would see as it is.
func unmarked(fetch exchange.Exchange) exchange.Exchange {
	return func(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
		return fetch(req, func(resp *event.Response, err error) {
			var ev *event.Error
			if errors.As(err, &ev) && ev.Remote {
				hidden := *ev
				hidden.Remote, err = false, &hidden
			}
			done(resp, err)
		})
	}
}
