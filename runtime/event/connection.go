package event

import (
	"io"
	"sync"
)

// Leaving is a Tunnel that tells when its peer has closed both halves, though nobody reads or writes.
type Leaving interface {
	// OnGone has f called, once, when that happens; before OnGone returns if it has.
	OnGone(f func())
}

// NewConnection is a connection within the process: what its two ends get, each as if it
// had asked for one. A write is done when the other end has read it. address is what the client has
// asked for. Both are safe for concurrent use.
func NewConnection(address string) (client, server *Response) {
	up, down := NewPipe(-1), NewPipe(-1)
	c, s := &end{address: address, in: down, out: up}, &end{in: up, out: down}
	c.peer, s.peer = s, c
	return &Response{Status: 200, Body: down, Tunnel: c}, &Response{Status: 200, Body: up, Tunnel: s}
}

// end is one end of a connection within the process. Safe for concurrent use.
type end struct {
	address string
	in, out *Pipe
	peer    *end

	mu      sync.Mutex // guards everything below
	left    bool       // the peer has
	waiting []func()
}

// RemoteAddress implements Tunnel.
func (c *end) RemoteAddress() string { return c.address }

// Write implements Tunnel.
func (c *end) Write(chunk []byte, done func(error)) {
	c.out.Write(chunk, func(err error) {
		if err != nil {
			err = ErrPeerLost
		}
		done(err)
	})
}

// CloseWrite implements Tunnel.
func (c *end) CloseWrite(done func(error)) {
	c.out.Close(nil)
	done(nil)
}

// Close implements Tunnel: the peer reads no more, not even what waits, and what it writes is lost.
func (c *end) Close() {
	c.out.Cancel(io.EOF)
	c.out.Close(nil)
	c.in.Cancel(ErrPeerLost)
	p := c.peer
	p.mu.Lock()
	p.left = true
	waiting := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// OnGone implements Leaving.
func (c *end) OnGone(f func()) {
	c.mu.Lock()
	left := c.left
	if !left {
		c.waiting = append(c.waiting, f)
	}
	c.mu.Unlock()
	if left {
		f()
	}
}

// Secure implements Tunnel. There is no TLS within the process.
func (c *end) Secure(_ string, done func(*Response, error)) {
	done(nil, &Error{Name: "Error", Message: "startTls() is not supported on this connection."})
}
