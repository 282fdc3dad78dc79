package debugport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
)

// Local is the workers of this session. Safe for concurrent use.
type Local interface {
	// Entrypoint is one of a service; "" is the default one. props may be nil.
	Entrypoint(service, entrypoint string, props *event.Payload) (cfapi.Target, error)
	// Object is a Durable Object of a service's class; name is "" if it is not known.
	Object(service, class, id, name string) (cfapi.Target, error)
}

type port struct{ local Local }

// Call implements capnp.Server.
func (s *port) Call(c *capnp.Call) {
	var t cfapi.Target
	var err error
	switch c.Method {
	case getEntrypoint:
		var props *event.Payload
		if props, err = readProps(c.Params.Struct(2)); err == nil {
			t, err = s.local.Entrypoint(c.Params.Text(0), c.Params.Text(1), props)
		}
	case getActor:
		t, err = s.local.Object(c.Params.Text(0), c.Params.Text(1), c.Params.Text(2), c.Params.Text(3))
	default:
		err = noMethod(c)
	}
	if err != nil {
		c.Fail(err)
		return
	}
	returnObject(c, &bootstrap{t})
}

// Close implements capnp.Server.
func (s *port) Close() {}

func returnObject(c *capnp.Call, s capnp.Server) {
	c.Return(func(p capnp.Payload) { p.Content(0, 1).PutServer(0, s) })
}

// readProps is the value of a Frankenvalue, nil for an empty object.
func readProps(s capnp.Struct) (*event.Payload, error) {
	switch kind := s.Uint16(0); {
	case s.List(1).Len() > 0 || s.Uint32(4) > 0:
		return nil, errors.New("props that are put together, or have bindings in them, do not reach minido")
	case kind == propsEmpty:
		return nil, nil
	case kind == propsSerialized:
		return &event.Payload{Bytes: bytes.Clone(s.Data(0))}, nil
	case kind == propsJSON:
		value, err := clone.GoFromJSON([]byte(s.Text(0)))
		if err != nil {
			return nil, err
		}
		data, err := clone.EncodeFromGo(value)
		return &event.Payload{Bytes: data}, err
	default:
		return nil, fmt.Errorf("minido does not know props of the kind %d", kind)
	}
}

// bootstrap is a WorkerdBootstrap.
type bootstrap struct{ target cfapi.Target }

// Call implements capnp.Server.
func (s *bootstrap) Call(c *capnp.Call) {
	if c.Method != startEvent {
		c.Fail(noMethod(c))
		return
	}
	d := &dispatcher{target: s.target}
	if c.Params.Has(0) {
		d.cf = []byte(c.Params.Text(0))
	}
	returnObject(c, d)
}

// Close implements capnp.Server.
func (s *bootstrap) Close() {}

// dispatcher is an EventDispatcher.
type dispatcher struct {
	target cfapi.Target
	cf     []byte
}

// Call implements capnp.Server.
func (s *dispatcher) Call(c *capnp.Call) {
	switch c.Method {
	case getHTTPService:
		returnObject(c, &service{s.target, s.cf})
	case jsRPCSession:
		c.Return(func(p capnp.Payload) {
			o := p.Content(0, 2)
			o.PutServer(0, &server{to: s.target.Dup()})
			o.PutServer(1, &openSession{})
		})
	default:
		if c.Interface == eventDispatcher { // reference's text
			c.Fail(&capnp.Exception{Reason: "jsg.Error: RPC connections don't yet support this event type."})
			return
		}
		c.Fail(noMethod(c))
	}
}

// Close implements capnp.Server.
func (s *dispatcher) Close() {}

// openSession is a JsRpcSession. It is over when the peer has given up all that it got
// in it, which the peer knows by itself.
type openSession struct{ _ byte } // of a size: each is an object of its own

var _ capnp.Promise = (*openSession)(nil)

// Promise implements capnp.Promise.
func (s *openSession) Promise() {}

// Call implements capnp.Server.
func (s *openSession) Call(c *capnp.Call) { c.Fail(noMethod(c)) }

// Close implements capnp.Server.
func (s *openSession) Close() {}

// service is an HttpService.
type service struct {
	target cfapi.Target
	cf     []byte
}

// Close implements capnp.Server.
func (s *service) Close() {}

