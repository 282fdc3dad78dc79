package websocket

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
)

func (p *Sockets) define() *engine.Class[*Handle] {
	vm := p.VM
	get := func(name string, fn func(h *Handle) goja.Value) engine.Accessor[*Handle] {
		return engine.Accessor[*Handle]{Name: name, Get: func(h *Handle, _ *goja.Object) goja.Value { return fn(h) }}
	}
	method := func(name string, fn func(h *Handle, call goja.FunctionCall)) engine.Method[*Handle] {
		return engine.Method[*Handle]{Name: name, Fn: func(h *Handle, call goja.FunctionCall) goja.Value {
			fn(h, call)
			return goja.Undefined()
		}}
	}
	accessors := []engine.Accessor[*Handle]{
		get("readyState", func(h *Handle) goja.Value { return vm.ToValue(h.ReadyState()) }),
		get("bufferedAmount", func(h *Handle) goja.Value { return vm.ToValue(h.buffered) }),
		get("url", func(h *Handle) goja.Value {
			if !h.hasURL {
				return goja.Null()
			}
			return vm.ToValue(h.url)
		}),
		// As workerd: of a client that has connected both are what the server's answer says, null
		// for nothing; no extension is offered. Others have empty ones.
		get("protocol", func(h *Handle) goja.Value {
			if h.connects && h.protocol == "" {
				return goja.Null()
			}
			return vm.ToValue(h.protocol)
		}),
		get("extensions", func(h *Handle) goja.Value {
			if h.connects {
				return goja.Null()
			}
			return vm.ToValue("")
		}),
		{Name: "binaryType",
			Get: func(h *Handle, _ *goja.Object) goja.Value { return vm.ToValue(h.binaryType) },
			Set: func(h *Handle, _ *goja.Object, v goja.Value) {
				if s := v.String(); s == "blob" || s == "arraybuffer" {
					h.binaryType = s
				}
			}},
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*Handle]{
		Name: "WebSocket", Extends: p.events.Targets().Ctor,
		New: func(call goja.ConstructorCall) *Handle {
			if len(call.Arguments) == 0 {
				p.BadConstruct("WebSocket", 1, "string")
			}
			return p.connectSocket(call.This, call.Argument(0), call.Argument(1))
		},
		Methods: []engine.Method[*Handle]{
			method("accept", func(h *Handle, call goja.FunctionCall) {
				var halfOpen goja.Value
				if options, ok := call.Argument(0).(*goja.Object); ok {
					halfOpen = webidl.Present(options, "allowHalfOpen")
				} else if !webidl.IsMissing(call.Argument(0)) {
					p.BadArgument("WebSocket", "accept", 1, "AcceptOptions")
				}
				h.accept(halfOpen)
			}),
			method("send", func(h *Handle, call goja.FunctionCall) {
				if len(call.Arguments) == 0 {
					h.send(nil)
				}
				h.send(call.Argument(0))
			}),
			method("close", func(h *Handle, call goja.FunctionCall) { h.close(call.Argument(0), call.Argument(1)) }),
			method("serializeAttachment", func(h *Handle, call goja.FunctionCall) {
				if len(call.Arguments) == 0 {
					p.Engine.Throw("TypeError", "Failed to execute 'serializeAttachment' on 'WebSocket': parameter 1 is not of type 'Value'.")
				}
				h.serializeAttachment(call.Arguments[0])
			}),
			{Name: "deserializeAttachment", Fn: func(h *Handle, _ goja.FunctionCall) goja.Value {
				return h.deserializeAttachment()
			}},
		},
		Accessors: accessors,
		Constants: []engine.Constant{
			{Name: "READY_STATE_CONNECTING", Value: 0}, {Name: "CONNECTING", Value: 0},
			{Name: "READY_STATE_OPEN", Value: 1}, {Name: "OPEN", Value: 1},
			{Name: "READY_STATE_CLOSING", Value: 2}, {Name: "CLOSING", Value: 2},
			{Name: "READY_STATE_CLOSED", Value: 3}, {Name: "CLOSED", Value: 3},
		},
	})
}

// definePair makes the class whose instances hold two connected sockets
// under 0 and 1.
func (p *Sockets) definePair() goja.Value {
	type pair struct{ ends [2]goja.Value }
	values := func(s *pair, _ goja.FunctionCall) goja.Value {
		list := p.VM.NewArray(s.ends[0], s.ends[1])
		return p.Engine.Call(p.Engine.Primordial("ArrayPrototypeValues"), goja.Undefined(), list)
	}
	cls := engine.DefineClass(p.Engine, engine.ClassDef[*pair]{
		Name: "WebSocketPair",
		New: func(call goja.ConstructorCall) *pair {
			p.Engine.IO("WebSocketPair")
			a, b := event.NewSocketPair()
			one, other := p.Wrap(a, Options{}), p.Wrap(b, Options{})
			p.pair(one, other)
			return &pair{[2]goja.Value{one, other}}
		},
		Own: []engine.Accessor[*pair]{
			webidl.Reader("0", func(s *pair) goja.Value { return s.ends[0] }),
			webidl.Reader("1", func(s *pair) goja.Value { return s.ends[1] }),
		},
		Methods: []engine.Method[*pair]{{Name: "values", Fn: values}},
	})
	cls.Alias(goja.SymIterator, "values")
	cls.Proto.Delete("values")
	return cls.Ctor
}

