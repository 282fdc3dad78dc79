package gateway

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/http1"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// errGone is the reason with which a request is cancelled when its client
// hangs up.
var errGone = &event.Error{Name: "Error", Message: "The client disconnected."}

// errNoUpgrade is workerd's error (api/http.c++, Response::send).
var errNoUpgrade = &event.Error{Name: "TypeError",
	Message: `Worker tried to return a WebSocket in a response to a request which did not contain the header "Upgrade: websocket".`}

// exchange is one request on its way through. Its connection's goroutine owns
// it, except for what mu guards.
type exchange struct {
	origins origins
	g       *Gateway
	w       *http1.Response
	r       *http.Request
	result  chan result // holds one
	body    *netx.ReaderBody
	asked   *event.Request
	cancel  func(error)
	start   time.Time
	freed   bool
	reason  string        // the phrase of the response's status, "" for the usual one
	accepts string        // the client's Accept-Encoding
	encoder *netx.Encoder // nil: the body goes out as it is
	object  string        // whose response it is, for kill points
	cause   string        // what it counts as there

	// cutShort: the request's body is malformed, or its client ended within it.
	cutShort atomic.Bool

	mu   sync.Mutex // guards gone
	gone bool       // nobody waits for the result any more
}

type result struct {
	resp *event.Response
	err  error
}

// free gives the place among the requests in progress back.
func (x *exchange) free() {
	if !x.freed {
		x.freed = true
		x.g.inFlight.Add(-1)
	}
}

func (x *exchange) run() {
	x.asked = x.request()
	x.cancel = x.g.opts.Handler(x.asked, x.done)
	defer x.finishBody()
	var res result
	select {
	case res = <-x.result:
	default:
		select {
		case res = <-x.result:
		case <-x.r.Context().Done():
			x.abandon()
			panic(http.ErrAbortHandler) // a status now would tell of something that has not happened
		}
	}
	if res.err != nil || res.resp == nil {
		if res.err == nil {
			res.err = errors.New("the worker gave no response")
		}
		if x.cutShort.Load() && isLost(res.err) {
			panic(http.ErrAbortHandler) // as workerd does: it was the client that broke off
		}
		x.fail(res.err)
		return
	}
	if res.resp.Socket != nil {
		if !netx.IsUpgrade(x.r) {
			discard(res.resp)
			x.fail(errNoUpgrade)
			return
		}
		x.upgrade(res.resp)
		return
	}
	x.respond(res.resp)
}

// isLost reports whether err is what reading a body that breaks off gives.
func isLost(err error) bool {
	var e *event.Error
	return errors.As(err, &e) && e.Message == netx.ErrLost.Message
}

// done is the handler's callback.
func (x *exchange) done(resp *event.Response, err error) {
	x.mu.Lock()
	gone := x.gone
	if !gone {
		x.result <- result{resp, err}
	}
	x.mu.Unlock()
	if gone {
		discard(resp)
	}
}

// abandon cancels a request whose client is gone.
func (x *exchange) abandon() {
	x.mu.Lock()
	x.gone = true
	x.mu.Unlock()
	select {
	case res := <-x.result:
		discard(res.resp)
	default:
	}
	if x.cancel != nil {
		x.cancel(errGone)
	}
	if x.body != nil {
		x.body.Cancel(netx.ErrLost)
	}
}

func discard(resp *event.Response) {
	if resp == nil {
		return
	}
	if resp.Body != nil {
		resp.Body.Cancel(errGone)
	}
	if resp.Socket != nil {
		resp.Socket.Drop(netx.CloseLost, netx.LostCloseReason, nil)
	}
}

// finishBody gives the rest of the request's body up when the response is written.
func (x *exchange) finishBody() {
	if x.body != nil {
		x.body.Cancel(netx.ErrLost)
	}
}

