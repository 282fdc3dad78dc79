package fetch

import (
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
)

// Request is the Go side of a Request object (Fetch, section 5.4; workerd's
// api/http.c++). Loop-confined.
type Request struct {
	body
	method, url string
	redirect    string // "follow" or "manual"; "" is "follow"
	cache       string
	headers     headers
	cf          cfProperty
	signal      *events.Signal // nil if none was given
	ownSignal   *events.Signal // what `signal` shows, nil until made
	incoming    bool           // it came into the context
	gone        goja.Value     // why it was aborted before ownSignal was made, nil if it was not
	fetcher     goja.Value     // nil: the global fetch
	encodeBody  string         // encodeResponseBody: "manual" or ""
}

// RequestFromEvent makes the Request object of an event that enters the
// current context. Its headers are immutable and nothing of it is converted
// before JavaScript asks for it.
func (p *Fetch) RequestFromEvent(ev *event.Request) *goja.Object {
	r := &Request{
		method: ev.Method, url: ev.URL, redirect: "manual", cf: cfProperty{raw: ev.CF, frozen: true},
		headers: headers{list: ev.Header, shared: true, immutable: true}, incoming: true,
	}
	r.h = &r.headers
	if ev.Body != nil {
		r.kind, r.native, r.owner = bodyNative, ev.Body, p.Engine.Current()
	}
	return p.requestClass().Wrap(r)
}

// ClientGone aborts the signal of an incoming request, made by
// RequestFromEvent: whoever sent it has stopped waiting (compatibility flag
// enable_request_signal). Call it in a turn of the request's context.
func (p *Fetch) ClientGone(incoming *goja.Object) {
	r, ok := p.Engine.Attached(incoming).(*Request)
	if !ok || r.gone != nil || !p.Enabled(compat.EnableRequestSignal) {
		return
	}
	r.gone = p.NewDOMException("AbortError", "The client has disconnected")
	if r.ownSignal != nil {
		p.events.Abort(r.ownSignal, r.gone)
	}
}

// requestSignal is the signal that a request shows. It is made when it is first
// asked for.
func (p *Fetch) requestSignal(r *Request) *events.Signal {
	switch {
	case r.ownSignal != nil:
	case r.signal != nil:
		r.ownSignal = r.signal
	default:
		r.ownSignal = p.events.NewSignal()
		if r.gone != nil {
			p.events.Abort(r.ownSignal, r.gone)
		}
		if c := p.Engine.Current(); c != nil && r.incoming && p.Enabled(compat.EnableRequestSignal) {
			c.Expect()
		}
	}
	return r.ownSignal
}

// followed is the signal of a copy, nil if it can never abort.
func (p *Fetch) followed(r *Request) *events.Signal {
	if r.signal == nil && r.incoming && p.Enabled(compat.EnableRequestSignal) {
		return p.requestSignal(r)
	}
	return r.signal
}

// sentSignal is what aborts the exchange that a request is sent with, nil for
// nothing.
func (p *Fetch) sentSignal(r *Request) *events.Signal {
	if r.incoming && !p.Enabled(compat.RequestSignalPassthrough) {
		return nil
	}
	return p.followed(r)
}

func (p *Fetch) requestEvent(r *Request) *event.Request {
	ev := &event.Request{Method: r.method, URL: p.sentURL(r.url), Header: r.headers.share(), CF: r.cf.json(p),
		Raw: r.encodeBody == "manual", NoBrotli: !p.Enabled(compat.BrotliContentEncoding), Cause: killpoint.Inherited(p.Engine.Cause())}
	upgrade, _ := r.headers.get("upgrade")
	ev.Upgrade = strings.EqualFold(upgrade, "websocket")
	if r.cache != "" {
		h := copyOf(&r.headers)
		for _, name := range []string{"Cache-Control", "Pragma"} {
			if v, _ := h.get(name); v == "" {
				h.set(name, "no-cache")
			}
		}
		ev.Header = h.list
	}
	if p.bodyUsed(&r.body) {
		p.Engine.Throw("TypeError", "%s", textBodyUsed)
	}
	ev.Body = p.takeBody(&r.body, streams.Way{})
	if ev.Upgrade { // workerd asks for a WebSocket whatever the method is, and without a body
		ev.Method = "GET"
		if ev.Body != nil {
			ev.Body.Cancel(event.ErrCanceled)
			ev.Body = nil
		}
	}
	return ev
}

