package netx

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// RealOptions are what the real network needs.
type RealOptions struct {
	Scheduler sched.Scheduler
	Entropy   entropy.Source // WebSocket keys and masks
	Points    *killpoint.Points
	TLS       *tls.Config // nil: the system's roots
	// MaxIdlePerHost bounds kept-alive connections to one host; 32 if 0.
	MaxIdlePerHost int
}

// Real is the machine's network: HTTP/1.1 and, over TLS, h2; keep-alive; no
// proxies, whatever the environment says. Safe for concurrent use.
type Real struct {
	opts      RealOptions
	transport *http.Transport
}

// NewReal returns a dialer. Close releases its idle connections.
func NewReal(o RealOptions) *Real {
	if o.MaxIdlePerHost == 0 {
		o.MaxIdlePerHost = 32
	}
	return &Real{opts: o, transport: &http.Transport{
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // the worker sees Content-Encoding as the server sent it
		MaxIdleConns:        4 * o.MaxIdlePerHost,
		MaxIdleConnsPerHost: o.MaxIdlePerHost,
		TLSClientConfig:     o.TLS,
	}}
}

// Close drops idle connections. Exchanges in progress go on; cancel them first.
func (d *Real) Close() { d.transport.CloseIdleConnections() }

// Do implements Dialer. The kill point fetch lies around handing the request
// to the network: its after-side says that the request may have been sent.
func (d *Real) Do(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	ctx, stop := context.WithCancelCause(context.Background())
	x := &exchange{done: done}
	x.stop = func(err error) { stop(err) }
	d.opts.Scheduler.Go("fetch", func() {
		if !x.begin() {
			return
		}
		var resp *event.Response
		var err error
		if req.Method == http.MethodConnect {
			resp, err = d.connect(ctx, req)
		} else {
			resp, err = d.exchange(ctx, req)
		}
		if err != nil {
			stop(err)
			if req.Body != nil {
				req.Body.Cancel(err)
			}
		}
		x.finish(resp, err)
	})
	return x.cancel
}

func (d *Real) exchange(ctx context.Context, req *event.Request) (*event.Response, error) {
	hr, err := d.request(ctx, req)
	if err != nil {
		return nil, err
	}
	// The lock of all effects must not be held for a round trip.
	if err := d.opts.Points.Reach(killpoint.Fetch, "", cmp.Or(req.Cause, "fetch")); err != nil {
		return nil, cmp.Or(context.Cause(ctx), unreached(hr.URL.Hostname(), err))
	}
	resp, err := d.transport.RoundTrip(hr)
	if err != nil {
		return nil, reword(ctx, err)
	}
	lost := make(chan error, 1)
	d.opts.Points.Arrive(killpoint.Message{Kind: killpoint.Fetch, Cause: cmp.Or(req.Cause, "fetch"),
		Send: func() { lost <- nil }, Lose: func(err error) { lost <- err }})
	if err := <-lost; err != nil {
		resp.Body.Close()
		return nil, err
	}
	out := &event.Response{
		Status:     resp.StatusCode,
		StatusText: strings.TrimSpace(strings.TrimPrefix(resp.Status, strconv.Itoa(resp.StatusCode))),
		Header:     FromHTTP(resp.Header),
		URL:        req.URL,
	}
	if slices.Contains(resp.TransferEncoding, "chunked") { // which net/http takes away
		out.Header = append(out.Header, event.Field{Name: "Transfer-Encoding", Value: "chunked"})
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return d.upgraded(req, hr, resp, out), nil
	}
	if null := req.Method == http.MethodHead || NullBody(resp.StatusCode); null || resp.ContentLength == 0 {
		resp.Body.Close() // nothing is in it
		if !null {
			out.Body = event.Bytes(nil)
		}
		return out, nil
	}
	src, length := resp.Body, resp.ContentLength
	if encoding := resp.Header.Get("Content-Encoding"); !req.Raw && !(req.NoBrotli && encoding == "br") {
		if decoded, ok := decode(src, encoding); ok {
			src, length = decoded, -1
		}
	}
	body := NewReaderBody(src, length, d.opts.Scheduler.Go)
	body.Fail = func(err error) error { return reword(ctx, err) }
	out.Body = body
	return out, nil
}

