package webapi

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// commonHeaders number the headers of capnp's http-over-capnp.capnp from 1 on:
// part of the bytes of a stored Headers object.
var commonHeaders = strings.Fields(`accept-charset accept-encoding accept-language accept-ranges accept
	access-control-allow-origin age allow authorization cache-control content-disposition content-encoding
	content-language content-length content-location content-range content-type cookie date etag expect expires
	from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location
	max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie
	strict-transport-security transfer-encoding user-agent vary via www-authenticate`)

// Guards of Headers, as workerd numbers them; a request's (1) and a response's
// (2) are immutable too.
const (
	guardImmutable = 0
	guardNone      = 3
)

func (p *Platform) installFetchCodecs() {
	p.Hosts.Add(headersCodec{p}, clone.HostHeaders)
	p.Hosts.Add(requestCodec{p}, clone.HostRequest)
	p.Hosts.Add(responseCodec{p}, clone.HostResponse)
	p.Hosts.Add(readableCodec{p}, clone.HostReadableStream)
	p.Hosts.Add(writableCodec{p}, clone.HostWritableStream)
	p.Hosts.Add(signalCodec{p}, clone.HostAbortSignal)
}

var proxyType = reflect.TypeFor[goja.Proxy]()

// attachedTo is the Go value of an object, without running user code.
func (p *Platform) attachedTo(obj *goja.Object) any {
	return p.Engine.Attached(obj)
}

// headersCodec writes Headers::serialize's bytes (workerd, api/headers.c++).
type headersCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c headersCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.attachedTo(obj).(*headers)
	return ok
}

// Write implements clone.HostCodec: the guard, the number of lines, then those
// of common headers in the order of their numbers, then the others.
func (c headersCodec) Write(w *clone.Writer, obj *goja.Object) error {
	h := c.p.attachedTo(obj).(*headers)
	guard := uint32(guardNone)
	if h.immutable {
		guard = guardImmutable
	}
	w.WriteUint32(guard)
	w.WriteUint32(uint32(len(h.list)))
	var others event.Header
	byNumber := make([][]string, len(commonHeaders))
	for _, f := range h.list {
		if i := commonNumber(f.Name); i >= 0 {
			byNumber[i] = append(byNumber[i], f.Value)
		} else {
			others = append(others, f)
		}
	}
	for i, values := range byNumber {
		for _, value := range values {
			w.WriteUint32(uint32(i + 1))
			w.WriteLengthDelimited(value)
		}
	}
	for i, f := range others {
		if f.Name == "" {
			continue // written with an earlier line of its name
		}
		for j, g := range others[i:] {
			if strings.EqualFold(g.Name, f.Name) {
				w.WriteUint32(0)
				w.WriteLengthDelimited(f.Name)
				w.WriteLengthDelimited(g.Value)
				others[i+j].Name = ""
			}
		}
	}
	return nil
}

func commonNumber(name string) int {
	for i, common := range commonHeaders {
		if len(common) == len(name) && strings.EqualFold(common, name) {
			return i
		}
	}
	return -1
}

// Read implements clone.HostCodec.
func (c headersCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	guard, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	n, err := r.ReadUint32()
	if err != nil {
		return nil, err
	}
	h := &headers{}
	for range n {
		id, err := r.ReadUint32()
		if err != nil {
			return nil, err
		}
		var name []byte
		switch {
		case id == 0:
			name, err = r.ReadLengthDelimited()
		case int(id) <= len(commonHeaders):
			name = []byte(commonHeaders[id-1])
		default:
			err = fmt.Errorf("unknown common header %d", id)
		}
		if err != nil {
			return nil, err
		}
		value, err := r.ReadLengthDelimited()
		if err != nil {
			return nil, err
		}
		h.list = append(h.list, event.Field{Name: string(name), Value: string(value)})
	}
	h.immutable = guard != guardNone
	return c.p.headersObject(h), nil
}

// carrier stands for a body inside a Request or Response that is being cloned,
// so that no stream object need be made. Loop-confined.
type carrier struct{ b *body }

// carry is what is written for a body: null, or an object that readableCodec
// writes.
func (p *Platform) carry(b *body) goja.Value {
	if b.kind == bodyNull {
		return goja.Null()
	}
	return p.carrierOf(b)
}

func (p *Platform) carrierOf(b *body) *goja.Object {
	if p.fetch.carriers == nil {
		p.fetch.carriers = p.vm.NewObject() // codecs are not asked about objects with Object's prototype
	}
	obj := p.vm.CreateObject(p.fetch.carriers)
	p.Engine.Attach(obj, &carrier{b})
	return obj
}

// carried reads a value in which streams come as carriers.
func (p *Platform) carried(read func() (goja.Value, error)) (goja.Value, error) {
	outer := p.fetch.carrying
	p.fetch.carrying = true
	defer func() { p.fetch.carrying = outer }()
	return read()
}

