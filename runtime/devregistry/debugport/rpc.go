package debugport

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/devregistry/capnp"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/streams"
)

// The kinds of externals (worker-interface.capnp, JsValue.External).
const (
	extTarget   = 1
	extWritable = 2
	extReadable = 3
)

var extNames = map[uint16]string{
	4: "a value of an obsolete kind", 5: "A service binding", 6: "A Durable Object class", 7: "An AbortSignal", 8: "A service binding", 9: "A Durable Object class", 10: "A Socket",
}

// uncrossable is the error of what does not travel between minido and wrangler dev.
func uncrossable(what string) error {
	return &event.Error{Name: "DataCloneError", Message: what + " cannot be sent between minido and a worker of wrangler dev; " +
		"run both workers in one session: minido dev -c wrangler.jsonc -c ../other/wrangler.jsonc"}
}

// session keeps a JsRpcSession of the peer alive.
type session struct {
	ref  *capnp.Ref
	refs atomic.Int32
}

func newSession(ref *capnp.Ref) *session {
	s := &session{ref: ref}
	s.refs.Store(1)
	return s
}

func (s *session) hold() *session {
	if s != nil {
		s.refs.Add(1)
	}
	return s
}

func (s *session) release() {
	if s != nil && s.refs.Add(-1) == 0 {
		s.ref.Release()
	}
}

// stub is a JsRpcTarget of the peer. The copies that Dup makes are one value with a
// count. Safe for concurrent use.
type stub struct {
	ref     *capnp.Ref
	session *session // nil if the peer's caller has one
	refs    atomic.Int32
}

var _ event.Capability = (*stub)(nil)

// newStub is a stub with one reference, which takes over ref.
func newStub(ref *capnp.Ref, s *session) *stub {
	t := &stub{ref: ref, session: s.hold()}
	t.refs.Store(1)
	return t
}

// Dup implements event.Capability.
func (t *stub) Dup() event.Capability {
	t.refs.Add(1)
	return t
}

// Release implements event.Capability.
func (t *stub) Release() {
	if t.refs.Add(-1) == 0 {
		t.ref.Release()
		t.session.release()
	}
}

// Call implements event.Capability.
func (t *stub) Call(c *event.Call, done func(*event.Payload, error)) {
	args, err := externalize(c.Args, t.ref, true)
	if err != nil {
		done(nil, err)
		return
	}
	t.ref.Call(callTarget, func(p capnp.Payload) {
		o := p.Content(1, 4)
		if len(c.Path) == 1 {
			o.PutText(0, c.Path[0])
		} else {
			o.PutUint16(0, 1)
			o.PutTexts(0, c.Path)
		}
		switch {
		case c.Get:
			o.PutUint16(2, 1)
		case c.Args != nil:
			args.put(o.Struct(1, 0, 2))
		}
		o.PutUint16(4, 1)
		o.PutServer(2, &pusher{})
	}, func(results capnp.Struct, caps *capnp.Results, err error) {
		if err != nil {
			done(nil, fromException(err))
			return
		}
		p, err := internalize(results.Struct(0), caps.Ref, t.session)
		if err == nil && results.Bool(0) { // giving up the pipeline tells its disposer
			if pipeline := caps.Ref(results, 1); pipeline != nil {
				p.Caps = append(p.Caps, newStub(pipeline, t.session))
			}
		}
		done(p, err)
	}).Release()
	args.flow()
}

// message is a payload that is ready to be sent.
type message struct {
	bytes []byte
	slots []func(capnp.Object) // write the externals
	sent  []func()             // to be called when it is on its way
	alone *server              // the stub that it consists of, nil if it is something else
}

// externalize makes a payload ready to be sent; to, an ExternalPusher of the
// receiver's, gets what streams are in it. Capabilities are the message's then, or
// copies of them with dup.
func externalize(p *event.Payload, to *capnp.Ref, dup bool) (*message, error) {
	m := &message{}
	if p == nil {
		return m, nil
	}
	m.bytes = p.Bytes
	for _, held := range p.Caps {
		if what := staysHere(held, to); what != "" {
			if !dup {
				release(p.Caps)
			}
			return nil, uncrossable(what)
		}
	}
	for _, held := range p.Caps {
		switch held := held.(type) {
		case event.Capability:
			if dup {
				held = held.Dup()
			}
			s := &server{to: held}
			if bytes.Equal(p.Bytes, oneStub) {
				m.alone = s
			}
			m.slots = append(m.slots, func(o capnp.Object) {
				o.PutUint16(0, extTarget)
				o.PutServer(0, s)
			})
		case *event.Pipe: // the receiver writes into it
			s := &sink{pipe: held, lost: errWriterGone}
			m.slots = append(m.slots, func(o capnp.Object) {
				o.PutUint16(0, extWritable)
				o.PutServer(0, s)
			})
		case event.Body:
			push := to.Call(pushByteStream, func(p capnp.Payload) { p.Content(1, 0).PutUint64(0, uint64(held.Length()+1)) }, ignore)
			source, sink := push.Field(0), push.Field(1)
			push.Release()
			m.slots = append(m.slots, func(o capnp.Object) {
				o.PutUint16(0, extReadable)
				o.PutRef(0, source)
			})
			m.sent = append(m.sent, func() {
				source.Release()
				pour(held, sink)
			})
		}
	}
	return m, nil
}

