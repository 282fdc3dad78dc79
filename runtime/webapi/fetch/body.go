package fetch

import (
	"bytes"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi/blob"
	"minido.dev/minido/runtime/webapi/form"
	"minido.dev/minido/runtime/webapi/mime"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webidl"
)

const textBodyUsed = "Body has already been used. It can only be used once. Use tee() first if you need to read it twice."

// bodies is how the bodies of Requests and Responses are made and read.
// Loop-confined.
type bodies struct {
	*webidl.Realm
	streams    *streams.Streams
	blobs      *blob.Blobs
	forms      *form.Forms
	objectText goja.Value // Object.prototype.toString
}

// body is what Request and Response have in common (Fetch, section 5.3). A
// body is bytes at hand, or comes from outside the isolate, or is a stream of
// JavaScript; a ReadableStream object exists only once JavaScript has asked
// for it, and from then on it is what counts. Loop-confined.
type body struct {
	leaves bool // it goes out of the isolate: strings in its stream are sent as UTF-8
	kind   bodyKind
	buffer []byte          // bodyBuffer; kept after use, so that redirects can replay it
	native event.Body      // bodyNative
	owner  *engine.Context // bodyBuffer, bodyNative: whose I/O it is; nil: anybody's
	stream *goja.Object    // the ReadableStream, nil until made
	used   bool            // consumed without a stream
	h      *headers
}

type bodyKind uint8

const (
	bodyNull bodyKind = iota
	bodyBuffer
	bodyNative
	bodyStream
)

// bodyHolder is a Request or a Response.
type bodyHolder interface{ theBody() *body }

func (b *body) theBody() *body { return b }

// defineBody is Body, from which Request and Response inherit in workerd (api/http.h).
func (p *bodies) defineBody() *engine.Class[bodyHolder] {
	async := func(name string, fn func(b *body) goja.Value) engine.Method[bodyHolder] {
		return engine.Method[bodyHolder]{Name: name, Fn: func(self bodyHolder, _ goja.FunctionCall) goja.Value {
			b := self.theBody()
			return p.Promise(func() goja.Value { return fn(b) })
		}}
	}
	method := func(name string, convert func(b *body, data []byte) goja.Value) engine.Method[bodyHolder] {
		return async(name, func(b *body) goja.Value {
			return p.consume(b, name, func(data []byte) goja.Value { return convert(b, data) })
		})
	}
	text := func(_ *body, data []byte) goja.Value {
		if !p.Enabled(compat.StripBomInReadAllText) {
			return p.Engine.String(webidl.ValidUTF8(data))
		}
		return p.DecodeUTF8(data)
	}
	accessors := []engine.Accessor[bodyHolder]{
		webidl.Reader("body", func(self bodyHolder) goja.Value { return p.bodyStreamValue(self.theBody()) }),
		webidl.Reader("bodyUsed", func(self bodyHolder) goja.Value { return p.VM.ToValue(p.bodyUsed(self.theBody())) }),
	}
	methods := []engine.Method[bodyHolder]{
		method("arrayBuffer", func(b *body, data []byte) goja.Value { return p.NewArrayBuffer(data) }),
		method("bytes", func(b *body, data []byte) goja.Value { return p.NewUint8Array(data) }),
		method("text", text),
		method("json", func(b *body, data []byte) goja.Value { return p.parseJSON(text(b, data)) }),
		async("formData", p.consumeFormData),
		method("blob", func(b *body, data []byte) goja.Value {
			typ, _ := b.h.get("content-type")
			if p.Enabled(compat.BlobStandardMimeType) {
				parsed, _ := mime.Extract(typ)
				typ = parsed.String()
			}
			return p.blobs.NewBlob(data, typ)
		}),
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[bodyHolder]{Name: "Body", Accessors: accessors, Methods: methods})
}

// bodyUsed tells whether anything has been read of the body.
func (p *bodies) bodyUsed(b *body) bool {
	if b.stream != nil {
		return p.streams.Disturbed(b.stream)
	}
	return b.used
}

// bodyStreamValue is the `body` property.
func (p *bodies) bodyStreamValue(b *body) goja.Value {
	if b.kind == bodyNull {
		return goja.Null()
	}
	if b.stream == nil {
		b.stream = p.openStream(b)
	}
	return b.stream
}

// openStream makes the ReadableStream of a body that has none.
func (p *bodies) openStream(b *body) *goja.Object {
	source := b.native
	if b.kind == bodyBuffer {
		source = event.Bytes(bytes.Clone(b.buffer))
	}
	stream := p.streams.FromBodyOf(source, b.owner)
	if b.used {
		p.streams.Spend(stream)
	}
	return stream
}

// consume reads the whole body, once, and gives a promise, or the value itself
// if the bytes are at hand. The bytes handed to convert are its own.
func (p *bodies) consume(b *body, what string, convert func([]byte) goja.Value) goja.Value {
	if b.kind == bodyNull {
		return convert(nil)
	}
	if p.bodyUsed(b) {
		p.Engine.Throw("TypeError", textBodyUsed)
	}
	if b.stream == nil {
		native := p.spend(b)
		if b.kind == bodyBuffer {
			return convert(bytes.Clone(b.buffer))
		}
		return p.streams.ReadBody(native, what, convert)
	}
	return p.streams.Consume(b.stream, what, b.leaves, convert)
}

