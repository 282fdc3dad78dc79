package event

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Message is one WebSocket message.
type Message struct {
	Binary bool
	Data   []byte
	// Cause names the event whose turn sent the message, for kill points; "" if
	// it is not known.
	Cause string
}

// Receiver gets what arrives at one end of a socket, in order, one call at
// a time. Calls come from the goroutine that sent; a receiver posts and returns.
type Receiver interface {
	// OnMessage gets a message; the data belongs to the receiver.
	OnMessage(m Message)
	// OnClose is the other side's Close frame, or, with clean == false, the
	// loss of the connection. Nothing follows it.
	OnClose(code int, reason string, clean bool)
	// OnError precedes an unclean OnClose where the cause is known. After a
	// *ProtocolError a worker hears of no close.
	OnError(err error)
}

// ProtocolError says how the peer broke the WebSocket protocol, and with which close
// code the connection fails for it (the texts: capnproto, c++/src/kj/compat/http.c++ and
// workerd, src/workerd/api/web-socket.c++).
type ProtocolError struct {
	Code        int
	Description string
}

// Error implements error.
func (e *ProtocolError) Error() string {
	return fmt.Sprintf("WebSocket protocol error; protocolError.statusCode = %d; protocolError.description = %s", e.Code, e.Description)
}

// IsProtocolError reports whether err is a *ProtocolError.
func IsProtocolError(err error) bool {
	var p *ProtocolError
	return errors.As(err, &p)
}

// ErrPeerLost is what an end of a connection within the process hears of another one that is gone:
// a write fails with it, and the end of a Socket hears it before the loss of its connection if
// messages to the other end were under way.
var ErrPeerLost error = &Error{Name: "Error", Message: "Network connection lost.", Retryable: true}

// ErrSocketClosed is returned by Send and Close on an end that has sent its
// Close or has lost its peer.
var ErrSocketClosed = errors.New("socket closed")

// MaxMessageBytes is the largest WebSocket message, as in production.
const MaxMessageBytes = 32 << 20

// Socket is one end of a WebSocket as a Go value: it crosses contexts, outlives
// the object that holds it (hibernation), and is coupled by the gateway to a
// network connection. What is sent before the other end has a receiver waits
// there. Safe for concurrent use.
type Socket struct {
	// Object labels the durable object that answered with this socket
	// ("Class/name"), "" if none did; set before the socket is handed on.
	Object string

	peer *Socket
	tap  atomic.Pointer[Tap]

	mu       sync.Mutex // guards everything below
	receiver Receiver
	inbox    []delivery
	busy     bool // someone is delivering the inbox
	sent     bool // this end has sent its Close
	received bool // the peer's Close is in the inbox or delivered
	lost     bool
	silent   bool // see Connect
}

type delivery struct {
	message Message
	close   bool
	code    int
	reason  string
	clean   bool
	err     error
}

// NewSocketPair returns the two ends of a new socket.
func NewSocketPair() (a, b *Socket) {
	a, b = &Socket{}, &Socket{}
	a.peer, b.peer = b, a
	return a, b
}

// Peer is the other end.
func (s *Socket) Peer() *Socket { return s.peer }

// Connect says that this end is a client's connection, before anything is sent: it is
// silent until it sends a message.
func (s *Socket) Connect() {
	s.mu.Lock()
	s.silent = true
	s.mu.Unlock()
}

// Silent reports whether this end is a connection on which no message has come. A worker
// that answers the Close frame of one does not hear that it is gone then.
func (s *Socket) Silent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.silent
}

// Bind sets who receives at this end; it replaces an earlier receiver, and nil
// makes what arrives wait. What already waits is delivered before Bind returns.
func (s *Socket) Bind(r Receiver) {
	s.mu.Lock()
	s.receiver = r
	s.mu.Unlock()
	s.deliver()
}

// Tap is told what an end sends and receives. Its methods are called by who sends, so
// they must be fast. Closed may come more than once.
type Tap interface {
	Frame(sent bool, m Message)
	Closed(code int, reason string)
}

// Tap sets who is told what goes over this end from now on, what waits for a receiver
// included. Call it before the end has one.
func (s *Socket) Tap(t Tap) {
	s.mu.Lock()
	waiting := slices.Clone(s.inbox)
	s.tap.Store(&t)
	s.mu.Unlock()
	for _, d := range waiting {
		s.tapped(false, d)
	}
}

func (s *Socket) tapped(sent bool, d delivery) {
	t := s.tap.Load()
	switch {
	case t == nil:
	case d.close:
		(*t).Closed(d.code, d.reason)
	default:
		(*t).Frame(sent, d.message)
	}
}

// Send passes a message to the other end.
func (s *Socket) Send(m Message) error {
	s.mu.Lock()
	dead := s.sent || s.lost
	s.silent = s.silent && dead
	s.mu.Unlock()
	if dead {
		return ErrSocketClosed
	}
	s.tapped(true, delivery{message: m})
	return s.peer.push(delivery{message: m})
}

// Close sends this end's Close frame. Code 0 or 1005 with no reason stands for
// an empty Close frame.
func (s *Socket) Close(code int, reason string) error {
	s.mu.Lock()
	if s.sent || s.lost {
		s.mu.Unlock()
		return ErrSocketClosed
	}
	s.sent = true
	s.mu.Unlock()
	s.tapped(true, delivery{close: true, code: code, reason: reason})
	return s.peer.push(delivery{close: true, code: code, reason: reason, clean: true})
}

// Drop ends this end without a Close frame: the peer sees a lost connection
// (1006). err, if not nil, is reported to it first.
func (s *Socket) Drop(code int, reason string, err error) {
	s.mu.Lock()
	if s.sent && s.received || s.lost {
		s.mu.Unlock()
		return
	}
	s.lost, s.sent = true, true
	s.mu.Unlock()
	s.tapped(true, delivery{close: true, code: code, reason: reason})
	s.peer.push(delivery{close: true, code: code, reason: reason, err: err})
}

// Sent reports whether this end has sent its Close frame; Received whether the
// peer's has arrived.
func (s *Socket) Sent() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.sent }

func (s *Socket) push(d delivery) error {
	s.mu.Lock()
	if s.received || s.lost {
		s.mu.Unlock()
		return ErrSocketClosed
	}
	s.received = d.close
	s.inbox = append(s.inbox, d)
	s.mu.Unlock()
	s.tapped(false, d)
	s.deliver()
	return nil
}

// deliver empties the inbox into the receiver; only one goroutine does so at a
// time, which keeps the order.
func (s *Socket) deliver() {
	s.mu.Lock()
	if s.busy {
		s.mu.Unlock()
		return
	}
	s.busy = true
	for s.receiver != nil && len(s.inbox) > 0 {
		d, r := s.inbox[0], s.receiver
		s.inbox[0] = delivery{}
		if s.inbox = s.inbox[1:]; len(s.inbox) == 0 {
			s.inbox = nil
		}
		s.mu.Unlock()
		if !d.close {
			r.OnMessage(d.message)
		} else {
			if d.err != nil {
				r.OnError(d.err)
			}
			r.OnClose(d.code, d.reason, d.clean)
		}
		s.mu.Lock()
	}
	s.busy = false
	s.mu.Unlock()
}