// request makes the net/http form of req.
func (d *Real) request(ctx context.Context, req *event.Request) (*http.Request, error) {
	u, err := parse(req.URL)
	if err != nil || u.Host == "" {
		return nil, &event.Error{Name: "TypeError", Message: "Fetch API cannot load: " + req.URL}
	}
	switch u.Scheme {
	case "http", "https":
	case "ws", "wss":
		u.Scheme = "http" + strings.TrimPrefix(u.Scheme, "ws")
	default:
		return nil, &event.Error{Name: "TypeError", Message: "Fetch API cannot load: " + req.URL}
	}
	u.User = nil
	hr := (&http.Request{Method: req.Method, URL: u, Header: http.Header{}, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	for _, f := range req.Header {
		if !f.Leaves() {
			continue
		}
		switch textproto.CanonicalMIMEHeaderKey(f.Name) {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Te", "Trailer":
			// The connection's business, not the worker's.
		case "Upgrade":
			if !req.Upgrade {
				hr.Header["Upgrade"] = append(hr.Header["Upgrade"], f.Value)
			}
		case "Idempotency-Key", "X-Idempotency-Key":
			// By these names net/http would repeat any request whose kept-alive connection
			// has died. workerd repeats those with safe methods alone: where an effect
			// may have happened, the worker has to know.
			name := strings.ToLower(f.Name)
			hr.Header[name] = append(hr.Header[name], f.Value)
		default:
			AddLine(hr.Header, f)
		}
	}
	if _, ok := hr.Header["User-Agent"]; !ok {
		hr.Header["User-Agent"] = []string{""} // keeps net/http from naming itself
	}
	if req.Upgrade {
		var key [16]byte
		d.opts.Entropy.Read(key[:])
		hr.Header["Connection"] = []string{"Upgrade"}
		hr.Header["Upgrade"] = []string{"websocket"}
		hr.Header["Sec-WebSocket-Version"] = []string{"13"}
		hr.Header[handshakeKey] = []string{base64.StdEncoding.EncodeToString(key[:])}
		delete(hr.Header, "Sec-WebSocket-Extensions")
		return hr, nil
	}
	if req.Body != nil {
		setBody(hr, req.Body)
	} else {
		// These have net/http send Content-Length: 0 with all methods but GET and HEAD, as KJ does.
		hr.Body, hr.TransferEncoding = http.NoBody, []string{"identity"}
	}
	return hr, nil
}

// AddLine adds a header line to those that will be written, as workerd writes it: a name
// that it knows in its spelling, and all values in one line but for Set-Cookie; another
// name as it was written the first time.
func AddLine(h http.Header, f event.Field) {
	name, joined := f.Line()
	if name == f.Name && !joined && len(h[name]) == 0 {
		for first := range h { // order-independent: one at most is this name
			if strings.EqualFold(first, name) {
				name = first
				break
			}
		}
	}
	if before := h[name]; joined && len(before) > 0 {
		h[name] = []string{before[0] + ", " + f.Value}
		return
	}
	h[name] = append(h[name], f.Value)
}

// parse is url.Parse, but for a "%" that begins no escape sequence: such a path is
// sent as it is, as browsers and workerd do.
func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if scheme, rest, ok := strings.Cut(text, "://"); err != nil && ok {
		if at := strings.IndexAny(rest, "/?"); at > 0 && rest[at] == '/' && !strings.HasPrefix(rest[at:], "//") {
			if u, err := url.Parse(scheme + "://" + rest[:at]); err == nil {
				u.Opaque = rest[at:]
				return u, nil
			}
		}
	}
	return u, err
}

// setBody streams b, or hands it over as bytes where it is, which lets net/http
// use another connection if a kept-alive one turns out to be gone before anything
// was written.
func setBody(hr *http.Request, b event.Body) {
	if whole, ok := event.Buffered(b); ok {
		hr.ContentLength = int64(len(whole))
		hr.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole)), nil }
		if hr.Body = http.NoBody; len(whole) > 0 {
			hr.Body = io.NopCloser(bytes.NewReader(whole))
		}
		return
	}
	if hr.ContentLength = b.Length(); hr.ContentLength == 0 {
		hr.Body = http.NoBody
		return
	}
	hr.Body = NewBodyReader(b)
}

