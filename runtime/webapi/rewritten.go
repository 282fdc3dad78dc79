package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webapi/mime"
)

// rewriterHost lets HTMLRewriter replace the bodies of responses; it implements
// html.Host.
type rewriterHost struct{ p *Platform }

// Rewritten implements html.Host.
func (h rewriterHost) Rewritten(v goja.Value, start func(charset string, named bool) func(stream *goja.Object) *goja.Object) (goja.Value, bool) {
	p := h.p
	resp, ok := p.Engine.Attached(v).(*response)
	if !ok {
		return nil, false
	}
	out := &response{status: resp.status, statusText: resp.statusText, url: resp.url, redirected: resp.redirected,
		headers: copyOf(&resp.headers), cf: resp.cf.clone(p), encodeBody: resp.encodeBody}
	out.h = &out.headers
	if resp.kind == bodyNull {
		return p.fetch.responseClass().Wrap(out), true
	}
	typ, _ := resp.headers.get("content-type")
	media, _ := mime.Extract(typ)
	charset, named := media.Param("charset")
	rewrite := start(charset, named)
	out.headers.delete("content-length")
	stream := p.bodyStreamValue(&resp.body).(*goja.Object)
	if p.Streams.Locked(stream) || p.Streams.Disturbed(stream) {
		p.Engine.Throw("TypeError", "The ReadableStream has been locked to a reader.")
	}
	p.adoptStream(&out.body, rewrite(stream))
	return p.fetch.responseClass().Wrap(out), true
}

// IsResponse implements html.Host.
func (h rewriterHost) IsResponse(v goja.Value) bool {
	_, ok := h.p.Engine.Attached(v).(*response)
	return ok
}
