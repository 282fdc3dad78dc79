package fetch

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webapi/websocket"
	"minido.dev/minido/runtime/webidl"
)

// Response is the Go side of a Response object (Fetch, section 5.5; workerd's
// api/http.c++). Loop-confined.
type Response struct {
	body
	status     int
	statusText string
	phrased    bool // statusText was given, if only as ""
	headers    headers
	cf         cfProperty
	url        string
	redirected bool
	encodeBody string     // "manual" or ""
	socket     goja.Value // the WebSocket of a 101 response, nil if none
	object     string     // event.Response.Object
}

// ResponseFromEvent makes the Response object of an event: an outbound fetch's
// or a stub's. Its body is not read before JavaScript asks for it.
func (p *Fetch) ResponseFromEvent(ev *event.Response) *goja.Object {
	r := &Response{
		status: ev.Status, statusText: ev.StatusText, phrased: true, url: ev.URL, redirected: ev.Redirected,
		headers: headers{list: ev.Header, shared: true, immutable: true}, encodeBody: ev.EncodeBody,
		cf: cfProperty{raw: ev.CF}, object: ev.Object,
	}
	r.h = &r.headers
	if ev.Body != nil && !isNullBodyStatus(ev.Status) {
		r.kind, r.native, r.owner = bodyNative, ev.Body, p.Engine.Current()
	}
	if ev.Socket != nil {
		r.socket = p.sockets.Wrap(ev.Socket, websocket.Options{})
	}
	return p.responseClass().Wrap(r)
}

// ResponseToEvent makes the event of what a fetch handler returned. A body
// that came from outside passes through; a stream of JavaScript is pumped by
// the current context, chunk by chunk through its output gate, and the context
// is held until the stream ends; gone, if not nil, is called in a turn when the
// receiver gives such a stream up. What breaks such a stream is logged. The error is a JavaScript exception's value (engine.Errors.FromGo gives it back): workerd's
// TypeError if v is no Response.
func (p *Fetch) ResponseToEvent(v goja.Value, gone func()) (*event.Response, error) {
	r, ok := p.Engine.Attached(v).(*Response)
	if !ok {
		return nil, &event.Error{Name: "TypeError", Message: "Incorrect type for Promise: the Promise did not resolve to 'Response'."}
	}
	var out *event.Response
	if ex := p.VM.Try(func() { out = p.responseEvent(r, gone) }); ex != nil {
		return nil, ex
	}
	return out, nil
}

func (p *Fetch) responseEvent(r *Response, gone func()) *event.Response {
	if r.status == 0 {
		p.Engine.Throw("TypeError", "Return value from serve handler must not be an error response (like Response.error())")
	}
	ev := &event.Response{
		Status: r.status, StatusText: r.StatusText(), Header: r.headers.share(),
		URL: r.url, Redirected: r.redirected, CF: r.cf.json(p), EncodeBody: r.encodeBody, Object: r.object,
	}
	if coding, _ := r.headers.get("content-encoding"); coding == "br" && !p.Enabled(compat.BrotliContentEncoding) {
		ev.EncodeBody = "manual" // the runtime does not know it
	}
	if r.socket != nil {
		ev.Socket = p.sockets.Couple(r.socket)
	}
	ev.Body = p.takeBody(&r.body, streams.Way{Gone: gone, Failed: p.Engine.Uncaught.Tell})
	return ev
}

func (p *Fetch) defineResponse() *engine.Class[*Response] {
	vm := p.VM
	get := func(name string, fn func(r *Response) goja.Value) engine.Accessor[*Response] {
		return engine.Accessor[*Response]{Name: name, Get: func(r *Response, _ *goja.Object) goja.Value { return fn(r) }}
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*Response]{
		Name: "Response", Extends: p.body().Ctor,
		New: func(call goja.ConstructorCall) *Response {
			return p.newResponse(call.Argument(0), call.Argument(1))
		},
		Statics: []engine.Func{
			{Name: "error", Fn: func(goja.FunctionCall) goja.Value {
				r := &Response{}
				r.h = &r.headers
				return p.responseClass().Wrap(r)
			}},
			{Name: "redirect", Fn: func(call goja.FunctionCall) goja.Value {
				return p.redirectResponse(call.Argument(0), call.Argument(1))
			}},
			{Name: "json", Fn: func(call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "Response", "json", "JsValue")
				return p.jsonResponse(call.Arguments[0], call.Argument(1))
			}},
		},
		Methods: []engine.Method[*Response]{{Name: "clone", Fn: func(r *Response, _ goja.FunctionCall) goja.Value {
			return p.cloneResponse(r)
		}}},
		Accessors: []engine.Accessor[*Response]{
			get("status", func(r *Response) goja.Value { return vm.ToValue(r.status) }),
			get("statusText", func(r *Response) goja.Value { return vm.ToValue(r.statusText) }),
			get("headers", func(r *Response) goja.Value { return p.headersObject(&r.headers) }),
			get("ok", func(r *Response) goja.Value { return vm.ToValue(r.status >= 200 && r.status < 300) }),
			get("redirected", func(r *Response) goja.Value { return vm.ToValue(r.redirected) }),
			get("url", func(r *Response) goja.Value { return vm.ToValue(r.url) }),
			get("webSocket", func(r *Response) goja.Value {
				if r.socket == nil {
					return goja.Null()
				}
				return r.socket
			}),
			get("cf", func(r *Response) goja.Value { return r.cf.get(p) }),
			get("type", func(r *Response) goja.Value {
				if r.status == 0 {
					return vm.ToValue("error")
				}
				return vm.ToValue("default")
			}),
		},
	})
}