// sentURL is a request's URL as whoever it is sent to sees it. It throws a TypeError for
// one that nothing can be sent to.
func (p *Fetch) sentURL(text string) string {
	if p.Enabled(compat.FetchStandardUrl) {
		text, _, _ = strings.Cut(text, "#")
		return withoutCredentials(text)
	}
	sent, ok := legacyURL(text)
	if !ok {
		p.Engine.Throw("TypeError", "Fetch API cannot load: %s", text)
	}
	return sent
}

// CacheURL throws a TypeError if a request's URL cannot be the key of a cached response,
// which is read by workerd's older rules at every date.
func (p *Fetch) CacheURL(r *Request) {
	if _, ok := legacyURL(r.url); ok {
		return
	}
	if _, isURL := legacyScheme(r.url); !isURL {
		p.Engine.Throw("TypeError", "Invalid URL. Cache API keys must be fully-qualified, valid URLs.")
	}
	p.Engine.Throw("TypeError", "Fetch API cannot load: %s", r.url)
}

// coerceRequest is the request that fetch(input, init) is about.
func (p *Fetch) coerceRequest(input, init goja.Value) *Request {
	if r, ok := p.Engine.Attached(input).(*Request); ok && (init == nil || goja.IsUndefined(init)) {
		return r
	}
	return p.newRequest(input, init)
}

func (p *Fetch) defineRequest() *engine.Class[*Request] {
	vm := p.VM
	get := func(name string, fn func(r *Request) goja.Value) engine.Accessor[*Request] {
		return engine.Accessor[*Request]{Name: name, Get: func(r *Request, _ *goja.Object) goja.Value { return fn(r) }}
	}
	orNull := func(v goja.Value) goja.Value {
		if v == nil {
			return goja.Null()
		}
		return v
	}
	var accessors []engine.Accessor[*Request]
	if p.Enabled(compat.CacheOptionEnabled) {
		accessors = append(accessors, get("cache", func(r *Request) goja.Value {
			if r.cache == "" {
				return goja.Undefined()
			}
			return vm.ToValue(r.cache)
		}))
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[*Request]{
		Name: "Request", Extends: p.body().Ctor,
		New: func(call goja.ConstructorCall) *Request {
			if len(call.Arguments) == 0 {
				p.Engine.Throw("TypeError", "Failed to construct 'Request': constructor parameter 1 is not of type 'Request or string'.")
			}
			return p.newRequest(call.Argument(0), call.Argument(1))
		},
		Methods: []engine.Method[*Request]{{Name: "clone", Fn: func(r *Request, _ goja.FunctionCall) goja.Value {
			return p.cloneRequest(r)
		}}},
		Accessors: append(accessors, []engine.Accessor[*Request]{
			get("method", func(r *Request) goja.Value { return vm.ToValue(r.method) }),
			get("url", func(r *Request) goja.Value { return vm.ToValue(r.url) }),
			get("headers", func(r *Request) goja.Value { return p.headersObject(&r.headers) }),
			get("redirect", func(r *Request) goja.Value {
				if r.redirect == "" {
					return vm.ToValue("follow")
				}
				return vm.ToValue(r.redirect)
			}),
			get("fetcher", func(r *Request) goja.Value { return orNull(r.fetcher) }),
			get("signal", func(r *Request) goja.Value {
				return p.requestSignal(r).Object()
			}),
			get("cf", func(r *Request) goja.Value { return r.cf.get(p) }),
			get("integrity", func(*Request) goja.Value { return vm.ToValue("") }),
			get("keepalive", func(*Request) goja.Value { return vm.ToValue(false) }),
		}...),
	})
}

