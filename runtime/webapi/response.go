package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webapi/websocket"
	"minido.dev/minido/runtime/webidl"
)

// response is the Go side of a Response object (Fetch, section 5.5; workerd's
// api/http.c++). Loop-confined.
type response struct {
	body
	status     int
	statusText string
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
func (p *Platform) ResponseFromEvent(ev *event.Response) *goja.Object {
	r := &response{
		status: ev.Status, statusText: ev.StatusText, url: ev.URL, redirected: ev.Redirected,
		headers: headers{list: ev.Header, shared: true, immutable: true}, encodeBody: ev.EncodeBody,
		cf: cfProperty{raw: ev.CF}, object: ev.Object,
	}
	r.h = &r.headers
	if ev.Body != nil && !isNullBodyStatus(ev.Status) {
		r.kind, r.native, r.owner = bodyNative, ev.Body, p.Engine.Current()
	}
	if ev.Socket != nil {
		r.socket = p.WebSockets.Wrap(ev.Socket, websocket.Options{})
	}
	return p.fetch.responseClass().Wrap(r)
}

// ResponseToEvent makes the event of what a fetch handler returned. A body
// that came from outside passes through; a stream of JavaScript is pumped by
// the current context, chunk by chunk through its output gate, and the context
// is held until the stream ends; gone, if not nil, is called in a turn when the
// receiver gives such a stream up. The error is a JavaScript exception's value (engine.FromGo gives it back): workerd's
// TypeError if v is no Response.
func (p *Platform) ResponseToEvent(v goja.Value, gone func()) (*event.Response, error) {
	r, ok := p.Engine.Attached(v).(*response)
	if !ok {
		return nil, &event.Error{Name: "TypeError", Message: "Incorrect type for Promise: the Promise did not resolve to 'Response'."}
	}
	var out *event.Response
	if ex := p.VM.Try(func() { out = p.responseEvent(r, gone) }); ex != nil {
		return nil, ex
	}
	return out, nil
}

func (p *Platform) responseEvent(r *response, gone func()) *event.Response {
	if r.status == 0 {
		p.Engine.Throw("TypeError", "Response.error() cannot be returned: it has no status.")
	}
	ev := &event.Response{
		Status: r.status, StatusText: r.statusText, Header: r.headers.share(),
		URL: r.url, Redirected: r.redirected, CF: r.cf.json(p), EncodeBody: r.encodeBody, Object: r.object,
	}
	if r.socket != nil {
		ev.Socket = p.WebSockets.Couple(r.socket)
	}
	ev.Body = p.takeBody(&r.body, gone)
	return ev
}

func (p *Platform) defineResponse() *engine.Class[*response] {
	vm := p.VM
	get := func(name string, fn func(r *response) goja.Value) engine.Accessor[*response] {
		return engine.Accessor[*response]{Name: name, Get: func(r *response, _ *goja.Object) goja.Value { return fn(r) }}
	}
	accessors, methods := bodyMembers[*response](p)
	return engine.DefineClass(p.Engine, engine.ClassDef[*response]{
		Name: "Response",
		New: func(call goja.ConstructorCall) *response {
			return p.newResponse(call.Argument(0), call.Argument(1))
		},
		Statics: []engine.Func{
			{Name: "error", Fn: func(goja.FunctionCall) goja.Value {
				r := &response{headers: headers{immutable: true}}
				r.h = &r.headers
				return p.fetch.responseClass().Wrap(r)
			}},
			{Name: "redirect", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
				return p.redirectResponse(call.Argument(0), call.Argument(1))
			}},
			{Name: "json", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "Response", "json", "JsValue")
				return p.jsonResponse(call.Arguments[0], call.Argument(1))
			}},
		},
		Methods: append(methods, engine.Method[*response]{Name: "clone", Fn: func(r *response, _ goja.FunctionCall) goja.Value {
			return p.cloneResponse(r)
		}}),
		Accessors: append(accessors, []engine.Accessor[*response]{
			get("status", func(r *response) goja.Value { return vm.ToValue(r.status) }),
			get("statusText", func(r *response) goja.Value { return vm.ToValue(r.statusText) }),
			get("headers", func(r *response) goja.Value { return p.headersObject(&r.headers) }),
			get("ok", func(r *response) goja.Value { return vm.ToValue(r.status >= 200 && r.status < 300) }),
			get("redirected", func(r *response) goja.Value { return vm.ToValue(r.redirected) }),
			get("url", func(r *response) goja.Value { return vm.ToValue(r.url) }),
			get("webSocket", func(r *response) goja.Value {
				if r.socket == nil {
					return goja.Null()
				}
				return r.socket
			}),
			get("cf", func(r *response) goja.Value { return r.cf.get(p) }),
			get("type", func(r *response) goja.Value {
				if r.status == 0 {
					return vm.ToValue("error")
				}
				return vm.ToValue("default")
			}),
		}...),
	})
}

