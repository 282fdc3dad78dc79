package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// watchAfter is how long a handler works before its client's end is waited for.
const watchAfter = 50 * time.Millisecond

// lingerTime is how long a connection whose answer has been sent is still read
// from: closing it with unread bytes would take the answer from the client.
const lingerTime = 500 * time.Millisecond

// conn is one connection. Its goroutine owns it, except for what locks guard.
type conn struct {
	srv    *Server
	net    net.Conn
	in     input
	out    *bufio.Writer
	ctx    context.Context // done when the connection has broken or was cut
	cancel context.CancelFunc
	watch  watch

	// Of the request in progress.
	resp *Response
	body *body // nil: none

	mu   sync.Mutex // guards due and over
	due  bool       // the handler has worked for watchAfter
	over bool       // the body has been read to its end, or there is none
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, net: nc, in: input{net: nc}, out: bufio.NewWriter(nc)}
	c.watch.ended = sync.NewCond(&c.watch.mu)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// cut ends the connection at once. Safe for concurrent use.
func (c *conn) cut() {
	c.cancel()
	c.net.Close() // nobody is left to be told of a failure
}

// deadline sets the deadline of reads. It fails on a closed connection alone,
// whose reads fail by themselves.
func (c *conn) deadline(t time.Time) { _ = c.net.SetReadDeadline(t) }

// serve handles one request after the other.
func (c *conn) serve() {
	defer c.srv.remove(c)
	defer c.cancel()
	for {
		h, err := c.readHead()
		if err != nil {
			var refused *refusal
			if errors.As(err, &refused) {
				c.refuse(refused)
			}
			c.linger()
			return
		}
		keep := c.handle(h)
		if c.resp.taken {
			return
		}
		if !keep || !c.srv.set(c, idle) {
			c.linger()
			return
		}
	}
}

// readHead waits for the next head.
func (c *conn) readHead() (*head, error) {
	c.deadline(c.srv.Clock.Now().Add(c.srv.patience()))
	for seen, begun := 0, false; ; {
		for c.in.r < c.in.w && (c.in.buf[c.in.r] == '\r' || c.in.buf[c.in.r] == '\n') && seen == 0 {
			c.in.r++ // empty lines before a request (RFC 9112, 2.2)
		}
		rest := c.in.rest()
		if len(rest) > 0 && !begun {
			begun = true
			if !c.srv.set(c, active) {
				return nil, net.ErrClosed
			}
		}
		if n := wholeHead(rest, seen); n > 0 {
			c.in.r += n
			c.deadline(time.Time{})
			return parseHead(c.ctx, string(rest[:n]))
		}
		seen = len(rest)
		switch err := c.in.fill(); {
		case err == errTooLong:
			return nil, errHead
		case err != nil:
			return nil, err
		}
	}
}

func (s *Server) patience() time.Duration {
	if s.Patience != 0 {
		return s.Patience
	}
	return HeadPatience
}

// handle answers one request and reports whether another may follow.
func (c *conn) handle(h *head) (keep bool) {
	r := h.req
	c.resp = &Response{c: c, req: r, header: http.Header{}, close: h.close, waits: h.expects && h.length != 0}
	c.body = nil
	r.Body, r.RemoteAddr = http.NoBody, c.net.RemoteAddr().String()
	if secure, ok := c.net.(*tls.Conn); ok { // its handshake was made when the head was read
		state := secure.ConnectionState()
		r.TLS = &state
	}
	if h.length != 0 {
		c.body = newBody(c, h.length)
		r.Body = c.body
	}
	c.watch.allow()
	c.mu.Lock()
	c.due, c.over = false, c.body == nil
	c.mu.Unlock()
	timer := c.srv.Clock.AfterFunc(watchAfter, func() {
		c.mu.Lock()
		c.due = true
		start := c.over
		c.mu.Unlock()
		if start {
			c.startWatch()
		}
	})
	sound := c.call(r)
	timer.Stop()
	if c.resp.taken {
		return false
	}
	if sound {
		_ = c.resp.Finish() // whole tells
	}
	c.stopWatch()
	drained := c.body == nil || c.body.drain()
	return sound && drained && c.resp.whole() && !c.resp.close && c.ctx.Err() == nil
}

// bodyOver lets the watch begin where it has waited for the body's end.
func (c *conn) bodyOver() {
	c.mu.Lock()
	start := c.due && !c.over
	c.over = true
	c.mu.Unlock()
	if start {
		c.startWatch()
	}
}

// call runs the handler. A panic with http.ErrAbortHandler ends the connection,
// and so does any other, of which Warn is told.
func (c *conn) call(r *http.Request) (sound bool) {
	defer func() {
		if sound {
			return
		}
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			c.srv.Warn(fmt.Sprintf("http1: the handler of %s %s panicked: %v\n%s", r.Method, r.RequestURI, v, debug.Stack()))
		}
	}()
	c.srv.Handler.ServeHTTP(c.resp, r)
	return true
}

// linger ends the connection in a way that lets the client read what was sent.
func (c *conn) linger() {
	defer c.net.Close() // what could fail has been done
	if c.in.err != nil || c.ctx.Err() != nil {
		return
	}
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.deadline(c.srv.Clock.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, c.net) // its end or its deadline: either is the end
}