// oneStub is the structured clone that is a stub and nothing else: a header, a host
// object, its tag.
var oneStub = []byte{0xff, 15, '\\', byte(clone.HostRpcStub)}

// errWriterGone is the reference's text (api/streams, NoDeferredProxySink).
var errWriterGone = &event.Error{Message: "WritableStream received over RPC was disconnected because the remote execution context has ended."}

// staysHere names what cannot be sent, "" if it can.
func staysHere(held any, to *capnp.Ref) string {
	switch held.(type) {
	case cfapi.Target:
		return "A service binding or the stub of a Durable Object"
	case *event.Socket:
		return "A WebSocket"
	case *event.Abort:
		return "An AbortSignal"
	case event.Body:
		if to == nil {
			return "A ReadableStream for who does not take streams"
		}
		return ""
	case event.Capability:
		return ""
	}
	return fmt.Sprintf("A %T", held)
}

// Discard gives up what a result holds that nobody reads.
func Discard(p *event.Payload) { release(p.Caps) }

// release gives up what a payload holds that nobody will read.
func release(caps []any) {
	for _, held := range caps {
		switch held := held.(type) {
		case event.Capability:
			held.Release()
		case *event.Pipe:
			held.Close(errWriterGone)
		case event.Body:
			held.Cancel(streams.ErrPrematurely)
		}
	}
}

// put writes a JsValue, which has 2 pointers.
func (m *message) put(o capnp.Object) {
	o.PutData(0, m.bytes)
	if len(m.slots) == 0 {
		return
	}
	list := o.Structs(1, len(m.slots), 2, 2)
	for i, slot := range m.slots {
		slot(list.At(i))
	}
}

// flow lets the streams of a message flow that is on its way.
func (m *message) flow() {
	for _, f := range m.sent {
		f()
	}
}

// internalize reads a JsValue; ref finds its capabilities. Its stubs keep s alive.
func internalize(s capnp.Struct, ref func(capnp.Struct, int) *capnp.Ref, of *session) (*event.Payload, error) {
	p := &event.Payload{Bytes: bytes.Clone(s.Data(0))}
	for list, i := s.List(1), 0; i < list.Len(); i++ {
		e := list.Struct(i)
		held, err := internal(e, ref(e, 0), of)
		if err != nil {
			release(p.Caps)
			return nil, err
		}
		p.Caps = append(p.Caps, held)
	}
	return p, nil
}

// internal is what an external stands for; it takes over the reference to it.
func internal(e capnp.Struct, ref *capnp.Ref, of *session) (held any, err error) {
	kind := e.Uint16(0)
	if ref != nil && kind != extTarget && kind != extWritable {
		defer ref.Release()
	}
	encoded := kind != extTarget && e.Uint16(2) != 0
	switch {
	case kind == extTarget && ref != nil:
		if s, ok := ref.Own().(*server); ok {
			ref.Release()
			return s.to.Dup(), nil
		}
		return newStub(ref, of), nil
	case kind == extWritable && ref != nil && !encoded:
		pipe := event.NewPipe(-1)
		pour(pipe, ref)
		return pipe, nil
	case kind == extReadable && ref != nil && !encoded:
		in, ok := ref.Own().(*inputStream)
		if !ok {
			return nil, errors.New("the ReadableStream of a call has not been pushed")
		}
		return in.take()
	case encoded:
		return nil, uncrossable("A stream with compressed bytes")
	case extNames[kind] != "":
		return nil, uncrossable(extNames[kind])
	}
	return nil, uncrossable(fmt.Sprintf("A value of the unknown kind %d", kind))
}

// pusher takes the streams that the peer will refer to in what it sends
// (JsValue.ExternalPusher).
type pusher struct{ _ byte } // of a size: each is an object of its own

var _ capnp.Server = (*pusher)(nil)

// Call implements capnp.Server.
func (p *pusher) Call(c *capnp.Call) {
	if c.Method != pushByteStream {
		c.Fail(noMethod(c))
		return
	}
	s := newSink(int64(c.Params.Uint64(0)&^(1<<63))-1, streams.ErrPrematurely)
	c.Return(func(p capnp.Payload) {
		o := p.Content(0, 2)
		o.PutServer(0, &inputStream{body: s.pipe})
		o.PutServer(1, s)
	})
}

// Close implements capnp.Server.
func (p *pusher) Close() {}

// inputStream is a stream that has been pushed, until it is referred to.
type inputStream struct {
	mu   sync.Mutex // guards body
	body event.Body
}

var _ capnp.Server = (*inputStream)(nil)

// Call implements capnp.Server.
func (i *inputStream) Call(c *capnp.Call) { c.Fail(noMethod(c)) }

// Close implements capnp.Server.
func (i *inputStream) Close() {
	if b, err := i.take(); err == nil {
		b.Cancel(streams.ErrPrematurely)
	}
}

// take is the stream; it can be taken once.
func (i *inputStream) take() (event.Body, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	b := i.body
	i.body = nil
	if b == nil {
		return nil, errors.New("the ReadableStream of a call is referred to twice")
	}
	return pushed{b}, nil
}

// pushed is a body that is no *event.Pipe, which would be a WritableStream.
type pushed struct{ event.Body }
