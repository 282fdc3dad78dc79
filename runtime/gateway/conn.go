package gateway

import (
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// connKey is the context key under which a request finds its connection.
type connKey struct{}

// listener wraps what it accepts in conn.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn lets a handler reach what net/http does with a connection after the
// handler has returned. Safe for concurrent use.
type conn struct {
	net.Conn
	// last surrounds the next write and is then forgotten: the end of a
	// chunked body, which net/http writes by itself.
	last atomic.Pointer[func(write func() error) error]
	dead atomic.Bool
}

// connOf returns the connection of a request, nil if it came another way.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (n int, err error) {
	around := c.last.Load()
	if around == nil {
		return c.Conn.Write(p)
	}
	c.last.Store(nil)
	err = (*around)(func() error {
		var err error
		n, err = c.Conn.Write(p)
		return err
	})
	return n, err
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if c.dead.Load() {
		return 0, io.EOF
	}
	return c.Conn.Read(p)
}

// stopReading ends a read in progress and makes every later one find the end
// of the connection: the rest of a body must not be taken for a request.
func (c *conn) stopReading() {
	c.dead.Store(true)
	// Its error would say that the connection is closed, which ends reads too.
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0))
}
