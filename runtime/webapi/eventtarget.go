package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// eventTarget holds the listeners of an EventTarget (DOM, section 2.7). Go
// values of classes that extend EventTarget embed it, which makes their
// instances targets. Loop-confined.
type eventTarget struct {
	listeners []*listener             // in the order in which they were added
	handlers  map[string]*goja.Object // the `on...` attributes of classes that declare them, by type
}

// eventTargeter is an EventTarget of any class.
type eventTargeter interface{ events() *eventTarget }

func (t *eventTarget) events() *eventTarget { return t }

// listener is one registration.
type listener struct {
	typ      string
	callback *goja.Object // a function, or an object with handleEvent
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
			p.need(call, 1, "", "reportError", "JsValue")
			p.Engine.ReportUncaught(call.Arguments[0])
			return goja.Undefined()
		})
	})
	p.Engine.SetHooks(engine.Hooks{
		UnhandledRejection: func(promise *goja.Object, reason goja.Value) bool {
			return p.fireRejection("unhandledrejection", promise, reason)
		},
		RejectionHandled: func(promise *goja.Object, _ goja.Value) {
			p.fireRejection("rejectionhandled", promise, goja.Undefined()) // without the reason, as in the reference
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
	return !p.DispatchGlobal(p.newErrorEvent("Uncaught "+p.Engine.Text(v), v))
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
// IllegalInvocation for others.
func (p *Platform) targetOf(v goja.Value) *eventTarget {
	if v == p.vm.GlobalObject() {
		return &p.core.events.global
	}
	t, ok := p.Engine.Attached(v).(eventTargeter)
	if !ok {
		p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
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
			p.refuseCapture("removeEventListener", call.Argument(2))
			callback, _ := call.Argument(1).(*goja.Object)
			t.remove(t.find(call.Argument(0).String(), callback))
			return goja.Undefined()
		}},
		{Name: "dispatchEvent", Length: 1, Fn: func(t *eventTarget, call goja.FunctionCall) goja.Value {
			holder, ok := p.Engine.Attached(call.Argument(0)).(eventHolder)
			if !ok {
				p.badArgument("EventTarget", "dispatchEvent", 1, "Event")
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

// refuseCapture throws where listeners of the capture phase are asked for, as
// workerd does: there is no tree to capture in (basics.c++).
func (p *Platform) refuseCapture(method string, options goja.Value) {
	capture := options
	if obj, ok := options.(*goja.Object); ok {
		capture = get(obj, "capture")
	}
	if capture.ToBoolean() {
		p.Engine.Throw("TypeError", "%s(): useCapture must be false.", method)
	}
}

func (p *Platform) addListener(t *eventTarget, call goja.FunctionCall) {
	typ, options := call.Argument(0).String(), call.Argument(2)
	callback, ok := call.Argument(1).(*goja.Object)
	if !ok {
		if goja.IsNull(call.Argument(1)) {
			return
		}
		p.badArgument("EventTarget", "addEventListener", 2, "function or HandlerObject")
	}
	p.refuseCapture("addEventListener", options)
	l := &listener{typ: typ, callback: callback, once: get(options, "once").ToBoolean(), passive: get(options, "passive").ToBoolean()}
	var signal *abortSignal
	if v := get(options, "signal"); !goja.IsUndefined(v) {
		if signal, ok = p.Engine.Attached(v).(*abortSignal); !ok {
			p.Engine.Throw("TypeError", "Incorrect type for the 'signal' field on 'AddEventListenerOptions': the provided value is not of type 'AbortSignal'.")
		}
		if signal.aborted() {
			return
		}
	}
	if t.find(typ, callback) != nil {
		return
	}
	t.listeners = append(t.listeners, l)
	if signal != nil {
		l.unsignal = signal.onAbort(func(goja.Value) { t.remove(l) })
	}
}

func (t *eventTarget) find(typ string, callback *goja.Object) *listener {
	for _, l := range t.listeners {
		if l.typ == typ && l.callback == callback {
			return l
		}
	}
	return nil
}

func (t *eventTarget) has(typ string) bool {
	for _, l := range t.listeners {
		if l.typ == typ {
			return true
		}
	}
	return t.handlers[typ] != nil
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

// Fire dispatches an event that the platform made on a target object, and
// reports what a listener throws. It reports false if a listener called
// preventDefault.
func (p *Platform) Fire(target, ev *goja.Object) (proceed bool) {
	holder := p.Engine.Attached(ev).(eventHolder)
	if thrown := p.Engine.Try(func() { p.dispatch(p.targetOf(target), target, holder.event(), ev) }); thrown != nil {
		p.Engine.ReportUncaught(thrown)
	}
	return !holder.event().canceled
}

// dispatch calls the `on...` property of the target, then the listeners. As in
// workerd, what one of them throws ends the dispatch and reaches the caller.
func (p *Platform) dispatch(t *eventTarget, this goja.Value, ev *domEvent, obj *goja.Object) bool {
	ev.target, ev.current, ev.dispatching = this, this, true
	defer func() { ev.dispatching, ev.passive, ev.stopped, ev.stoppedNow = false, false, false, false }()
	if target, ok := this.(*goja.Object); ok {
		if call, ok := goja.AssertFunction(target.Get("on" + ev.name)); ok {
			if _, err := call(this, obj); err != nil {
				p.Engine.Rethrow(err)
			}
		}
	}
	walk := t.listeners
	for _, l := range walk {
		if ev.stoppedNow {
			break
		}
		if l.typ != ev.name || l.removed {
			continue
		}
		if l.once {
			t.remove(l)
		}
		ev.passive = l.passive
		p.callListener(l, this, obj)
	}
	return !ev.canceled
}

func (p *Platform) callListener(l *listener, this goja.Value, obj *goja.Object) {
	call, ok := goja.AssertFunction(l.callback)
	if !ok {
		p.Engine.Call(l.callback.Get("handleEvent"), l.callback, obj)
		return
	}
	if _, err := call(this, obj); err != nil {
		p.Engine.Rethrow(err)
	}
}

// handlerAttribute is an `on...` attribute: what is no object reads as null.
func handlerAttribute[T eventTargeter](typ string) engine.Accessor[T] {
	return engine.Accessor[T]{Name: "on" + typ,
		Get: func(self T, _ *goja.Object) goja.Value {
			if h := self.events().handlers[typ]; h != nil {
				return h
			}
			return goja.Null()
		},
		Set: func(self T, _ *goja.Object, v goja.Value) {
			t := self.events()
			if t.handlers == nil {
				t.handlers = map[string]*goja.Object{}
			}
			if h, ok := v.(*goja.Object); ok {
				t.handlers[typ] = h
			} else {
				delete(t.handlers, typ)
			}
		},
	}
}