func (p *Fetch) newRequest(input, init goja.Value) *Request {
	r := &Request{method: "GET"}
	r.h = &r.headers
	var dict *goja.Object
	if init != nil && !goja.IsUndefined(init) && !goja.IsNull(init) {
		obj, ok := init.(*goja.Object)
		if !ok {
			p.Engine.Throw("TypeError", "Failed to construct 'Request': constructor parameter 2 is not of type 'RequestInitializerDict or Request'.")
		}
		dict = obj
	}
	if other, ok := p.Engine.Attached(input).(*Request); ok {
		p.copyRequest(r, other, dict)
	} else {
		r.url = input.String()
		if p.Enabled(compat.FetchStandardUrl) {
			parsed, err := url.Parse(r.url, "")
			if err != nil {
				p.Engine.Throw("TypeError", "Invalid URL: %s", r.url)
			}
			r.url = parsed.Href(false)
		}
	}
	if dict == nil {
		return r
	}
	if other, ok := p.Engine.Attached(dict).(*Request); ok {
		p.initFromRequest(r, other)
		return r
	}
	p.initRequest(r, dict)
	return r
}

// copyRequest takes over a Request given as input. A body in init replaces
// the input's, which then is left alone (whatwg/fetch issue 674).
func (p *Fetch) copyRequest(r, other *Request, init *goja.Object) {
	r.url, r.method, r.redirect, r.cache = other.url, other.method, other.redirect, other.cache
	r.signal, r.fetcher, r.encodeBody = p.followed(other), other.fetcher, other.encodeBody
	r.headers, r.cf = copyOf(&other.headers), other.cf.clone(p)
	if init != nil {
		if _, ok := p.Engine.Attached(init).(*Request); ok {
			return
		}
		if v := webidl.Present(init, "body"); v != nil {
			return
		}
	}
	if p.bodyUsed(&other.body) {
		p.Engine.Throw("TypeError", "Cannot reconstruct a Request with a used body.")
	}
	p.moveBody(&r.body, &other.body)
}

// moveBody leaves src used and locked.
func (p *Fetch) moveBody(dst, src *body) {
	switch {
	case src.kind == bodyNull:
	case src.stream == nil:
		dst.kind, dst.buffer, dst.native, dst.owner = src.kind, src.buffer, src.native, src.owner
		src.used, src.native = true, nil
	default:
		if p.streams.Locked(src.stream) {
			p.Engine.Throw("TypeError", streams.TextLocked)
		}
		dst.kind, dst.buffer = src.kind, src.buffer
		dst.stream = p.streams.Detach(src.stream)
	}
}

// initFromRequest treats a Request in the place of RequestInit as a dictionary
// that shares its body.
func (p *Fetch) initFromRequest(r, other *Request) {
	r.method, r.redirect, r.cache, r.encodeBody = other.method, other.redirect, other.cache, other.encodeBody
	r.signal, r.fetcher = p.followed(other), other.fetcher
	r.headers, r.cf = copyOf(&other.headers), other.cf.clone(p)
	if other.kind == bodyNull {
		r.body = body{h: &r.headers}
		return
	}
	stream := p.bodyStreamValue(&other.body).(*goja.Object)
	if p.streams.Disturbed(stream) {
		p.Engine.Throw("TypeError", streams.TextDisturbed)
	}
	r.body = body{kind: bodyStream, stream: stream, h: &r.headers}
}

