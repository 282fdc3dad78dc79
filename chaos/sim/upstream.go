package sim

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/world"
)

// Handler has h answer on the simulation's network. Each request is a routine,
// so h may wait (sched.Wait); what it writes waits for its reader. The request's
// context is done when the caller is gone or the simulation has ended. Hijack and
// Close reset the connection.
func Handler(s *world.Sim, h http.Handler) netx.Handler {
	scheduler := s.Scheduler()
	return func(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
		ctx, cut := context.WithCancelCause(s.Context())
		w := &responseWriter{scheduler: scheduler, slow: s.IsSlow(), header: http.Header{}, url: req.URL, done: done, ctx: ctx}
		scheduler.Go("upstream", func() {
			body, err := readBody(scheduler, req.Body)
			if err != nil {
				return // the caller is gone before it had asked
			}
			r, err := http.NewRequestWithContext(ctx, req.Method, req.URL, bytes.NewReader(body))
			if err != nil {
				w.answer(nil, &event.Error{Name: "TypeError", Message: err.Error()})
				return
			}
			for _, f := range req.Header {
				r.Header.Add(f.Name, f.Value)
			}
			h.ServeHTTP(w, r)
			w.finish()
		})
		return func(reason error) {
			cut(reason)
			w.close(reason)
		}
	}
}

func readBody(s sched.Scheduler, body event.Body) (all []byte, err error) {
	over := false
	event.ReadAll(body, 0, func(b []byte, e error) { all, err, over = b, e, true })
	sched.Wait(s, func() bool { return over })
	if !over {
		return nil, io.ErrUnexpectedEOF // the simulation has ended
	}
	return all, err
}

// responseWriter is one answer of an upstream. It belongs to the simulation's
// goroutine.
type responseWriter struct {
	scheduler sched.Scheduler
	slow      bool // the body may come after the head, not with it
	ctx       context.Context
	header    http.Header
	url       string
	pipe      *event.Pipe // nil before the head
	done      func(*event.Response, error)
	told      bool
}

var errCut = errors.New("sim: the caller is gone")

// Header implements http.ResponseWriter.
func (w *responseWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(status int) {
	if w.pipe != nil || w.told {
		return
	}
	w.pipe = event.NewPipe(-1)
	w.answer(&event.Response{Status: status, StatusText: http.StatusText(status), Header: netx.FromHTTP(w.header), Body: w.pipe, URL: w.url}, nil)
}

func (w *responseWriter) answer(resp *event.Response, err error) {
	if !w.told {
		w.told = true
		w.done(resp, err)
	}
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(p []byte) (int, error) {
	if w.pipe == nil {
		w.WriteHeader(http.StatusOK)
		w.lag()
	}
	if w.pipe == nil || w.ctx.Err() != nil {
		return 0, errCut
	}
	taken, failed := false, error(nil)
	w.pipe.Write(append([]byte(nil), p...), func(err error) { taken, failed = true, err })
	sched.Wait(w.scheduler, func() bool { return taken || w.ctx.Err() != nil })
	switch {
	case failed != nil:
		return 0, failed
	case !taken:
		return 0, errCut
	}
	return len(p), nil
}

// lag gives the reader of the head, on a slow machine, a chance to look for the
// body before there is any.
func (w *responseWriter) lag() {
	if !w.slow {
		return
	}
	over := false
	w.scheduler.Go("body", func() { over = true })
	sched.Wait(w.scheduler, func() bool { return over })
}

// Flush implements http.Flusher: nothing is held back.
func (w *responseWriter) Flush() {}

func (w *responseWriter) finish() {
	w.WriteHeader(http.StatusOK)
	w.close(nil)
}

// close ends the answer, with an error as a connection that breaks does.
func (w *responseWriter) close(err error) {
	if w.pipe != nil {
		w.pipe.Close(err)
		return
	}
	if err != nil {
		w.answer(nil, err)
	}
}

// Hijack implements http.Hijacker; the connection that it returns can only be
// closed, which resets it.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return hijacked{w}, nil, nil
}

type hijacked struct{ w *responseWriter }

// Close implements net.Conn: the peer loses the connection.
func (h hijacked) Close() error {
	h.w.close(netx.ErrLost)
	return nil
}

var errHijacked = errors.New("sim: a hijacked connection can only be closed")

// Read implements net.Conn.
func (hijacked) Read([]byte) (int, error) { return 0, errHijacked }

// Write implements net.Conn.
func (hijacked) Write([]byte) (int, error) { return 0, errHijacked }

// LocalAddr implements net.Conn.
func (hijacked) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (hijacked) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline implements net.Conn.
func (hijacked) SetDeadline(time.Time) error { return errHijacked }

// SetReadDeadline implements net.Conn.
func (hijacked) SetReadDeadline(time.Time) error { return errHijacked }

// SetWriteDeadline implements net.Conn.
func (hijacked) SetWriteDeadline(time.Time) error { return errHijacked }
