package netx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// MaxQueuedBytes is how much may wait to be written to one WebSocket.
const MaxQueuedBytes = 64 << 20

// CoupleOptions are what a coupling needs beside its two ends.
type CoupleOptions struct {
	// Spawn starts a function that may block: Scheduler.Go.
	Spawn func(name string, fn func())
	// Points, where not nil, sees each outgoing frame.
	Points *killpoint.Points
	// MaxQueued bounds the outbound queue in bytes, MaxQueuedBytes if 0.
	MaxQueued int
	// Client says that the connection leads to a server, and not to a client.
	Client bool
}

// Coupling carries messages between a network connection and one end of an
// event.Socket, until both sides have closed or the connection is lost. It
// touches nothing of the other end's owner, which may hibernate meanwhile.
//
// Outbound, messages wait in a queue that a short-lived goroutine empties.
// When more than MaxQueued bytes wait because the peer does not read, the
// connection is cut: the worker's end sees an error and code 1006. A worker
// has no way to wait for a socket, so the alternative would be to drop messages
// silently or to let memory grow without bound.
//
// Inbound, a message is handed on as soon as it has arrived; the next one is
// read when the receiver has returned.
//
// A Close frame travels as it is in either direction, and neither answers the
// other by itself: after the peer's, the worker may still send, until it closes
// too. There is no time limit on that; Cut ends it.
type Coupling struct {
	conn *Conn
	end  *event.Socket
	opts CoupleOptions

	mu      sync.Mutex // guards everything below
	queue   []outgoing
	queued  int
	writing bool
	sent    bool // our Close frame is on the wire
	got     bool // the peer's has been read
	dead    bool
	cause   error // why we cut the connection, for the worker's error event
}

type outgoing struct {
	message event.Message
	close   bool
	cut     bool // hang up after it
	code    int
	reason  string
}

// NewCoupling binds end, so that what waits there starts to flow. Run must be
// called next.
func NewCoupling(conn *Conn, end *event.Socket, o CoupleOptions) *Coupling {
	if o.MaxQueued == 0 {
		o.MaxQueued = MaxQueuedBytes
	}
	c := &Coupling{conn: conn, end: end, opts: o}
	if !o.Client {
		end.Connect()
	}
	end.Bind(c)
	return c
}

// Run reads from the connection until it is over; it blocks.
func (c *Coupling) Run() {
	for {
		m, err := c.conn.ReadMessage()
		if err == nil {
			m.Cause = c.opts.Points.Asked(m.Data)
			if c.end.Send(m) != nil && !c.open() {
				break
			}
			continue
		}
		var closing *CloseFrame
		if errors.As(err, &closing) {
			c.peerClosed(closing)
			err = c.conn.Drain()
		}
		c.broken(err)
		break
	}
	c.conn.Close()
}

// Cut ends the connection without a Close frame: the peer sees it lost, and so
// does the worker's end. It may be called from anywhere.
func (c *Coupling) Cut(cause error) {
	c.mu.Lock()
	if c.cause == nil {
		c.cause = cause
	}
	c.dead, c.queue, c.queued = true, nil, 0
	c.mu.Unlock()
	c.conn.Close()
}

func (c *Coupling) open() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.dead && !(c.sent && c.got)
}

func (c *Coupling) peerClosed(f *CloseFrame) {
	c.mu.Lock()
	c.got = true
	over := c.sent
	c.mu.Unlock()
	// It fails only if this end was dropped before, and then nobody listens.
	_ = c.end.Close(f.Code, f.Reason)
	if over {
		c.conn.Close()
	}
}

// broken ends the coupling after a failed read.
func (c *Coupling) broken(err error) {
	var p *event.ProtocolError
	if errors.As(err, &p) && c.open() {
		// The peer learns why; if it does not, it has hung up already.
		_ = c.conn.WriteClose(p.Code, p.Description)
	}
	c.mu.Lock()
	if lost(err) {
		err = c.cause
	}
	over := c.sent && c.got
	c.dead, c.queue, c.queued = true, nil, 0
	c.mu.Unlock()
	if !over {
		c.end.Drop(CloseLost, LostCloseReason, err)
	}
}

