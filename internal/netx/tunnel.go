package netx

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// errSecured is what the plain halves of a connection get once TLS has begun.
var errSecured = errors.New("the connection goes on under TLS")

// longAgo is a deadline that ends what is outstanding.
var longAgo = time.Unix(1, 0)

// connect opens a TCP connection. The kill point fetch lies around it, and around
// each chunk that is sent.
func (d *Real) connect(ctx context.Context, req *event.Request) (*event.Response, error) {
	u, err := url.Parse(req.URL)
	if err != nil || u.Port() == "" || u.Scheme != "tcp" && u.Scheme != "tls" {
		return nil, &event.Error{Name: "TypeError", Message: "Specified address could not be parsed."}
	}
	cause := cmp.Or(req.Cause, "fetch")
	if err := d.opts.Points.Reach(killpoint.Fetch, "", cause); err != nil {
		return nil, reword(ctx, err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, unconnected(ctx, u, err)
	}
	if u.Scheme == "tls" {
		secure := tls.Client(conn, d.clientTLS(u.Hostname()))
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, reword(ctx, err)
		}
		conn = secure
	}
	if d.opts.Points.Heard() {
		d.opts.Points.Hit(killpoint.Fetch, killpoint.After, "", cause)
	}
	return d.tunnelOver(conn, cause), nil
}

// unconnected says why there is no connection, in the words of Node's system errors.
func unconnected(ctx context.Context, u *url.URL, err error) error {
	var dns *net.DNSError
	if context.Cause(ctx) == nil {
		if errors.As(err, &dns) && dns.IsNotFound {
			return &event.Error{Name: "Error", Message: "getaddrinfo ENOTFOUND " + u.Hostname()}
		}
		for _, x := range []struct {
			code   string
			number syscall.Errno
		}{{"ECONNREFUSED", syscall.ECONNREFUSED}, {"ECONNRESET", syscall.ECONNRESET}, {"ETIMEDOUT", syscall.ETIMEDOUT},
			{"EHOSTUNREACH", syscall.EHOSTUNREACH}, {"ENETUNREACH", syscall.ENETUNREACH}} {
			if HasErrno(err, x.number) {
				return &event.Error{Name: "Error", Message: "connect " + x.code + " " + u.Host}
			}
		}
	}
	return reword(ctx, err)
}

func (d *Real) clientTLS(name string) *tls.Config {
	config := d.opts.TLS.Clone()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.ServerName, config.NextProtos = name, nil
	return config
}

func (d *Real) tunnelOver(conn net.Conn, cause string) *event.Response {
	t := &tunnel{d: d, conn: conn, cause: cause}
	body := NewReaderBody(tunnelReader{t}, -1, d.opts.Scheduler.Go)
	body.Fail = func(err error) error {
		if errors.Is(err, errSecured) {
			return err
		}
		return reword(context.Background(), err)
	}
	body.Unblock = t.endRead
	return &event.Response{Status: http.StatusOK, StatusText: "OK", Body: body, Tunnel: t}
}

// tunnel is one TCP connection, plain or under TLS. It is closed when both halves
// have ended.
type tunnel struct {
	d     *Real
	conn  net.Conn
	cause string // of its effects

	reading sync.Mutex // held by a read; Secure waits for it

	mu         sync.Mutex // guards everything below
	readEnded  bool
	writeEnded bool
	secured    bool // the connection belongs to a handshake, then to next
	next       *tunnel
	closed     bool
}

// RemoteAddress implements event.Tunnel.
func (t *tunnel) RemoteAddress() string { return t.conn.RemoteAddr().String() }

// Write implements event.Tunnel.
func (t *tunnel) Write(chunk []byte, done func(error)) {
	t.d.opts.Scheduler.Go("socket writer", func() {
		err := t.d.opts.Points.Reach(killpoint.Fetch, "", t.cause)
		if err == nil {
			_, err = t.conn.Write(chunk)
		}
		if err == nil && t.d.opts.Points.Heard() {
			t.d.opts.Points.Hit(killpoint.Fetch, killpoint.After, "", t.cause)
		}
		if err != nil {
			err = reword(context.Background(), err)
		}
		done(err)
	})
}

// CloseWrite implements event.Tunnel.
func (t *tunnel) CloseWrite(done func(error)) {
	t.d.opts.Scheduler.Go("socket closer", func() {
		var err error
		if half, ok := t.conn.(interface{ CloseWrite() error }); ok && !t.isOver() {
			err = half.CloseWrite()
		}
		t.end(func() { t.writeEnded = true })
		if err != nil {
			err = reword(context.Background(), err)
		}
		done(err)
	})
}

// Close implements event.Tunnel.
func (t *tunnel) Close() {
	t.mu.Lock()
	next, shaking := t.next, t.secured && t.next == nil
	t.mu.Unlock()
	switch {
	case next != nil:
		next.Close()
	case shaking:
		t.conn.Close() // the handshake fails
	}
	t.end(func() { t.readEnded, t.writeEnded = true, true })
}

// endRead says that nobody reads on.
func (t *tunnel) endRead() {
	t.end(func() { t.readEnded = true })
	t.conn.SetReadDeadline(longAgo) // a connection that is closed already has no reads
}

func (t *tunnel) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.secured || t.readEnded && t.writeEnded
}

// end changes what has ended, and closes the connection once nothing is left.
func (t *tunnel) end(change func()) {
	t.mu.Lock()
	change()
	over := t.readEnded && t.writeEnded && !t.secured && !t.closed
	t.closed = t.closed || over
	t.mu.Unlock()
	if over {
		t.conn.Close() // both sides have said that they are done
	}
}

// Secure implements event.Tunnel.
func (t *tunnel) Secure(name string, done func(*event.Response, error)) {
	t.d.opts.Scheduler.Go("TLS handshake", func() { done(t.secure(name)) })
}

func (t *tunnel) secure(name string) (*event.Response, error) {
	t.mu.Lock()
	gone := t.secured || t.closed
	t.secured = t.secured || !gone
	t.mu.Unlock()
	if gone {
		return nil, &event.Error{Name: "TypeError", Message: "The socket was closed or secured before."}
	}
	t.conn.SetReadDeadline(longAgo) // ends a read that waits: what comes now is TLS
	t.reading.Lock()
	defer t.reading.Unlock()
	t.conn.SetReadDeadline(time.Time{})
	secure := tls.Client(t.conn, t.d.clientTLS(name))
	if err := secure.Handshake(); err != nil {
		t.conn.Close()
		return nil, reword(context.Background(), err)
	}
	resp := t.d.tunnelOver(secure, t.cause)
	t.mu.Lock()
	t.next = resp.Tunnel.(*tunnel)
	t.mu.Unlock()
	return resp, nil
}

// tunnelReader is the receiving half.
type tunnelReader struct{ t *tunnel }

// Read implements io.Reader.
func (r tunnelReader) Read(p []byte) (int, error) {
	r.t.reading.Lock()
	defer r.t.reading.Unlock()
	r.t.mu.Lock()
	secured := r.t.secured
	r.t.mu.Unlock()
	if secured {
		return 0, errSecured
	}
	n, err := r.t.conn.Read(p)
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	switch {
	case n > 0 || err == nil || err == io.EOF:
		return n, err
	case r.t.secured:
		return 0, errSecured
	}
	return 0, err
}

// Close implements io.Closer.
func (r tunnelReader) Close() error {
	r.t.end(func() { r.t.readEnded = true })
	return nil
}