// Call implements capnp.Server.
func (s *service) Call(c *capnp.Call) {
	if c.Method != request {
		c.Fail(noMethod(c))
		return
	}
	r := c.Params.Struct(0)
	header, err := readHeader(r.List(1))
	back := c.Ref(c.Params, 1)
	switch {
	case err != nil:
	case back == nil:
		err = errors.New("a request says nobody who gets the response")
	case int(r.Uint16(0)) >= len(methods):
		err = fmt.Errorf("minido does not know the HTTP method %d", r.Uint16(0))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	req := &event.Request{Method: methods[r.Uint16(0)], URL: r.Text(0), Header: header, CF: s.cf, Upgrade: upgrades(header)}
	switch length := size(r); {
	case length != 0:
		body := newSink(length, netx.ErrLost)
		req.Body = body.pipe
		c.Early(0, body)
	case header.Has("Content-Length"):
		req.Body = event.Bytes(nil)
	}
	a := &answering{call: c, back: back, head: req.Method == "HEAD"}
	cancel := s.target.Fetch(req, a.answer)
	c.OnCancel(func() {
		cancel(netx.ErrAborted)
		a.cancel()
	})
}

// answering is a request of the peer's that is being answered.
type answering struct {
	call *capnp.Call
	back *capnp.Ref // the peer's ClientRequestContext
	head bool

	mu       sync.Mutex // guards the fields below
	body     event.Body
	socket   *event.Socket
	canceled bool
}

func (a *answering) answer(resp *event.Response, err error) {
	defer a.back.Release()
	if err != nil {
		a.call.Fail(toException(err))
		return
	}
	a.mu.Lock()
	a.body, a.socket = resp.Body, resp.Socket
	canceled := a.canceled
	a.mu.Unlock()
	if canceled {
		a.cancel()
		return
	}
	if resp.Socket != nil {
		a.connect(resp)
		return
	}
	if a.head || nullBody(resp.Status) {
		if resp.Body != nil {
			resp.Body.Cancel(netx.ErrAborted)
		}
		resp.Body = nil
	}
	if coding := resp.Header.Get("Content-Encoding"); resp.Body != nil && resp.EncodeBody != "manual" && (coding == "gzip" || coding == "br") {
		resp.Body = netx.EncodedBody(resp.Body, coding)
	}
	streams := false
	p := a.back.Call(startResponse, func(p capnp.Payload) {
		o := p.Content(0, 1).Struct(0, 2, 2)
		o.PutUint16(0, uint16(resp.Status))
		if resp.StatusText != "" {
			o.PutText(0, resp.StatusText)
		}
		putHeader(o, 1, framed(resp.Header))
		streams = putSize(o, resp.Body)
	}, a.told)
	if streams {
		pourThen(resp.Body, p.Field(0), func(whole bool) {
			if !whole {
				a.call.Fail(toException(netx.ErrLost))
				return
			}
			a.finish()
		})
	}
	p.Release()
	if !streams {
		a.finish()
	}
}

// told is called when the peer has the head of the response, or fails to take it.
func (a *answering) told(_ capnp.Struct, _ *capnp.Results, err error) {
	if err != nil {
		a.call.Fail(err)
		a.cancel()
	}
}

func (a *answering) finish() {
	a.call.Return(func(p capnp.Payload) { p.Content(0, 1) })
}

// connect answers with a WebSocket.
func (a *answering) connect(resp *event.Response) {
	end := resp.Socket
	header := framed(resp.Header)
	p := a.back.Call(startWebSocket, func(p capnp.Payload) {
		o := p.Content(0, 2)
		putHeader(o, 0, header)
		o.PutServer(1, &socketServer{end})
	}, a.told)
	end.Bind(&socketClient{to: p.Field(0), gone: func(error) { end.Drop(1006, netx.LostCloseReason, nil) }})
	p.Release()
	a.finish()
}

// cancel ends what is being sent.
func (a *answering) cancel() {
	a.mu.Lock()
	a.canceled = true
	body, socket := a.body, a.socket
	a.mu.Unlock()
	if body != nil {
		body.Cancel(netx.ErrAborted)
	}
	if socket != nil {
		socket.Drop(1006, netx.LostCloseReason, nil)
	}
}

// server is a JsRpcTarget.
type server struct {
	pusher
	to   event.Capability
	once sync.Once
}

// Close implements capnp.Server.
func (s *server) Close() { s.once.Do(s.to.Release) }

// Call implements capnp.Server.
func (s *server) Call(c *capnp.Call) {
	if c.Method != callTarget {
		s.pusher.Call(c)
		return
	}
	in := &event.Call{Get: c.Params.Uint16(2) == 1}
	if c.Params.Uint16(0) == 0 {
		in.Path = []string{c.Params.Text(0)}
	} else {
		for list, i := c.Params.List(0), 0; i < list.Len(); i++ {
			in.Path = append(in.Path, list.Text(i))
		}
	}
	if !in.Get && c.Params.Has(1) {
		var err error
		if in.Args, err = internalize(c.Params.Struct(1), c.Ref, nil); err != nil {
			c.Fail(toException(err))
			return
		}
	}
	var back *capnp.Ref
	if c.Params.Uint16(4) == 1 {
		back = c.Ref(c.Params, 2)
	}
	s.to.Call(in, func(p *event.Payload, err error) {
		if back != nil {
			defer back.Release()
		}
		var m *message
		if err == nil {
			m, err = externalize(p, back, false)
		}
		if in.Args != nil { // what the callee wants to keep of them it has copied
			for _, held := range in.Args.Caps {
				if stub, ok := held.(event.Capability); ok {
					stub.Release()
				}
			}
		}
		if err != nil {
			c.Fail(toException(err))
			return
		}
		c.Return(func(p capnp.Payload) {
			o := p.Content(1, 3)
			m.put(o.Struct(0, 0, 2))
			m.pipeline(o)
		})
		m.flow()
	})
}

// pipeline sets what calls of the result go to that do not wait for it.
func (m *message) pipeline(o capnp.Object) {
	if m.alone != nil {
		o.PutServer(1, m.alone)
		return
	}
	o.PutServer(1, &noPipeline{})
}

// noPipeline answers the calls of what a call has returned that is no stub.
type noPipeline struct{ _ byte } // of a size: each is an object of its own

// Call implements capnp.Server.
func (s *noPipeline) Call(c *capnp.Call) {
	c.Fail(toException(uncrossable("A call of a member of a result that has not been awaited")))
}

// Close implements capnp.Server.
func (s *noPipeline) Close() {}

// Serve answers a connection to this session's debug port, which is the Conn's from
// then on; ended is called once when the connection has ended, and not before Serve has
// returned if that is called with a lock which ended takes.
func Serve(rwc io.ReadWriteCloser, s sched.Scheduler, l Local, ended func(cause error)) *capnp.Conn {
	return capnp.New(rwc, capnp.Options{Scheduler: s, Bootstrap: &port{l}, Lost: lost, Ended: ended})
}
