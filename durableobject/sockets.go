package durableobject

import (
	"cmp"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/webapi/websocket"
	"minido.dev/minido/runtime/webidl"
)

// autoResponse is WebSocketRequestResponsePair.
type autoResponse struct{ request, response string }

func (r *Realm) defineSockets() {
	r.autoResp = engine.DefineClass(r.eng, engine.ClassDef[*autoResponse]{
		Name: "WebSocketRequestResponsePair",
		New: func(call goja.ConstructorCall) *autoResponse {
			if n := len(call.Arguments); n < 2 {
				r.eng.Throw("TypeError", "Failed to construct 'WebSocketRequestResponsePair': constructor parameter %d is not of type 'string'.", n+1)
			}
			return &autoResponse{r.text(call.Arguments[0]), r.text(call.Arguments[1])}
		},
		Accessors: []engine.Accessor[*autoResponse]{
			{Name: "request", Get: func(p *autoResponse, _ *goja.Object) goja.Value { return r.vm.ToValue(p.request) }},
			{Name: "response", Get: func(p *autoResponse, _ *goja.Object) goja.Value { return r.vm.ToValue(p.response) }},
		},
	})
	r.eng.Interface("WebSocketRequestResponsePair", r.autoResp.Ctor)
}

// socketMethods are the part of ctx that deals with hibernatable sockets
// (workerd: io/hibernation-manager.c++).
func (r *Realm) socketMethods() []engine.Method[*Object] {
	return []engine.Method[*Object]{
		method("acceptWebSocket", 2, func(o *Object, c goja.FunctionCall) goja.Value {
			o.sockets.acceptWebSocket(c.Argument(0), c.Argument(1))
			return goja.Undefined()
		}),
		method("getWebSockets", 1, func(o *Object, c goja.FunctionCall) goja.Value { return o.sockets.getWebSockets(c.Argument(0)) }),
		method("getTags", 1, func(o *Object, c goja.FunctionCall) goja.Value {
			h := o.sockets.hibernatable(c.Argument(0), "getTags")
			tags := make([]any, len(h.tags))
			for i, t := range h.tags {
				tags[i] = t
			}
			return r.vm.NewArray(tags...)
		}),
		method("setWebSocketAutoResponse", 1, func(o *Object, c goja.FunctionCall) goja.Value {
			s := o.opts.Sockets
			p, ok := r.autoResp.Of(c.Argument(0))
			if !ok && !goja.IsUndefined(c.Argument(0)) {
				r.eng.Throw("TypeError", "Failed to execute 'setWebSocketAutoResponse' on 'DurableObjectState': parameter 1 is not of type 'WebSocketRequestResponsePair'.")
			}
			if ok {
				r.checkAutoResponse(p)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.request = nil; ok {
				s.request, s.reply = &p.request, p.response
			}
			return goja.Undefined()
		}),
		method("getWebSocketAutoResponse", 0, func(o *Object, _ goja.FunctionCall) goja.Value {
			s := o.opts.Sockets
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.request == nil {
				return goja.Null()
			}
			return r.autoResp.Wrap(&autoResponse{*s.request, s.reply})
		}),
		method("getWebSocketAutoResponseTimestamp", 1, func(o *Object, c goja.FunctionCall) goja.Value {
			if handle, ok := r.iso.Platform.WebSockets.Of(c.Argument(0)); ok {
				if _, accepted := handle.Host.(*HibernatableSocket); !accepted {
					return goja.Null() // nobody has answered it
				}
			}
			h := o.sockets.hibernatable(c.Argument(0), "getWebSocketAutoResponseTimestamp")
			h.set.mu.Lock()
			at := h.autoAtMs
			h.set.mu.Unlock()
			if at == 0 {
				return goja.Null()
			}
			date, err := r.vm.New(r.eng.Primordial("Date"), r.vm.ToValue(at))
			if err != nil {
				r.eng.Rethrow(err)
			}
			return date
		}),
		method("setHibernatableWebSocketEventTimeout", 1, func(o *Object, c goja.FunctionCall) goja.Value {
			if ms := c.Argument(0); !goja.IsUndefined(ms) {
				ms = ms.ToNumber()
				switch n := ms.ToInteger(); {
				case math.IsNaN(ms.ToFloat()):
					r.eng.Throw("TypeError", "The value cannot be converted because it is not an integer.")
				case n > math.MaxUint32:
					r.eng.Throw("TypeError", "Value out of range. Must be less than or equal to 4294967295.")
				case n < 0:
					r.eng.Throw("TypeError", "The value cannot be converted because it is negative and this API expects a positive number.")
				case n > maxEventTimeoutMs:
					r.eng.Throw("Error", "Event timeout should not exceed %d ms.", maxEventTimeoutMs)
				}
				o.sockets.timeout = time.Duration(ms.ToInteger()) * time.Millisecond
			} else {
				o.sockets.timeout = 0
			}
			return goja.Undefined()
		}),
		method("getHibernatableWebSocketEventTimeout", 0, func(o *Object, _ goja.FunctionCall) goja.Value {
			if o.sockets.timeout == 0 {
				return goja.Null()
			}
			return r.vm.ToValue(o.sockets.timeout.Milliseconds())
		}),
	}
}

// maxEventTimeoutMs is the longest time that a handler may be given: a week.
const maxEventTimeoutMs = 7 * 24 * 3600 * 1000

func (r *Realm) checkAutoResponse(p *autoResponse) {
	if n := len(p.request); n > MaxAutoResponseSize {
		r.eng.Throw("RangeError", "Request cannot be larger than %d bytes. A request of size %d was provided.", MaxAutoResponseSize, n)
	}
	if n := len(p.response); n > MaxAutoResponseSize {
		r.eng.Throw("RangeError", "Response cannot be larger than %d bytes. A response of size %d was provided.", MaxAutoResponseSize, n)
	}
}

func (o *sockets) acceptWebSocket(v, tagList goja.Value) {
	r := o.realm
	handle, ok := r.iso.Platform.WebSockets.Of(v)
	if !ok {
		r.eng.Throw("TypeError", "Failed to execute 'acceptWebSocket' on 'DurableObjectState': parameter 1 is not of type 'WebSocket'.")
	}
	tags := o.tags(tagList)
	if o.opts.Sockets.Len() >= MaxSockets {
		r.eng.Throw("Error", "only %d websockets can be accepted on a single Durable Object instance", MaxSockets)
	}
	attachment := handle.Attachment.LoadAttachment()
	sock := handle.TakeForHibernation()
	h := o.opts.Sockets.add(sock, tags, attachment)
	handle.Attachment, handle.Host = h, h
	o.remember(h, handle)
	sock.Bind(h)
}

// tags checks the tags of acceptWebSocket: at most 10 distinct ones of at most
// 256 characters.
func (o *sockets) tags(v goja.Value) []string {
	r := o.realm
	if goja.IsUndefined(v) {
		return nil
	}
	if list, ok := v.(*goja.Object); !ok || list.ClassName() != "Array" {
		r.eng.Throw("TypeError", "Failed to execute 'acceptWebSocket' on 'DurableObjectState': parameter 2 is not of type 'Array'.")
	}
	var tags []string
	r.vm.ForOf(v, func(item goja.Value) bool {
		t := r.text(item)
		if utf8.RuneCountInString(t) > MaxTagLength {
			r.eng.Throw("Error", "%q is longer than the max tag length (%d characters).", t, MaxTagLength)
		}
		if !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
		return true
	})
	if len(tags) > MaxTags {
		r.eng.Throw("Error", "a Hibernatable WebSocket cannot have more than %d tags", MaxTags)
	}
	return tags
}

func (o *sockets) remember(h *HibernatableSocket, handle *websocket.Handle) {
	if o.handles == nil {
		o.handles = map[*HibernatableSocket]*websocket.Handle{}
	}
	o.handles[h] = handle
}

// handleOf is the WebSocket object of a socket in this incarnation. It is OPEN
// until the peer's Close is delivered, although that may be what has woken the
// object: so it is in workerd, and a constructor still finds who is leaving.
func (o *sockets) handleOf(h *HibernatableSocket) *websocket.Handle {
	if handle := o.handles[h]; handle != nil {
		return handle
	}
	p := o.realm.iso.Platform
	obj := p.WebSockets.Wrap(h.sock, websocket.Options{
		Hibernatable: true, Attachment: h, SentClose: h.sock.Sent(),
	})
	handle, _ := p.WebSockets.Of(obj)
	handle.Host = h
	o.remember(h, handle)
	return handle
}

func (o *sockets) hibernatable(v goja.Value, method string) *HibernatableSocket {
	handle, ok := o.realm.iso.Platform.WebSockets.Of(v)
	if !ok {
		o.realm.eng.Throw("TypeError", "Failed to execute '%s' on 'DurableObjectState': parameter 1 is not of type 'WebSocket'.", method)
	}
	if h, ok := handle.Host.(*HibernatableSocket); ok {
		return h
	}
	o.realm.eng.Throw("Error", "you must call 'acceptWebSocket()' before attempting to access the tags of a WebSocket.")
	return nil
}

// getWebSockets lists all sockets newest first, those of a tag in order of
// acceptance.
func (o *sockets) getWebSockets(tag goja.Value) goja.Value {
	all := o.opts.Sockets.list()
	tagged := tag != nil && !goja.IsUndefined(tag) && !goja.IsNull(tag)
	var out []any
	if tagged {
		name := tag.String()
		for _, h := range all {
			if h.hasTag(name) {
				out = append(out, o.handleOf(h).Object())
			}
		}
	} else {
		for _, h := range slices.Backward(all) {
			out = append(out, o.handleOf(h).Object())
		}
	}
	return o.realm.vm.NewArray(out...)
}

// Socket delivers an event of a hibernatable socket to the object's handlers.
// done is called exactly once; with ErrEvicted the event is to be delivered to
// a new incarnation. Call it on the loop, outside any turn.
func (o *Object) Socket(ev SocketEvent, done func(error)) {
	cause := "close"
	if ev.Message != nil {
		cause = cmp.Or(killpoint.Inherited(ev.Message.Cause), "message")
	}
	o.deliver(cause, func() {
		finished := false
		forget := func() {}
		ended := func() {}
		handled := func() {}
		finish := func() {
			if finished {
				return
			}
			finished = true
			forget()
			ended()
			o.done()
			handled()
			done(nil)
		}
		forget = o.ctx.AtDeath(func(error) { finish() })
		e := o.realm.eng
		if ev.Message == nil && (ev.Err == nil || event.IsProtocolError(ev.Err)) {
			e.Turns.After(func() {
				if handled = o.sockets.closed(ev); finished {
					handled()
				}
			})
		}
		o.traced(traceSocket(ev), nil, func(inv *isolate.Invocation, end func()) {
			ended = func() { inv.Returned(); end() }
			report := func(reason goja.Value) {
				inv.Fail()
				e.Uncaught.Report(reason)
				finish()
			}
			thrown := e.Try(func() { e.Await(o.sockets.callSocketHandler(ev), func(goja.Value) { finish() }, report) })
			if thrown != nil {
				report(thrown)
			}
		})
	}, done)
}

func (o *sockets) callSocketHandler(ev SocketEvent) goja.Value {
	r := o.realm
	handle := o.handleOf(ev.Socket)
	ws := handle.Object()
	name := "webSocketMessage"
	var args []goja.Value
	switch {
	case ev.Message != nil && ev.Message.Binary:
		args = []goja.Value{ws, r.vm.ToValue(r.vm.NewArrayBuffer(ev.Message.Data))}
	case ev.Message != nil:
		args = []goja.Value{ws, r.eng.String(webidl.ValidUTF8(ev.Message.Data))}
	case ev.Err != nil:
		if event.IsProtocolError(ev.Err) {
			handle.MarkReceivedClose()
		}
		name, args = "webSocketError", []goja.Value{ws, r.eng.Errors.FromGo(ev.Err)}
	default:
		handle.MarkReceivedClose()
		name = "webSocketClose"
		args = []goja.Value{ws, r.vm.ToValue(ev.Code), r.eng.String(webidl.ValidUTF8([]byte(ev.Reason))), r.vm.ToValue(ev.Clean)}
	}
	fn := o.instance.Get(name)
	if !engine.IsCallable(fn) {
		return goja.Undefined()
	}
	return r.eng.Call(fn, o.instance, args...)
}

// closed forgets a socket at the end of the turn that has begun to handle its close. The
// runtime answers the peer's Close frame at no compatibility date: where the handler does not,
// the connection ends with the object. What is returned is to be called when the handler has
// come to an end.
func (o *sockets) closed(ev SocketEvent) (handled func()) {
	o.opts.Sockets.remove(ev.Socket)
	handle := o.handles[ev.Socket]
	delete(o.handles, ev.Socket)
	if o.ended || !ev.Clean || handle == nil {
		return func() {}
	}
	sock := ev.Socket.sock
	forget := o.ctx.AtDeath(func(error) {
		sock.Bind(nil)
		sock.Drop(1006, "", nil)
	})
	return func() {
		if handle.SentClose() && !o.ended {
			o.ctx.Emit(forget) // the answer waits for what the object has written
		}
	}
}
