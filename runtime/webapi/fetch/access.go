package fetch

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/event"
)

// What other packages may know of Requests and Responses.

// RequestOf is the Request that v is, or the one that its constructor makes of v.
func (p *Fetch) RequestOf(v goja.Value) *Request {
	if r, ok := p.Engine.Attached(v).(*Request); ok {
		return r
	}
	return p.newRequest(v, goja.Undefined())
}

// IsRequest reports whether v is a Request.
func (p *Fetch) IsRequest(v goja.Value) bool {
	_, ok := p.Engine.Attached(v).(*Request)
	return ok
}

// Method is the method, in upper case.
func (r *Request) Method() string { return r.method }

// URL is the URL, with its fragment.
func (r *Request) URL() string { return r.url }

// Field joins the values of a header, as Headers.get does.
func (r *Request) Field(name string) (value string, ok bool) { return r.headers.get(name) }

// Header is the list of headers, which must not be changed.
func (r *Request) Header() event.Header { return r.headers.share() }

// CF is the property cf of a request, undefined if there is none.
func (p *Fetch) CF(r *Request) goja.Value { return r.cf.get(p) }

// ResponseOf is the Response that v is.
func (p *Fetch) ResponseOf(v goja.Value) (r *Response, ok bool) {
	r, ok = p.Engine.Attached(v).(*Response)
	return r, ok
}

// Status is the status, 0 of an error.
func (r *Response) Status() int { return r.status }

// StatusText is the reason phrase with which the response leaves: the one that was
// given, or the status's own.
func (r *Response) StatusText() string {
	if !r.phrased {
		return event.Reason(r.status)
	}
	return r.statusText
}

// URL is where the response came from, "" if a script made it.
func (r *Response) URL() string { return r.url }

// Redirected reports whether the response is that of a redirect.
func (r *Response) Redirected() bool { return r.redirected }

// Field joins the values of a header, as Headers.get does.
func (r *Response) Field(name string) (value string, ok bool) { return r.headers.get(name) }

// Header is the list of headers, which must not be changed.
func (r *Response) Header() event.Header { return r.headers.share() }

// IsHandshake reports whether the response carries a WebSocket.
func (r *Response) IsHandshake() bool { return r.socket != nil }

// Stream is the ReadableStream of a response's body, nil if there is no body.
func (p *Fetch) Stream(r *Response) *goja.Object {
	stream, _ := p.bodyStreamValue(&r.body).(*goja.Object)
	return stream
}

// ReadAll reads the whole body of a response, once, and gives a promise of what convert makes
// of it, or that itself if the bytes are at hand. Strings that a stream gives
// count as UTF-8. It throws if the body is used or locked.
func (p *Fetch) ReadAll(r *Response, what string, convert func([]byte) goja.Value) goja.Value {
	r.leaves = true
	return p.consume(&r.body, what, convert)
}
