package durableobject

import (
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// traced runs the code of one event so that tail workers hear of it. end is called
// when the handler has come to an end; what the object does later belongs to no
// event. inv is nil where nobody wants to know.
func (o *Object) traced(ev event.TraceEvent, run func(inv *isolate.Invocation, end func())) {
	inv := o.realm.iso.Invoked(o.opts.Class, o.opts.ID.String(), ev)
	if inv == nil {
		run(nil, func() {})
		return
	}
	end := func() {
		if o.ended && o.failure != nil {
			inv.End(o.failure)
			return
		}
		inv.End(nil)
	}
	o.realm.eng.In(inv.Frame(o.realm.eng.Frame()), func() { run(inv, end) })
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
