package netx

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// peer is a TCP server that serves one connection, and a dialer that trusts the
// certificate it has for example.com. At the end of the test nothing may run.
func peer(t *testing.T, serve func(c net.Conn, conf *tls.Config)) (d *Real, address string) {
	t.Helper()
	before := runtime.NumGoroutine()
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	conf, roots := &tls.Config{Certificates: certificate.TLS.Certificates}, x509.NewCertPool()
	roots.AddCert(certificate.Certificate())
	certificate.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c, err := l.Accept()
		if err != nil {
			return // the test has ended
		}
		defer c.Close()
		serve(c, conf)
	}()
	s := sched.NewThreads(clock.Real{})
	d = NewReal(RealOptions{Scheduler: s, Entropy: entropy.NewSeeded(1), TLS: &tls.Config{RootCAs: roots}})
	t.Cleanup(func() {
		l.Close()
		wait(t, "the end of the server", over)
		noneLeft(t, s, before)
	})
	return d, l.Addr().String()
}

type connected struct {
	resp *event.Response
	err  error
}

func dial(t *testing.T, d *Real, url string) connected {
	t.Helper()
	c := make(chan connected, 1)
	d.Do(&event.Request{Method: "CONNECT", URL: url}, func(r *event.Response, err error) { c <- connected{r, err} })
	return wait(t, "the connection", c)
}

func send(t *testing.T, tunnel event.Tunnel, text string) error {
	t.Helper()
	c := make(chan error, 1)
	tunnel.Write([]byte(text), func(err error) { c <- err })
	return wait(t, "the write", c)
}

func receive(t *testing.T, b event.Body) (string, error) {
	t.Helper()
	type chunk struct {
		data []byte
		err  error
	}
	c := make(chan chunk, 1)
	b.Read(func(data []byte, err error) { c <- chunk{data, err} })
	got := wait(t, "the read", c)
	return string(got.data), got.err
}

func echo(c net.Conn, _ *tls.Config) { io.Copy(c, c) }

// RFC 9110, section 9.3.6: a tunnel carries bytes both ways, and each way ends by
// itself.
func TestTunnel(t *testing.T) {
	d, address := peer(t, echo)
	c := dial(t, d, "tcp://"+address)
	if c.err != nil {
		t.Fatal(c.err)
	}
	if got := c.resp.Tunnel.RemoteAddress(); got != address || c.resp.Status != 200 {
		t.Errorf("status %d, connected to %s, want %s", c.resp.Status, got, address)
	}
	for _, text := range []string{"one", "two"} {
		if err := send(t, c.resp.Tunnel, text); err != nil {
			t.Fatal(err)
		}
		if got, err := receive(t, c.resp.Body); got != text || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	closed := make(chan error, 1)
	c.resp.Tunnel.CloseWrite(func(err error) { closed <- err })
	if err := wait(t, "the half's end", closed); err != nil {
		t.Error(err)
	}
	if got, err := receive(t, c.resp.Body); err != io.EOF {
		t.Errorf("after the end: %q, %v", got, err)
	}
	if err := send(t, c.resp.Tunnel, "late"); err == nil {
		t.Error("a closed connection took a chunk")
	}
}

// What breaks or is refused is told in workerd's words, and keeps nothing.
func TestTunnelFails(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		d, address := peer(t, echo)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		closed := l.Addr().String()
		l.Close()
		if c := dial(t, d, "tcp://"+closed); c.err == nil || c.err.Error() != "connect ECONNREFUSED "+closed {
			t.Errorf("%v", c.err)
		}
		for _, url := range []string{"tcp://" + strings.TrimRight(address, "0123456789"), "http://" + address, "tcp://[" + address} {
			if c := dial(t, d, url); c.err == nil || !strings.Contains(c.err.Error(), "could not be parsed") {
				t.Errorf("%s: %v", url, c.err)
			}
		}
	})
	t.Run("the peer goes", func(t *testing.T) {
		d, address := peer(t, func(c net.Conn, _ *tls.Config) {
			io.ReadFull(c, make([]byte, 3))
			c.(*net.TCPConn).SetLinger(0)
		})
		c := dial(t, d, "tcp://"+address)
		if c.err != nil {
			t.Fatal(c.err)
		}
		if err := send(t, c.resp.Tunnel, "bye"); err != nil {
			t.Fatal(err)
		}
		if got, err := receive(t, c.resp.Body); err == nil || err == io.EOF {
			t.Errorf("%q, %v", got, err)
		}
		c.resp.Tunnel.Close()
	})
	t.Run("closed while it reads", func(t *testing.T) {
		d, address := peer(t, echo)
		c := dial(t, d, "tcp://"+address)
		if c.err != nil {
			t.Fatal(c.err)
		}
		read := make(chan error, 1)
		c.resp.Body.Read(func(_ []byte, err error) { read <- err })
		c.resp.Tunnel.Close()
		if err := wait(t, "the read's end", read); err == nil || err == io.EOF {
			t.Errorf("the read ended with %v", err)
		}
		c.resp.Tunnel.Close()
	})
	t.Run("canceled when it is open", func(t *testing.T) {
		d, address := peer(t, echo)
		c := make(chan connected, 1)
		cancel := d.Do(&event.Request{Method: "CONNECT", URL: "tcp://" + address}, func(r *event.Response, err error) { c <- connected{r, err} })
		if got := wait(t, "the connection", c); got.err != nil {
			t.Fatal(got.err)
		}
		cancel(nil) // the server sees the end, or the test does not end
	})
}

