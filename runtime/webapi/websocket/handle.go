// Package websocket is WebSocket and WebSocketPair: clients, sockets of responses,
// and those that an object takes for hibernation.
package websocket

import (
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/blob"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webapi/exchange"
	"minido.dev/minido/runtime/webapi/mime"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webidl"
)

// Sockets is what an isolate has of WebSockets. Loop-confined.
type Sockets struct {
	*webidl.Realm
	events  *events.Events
	blobs   *blob.Blobs
	through exchange.Exchange // nil: clients have nowhere to go
	class   func() *engine.Class[*Handle]
}

// New defines WebSocket and WebSocketPair in a realm; through is the network of
// new WebSocket(), nil for none.
func New(r *webidl.Realm, ev *events.Events, blobs *blob.Blobs, through exchange.Exchange) *Sockets {
	p := &Sockets{Realm: r, events: ev, blobs: blobs, through: through}
	p.class = webidl.Lazily(r.Engine, p.define)
	r.Engine.Lazies.Interface("WebSocket", func() goja.Value { return p.class().Ctor })
	r.Engine.Lazies.Interface("WebSocketPair", p.definePair)
	return p
}

// MaxAttachmentBytes is the most that serializeAttachment takes.
const MaxAttachmentBytes = 16384

// Attachment is where a socket's attachment lives; by default in the handle.
// The bytes are a structured clone. Loop-confined.
type Attachment interface {
	LoadAttachment() []byte // nil: none
	StoreAttachment(b []byte)
}

// Handle is the Go side of a WebSocket object: one end of an
// event.Socket, and how far JavaScript has come with it (workerd's
// api/web-socket.c++). Loop-confined; the Socket itself is safe for concurrent use.
type Handle struct {
	events.Target
	// Socket is this end; nil while a client socket connects.
	Socket *event.Socket
	// Attachment is set by who takes the socket for hibernation.
	Attachment Attachment
	// Host is what the socket is to the package that took it.
	Host any

	p          *Sockets
	obj        *goja.Object
	state      socketState
	peer       *Handle // the other end of a WebSocketPair, nil if it is none
	owner      *engine.Context
	frame      *engine.Frame // events run in it
	op         *engine.Op    // keeps the context alive while open
	giveUp     func(error)   // ends the attempt to connect
	sentClose  bool          // close() was called, or answered for it
	gotClose   bool
	halfOpen   bool         // the peer's Close frame is not answered by itself
	answered   bool         // the peer's Close frame came before one was sent
	lost       bool         // the connection ended without one
	failed     bool         // there was an "error" event
	violated   bool         // the peer broke the protocol
	threw      bool         // a listener threw: nothing more is delivered
	threwLate  bool         // a listener of "close" did
	failing    bool         // and that is yet to be told
	closing    bool         // listeners of "close" run
	aborted    goja.Value   // why the signal of its fetch ended it; nil if it did not
	arriving   atomic.Int32 // messages that are on their way to a listener
	url        string
	protocol   string
	connects   bool // it is a client that has reached its server
	hasURL     bool
	binaryType string
	buffered   int // bytes that were sent in this turn, for bufferedAmount
	attachment []byte
}

type socketState uint8

const (
	socketConnecting socketState = iota
	socketIdle                   // to be accepted, or returned in a response
	socketAccepted
	socketHibernatable
	socketReleased
)

// LoadAttachment implements Attachment.
func (h *Handle) LoadAttachment() []byte { return h.attachment }

// StoreAttachment implements Attachment.
func (h *Handle) StoreAttachment(b []byte) { h.attachment = b }

// Object is the WebSocket object.
func (h *Handle) Object() *goja.Object { return h.obj }

// SentClose reports whether close() was called on this end.
func (h *Handle) SentClose() bool { return h.sentClose }

// MarkReceivedClose is called by who took the socket when the peer's Close
// frame, or the loss of the connection, has arrived.
func (h *Handle) MarkReceivedClose() { h.gotClose = true }

