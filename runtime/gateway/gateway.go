// Package gateway is the connection to the network: an HTTP/1.1 server that turns
// requests into event.Request values, writes event.Response values back, and owns the
// clients' WebSockets, so that these outlive the objects that use them (hibernation).
// It knows nothing of JavaScript.
package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/http1"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
)

// Options configure a Gateway.
type Options struct {
	// Scheduler starts what blocks.
	Scheduler sched.Scheduler
	// Machine tells the time for Log and bounds Close; nil is the scheduler's clock.
	Machine clock.Clock
	// Handler answers requests; see netx.Handler. It is called on the
	// connection's goroutine and must not block.
	Handler netx.Handler
	// Points, where not nil, sees each effect on a client: response (a head),
	// chunk, frame, close. While it is on, heads and chunks are written one by
	// one, each under the lock of all effects: a client that does not read holds
	// up the whole process once the kernel's buffers are full.
	Points *killpoint.Points
	// AllowedHosts are hosts accepted beside the local ones: "example.test",
	// or ".example.test" with all names below it, or "*" for any.
	AllowedHosts []string
	// Origin, where not nil, is what a worker sees in the place of the scheme and the
	// host that a client used; empty fields leave them.
	Origin func() Origin
	// Href is a URL as the URL standard writes it; nil leaves it as it was sent.
	Href func(url string) (string, error)
	// CF is the JSON of request.cf, DefaultCF if nil.
	CF []byte
	// Log, if set, is called for each request when its response's head has
	// been written. Calls come from many goroutines.
	Log func(RequestLog)
	// Around is what the page about an error shows beside it.
	Around Surroundings
	// Warn, if set, gets problems with connections, one line each.
	Warn func(string)
	// EndIsLoss cancels the requests of a client that ends its sending side; see
	// http1.Server.
	EndIsLoss bool
	// MaxInFlight bounds the requests in progress, WebSockets not counted; what
	// comes above it is answered with 503. 4096 if 0.
	MaxInFlight int
}

// RequestLog is one line of the request log.
type RequestLog struct {
	Method, Path string // Path is as sent, without its query
	Status       int
	Reason       string        // the response's phrase, as sent
	Duration     time.Duration // from the request's head to the response's
	Record       int64         // event.Request.Record
}

// DefaultCF stands for what Cloudflare's edge knows about a client, as miniflare
// makes it up (plugins/core/cf.ts, fallbackCf). Each request has clientAcceptEncoding
// beside it.
const DefaultCF = `{"asOrganization":"","asn":395747,"colo":"DFW","city":"Austin","region":"Texas","regionCode":"TX","metroCode":"635",` +
	`"postalCode":"78701","country":"US","continent":"NA","timezone":"America/Chicago","latitude":"30.27130","longitude":"-97.74260",` +
	`"clientTcpRtt":0,"httpProtocol":"HTTP/1.1","requestPriority":"weight=192;exclusive=0","tlsCipher":"AEAD-AES128-GCM-SHA256",` +
	`"tlsVersion":"TLSv1.3","tlsClientAuth":{"certPresented":"0","certVerified":"NONE","certRevoked":"0","certIssuerDN":"",` +
	`"certSubjectDN":"","certIssuerDNRFC2253":"","certSubjectDNRFC2253":"","certIssuerDNLegacy":"","certSubjectDNLegacy":"",` +
	`"certSerial":"","certIssuerSerial":"","certSKI":"","certIssuerSKI":"","certFingerprintSHA1":"","certFingerprintSHA256":"",` +
	`"certNotBefore":"","certNotAfter":"","certRFC9440":"","certRFC9440TooLarge":false,"certChainRFC9440":"",` +
	`"certChainRFC9440TooLarge":false},"edgeRequestKeepAliveStatus":0,"clientTrustScore":99,"botManagement":{"corporateProxy":false,` +
	`"verifiedBot":false,"ja3Hash":"25b4882c2bcb50cd6b469ff28c596742","staticResource":false,"detectionIds":[],"score":99}}`

// cfOf is request.cf of a request whose client has this Accept-Encoding, "" for none.
func (g *Gateway) cfOf(accepts string) []byte {
	accepted, err := json.Marshal(accepts)
	if err != nil {
		panic("gateway: a string is no JSON: " + err.Error())
	}
	cf := append([]byte(nil), bytes.TrimSuffix(g.opts.CF, []byte("}"))...)
	return append(append(append(cf, `,"clientAcceptEncoding":`...), accepted...), '}')
}