// initRequest reads a RequestInit.
func (p *Fetch) initRequest(r *Request, init *goja.Object) {
	const dict = "RequestInitializerDict"
	methodGiven := webidl.Present(init, "method")
	if methodGiven != nil {
		r.method = p.methodName(methodGiven.String())
	}
	if v := webidl.Present(init, "headers"); v != nil {
		r.headers = headers{}
		p.fillHeaders(&r.headers, v, "Incorrect type for the 'headers' field on '"+dict+"': the provided value is not of type 'Headers or Sequence or object'.")
	}
	bodyGiven := webidl.Present(init, "body")
	if bodyGiven != nil && !goja.IsNull(bodyGiven) {
		r.body = body{h: &r.headers}
		p.setBody(&r.body, bodyGiven)
	}
	if v := webidl.Present(init, "redirect"); v != nil {
		r.redirect = strings.ToLower(v.String())
		if r.redirect != "follow" && r.redirect != "manual" {
			p.Engine.Throw("TypeError", `Invalid redirect value, must be one of "follow" or "manual" ("error" won't be implemented since it does not make sense at the edge; use "manual" and check the response status code).`)
		}
	}
	if v := webidl.Present(init, "fetcher"); v != nil && !goja.IsNull(v) {
		r.fetcher = v
	}
	if v := webidl.Present(init, "cf"); v != nil {
		r.cf = p.newCF(v, dict)
	}
	if v := webidl.Present(init, "cache"); v != nil {
		if !p.Enabled(compat.CacheOptionEnabled) {
			p.Engine.Throw("Error", "The 'cache' field on 'RequestInitializerDict' is not implemented.") // reference's text
		}
		r.cache = v.String()
		known := r.cache == "no-store" || r.cache == "no-cache" && p.Enabled(compat.CacheNoCacheEnabled) || r.cache == "reload" && p.Enabled(compat.CacheReloadEnabled)
		if !known {
			p.Engine.Throw("TypeError", "Unsupported cache mode: %s", r.cache)
		}
	}
	if v := webidl.Present(init, "integrity"); v != nil && v.String() != "" {
		p.Engine.Throw("TypeError", "Subrequest integrity checking is not implemented. The integrity option must be either undefined or an empty string.") // reference's text
	}
	if v := webidl.Present(init, "signal"); v != nil {
		if r.signal = nil; !goja.IsNull(v) {
			var ok bool
			if r.signal, ok = p.Engine.Attached(v).(*events.Signal); !ok {
				p.Engine.Throw("TypeError", "Incorrect type for the 'signal' field on '"+dict+"': the provided value is not of type 'AbortSignal'.")
			}
		}
	}
	if v := webidl.Present(init, "encodeResponseBody"); v != nil {
		r.encodeBody = p.bodyEncoding("encodeResponseBody", v)
	}
	if (methodGiven != nil || bodyGiven != nil) && (r.method == "GET" || r.method == "HEAD") && r.kind != bodyNull {
		p.Engine.Throw("TypeError", "Request with a GET or HEAD method cannot have a body.")
	}
}

// methods are those of kj::HttpMethod that a Request may have.
const methods = " GET HEAD POST PUT DELETE PATCH PURGE OPTIONS TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH UNLOCK ACL REPORT MKACTIVITY CHECKOUT MERGE MSEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE QUERY BAN "

// methodName checks a method and gives it in upper case.
func (p *Fetch) methodName(name string) string {
	upper := strings.ToUpper(name)
	if !p.Enabled(compat.UpperCaseAllHttpMethods) && !strings.Contains(" DELETE GET HEAD OPTIONS POST PUT ", " "+upper+" ") {
		upper = name
	}
	if name == "" || strings.Contains(name, " ") || !strings.Contains(methods, " "+upper+" ") {
		p.Engine.Throw("TypeError", "Invalid HTTP method string: %s", name)
	}
	return upper
}

func (p *Fetch) cloneRequest(r *Request) goja.Value {
	c := &Request{method: r.method, url: r.url, redirect: r.redirect, cache: r.cache, headers: copyOf(&r.headers),
		cf: r.cf.clone(p), signal: p.followed(r), fetcher: r.fetcher, encodeBody: r.encodeBody}
	c.headers.immutable = r.headers.immutable
	c.h = &c.headers
	p.cloneBody(&c.body, &r.body)
	return p.requestClass().Wrap(c)
}