// ReadyState is WebSocket.readyState.
func (h *Handle) ReadyState() int {
	switch {
	case h.gotClose && h.sentClose, h.failed:
		return 3
	case h.gotClose, h.sentClose:
		return 2
	case h.state == socketConnecting:
		return 0
	}
	return 1
}

// Of is the handle of a WebSocket object.
func (p *Sockets) Of(v goja.Value) (*Handle, bool) {
	h, ok := p.Engine.Attached(v).(*Handle)
	return h, ok
}

// Options describe a socket that JavaScript did not make.
type Options struct {
	// Hibernatable: the socket was taken for hibernation in an earlier life.
	Hibernatable bool
	Attachment   Attachment // nil: kept in the handle
	SentClose    bool
}

// Wrap makes the WebSocket object of one end of a socket, in the current
// context: of a fetch's response, or after hibernation.
func (p *Sockets) Wrap(sock *event.Socket, o Options) *goja.Object {
	h := p.newHandle(sock)
	if o.Hibernatable {
		h.state = socketHibernatable
	}
	if o.Attachment != nil {
		h.Attachment = o.Attachment
	}
	h.sentClose = o.SentClose
	h.obj = p.class().Wrap(h)
	return h.obj
}

func (p *Sockets) newHandle(sock *event.Socket) *Handle {
	h := &Handle{p: p, Socket: sock, state: socketIdle, owner: p.Engine.Current(), frame: p.Engine.Frame(), binaryType: "arraybuffer"}
	if p.Enabled(compat.WebsocketStandardBinaryType) {
		h.binaryType = "blob"
	}
	h.Attachment = h
	return h
}

// TakeForHibernation marks the socket as accepted by the object that runs now;
// its events go to whoever binds the Socket from then on, and send and close
// keep working. It throws if the socket or its peer was accepted or returned before, and
// for one that is no end of a WebSocketPair (workerd: api/actor-state.c++, acceptWebSocket).
func (h *Handle) TakeForHibernation() *event.Socket {
	if h.state == socketAccepted || h.state == socketHibernatable {
		h.p.Engine.Throw("Error", "Cannot call `acceptWebSocket()` if the WebSocket was already accepted via `accept()`")
	}
	if h.peer == nil || h.peer.state != socketIdle {
		h.p.Engine.Throw("Error", "Cannot call `acceptWebSocket()` on this WebSocket because its pair has already been accepted or used in a Response.")
	}
	if h.state != socketIdle {
		h.p.Engine.Throw("TypeError", "Tried to make an api::WebSocket hibernatable when it was in an incompatible state.")
	}
	h.state, h.owner, h.frame = socketHibernatable, h.p.Engine.IO("acceptWebSocket"), h.p.Engine.Frame()
	return h.Socket
}

// Couple gives the socket of a 101 response away.
func (p *Sockets) Couple(v goja.Value) *event.Socket {
	h, _ := p.Of(v)
	refuse := func(text string) { p.Engine.Throw("TypeError", "%s", text) }
	switch h.state {
	case socketConnecting:
		refuse("Can't return WebSocket in a Response if it was created with `new WebSocket()`")
	case socketReleased:
		refuse("Can't return WebSocket that was already used in a response.")
	case socketHibernatable:
		refuse("Can't return WebSocket in a Response after calling acceptWebSocket().")
	case socketAccepted:
		refuse("Can't return WebSocket in a Response after calling accept().")
	}
	h.state = socketReleased
	return h.Socket
}

// accept begins to deliver events to JavaScript. The context stays alive until
// the socket is closed. halfOpen is the option allowHalfOpen, nil if it is not given.
func (h *Handle) accept(halfOpen goja.Value) {
	refuse := func(text string) { h.p.Engine.Throw("TypeError", "%s", text) }
	switch h.state {
	case socketConnecting:
		refuse("Websockets obtained from the 'new WebSocket()' constructor cannot call accept")
	case socketReleased:
		refuse("Can't accept() WebSocket that was already used in a response.")
	case socketHibernatable:
		refuse("Can't accept() WebSocket after enabling hibernation.")
	case socketAccepted:
		return
	}
	h.open()
	if halfOpen != nil {
		h.halfOpen = halfOpen.ToBoolean()
	}
	if h.aborted != nil {
		h.tellAborted()
	}
}