// Gateway serves clients. Safe for concurrent use.
type Gateway struct {
	opts     Options
	server   *http1.Server
	inFlight atomic.Int64

	mu       sync.Mutex // guards everything below
	bound    []net.IP
	sockets  map[*netx.Coupling]struct{}
	handlers int
	closing  bool
	idle     chan struct{} // closed when closing and no handler runs
}

// New returns a gateway that serves nothing yet.
func New(o Options) *Gateway {
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 4096
	}
	if o.CF == nil {
		o.CF = []byte(DefaultCF)
	}
	if o.Machine == nil {
		o.Machine = o.Scheduler.Clock()
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	g := &Gateway{opts: o, sockets: map[*netx.Coupling]struct{}{}, idle: make(chan struct{})}
	g.server = &http1.Server{
		Handler: g,
		Spawn:   func(name string, fn func()) { sched.Attend(o.Scheduler, name, fn) },
		Clock:   clock.Real{},
		Warn:    o.Warn,

		EndIsLoss: o.EndIsLoss,
	}
	return g
}

// Serve accepts connections until Close, and then returns nil. It may be
// called for several listeners; each call blocks.
func (g *Gateway) Serve(ln net.Listener) error {
	if addr, ok := ln.Addr().(*net.TCPAddr); ok {
		g.mu.Lock()
		g.bound = append(g.bound, addr.IP)
		g.mu.Unlock()
	}
	err := g.server.Serve(ln)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close stops listening and waits for requests in progress until ctx is done,
// then cuts what is left. WebSockets are cut at once, without a Close frame,
// as when a process ends: a worker that should not hear of it is stopped first.
// Close returns when no handler runs any more.
func (g *Gateway) Close(ctx context.Context) error {
	g.mu.Lock()
	if !g.closing {
		g.closing = true
		if g.handlers == 0 {
			close(g.idle)
		}
	}
	cut := make([]*netx.Coupling, 0, len(g.sockets))
	for c := range g.sockets { // order-independent: each is cut alike
		cut = append(cut, c)
	}
	g.mu.Unlock()
	for _, c := range cut {
		c.Cut(nil)
	}
	err := g.server.Shutdown(ctx)
	late := make(chan struct{})
	grace := g.opts.Machine.AfterFunc(5*time.Second, func() { close(late) })
	defer grace.Stop()
	select {
	case <-g.idle:
	case <-late:
		return errors.Join(err, errors.New("gateway: requests are still being handled 5 s after their connections were cut"))
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil // what was left has been cut, as documented
	}
	return err
}

func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing {
		return false
	}
	g.handlers++
	return true
}

func (g *Gateway) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.handlers--; g.handlers == 0 && g.closing {
		close(g.idle)
	}
}

// ServeHTTP implements http.Handler: one request, on its connection's goroutine.
// w is a *http1.Response.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		refuse(w, http.StatusServiceUnavailable, "minido is shutting down.\n")
		return
	}
	defer g.leave()
	if !g.allowed(r.Host) {
		refuse(w, http.StatusForbidden, "The Host header "+printable(r.Host)+" is not one that this server answers to.\n"+
			"Start minido with --allowed-hosts to accept it, or use localhost.\n")
		return
	}
	if !validTarget(target(r)) {
		w.(*http1.Response).CloseAfter()
		refuseAs(w, http.StatusBadRequest, "text/plain", invalidTarget)
		return
	}
	if r.Method == http.MethodConnect {
		refuse(w, http.StatusNotImplemented, "CONNECT is not supported.\n")
		return
	}
	if g.inFlight.Add(1) > int64(g.opts.MaxInFlight) {
		g.inFlight.Add(-1)
		refuse(w, http.StatusServiceUnavailable, "Too many requests are in progress.\n")
		return
	}
	x := &exchange{g: g, w: w.(*http1.Response), r: r, result: make(chan result, 1)}
	defer x.free()
	if g.opts.Log != nil {
		x.start = g.opts.Machine.Now()
	}
	x.run()
}

func refuse(w http.ResponseWriter, status int, text string) {
	refuseAs(w, status, "text/plain; charset=utf-8", text)
}

func refuseAs(w http.ResponseWriter, status int, kind, text string) {
	h := w.Header()
	h["Content-Type"] = []string{kind}
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // a client that is gone needs no answer
}
