package durableobject

import (
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// traced runs the code of one event so that tail workers hear of it. end is called
// when the handler has come to an end: the event is over when the object waits for nothing
// more, and nobody has references to what the event made. inv is nil where nobody wants to
// know. The first event is the one that had the object constructed.
func (o *Object) traced(ev event.TraceEvent, parent *event.Span, run func(inv *isolate.Invocation, end func())) {
	inv := o.born
	o.born = nil
	if inv == nil {
		inv = isolate.Invoking(o.realm.iso, o.opts.Class)
	}
	if inv == nil {
		run(nil, func() {})
		return
	}
	inv.Begin(o.opts.Class, o.opts.ID.String(), ev, parent)
	inv.Line(&o.line)
	end := func() {
		if o.ended && o.failure != nil {
			inv.End(o.failure)
			return
		}
		forget := o.ctx.AtDeath(func(error) {
			if o.failure != nil {
				inv.End(o.failure)
			} else {
				inv.End(nil)
			}
		})
		inv.WhenReleased(func() { o.ctx.WhenQuiet(func() { forget(); inv.End(nil) }) })
	}
	o.realm.eng.In(inv.Frame(o.realm.eng.Frame()), func() { run(inv, end) })
}

// Unborn tells tail workers of the event for which the object could not be constructed: a
// request, or nil for a call, of which no method is known then. parent is the event that
// caused it. Loop-confined.
func Unborn(o *Object, req *event.Request, parent *event.Span) {
	inv := o.born
	if inv == nil || o.failure == nil {
		return
	}
	o.born = nil
	ev := event.TraceEvent{Type: "jsrpc"}
	if req != nil {
		ev = o.realm.iso.TraceRequest(req)
	}
	inv.Begin(o.opts.Class, o.opts.ID.String(), ev, parent)
	inv.Fail()
	inv.End(nil)
}

// traceSocket describes an event of a socket.
func traceSocket(ev SocketEvent) event.TraceEvent {
	s := &event.TraceSocket{Type: "message"}
	switch {
	case ev.Err != nil:
		s.Type = "error"
	case ev.Message == nil:
		s.Type, s.Code, s.Clean = "close", ev.Code, ev.Clean
	}
	return event.TraceEvent{Type: "hibernatableWebSocket", Socket: s}
}
