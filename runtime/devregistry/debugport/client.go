package debugport

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
)

// lost is what calls fail with whose connection ends. A peer that was killed is told of
// in the same words whether the connection is at its end or reset.
func lost(cause error) error {
	if errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) || netx.HasErrno(cause, syscall.ECONNRESET) || netx.HasErrno(cause, syscall.EPIPE) {
		return netx.ErrLost
	}
	lost := *netx.ErrLost
	lost.Message = "the connection to another dev session has ended: " + cause.Error()
	return &lost
}

// Client is a connection to a debug port. Safe for concurrent use.
type Client struct {
	conn  *capnp.Conn
	port  *capnp.Ref
	sched sched.Scheduler // for what blocks
}

// NewClient speaks over rwc, which is the Client's from then on; ended, if not nil, is
// called once when the connection has ended.
func NewClient(rwc io.ReadWriteCloser, s sched.Scheduler, ended func(cause error)) *Client {
	c := capnp.New(rwc, capnp.Options{Scheduler: s, Lost: lost, Ended: ended})
	return &Client{c, c.Bootstrap(), s}
}

// Close ends the connection; what is called fails.
func (c *Client) Close() { c.conn.Close() }

// Err is why the connection has ended, nil if it has not.
func (c *Client) Err() error { return c.conn.Err() }

// Entrypoint is one of a service; "" is the default one. props is a structured clone,
// nil for none.
func (c *Client) Entrypoint(service, entrypoint string, props []byte) cfapi.Target {
	return target{c, func() capnp.Pending {
		return c.port.Call(getEntrypoint, func(p capnp.Payload) {
			o := p.Content(0, 3)
			o.PutText(0, service)
			if entrypoint != "" {
				o.PutText(1, entrypoint)
			}
			if props != nil {
				f := o.Struct(2, 2, 4)
				f.PutUint16(0, propsSerialized)
				f.PutData(0, props)
			}
		}, ignore)
	}}
}

// The ways in which props travel (frankenvalue.capnp).
const (
	propsEmpty      = 0
	propsJSON       = 1
	propsSerialized = 2
)

// Object is a Durable Object of a service's class by its id in hexadecimal; name is ""
// if it is not known.
func (c *Client) Object(service, class, id, name string) cfapi.Target {
	return target{c, func() capnp.Pending {
		return c.port.Call(getActor, func(p capnp.Payload) {
			o := p.Content(0, 4)
			o.PutText(0, service)
			o.PutText(1, class)
			o.PutText(2, id)
			if name != "" {
				o.PutText(3, name)
			}
		}, ignore)
	}}
}

// ignore is for calls whose failure the calls of their results report.
func ignore(capnp.Struct, *capnp.Results, error) {}

// target is an entrypoint or an object: it is asked for anew for each event.
type target struct {
	c   *Client
	get func() capnp.Pending
}

var _ cfapi.Target = target{}

// Dup implements event.Capability.
func (t target) Dup() event.Capability { return t }

// Release implements event.Capability.
func (t target) Release() {}

// dispatcher begins an event; cf is the JSON of request.cf.
func (t target) dispatcher(cf []byte) *capnp.Ref {
	return chain(t.get(), func(bootstrap *capnp.Ref) capnp.Pending {
		return bootstrap.Call(startEvent, func(p capnp.Payload) {
			o := p.Content(1, 1)
			if cf != nil {
				o.PutText(0, string(cf))
			}
		}, ignore)
	})
}

// chain makes a call of the first field of a call's results, and returns the first
// field of its own.
func chain(p capnp.Pending, next func(*capnp.Ref) capnp.Pending) *capnp.Ref {
	of := p.Field(0)
	p.Release()
	q := next(of)
	of.Release()
	r := q.Field(0)
	q.Release()
	return r
}

// Unconnectable is why a request for a connect() handler does not reach another session; nil for
// any other request.
func Unconnectable(req *event.Request) error {
	if req.Method != "CONNECT" {
		return nil
	}
	return &event.Error{Name: "Error", Message: "connect() does not reach the workers of other dev sessions: use fetch() or RPC, or run both workers in one session (-c a -c b).", Remote: true}
}

// Fetch implements cfapi.Target.
func (t target) Fetch(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	if err := Unconnectable(req); err != nil {
		done(nil, err)
		return func(error) {}
	}
	method := slices.Index(methods, req.Method)
	if method < 0 {
		done(nil, &event.Error{Name: "TypeError", Message: "the method " + req.Method + " does not reach a worker of wrangler dev"})
		return func(error) {}
	}
	dispatcher := t.dispatcher(req.CF)
	service := dispatcher.Call(getHTTPService, func(p capnp.Payload) { p.Content(0, 0) }, ignore)
	dispatcher.Release()
	x := &exchange{head: req.Method == "HEAD", done: done, decode: func(b event.Body, coding string) event.Body {
		if req.Raw || req.NoBrotli && coding == "br" {
			return b
		}
		if decoded, ok := netx.DecodedBody(b, coding, t.c.sched.Go); ok {
			return decoded
		}
		return b
	}}
	http := service.Field(0)
	service.Release()
	streams := false
	p := http.Call(request, func(p capnp.Payload) {
		o := p.Content(0, 2)
		r := o.Struct(0, 2, 2)
		r.PutUint16(0, uint16(method))
		r.PutText(0, req.URL)
		header := framed(req.Header)
		if req.Upgrade && !header.Has("Upgrade") {
			header = append(header, event.Field{Name: "Upgrade", Value: "websocket"})
		}
		putHeader(r, 1, header)
		streams = putSize(r, req.Body)
		o.PutServer(1, x)
	}, func(_ capnp.Struct, _ *capnp.Results, err error) { x.finished(err) })
	http.Release()
	if streams {
		pour(req.Body, p.Field(0))
	}
	x.mu.Lock()
	x.pending, x.ready = p, true
	canceled := x.canceled
	x.mu.Unlock()
	if canceled != nil {
		p.Cancel(canceled)
	}
	p.Release()
	return x.cancel
}

