// Package fetch is the Fetch standard as workerd has it: Headers, Request,
// Response, their bodies, and fetch itself.
package fetch

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/blob"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/form"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webapi/websocket"
	"minido.dev/minido/runtime/webidl"
)

// Parts are the parts of the platform that fetch is made with.
type Parts struct {
	Events  *events.Events
	Streams *streams.Streams
	Blobs   *blob.Blobs
	Forms   *form.Forms
	Sockets *websocket.Sockets
}

// Fetch is what an isolate has of fetch. Classes are made at their first use.
// Loop-confined.
type Fetch struct {
	*webidl.Realm
	bodies
	events  *events.Events
	sockets *websocket.Sockets
	through exchange.Exchange // nil: nowhere to go

	headersClass  func() *engine.Class[*headers]
	body          func() *engine.Class[bodyHolder]
	requestClass  func() *engine.Class[*Request]
	responseClass func() *engine.Class[*Response]
}

// New defines the globals of fetch in a realm; through is its network, nil for
// none.
func New(r *webidl.Realm, parts Parts, through exchange.Exchange) *Fetch {
	p := &Fetch{Realm: r, bodies: bodies{r, parts.Streams, parts.Blobs, parts.Forms, r.VM.NewObject().Get("toString")},
		events: parts.Events, sockets: parts.Sockets, through: through}
	e := r.Engine
	p.headersClass = webidl.Lazily(e, p.defineHeaders)
	p.body = webidl.Lazily(e, p.defineBody)
	p.requestClass = webidl.Lazily(e, p.defineRequest)
	p.responseClass = webidl.Lazily(e, p.defineResponse)
	e.Lazies.Interface("Headers", func() goja.Value { return p.headersClass().Ctor })
	e.Lazies.Interface("Body", func() goja.Value { return p.body().Ctor })
	e.Lazies.Interface("Request", func() goja.Value { return p.requestClass().Ctor })
	e.Lazies.Interface("Response", func() goja.Value { return p.responseClass().Ctor })
	e.Interface("fetch", p.GlobalFunc("fetch", func(call goja.FunctionCall) goja.Value {
		input, init := call.Argument(0), call.Argument(1)
		if len(call.Arguments) == 0 {
			return p.Promise(func() goja.Value {
				p.BadArgument("", "fetch", 1, "Request or string")
				return nil
			})
		}
		return p.Do(input, init)
	}))
	p.installCodecs()
	return p
}

// Do is fetch(input, init) through the network. It gives a promise and never
// throws. Requests leave through the context's output gate.
func (p *Fetch) Do(input, init goja.Value) goja.Value {
	return p.DoBy(input, init, exchange.Route{
		Through: p.through, Network: true, Emit: func(release func(), _ func(error)) { p.Engine.Current().Emit(release) },
		Failure: func(err error) goja.Value { return exchange.NetworkError(p.Engine, err) }, Cause: "fetch",
	})
}

// DoBy is fetch(input, init) by any route: that of a stub differs from the
// network's in nothing else, redirects included (workerd: api/http.c++,
// fetchImpl).
func (p *Fetch) DoBy(input, init goja.Value, route exchange.Route) goja.Value {
	return p.Promise(func() goja.Value {
		r := p.coerceRequest(input, init)
		stop := p.abortableBy(r)
		scheme, _, absolute := strings.Cut(r.url, ":")
		if route.Network && !p.Enabled(compat.FetchStandardUrl) {
			if _, err := url.Parse(r.url, ""); err != nil {
				p.Engine.Throw("TypeError", "Invalid URL string.") // that of a stub says what is below
			}
		}
		if !absolute {
			p.Engine.Throw("TypeError", "Fetch API cannot load: %s", r.url)
		}
		switch strings.ToLower(scheme) {
		case "http", "https":
			p.sentURL(r.url)
		case "data":
			p.Engine.IO("fetch")
			resp, err := dataResponse(r.url)
			if err != nil {
				p.Engine.Throw("TypeError", "Fetch API cannot load: %s", r.url)
			}
			if r.method == "HEAD" { // section 4.1: the body of its response is null
				resp.Body = nil
			}
			return p.ResponseFromEvent(resp)
		default:
			p.Engine.Throw("TypeError", "Fetch API cannot load: %s", r.url)
		}
		if route.Through == nil {
			p.Engine.Throw("Error", "fetch() has nowhere to go: this isolate was started without access to a network.")
		}
		return p.exchange(r, stop, route)
	})
}

// abortableExchange is an exchange that the signal of its request may end.
// Loop-confined.
type abortableExchange struct {
	p        *Fetch
	signal   *events.Signal // nil: nothing ends it
	unlisten func()
}

