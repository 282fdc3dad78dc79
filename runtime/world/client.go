package world

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// Response is what a client has seen of an answer. It belongs to the world's
// goroutine.
type Response struct {
	Status int
	Header event.Header
	Body   []byte
	Err    error
	done   bool
}

// Done reports whether nothing more will come.
func (r *Response) Done() bool { return r.done }

// Request makes a request as clients of this machine do.
func Request(method, url, body string) *event.Request {
	req := &event.Request{Method: method, URL: url, Header: event.Header{{Name: "Host", Value: "localhost"}}}
	if body != "" {
		req.Body = event.Bytes([]byte(body))
	}
	return req
}

// Send starts a request and returns where its response will be. What arrives is
// an effect in steps of the client's own, as it is where the gateway writes to a
// connection: head, chunks, end.
func (w *World) Send(req *event.Request) *Response {
	r := &Response{}
	isMark := func(f event.Field) bool { return strings.EqualFold(f.Name, killpoint.QuestionMark) }
	if slices.ContainsFunc(req.Header, isMark) { // as the gateway does
		req.Header, req.Cause = slices.DeleteFunc(slices.Clone(req.Header), isMark), killpoint.Question
	}
	x := &exchange{w: w, r: r, name: req.Method + " " + req.URL, cause: cmp.Or(req.Cause, "fetch"), loop: w.clientLoop()}
	w.link(x)
	req.Body = w.touching(req.Body)
	w.fetch(req, func(resp *event.Response, _ *clientEnd, err error) { x.post(func() { x.head(resp, err) }) })
	return r
}

// fetch hands a request to the server. A dead one loses it: whoever asks learns of
// the death otherwise.
func (w *World) fetch(req *event.Request, done func(*event.Response, *clientEnd, error)) {
	if w.dead {
		done(nil, nil, netx.ErrLost)
		return
	}
	w.door.Fetch(req, done)
}

// link is a client's side of a connection.
type link interface {
	// cut tells the client, in a step of its own, that the server is gone.
	cut()
	over() bool
}

// link keeps a connection, and forgets those that are over.
func (w *World) link(l link) {
	kept := w.links[:0]
	for _, x := range w.links {
		if !x.over() {
			kept = append(kept, x)
		}
	}
	w.links = append(kept, l)
}

// clientLoop is where one client's events happen, in their order.
func (w *World) clientLoop() sched.Loop {
	w.clients++
	return w.sched.NewLoop(fmt.Sprintf("client %d", w.clients))
}

// exchange is a request in progress.
type exchange struct {
	w      *World
	r      *Response
	name   string
	object string
	cause  string
	loop   sched.Loop
}

func (x *exchange) post(fn func()) {
	_ = x.loop.Post(fn) // fails only once the exchange is over, or the world is
}

func (x *exchange) over() bool { return x.r.done }

func (x *exchange) cut() {
	x.post(func() {
		if !x.r.done {
			x.r.Err = netx.ErrLost
			x.end()
		}
	})
}

// effect is one on this client.
func (x *exchange) effect(kind killpoint.Kind, fn func()) {
	x.w.touch()
	defer x.w.touch()
	_ = x.w.points.Effect(kind, x.object, x.cause, func() error { x.w.touch(); fn(); return nil }) // fn cannot fail
}

func (x *exchange) head(resp *event.Response, err error) {
	if x.w.dead {
		return
	}
	if err != nil {
		// The gateway's page for an error that no handler caught.
		x.effect(killpoint.Response, func() { x.r.Status, x.r.Err = 500, err })
		x.end()
		return
	}
	x.object = resp.Object
	x.effect(killpoint.Response, func() { x.r.Status, x.r.Header = resp.Status, resp.Header })
	if resp.Body == nil {
		x.effect(killpoint.Close, func() {})
		x.end()
		return
	}
	x.pull(resp.Body)
}

func (x *exchange) pull(body event.Body) {
	body.Read(func(chunk []byte, err error) {
		x.post(func() {
			switch {
			case x.w.dead:
			case err == io.EOF:
				x.effect(killpoint.Close, func() {})
				x.end()
			case err != nil:
				x.r.Err = err
				x.end()
			default:
				x.effect(killpoint.Chunk, func() { x.r.Body = append(x.r.Body, chunk...) })
				x.pull(body)
			}
		})
	})
}

func (x *exchange) end() {
	x.r.done = true
	x.w.Note("client %s: %d %s %v", x.name, x.r.Status, x.r.Body, x.r.Err)
	x.loop.Close()
}

// Receiver gets what arrives at a client's WebSocket, in order.
type Receiver struct {
	Message func(binary bool, data []byte)
	// Close is called once; nothing follows it.
	Close func(code int, reason string, clean bool)
}

// Socket is the client's end of a WebSocket. It belongs to the world's
// goroutine.
type Socket struct {
	w        *World
	loop     sched.Loop
	socket   *clientEnd
	receiver Receiver
	done     func(*Socket, *Response) // until the handshake is over
	closed   bool
	held     bool     // a frame arrives later
	behind   []func() // what comes behind it
}

