package isolate

import (
	"cmp"
	"net/url"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// IsConnection reports whether a request is for the connect() handler: what connect() of a stub sends.
// No request of JavaScript or of a client has the method CONNECT.
func IsConnection(req *event.Request) bool { return req.Method == "CONNECT" }

// connect has the entrypoint's connect() handler serve a connection. cancel says that the client is gone.
func (t *entrypoint) connect(req *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	i := t.i
	done = once(done)
	ctx := i.Engine.NewContext(engine.RequestContext, "")
	ended := func() {}
	gone := func() {
		// The handler is not waited for any longer; what waitUntil was given is. An
		// engine that has ended has ended the context too.
		_ = i.Engine.Post(ctx.Frame(), "client gone", func() { ended() })
	}
	begin := func() *Invocation { return i.Invoked(t.name, "", TraceConnection(), req.Parent) }
	i.dispatch(ctx, begin, cmp.Or(req.Cause, "connect"), func(ctx *engine.Context, end func()) {
		ended = func() { ended = func() {}; end() }
		Connect(i, req, func() (*goja.Object, goja.Value, []goja.Value) { return t.handler(ctx, "connect") }, gone, done, func() { ended() })
	}, func(err error) { done(nil, err) })
	return func(error) { gone() }
}

// TraceConnection describes a connection.
func TraceConnection() event.TraceEvent { return event.TraceEvent{Type: "connect"} }

// Connect runs a connect() handler within a turn. handler finds it, and the arguments that follow the
// socket. done, called exactly once, gets the client's end of the connection, as an output of the current
// context. gone is called when the client has closed it. ended is called once, when the handler has come to its
// end, which closes the connection, or the context has.
func Connect(i *Isolate, req *event.Request, handler func() (*goja.Object, goja.Value, []goja.Value), gone func(), done func(*event.Response, error), ended func()) {
	ctx, inv := i.Engine.IO("a connect handler"), i.current()
	over, answered, hangUp, forget := false, false, func() {}, func() {}
	answer := func(resp *event.Response, err error) {
		if !answered {
			answered = true
			done(resp, err)
		}
	}
	finish := func(err error) {
		if over {
			return
		}
		over = true
		forget()
		hangUp()
		if err != nil {
			answer(nil, err)
		}
		ended()
	}
	forget = ctx.AtDeath(finish)
	fail := func(reason goja.Value) *event.Error {
		ev := i.CF.Failure(reason)
		ev.Remote = false // its client learns only that it could not connect
		inv.Failed(reason)
		i.Engine.Uncaught.Tell(reason)
		return ev
	}
	var receiver *goja.Object
	var fn goja.Value
	var args []goja.Value
	thrown := i.Engine.Try(func() {
		if receiver, fn, args = handler(); !engine.IsCallable(fn) {
			i.throwNoHandler("connect")
		}
	})
	if thrown != nil {
		finish(fail(thrown))
		return
	}
	address := req.URL
	if u, err := url.Parse(req.URL); err == nil {
		address = u.Host
	}
	client, server := event.NewConnection(address)
	server.Tunnel.(event.Leaving).OnGone(gone)
	var socket goja.Value
	socket, hangUp = i.Platform.TCP.Accept(server, address)
	ctx.Emit(func() { answer(client, nil) })
	failed := func(reason goja.Value) {
		fail(reason)
		finish(nil)
	}
	thrown = i.Engine.Try(func() {
		result := i.Engine.Call(fn, receiver, append([]goja.Value{socket}, args...)...)
		i.Engine.Await(result, func(goja.Value) {
			inv.Returned()
			finish(nil)
		}, failed)
	})
	if thrown != nil {
		failed(thrown)
	}
}