// uncarry gives a read body to b.
func (p *Platform) uncarry(b *body, v goja.Value) error {
	obj, ok := v.(*goja.Object)
	switch {
	case !ok:
		return nil
	case p.isStream(obj):
		p.adoptStream(b, obj)
		return nil
	}
	c, ok := p.Engine.Attached(obj).(*carrier)
	if !ok {
		return errors.New("a body is no stream")
	}
	h := b.h
	*b = *c.b
	b.h = h
	return nil
}

// requestCodec writes Request::serialize's bytes: the URL, then a RequestInit.
type requestCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c requestCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.attachedTo(obj).(*request)
	return ok
}

// Write implements clone.HostCodec.
func (c requestCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p, r := c.p, c.p.attachedTo(obj).(*request)
	w.WriteLengthDelimited(r.url)
	init := p.vm.NewObject()
	if r.method != "GET" {
		init.Set("method", r.method)
	}
	init.Set("headers", p.headersObject(&r.headers))
	if r.kind != bodyNull {
		init.Set("body", p.carry(&r.body))
	}
	if r.redirect == "manual" {
		init.Set("redirect", r.redirect)
	}
	if cf := r.cf.get(p); !goja.IsUndefined(cf) {
		init.Set("cf", cf)
	}
	if r.cache != "" {
		init.Set("cache", r.cache)
	}
	if r.signal != nil {
		init.Set("signal", r.signal.object)
	}
	if r.encodeBody != "" {
		init.Set("encodeResponseBody", r.encodeBody)
	}
	return w.WriteValue(init)
}

// Read implements clone.HostCodec.
func (c requestCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	p := c.p
	url, err := r.ReadLengthDelimited()
	if err != nil {
		return nil, err
	}
	init, err := p.readDict(r)
	if err != nil {
		return nil, err
	}
	content := init.Get("body")
	init.Delete("body")
	q := p.newRequest(p.vm.ToValue(string(url)), init)
	if err := p.uncarry(&q.body, content); err != nil {
		return nil, err
	}
	return p.fetch.requestClass().Wrap(q), nil
}

func (p *Platform) readDict(r *clone.Reader) (*goja.Object, error) {
	v, err := p.carried(r.ReadValue)
	if err != nil {
		return nil, err
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil, errors.New("an object is expected")
	}
	return obj, nil
}

// responseCodec writes Response::serialize's bytes: the body, then a
// ResponseInit.
type responseCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c responseCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.attachedTo(obj).(*response)
	return ok
}

// Write implements clone.HostCodec.
func (c responseCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p, r := c.p, c.p.attachedTo(obj).(*response)
	if err := w.WriteValue(p.carry(&r.body)); err != nil {
		return err
	}
	init := p.vm.NewObject()
	if r.status != 200 {
		init.Set("status", r.status)
	}
	if r.statusText != "" {
		init.Set("statusText", r.statusText)
	}
	init.Set("headers", p.headersObject(&r.headers))
	if cf := r.cf.get(p); !goja.IsUndefined(cf) {
		init.Set("cf", cf)
	}
	if r.socket != nil {
		init.Set("webSocket", r.socket)
	}
	if r.encodeBody != "" {
		init.Set("encodeBody", r.encodeBody)
	}
	return w.WriteValue(init)
}

// Read implements clone.HostCodec.
func (c responseCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	p := c.p
	content, err := p.carried(r.ReadValue)
	if err != nil {
		return nil, err
	}
	init, err := p.readDict(r)
	if err != nil {
		return nil, err
	}
	q := &response{status: 200}
	q.h = &q.headers
	p.initResponse(q, init)
	if err := p.uncarry(&q.body, content); err != nil {
		return nil, err
	}
	return p.fetch.responseClass().Wrap(q), nil
}

// payloadOf is the RPC message that a stream or a signal travels in.
func payloadOf(external any, class string) (*event.Payload, error) {
	payload, ok := external.(*event.Payload)
	if !ok {
		return nil, &clone.DataCloneError{Message: class + " can only be serialized for RPC."}
	}
	return payload, nil
}

// capability reads the index of something that a message carries.
func capability[T any](r *clone.Reader, class string) (T, error) {
	var none T
	payload, err := payloadOf(r.External(), class)
	if err != nil {
		return none, err
	}
	i, err := r.ReadUint32()
	if err != nil {
		return none, err
	}
	if int(i) >= len(payload.Caps) {
		return none, errors.New("an RPC message names a thing that it does not carry")
	}
	got, ok := payload.Caps[i].(T)
	if !ok {
		return none, errors.New("an RPC message names a thing of another kind")
	}
	return got, nil
}

// readableCodec passes ReadableStreams as bodies.
type readableCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c readableCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	if obj.ExportType() == proxyType {
		return false
	}
	_, isCarrier := c.p.Engine.Attached(obj).(*carrier)
	return isCarrier || c.p.isStream(obj)
}