// TLS from the start, and begun on a connection without it, with a name of its own.
func TestTunnelTLS(t *testing.T) {
	t.Run("on", func(t *testing.T) {
		d, address := peer(t, func(c net.Conn, conf *tls.Config) { echo(tls.Server(c, conf), nil) })
		c := dial(t, d, "tls://"+address)
		if c.err != nil {
			t.Fatal(c.err)
		}
		if err := send(t, c.resp.Tunnel, "secret"); err != nil {
			t.Fatal(err)
		}
		if got, err := receive(t, c.resp.Body); got != "secret" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		c.resp.Tunnel.Close()
	})
	t.Run("starttls", func(t *testing.T) {
		d, address := peer(t, func(c net.Conn, conf *tls.Config) {
			hello := make([]byte, 8)
			if _, err := io.ReadFull(c, hello); err != nil || !bytes.Equal(hello, []byte("STARTTLS")) {
				t.Errorf("%q, %v", hello, err)
			}
			echo(tls.Server(c, conf), nil)
		})
		c := dial(t, d, "tcp://"+address)
		if c.err != nil {
			t.Fatal(c.err)
		}
		waiting := make(chan error, 1) // a read that TLS ends
		c.resp.Body.Read(func(_ []byte, err error) { waiting <- err })
		if err := send(t, c.resp.Tunnel, "STARTTLS"); err != nil {
			t.Fatal(err)
		}
		secured := make(chan connected, 1)
		c.resp.Tunnel.Secure("example.com", func(r *event.Response, err error) { secured <- connected{r, err} })
		s := wait(t, "the handshake", secured)
		if s.err != nil {
			t.Fatal(s.err)
		}
		if err := wait(t, "the plain read's end", waiting); err != errSecured {
			t.Errorf("the plain read ended with %v", err)
		}
		if err := send(t, s.resp.Tunnel, "secret"); err != nil {
			t.Fatal(err)
		}
		if got, err := receive(t, s.resp.Body); got != "secret" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		c.resp.Tunnel.Secure("example.com", func(r *event.Response, err error) { secured <- connected{r, err} })
		if again := wait(t, "the second handshake", secured); again.err == nil {
			t.Error("TLS began twice")
		}
		c.resp.Tunnel.Close() // closes what goes on under TLS
	})
	t.Run("not trusted", func(t *testing.T) {
		d, address := peer(t, func(c net.Conn, conf *tls.Config) { tls.Server(c, conf).Handshake() })
		d.opts.TLS = nil
		if c := dial(t, d, "tls://"+address); c.err == nil || !strings.Contains(c.err.Error(), "not trusted") {
			t.Errorf("%v", c.err)
		}
	})
	t.Run("closed in the handshake", func(t *testing.T) {
		d, address := peer(t, func(c net.Conn, _ *tls.Config) { io.Copy(io.Discard, c) })
		c := dial(t, d, "tcp://"+address)
		if c.err != nil {
			t.Fatal(c.err)
		}
		secured := make(chan connected, 1)
		c.resp.Tunnel.Secure("example.com", func(r *event.Response, err error) { secured <- connected{r, err} })
		c.resp.Tunnel.Close()
		if s := wait(t, "the handshake's end", secured); s.err == nil {
			t.Error("it was secured")
		}
	})
}
