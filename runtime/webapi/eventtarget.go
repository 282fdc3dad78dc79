package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// eventTarget holds the listeners of an EventTarget (DOM, section 2.7). Go
// values of classes that extend EventTarget embed it, which makes their
// instances targets. Loop-confined.
type eventTarget struct {
	listeners []*listener // in the order in which they were added
}

// eventTargeter is an EventTarget of any class.
type eventTargeter interface{ events() *eventTarget }

func (t *eventTarget) events() *eventTarget { return t }

// listener is one registration.
type listener struct {
	typ      string
	callback *goja.Object // a function, or an object with handleEvent; nil: a handler attribute set to null
	handler  bool         // the `on...` attribute of its type
	capture  bool
	once     bool
	passive  bool
	removed  bool
	unsignal func() // forgets the signal that would remove it
}

type eventState struct {
	classes   eventClasses
	target    *engine.Class[eventTargeter]
	global    eventTarget
	reporting bool // an "error" event is being dispatched
}

func (p *Platform) installEvents() {
	p.lazyClass("EventTarget", func() *goja.Object { return p.eventTargets().Ctor })
	p.lazyClass("Event", func() *goja.Object { return p.eventClass().Ctor })
	p.lazyClass("CustomEvent", func() *goja.Object { return p.customEventClass().Ctor })
	p.lazyClass("MessageEvent", func() *goja.Object { return p.messageEventClass().Ctor })
	p.lazyClass("ErrorEvent", func() *goja.Object { return p.errorEventClass().Ctor })
	p.lazyClass("CloseEvent", func() *goja.Object { return p.closeEventClass().Ctor })
	p.lazyClass("PromiseRejectionEvent", func() *goja.Object { return p.rejectionEventClass().Ctor })

	global := p.vm.GlobalObject()
	for _, m := range p.targetMethods() {
		p.Engine.Global(m.Name, p.Engine.Func(m.Name, m.Length, func(call goja.FunctionCall) goja.Value {
			if !isMissing(call.This) && call.This != global {
				return m.Fn(p.targetOf(call.This), call)
			}
			call.This = global
			return m.Fn(&p.core.events.global, call)
		}))
	}
	p.Engine.LazyGlobal("reportError", func() goja.Value {
		return p.Engine.Func("reportError", 1, func(call goja.FunctionCall) goja.Value {
			p.need("reportError", len(call.Arguments), 1)
			p.Engine.ReportUncaught(call.Arguments[0])
			return goja.Undefined()
		})
	})
	p.Engine.SetHooks(engine.Hooks{
		UnhandledRejection: func(promise *goja.Object, reason goja.Value) bool {
			return p.fireRejection("unhandledrejection", promise, reason)
		},
		RejectionHandled: func(promise *goja.Object, reason goja.Value) {
			p.fireRejection("rejectionhandled", promise, reason)
		},
		UncaughtError: p.fireError,
	})
}

// HasListener reports whether the worker listens for an event on globalThis
// (the service-worker syntax: "fetch", "scheduled").
func (p *Platform) HasListener(typ string) bool { return p.core.events.global.has(typ) }

// DispatchGlobal dispatches an event, made from one of the platform's classes,
// on globalThis. It reports false if a listener called preventDefault.
func (p *Platform) DispatchGlobal(ev *goja.Object) bool { return p.Fire(p.vm.GlobalObject(), ev) }

func (p *Platform) fireRejection(typ string, promise *goja.Object, reason goja.Value) bool {
	if !p.core.events.global.has(typ) {
		return false
	}
	ev := &rejectionEvent{promise: promise, reason: reason}
	p.setEvent(&ev.domEvent, typ)
	ev.trusted, ev.cancelable = true, typ == "unhandledrejection"
	return !p.DispatchGlobal(p.rejectionEventClass().Wrap(ev))
}

