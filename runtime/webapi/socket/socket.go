// Package socket is connect() of cloudflare:sockets: TCP connections, in plain
// text or with TLS, as two streams (workerd: api/sockets.c++). js/socket.js is the
// state of a Socket, Go the connection behind it.
package socket

import (
	_ "embed"
	"errors"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webidl"
)

//go:embed js/socket.js
var source string

var prelude = engine.NewPrelude("socket.js", source)

// Sockets makes the Sockets of one isolate. Loop-confined.
type Sockets struct {
	*webidl.Realm
	streams *streams.Streams
	through exchange.Exchange
	route   exchange.Route    // of the connection that is being opened
	connect goja.Callable     // js/socket.js, once it is loaded
	routes  map[string]string // where addresses lead to that are not their own
}

// New prepares sockets in a realm. through answers a request with the method
// CONNECT by a response with a Tunnel; without it connecting throws.
func New(r *webidl.Realm, s *streams.Streams, through exchange.Exchange) *Sockets {
	return &Sockets{Realm: r, streams: s, through: through}
}

// Connect is connect(address, options): a TCP connection through the exchange
// that fetch uses, as a request with the method CONNECT. It leaves through the
// context's output gate. It throws for an invalid address or option; every other
// failure rejects the promises of the Socket.
func (p *Sockets) Connect(address, options goja.Value) goja.Value {
	return connectBy(p, exchange.Route{Through: p.through}, false, address, options)
}

// ConnectTo is Connect to a worker or an object instead of an address.
func (p *Sockets) ConnectTo(route exchange.Route, address, options goja.Value) goja.Value {
	return connectBy(p, route, true, address, options)
}

func connectBy(p *Sockets, route exchange.Route, inner bool, address, options goja.Value) goja.Value {
	to := p.address(address)
	o := p.options(options)
	ctx := p.Engine.IO("connect()")
	if other, ok := p.routes[to.text]; ok {
		to.text = other
	}
	if route.Through == nil {
		p.Engine.Throw("Error", "connect() has nowhere to go: this isolate was started without access to a network.")
	}
	if route.Emit == nil {
		route.Emit = func(release func(), _ func(error)) { ctx.Emit(release) }
	}
	p.route = route // of the tunnel that is opened within
	return p.socket(to.text, o, to.host, to.port == 80 || to.port == 443, inner)
}

// socket makes a Socket; more is the connection of one that is open.
func (p *Sockets) socket(address string, o options, host string, hint, inner bool, more ...goja.Value) goja.Value {
	if p.connect == nil {
		p.connect, _ = goja.AssertFunction(p.Engine.Load(prelude, p.natives()))
	}
	vm := p.VM
	socket, err := p.connect(goja.Undefined(), append([]goja.Value{vm.ToValue(address), vm.ToValue(o.secure), vm.ToValue(o.allowHalfOpen),
		vm.ToValue(o.highWaterMark), vm.ToValue(host), vm.ToValue(hint), vm.ToValue(inner)}, more...)...)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return socket
}

// Accept is the Socket of a connect() handler: the current context's end of a connection to address. Call
// hangUp, in a turn of that context, when the handler has come to its end.
func (p *Sockets) Accept(connection *event.Response, address string) (socket goja.Value, hangUp func()) {
	h := &handle{owner: p.Engine.IO("a connect handler")}
	h.open(p.Engine, connection)
	accepted := p.VM.NewObject()
	p.Engine.Attach(accepted, h)
	host, _, _ := strings.Cut(address, ":")
	return p.socket(address, options{secure: "off", allowHalfOpen: true, highWaterMark: 1}, host, false, true, accepted), func() {
		connection.Body.Cancel(errGone)
		h.close()
	}
}

// errGone is what reads fail with behind the end of a connect() handler.
var errGone = &event.Error{Name: "TypeError", Message: "Can't read from request stream because client disconnected."}

// Route makes connections to an address, host:port, go to another one: the host
// names that a binding invents. Call it before user code runs.
func (p *Sockets) Route(from, to string) {
	if p.routes == nil {
		p.routes = map[string]string{}
	}
	p.routes[from] = to
}