// exchange is a request on its way; it is the peer's ClientRequestContext.
type exchange struct {
	head   bool
	decode func(b event.Body, coding string) event.Body

	mu       sync.Mutex // guards the fields below
	done     func(*event.Response, error)
	body     *sink
	ended    bool // the body's bytes have all come
	whole    bool // the peer says that they are all
	socket   *event.Socket
	pending  capnp.Pending
	ready    bool
	canceled error
}

var _ capnp.Server = (*exchange)(nil)

// answer calls done if it has not been called.
func (x *exchange) answer(resp *event.Response, err error) {
	x.mu.Lock()
	done := x.done
	x.done = nil
	x.mu.Unlock()
	if done != nil {
		done(resp, err)
	}
}

// finished is called when the peer is done with the request, or has failed.
func (x *exchange) finished(err error) {
	x.mu.Lock()
	body, socket := x.body, x.socket
	x.whole = err == nil
	over := x.whole && x.ended
	x.mu.Unlock()
	if over {
		body.pipe.Close(nil)
	}
	if err == nil {
		x.answer(nil, errors.New("the worker of another dev session has not answered"))
		return
	}
	err = fromException(err)
	if body != nil {
		body.pipe.Close(err)
	}
	if socket != nil {
		told := err
		var ev *event.Error
		if errors.As(err, &ev) && ev.Message == netx.ErrLost.Message {
			told = nil // as for workerd, a lost connection is no "error" event
		}
		socket.Drop(1006, netx.LostCloseReason, told)
	}
	x.answer(nil, err)
}

// end is called when the peer has sent all of the body that there is. workerd says so of
// a body that broke, too; how the request ends tells which it is.
func (x *exchange) end() {
	x.mu.Lock()
	x.ended = true
	over, body := x.whole, x.body
	x.mu.Unlock()
	if over {
		body.pipe.Close(nil)
	}
}

func (x *exchange) cancel(reason error) {
	if reason == nil {
		reason = netx.ErrAborted
	}
	x.mu.Lock()
	ready, pending, socket := x.ready, x.pending, x.socket
	x.canceled = reason
	x.mu.Unlock()
	if ready && socket == nil {
		pending.Cancel(reason)
	}
}

// Call implements capnp.Server.
func (x *exchange) Call(c *capnp.Call) {
	switch c.Method {
	case startResponse:
		r := c.Params.Struct(0)
		header, err := readHeader(r.List(1))
		if err != nil {
			c.Fail(err)
			return
		}
		resp := &event.Response{Status: int(r.Uint16(0)), StatusText: r.Text(0), Header: header}
		if resp.StatusText == "" {
			resp.StatusText = event.Reason(resp.Status)
		}
		length := size(r)
		if length == 0 {
			if !x.head && !nullBody(resp.Status) {
				resp.Body = event.Bytes(nil)
			}
			c.Return(func(p capnp.Payload) { p.Content(0, 1) })
			x.answer(resp, nil)
			return
		}
		s := newSink(length, netx.ErrLost)
		s.end = x.end
		s.pipe.OnCancel(x.cancel)
		resp.Body = x.decode(s.pipe, header.Get("Content-Encoding"))
		x.mu.Lock()
		x.body = s
		x.mu.Unlock()
		c.Return(func(p capnp.Payload) { p.Content(0, 1).PutServer(0, s) })
		x.answer(resp, nil)
	case startWebSocket:
		header, err := readHeader(c.Params.List(0))
		up := c.Ref(c.Params, 1)
		if err == nil && up == nil {
			err = errors.New("a WebSocket has no other end")
		}
		if err != nil {
			c.Fail(err)
			return
		}
		ours, theirs := event.NewSocketPair()
		x.mu.Lock()
		x.socket = ours
		x.mu.Unlock()
		ours.Bind(&socketClient{to: up, gone: func(error) { ours.Drop(1006, netx.LostCloseReason, nil) }})
		c.Return(func(p capnp.Payload) { p.Content(0, 1).PutServer(0, &socketServer{ours}) })
		x.answer(&event.Response{Status: 101, StatusText: event.Reason(101), Header: header, Socket: theirs}, nil)
	default:
		c.Fail(noMethod(c))
	}
}

// Close implements capnp.Server.
func (x *exchange) Close() {}

// Call implements event.Capability. A session has one call; it lasts as long as
// something that the call has returned is held.
func (t target) Call(c *event.Call, done func(*event.Payload, error)) {
	dispatcher := t.dispatcher(nil)
	p := dispatcher.Call(jsRPCSession, func(p capnp.Payload) { p.Content(0, 0) }, ignore)
	dispatcher.Release()
	top, session := p.Field(0), newSession(p.Field(1))
	p.Release()
	(&stub{ref: top, session: session}).Call(c, func(p *event.Payload, err error) {
		session.release()
		top.Release()
		done(p, err)
	})
}

// upgrades reports whether a request asks for a WebSocket.
func upgrades(h event.Header) bool { return strings.EqualFold(h.Get("Upgrade"), "websocket") }