// fireError turns an uncaught exception into the "error" event. A listener that
// throws in its turn is logged, not reported again.
func (p *Platform) fireError(v goja.Value) bool {
	st := &p.core.events
	if st.reporting || !st.global.has("error") {
		return false
	}
	st.reporting = true
	defer func() { st.reporting = false }()
	message := p.Engine.Text(v)
	if p.Engine.IsError(v) {
		message = "Uncaught " + message
	}
	return !p.DispatchGlobal(p.newErrorEvent(message, v))
}

func (p *Platform) eventTargets() *engine.Class[eventTargeter] {
	st := &p.core.events
	if st.target != nil {
		return st.target
	}
	var methods []engine.Method[eventTargeter]
	for _, m := range p.targetMethods() {
		methods = append(methods, engine.Method[eventTargeter]{Name: m.Name, Length: m.Length,
			Fn: func(t eventTargeter, call goja.FunctionCall) goja.Value { return m.Fn(t.events(), call) }})
	}
	st.target = engine.DefineClass(p.Engine, engine.ClassDef[eventTargeter]{
		Name: "EventTarget", Methods: methods,
		New: func(goja.ConstructorCall) eventTargeter { return &eventTarget{} },
	})
	return st.target
}

// targetOf is the eventTarget of an object, of globalThis too; it throws
// "Illegal invocation" for others.
func (p *Platform) targetOf(v goja.Value) *eventTarget {
	if v == p.vm.GlobalObject() {
		return &p.core.events.global
	}
	t, ok := p.Engine.Attached(v).(eventTargeter)
	if !ok {
		p.Engine.Throw("TypeError", "Illegal invocation")
	}
	return t.events()
}

func (p *Platform) targetMethods() []engine.Method[*eventTarget] {
	return []engine.Method[*eventTarget]{
		{Name: "addEventListener", Length: 2, Fn: func(t *eventTarget, call goja.FunctionCall) goja.Value {
			p.addListener(t, call)
			return goja.Undefined()
		}},
		{Name: "removeEventListener", Length: 2, Fn: func(t *eventTarget, call goja.FunctionCall) goja.Value {
			callback, _ := call.Argument(1).(*goja.Object)
			t.remove(t.find(call.Argument(0).String(), callback, captures(call.Argument(2))))
			return goja.Undefined()
		}},
		{Name: "dispatchEvent", Length: 1, Fn: func(t *eventTarget, call goja.FunctionCall) goja.Value {
			holder, ok := p.Engine.Attached(call.Argument(0)).(eventHolder)
			if !ok {
				p.Engine.Throw("TypeError", "Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type 'Event'.")
			}
			ev := holder.event()
			if ev.dispatching {
				p.throwDOM("InvalidStateError", "The event is already being dispatched.")
			}
			ev.trusted = false
			return p.vm.ToValue(p.dispatch(t, call.This, ev, call.Arguments[0].(*goja.Object)))
		}},
	}
}

func captures(options goja.Value) bool {
	if obj, ok := options.(*goja.Object); ok {
		return get(obj, "capture").ToBoolean()
	}
	return options.ToBoolean()
}

func (p *Platform) addListener(t *eventTarget, call goja.FunctionCall) {
	typ, options := call.Argument(0).String(), call.Argument(2)
	callback, ok := call.Argument(1).(*goja.Object)
	if !ok {
		if isMissing(call.Argument(1)) {
			return
		}
		p.Engine.Throw("TypeError", "Failed to execute 'addEventListener' on 'EventTarget': parameter 2 is not of type 'EventListener'.")
	}
	l := &listener{typ: typ, callback: callback, capture: captures(options),
		once: get(options, "once").ToBoolean(), passive: get(options, "passive").ToBoolean()}
	var signal *abortSignal
	if v := get(options, "signal"); !goja.IsUndefined(v) {
		if signal, ok = p.Engine.Attached(v).(*abortSignal); !ok {
			p.Engine.Throw("TypeError", "Failed to execute 'addEventListener' on 'EventTarget': member signal is not of type AbortSignal.")
		}
		if signal.aborted() {
			return
		}
	}
	if t.find(typ, callback, l.capture) != nil {
		return
	}
	t.listeners = append(t.listeners, l)
	if signal != nil {
		l.unsignal = signal.onAbort(func(goja.Value) { t.remove(l) })
	}
}

