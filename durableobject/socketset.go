package durableobject

import (
	"errors"
	"slices"
	"sync"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/event"
)

// Limits of hibernatable sockets, as in production.
const (
	MaxSockets          = 32768
	MaxTags             = 10
	MaxTagLength        = 256
	MaxAutoResponseSize = 2048
)

// SocketSet holds the hibernatable sockets of one object. It outlives the
// object's incarnations: this is what hibernation means. Safe for concurrent use.
type SocketSet struct {
	mu      sync.Mutex // guards everything below, and the fields of its sockets
	sockets []*HibernatableSocket
	request *string // the auto-response pair, nil for none
	reply   string
	clock   clock.Clock
	wake    func(ev SocketEvent)
}

// SocketEvent is something that happened on a hibernatable socket: a message,
// an error, or (neither) a close.
type SocketEvent struct {
	Socket  *HibernatableSocket
	Message *event.Message
	Err     error
	Code    int
	Reason  string
	Clean   bool
}

// HibernatableSocket is one accepted socket.
type HibernatableSocket struct {
	set  *SocketSet
	sock *event.Socket
	tags []string

	// guarded by set.mu
	attachment []byte
	autoAtMs   int64 // when the auto-response last answered, 0 for never
	violated   bool  // the peer broke the protocol
}

// NewSocketSet returns an empty set. Connect tells it who wakes the object.
func NewSocketSet() *SocketSet { return &SocketSet{} }

// Connect sets the receiver of events. It must be called before the first
// socket is accepted. c times auto-responses.
func (s *SocketSet) Connect(c clock.Clock, wake func(ev SocketEvent)) {
	s.mu.Lock()
	s.clock, s.wake = c, wake
	s.mu.Unlock()
}

// sibling returns an empty set on the same clock, whose events go to wake.
func (s *SocketSet) sibling(wake func(ev SocketEvent)) *SocketSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &SocketSet{clock: s.clock, wake: wake}
}

// Len is the number of open sockets.
func (s *SocketSet) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

func (s *SocketSet) list() []*HibernatableSocket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sockets)
}

func (s *SocketSet) add(sock *event.Socket, tags []string, attachment []byte) *HibernatableSocket {
	h := &HibernatableSocket{set: s, sock: sock, tags: tags, attachment: attachment}
	s.mu.Lock()
	s.sockets = append(s.sockets, h)
	s.mu.Unlock()
	return h
}

func (s *SocketSet) remove(h *HibernatableSocket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.sockets, h); i >= 0 {
		s.sockets = slices.Delete(s.sockets, i, i+1)
	}
}

// DropAll ends every socket: code 1006 without a Close frame, else a Close
// frame with the code.
func (s *SocketSet) DropAll(code int, reason string) {
	s.mu.Lock()
	all := s.sockets
	s.sockets = nil
	s.mu.Unlock()
	for _, h := range all {
		h.sock.Bind(nil)
		if code == 1006 {
			h.sock.Drop(code, reason, nil)
			continue
		}
		h.sock.Close(code, reason)
	}
}

// LoadAttachment implements websocket.Attachment.
func (h *HibernatableSocket) LoadAttachment() []byte {
	h.set.mu.Lock()
	defer h.set.mu.Unlock()
	return h.attachment
}

// StoreAttachment implements websocket.Attachment.
func (h *HibernatableSocket) StoreAttachment(b []byte) {
	h.set.mu.Lock()
	h.attachment = b
	h.set.mu.Unlock()
}

// Tags are the socket's tags.
func (h *HibernatableSocket) Tags() []string { return slices.Clone(h.tags) }

func (h *HibernatableSocket) hasTag(tag string) bool { return slices.Contains(h.tags, tag) }

// OnMessage implements event.Receiver. The auto-response answers without
// waking the object.
func (h *HibernatableSocket) OnMessage(m event.Message) {
	s := h.set
	s.mu.Lock()
	if s.request != nil && !m.Binary && string(m.Data) == *s.request {
		h.autoAtMs = s.clock.Now().UnixMilli()
		reply := s.reply
		s.mu.Unlock()
		h.sock.Send(event.Message{Data: []byte(reply), Cause: "message"}) // fails only if the socket is closed meanwhile
		return
	}
	wake := s.wake
	s.mu.Unlock()
	wake(SocketEvent{Socket: h, Message: &m})
}

const lostConnection = "WebSocket disconnected without sending Close frame."

// OnClose implements event.Receiver.
func (h *HibernatableSocket) OnClose(code int, reason string, clean bool) {
	h.set.mu.Lock()
	violated := h.violated
	h.set.mu.Unlock()
	switch {
	case violated:
		return // the object hears of no close
	case !clean:
		code = 1006
		if reason == "" {
			reason = lostConnection
		}
	case code == 0 && reason == "":
		code = 1005
	}
	h.set.mu.Lock()
	wake := h.set.wake
	h.set.mu.Unlock()
	wake(SocketEvent{Socket: h, Code: code, Reason: reason, Clean: clean})
}

// OnError implements event.Receiver.
func (h *HibernatableSocket) OnError(err error) {
	if errors.Is(err, event.ErrPeerLost) {
		return // webSocketClose tells
	}
	h.set.mu.Lock()
	h.violated = h.violated || event.IsProtocolError(err)
	wake := h.set.wake
	h.set.mu.Unlock()
	wake(SocketEvent{Socket: h, Err: err})
}