func (h *Handle) open() {
	e, sock := h.p.Engine, h.Socket
	h.halfOpen = !h.p.Enabled(compat.WebSocketAutoReplyToClose)
	h.owner, h.frame, h.state = e.IO("accept"), e.Frame(), socketAccepted
	h.owner.Hold()
	h.op = e.StartOp("an open WebSocket").Connection().OnCancel(func(reason error) {
		sock.Drop(1006, "", nil)
	})
	sock.Bind(socketReceiver{h})
}

// settle lets the context go once neither side will send any more. In workerd an end that
// was closed by its peer, and has answered, then finds that the peer is gone, and says so in
// an "error" event (api/web-socket.c++), but not at a connection on which nothing but the
// Close frame came, and not if a listener of the other end of a pair threw at the answer.
func (h *Handle) settle() {
	if h.op == nil || h.failing || h.closing || !h.failed && !h.lost && !(h.gotClose && h.sentClose) {
		return
	}
	h.op.Drop()
	h.op = nil
	h.Socket.Bind(nil)
	if !h.answered || h.failed || h.Socket.Peer().Silent() {
		h.owner.Release()
		return
	}
	h.behind(func() {
		if !h.local() || !h.peer.threwLate {
			h.dispatchError(h.p.Engine.Errors.FromGo(event.ErrPeerLost))
		}
		h.owner.Release()
	})
}

// local reports whether the other end is one of the same isolate.
func (h *Handle) local() bool { return h.peer != nil && h.peer.state == socketAccepted }

// behind runs f as an event of its own, behind those of the peer that come of what has
// been sent.
func (h *Handle) behind(f func()) {
	h.owner.Emit(func() { h.p.Engine.Post(h.frame, "websocket error", f) })
}

// socketReceiver posts what arrives to the loop.
type socketReceiver struct{ h *Handle }

// OnMessage implements event.Receiver.
func (r socketReceiver) OnMessage(m event.Message) {
	h := r.h
	h.arriving.Add(1)
	h.p.Engine.Post(h.frame, cmp.Or(killpoint.Inherited(m.Cause), "websocket message"), func() {
		h.arriving.Add(-1)
		if h.failed || h.lost || h.threw {
			return
		}
		var data goja.Value
		switch {
		case !m.Binary:
			data = h.p.Engine.String(webidl.ValidUTF8(m.Data))
		case h.binaryType == "blob":
			data = h.p.blobs.NewBlob(m.Data, "")
		default:
			data = h.p.NewArrayBuffer(m.Data)
		}
		h.deliver(h.p.events.NewMessage(data, goja.Null()))
	})
}

// OnClose implements event.Receiver.
func (r socketReceiver) OnClose(code int, reason string, clean bool) {
	h := r.h
	h.p.Engine.Post(h.frame, "websocket close", func() {
		if h.violated || h.threw { // no event follows that error
			h.lost, h.gotClose = true, true
			h.settle()
			return
		}
		h.gotClose = clean // a listener that hears of a loss still sees an open socket, as in workerd
		switch {
		case !clean:
			h.lost, code, reason = true, 1006, "WebSocket disconnected without sending Close frame."
		case code == 0 && reason == "":
			code = 1005
		}
		reason = webidl.ValidUTF8([]byte(reason))
		h.answered = clean && !h.sentClose
		if h.answered && !h.halfOpen {
			h.emitClose(code, reason)
		}
		h.closing = true
		h.threwLate = !h.deliver(h.p.events.NewClose(code, reason, clean))
		h.closing, h.gotClose = false, true
		h.settle()
	})
}

