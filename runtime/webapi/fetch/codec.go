package fetch

import (
	"errors"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/streams"
)

func (p *Fetch) installCodecs() {
	p.Hosts.Add(headersCodec{p}, clone.HostHeaders)
	p.Hosts.Add(requestCodec{p}, clone.HostRequest)
	p.Hosts.Add(responseCodec{p}, clone.HostResponse)
}

// carrier stands for a body inside a Request or Response that is being cloned,
// so that no stream object need be made. Loop-confined.
type carrier struct {
	p *Fetch
	b *body
}

// TakeBody implements BodyCarrier.
func (c *carrier) TakeBody() (out event.Body, whole bool) {
	if c.p.bodyUsed(c.b) || c.b.stream != nil && c.p.streams.Locked(c.b.stream) {
		c.p.Engine.Throw("TypeError", streams.TextLockedReader)
	}
	whole = c.b.kind == bodyBuffer
	return c.p.takeBody(c.b, streams.Way{}), whole
}

// carry is what is written for a body: null, or an object that readableCodec
// writes.
func (p *Fetch) carry(b *body) goja.Value {
	if b.kind == bodyNull {
		return goja.Null()
	}
	return p.streams.NewCarrier(&carrier{p, b})
}

// uncarry gives a read body to b.
func (p *Fetch) uncarry(b *body, v goja.Value) error {
	obj, ok := v.(*goja.Object)
	switch {
	case !ok:
		return nil
	case p.streams.Is(obj):
		p.adoptStream(b, obj)
		return nil
	}
	native, owner, ok := p.streams.CarriedBody(obj)
	if !ok {
		return errors.New("a body is no stream")
	}
	*b = body{kind: bodyNative, native: native, owner: owner, h: b.h}
	return nil
}

// requestCodec writes Request::serialize's bytes: the URL, then a RequestInit.
type requestCodec struct{ p *Fetch }

// Match implements clone.HostCodec.
func (c requestCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.Engine.Attached(obj).(*Request)
	return ok
}

// Write implements clone.HostCodec.
func (c requestCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p, r := c.p, c.p.Engine.Attached(obj).(*Request)
	w.WriteLengthDelimited(r.url)
	init := p.VM.NewObject()
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
		init.Set("signal", r.signal.Object())
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
	q := p.newRequest(p.VM.ToValue(string(url)), init)
	if err := p.uncarry(&q.body, content); err != nil {
		return nil, err
	}
	return p.requestClass().Wrap(q), nil
}

func (p *Fetch) readDict(r *clone.Reader) (*goja.Object, error) {
	v, err := p.streams.Carried(r.ReadValue)
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
type responseCodec struct{ p *Fetch }

// Match implements clone.HostCodec.
func (c responseCodec) Match(obj *goja.Object, _ clone.Mode) bool {
	_, ok := c.p.Engine.Attached(obj).(*Response)
	return ok
}

// Write implements clone.HostCodec.
func (c responseCodec) Write(w *clone.Writer, obj *goja.Object) error {
	p, r := c.p, c.p.Engine.Attached(obj).(*Response)
	if err := w.WriteValue(p.carry(&r.body)); err != nil {
		return err
	}
	init := p.VM.NewObject()
	if r.status != 200 {
		init.Set("status", r.status)
	}
	if r.phrased {
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
	content, err := p.streams.Carried(r.ReadValue)
	if err != nil {
		return nil, err
	}
	init, err := p.readDict(r)
	if err != nil {
		return nil, err
	}
	q := &Response{status: 200}
	q.h = &q.headers
	p.initResponse(q, init)
	if err := p.uncarry(&q.body, content); err != nil {
		return nil, err
	}
	return p.responseClass().Wrap(q), nil
}