// OnMessage implements event.Receiver.
func (c *Coupling) OnMessage(m event.Message) { c.push(outgoing{message: m}) }

// OnClose implements event.Receiver. A loss on the worker's side (its isolate
// is gone) becomes one on the network, or a Close frame where its code can travel.
func (c *Coupling) OnClose(code int, reason string, clean bool) {
	if clean || onWire(code) {
		c.push(outgoing{close: true, cut: !clean, code: code, reason: reason})
		return
	}
	c.Cut(nil)
}

// OnError implements event.Receiver. The peer cannot be told of errors; the
// close that follows is what it sees.
func (c *Coupling) OnError(error) {}

func (c *Coupling) push(o outgoing) {
	c.mu.Lock()
	if c.dead || c.sent {
		c.mu.Unlock()
		return
	}
	c.queue = append(c.queue, o)
	c.queued += len(o.message.Data)
	if c.queued > c.opts.MaxQueued {
		c.mu.Unlock()
		c.Cut(fmt.Errorf("the WebSocket's peer does not read: more than %d bytes wait to be sent", c.opts.MaxQueued))
		return
	}
	start := !c.writing
	c.writing = true
	c.mu.Unlock()
	if start {
		c.opts.Spawn("websocket writer", c.drain)
	}
}

// drain writes the queue until it is empty.
func (c *Coupling) drain() {
	for {
		c.mu.Lock()
		batch := c.queue
		c.queue = nil
		if len(batch) == 0 || c.dead {
			c.writing = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		held, err := c.write(batch)
		if held {
			return // arrived goes on
		}
		if err != nil {
			c.Cut(nil)
		}
	}
}

// write sends a batch. Its bytes count as queued until they are written. held says that a
// message of it arrives later (killpoint.Detour), and the rest of the queue behind it.
func (c *Coupling) write(batch []outgoing) (held bool, err error) {
	if c.opts.Points == nil {
		var run []event.Message
		size := 0
		for _, o := range batch {
			if o.close {
				break
			}
			run = append(run, o.message)
			size += len(o.message.Data)
		}
		if len(run) > 0 {
			if err := c.conn.WriteMessages(run); err != nil {
				return false, err
			}
			c.written(size)
			batch = batch[len(run):]
		}
	}
	for i, o := range batch {
		if o.close {
			return false, c.writeClose(o)
		}
		arrived := func(err error) { c.arrived(o, batch[i+1:], err) }
		held, err := c.opts.Points.Carry(killpoint.Message{
			Kind: killpoint.Frame, Object: c.end.Object, Cause: cmp.Or(o.message.Cause, "message"),
			Send: func() { arrived(c.conn.WriteMessage(o.message)) }, Lose: arrived,
		}, func() error { return c.conn.WriteMessage(o.message) })
		if held || err != nil {
			return held, err
		}
		c.written(len(o.message.Data))
	}
	return false, nil
}

// arrived goes on behind a message that was held up: with rest, and what was queued since.
func (c *Coupling) arrived(o outgoing, rest []outgoing, err error) {
	if err != nil {
		c.Cut(nil)
	}
	c.mu.Lock()
	if c.dead {
		c.writing = false
		c.mu.Unlock()
		return
	}
	c.queue = append(slices.Clone(rest), c.queue...)
	c.mu.Unlock()
	c.written(len(o.message.Data))
	c.opts.Spawn("websocket writer", c.drain)
}

func (c *Coupling) written(bytes int) {
	c.mu.Lock()
	c.queued = max(0, c.queued-bytes)
	c.mu.Unlock()
}

func (c *Coupling) writeClose(o outgoing) error {
	err := c.opts.Points.Effect(killpoint.Close, c.end.Object, "message", func() error {
		return c.conn.WriteClose(o.code, o.reason)
	})
	c.mu.Lock()
	c.sent = true
	over := c.got || o.cut
	c.mu.Unlock()
	if over {
		c.conn.Close()
	}
	return err
}
