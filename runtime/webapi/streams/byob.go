package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// byobReader is a reader as JavaScript sees it where it brings its own buffers
// (Streams, section 4.5).
type byobReader struct{ *reader }

// readInto is section 4.5.3 (read).
func (r *byobReader) readInto(v, choice goja.Value) *engine.Deferred {
	p := r.p
	if !p.isView(v) {
		p.BadArgument("ReadableStreamBYOBReader", "read", 1, "ArrayBufferView")
	}
	minimum := 1
	if least := argument(p.options(choice, 2, "ReadableStreamBYOBReader", "read", "ReadableStreamBYOBReaderReadOptions"), "min"); !goja.IsUndefined(least) {
		minimum = int(p.Int32(least))
	}
	return r.readAtLeast(p.viewOf(v), minimum)
}

func (r *byobReader) readAtLeast(v view, minimum int) *engine.Deferred {
	p := r.p
	throw := p.Engine.Throw
	switch {
	case v.len == 0:
		throw("TypeError", `You must call read() on a "byob" reader with a positive-sized TypedArray object.`)
	case detached(v.buffer):
		throw("TypeError", "The given view's buffer has been detached.")
	case minimum == 0:
		throw("TypeError", "Requested invalid minimum number of bytes to read (%d).", minimum)
	case minimum < 0 || minimum*v.size > v.len:
		throw("TypeError", "Minimum bytes to read (%d) exceeds size of buffer (%d).", uint64(minimum*v.size), v.len)
	case r.stream == nil:
		throw("TypeError", textReleasedReader)
	}
	s, request := r.stream, p.newReadOf(r.stream)
	s.disturbed = true
	if s.state == stateErrored {
		request.fail(s.err)
	} else {
		s.controller.pullIntoView(v, minimum, request)
	}
	return &request.Deferred
}

func defineBYOBReader(p *Streams) *engine.Class[*byobReader] {
	return engine.DefineClass(p.Engine, engine.ClassDef[*byobReader]{
		Name: "ReadableStreamBYOBReader",
		New: func(call goja.ConstructorCall) *byobReader {
			return &byobReader{lockOf(p, call, "ReadableStreamBYOBReader", true)}
		},
		Accessors: []engine.Accessor[*byobReader]{
			{Name: "closed", Get: func(r *byobReader, _ *goja.Object) goja.Value { return r.shown.object(r.whenClosed()) }},
		},
		Methods: []engine.Method[*byobReader]{
			{Name: "cancel", Fn: func(r *byobReader, call goja.FunctionCall) goja.Value {
				return given(r.cancel(call.Argument(0)))
			}},
			{Name: "read", Fn: func(r *byobReader, call goja.FunctionCall) goja.Value {
				return p.promised(func() *engine.Deferred { return r.readInto(call.Argument(0), call.Argument(1)) })
			}},
			{Name: "readAtLeast", Fn: func(r *byobReader, call goja.FunctionCall) goja.Value {
				return p.promised(func() *engine.Deferred {
					minimum, v := int(p.Int32(call.Argument(0))), call.Argument(1)
					if !p.isView(v) {
						p.BadArgument("ReadableStreamBYOBReader", "readAtLeast", 2, "ArrayBufferView")
					}
					return r.readAtLeast(p.viewOf(v), minimum)
				})
			}},
			{Name: "releaseLock", Fn: func(r *byobReader, _ goja.FunctionCall) goja.Value { r.release(); return goja.Undefined() }},
		},
	})
}

// byobRequest is a ReadableStreamBYOBRequest (section 4.8). Loop-confined.
type byobRequest struct {
	p          *Streams
	controller *controller // nil: it has been invalidated
	view       goja.Value
	least      int
	over       bool // the stream has ended
	obj        *goja.Object
}

func (q *byobRequest) object() *goja.Object {
	if q.obj == nil {
		q.obj = q.p.classes.byobRequest().Wrap(q)
	}
	return q.obj
}

// byobRequest is ReadableByteStreamControllerGetBYOBRequest (section 4.9.5).
func (c *controller) byobRequest() *byobRequest {
	if c.request == nil && !c.pending.empty() {
		d := *c.pending.first()
		least := 1
		if d.min > d.filled {
			least = d.min - d.filled
		}
		v := c.p.bytesOver(piece{d.buffer, d.off + d.filled, d.len - d.filled})
		c.request = &byobRequest{p: c.p, controller: c, view: v, least: least}
	}
	return c.request
}

func defineBYOBRequest(p *Streams) *engine.Class[*byobRequest] {
	const invalid = "This ReadableStreamBYOBRequest has been invalidated."
	return engine.DefineClass(p.Engine, engine.ClassDef[*byobRequest]{
		Name: "ReadableStreamBYOBRequest",
		Accessors: []engine.Accessor[*byobRequest]{
			{Name: "view", Get: func(q *byobRequest, _ *goja.Object) goja.Value { return q.view }},
			{Name: "atLeast", Get: func(q *byobRequest, _ *goja.Object) goja.Value {
				if q.controller == nil {
					return goja.Null()
				}
				return p.VM.ToValue(q.least)
			}},
		},
		Methods: []engine.Method[*byobRequest]{
			{Name: "respond", Fn: func(q *byobRequest, call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "ReadableStreamBYOBRequest", "respond", "integer")
				n := int(p.Int32(call.Argument(0)))
				if q.controller == nil {
					p.Engine.Throw("TypeError", invalid)
				}
				if detached(p.viewOf(q.view).buffer) {
					p.Engine.Throw("TypeError", textDetachedRequest+".")
				}
				q.controller.respond(n)
				return goja.Undefined()
			}},
			{Name: "respondWithNewView", Fn: func(q *byobRequest, call goja.FunctionCall) goja.Value {
				v := call.Argument(0)
				if !p.isView(v) {
					p.BadArgument("ReadableStreamBYOBRequest", "respondWithNewView", 1, "BufferSource")
				}
				if q.controller == nil {
					p.Engine.Throw("TypeError", invalid)
				}
				q.controller.respondWithView(p.viewOf(v))
				return goja.Undefined()
			}},
		},
	})
}
