package webapi

import (
	_ "embed"
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
)

//go:embed js/tcpsocket.js
var tcpSocketSource string

var tcpSocketPrelude = engine.NewPrelude("tcpsocket.js", tcpSocketSource)

// Connect is connect(address, options) of cloudflare:sockets (workerd's
// api/sockets.c++): a TCP connection through the exchange that fetch uses, as a
// request with the method CONNECT. It leaves through the context's output gate.
// It throws for an address that cannot be one; everything else is told by the
// promises of the Socket.
func (p *Platform) Connect(address, options goja.Value) goja.Value {
	to := p.socketAddress(address)
	o := p.socketOptions(options)
	p.Engine.IO("connect()")
	if p.opts.Fetch == nil {
		p.Engine.Throw("Error", "connect() has nowhere to go: this isolate was started without access to a network.")
	}
	if p.connect == nil {
		p.connect, _ = goja.AssertFunction(p.Engine.Load(tcpSocketPrelude, p.tcpNatives()))
	}
	vm := p.VM
	socket, err := p.connect(goja.Undefined(), vm.ToValue(to.text), vm.ToValue(o.secure), vm.ToValue(o.allowHalfOpen), vm.ToValue(o.highWaterMark),
		vm.ToValue(to.host), vm.ToValue(to.port == 80 || to.port == 443))
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return socket
}

// socketAddress is where a connection goes.
type socketAddress struct {
	text string // host:port
	host string
	port int
}

func (p *Platform) socketAddress(v goja.Value) (a socketAddress) {
	refuse := func(text string) { p.Engine.Throw("TypeError", "%s", text) }
	switch record := v.(type) {
	case *goja.Object:
		a.host, a.port = p.DOMString(record.Get("hostname")), p.socketPort(record.Get("port"))
		a.text = a.host + ":" + strconv.Itoa(a.port)
	case nil:
		refuse("Failed to execute 'connect' on 'SocketsModule': parameter 1 is not of type 'SocketAddress or string'.")
	default:
		if goja.IsUndefined(v) || goja.IsNull(v) {
			refuse("Failed to execute 'connect' on 'SocketsModule': parameter 1 is not of type 'SocketAddress or string'.")
		}
		a.text = p.DOMString(v)
		if a.text == "" {
			refuse("Specified address is missing hostname.")
		}
		u, err := url.Parse("https://"+a.text, "")
		switch {
		case err != nil:
			refuse("Specified address could not be parsed.")
		case u.Hostname() == "":
			refuse("Specified address is missing hostname.")
		case u.Port() != "":
			a.port, _ = strconv.Atoi(u.Port()) // the parser has seen to it that it is a number
		case strings.HasSuffix(a.text, ":443"):
			a.port = 443
		default:
			refuse("Specified address is missing port.")
		}
		a.host = u.Hostname()
	}
	if len(a.text) > 255 || a.host == "" || strings.ContainsFunc(a.text, notInAddress) {
		refuse("Specified address is empty string, contains unsupported characters or is too long.")
	}
	a.host = strings.TrimSuffix(strings.TrimPrefix(a.host, "["), "]")
	return a
}

func notInAddress(c rune) bool {
	return c >= 0x80 || !isAlphanumeric(byte(c)) && !strings.ContainsRune("-._[]:", c)
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func (p *Platform) socketPort(v goja.Value) int {
	if v == nil {
		v = goja.Undefined()
	}
	switch f := v.ToNumber().ToFloat(); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		p.Engine.Throw("TypeError", "The value cannot be converted because it is not an integer.")
	case f < 0:
		p.Engine.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive number.")
	case f > 65535:
		p.Engine.Throw("TypeError", "Value out of range. Must be less than or equal to 65535.")
	default:
		return int(f)
	}
	return 0
}

type socketOptions struct {
	secure        string // "off", "on" or "starttls"
	allowHalfOpen bool
	highWaterMark float64
}

func (p *Platform) socketOptions(v goja.Value) socketOptions {
	o := socketOptions{secure: "off", highWaterMark: 1}
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return o
	}
	init, ok := v.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "Failed to execute 'connect' on 'SocketsModule': parameter 2 is not of type 'SocketOptions'.")
	}
	if v := webidl.Present(init, "secureTransport"); v != nil {
		if o.secure = p.DOMString(v); o.secure != "off" && o.secure != "on" && o.secure != "starttls" {
			p.Engine.Throw("TypeError", "Unsupported value in secureTransport socket option: %s", o.secure)
		}
	}
	if v := webidl.Present(init, "allowHalfOpen"); v != nil {
		o.allowHalfOpen = v.ToBoolean()
	}
	if v := webidl.Present(init, "highWaterMark"); v != nil {
		if o.highWaterMark = v.ToNumber().ToFloat(); math.IsNaN(o.highWaterMark) || o.highWaterMark < 0 {
			p.Engine.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive number.")
		}
	}
	return o
}

// tcpHandle is a connection behind a Socket of JavaScript. Loop-confined, but for
// what is called in it, which is safe for concurrent use.
type tcpHandle struct {
	owner  *engine.Context
	body   event.Body   // the receiving half; nil until the connection is open
	tunnel event.Tunnel // the sending half
	keep   *engine.Op   // ends the connection with its context
}

