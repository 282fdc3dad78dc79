package isolate

import (
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/event"
)

// unread is the body of a request, which cannot be read any more when the response has
// been sent (workerd: src/workerd/io/worker-entrypoint.c++, NeuterableInputStream).
type unread struct{ body *event.Guarded }

// guard gives the request as its handler gets it.
func guard(req *event.Request) (*event.Request, unread) {
	if req.Body == nil {
		return req, unread{}
	}
	guarded := *req
	g := event.Guard(req.Body)
	guarded.Body = g
	return &guarded, unread{g}
}

// follow has the body end with the response; sent is to be called when that is handed on.
func (u unread) follow(resp *event.Response) (sent func()) {
	switch {
	case u.body == nil || u.body.Over():
		return func() {}
	case resp.Body == event.Body(u.body): // it is the response's, and no code can reach it
		resp.Body = u.body.Inner()
		return func() {}
	case resp.Body == nil || event.IsBytes(resp.Body):
		return u.end
	}
	resp.Body = event.Then(resp.Body, u.end)
	return func() {}
}

// end is called when the response has been sent. Who still sends is told; a client of the
// network by its server, behind the response.
func (u unread) end() {
	if u.body == nil || !u.body.End(&event.Error{Name: "TypeError", Message: "Can't read from request stream after response has been sent."}) {
		return
	}
	if _, network := u.body.Inner().(*netx.ReaderBody); !network && !event.IsBytes(u.body.Inner()) {
		u.body.Cancel(netx.ErrLost)
	}
}
