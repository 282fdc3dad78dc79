package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// transferred moves a stream to another one whose chunks are cloned on their way;
// this one stays locked (Streams, section 4.2.5, transfer steps).
func (s *readable) transferred() *readable {
	p := s.p
	t := &transferring{p: p, r: s.acquire(false)}
	t.to = p.create(readableOptions{late: true, pull: func() *engine.Deferred {
		t.pulled = p.Engine.Promises.New()
		pulled := t.pulled
		t.r.read(t)
		return pulled
	}, cancel: t.r.cancel})
	t.r.whenClosed().Then(nil, t.to.controller.fail)
	return t.to
}

// transferring is who reads for a stream that was moved. Loop-confined.
type transferring struct {
	p      *Streams
	r      *reader
	to     *readable
	pulled *engine.Deferred
}

func (t *transferring) chunk(v goja.Value) {
	var copied goja.Value
	thrown := t.p.Engine.Try(func() { copied, _ = t.p.cloner.Clone(v, nil) })
	if thrown == nil {
		thrown = t.to.controller.enqueue(copied)
	}
	if thrown != nil {
		t.r.cancel(thrown).Handled()
		t.to.controller.fail(thrown)
	}
	t.pulled.Fulfil(goja.Undefined())
}

func (t *transferring) close(goja.Value) {
	t.to.controller.closeOpen()
	t.pulled.Fulfil(goja.Undefined())
}

func (t *transferring) fail(reason goja.Value) {
	t.to.controller.fail(reason)
	t.pulled.Fulfil(goja.Undefined())
}

// untransferable says why a stream cannot be transferred, "" if it can; own is
// false for what is no stream.
func (p *Streams) untransferable(obj *goja.Object) (text string, own bool) {
	if obj.ExportType() == webidl.ProxyType {
		return "", false
	}
	locked := false
	switch x := p.Engine.Attached(obj).(type) {
	case *readable:
		locked = x.reader != nil
	case *writable:
		locked = x.writer != nil
	case *transform:
		locked = x.readable.reader != nil || x.writable.writer != nil
	default:
		return "", false
	}
	if locked {
		text = "A locked stream could not be transferred."
	}
	return text, true
}

// move moves a stream into a new object.
func (p *Streams) move(obj *goja.Object) *goja.Object {
	switch x := p.Engine.Attached(obj).(type) {
	case *readable:
		return x.transferred().object()
	case *writable:
		return x.transferred().object()
	case *transform:
		return p.classes.transform().Wrap(&transform{p: p, readable: x.readable.transferred(), writable: x.writable.transferred()})
	}
	panic("streams: what is moved is no stream")
}