// handle is a connection behind a Socket of JavaScript. Loop-confined, but for
// what is called in it, which is safe for concurrent use.
type handle struct {
	owner  *engine.Context
	body   event.Body   // the receiving half; nil until the connection is open
	tunnel event.Tunnel // the sending half
	keep   *engine.Op   // ends the connection with its context
}

// open takes over a connection.
func (h *handle) open(e *engine.Engine, resp *event.Response) {
	h.body, h.tunnel = resp.Body, resp.Tunnel
	h.keep = e.StartOp("an open TCP connection").Connection().OnCancel(func(reason error) {
		resp.Body.Cancel(reason)
		resp.Tunnel.Close()
	})
}

func (h *handle) close() {
	if h.keep != nil {
		h.keep.Drop()
		h.keep = nil
	}
	if h.tunnel != nil {
		h.tunnel.Close()
	}
}

// natives are the natives of js/socket.js. Callbacks get an error, or
// undefined and the result.
func (p *Sockets) natives() *goja.Object {
	e := p.Engine
	fn := func(name string, length int, f func(call goja.FunctionCall, h *handle)) engine.Func {
		return engine.Func{Name: name, Length: length, Fn: func(call goja.FunctionCall) goja.Value {
			h, _ := e.Attached(call.Argument(0)).(*handle)
			if h != nil {
				h.owner.Check()
			}
			f(call, h)
			return goja.Undefined()
		}}
	}
	tell := func(callback goja.Value, args ...goja.Value) { e.Call(callback, goja.Undefined(), args...) }
	told := func(op *engine.Op, callback goja.Value) func(error) {
		return func(err error) {
			op.Complete("socket", func() {
				if err != nil {
					tell(callback, exchange.Error(e, err))
					return
				}
				tell(callback)
			})
		}
	}
	return e.Native(
		engine.Func{Name: "source", Fn: p.source},
		engine.Func{Name: "sink", Fn: p.sink},
		engine.Func{Name: "open", Fn: func(call goja.FunctionCall) goja.Value {
			scheme := "tcp://"
			if call.Argument(1).ToBoolean() {
				scheme = "tls://"
			}
			return p.openTunnel(scheme+call.Argument(0).String(), call.Argument(2))
		}},
		fn("read", 2, func(call goja.FunctionCall, h *handle) {
			p.streams.PullBody(h.body, h.owner, call.Argument(1))
		}),
		fn("endRead", 1, func(_ goja.FunctionCall, h *handle) { h.body.Cancel(event.ErrCanceled) }),
		fn("write", 3, func(call goja.FunctionCall, h *handle) {
			data, ok := p.streams.ChunkBytes(call.Argument(1))
			if !ok {
				e.Throw("TypeError", "This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/ArrayBufferView type on its writable side.")
			}
			data, tunnel := append([]byte(nil), data...), h.tunnel
			if len(data) == 0 {
				tell(call.Argument(2))
				return
			}
			done := told(e.StartOp("writing to a TCP connection"), call.Argument(2))
			h.owner.Emit(func() { tunnel.Write(data, done) })
		}),
		fn("closeWrite", 2, func(call goja.FunctionCall, h *handle) {
			tunnel, done := h.tunnel, told(e.StartOp("closing a TCP connection"), call.Argument(1))
			h.owner.Emit(func() { tunnel.CloseWrite(done) })
		}),
		fn("close", 1, func(_ goja.FunctionCall, h *handle) {
			if h != nil {
				h.close()
			}
		}),
		fn("watch", 2, func(call goja.FunctionCall, h *handle) {
			callback := call.Argument(1)
			if t, ok := h.tunnel.(event.Leaving); ok {
				// A context that has ended does not want to know.
				t.OnGone(func() { _ = e.Post(h.owner.Frame(), "socket", func() { tell(callback) }) })
			}
		}),
		fn("secure", 3, func(call goja.FunctionCall, h *handle) {
			op, tunnel, name, callback := e.StartOp("a TLS handshake"), h.tunnel, call.Argument(1).String(), call.Argument(2)
			op.OnCancel(func(error) { tunnel.Close() })
			h.owner.Emit(func() {
				tunnel.Secure(name, func(resp *event.Response, err error) { p.opened(op, h, resp, err, callback) })
			})
		}),
	)
}