func (p *Platform) newResponse(bodyInit, init goja.Value) *response {
	r := &response{status: 200}
	r.h = &r.headers
	if !goja.IsUndefined(init) && !goja.IsNull(init) {
		p.initResponse(r, init)
	}
	p.finishResponse(r, bodyInit)
	return r
}

// finishResponse checks the status and gives the response its body.
func (p *Platform) finishResponse(r *response, bodyInit goja.Value) {
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
func (p *Platform) initResponse(r *response, init goja.Value) {
	obj, ok := init.(*goja.Object)
	if !ok {
		p.Engine.Throw("TypeError", "Failed to construct 'Response': constructor parameter 2 is not of type 'InitializerDict or Response'.")
	}
	if other, ok := p.Engine.Attached(obj).(*response); ok {
		r.status, r.statusText, r.encodeBody = other.status, other.statusText, other.encodeBody
		r.headers = copyOf(&other.headers)
		r.cf, r.socket = other.cf.clone(p), other.socket
		return
	}
	if v := webidl.Present(obj, "status"); v != nil {
		r.status = webidl.ToInt32(v)
	}
	if v := webidl.Present(obj, "statusText"); v != nil {
		r.statusText = v.String()
		for i := 0; i < len(r.statusText); i++ {
			if r.statusText[i] < 0x20 {
				p.Engine.Throw("TypeError", "Invalid statusText")
			}
		}
	}
	if v := webidl.Present(obj, "encodeBody"); v != nil {
		r.encodeBody = p.bodyEncoding("encodeBody", v)
	}
	if v := webidl.Present(obj, "headers"); v != nil {
		p.fillHeaders(&r.headers, v, "Incorrect type for the 'headers' field on 'InitializerDict': the provided value is not of type 'Headers or Sequence or object'.")
	}
	if v := webidl.Present(obj, "cf"); v != nil {
		r.cf = p.newCF(v, "InitializerDict")
	}
	if v := webidl.Present(obj, "webSocket"); v != nil && !goja.IsNull(v) {
		if _, ok := p.WebSockets.Of(v); !ok {
			p.Engine.Throw("TypeError", "Incorrect type for the 'webSocket' field on 'InitializerDict': the provided value is not of type 'WebSocket'.")
		}
		r.socket = v
	}
}

// bodyEncoding is "manual", or "" for "automatic".
func (p *Platform) bodyEncoding(field string, v goja.Value) string {
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

func (p *Platform) cloneResponse(r *response) goja.Value {
	if r.socket != nil {
		p.Engine.Throw("TypeError", "Cannot clone a response to a WebSocket handshake.")
	}
	c := &response{status: r.status, statusText: r.statusText, url: r.url, redirected: r.redirected,
		headers: copyOf(&r.headers), cf: r.cf.clone(p), encodeBody: r.encodeBody}
	c.headers.immutable = r.headers.immutable
	c.h = &c.headers
	p.cloneBody(&c.body, &r.body)
	return p.fetch.responseClass().Wrap(c)
}

func (p *Platform) redirectResponse(target, status goja.Value) goja.Value {
	text, code := target.String(), 302
	if !goja.IsUndefined(status) {
		code = webidl.ToInt32(status)
	}
	if !exchange.IsRedirect(code) {
		p.Engine.Throw("RangeError", "%d is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308.", code)
	}
	parsed, err := url.Parse(text, "")
	if err != nil {
		p.Engine.Throw("TypeError", "Unable to parse URL: %s", text)
	}
	p.Engine.IO("Response.redirect()") // as every body, though this one is null
	r := &response{status: code, headers: headers{
		list: event.Header{{Name: "Location", Value: parsed.Href(false)}}, immutable: true}}
	r.h = &r.headers
	return p.fetch.responseClass().Wrap(r)
}

func (p *Platform) jsonResponse(data, init goja.Value) goja.Value {
	text := p.Engine.Call(p.Engine.Primordial("JSONStringify"), goja.Undefined(), data)
	if goja.IsUndefined(text) {
		text = p.VM.ToValue("undefined") // as workerd sends what JSON has no text for
	}
	r := &response{status: 200}
	r.h = &r.headers
	if !goja.IsUndefined(init) && !goja.IsNull(init) {
		p.initResponse(r, init)
	}
	if !r.headers.list.Has("content-type") {
		r.headers.set("content-type", "application/json")
	}
	p.finishResponse(r, text)
	return p.fetch.responseClass().Wrap(r)
}

func isNullBodyStatus(status int) bool {
	return status == 101 || status == 204 || status == 205 || status == 304
}
