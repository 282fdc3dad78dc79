package debugport

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
)

// maxChunk is the most that one write carries.
const maxChunk = 1 << 20

// sink is a ByteStream that the peer writes into a pipe.
type sink struct {
	pipe *event.Pipe
	lost error  // what the reader gets when the peer goes before the end
	end  func() // what the end does; nil: it ends the pipe

	mu    sync.Mutex // guards queue
	queue []deed     // the first one is being done
}

// deed is a call of a ByteStream that waits for its turn.
type deed struct {
	call *capnp.Call
	by   *substream // nil: by the stream itself
}

var _ capnp.Server = (*sink)(nil)

func newSink(length int64, lost error) *sink { return &sink{pipe: event.NewPipe(length), lost: lost} }

// Call implements capnp.Server.
func (s *sink) Call(c *capnp.Call) {
	switch c.Method {
	case write, end:
		s.add(deed{c, nil})
	case getSubstream:
		back := c.Ref(c.Params, 0)
		if back == nil {
			c.Fail(errors.New("a part of a stream tells nobody when it is over"))
			return
		}
		returnObject(c, &substream{of: s, back: back, left: ^c.Params.Uint64(0)}) // all ones by default
	default:
		c.Fail(noMethod(c))
	}
}

func (s *sink) add(d deed) {
	s.mu.Lock()
	s.queue = append(s.queue, d)
	first := len(s.queue) == 1
	s.mu.Unlock()
	if first {
		s.next(d)
	}
}

// next does the first deed of the queue, and those after it.
func (s *sink) next(d deed) {
	switch {
	case d.by != nil:
		d.by.next(d.call)
	case d.call.Method == end:
		if s.end != nil {
			s.end()
		} else {
			s.pipe.Close(nil)
		}
		s.done(d.call, nil)
	default:
		s.write(d.call, d.call.Params.Data(0))
	}
}

func (s *sink) write(c *capnp.Call, chunk []byte) {
	s.pipe.Write(bytes.Clone(chunk), func(err error) { s.done(c, err) })
}

// done answers the first deed of the queue.
func (s *sink) done(c *capnp.Call, err error) {
	if err != nil {
		c.Fail(&capnp.Exception{Type: capnp.Disconnected, Reason: err.Error()})
	} else {
		c.Return(func(p capnp.Payload) { p.Content(0, 0) })
	}
	s.mu.Lock()
	s.queue = s.queue[1:]
	more := len(s.queue) > 0
	var next deed
	if more {
		next = s.queue[0]
	}
	s.mu.Unlock()
	if more {
		s.next(next)
	}
}

// substream is a part of a stream that somebody else writes: up to its end, which is not
// the stream's, or to a number of bytes.
type substream struct {
	of   *sink
	back *capnp.Ref // SubstreamCallback

	count, left uint64 // used by the deed that is being done

	mu     sync.Mutex // guards the fields below
	rest   *capnp.Ref // where goes what is past the limit
	closed bool
}

var _ capnp.Server = (*substream)(nil)

// Call implements capnp.Server.
func (s *substream) Call(c *capnp.Call) {
	if c.Method != write && c.Method != end {
		c.Fail(noMethod(c))
		return
	}
	s.of.add(deed{c, s})
}

func (s *substream) next(c *capnp.Call) {
	s.mu.Lock()
	rest := s.rest
	s.mu.Unlock()
	if rest != nil {
		s.pass(rest, c, c.Params.Data(0))
		return
	}
	if c.Method == end {
		s.back.Call(ended, func(p capnp.Payload) { p.Content(1, 0).PutUint64(0, s.count) }, ignore).Release()
		s.of.done(c, nil)
		return
	}
	chunk := c.Params.Data(0)
	n := min(uint64(len(chunk)), s.left)
	s.count += n
	if s.left -= n; s.left > 0 {
		s.of.write(c, chunk)
		return
	}
	over := bytes.Clone(chunk[n:])
	s.of.pipe.Write(bytes.Clone(chunk[:n]), func(err error) {
		if err != nil {
			s.of.done(c, err)
			return
		}
		p := s.back.Call(reachedLimit, func(p capnp.Payload) { p.Content(0, 0) }, ignore)
		rest := p.Field(0)
		p.Release()
		if len(over) == 0 {
			s.of.done(c, nil)
		} else {
			s.pass(rest, c, over)
		}
		s.mu.Lock()
		s.rest = rest
		closed := s.closed
		s.mu.Unlock()
		if closed {
			rest.Release()
		}
	})
}

