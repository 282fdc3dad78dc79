package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/world"
)

// conn is a client's WebSocket. Its calls that wait must come from routines.
type conn struct {
	scheduler sched.Scheduler
	socket    *world.Socket
	queue     []received
	end       error // what Read says once the queue is empty
}

type received struct {
	kind websocket.MessageType
	data []byte
}

var _ agentrpc.Conn = (*conn)(nil)

// dial is an agentrpc.Dialer.
func (s *System) dial(ctx context.Context, url string, header http.Header) (agentrpc.Conn, *http.Response, error) {
	c := &conn{scheduler: s.Scheduler()}
	var answer *world.Response
	s.World.Dial("http"+strings.TrimPrefix(url, "ws"), netx.FromHTTP(header), world.Receiver{Message: c.take, Close: c.closed},
		func(socket *world.Socket, r *world.Response) { c.socket, answer = socket, r })
	sched.Wait(c.scheduler, func() bool { return answer != nil || ctx.Err() != nil })
	switch {
	case answer == nil:
		return nil, nil, fmt.Errorf("dial: %w", context.Cause(ctx))
	case c.socket != nil:
		return c, nil, nil
	case answer.Status == 0:
		return nil, nil, fmt.Errorf("dial: %w", netx.ErrLost)
	}
	response := &http.Response{StatusCode: answer.Status, Body: io.NopCloser(strings.NewReader(string(answer.Body)))}
	return nil, response, fmt.Errorf("expected handshake response status code 101 but got %d", answer.Status)
}

func (c *conn) take(binary bool, data []byte) {
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	c.queue = append(c.queue, received{kind, data})
}

func (c *conn) closed(code int, reason string, clean bool) {
	if c.end != nil {
		return
	}
	if clean {
		c.end = fmt.Errorf("received close frame: %w", websocket.CloseError{Code: websocket.StatusCode(code), Reason: reason})
		return
	}
	c.end = fmt.Errorf("failed to read frame header: %w", io.EOF)
}

// Read implements agentrpc.Conn.
func (c *conn) Read(ctx context.Context) (websocket.MessageType, []byte, error) {
	sched.Wait(c.scheduler, func() bool { return len(c.queue) > 0 || c.end != nil || ctx.Err() != nil })
	switch {
	case len(c.queue) > 0:
		m := c.queue[0]
		c.queue = c.queue[1:]
		return m.kind, m.data, nil
	case c.end != nil:
		return 0, nil, c.end
	case ctx.Err() == nil:
		return 0, nil, io.ErrUnexpectedEOF // the simulation has ended
	}
	_ = c.CloseNow()
	return 0, nil, context.Cause(ctx)
}

// Write implements agentrpc.Conn.
func (c *conn) Write(_ context.Context, kind websocket.MessageType, data []byte) error {
	if c.end != nil {
		return c.end
	}
	return c.socket.Send(kind == websocket.MessageBinary, append([]byte(nil), data...))
}

// Close implements agentrpc.Conn.
func (c *conn) Close(code websocket.StatusCode, reason string) error {
	if err := c.socket.Close(int(code), reason); err != nil {
		return err
	}
	sched.Wait(c.scheduler, func() bool { return c.end != nil })
	return nil
}

// CloseNow implements agentrpc.Conn: what was not read yet is lost.
func (c *conn) CloseNow() error {
	c.queue = nil
	if c.end == nil {
		c.end = io.ErrClosedPipe
		c.socket.Drop(nil)
	}
	return nil
}

// SetReadLimit implements agentrpc.Conn: frames within a process have no limit
// that could be met before the server's own.
func (c *conn) SetReadLimit(int64) {}

// exchange does a client's HTTP request.
func (s *System) exchange(r *http.Request) (drive.Result, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return drive.Result{}, fmt.Errorf("sim: %w", err)
		}
	}
	req := world.Request(r.Method, r.URL.String(), "")
	if len(body) > 0 { // it comes after the head, as from a network
		pipe := event.NewPipe(int64(len(body)))
		req.Body = pipe
		s.Scheduler().Go("client body", func() {
			pipe.Write(body, func(err error) {
				if err == nil {
					pipe.Close(nil)
				}
			})
		})
	}
	req.Header = append(req.Header, netx.FromHTTP(r.Header)...)
	answer := s.World.Send(req)
	sched.Wait(s.Scheduler(), func() bool { return answer.Done() || r.Context().Err() != nil })
	switch {
	case !answer.Done():
		return drive.Result{}, context.Cause(r.Context())
	case answer.Status == 0, errors.Is(answer.Err, netx.ErrLost): // also one whose body was cut
		return drive.Result{}, answer.Err
	}
	return drive.Result{Data: asJSON(answer), Status: answer.Status}, nil
}

func asJSON(r *world.Response) json.RawMessage {
	text := r.Body
	if r.Err != nil && len(text) == 0 {
		text = []byte(r.Err.Error())
	}
	if len(text) == 0 || json.Valid(text) {
		return text
	}
	quoted, err := json.Marshal(strings.ToValidUTF8(string(text), "\uFFFD"))
	if err != nil {
		return nil // a string always marshals
	}
	return quoted
}

var _ event.Receiver = (*world.Socket)(nil)