// source makes the receiving half of a Socket from {pull, cancel}, and what
// tells of it.
func (p *Sockets) source(call goja.FunctionCall) goja.Value {
	e, source := p.Engine, call.Argument(0)
	s := p.streams.NewFed(streams.ByteSource{
		Pull:   func() goja.Value { return e.Call(webidl.Get(source, "pull"), source) },
		Cancel: func(reason goja.Value) goja.Value { return e.Call(webidl.Get(source, "cancel"), source, reason) },
	})
	half := e.Native(
		action("push", 1, s.Push), action("fail", 1, s.Fail),
		action("end", 0, func(goja.Value) { s.End() }), action("lock", 0, func(goja.Value) { s.Lock() }),
		engine.Func{Name: "open", Fn: func(goja.FunctionCall) goja.Value { return p.VM.ToValue(s.Open()) }},
	)
	half.Set("object", s.Object())
	return half
}

// sink makes the sending half of a Socket from {highWaterMark, write, close,
// abort, interrupt}, and what tells of it.
func (p *Sockets) sink(call goja.FunctionCall) goja.Value {
	e, sink := p.Engine, call.Argument(0)
	s := p.streams.NewDrained(streams.Sink{
		HighWaterMark: webidl.Get(sink, "highWaterMark").ToFloat(),
		Write:         func(chunk goja.Value) goja.Value { return e.Call(webidl.Get(sink, "write"), sink, chunk) },
		Close:         func() goja.Value { return e.Call(webidl.Get(sink, "close"), sink) },
		Abort:         func(reason goja.Value) goja.Value { return e.Call(webidl.Get(sink, "abort"), sink, reason) },
		Interrupt:     func(reason goja.Value) { e.Call(webidl.Get(sink, "interrupt"), sink, reason) },
	})
	half := e.Native(
		action("fail", 1, s.Fail), action("break", 1, s.Break), action("end", 0, func(goja.Value) { s.End() }),
		engine.Func{Name: "ending", Fn: func(goja.FunctionCall) goja.Value { return s.Ending() }},
		engine.Func{Name: "lock", Fn: func(goja.FunctionCall) goja.Value { return s.Lock() }},
	)
	half.Set("object", s.Object())
	return half
}

// action is a native that gives nothing back.
func action(name string, length int, fn func(goja.Value)) engine.Func {
	return engine.Func{Name: name, Length: length, Fn: func(call goja.FunctionCall) goja.Value {
		fn(call.Argument(0))
		return goja.Undefined()
	}}
}

// openTunnel begins to connect and gives the handle.
func (p *Sockets) openTunnel(url string, callback goja.Value) goja.Value {
	e := p.Engine
	h := &handle{owner: e.IO("connect()")}
	if err := e.Subrequest(); err != nil {
		e.Rethrow(err)
	}
	req := &event.Request{Method: "CONNECT", URL: url, Cause: e.Cause()}
	attempt := &exchange.Attempt{Engine: e, Route: p.route, Frame: e.Frame(), Manual: true}
	op := e.StartOp("connect to " + url).OnCancel(attempt.Cancel)
	attempt.Start(req, func(resp *event.Response, err error) {
		if err == nil && resp.Tunnel == nil {
			if resp.Body != nil {
				resp.Body.Cancel(event.ErrCanceled)
			}
			err = &event.Error{Name: "Error", Message: "The network opens no TCP connections to " + url + "."}
		}
		p.opened(op, h, resp, err, callback)
	})
	handle := p.VM.NewObject()
	e.Attach(handle, h)
	return handle
}

// opened tells of a connection that is open, or is not.
func (p *Sockets) opened(op *engine.Op, h *handle, resp *event.Response, err error, callback goja.Value) {
	op.Complete("socket", func() {
		if err != nil {
			var refusal *event.Error // it is told as it is
			refused := errors.As(err, &refusal) && (refusal.NoOutbound || refusal.Remote)
			p.Engine.Call(callback, goja.Undefined(), exchange.Error(p.Engine, err), goja.Undefined(), p.VM.ToValue(refused))
			return
		}
		if h.keep != nil { // it is the one that TLS has begun on
			h.keep.Drop()
		}
		h.open(p.Engine, resp)
		p.Engine.Call(callback, goja.Undefined(), goja.Undefined(), p.Engine.String(resp.Tunnel.RemoteAddress()))
	})
}
