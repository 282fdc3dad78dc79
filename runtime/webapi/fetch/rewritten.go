package fetch

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/webapi/mime"
)

// Rewritten makes the response that v is, with another body, for HTMLRewriter
// (html.Host).
func (p *Fetch) Rewritten(v goja.Value, start func(charset string, named bool) func(stream *goja.Object) *goja.Object) (goja.Value, bool) {
	resp, ok := p.Engine.Attached(v).(*Response)
	if !ok {
		return nil, false
	}
	out := &Response{status: resp.status, statusText: resp.statusText, phrased: resp.phrased, url: resp.url, redirected: resp.redirected,
		headers: copyOf(&resp.headers), cf: resp.cf.clone(p), encodeBody: resp.encodeBody}
	out.h = &out.headers
	if resp.kind == bodyNull {
		return p.responseClass().Wrap(out), true
	}
	typ, _ := resp.headers.get("content-type")
	media, _ := mime.Extract(typ)
	charset, named := media.Param("charset")
	rewrite := start(charset, named)
	out.headers.delete("content-length")
	stream := p.bodyStreamValue(&resp.body).(*goja.Object)
	if p.streams.Locked(stream) || p.streams.Disturbed(stream) {
		p.Engine.Throw("TypeError", "The ReadableStream has been locked to a reader.")
	}
	p.adoptStream(&out.body, rewrite(stream))
	return p.responseClass().Wrap(out), true
}

// IsResponse tells Responses from other values.
func (p *Fetch) IsResponse(v goja.Value) bool {
	_, ok := p.Engine.Attached(v).(*Response)
	return ok
}