// NullBody reports whether a response of this status has no body (Fetch,
// section 2.2.3, "null body status").
func NullBody(status int) bool {
	return status == 101 || status == 103 || status == 204 || status == 205 || status == 304
}

// handshakeKey is a name in workerd's spelling, which is not Go's.
var handshakeKey, _ = event.Field{Name: "sec-websocket-key"}.Line()

// upgraded turns a 101 into a socket, or into KJ's answer for one that is not valid
// (capnproto, c++/src/kj/compat/http.c++).
func (d *Real) upgraded(req *event.Request, hr *http.Request, resp *http.Response, out *event.Response) *event.Response {
	rwc, ok := resp.Body.(io.ReadWriteCloser)
	fault := ""
	switch upgrade, accept := resp.Header.Get("Upgrade"), resp.Header.Get("Sec-Websocket-Accept"); {
	case !ok || !req.Upgrade || upgrade == "":
		fault = "missing Upgrade header"
	case !strings.EqualFold(upgrade, "websocket"):
		fault = fmt.Sprintf("incorrect Upgrade header: expected 'websocket', got '%s'", upgrade)
	case accept == "":
		fault = "missing Sec-WebSocket-Accept header"
	case accept != acceptKey(hr.Header[handshakeKey][0]):
		fault = fmt.Sprintf("incorrect Sec-WebSocket-Accept header: expected '%s', got '%s'", acceptKey(hr.Header[handshakeKey][0]), accept)
	}
	if fault != "" {
		resp.Body.Close()
		return &event.Response{Status: http.StatusBadGateway, StatusText: "Bad Gateway", URL: out.URL,
			Body: event.Bytes([]byte("Server failed WebSocket handshake: " + fault + "."))}
	}
	mine, theirs := event.NewSocketPair()
	out.Socket = theirs
	c := NewCoupling(NewConn(rwc, nil, d.opts.Entropy), mine, CoupleOptions{Spawn: d.opts.Scheduler.Go, Points: d.opts.Points, Client: true})
	sched.Attend(d.opts.Scheduler, "websocket reader", c.Run)
	return out
}

// FromHTTP converts a header: names in order, the values of each in theirs.
func FromHTTP(h http.Header) event.Header {
	names := make([]string, 0, len(h)+1)
	total := 0
	for name, values := range h {
		names = append(names, name)
		total += len(values)
	}
	sort.Strings(names)
	out := make(event.Header, 0, total+4)
	for _, name := range names {
		for _, value := range h[name] {
			out = append(out, event.Field{Name: name, Value: value})
		}
	}
	return out
}

// unreached is what a worker gets of a fault that kept its request from a host: the
// fault knows its effect point alone.
func unreached(host string, err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		dns.Name = host
	}
	return reword(context.Background(), err)
}

// reword puts a failure of the network in the words that a worker gets. What
// was cancelled fails with the reason that cancel was given.
func reword(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var given *event.Error
	switch {
	case errors.As(err, &given):
		return given
	case errors.As(err, &dns):
		return &event.Error{Name: "Error", Message: "DNS lookup failed: " + dns.Name, Retryable: dns.IsTemporary}
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return &event.Error{Name: "Error", Message: fmt.Sprintf("TLS peer's certificate is not trusted; reason = %v", err)}
	case errors.As(err, &record):
		return &event.Error{Name: "Error", Message: "The server does not speak TLS: " + record.Msg}
	}
	lost := *ErrLost
	return &lost
}