func (p *Fetch) newResponse(bodyInit, init goja.Value) *Response {
	r := &Response{status: 200}
	r.h = &r.headers
	if !goja.IsUndefined(init) && !goja.IsNull(init) {
		p.initResponse(r, init)
	}
	p.finishResponse(r, bodyInit)
	return r
}

// finishResponse checks the status and gives the response its body.
func (p *Fetch) finishResponse(r *Response, bodyInit goja.Value) {
	if r.socket != nil {
		if r.status != 101 {
			p.Engine.Throw("RangeError", "Responses with a WebSocket must have status code 101.")
		}
	} else if r.status < 200 || r.status > 599 {
		p.Engine.Throw("RangeError", "Responses may only be constructed with status codes in the range 200 to 599, inclusive.")
	}
	if goja.IsUndefined(bodyInit) || goja.IsNull(bodyInit) {
		return
	}
	p.setBody(&r.body, bodyInit)
	if isNullBodyStatus(r.status) {
		if r.kind != bodyBuffer || len(r.buffer) > 0 {
			p.Engine.Throw("TypeError", "Response with null body status (101, 204, 205, or 304) cannot have a body.")
		}
		r.kind = bodyNull
	}
}

// initResponse reads a ResponseInit; a Response serves as one.
func (p *Fetch) initResponse(r *Response, init goja.Value) {
	obj, ok := init.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "Failed to construct 'Response': constructor parameter 2 is not of type 'InitializerDict or Response'.")
	}
	if other, ok := p.Engine.Attached(obj).(*Response); ok {
		r.status, r.statusText, r.phrased, r.encodeBody = other.status, other.statusText, other.phrased, other.encodeBody
		r.headers = copyOf(&other.headers)
		r.cf, r.socket = other.cf.clone(p), other.socket
		return
	}
	if v := webidl.Present(obj, "status"); v != nil {
		r.status = int(p.Int32(v))
	}
	if v := webidl.Present(obj, "statusText"); v != nil {
		r.statusText, r.phrased = v.String(), true
		for i := 0; i < len(r.statusText); i++ {
			if r.statusText[i] < 0x20 {
				p.Engine.Throw("TypeError", "Invalid statusText")
			}
		}
	}
	if v := webidl.Present(obj, "headers"); v != nil {
		p.fillHeaders(&r.headers, v, "Incorrect type for the 'headers' field on 'InitializerDict': the provided value is not of type 'Headers or Sequence or object'.")
	}
	if v := webidl.Present(obj, "cf"); v != nil {
		r.cf = p.newCF(v, "InitializerDict")
	}
	if v := webidl.Present(obj, "webSocket"); v != nil && !goja.IsNull(v) {
		if _, ok := p.sockets.Of(v); !ok {
			p.Engine.Throw("TypeError", "Incorrect type for the 'webSocket' field on 'InitializerDict': the provided value is not of type 'WebSocket'.")
		}
		r.socket = v
	}
	if v := webidl.Present(obj, "encodeBody"); v != nil {
		r.encodeBody = p.bodyEncoding("encodeBody", v)
	}
}

// bodyEncoding is "manual", or "" for "automatic".
func (p *Fetch) bodyEncoding(field string, v goja.Value) string {
	switch s := v.String(); s {
	case "manual":
		return s
	case "automatic":
		return ""
	default:
		p.Engine.Throw("TypeError", "%s: unexpected value: %s", field, s)
		return ""
	}
}

func (p *Fetch) cloneResponse(r *Response) goja.Value {
	if r.socket != nil {
		p.Engine.Throw("TypeError", "Cannot clone a response to a WebSocket handshake.")
	}
	c := &Response{status: r.status, statusText: r.statusText, phrased: r.phrased, url: r.url, redirected: r.redirected,
		headers: copyOf(&r.headers), cf: r.cf.clone(p), encodeBody: r.encodeBody}
	c.headers.immutable = r.headers.immutable
	c.h = &c.headers
	p.cloneBody(&c.body, &r.body)
	return p.responseClass().Wrap(c)
}

func (p *Fetch) redirectResponse(target, status goja.Value) goja.Value {
	text, code := target.String(), 302
	if !goja.IsUndefined(status) {
		code = int(p.Int32(status))
	}
	if !exchange.IsRedirect(code) {
		p.Engine.Throw("RangeError", "%d is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308.", code)
	}
	parsed, err := url.Parse(text, "")
	if err != nil {
		p.Engine.Throw("TypeError", "Unable to parse URL: %s", text)
	}
	p.Engine.IO("Response.redirect()") // as every body, though this one is null
	r := &Response{status: code, headers: headers{
		list: event.Header{{Name: "Location", Value: parsed.Href(false)}}, immutable: true}}
	r.h = &r.headers
	return p.responseClass().Wrap(r)
}

func (p *Fetch) jsonResponse(data, init goja.Value) goja.Value {
	text := p.Engine.Call(p.Engine.Primordial("JSONStringify"), goja.Undefined(), data)
	if goja.IsUndefined(text) {
		text = p.VM.ToValue("undefined") // as workerd sends what JSON has no text for
	}
	r := &Response{status: 200}
	r.h = &r.headers
	if !goja.IsUndefined(init) && !goja.IsNull(init) {
		p.initResponse(r, init)
	}
	if !r.headers.list.Has("content-type") {
		r.headers.set("content-type", "application/json")
	}
	p.finishResponse(r, text)
	return p.responseClass().Wrap(r)
}

func isNullBodyStatus(status int) bool {
	return status == 101 || status == 204 || status == 205 || status == 304
}
