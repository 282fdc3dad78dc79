package streams

import (
	"io"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webidl"
)

func (p *Streams) installCodecs() {
	p.Hosts.Add(readableCodec{p}, clone.HostReadableStream)
	p.Hosts.Add(writableCodec{p}, clone.HostWritableStream)
}

// BodyCarrier is the Go value of an object that stands for a stream in a value
// that is being cloned, so that no stream need be made: see NewCarrier.
type BodyCarrier interface {
	// TakeBody takes the bytes out of JavaScript. They are all at hand if whole.
	// It throws if they were taken before.
	TakeBody() (b event.Body, whole bool)
}

// carriedBody is what a clone was given for a stream, while Carried reads.
type carriedBody struct {
	body  event.Body
	owner *engine.Context
}

// NewCarrier makes the object that stands for a stream.
func (p *Streams) NewCarrier(value any) *goja.Object {
	s := p
	if s.carriers == nil {
		s.carriers = p.VM.NewObject() // codecs are not asked about objects with Object's prototype
	}
	obj := p.VM.CreateObject(s.carriers)
	p.Engine.Attach(obj, value)
	return obj
}

// Carried calls read, which reads a value of a clone in which streams come as
// what carriedBody knows.
func (p *Streams) Carried(read func() (goja.Value, error)) (goja.Value, error) {
	s := p
	outer := s.carrying
	s.carrying = true
	defer func() { s.carrying = outer }()
	return read()
}

// CarriedBody is the body that an object stands for which was read in carried,
// and the context whose I/O it is.
func (p *Streams) CarriedBody(obj *goja.Object) (b event.Body, owner *engine.Context, ok bool) {
	c, ok := p.Engine.Attached(obj).(*carriedBody)
	if !ok {
		return nil, nil, false
	}
	return c.body, c.owner, true
}

// readableCodec passes ReadableStreams as bodies.
type readableCodec struct{ p *Streams }

// Match implements clone.HostCodec.
func (c readableCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	if obj.ExportType() == webidl.ProxyType {
		return false
	}
	_, isCarrier := c.p.Engine.Attached(obj).(BodyCarrier)
	return isCarrier || c.p.Is(obj)
}

// Write implements clone.HostCodec. The stream is locked from then on.
func (c readableCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p := c.p
	payload, err := structured.Payload(w.External(), "ReadableStream")
	if err != nil {
		return err
	}
	var out event.Body
	whole := false
	if carried, ok := p.Engine.Attached(obj).(BodyCarrier); ok {
		out, whole = carried.TakeBody()
	} else {
		if p.Disturbed(obj) || p.Locked(obj) {
			p.Engine.Throw("TypeError", TextLockedReader)
		}
		out = p.Take(obj, Way{})
	}
	if !whole {
		out = disconnecting{out}
	}
	payload.Caps = append(payload.Caps, out)
	return nil
}

// ErrPrematurely is what a stream that has crossed in an RPC message fails with when it
// breaks off (workerd: io/external-pusher.c++).
var ErrPrematurely = &event.Error{Message: "ReadableStream received over RPC disconnected prematurely."}

// disconnecting is a body that crosses in an RPC message: why it broke stays on
// its side.
type disconnecting struct{ event.Body }

// Read implements event.Body.
func (d disconnecting) Read(cb func(chunk []byte, err error)) {
	d.Body.Read(func(chunk []byte, err error) {
		if err != nil && err != io.EOF {
			err = ErrPrematurely
		}
		cb(chunk, err)
	})
}

// Read implements clone.HostCodec. Within a Request or Response the stream
// object is made only when it is asked for; alone it is made now.
func (c readableCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	source, err := structured.Capability[event.Body](r, "ReadableStream")
	if err != nil {
		return nil, err
	}
	if p := c.p; p.carrying {
		return p.NewCarrier(&carriedBody{source, p.Engine.Current()}), nil
	}
	return c.p.FromBody(source), nil
}

// writableCodec passes WritableStreams as pipes: who gets one writes into it,
// and this side carries the bytes to its stream.
type writableCodec struct{ p *Streams }

// Match implements clone.HostCodec.
func (c writableCodec) Match(obj *goja.Object, _ clone.Mode) bool { return c.p.writableOf(obj) != nil }

// Write implements clone.HostCodec. The stream is locked from then on.
func (c writableCodec) Write(w *clone.Writer, obj *goja.Object) error {
	payload, err := structured.Payload(w.External(), "WritableStream")
	if err != nil {
		return err
	}
	pipe := c.pipeInto(obj)
	payload.Caps = append(payload.Caps, pipe)
	return nil
}

// Read implements clone.HostCodec.
func (c writableCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	pipe, err := structured.Capability[*event.Pipe](r, "WritableStream")
	if err != nil {
		return nil, err
	}
	return c.writableInto(pipe), nil
}

// pipeInto locks a WritableStream and writes to it what comes out of the pipe
// it returns; the context stays alive until the pipe is closed.
func (c writableCodec) pipeInto(stream *goja.Object) *event.Pipe {
	p := c.p
	pipe := event.NewPipe(-1)
	from, to := p.stream(p.FromBody(pipe)), p.writableOf(stream)
	from.checkLocks(to)
	p.Engine.IO("WritableStream").Hold()
	holder := p.Engine.Current()
	release := func(goja.Value) { holder.Release() }
	p.Engine.Await(from.pipe(to, pipeOptions{buffers: true}).Object(), release, release)
	return pipe
}

// errWriterGone is what a WritableStream that was passed is aborted with,
// whatever the reason (workerd: api/streams, NoDeferredProxySink).
var errWriterGone = &event.Error{Message: "WritableStream received over RPC was disconnected because the remote execution context has ended."}

// writableInto makes the WritableStream that writes into a pipe; a write is
// done when the other side has taken it.
func (c writableCodec) writableInto(pipe *event.Pipe) *goja.Object {
	p := c.p
	e := p.Engine
	owner := e.IO("WritableStream")
	op := e.StartOp("an open WritableStream").OnCancel(func(reason error) { pipe.Close(lost()) })
	write := func(chunk goja.Value) goja.Value {
		owner.Check()
		data, ok := p.BytesOf(chunk)
		if !ok {
			return p.Rejected(e.Errors.New("TypeError", "This WritableStream only supports writing byte types."))
		}
		data = append([]byte(nil), data...)
		done := e.StartOp("writing to a WritableStream")
		promise := done.Promise()
		owner.Emit(func() {
			pipe.Write(data, func(err error) {
				if err != nil {
					done.Fail("write", err)
					return
				}
				done.Resolve("write", func() goja.Value { return goja.Undefined() })
			})
		})
		return promise
	}
	end := func(reason error) goja.Value {
		op.Drop()
		owner.Emit(func() { pipe.Close(reason) })
		return p.Promise(func() goja.Value { return goja.Undefined() })
	}
	return p.NewDrained(Sink{
		HighWaterMark: 1, Write: write,
		Close: func() goja.Value { return end(nil) },
		Abort: func(goja.Value) goja.Value { return end(errWriterGone) },
	}).Object()
}