// pass gives a call to what comes after the limit.
func (s *substream) pass(rest *capnp.Ref, c *capnp.Call, chunk []byte) {
	fill := func(p capnp.Payload) { p.Content(0, 0) }
	if c.Method == write {
		fill = func(p capnp.Payload) { p.Content(0, 1).PutData(0, chunk) }
	}
	rest.Call(c.Method, fill, func(_ capnp.Struct, _ *capnp.Results, err error) { s.of.done(c, err) }).Release()
}

// Close implements capnp.Server.
func (s *substream) Close() {
	s.back.Release()
	s.mu.Lock()
	rest := s.rest
	s.closed = true
	s.mu.Unlock()
	if rest != nil {
		rest.Release()
	}
}

// Close implements capnp.Server.
func (s *sink) Close() {
	if s.end == nil { // else somebody else knows how it ends
		s.pipe.Close(s.lost) // after an end it does nothing
	}
}

// pour writes a body into a ByteStream of the peer, and releases that.
func pour(b event.Body, to *capnp.Ref) { pourThen(b, to, func(bool) {}) }

// pourThen is pour that says, once, when the peer has all of it, or that it has not.
func pourThen(b event.Body, to *capnp.Ref, done func(whole bool)) {
	p := &pourer{body: b, to: to, done: done}
	p.read()
}

type pourer struct {
	body event.Body
	to   *capnp.Ref
	done func(whole bool)
	rest []byte
}

func (p *pourer) read() {
	p.body.Read(func(chunk []byte, err error) {
		switch {
		case err == io.EOF:
			p.call(end, nil, func(err error) { p.finish(err == nil) })
		case err != nil:
			p.finish(false) // without an end the peer knows that it is not whole
		default:
			p.rest = chunk
			p.write(nil)
		}
	})
}

func (p *pourer) write(err error) {
	switch n := min(len(p.rest), maxChunk); {
	case err != nil:
		p.body.Cancel(err)
		p.finish(false)
	case n == 0:
		p.read()
	default:
		chunk := p.rest[:n]
		p.rest = p.rest[n:]
		p.call(write, func(q capnp.Payload) { q.Content(0, 1).PutData(0, chunk) }, p.write)
	}
}

func (p *pourer) call(m capnp.Method, fill func(capnp.Payload), then func(error)) {
	if fill == nil {
		fill = func(q capnp.Payload) { q.Content(0, 0) }
	}
	p.to.Call(m, fill, func(_ capnp.Struct, _ *capnp.Results, err error) { then(err) }).Release()
}

func (p *pourer) finish(whole bool) {
	p.to.Release()
	p.done(whole)
}

// socketServer is a WebSocket that the peer sends into one end of a socket.
type socketServer struct{ end *event.Socket }

var _ capnp.Server = (*socketServer)(nil)

// Call implements capnp.Server. What arrives at an end that is closed is dropped, as
// everywhere.
func (s *socketServer) Call(c *capnp.Call) {
	switch c.Method {
	case sendText:
		_ = s.end.Send(event.Message{Data: []byte(c.Params.Text(0))})
	case sendData:
		_ = s.end.Send(event.Message{Binary: true, Data: append([]byte(nil), c.Params.Data(0)...)})
	case closeSocket:
		_ = s.end.Close(int(c.Params.Uint16(0)), c.Params.Text(0))
	default:
		c.Fail(noMethod(c))
		return
	}
	c.Return(func(p capnp.Payload) { p.Content(0, 0) })
}

// Close implements capnp.Server.
func (s *socketServer) Close() {
	if !s.end.Sent() {
		s.end.Drop(1006, netx.LostCloseReason, nil)
	}
}

// socketClient sends what arrives at an end of a socket to the peer's WebSocket.
type socketClient struct {
	to   *capnp.Ref
	gone func(error) // the peer did not take something
}

var _ event.Receiver = (*socketClient)(nil)

// OnMessage implements event.Receiver.
func (s *socketClient) OnMessage(m event.Message) {
	method, fill := sendText, func(p capnp.Payload) { p.Content(0, 1).PutText(0, string(m.Data)) }
	if m.Binary {
		method, fill = sendData, func(p capnp.Payload) { p.Content(0, 1).PutData(0, m.Data) }
	}
	s.to.Call(method, fill, s.sent).Release()
}

func (s *socketClient) sent(_ capnp.Struct, _ *capnp.Results, err error) {
	if err != nil {
		s.gone(err)
	}
}

// OnClose implements event.Receiver.
func (s *socketClient) OnClose(code int, reason string, clean bool) {
	if clean {
		if code == 0 {
			code = 1005
		}
		s.to.Call(closeSocket, func(p capnp.Payload) {
			o := p.Content(1, 1)
			o.PutUint16(0, uint16(code))
			o.PutText(0, reason)
		}, s.sent).Release()
	}
	s.to.Release()
}

// OnError implements event.Receiver.
func (s *socketClient) OnError(error) {}
