// Package http1 serves HTTP/1.1 on a listener, for handlers written against
// net/http. It is a server of its own because net/http's differs from workerd's
// where clients can tell: a client that closes its sending side keeps its
// answer; a request framed in two ways, or in a broken way, has one answer and
// then the end; what is malformed is refused with workerd's status and text; a
// head must arrive within a time; and a handler may answer while the body is
// still being read, without further arrangements.
//
// One goroutine reads heads, runs the handler and writes its response. A
// second one waits for the client's end while a handler takes long.
package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
)

// HeadPatience is how long a client may take for a head, the time before its
// first byte included; as in workerd, which also ends idle connections by it.
const HeadPatience = 15 * time.Second

// Server serves connections. Set the exported fields before Serve. Safe for
// concurrent use.
type Server struct {
	// Handler answers requests, each on its connection's goroutine. Its
	// ResponseWriter is a *Response.
	Handler http.Handler
	// Spawn starts a goroutine.
	Spawn func(name string, fn func())
	// Clock measures patience.
	Clock clock.Clock
	// Patience replaces HeadPatience where it is not 0.
	Patience time.Duration
	// EndIsLoss says that a client which ends its sending side waits for no answer: one
	// that closes its connection to cancel a request, and never half of it.
	EndIsLoss bool
	// Warn is told of trouble, a panic of the handler with its stack among it.
	Warn func(string)

	mu        sync.Mutex // guards everything below
	listeners []net.Listener
	conns     map[*conn]state
	closing   bool
	empty     chan struct{} // closed when closing and no connection is left
}

// state is what a connection does.
type state int

const (
	idle   state = iota // no byte of a request has come
	active              // a request is being read, handled or answered
)

// The waits between failed calls of Accept, as when descriptors have run out.
const (
	acceptPauseLeast = 5 * time.Millisecond
	acceptPauseMost  = time.Second
)

// Serve accepts connections until the server is closed, and then returns
// http.ErrServerClosed. Several calls may run at the same time.
func (s *Server) Serve(ln net.Listener) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return errors.Join(http.ErrServerClosed, ln.Close())
	}
	s.listeners = append(s.listeners, ln)
	s.mu.Unlock()
	pause := acceptPauseLeast
	for {
		nc, err := ln.Accept()
		if err != nil {
			if s.closed() {
				return http.ErrServerClosed
			}
			var temporary interface{ Temporary() bool }
			if !errors.As(err, &temporary) || !temporary.Temporary() {
				return err
			}
			s.Warn("accepting a connection: " + err.Error())
			over := make(chan struct{})
			s.Clock.AfterFunc(pause, func() { close(over) })
			<-over
			pause = min(2*pause, acceptPauseMost)
			continue
		}
		pause = acceptPauseLeast
		c := newConn(s, nc)
		if !s.add(c) {
			nc.Close() // nobody is left to be told
			continue
		}
		s.Spawn("connection", c.serve)
	}
}

func (s *Server) closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	if s.conns == nil {
		s.conns = map[*conn]state{}
	}
	s.conns[c] = idle
	return true
}

// set notes what c does; false tells c to end.
func (s *Server) set(c *conn, to state) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = to
	return !s.closing
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.closing && len(s.conns) == 0 {
		close(s.empty)
	}
}

// Shutdown stops listening, ends idle connections and returns when those with a
// request in progress have ended too. When ctx is done it cuts them and returns
// the context's error. Connections that a handler has taken over are not the
// server's any more.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closing
	if first {
		s.closing, s.empty = true, make(chan struct{})
		if len(s.conns) == 0 {
			close(s.empty)
		}
	}
	listeners := s.listeners
	s.listeners = nil
	for c, st := range s.conns { // order-independent: each is ended alike
		if st == idle {
			c.cut()
		}
	}
	s.mu.Unlock()
	var err error
	for _, ln := range listeners {
		if e := ln.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	select {
	case <-s.empty:
		return err
	default:
	}
	select {
	case <-s.empty:
		return err
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns { // order-independent: each is cut alike
		c.cut()
	}
	s.mu.Unlock()
	return errors.Join(err, ctx.Err())
}
