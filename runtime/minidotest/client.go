package minidotest

import (
	"fmt"

	"minido.dev/minido/runtime/world"
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
	socket *world.Socket
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
	w.world.Dial(url, nil, world.Receiver{Message: c.take, Close: func(code int, reason string, clean bool) {
		c.Closed = &Closed{code, reason, clean}
	}}, func(s *world.Socket, r *world.Response) {
		c.socket = s
		c.Response.Status, c.Response.Body, c.Response.Err = r.Status, string(r.Body), r.Err
	})
	if err := w.Until(c.Response.Done); err != nil {
		w.t.Fatalf("dial %s: %v", url, err)
	}
	return c
}

func (c *Client) take(binary bool, data []byte) {
	text := string(data)
	if binary {
		text = fmt.Sprintf("bytes:%x", data)
	}
	c.Messages = append(c.Messages, text)
}

// Send sends a text message.
func (c *Client) Send(text string) {
	c.w.t.Helper()
	if err := c.socket.Send(false, []byte(text)); err != nil {
		c.w.t.Fatalf("send %q: %v", text, err)
	}
}

// SendBytes sends a binary message.
func (c *Client) SendBytes(b []byte) {
	c.w.t.Helper()
	if err := c.socket.Send(true, b); err != nil {
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
func (c *Client) Drop() { c.socket.Drop(nil) }

// Fail loses the connection for a reason that the worker hears of.
func (c *Client) Fail(err error) { c.socket.Drop(err) }

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

// Ask sends a message and returns the answer.
func (c *Client) Ask(text string) string {
	c.w.t.Helper()
	c.Send(text)
	got := c.Next(1)
	if len(got) != 1 {
		c.w.t.Fatalf("%s: got %q, closed %+v", text, got, c.Closed)
	}
	return got[0]
}

// Want compares the answer of Ask.
func (c *Client) Want(want, text string) {
	c.w.t.Helper()
	if got := c.Ask(text); got != want {
		c.w.t.Errorf("%s: got %s, want %s", text, got, want)
	}
}
