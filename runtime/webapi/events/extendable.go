package events

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// ServiceWorker dispatches the events of a worker in service-worker syntax to the listeners
// of its global scope. Loop-confined.
type ServiceWorker struct {
	*Events
	extendable *engine.Class[extendableHolder]
	fetch      *engine.Class[*fetchEvent]
	scheduled  *engine.Class[*scheduledEvent]
	queue      *engine.Class[*queueEvent]
	tail       *engine.Class[*tailEvent]
}

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

// queueEvent is a batch of a queue (workerd: api/queue.h). QueueEvent is no name of the
// global scope.
type queueEvent struct {
	extendableEvent
	batch *goja.Object // what a queue handler gets
}

// tailEvent has what happened to events of other workers (workerd: api/trace.h).
type tailEvent struct {
	extendableEvent
	events, traces goja.Value
}

// install defines the classes of the events of workers in
// service-worker syntax.
func (p *ServiceWorker) install() {
	p.LazyClass("ExtendableEvent", func() *goja.Object { return p.extendableClass().Ctor })
	p.LazyClass("FetchEvent", func() *goja.Object { return p.fetchEventClass().Ctor })
	p.LazyClass("ScheduledEvent", func() *goja.Object { return p.scheduledEventClass().Ctor })
	tail := func() *goja.Object { return p.tailEventClass().Ctor } // two names of one class, as in workerd
	p.LazyClass("TailEvent", tail)
	p.LazyClass("TraceEvent", tail)
}

func (p *ServiceWorker) extendableClass() *engine.Class[extendableHolder] {
	if p.extendable == nil {
		p.extendable = engine.DefineClass(p.Engine, engine.ClassDef[extendableHolder]{
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
	return p.extendable
}

func (p *ServiceWorker) fetchEventClass() *engine.Class[*fetchEvent] {
	if p.fetch == nil {
		p.fetch = engine.DefineClass(p.Engine, engine.ClassDef[*fetchEvent]{
			Name: "FetchEvent", Extends: p.extendableClass().Ctor,
			Own: []engine.Accessor[*fetchEvent]{webidl.Reader("request", func(ev *fetchEvent) goja.Value { return ev.request })},
			Methods: []engine.Method[*fetchEvent]{
				{Name: "respondWith", Fn: p.respondWith},
				{Name: "passThroughOnException", Fn: func(*fetchEvent, goja.FunctionCall) goja.Value { return goja.Undefined() }},
			},
		})
	}
	return p.fetch
}

func (p *ServiceWorker) respondWith(ev *fetchEvent, call goja.FunctionCall) goja.Value {
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

func (p *ServiceWorker) scheduledEventClass() *engine.Class[*scheduledEvent] {
	if p.scheduled == nil {
		p.scheduled = engine.DefineClass(p.Engine, engine.ClassDef[*scheduledEvent]{
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
	return p.scheduled
}

func (p *ServiceWorker) queueEventClass() *engine.Class[*queueEvent] {
	if p.queue == nil {
		of := func(name string) engine.Accessor[*queueEvent] {
			return webidl.Reader(name, func(ev *queueEvent) goja.Value { return ev.batch.Get(name) })
		}
		all := func(name string) engine.Method[*queueEvent] {
			return engine.Method[*queueEvent]{Name: name, Fn: func(ev *queueEvent, call goja.FunctionCall) goja.Value {
				return p.Engine.Call(ev.batch.Get(name), ev.batch, call.Arguments...)
			}}
		}
		p.queue = engine.DefineClass(p.Engine, engine.ClassDef[*queueEvent]{
			Name: "QueueEvent", Extends: p.extendableClass().Ctor,
			Own:     []engine.Accessor[*queueEvent]{of("metadata"), of("queue"), of("messages")},
			Methods: []engine.Method[*queueEvent]{all("retryAll"), all("ackAll")},
		})
	}
	return p.queue
}

func (p *ServiceWorker) tailEventClass() *engine.Class[*tailEvent] {
	if p.tail == nil {
		p.tail = engine.DefineClass(p.Engine, engine.ClassDef[*tailEvent]{
			Name: "TailEvent", Extends: p.extendableClass().Ctor,
			Own: []engine.Accessor[*tailEvent]{
				webidl.Reader("traces", func(ev *tailEvent) goja.Value { return ev.traces }),
				webidl.Reader("events", func(ev *tailEvent) goja.Value { return ev.events }),
			},
		})
	}
	return p.tail
}

// Fetched dispatches a "fetch" event to the listeners of the global scope and
// returns what one gave to respondWith. It is nil if the request is to be sent on
// unchanged: no listener called respondWith or preventDefault. It throws what a
// listener threw (workerd: ServiceWorkerGlobalScope::request).
func (p *ServiceWorker) Fetched(request goja.Value, waitUntil func(promise goja.Value)) (response goja.Value) {
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
func (p *ServiceWorker) Scheduled(cron string, timeMs int64, noRetry *bool, waitUntil func(promise goja.Value)) {
	if !p.HasListener("scheduled") {
		*noRetry = true
		p.Engine.Throw("Error", "No event listener registered for scheduled events.")
	}
	ev := &scheduledEvent{cron: cron, timeMs: timeMs, noRetry: noRetry}
	ev.waitUntil = waitUntil
	p.dispatchTrusted(&ev.domEvent, "scheduled", p.scheduledEventClass().Wrap(ev))
}

// Queued dispatches a "queue" event with a batch, as queue handlers get it, to the
// listeners of the global scope. It throws what a listener threw, and if there is none.
func (p *ServiceWorker) Queued(batch *goja.Object, waitUntil func(promise goja.Value)) {
	if !p.HasListener("queue") {
		p.Engine.Throw("Error", "No event listener registered for queue messages.")
	}
	ev := &queueEvent{batch: batch}
	ev.waitUntil = waitUntil
	p.dispatchTrusted(&ev.domEvent, "queue", p.queueEventClass().Wrap(ev))
}

// Tailed dispatches a "tail" and a "trace" event with an array of trace items to the
// listeners of the global scope, if there are any. It throws what a listener threw.
func (p *ServiceWorker) Tailed(items *goja.Object, waitUntil func(promise goja.Value)) {
	var copied []any
	p.ForOf(items, func(v goja.Value) { copied = append(copied, v) })
	for _, typ := range []string{"tail", "trace"} {
		ev := &tailEvent{events: p.VM.NewArray(copied...), traces: p.VM.NewArray(copied...)}
		ev.waitUntil = waitUntil
		p.dispatchTrusted(&ev.domEvent, typ, p.tailEventClass().Wrap(ev))
	}
}

func (p *ServiceWorker) dispatchTrusted(ev *domEvent, name string, obj *goja.Object) (proceed bool) {
	p.setEvent(ev, name)
	ev.trusted = true
	proceed, thrown := p.dispatch(&p.global, p.VM.GlobalObject(), ev, obj, p.Engine.Uncaught.Report)
	if thrown != nil {
		panic(thrown)
	}
	return proceed
}
