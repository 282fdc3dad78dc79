// Package events is the DOM's events: Event and its classes, EventTarget,
// AbortSignal, MessagePort, and the global scope as a target.
package events

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webidl"
)

// Events is what an isolate has of events. Classes are made at their first use.
// Loop-confined.
type Events struct {
	*webidl.Realm
	cloner *structured.Cloner

	classes    classes
	target     *engine.Class[Targeter]
	signal     *engine.Class[*Signal]
	controller *engine.Class[*abortController]
	port       *engine.Class[*Port]
	global     Target
	reporting  bool // an "error" event is being dispatched

	// ServiceWorker dispatches the events of workers in service-worker syntax.
	ServiceWorker *ServiceWorker
}

// New defines the globals of events in a realm, and makes globalThis an
// EventTarget.
func New(r *webidl.Realm, cloner *structured.Cloner) *Events {
	p := &Events{Realm: r, cloner: cloner}
	r.Hosts.Add(signalCodec{p}, clone.HostAbortSignal)
	p.LazyClass("Event", func() *goja.Object { return p.eventClass().Ctor })
	p.LazyClass("CustomEvent", func() *goja.Object { return p.customEventClass().Ctor })
	p.LazyClass("MessageEvent", func() *goja.Object { return p.messageEventClass().Ctor })
	p.LazyClass("ErrorEvent", func() *goja.Object { return p.errorEventClass().Ctor })
	p.LazyClass("CloseEvent", func() *goja.Object { return p.closeEventClass().Ctor })
	p.LazyClass("PromiseRejectionEvent", func() *goja.Object { return p.rejectionEventClass().Ctor })
	p.LazyClass("AbortSignal", func() *goja.Object { return p.signals().Ctor })
	p.LazyClass("AbortController", func() *goja.Object { return p.abortControllers().Ctor })
	if p.Enabled(compat.ExposeGlobalMessageChannel) {
		p.LazyClass("MessagePort", func() *goja.Object { return p.messagePorts().Ctor })
		p.LazyClass("MessageChannel", p.messageChannelClass)
	}
	p.ServiceWorker = &ServiceWorker{Events: p}
	p.ServiceWorker.install()
	p.installGlobalTarget()
	p.installGlobalScopes()
	return p
}

// installGlobalTarget turns what the engine reports into events of the global scope.
func (p *Events) installGlobalTarget() {
	p.Engine.Lazies.Interface("reportError", func() goja.Value {
		return p.GlobalFunc("reportError", func(call goja.FunctionCall) goja.Value {
			p.Need(call, 1, "", "reportError", "Value")
			p.Engine.Uncaught.Announce(call.Arguments[0])
			return goja.Undefined()
		})
	})
	p.Engine.Uncaught.SetHooks(engine.Hooks{
		UnhandledRejection: func(promise *goja.Object, reason goja.Value) bool {
			return p.fireRejection("unhandledrejection", promise, reason)
		},
		RejectionHandled: func(promise *goja.Object, reason goja.Value) {
			p.fireRejection("rejectionhandled", promise, reason)
		},
		UncaughtError: p.fireError,
		Promptly:      !p.Enabled(compat.UnhandledRejectionAfterMicrotaskCheckpoint),
	})
}

// installGlobalScopes gives globalThis its classes (workerd: api/global-scope.h):
// its interfaces and operations are those of its prototypes. In workerd these are
// WorkerGlobalScope and EventTarget of their own: globalThis is no instance of the
// classes that have these names.
func (p *Events) installGlobalScopes() {
	type scope struct{}
	global := p.VM.GlobalObject()
	target := defineTarget(p, func(this goja.Value) (*Target, goja.Value) {
		if !webidl.IsMissing(this) && this != global {
			p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
		}
		return &p.global, global
	})
	worker := func(target *engine.Class[Targeter]) *goja.Object {
		class := engine.DefineClass(p.Engine, engine.ClassDef[scope]{Name: "WorkerGlobalScope", Extends: target.Ctor})
		class.Proto.DefineDataProperty("EventTarget", p.Targets().Ctor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return class.Ctor
	}
	p.Engine.Interface("WorkerGlobalScope", worker(p.Targets()))
	service := engine.DefineClass(p.Engine, engine.ClassDef[scope]{Name: "ServiceWorkerGlobalScope", Extends: worker(target), Proto: p.Engine.Scope()})
	global.DefineDataProperty("ServiceWorkerGlobalScope", service.Ctor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	if err := global.DeleteSymbol(goja.SymToStringTag); err != nil { // goja's own: "global"
		panic(err)
	}
	p.Engine.Attach(global, &p.global)
}
