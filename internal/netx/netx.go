// Package netx is the network interface of minido: one HTTP exchange (Dialer), bodies
// that are pulled, and WebSockets coupled to event.Socket. The real network (Real)
// runs on goroutines that the scheduler starts; Memory answers from functions within
// the process and needs none, which is what a simulation runs on.
//
// WebSocket framing is implemented here and not taken from a library: in
// production a Close frame is answered by the worker (a socket whose peer has
// closed stays half open, in readyState CLOSING, until the worker closes it),
// while the libraries at hand answer it themselves and hang up.
package netx

import (
	"errors"

	"minido.dev/minido/runtime/event"
)

// Dialer performs outbound HTTP exchanges. Implementations are safe for
// concurrent use.
type Dialer interface {
	// Do sends req and calls done exactly once, from any goroutine but never
	// before Do has returned, with the response's head or an error in the
	// words that workerd uses. Redirects are not followed.
	//
	// A request with Upgrade is a WebSocket handshake; if the peer agrees, the
	// response has status 101 and a Socket. One with the method CONNECT opens a TCP
	// connection (event.Tunnel).
	//
	// cancel ends the exchange at whatever stage it is: done gets the reason
	// if it has not been called, a body that is still being read breaks with
	// it. It does nothing to an established WebSocket. It may be called more
	// than once, from any goroutine.
	Do(req *event.Request, done func(*event.Response, error)) (cancel func(error))
}

// Handler answers a request; it has the contract of Dialer.Do, except that
// done may be called before it returns.
type Handler func(req *event.Request, done func(*event.Response, error)) (cancel func(error))

// ErrLost is what workerd reports when a connection breaks or cannot be made.
var ErrLost = &event.Error{Name: "Error", Message: "Network connection lost.", Retryable: true}

// LostCloseReason is the reason that accompanies close code 1006.
const LostCloseReason = "WebSocket disconnected without sending Close frame."

// Close codes. CloseNoStatus and CloseLost are never sent.
const (
	CloseProtocol = 1002 // the peer broke the protocol
	CloseTooBig   = 1009 // a message was too large
	CloseNoStatus = 1005 // an empty Close frame
	CloseLost     = 1006 // no Close frame
)

// ErrAborted is the reason of a cancel that was given none.
var ErrAborted = errors.New("the operation was aborted")