// pair tells the ends of a WebSocketPair of each other.
func (p *Sockets) pair(one, other *goja.Object) {
	a, _ := p.Of(one)
	b, _ := p.Of(other)
	a.peer, b.peer = b, a
}

// plainURL reports whether a text is a URL for workerd's parser (kj::Url), too: it
// has a host, and nothing that the URL standard would take away or encode there.
func plainURL(text string) bool {
	_, rest, ok := strings.Cut(text, "://")
	host, _, _ := strings.Cut(rest, "/")
	return ok && text == strings.TrimSpace(text) && !strings.ContainsFunc(host, func(c rune) bool { return c > unicode.MaxASCII })
}

// connectSocket is `new WebSocket(url, protocols)`: a client.
func (p *Sockets) connectSocket(obj *goja.Object, target, protocols goja.Value) *Handle {
	refuse := func(text string) { panic(p.NewDOMException("SyntaxError", "WebSocket Constructor: "+text)) }
	p.Engine.IO("WebSocket")
	text := p.USV(target)
	parsed, err := url.Parse(text, "")
	if err != nil || !plainURL(text) {
		refuse("The url is invalid.")
	}
	address := url.Href(parsed)
	switch parsed.Scheme() {
	case "ws":
		parsed.SetProtocol("http:")
	case "wss":
		parsed.SetProtocol("https:")
	default:
		refuse("The url scheme must be ws or wss.")
	}
	if strings.Contains(address, "#") {
		refuse("The url fragment must be empty.")
	}
	header := event.Header{{Name: "Upgrade", Value: "websocket"}}
	if names := p.subprotocols(protocols, refuse); len(names) > 0 {
		header = append(header, event.Field{Name: "Sec-WebSocket-Protocol", Value: strings.Join(names, ", ")})
	}
	h := p.newHandle(nil)
	h.obj, h.state, h.url, h.hasURL = obj, socketConnecting, text, true // workerd serializes no URL
	h.connect(&event.Request{Method: "GET", URL: url.Href(parsed), Header: header, Upgrade: true})
	return h
}

func (p *Sockets) subprotocols(v goja.Value, refuse func(string)) []string {
	var names []string
	list, _ := v.(*goja.Object)
	switch {
	case list != nil && !webidl.IsMissing(list.GetSymbol(goja.SymIterator)):
		p.VM.ForOf(list, func(item goja.Value) bool {
			name := item.String()
			if !wsToken(name) {
				refuse("One of the protocol header tokens is invalid.")
			}
			if slices.Contains(names, name) {
				refuse("The protocols header cannot have repeating values.")
			}
			names = append(names, name)
			return true
		})
	default:
		if v == nil || goja.IsUndefined(v) {
			return nil
		}
		names = []string{v.String()}
		if !wsToken(names[0]) {
			refuse("The protocol header token is invalid.")
		}
	}
	return names
}

// connect asks for the socket; the answer becomes "open", or "error" and "close".
func (h *Handle) connect(req *event.Request) {
	p, e := h.p, h.p.Engine
	var cancel func(error)
	if err := e.Subrequest(); err != nil {
		e.Rethrow(err)
	}
	h.op = e.StartOp("connecting a WebSocket to " + req.URL).OnCancel(func(reason error) {
		if cancel != nil {
			cancel(reason)
		}
	})
	h.owner.Hold()
	op, frame := h.op, e.Frame()
	answer := func(resp *event.Response, err error) {
		op.Complete("websocket open", func() {
			h.op = nil
			h.owner.Release()
			if err == nil && (resp.Status != 101 || resp.Socket == nil) {
				err = &event.Error{Name: "TypeError", Message: "Failed to establish the WebSocket connection: expected server to reply with HTTP status code 101 (switching protocols), but received " + p.VM.ToValue(resp.Status).String() + " instead."}
				if resp.Body != nil {
					resp.Body.Cancel(err)
				}
			}
			h.connected(resp, err)
		})
	}
	h.giveUp = func(reason error) {
		answer(nil, reason)
		if cancel != nil {
			cancel(reason)
		}
	}
	if p.through == nil {
		answer(nil, errors.New("new WebSocket() has nowhere to go: this isolate was started without access to a network"))
		return
	}
	h.owner.Emit(func() {
		if h.state == socketConnecting {
			e.In(frame, func() { cancel = p.through(req, answer) })
		}
	})
}

func (h *Handle) connected(resp *event.Response, err error) {
	if err != nil {
		h.gotClose, h.sentClose = true, true
		h.dispatchError(exchange.NetworkError(h.p.Engine, err))
		h.dispatchClose(1006, "Failed to establish websocket connection", false)
		return
	}
	if resp.Header.Get("sec-websocket-extensions") != "" { // none was offered (RFC 6455, section 4.1)
		resp.Socket.Drop(1006, "", nil)
		h.connected(nil, errors.New("the server uses a WebSocket extension that it was not offered"))
		return
	}
	h.Socket, h.connects, h.protocol = resp.Socket, true, resp.Header.Get("sec-websocket-protocol")
	h.open()
	if _, thrown := h.p.events.Deliver(h.obj, h.p.events.New("open")); thrown != nil { // as if there had been no answer
		h.threw = true
		h.dispatchError(h.crossed(thrown))
		h.dispatchClose(1006, "Failed to establish websocket connection", false)
		sock := h.Socket
		h.owner.Emit(func() { sock.Drop(1006, "", nil) })
		h.settle()
	}
}
