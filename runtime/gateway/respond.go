package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"sync/atomic"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
)

// respond writes a response. After the head, a failure cuts the connection, so
// that no client takes a broken body for a whole one.
func (x *exchange) respond(resp *event.Response) {
	x.object = resp.Object
	length, body := x.head(resp)
	if body == nil || x.g.opts.Points.On() {
		x.stream(resp.Status, body, length)
		return
	}
	whole, ok := event.Buffered(body)
	if !ok {
		x.stream(resp.Status, body, length)
		return
	}
	// The head and a body that is at hand leave in one write, when the handler returns.
	if x.encoder != nil {
		whole = x.encoder.All(whole)
	}
	x.w.Header()["Content-Length"] = []string{strconv.Itoa(len(whole))}
	x.w.WriteHeader(resp.Status)
	err := x.g.opts.Points.Effect(killpoint.Response, x.object, x.cause, func() error {
		_, err := x.w.Write(whole)
		return err
	})
	x.headWritten(resp.Status)
	if err != nil {
		x.broken(nil)
	}
}

// head fills the response's header in and returns the body to send, nil for
// none, and its length, -1 if it is not known.
func (x *exchange) head(resp *event.Response) (int64, event.Body) {
	if resp.Status < 200 || resp.Status > 999 {
		x.g.opts.Warn("a worker's response had the status " + strconv.Itoa(resp.Status) + "; sent as 500")
		resp.Status, resp.StatusText = http.StatusInternalServerError, event.Reason(http.StatusInternalServerError)
	}
	x.reason = resp.StatusText
	x.w.SetReason(x.reason)
	h := x.w.Header()
	h["Date"] = nil // workerd sends none, and the recorded bytes stay the same
	for _, f := range x.origins.outwards(resp.Header) {
		if !f.Leaves() {
			continue
		}
		switch textproto.CanonicalMIMEHeaderKey(f.Name) {
		case "Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade", "Te", "Trailer", "Content-Length":
		default:
			netx.AddLine(h, f)
		}
	}
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // keeps net/http from guessing
	}
	body, length := resp.Body, int64(0)
	if body != nil {
		length = body.Length()
		if x.encoder = x.chooseEncoding(resp); x.encoder != nil {
			length = -1
		}
	}
	null := netx.NullBody(resp.Status)
	switch {
	case x.r.Method == http.MethodHead:
		if given := resp.Header.Get("Content-Length"); resp.Body != nil && length >= 0 {
			h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
		} else if given != "" {
			h["Content-Length"] = []string{given}
		}
	case null:
	case length >= 0:
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	if null || x.r.Method == http.MethodHead {
		if _, received := body.(*netx.ReaderBody); received { // no code would see the difference
			body.Cancel(nil)
		} else if body != nil {
			x.drain(body)
		}
		return 0, nil
	}
	return length, body
}

// drainMost and drainFor bound what is read of a body that nobody gets: an endless one must not keep
// its worker at work.
const (
	drainMost = 16 << 20
	drainFor  = 30 * time.Second
)

// drain reads a body that nobody gets, as workerd does: whoever writes it notices nothing, until it
// is as long as drainMost, or has taken drainFor.
func (x *exchange) drain(body event.Body) {
	d := &drained{body: body, timer: x.g.opts.Machine.AfterFunc(drainFor, func() { body.Cancel(nil) })}
	d.read()
}

// drained is a body that is read for nobody. Its methods are called one after the other.
type drained struct {
	body  event.Body
	timer clock.Timer
	size  int
}

func (d *drained) read() {
	for {
		var second atomic.Bool // the callback and the return of Read: the second of them goes on
		ended := false
		d.body.Read(func(data []byte, err error) {
			if d.size += len(data); d.size > drainMost {
				d.body.Cancel(nil)
			}
			if ended = err != nil || d.size > drainMost; ended {
				d.timer.Stop()
			}
			if second.Swap(true) && !ended {
				d.read()
			}
		})
		if !second.Swap(true) || ended {
			return
		}
	}
}

// stream writes the head and then chunk after chunk, each as soon as it comes.
func (x *exchange) stream(status int, body event.Body, length int64) {
	points := x.g.opts.Points
	x.w.WriteHeader(status)
	head := x.w.FlushError
	if !points.On() {
		head = func() error { return nil } // it leaves with what comes first
	}
	if points.Effect(killpoint.Response, x.object, x.cause, head) != nil {
		x.broken(body)
	}
	if body == nil {
		x.headWritten(status)
		x.end()
		return
	}
	p := &puller{x: x, body: body, status: status, next: make(chan chunk, 1)}
	for sent := int64(0); ; {
		data, err := p.pull()
		if err == io.EOF && (length < 0 || sent == length) {
			break
		}
		if err == io.EOF {
			err = fmt.Errorf("the body ended after %d of %d bytes", sent, length)
		}
		if err != nil {
			x.cut(err)
		}
		if sent += int64(len(data)); length >= 0 && sent > length {
			body.Cancel(nil)
			x.cut(fmt.Errorf("the body is longer than the %d bytes announced", length))
		}
		if x.encoder != nil {
			data = x.encoder.Chunk(data)
		}
		if x.write(data) != nil {
			x.broken(body)
		}
	}
	if x.encoder != nil && x.write(x.encoder.Finish()) != nil {
		x.broken(nil)
	}
	p.log()
	x.end()
}

// puller takes a body chunk by chunk on the connection's goroutine.
type puller struct {
	x      *exchange
	body   event.Body
	status int
	next   chan chunk
	logged bool
}

// pull returns the next chunk. What has been written is flushed before it
// waits for one, so that nothing ready lingers here.
func (p *puller) pull() ([]byte, error) {
	p.body.Read(func(data []byte, err error) { p.next <- chunk{data, err} })
	select {
	case c := <-p.next:
		return c.data, c.err
	default:
	}
	if p.x.w.FlushError() != nil {
		p.x.broken(p.body)
	}
	p.log()
	select {
	case c := <-p.next:
		return c.data, c.err
	case <-p.x.r.Context().Done():
		p.x.broken(p.body)
		return nil, errGone
	}
}

func (p *puller) log() {
	if !p.logged {
		p.logged = true
		p.x.headWritten(p.status)
	}
}

type chunk struct {
	data []byte
	err  error
}

func (x *exchange) write(data []byte) error {
	points := x.g.opts.Points
	if !points.Heard() {
		_, err := x.w.Write(data)
		return err
	}
	return points.Effect(killpoint.Chunk, x.object, x.cause, func() error {
		if _, err := x.w.Write(data); err != nil || !points.On() {
			return err
		}
		return x.w.FlushError()
	})
}

// end is the effect of a body's end.
func (x *exchange) end() {
	points := x.g.opts.Points
	if !points.Heard() {
		return
	}
	// A response that cannot be ended ends its connection.
	_ = points.Effect(killpoint.Close, x.object, x.cause, func() error {
		if !points.On() {
			return nil // it ends when the handler returns
		}
		return x.w.Finish()
	})
}

// broken ends a response whose client is gone. It does not return.
func (x *exchange) broken(body event.Body) {
	if body != nil {
		body.Cancel(errGone)
	}
	if x.cancel != nil {
		x.cancel(errGone)
	}
	panic(http.ErrAbortHandler)
}

// cut ends a response that cannot be completed, for a reason on the worker's
// side. It does not return.
func (x *exchange) cut(err error) {
	x.g.opts.Warn("the response to " + x.r.Method + " " + x.r.URL.EscapedPath() + " was cut off: " + err.Error())
	panic(http.ErrAbortHandler)
}
