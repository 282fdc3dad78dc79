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
}

// New defines the globals of events in a realm, and makes globalThis an
// EventTarget.
func New(r *webidl.Realm, cloner *structured.Cloner) *Events {
	p := &Events{Realm: r, cloner: cloner}
	r.Hosts.Add(signalCodec{p}, clone.HostAbortSignal)
	p.LazyClass("EventTarget", func() *goja.Object { return p.Targets().Ctor })
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
	p.installExtendable()
	p.installGlobalTarget()
	p.installGlobalScopes()
	return p
}

// installGlobalTarget defines the methods of EventTarget as functions of the
// global scope, and turns what the engine reports into events.
func (p *Events) installGlobalTarget() {
	global := p.VM.GlobalObject()
	for _, m := range p.targetMethods() {
		p.Engine.Global(m.Name, p.Engine.Func(m.Name, m.Length, func(call goja.FunctionCall) goja.Value {
			if !webidl.IsMissing(call.This) && call.This != global {
				return m.Fn(p.targetOf(call.This), call)
			}
			call.This = global
			return m.Fn(&p.global, call)
		}))
	}
	p.Engine.Lazies.Global("reportError", func() goja.Value {
		return p.GlobalFunc("reportError", 1, func(call goja.FunctionCall) goja.Value {
			p.Need(call, 1, "", "reportError", "JsValue")
			p.Engine.Uncaught.Report(call.Arguments[0])
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
	})
}

// installGlobalScopes gives globalThis its classes (HTML, section 10.2.1.1, and
// Service Workers, section 4.1): it is an EventTarget, also for the methods that
// it inherits.
func (p *Events) installGlobalScopes() {
	type scope struct{}
	extends := p.Targets().Ctor
	var class *engine.Class[scope]
	for _, name := range []string{"WorkerGlobalScope", "ServiceWorkerGlobalScope"} {
		class = engine.DefineClass(p.Engine, engine.ClassDef[scope]{Name: name, Extends: extends})
		extends = class.Ctor
		p.Engine.Global(name, class.Ctor)
	}
	global := p.VM.GlobalObject()
	global.SetPrototype(class.Proto)
	if err := global.DeleteSymbol(goja.SymToStringTag); err != nil { // goja's own: "global"
		panic(err)
	}
	p.Engine.Attach(global, &p.global)
}