// spend marks a body without a stream as used, and gives its native content,
// if it is not a buffer.
func (p *bodies) spend(b *body) event.Body {
	b.used = true
	p.checkOwner(b)
	native := b.native
	b.native = nil
	return native
}

// checkOwner throws if the body is another context's I/O.
func (p *bodies) checkOwner(b *body) {
	if b.owner != nil {
		b.owner.CheckOf(streams.IOType)
	}
}

func (p *bodies) consumeFormData(b *body) goja.Value {
	if p.bodyUsed(b) {
		p.Engine.Throw("TypeError", textBodyUsed)
	}
	typ, ok := b.h.get("content-type")
	if !ok {
		p.Engine.Throw("TypeError", "Parsing a Body as FormData requires a Content-Type header.")
	}
	return p.consume(b, "formData", func(data []byte) goja.Value { return p.forms.ParseBody(data, typ) })
}

// setBody gives a new Request or Response its body (Fetch: extract a body) and
// the Content-Type that goes with it.
func (p *bodies) setBody(b *body, init goja.Value) {
	var contentType string
	switch v := init.(type) {
	case goja.String:
		b.kind, b.buffer, contentType = bodyBuffer, []byte(v.String()), "text/plain;charset=UTF-8"
	case *goja.Object:
		contentType = p.setObjectBody(b, v)
	default:
		b.kind, b.buffer, contentType = bodyBuffer, []byte(p.ToString(init).String()), "text/plain;charset=UTF-8"
	}
	if b.kind == bodyBuffer {
		b.owner = p.Engine.IO("a body") // workerd makes a stream of it, which is I/O
	}
	if contentType != "" && !b.h.list.Has("content-type") {
		b.h.set("Content-Type", contentType)
	}
}

func (p *bodies) setObjectBody(b *body, v *goja.Object) (contentType string) {
	if data, ok := p.BytesOf(v); ok {
		b.kind, b.buffer = bodyBuffer, bytes.Clone(data)
		return ""
	}
	if p.streams.Is(v) {
		p.adoptStream(b, v)
		return ""
	}
	if data, typ, ok := p.forms.Body(v); ok {
		b.kind, b.buffer = bodyBuffer, data
		return typ
	}
	if p.Enabled(compat.FetchIterableTypeSupport) && p.IsIterable(v) && !(p.Enabled(compat.FetchIterableTypeSupportOverrideAdjustment) && p.saysItself(v)) {
		if stream := p.streams.FromIterable(v); stream != nil {
			b.kind, b.stream = bodyStream, stream
			return ""
		}
	}
	b.kind, b.buffer = bodyBuffer, []byte(v.String())
	return "text/plain;charset=UTF-8"
}

// adoptStream makes a stream the body.
func (p *bodies) adoptStream(b *body, stream *goja.Object) {
	p.streams.CheckUsable(stream)
	b.kind, b.stream = bodyStream, stream
}

// saysItself tells whether an iterable has a text of its own, which then is the
// body: of what only iterates synchronously and is no array, a toString that is
// not Object.prototype's, or a Symbol.toPrimitive (as workerd does).
func (p *bodies) saysItself(v *goja.Object) bool {
	if sym := p.Symbol("asyncIterator"); sym != nil && engine.IsCallable(v.GetSymbol(sym)) || v.ClassName() == "Array" {
		return false
	}
	text := v.Get("toString")
	return text == nil || !text.SameAs(p.objectText) || !webidl.IsMissing(v.GetSymbol(goja.SymToPrimitive))
}

// cloneBody makes dst a second reader of b (Fetch: clone a body). Bytes at
// hand are shared; a stream is teed.
func (p *bodies) cloneBody(dst, b *body) {
	if b.kind == bodyNull {
		return
	}
	if b.stream != nil && p.streams.Locked(b.stream) || p.bodyUsed(b) {
		p.Engine.Throw("TypeError", streams.TextTeeLocked)
	}
	if b.kind == bodyBuffer && b.stream == nil {
		p.checkOwner(b)
		dst.kind, dst.buffer, dst.owner = bodyBuffer, b.buffer, b.owner
		return
	}
	p.bodyStreamValue(b)
	one, two := p.streams.Tee(b.stream)
	buffer := b.buffer
	b.stream, dst.stream = one, two
	dst.kind, dst.buffer = b.kind, buffer
	b.native = nil
}

// takeBody moves the bytes of b out of JavaScript: the body of an event. b
// counts as used. way is that of a stream of JavaScript, which is pumped out.
func (p *bodies) takeBody(b *body, way streams.Way) event.Body {
	if b.kind == bodyNull {
		return nil
	}
	if p.bodyUsed(b) {
		p.Engine.Throw("TypeError", textBodyUsed)
	}
	if b.stream == nil {
		native := p.spend(b)
		if b.kind == bodyBuffer {
			return event.Bytes(bytes.Clone(b.buffer))
		}
		return native
	}
	return p.streams.Take(b.stream, way)
}

func (p *bodies) parseJSON(text goja.Value) goja.Value {
	return p.Engine.Call(p.Engine.Primordial("JSONParse"), goja.Undefined(), text)
}