// Write implements clone.HostCodec: the index of the body. The stream is
// locked from then on.
func (c readableCodec) Write(w *clone.Writer, obj *goja.Object) error {
	payload, err := payloadOf(w.External(), "ReadableStream")
	if err != nil {
		return err
	}
	b := &body{}
	if carried, ok := c.p.Engine.Attached(obj).(*carrier); ok {
		b = carried.b
	} else {
		b.kind, b.stream = bodyStream, obj
	}
	if c.p.bodyUsed(b) || b.stream != nil && c.p.streamLocked(b.stream) {
		c.p.Engine.Throw("TypeError", "The ReadableStream has been locked to a reader.")
	}
	kind := b.kind
	out := c.p.takeBody(b, nil)
	if kind != bodyBuffer {
		out = disconnecting{out}
	}
	w.WriteUint32(uint32(len(payload.Caps)))
	payload.Caps = append(payload.Caps, out)
	return nil
}

// disconnecting is a body that crosses in an RPC message: why it broke stays on
// its side.
type disconnecting struct{ event.Body }

// Read implements event.Body.
func (d disconnecting) Read(cb func(chunk []byte, err error)) {
	d.Body.Read(func(chunk []byte, err error) {
		if err != nil && err != io.EOF {
			err = &event.Error{Message: "ReadableStream received over RPC disconnected prematurely."}
		}
		cb(chunk, err)
	})
}

// Read implements clone.HostCodec. Within a Request or Response the stream
// object is made only when it is asked for; alone it is made now.
func (c readableCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	source, err := capability[event.Body](r, "ReadableStream")
	if err != nil {
		return nil, err
	}
	if p := c.p; p.fetch.carrying {
		return p.carrierOf(&body{kind: bodyNative, native: source, owner: p.Engine.Current()}), nil
	}
	return c.p.StreamFromBody(source), nil
}

// writableCodec passes WritableStreams as pipes: who gets one writes into it,
// and this side carries the bytes to its stream.
type writableCodec struct{ p *Platform }

// Match implements clone.HostCodec.
func (c writableCodec) Match(obj *goja.Object, _ clone.Mode) bool { return c.p.isWritable(obj) }

// Write implements clone.HostCodec: the index of the pipe. The stream is
// locked from then on.
func (c writableCodec) Write(w *clone.Writer, obj *goja.Object) error {
	payload, err := payloadOf(w.External(), "WritableStream")
	if err != nil {
		return err
	}
	pipe := c.p.pipeInto(obj)
	w.WriteUint32(uint32(len(payload.Caps)))
	payload.Caps = append(payload.Caps, pipe)
	return nil
}

// Read implements clone.HostCodec.
func (c writableCodec) Read(r *clone.Reader, _ clone.HostTag) (*goja.Object, error) {
	pipe, err := capability[*event.Pipe](r, "WritableStream")
	if err != nil {
		return nil, err
	}
	return c.p.writableInto(pipe), nil
}

// isWritable tells WritableStreams from other objects.
func (p *Platform) isWritable(obj *goja.Object) bool {
	s := &p.fetch.streams
	if s.isWritable == nil || obj.ExportType() == proxyType {
		return false
	}
	v, err := s.isWritable(goja.Undefined(), obj)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return v.ToBoolean()
}

// pipeInto locks a WritableStream and writes to it what comes out of the pipe
// it returns; the context stays alive until the pipe is closed.
func (p *Platform) pipeInto(stream *goja.Object) *event.Pipe {
	pipe := event.NewPipe(-1)
	source := p.StreamFromBody(pipe)
	p.Engine.IO("WritableStream").Hold()
	c := p.Engine.Current()
	release := func(goja.Value) { c.Release() }
	p.Engine.Await(p.streamCall("pipeTo", source, stream), release, release)
	return pipe
}

// errWriterGone is what a WritableStream that was passed is aborted with,
// whatever the reason (workerd: api/streams, NoDeferredProxySink).
var errWriterGone = &event.Error{Message: "WritableStream received over RPC was disconnected because the remote execution context has ended."}

// writableInto makes the WritableStream that writes into a pipe; a write is
// done when the other side has taken it.
func (p *Platform) writableInto(pipe *event.Pipe) *goja.Object {
	e := p.Engine
	owner := e.IO("WritableStream")
	op := e.StartOp("an open WritableStream").OnCancel(func(reason error) { pipe.Close(errContextEnded) })
	write := func(call goja.FunctionCall) goja.Value {
		owner.Check()
		data, ok := p.bytesOf(call.Argument(0))
		if !ok {
			return p.rejected(e.NewError("TypeError", "This WritableStream only supports writing byte types."))
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
	end := func(err func(goja.Value) error) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			op.Drop()
			reason := err(call.Argument(0))
			owner.Emit(func() { pipe.Close(reason) })
			return p.promise(func() goja.Value { return goja.Undefined() })
		}
	}
	sink := e.Native(
		engine.Func{Name: "write", Length: 1, Fn: write},
		engine.Func{Name: "close", Fn: end(func(goja.Value) error { return nil })},
		engine.Func{Name: "abort", Length: 1, Fn: end(func(goja.Value) error { return errWriterGone })},
	)
	made := e.Call(p.fetch.streams.writable().Get("create"), goja.Undefined(), sink).(*goja.Object)
	return made.Get("obj").(*goja.Object)
}
