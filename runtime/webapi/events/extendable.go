package events

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// extendableEvent is an event whose work may outlast its listeners (workerd:
// api/basics.h and global-scope.h). Loop-confined.
type extendableEvent struct {
	domEvent
	waitUntil func(promise goja.Value)
}

func (ev *extendableEvent) extendable() *extendableEvent { return ev }

type extendableHolder interface {
	eventHolder
	extendable() *extendableEvent
}

type fetchEvent struct {
	extendableEvent
	request  goja.Value
	response goja.Value // what respondWith got; nil before
	late     bool       // the listeners have returned
}

type scheduledEvent struct {
	extendableEvent
	cron    string
	timeMs  int64
	noRetry *bool
}

// installExtendable defines the classes of the events of workers in
// service-worker syntax.
func (p *Events) installExtendable() {
	p.LazyClass("ExtendableEvent", func() *goja.Object { return p.extendableClass().Ctor })
	p.LazyClass("FetchEvent", func() *goja.Object { return p.fetchEventClass().Ctor })
	p.LazyClass("ScheduledEvent", func() *goja.Object { return p.scheduledEventClass().Ctor })
	tail := webidl.Lazily(p.Engine, func() *goja.Object { // two names of one class, as in workerd
		return engine.DefineClass(p.Engine, engine.ClassDef[extendableHolder]{Name: "TailEvent", Extends: p.extendableClass().Ctor}).Ctor
	})
	p.LazyClass("TailEvent", tail)
	p.LazyClass("TraceEvent", tail)
}

func (p *Events) extendableClass() *engine.Class[extendableHolder] {
	c := &p.classes
	if c.extendable == nil {
		c.extendable = engine.DefineClass(p.Engine, engine.ClassDef[extendableHolder]{
			Name: "ExtendableEvent", Extends: p.eventClass().Ctor,
			Methods: []engine.Method[extendableHolder]{{Name: "waitUntil", Fn: func(h extendableHolder, call goja.FunctionCall) goja.Value {
				if len(call.Arguments) == 0 {
					p.Engine.Throw("TypeError", "Failed to execute 'waitUntil' on 'ExtendableEvent': parameter 1 is not of type 'Promise'.")
				}
				h.extendable().waitUntil(call.Argument(0))
				return goja.Undefined()
			}}},
		})
	}
	return c.extendable
}

func (p *Events) fetchEventClass() *engine.Class[*fetchEvent] {
	c := &p.classes
	if c.fetch == nil {
		c.fetch = engine.DefineClass(p.Engine, engine.ClassDef[*fetchEvent]{
			Name: "FetchEvent", Extends: p.extendableClass().Ctor,
			Own: []engine.Accessor[*fetchEvent]{webidl.Reader("request", func(ev *fetchEvent) goja.Value { return ev.request })},
			Methods: []engine.Method[*fetchEvent]{
				{Name: "respondWith", Fn: p.respondWith},
				{Name: "passThroughOnException", Fn: func(*fetchEvent, goja.FunctionCall) goja.Value { return goja.Undefined() }},
			},
		})
	}
	return c.fetch
}

func (p *Events) respondWith(ev *fetchEvent, call goja.FunctionCall) goja.Value {
	switch {
	case len(call.Arguments) == 0:
		p.Engine.Throw("TypeError", "Failed to execute 'respondWith' on 'FetchEvent': parameter 1 is not of type 'Promise'.")
	case ev.response != nil:
		p.ThrowDOM("InvalidStateError", "FetchEvent.respondWith() has already been called; it can only be called once.")
	case ev.late:
		p.ThrowDOM("InvalidStateError", "Too late to call FetchEvent.respondWith(). It must be called synchronously in the event handler.")
	}
	ev.canceled, ev.response = true, call.Argument(0)
	return goja.Undefined()
}

func (p *Events) scheduledEventClass() *engine.Class[*scheduledEvent] {
	c := &p.classes
	if c.scheduled == nil {
		c.scheduled = engine.DefineClass(p.Engine, engine.ClassDef[*scheduledEvent]{
			Name: "ScheduledEvent", Extends: p.extendableClass().Ctor,
			Own: []engine.Accessor[*scheduledEvent]{
				webidl.Reader("scheduledTime", func(ev *scheduledEvent) goja.Value { return p.VM.ToValue(ev.timeMs) }),
				webidl.Reader("cron", func(ev *scheduledEvent) goja.Value { return p.VM.ToValue(ev.cron) }),
			},
			Methods: []engine.Method[*scheduledEvent]{{Name: "noRetry", Fn: func(ev *scheduledEvent, _ goja.FunctionCall) goja.Value {
				*ev.noRetry = true
				return goja.Undefined()
			}}},
		})
	}
	return c.scheduled
}

// Fetched dispatches a "fetch" event to the listeners of the global scope and
// returns what one gave to respondWith. It is nil if the request is to be sent on
// unchanged: no listener called respondWith or preventDefault. It throws what a
// listener threw (workerd: ServiceWorkerGlobalScope::request).
func (p *Events) Fetched(request goja.Value, waitUntil func(promise goja.Value)) (response goja.Value) {
	ev := &fetchEvent{request: request}
	ev.waitUntil = waitUntil
	proceed := p.dispatchTrusted(&ev.domEvent, "fetch", p.fetchEventClass().Wrap(ev))
	ev.late = true
	if ev.response == nil && !proceed {
		p.Engine.Throw("Error", "preventDefault() called but respondWith() not called")
	}
	return ev.response
}

// Scheduled dispatches a "scheduled" event to the listeners of the global scope.
// It throws what a listener threw, and if there is none.
func (p *Events) Scheduled(cron string, timeMs int64, noRetry *bool, waitUntil func(promise goja.Value)) {
	if !p.HasListener("scheduled") {
		*noRetry = true
		p.Engine.Throw("Error", "No event listener registered for scheduled events.")
	}
	ev := &scheduledEvent{cron: cron, timeMs: timeMs, noRetry: noRetry}
	ev.waitUntil = waitUntil
	p.dispatchTrusted(&ev.domEvent, "scheduled", p.scheduledEventClass().Wrap(ev))
}

func (p *Events) dispatchTrusted(ev *domEvent, name string, obj *goja.Object) (proceed bool) {
	p.setEvent(ev, name)
	ev.trusted = true
	proceed, thrown := p.dispatch(&p.global, p.VM.GlobalObject(), ev, obj, p.Engine.Uncaught.Report)
	if thrown != nil {
		panic(thrown)
	}
	return proceed
}
