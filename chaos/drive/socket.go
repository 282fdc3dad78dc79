package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/history"
)

// Socket is a WebSocket of a client's, in one life of the server. Its calls may
// come from any goroutine, one send and one receive at a time.
type Socket struct {
	session *Session
	conn    agentrpc.Conn
	who     string
	number  int // of the sockets that were opened, from 1
	sent    int // frames; of who sends

	ended sync.Once // its end is written to the history once
}

// end tells the history why the connection has ended, in the words that the
// checker of sockets knows.
func (k *Socket) end(why string) {
	k.ended.Do(func() { k.session.history.Add(history.Event{Kind: history.Close, Who: k.who, Text: why}) })
}

// OpenSocket connects to a path of the present server.
//
// # Errors
//
// ErrUnsent; ErrRefused if the server answered with something else than a
// socket; agentrpc.ErrLost if it died meanwhile.
func (s *Session) OpenSocket(ctx context.Context, path string, header map[string]string) (*Socket, error) {
	if err := s.waitToOpen(ctx); err != nil {
		return nil, err
	}
	if err := s.operate(ctx, false); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	ctx, cancel := s.limited(ctx)
	defer cancel()
	n, url := s.number()
	if url == "" {
		return nil, ErrUnsent
	}
	h := http.Header{}
	for k, v := range header { // order-independent: names are distinct
		h.Set(k, v)
	}
	conn, response, err := s.dial(ctx, "ws"+strings.TrimPrefix(url, "http")+path, h)
	if err != nil {
		s.history.Add(history.Event{Kind: history.Fail, Who: fmt.Sprint(history.SocketPrefix, n), Text: "connect " + path + ": " + err.Error()})
		if response != nil && response.StatusCode > 0 {
			return nil, &StatusError{response.StatusCode, fmt.Sprintf("%s: status %d: %v", path, response.StatusCode, err)}
		}
		return nil, fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	conn.SetReadLimit(agentrpc.MaxFrame)
	socket := &Socket{session: s, conn: conn, who: fmt.Sprint(history.SocketPrefix, n)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.url != url { // the life ended meanwhile
		socket.cut()
		return nil, ErrUnsent
	}
	s.operations++
	s.dialled++
	s.done++
	socket.number = s.dialled
	s.sockets = append(s.sockets, socket)
	s.history.Add(history.Event{Kind: history.Connect, Who: socket.who, Text: path})
	return socket, nil
}

// cut ends the connection without a Close frame: its server's life is over.
func (k *Socket) cut() {
	k.end(history.ByClient + " after the server's end")
	_ = k.conn.CloseNow() // it may have ended already
}

// Send sends a text frame.
//
// # Errors
//
// agentrpc.ErrLost if the connection has ended: the frame may have arrived.
func (k *Socket) Send(ctx context.Context, text string) error {
	if err := k.session.operate(ctx, true); err != nil {
		return fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	}
	k.session.history.Add(history.Event{Kind: history.Send, Who: k.who, Data: asJSON([]byte(text))})
	if k.sent++; k.session.swallows(k.number, k.sent) {
		return nil
	}
	if err := k.conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		return fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	}
	return nil
}

// Frame is what Receive returns: a text, or the server's Close frame.
type Frame struct {
	Text   string `json:"text,omitempty"`
	Closed bool   `json:"closed,omitempty"`
	Code   int    `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Receive waits for the next frame.
//
// # Errors
//
// agentrpc.ErrLost if the connection ended without a Close frame, or nothing
// came within the session's limit.
func (k *Socket) Receive(ctx context.Context) (Frame, error) {
	if err := k.session.operate(ctx, false); err != nil {
		return Frame{}, fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	}
	ctx, cancel := k.session.limited(ctx)
	defer cancel()
	_, data, err := k.conn.Read(ctx)
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed):
		k.end(err.Error())
		return Frame{Closed: true, Code: int(closed.Code), Reason: closed.Reason}, nil
	case err != nil:
		text := err.Error()
		if ctx.Err() != nil { // the library closes a connection on which nobody waits any more
			text = history.GivenUp + ": " + text
		}
		k.end(text)
		return Frame{}, fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	}
	k.session.operated()
	k.session.history.Add(history.Event{Kind: history.Receive, Who: k.who, Data: asJSON(data)})
	return Frame{Text: string(data)}, nil
}

// closeWait is how long a client waits for the server's Close frame, of the session's clock. A
// hibernatable socket whose handler does not call close() is never answered; browsers and
// Node.js then hang up, too, after some seconds.
const closeWait = time.Second

// Close ends the connection with a Close frame and waits for the server's, for closeWait at
// the most: then it hangs up.
//
// # Errors
//
// agentrpc.ErrLost if the connection has ended already, or ends before the answer.
func (k *Socket) Close(code int, reason string) error {
	k.end(fmt.Sprintf("%s: %d %s", history.ByClient, code, reason))
	var hungUp atomic.Bool
	timer := k.session.scheduler.Clock().AfterFunc(closeWait, func() {
		hungUp.Store(true)
		_ = k.conn.CloseNow() // it may have ended already
	})
	defer timer.Stop()
	if err := k.conn.Close(websocket.StatusCode(code), reason); err != nil && !hungUp.Load() {
		return fmt.Errorf("%w: %w", agentrpc.ErrLost, err)
	}
	return nil
}