// abortableBy throws if the request was aborted already.
func (p *Fetch) abortableBy(r *Request) *abortableExchange {
	a := &abortableExchange{p: p, signal: p.sentSignal(r), unlisten: func() {}}
	if a.signal != nil && a.signal.Aborted() {
		panic(a.signal.Reason())
	}
	return a
}

// watch makes the abort reject op's promise and call cancel, in this order: what
// is cancelled may answer with an error of its own at once.
func (a *abortableExchange) watch(op *engine.Op, cancel func(error)) {
	if a.signal == nil {
		return
	}
	a.unlisten = a.signal.OnAbort(func(reason goja.Value) {
		op.Reject("abort", func() goja.Value { return a.p.Tunneled(reason) })
		cancel(a.p.streams.Thrown(reason))
	})
}

// fail ends the watch: there is no response.
func (a *abortableExchange) fail() { a.unlisten() }

// response ends the watch and makes the Response object, whose body or socket the signal
// can still break off.
func (a *abortableExchange) response(resp *event.Response) goja.Value {
	a.unlisten()
	if a.signal != nil && resp.Body != nil {
		resp.Body = a.p.abortableBody(resp.Body, a.signal)
	}
	made := a.p.ResponseFromEvent(resp)
	if a.signal != nil && resp.Socket != nil {
		r, _ := a.p.Engine.Attached(made).(*Response)
		h, _ := a.p.sockets.Of(r.socket)
		a.signal.OnAbort(h.Abort)
	}
	return made
}

// exchange sends a request and gives the promise of its response.
func (p *Fetch) exchange(r *Request, stop *abortableExchange, route exchange.Route) goja.Value {
	e := p.Engine
	e.IO("fetch")
	if err := e.Subrequest(); err != nil {
		e.Rethrow(err)
	}
	hops := &exchange.Attempt{Engine: e, Route: route, Frame: e.Frame(), Replay: r.kind != bodyNative && r.kind != bodyStream,
		KeepAuthorization: !p.Enabled(compat.StripAuthorizationOnCrossOriginRedirect)}
	if r.kind == bodyBuffer {
		hops.Buffer = r.buffer
	}
	req := p.requestEvent(r)
	if !route.Network {
		frame(req)
	}
	if r.redirect == "manual" {
		hops.Manual = true
	}
	op := e.StartOp("fetch " + req.URL).OnCancel(hops.Cancel)
	promise := op.Promise()
	noBody := req.Method == "HEAD"
	stop.watch(op, func(reason error) {
		if req.Body != nil {
			req.Body.Cancel(reason)
		}
		hops.Cancel(reason)
	})
	finish := func(resp *event.Response, err error) {
		if err != nil {
			op.Reject(route.Cause, func() goja.Value { stop.fail(); return route.Failure(err) })
			return
		}
		op.Resolve(route.Cause, func() goja.Value {
			if noBody {
				resp.Body = nil
			}
			return stop.response(resp)
		})
	}
	hops.Start(req, finish)
	return promise
}

// frame says in a request's header how long its body is, as HTTP would on the way
// there (workerd: src/workerd/api/http.c++, fetchImplNoOutputLock).
func frame(req *event.Request) {
	if req.Body == nil || req.Header.Has("content-length") || req.Header.Has("transfer-encoding") {
		return
	}
	framing := event.Field{Name: "Transfer-Encoding", Value: "chunked"}
	if n := req.Body.Length(); n >= 0 {
		framing = event.Field{Name: "Content-Length", Value: strconv.FormatInt(n, 10)}
	}
	req.Header = append(slices.Clip(req.Header), framing)
}

// abortableBody breaks a body off when its fetch's signal is aborted.
func (p *Fetch) abortableBody(source event.Body, signal *events.Signal) event.Body {
	b := &abortable{Body: source}
	signal.OnAbort(func(reason goja.Value) { b.abort(p.streams.Thrown(reason)) })
	return b
}

// abortable is a body that abort can break. Safe for concurrent use.
type abortable struct {
	event.Body
	mu      sync.Mutex
	aborted error // guarded by mu
}

func (b *abortable) reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.aborted
}

func (b *abortable) abort(reason error) {
	b.mu.Lock()
	b.aborted = reason
	b.mu.Unlock()
	b.Body.Cancel(reason)
}

// Read implements event.Body.
func (b *abortable) Read(cb func([]byte, error)) {
	if err := b.reason(); err != nil {
		cb(nil, err)
		return
	}
	b.Body.Read(func(chunk []byte, err error) {
		if reason := b.reason(); reason != nil {
			chunk, err = nil, reason
		}
		cb(chunk, err)
	})
}