// open takes over a connection.
func (h *tcpHandle) open(e *engine.Engine, resp *event.Response) {
	h.body, h.tunnel = resp.Body, resp.Tunnel
	h.keep = e.StartOp("an open TCP connection").Connection().OnCancel(func(reason error) {
		resp.Body.Cancel(reason)
		resp.Tunnel.Close()
	})
}

func (h *tcpHandle) close() {
	if h.keep != nil {
		h.keep.Drop()
		h.keep = nil
	}
	if h.tunnel != nil {
		h.tunnel.Close()
	}
}

// tcpNatives are the natives of js/tcpsocket.js. Callbacks get an error, or
// undefined and what there is to tell.
func (p *Platform) tcpNatives() *goja.Object {
	e := p.Engine
	fn := func(name string, length int, f func(call goja.FunctionCall, h *tcpHandle)) engine.Func {
		return engine.Func{Name: name, Length: length, Fn: func(call goja.FunctionCall) goja.Value {
			h, _ := e.Attached(call.Argument(0)).(*tcpHandle)
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
		engine.Func{Name: "source", Length: 1, Fn: p.tcpSource},
		engine.Func{Name: "sink", Length: 1, Fn: p.tcpSink},
		engine.Func{Name: "open", Length: 3, Fn: func(call goja.FunctionCall) goja.Value {
			scheme := "tcp://"
			if call.Argument(1).ToBoolean() {
				scheme = "tls://"
			}
			return p.openTunnel(scheme+call.Argument(0).String(), call.Argument(2))
		}},
		fn("read", 2, func(call goja.FunctionCall, h *tcpHandle) {
			p.Streams.PullBody(h.body, h.owner, call.Argument(1))
		}),
		fn("endRead", 1, func(_ goja.FunctionCall, h *tcpHandle) { h.body.Cancel(event.ErrCanceled) }),
		fn("write", 3, func(call goja.FunctionCall, h *tcpHandle) {
			data, ok := p.Streams.ChunkBytes(call.Argument(1))
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
		fn("closeWrite", 2, func(call goja.FunctionCall, h *tcpHandle) {
			tunnel, done := h.tunnel, told(e.StartOp("closing a TCP connection"), call.Argument(1))
			h.owner.Emit(func() { tunnel.CloseWrite(done) })
		}),
		fn("close", 1, func(_ goja.FunctionCall, h *tcpHandle) {
			if h != nil {
				h.close()
			}
		}),
		fn("secure", 3, func(call goja.FunctionCall, h *tcpHandle) {
			op, tunnel, name, callback := e.StartOp("a TLS handshake"), h.tunnel, call.Argument(1).String(), call.Argument(2)
			op.OnCancel(func(error) { tunnel.Close() })
			h.owner.Emit(func() {
				tunnel.Secure(name, func(resp *event.Response, err error) { p.opened(op, h, resp, err, callback) })
			})
		}),
	)
}

// tcpSource makes the receiving half of a Socket from {pull, cancel}, and what
// tells of it.
func (p *Platform) tcpSource(call goja.FunctionCall) goja.Value {
	e, source := p.Engine, call.Argument(0)
	s := p.Streams.NewFed(streams.ByteSource{
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

// tcpSink makes the sending half of a Socket from {highWaterMark, write, close,
// abort, interrupt}, and what tells of it.
func (p *Platform) tcpSink(call goja.FunctionCall) goja.Value {
	e, sink := p.Engine, call.Argument(0)
	s := p.Streams.NewDrained(streams.Sink{
		HighWaterMark: webidl.Get(sink, "highWaterMark").ToFloat(),
		Write:         func(chunk goja.Value) goja.Value { return e.Call(webidl.Get(sink, "write"), sink, chunk) },
		Close:         func() goja.Value { return e.Call(webidl.Get(sink, "close"), sink) },
		Abort:         func(reason goja.Value) goja.Value { return e.Call(webidl.Get(sink, "abort"), sink, reason) },
		Interrupt:     func(reason goja.Value) { e.Call(webidl.Get(sink, "interrupt"), sink, reason) },
	})
	half := e.Native(
		action("fail", 1, s.Fail), action("end", 0, func(goja.Value) { s.End() }),
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
func (p *Platform) openTunnel(url string, callback goja.Value) goja.Value {
	e := p.Engine
	h := &tcpHandle{owner: e.IO("connect()")}
	if err := e.Subrequest(); err != nil {
		e.Rethrow(err)
	}
	req := &event.Request{Method: "CONNECT", URL: url, Cause: e.Cause()}
	attempt := &exchange.Attempt{Engine: e, Route: exchange.Route{Through: p.opts.Fetch, Emit: func(release func()) { h.owner.Emit(release) }}, Frame: e.Frame(), Manual: true}
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
func (p *Platform) opened(op *engine.Op, h *tcpHandle, resp *event.Response, err error, callback goja.Value) {
	op.Complete("socket", func() {
		if err != nil {
			p.Engine.Call(callback, goja.Undefined(), exchange.Error(p.Engine, err))
			return
		}
		if h.keep != nil { // it is the one that TLS has begun on
			h.keep.Drop()
		}
		h.open(p.Engine, resp)
		p.Engine.Call(callback, goja.Undefined(), goja.Undefined(), p.Engine.String(resp.Tunnel.RemoteAddress()))
	})
}