// request converts the head; the body stays on the connection until it is
// asked for. Fields come in the order of their names, so that two runs see the same.
func (x *exchange) request() *event.Request {
	r := x.r
	x.accepts = strings.Join(r.Header["Accept-Encoding"], ", ")
	delete(r.Header, "Accept-Encoding") // workers see what the edge accepts, as with wrangler dev
	if x.cause = "fetch"; x.g.opts.Points.On() && r.Header.Get(killpoint.QuestionMark) != "" {
		r.Header.Del(killpoint.QuestionMark)
		x.cause = killpoint.Question
	}
	upgrade := netx.IsUpgrade(r)
	header := framed(r, upgrade)
	x.origins = x.g.origins(r)
	if _, ok := r.Header["Cf-Connecting-Ip"]; !ok {
		if ip, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
			header = append(header, event.Field{Name: "CF-Connecting-IP", Value: ip})
		}
	}
	header = append(header, event.Field{Name: "Accept-Encoding", Value: "br, gzip"}, event.Field{Name: "Host", Value: r.Host})
	header = x.origins.inwards(header)
	req := &event.Request{
		Method: r.Method,
		URL:    x.g.written(x.origins.inner.String(), target(r)),
		Header: header,
		CF:     x.g.cfOf(x.accepts),
		// A redirect is the client's to follow.
		Upgrade: upgrade,
		Cause:   killpoint.Inherited(x.cause),
		Home:    x.origins.inner == x.origins.outer && x.g.isHere(r.Host),
	}
	if r.Body != nil && r.Body != http.NoBody {
		body := netx.NewReaderBody(r.Body, r.ContentLength, x.g.opts.Scheduler.Go)
		body.Fail = func(error) error { x.cutShort.Store(true); lost := *netx.ErrLost; return &lost }
		x.body, req.Body = body, body
	} else if mayHaveBody(r) {
		req.Body = event.Bytes(nil)
	}
	return req
}

// mayHaveBody reports whether workers see a body that the client left out, as with
// wrangler dev: an empty one.
func mayHaveBody(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}

// framed are the fields of a request without those that concern its connection alone,
// and with one that tells of its body, as workers see them with wrangler dev.
func framed(r *http.Request, upgrade bool) event.Header {
	header := netx.FromHTTP(r.Header)
	header = slices.DeleteFunc(header, func(f event.Field) bool {
		if !f.Leaves() {
			return true
		}
		switch f.Name {
		case "Connection", "Upgrade":
			return !upgrade
		case "Content-Length":
			return r.ContentLength < 0 || r.ContentLength == 0 && !mayHaveBody(r)
		case "Keep-Alive", "Te", "Trailer":
			return true
		}
		return false
	})
	switch {
	case r.ContentLength < 0:
		header = append(header, event.Field{Name: "Transfer-Encoding", Value: "chunked"})
	case r.ContentLength == 0 && mayHaveBody(r) && !header.Has("Content-Length"):
		header = append(header, event.Field{Name: "Content-Length", Value: "0"})
	}
	return header
}

// record is the number of the request's record.
func (x *exchange) record() int64 {
	if x.asked == nil {
		return 0
	}
	return x.asked.Record
}

// headWritten tells the log.
func (x *exchange) headWritten(status int) {
	if x.g.opts.Log == nil {
		return
	}
	x.g.opts.Log(RequestLog{Method: x.r.Method, Path: x.r.URL.EscapedPath(), Status: status, Reason: cmp.Or(x.reason, event.Reason(status)),
		Duration: x.g.opts.Machine.Now().Sub(x.start), Record: x.record()})
}

// upgrade answers with 101 and carries frames until the socket is over.
func (x *exchange) upgrade(resp *event.Response) {
	points := x.g.opts.Points
	conn, err := netx.Accept(x.w, x.r, resp.Header, func(write func() error) error {
		return points.Effect(killpoint.Response, resp.Object, x.cause, write)
	})
	if err != nil {
		resp.Socket.Drop(netx.CloseLost, netx.LostCloseReason, nil)
		var wrong *netx.HandshakeError
		if errors.As(err, &wrong) {
			x.w.CloseAfter()
			x.page(wrong.Status, append(event.Header{{Name: "Content-Type", Value: "text/plain"}}, wrong.Header...), wrong.Text)
			return
		}
		x.g.opts.Warn(err.Error())
		return
	}
	x.headWritten(http.StatusSwitchingProtocols)
	x.free()
	x.g.couple(conn, resp.Socket)
}

// couple carries a socket's frames on a goroutine of its own: that of the
// request has grown a large stack and holds on to the request.
func (g *Gateway) couple(conn *netx.Conn, end *event.Socket) {
	if !g.enter() {
		conn.Close()
		end.Drop(netx.CloseLost, netx.LostCloseReason, nil)
		return
	}
	c := netx.NewCoupling(conn, end, netx.CoupleOptions{Spawn: g.opts.Scheduler.Go, Points: g.opts.Points})
	g.mu.Lock()
	g.sockets[c] = struct{}{}
	closing := g.closing
	g.mu.Unlock()
	if closing {
		c.Cut(nil)
	}
	sched.Attend(g.opts.Scheduler, "websocket", func() {
		defer g.leave()
		c.Run()
		g.mu.Lock()
		delete(g.sockets, c)
		g.mu.Unlock()
	})
}