// deliver dispatches what has arrived. An exception of a listener is an "error" event, behind
// what the listener has sent, and the end of the connection, unless a listener of that event
// throws, too (workerd: api/web-socket.c++, startReadLoop and reportError). It reports whether
// none threw.
func (h *Handle) deliver(ev *goja.Object) bool {
	_, thrown := h.p.events.Deliver(h.obj, ev)
	if thrown == nil {
		return true
	}
	thrown = h.crossed(thrown)
	var lost error
	if h.arriving.Load() > 0 {
		lost = event.ErrPeerLost
	}
	h.threw, h.failing = true, true
	h.behind(func() {
		h.failing = false
		sock, told := h.Socket, h.dispatchError(thrown)
		if told {
			h.owner.Emit(func() { sock.Drop(1006, "", lost) })
		}
		h.answered = false
		h.settle()
		if !told {
			sock.Bind(deaf{}) // its connection stays
		}
	})
	return false
}

// deaf receives at an end that nobody listens to any more: what comes must not wait there.
type deaf struct{}

// OnMessage implements event.Receiver.
func (deaf) OnMessage(event.Message) {}

// OnClose implements event.Receiver.
func (deaf) OnClose(int, string, bool) {}

// OnError implements event.Receiver.
func (deaf) OnError(error) {}

// Abort ends the connection for a signal's reason, as the fetch is aborted whose response the
// socket came with: that of abort() without a reason is a lost connection, another one an
// "error" event.
func (h *Handle) Abort(reason goja.Value) {
	if h.state == socketReleased || h.failed || h.lost || h.threw || h.gotClose && h.sentClose {
		return
	}
	sock := h.Socket
	h.owner.Emit(func() { sock.Drop(1006, "", nil) })
	h.aborted = h.crossed(reason)
	if h.state == socketAccepted {
		h.tellAborted()
	}
}

// tellAborted tells the listeners of it.
func (h *Handle) tellAborted() {
	if obj, ok := h.aborted.(*goja.Object); ok && h.p.IsDOMException(obj) && obj.Get("name").String() == "AbortError" {
		socketReceiver{h}.OnClose(1006, "", false)
		return
	}
	h.p.Engine.Post(h.frame, "websocket error", func() {
		h.threw = true // no event follows
		h.dispatchError(h.aborted)
		h.settle()
	})
}

// crossed is what was thrown as the "error" event has it: it went through an exception of
// workerd's, which takes a structured clone along.
func (h *Handle) crossed(v goja.Value) goja.Value {
	p := h.p
	if _, ok := v.(*goja.Object); !ok || engine.IsCallable(v) {
		return p.Tunneled(v)
	}
	o := clone.Options{Mode: clone.RPC, EnhancedErrors: p.Enabled(compat.EnhancedErrorSerialization)}
	var made goja.Value
	if p.Engine.Try(func() {
		if data, err := p.Clone.Serialize(v, o); err == nil {
			made, _ = p.Clone.Deserialize(data, o)
		}
	}) == nil && made != nil {
		return made
	}
	return p.Engine.Errors.New("Error", builtin.Show(p.Engine, v))
}

// OnError implements event.Receiver.
func (r socketReceiver) OnError(err error) {
	h := r.h
	h.p.Engine.Post(h.frame, "websocket error", func() {
		h.violated = h.violated || event.IsProtocolError(err)
		h.dispatchError(h.p.Engine.Errors.FromGo(err))
	})
}

func (h *Handle) dispatchClose(code int, reason string, clean bool) {
	h.p.events.Fire(h.obj, h.p.events.NewClose(code, reason, clean))
}

// dispatchError reports whether no listener threw. There is one such event at the most.
func (h *Handle) dispatchError(v goja.Value) bool {
	if h.failed {
		return true
	}
	h.failed = true
	_, thrown := h.p.events.Deliver(h.obj, h.p.events.NewError(h.p.events.UncaughtText(v), v))
	return thrown == nil
}

