package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
)

// errGone is the reason with which a request is cancelled when its client
// hangs up.
var errGone = &event.Error{Name: "Error", Message: "The client disconnected."}

// exchange is one request on its way through. Its connection's goroutine owns
// it, except for what mu guards.
type exchange struct {
	g       *Gateway
	w       http.ResponseWriter
	r       *http.Request
	flusher *http.ResponseController
	result  chan result // holds one
	body    *netx.ReaderBody
	cancel  func(error)
	start   time.Time
	freed   bool
	accepts string   // the client's Accept-Encoding
	encoder *encoder // nil: the body goes out as it is
	object  string   // whose response it is, for kill points
	cause   string   // what it counts as there

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
	x.cancel = x.g.opts.Handler(x.request(), x.done)
	defer x.finishBody()
	var res result
	select {
	case res = <-x.result:
	default:
		select {
		case res = <-x.result:
		case <-x.r.Context().Done():
			x.abandon()
			return
		}
	}
	if res.err != nil || res.resp == nil {
		if res.err == nil {
			res.err = errors.New("the worker gave no response")
		}
		x.fail(res.err)
		return
	}
	if res.resp.Socket != nil {
		x.upgrade(res.resp)
		return
	}
	x.respond(res.resp)
	x.drain()
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

// drainMost is how much of a body nobody wants is read to keep its connection, and
// drainPatience for how long: both are net/http's affair where it drains by itself.
const (
	drainMost     = 256 << 10
	drainPatience = time.Second
)

// drain reads what the worker left of a short body, behind the response. net/http
// would do so after the handler; but when both sides may talk at once it then
// waits for the next request in two places, and panics.
func (x *exchange) drain() {
	if x.body == nil || x.r.ContentLength > drainMost || x.r.Header.Get("Expect") != "" {
		return
	}
	x.body.Cancel(netx.ErrLost)
	c := connOf(x.r)
	if c == nil || c.dead.Load() || x.flusher.Flush() != nil {
		return
	}
	timer := clock.Real{}.AfterFunc(drainPatience, c.stopReading)
	defer timer.Stop()
	// An error ends the connection, of which net/http hears by itself.
	_, _ = io.CopyN(io.Discard, x.r.Body, drainMost+1)
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
	x.accepts = strings.Join(r.Header["Accept-Encoding"], ",")
	delete(r.Header, "Accept-Encoding") // workers see what the edge accepts, as with wrangler dev
	if x.cause = "fetch"; x.g.opts.Points.On() && r.Header.Get(killpoint.QuestionMark) != "" {
		r.Header.Del(killpoint.QuestionMark)
		x.cause = killpoint.Question
	}
	header := netx.FromHTTP(r.Header)
	if _, ok := r.Header["Cf-Connecting-Ip"]; !ok {
		if ip, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
			header = append(header, event.Field{Name: "CF-Connecting-IP", Value: ip})
		}
	}
	header = append(header, event.Field{Name: "Accept-Encoding", Value: "br, gzip"}, event.Field{Name: "Host", Value: r.Host})
	req := &event.Request{
		Method: r.Method,
		URL:    absolute(r),
		Header: header,
		CF:     x.g.opts.CF,
		// A redirect is the client's to follow.
		Redirect: "manual",
		Upgrade:  netx.IsUpgrade(r),
		Cause:    killpoint.Inherited(x.cause),
	}
	if r.Body != nil && r.Body != http.NoBody {
		// A worker may answer while it reads. Where that cannot be enabled,
		// net/http reads the body before it writes.
		_ = x.flusher.EnableFullDuplex()
		body := netx.NewReaderBody(r.Body, r.ContentLength, x.g.opts.Scheduler.Go)
		body.Fail = func(error) error { lost := *netx.ErrLost; return &lost }
		body.Unblock = func() {
			if c := connOf(r); c != nil && body.Busy() {
				c.stopReading()
			}
		}
		x.body, req.Body = body, body
	}
	return req
}

// absolute is the request's URL as the client meant it.
func absolute(r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") {
		if target = r.URL.RequestURI(); !strings.HasPrefix(target, "/") {
			target = "/"
		}
	}
	if r.TLS != nil {
		return "https://" + r.Host + target
	}
	return "http://" + r.Host + target
}

// headWritten tells the log.
func (x *exchange) headWritten(status int) {
	if x.g.opts.Log == nil {
		return
	}
	x.g.opts.Log(RequestLog{Method: x.r.Method, Path: x.r.URL.EscapedPath(), Status: status,
		Duration: x.g.opts.Machine.Now().Sub(x.start)})
}

// upgrade answers with 101 and carries frames until the socket is over.
func (x *exchange) upgrade(resp *event.Response) {
	points := x.g.opts.Points
	header := resp.Header
	if p := resp.Socket.Protocol; p != "" && !header.Has("Sec-WebSocket-Protocol") {
		header = append(header[:len(header):len(header)], event.Field{Name: "Sec-WebSocket-Protocol", Value: p})
	}
	conn, err := netx.Accept(x.w, x.r, header, func(write func() error) error {
		return points.Effect(killpoint.Response, resp.Object, x.cause, write)
	})
	if err != nil {
		resp.Socket.Drop(netx.CloseLost, netx.LostCloseReason, nil)
		if errors.Is(err, netx.ErrHandshake) {
			x.page(http.StatusUpgradeRequired, event.Header{{Name: "Connection", Value: "Upgrade"}, {Name: "Upgrade", Value: "websocket"},
				{Name: "Content-Type", Value: "text/plain; charset=utf-8"}}, err.Error()+"\n")
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
