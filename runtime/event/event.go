// Package event is the vocabulary that crosses contexts: requests, responses,
// sockets, calls and errors as plain Go values. Nothing here knows of goja;
// JavaScript values travel as structured-clone bytes (runtime/clone).
package event

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// Field is one header line; names keep the case they were given.
type Field struct{ Name, Value string }

// Header is a list of header lines in order of arrival; a name may repeat.
type Header []Field

// Get is the first value of name, compared without regard to case, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Has reports whether name occurs.
func (h Header) Has(name string) bool {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// Request is an HTTP request on its way into a context or out of one. It is
// immutable once handed on; its Body has one consumer.
type Request struct {
	Method string
	URL    string // absolute
	Header Header
	Body   Body   // nil: none
	CF     []byte // JSON of request.cf; nil: none
	// Upgrade says that the peer asked for a WebSocket (Upgrade: websocket).
	Upgrade bool
	// Raw says that the response's body is wanted as it travels, in whatever
	// encoding (encodeResponseBody "manual").
	Raw bool
	// NoBrotli leaves a body in brotli as it is.
	NoBrotli bool
	// Cause, unless empty, names what the receiver's turns count as at effect
	// points (killpoint.Inherited).
	Cause string
	// Parent is the event that calls, for tail workers; nil: nobody wants to know.
	Parent *Span
	// Home says that its URL is the one at which this server was asked: a request that is
	// sent on to it comes back.
	Home bool
	// Record is the number under which a recorder keeps the request; 0: none does. Set
	// before the handler that got it returns.
	Record int64
}

// Response is an HTTP response on its way back.
type Response struct {
	Status     int
	StatusText string
	Header     Header
	Body       Body    // nil: none (a null body)
	Socket     *Socket // with status 101: the end that belongs to the receiver
	Tunnel     Tunnel  // of a request with the method CONNECT that succeeded
	URL        string  // final URL, of responses to an outbound fetch
	Redirected bool
	CF         []byte
	// Object labels the durable object whose response this is ("Class/name"),
	// also after a worker has passed it on unchanged; "" if none answered.
	Object string
	// EncodeBody is "automatic" (the gateway may compress by Content-Encoding)
	// or "manual" (the body is already encoded). "" is automatic.
	EncodeBody string
}

// Body is a stream of bytes that its one consumer pulls.
type Body interface {
	// Read asks for the next chunk. cb is called exactly once, from any
	// goroutine and possibly before Read returns, with a non-empty chunk and
	// nil, or with nil and io.EOF at the end, or with nil and the error that
	// broke the stream. One Read may be outstanding at a time. The chunk
	// belongs to the consumer.
	Read(cb func(chunk []byte, err error))
	// Cancel says that nobody will read on. It may be called at any time,
	// also while a Read is outstanding, which then ends with an error.
	Cancel(reason error)
	// Length is the number of bytes to come, -1 if unknown.
	Length() int64
}

// Bytes returns a Body of one chunk; it keeps b.
func Bytes(b []byte) Body { return &bytesBody{rest: b, length: int64(len(b))} }

type bytesBody struct {
	rest   []byte
	length int64
}

func (b *bytesBody) Read(cb func([]byte, error)) {
	chunk := b.rest
	b.rest = nil
	if len(chunk) == 0 {
		cb(nil, io.EOF)
		return
	}
	cb(chunk, nil)
}
func (b *bytesBody) Cancel(error)  { b.rest = nil }
func (b *bytesBody) Length() int64 { return b.length }

// IsBytes reports whether b was made by Bytes, guarded or not: nobody waits for it to
// be read.
func IsBytes(b Body) bool {
	_, ok := bytesOf(b)
	return ok
}

// Peek returns what is left of a body made by Bytes, and leaves it there; of others
// nil.
func Peek(b Body) []byte {
	if bb, ok := bytesOf(b); ok {
		return bb.rest
	}
	return nil
}

// Buffered returns the whole of a body made by Bytes and not read yet, so that
// small bodies need no pull.
func Buffered(b Body) ([]byte, bool) {
	bb, ok := bytesOf(b)
	if !ok {
		return nil, false
	}
	if g, guarded := b.(*Guarded); guarded {
		g.finish()
	}
	chunk := bb.rest
	bb.rest = nil
	return chunk, true
}

// ReadAll pulls a body to its end and calls done once. A body longer than
// limit bytes fails with an error that says so; limit <= 0 means none.
func ReadAll(b Body, limit int64, done func([]byte, error)) {
	if b == nil {
		done(nil, nil)
		return
	}
	if whole, ok := Buffered(b); ok {
		if limit > 0 && int64(len(whole)) > limit {
			done(nil, fmt.Errorf("body of %d bytes exceeds the limit of %d", len(whole), limit))
			return
		}
		done(whole, nil)
		return
	}
	r := &allReader{body: b, limit: limit, done: done}
	r.run()
}

// allReader loops instead of recursing when chunks arrive synchronously. Its
// fields belong to whoever holds the turn: the loop, or the pending callback.
type allReader struct {
	body  Body
	limit int64
	all   []byte
	done  func([]byte, error)
}

func (r *allReader) run() {
	for {
		var turn atomic.Int32 // 1: the chunk came before Read returned; 2: Read returned first
		more := false
		r.body.Read(func(chunk []byte, err error) {
			more = r.take(chunk, err)
			if !turn.CompareAndSwap(0, 1) && more {
				r.run()
			}
		})
		if turn.CompareAndSwap(0, 2) || !more {
			return
		}
	}
}

// take adds a chunk and reports whether there is more to read.
func (r *allReader) take(chunk []byte, err error) bool {
	switch {
	case err == io.EOF:
		r.done(r.all, nil)
	case err != nil:
		r.done(nil, err)
	case r.limit > 0 && int64(len(r.all)+len(chunk)) > r.limit:
		err := fmt.Errorf("body exceeds the limit of %d bytes", r.limit)
		r.body.Cancel(err)
		r.done(nil, err)
	default:
		r.all = append(r.all, chunk...)
		return true
	}
	return false
}