// send is WebSocket.send: an output of the current context.
func (h *Handle) send(v goja.Value) {
	p := h.p
	var m event.Message
	if data, ok := p.BytesOf(v); ok {
		m = event.Message{Binary: true, Data: append([]byte(nil), data...)}
	} else if v == nil {
		p.Engine.Throw("TypeError", "Failed to execute 'send' on 'WebSocket': parameter 1 is not of type 'ArrayBuffer or ArrayBufferView or string'.")
	} else if _, isSymbol := v.(*goja.Symbol); isSymbol {
		p.Engine.Throw("TypeError", "Cannot convert a Symbol value to a string")
	} else {
		m.Data = []byte(v.String())
	}
	if h.sentClose {
		p.Engine.Throw("TypeError", "Can't call WebSocket send() after close().")
	}
	if h.failed || h.lost || h.state == socketReleased {
		return
	}
	h.checkOpen()
	if h.aborted != nil { // nothing can be sent, of which workerd tells with the reason
		h.behind(func() {
			h.aborted.(*goja.Object).Set("retryable", true)
			h.dispatchError(h.aborted)
		})
		return
	}
	sock := h.Socket
	m.Cause = p.Engine.Cause()
	if h.buffered == 0 {
		p.Engine.Turns.After(func() { h.buffered = 0 })
	}
	h.buffered += len(m.Data)
	h.owner.Emit(func() { sock.Send(m) })
}

// checkOpen throws unless this context may send.
func (h *Handle) checkOpen() {
	if h.state != socketAccepted && h.state != socketHibernatable {
		h.p.Engine.Throw("TypeError", "You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending messages.")
	}
	h.owner.Check()
}

// close is WebSocket.close (docs/semantics.md 27: 1000, 1001 to 4999 but for the codes
// that never travel; a reason of at most 123 bytes).
func (h *Handle) close(code, reason goja.Value) {
	p := h.p
	given := func(v goja.Value) bool { return v != nil && !goja.IsUndefined(v) }
	n, text := 0, ""
	if given(code) {
		if n = int(p.Int32(code)); n < 1000 || n >= 5000 || n == 1004 || n == 1005 || n == 1006 || n == 1015 {
			panic(p.NewDOMException("InvalidAccessError", fmt.Sprintf("Invalid WebSocket close code: %d.", n)))
		}
	}
	if given(reason) {
		if text = reason.String(); !given(code) {
			panic(p.NewDOMException("InvalidAccessError", "If you specify a WebSocket close reason, you must also specify a code."))
		}
		if len(text) > 123 && h.p.Enabled(compat.WebsocketCloseReasonByteLimit) {
			panic(p.NewDOMException("SyntaxError", "WebSocket close reason must not be longer than 123 bytes when UTF-8 encoded."))
		}
	}
	if h.sentClose || h.failed || h.lost || h.state == socketReleased {
		return
	}
	if h.state == socketConnecting { // workerd says OPEN then, until it has told
		h.state = socketReleased
		h.giveUp(event.ErrPeerLost)
		return
	}
	h.checkOpen()
	if h.buffered > 0 && h.local() { // workerd sends both in one go, and looks for the peer before
		h.answered = false
	}
	h.emitClose(n, text)
	h.settle()
}

func (h *Handle) emitClose(code int, reason string) {
	if code == 1005 {
		code = 0
	}
	h.sentClose = true
	sock := h.Socket
	h.owner.Emit(func() { sock.Close(code, reason) })
}

func (h *Handle) serializeAttachment(v goja.Value) {
	data, err := h.p.Clone.Serialize(v, clone.Options{Mode: clone.Attachment})
	if err != nil {
		panic(structured.Error(h.p.Realm, err))
	}
	if len(data) > MaxAttachmentBytes {
		h.p.Engine.Throw("Error", "A WebSocket 'attachment' cannot be larger than %d bytes.'attachment' was %d bytes.", MaxAttachmentBytes, len(data))
	}
	h.Attachment.StoreAttachment(data)
}

func (h *Handle) deserializeAttachment() goja.Value {
	data := h.Attachment.LoadAttachment()
	if data == nil {
		return goja.Null()
	}
	v, err := h.p.Clone.Deserialize(data, clone.Options{Mode: clone.Attachment})
	if err != nil {
		panic(structured.Error(h.p.Realm, err))
	}
	return v
}

// wsToken is a subprotocol name (RFC 6455, section 4.1).
func wsToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !mime.IsToken(s[i]) {
			return false
		}
	}
	return s != "" && !strings.ContainsAny(s, "/")
}