// Dial opens a WebSocket. done is called once, with the socket, or with the
// answer that was no socket.
func (w *World) Dial(url string, header event.Header, receiver Receiver, done func(*Socket, *Response)) {
	s := &Socket{w: w, loop: w.clientLoop(), receiver: receiver, done: done}
	w.link(s)
	req := &event.Request{Method: "GET", URL: url, Upgrade: true, Header: append(event.Header{
		{Name: "Host", Value: "localhost"}, {Name: "Upgrade", Value: "websocket"}, {Name: "Connection", Value: "Upgrade"}}, header...)}
	w.fetch(req, func(resp *event.Response, socket *clientEnd, err error) {
		if err != nil || socket == nil {
			r := &Response{}
			x := &exchange{w: w, r: r, name: "GET " + url, cause: "fetch", loop: s.loop}
			w.link(x)
			s.closed = true
			x.post(func() {
				x.head(resp, err)
				w.whenDone(r, func() { done(nil, r) })
			})
			return
		}
		s.socket = socket
		_ = s.loop.Post(func() {
			if w.dead {
				return
			}
			_ = s.effect(killpoint.Response, "fetch", func() {}) // faults of responses are those of requests that open no socket
			w.Note("client GET %s: %d", url, resp.Status)
			s.done = nil
			done(s, &Response{Status: resp.Status, Header: resp.Header, done: true})
			s.socket.Bind(s)
		})
	})
}

func (s *Socket) over() bool { return s.closed }

func (s *Socket) cut() {
	_ = s.loop.Post(func() { // fails only once the socket is over
		if s.done != nil && !s.closed {
			s.closed = true
			s.done(nil, &Response{Err: netx.ErrLost, done: true})
			return
		}
		s.end(netx.CloseLost, netx.LostCloseReason, false)
	})
}

// whenDone calls fn once r is complete.
func (w *World) whenDone(r *Response, fn func()) {
	w.Spawn("client", func(c *Routine) {
		if c.Await(r.Done) {
			fn()
		}
	})
}

// effect has something come to the client, unless a fault takes its place.
func (s *Socket) effect(kind killpoint.Kind, cause string, fn func()) error {
	s.w.touch()
	defer s.w.touch()
	return s.w.points.Effect(kind, s.socket.object, cause, func() error { s.w.touch(); fn(); return nil })
}

// later posts what comes to the client, behind what was held up.
func (s *Socket) later(fn func()) {
	_ = s.loop.Post(func() { // fails only once the socket is over
		if s.held {
			s.behind = append(s.behind, fn)
			return
		}
		fn()
	})
}

// OnMessage implements event.Receiver.
func (s *Socket) OnMessage(m event.Message) {
	s.later(func() {
		if s.w.dead {
			return
		}
		s.w.touch()
		defer s.w.touch()
		arrive := func() error {
			s.w.touch()
			if m.Binary {
				s.w.Note("client message bytes:%x", m.Data)
			} else {
				s.w.Note("client message %s", m.Data)
			}
			return nil
		}
		held, err := s.w.points.Carry(killpoint.Message{
			Kind: killpoint.Frame, Object: s.socket.object, Cause: cmp.Or(m.Cause, "message"),
			Post: func(fn func()) { _ = s.loop.Post(fn) }, // fails only once the socket is over
			Send: func() {
				if s.w.dead {
					return
				}
				_ = arrive()
				_ = s.loop.Post(func() { s.release(m) })
			},
		}, arrive)
		switch {
		case held:
			s.held = true
		case err != nil: // the connection is lost with it
			s.w.Note("client lost its socket: %v", err)
			s.socket.Drop(netx.CloseLost, netx.LostCloseReason, err)
			s.end(netx.CloseLost, netx.LostCloseReason, false)
		default:
			s.tell(m)
		}
	})
}

// tell gives the client a frame.
func (s *Socket) tell(m event.Message) {
	if s.receiver.Message != nil && !s.closed {
		s.receiver.Message(m.Binary, m.Data)
	}
}

// release has a frame come that was held up, and what came behind it.
func (s *Socket) release(m event.Message) {
	s.held = false
	s.tell(m)
	behind := s.behind
	s.behind = nil
	for i, fn := range behind {
		if s.held { // another one is
			s.behind = append(s.behind, behind[i:]...)
			return
		}
		fn()
	}
}

// OnClose implements event.Receiver. A Close frame is answered, as browsers do.
func (s *Socket) OnClose(code int, reason string, clean bool) {
	s.later(func() {
		if s.w.dead {
			return
		}
		_ = s.effect(killpoint.Close, "message", func() { s.w.Note("client close %d %s %v", code, reason, clean) }) // no fault takes its place
		if clean && !s.socket.Sent() {
			_ = s.socket.Close(code, reason) // fails only if it is closed already
		}
		s.end(code, reason, clean)
	})
}

func (s *Socket) end(code int, reason string, clean bool) {
	if !s.closed {
		s.closed = true
		if s.receiver.Close != nil {
			s.receiver.Close(code, reason, clean)
		}
	}
}

// OnError implements event.Receiver.
func (s *Socket) OnError(err error) {
	if !errors.Is(err, event.ErrPeerLost) { // of which a connection tells nothing
		s.w.Note("client error %v", err)
	}
}

// Send sends a message.
func (s *Socket) Send(binary bool, data []byte) error {
	if s.w.dead {
		return netx.ErrLost
	}
	return s.socket.Send(event.Message{Binary: binary, Data: data, Cause: s.w.points.Asked(data)})
}

// Close sends a Close frame; code 0 sends an empty one.
func (s *Socket) Close(code int, reason string) error {
	if s.w.dead {
		return netx.ErrLost
	}
	return s.socket.Close(code, reason)
}

// Drop loses the connection without a Close frame, for the reason err if it is not nil:
// an *event.ProtocolError is that the client broke the protocol.
func (s *Socket) Drop(err error) {
	if !s.closed && !s.w.dead {
		s.closed = true
		s.socket.Drop(1006, "", err)
	}
}