func (t *eventTarget) find(typ string, callback *goja.Object, capture bool) *listener {
	for _, l := range t.listeners {
		if !l.handler && l.typ == typ && l.callback == callback && l.capture == capture {
			return l
		}
	}
	return nil
}

func (t *eventTarget) has(typ string) bool {
	for _, l := range t.listeners {
		if l.typ == typ && l.callback != nil {
			return true
		}
	}
	return false
}

// remove takes a listener away, also from a dispatch in progress. The slice is
// replaced, not changed: a dispatch may be walking it.
func (t *eventTarget) remove(l *listener) {
	if l == nil || l.removed {
		return
	}
	l.removed = true
	if l.unsignal != nil {
		l.unsignal()
	}
	rest := make([]*listener, 0, len(t.listeners))
	for _, other := range t.listeners {
		if other != l {
			rest = append(rest, other)
		}
	}
	t.listeners = rest
}

// Fire dispatches an event that the platform made on a target object. It
// reports false if a listener called preventDefault.
func (p *Platform) Fire(target, ev *goja.Object) bool {
	return p.dispatch(p.targetOf(target), target, p.Engine.Attached(ev).(eventHolder).event(), ev)
}

// dispatch calls the listeners. There is no tree, hence one phase; what a
// listener throws is reported and the next one runs.
func (p *Platform) dispatch(t *eventTarget, this goja.Value, ev *domEvent, obj *goja.Object) bool {
	ev.target, ev.current, ev.dispatching = this, this, true
	defer func() {
		ev.current, ev.dispatching, ev.stopped, ev.stoppedNow = goja.Null(), false, false, false
	}()
	walk := t.listeners
	for _, l := range walk {
		if l.typ != ev.name || l.removed || l.callback == nil {
			continue
		}
		if l.once {
			t.remove(l)
		}
		ev.passive = l.passive
		if thrown := p.Engine.Try(func() { p.callListener(l, this, ev, obj) }); thrown != nil {
			p.Engine.ReportUncaught(thrown)
		}
		ev.passive = false
		if ev.stoppedNow {
			break
		}
	}
	return !ev.canceled
}

func (p *Platform) callListener(l *listener, this goja.Value, ev *domEvent, obj *goja.Object) {
	call, ok := goja.AssertFunction(l.callback)
	if !ok {
		if l.handler {
			return
		}
		p.Engine.Call(l.callback.Get("handleEvent"), l.callback, obj)
		return
	}
	v, err := call(this, obj)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	if l.handler && ev.cancelable && v == p.vm.ToValue(false) {
		ev.canceled = true
	}
}

// handlerAttribute is an `on...` attribute (HTML, section 8.1.8.1): it holds
// the place among the listeners that it got when it was first set.
func handlerAttribute[T eventTargeter](typ string) engine.Accessor[T] {
	find := func(t *eventTarget) *listener {
		for _, l := range t.listeners {
			if l.handler && l.typ == typ {
				return l
			}
		}
		return nil
	}
	return engine.Accessor[T]{Name: "on" + typ,
		Get: func(self T, _ *goja.Object) goja.Value {
			if l := find(self.events()); l != nil && l.callback != nil {
				return l.callback
			}
			return goja.Null()
		},
		Set: func(self T, _ *goja.Object, v goja.Value) {
			callback, _ := v.(*goja.Object)
			t := self.events()
			l := find(t)
			if l == nil {
				if callback == nil {
					return
				}
				l = &listener{typ: typ, handler: true}
				t.listeners = append(t.listeners, l)
			}
			l.callback = callback
		},
	}
}
