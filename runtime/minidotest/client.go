package minidotest

import (
	"cmp"
	"fmt"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/event"
)

// Client is the client's end of a WebSocket. It belongs to the test's
// goroutine, on which all of a World runs.
type Client struct {
	// Response is the answer to the upgrade request.
	Response *Response
	// Messages are what has arrived, in order; binary ones as "bytes:" and hex.
	Messages []string
	// Closed is nil while the connection is open.
	Closed *Closed

	w      *World
	socket *event.Socket
}

// Closed says how the server ended a connection.
type Closed struct {
	Code   int
	Reason string
	Clean  bool // with a Close frame
}

// Dial opens a WebSocket and steps the world until the server has answered.
func (w *World) Dial(url string) *Client {
	w.t.Helper()
	c := &Client{w: w, Response: &Response{}}
	req := &event.Request{Method: "GET", URL: url, Upgrade: true, Header: event.Header{
		{Name: "Host", Value: "localhost"}, {Name: "Upgrade", Value: "websocket"}, {Name: "Connection", Value: "Upgrade"}}}
	w.Server.Fetch(req, func(resp *event.Response, err error) {
		if err != nil {
			c.Response.Status, c.Response.Err = 500, err
			return
		}
		c.Response.Status = resp.Status
		if resp.Socket != nil {
			c.socket = resp.Socket
			c.socket.Bind(c)
		}
	})
	if err := w.Until(c.Response.Done); err != nil {
		w.t.Fatalf("dial %s: %v", url, err)
	}
	return c
}

// OnMessage implements event.Receiver.
func (c *Client) OnMessage(m event.Message) {
	text := string(m.Data)
	if m.Binary {
		text = fmt.Sprintf("bytes:%x", m.Data)
	}
	c.w.seen(killpoint.Frame, c.socket.Object, cmp.Or(m.Cause, "message"), func() {
		c.w.note("client message %s", text)
		c.Messages = append(c.Messages, text)
	})
}

// OnClose implements event.Receiver. A Close frame is answered, as browsers do.
func (c *Client) OnClose(code int, reason string, clean bool) {
	c.w.seen(killpoint.Close, c.socket.Object, "message", func() {
		c.w.note("client close %d %s %v", code, reason, clean)
		c.Closed = &Closed{code, reason, clean}
	})
	if clean && !c.socket.Sent() {
		_ = c.socket.Close(code, reason) // fails only if it is closed already
	}
}

// OnError implements event.Receiver.
func (c *Client) OnError(err error) { c.w.note("client error %v", err) }

// Send sends a text message.
func (c *Client) Send(text string) {
	c.w.t.Helper()
	if err := c.socket.Send(event.Message{Data: []byte(text)}); err != nil {
		c.w.t.Fatalf("send %q: %v", text, err)
	}
}

// SendBytes sends a binary message.
func (c *Client) SendBytes(b []byte) {
	c.w.t.Helper()
	if err := c.socket.Send(event.Message{Binary: true, Data: b}); err != nil {
		c.w.t.Fatalf("send %d bytes: %v", len(b), err)
	}
}

// Close sends a Close frame; code 0 sends an empty one.
func (c *Client) Close(code int, reason string) {
	c.w.t.Helper()
	if err := c.socket.Close(code, reason); err != nil {
		c.w.t.Fatalf("close: %v", err)
	}
}

// Drop loses the connection without a Close frame.
func (c *Client) Drop() { c.socket.Drop(1006, "", nil) }

// Next steps the world until n messages have arrived and returns them.
func (c *Client) Next(n int) []string {
	c.w.t.Helper()
	if err := c.w.Until(func() bool { return len(c.Messages) >= n || c.Closed != nil }); err != nil {
		c.w.t.Fatalf("wait for %d messages, got %q: %v", n, c.Messages, err)
	}
	got := c.Messages
	c.Messages = nil
	return got
}
