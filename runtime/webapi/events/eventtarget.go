package events

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Target holds the listeners of an EventTarget (DOM, section 2.7). Go
// values of classes that extend EventTarget embed it, which makes their
// instances targets. Loop-confined.
type Target struct {
	listeners []*listener          // in the order in which they were added
	handlers  map[string]*listener // the `on...` attributes of classes that declare them, by type
}

// Targeter is an EventTarget of any class.
type Targeter interface{ events() *Target }

func (t *Target) events() *Target { return t }

// listener is one registration.
type listener struct {
	typ      string
	callback *goja.Object // a function, or an object with handleEvent
	handler  bool         // it is an `on...` attribute
	capture  bool
	once     bool
	passive  bool
	removed  bool
	unsignal func() // forgets the signal that would remove it
}

// HasListener reports whether the worker listens for an event on globalThis
// (the service-worker syntax: "fetch", "scheduled").
func (p *Events) HasListener(typ string) bool { return p.global.has(typ) }

// DispatchGlobal dispatches an event, made from one of the platform's classes,
// on globalThis. It reports false if a listener called preventDefault.
func (p *Events) DispatchGlobal(ev *goja.Object) bool { return p.Fire(p.VM.GlobalObject(), ev) }

func (p *Events) fireRejection(typ string, promise *goja.Object, reason goja.Value) bool {
	if !p.global.has(typ) {
		return false
	}
	ev := &rejectionEvent{promise: promise, reason: reason}
	p.setEvent(&ev.domEvent, typ)
	ev.trusted, ev.cancelable = true, typ == "unhandledrejection"
	return !p.DispatchGlobal(wrapEvent(p, p.rejectionEventClass(), ev))
}

// fireError turns an uncaught exception into the "error" event. A listener that
// throws in its turn is logged, not reported again.
func (p *Events) fireError(v goja.Value) bool {
	st := p
	if st.reporting || !st.global.has("error") && !engine.IsCallable(p.VM.GlobalObject().Get("onerror")) {
		return false
	}
	st.reporting = true
	defer func() { st.reporting = false }()
	return !p.DispatchGlobal(p.NewError("Uncaught "+p.Engine.Text(v), v))
}

// Targets is the class EventTarget.
func (p *Events) Targets() *engine.Class[Targeter] {
	st := p
	if st.target != nil {
		return st.target
	}
	var methods []engine.Method[Targeter]
	for _, m := range p.targetMethods() {
		methods = append(methods, engine.Method[Targeter]{Name: m.Name, Length: m.Length,
			Fn: func(t Targeter, call goja.FunctionCall) goja.Value { return m.Fn(t.events(), call) }})
	}
	st.target = engine.DefineClass(p.Engine, engine.ClassDef[Targeter]{
		Name: "EventTarget", Methods: methods,
		New: func(goja.ConstructorCall) Targeter { return &Target{} },
	})
	return st.target
}

// targetOf is the eventTarget of an object, of globalThis too; it throws
// IllegalInvocation for others.
func (p *Events) targetOf(v goja.Value) *Target {
	if v == p.VM.GlobalObject() {
		return &p.global
	}
	t, ok := p.Engine.Attached(v).(Targeter)
	if !ok {
		p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
	}
	return t.events()
}

// Listeners are the callbacks of an EventTarget for events of a type, in the
// order in which they were added; ok is false for what is no target.
// Loop-confined.
func (p *Events) Listeners(v goja.Value, typ string) (list []any, ok bool) {
	var t *Target
	if p.Engine.Try(func() { t = p.targetOf(v) }) != nil {
		return nil, false
	}
	for _, l := range t.listeners {
		if l.typ == typ && !l.removed && l.callback != nil {
			list = append(list, l.callback)
		}
	}
	return list, true
}

func (p *Events) targetMethods() []engine.Method[*Target] {
	return []engine.Method[*Target]{
		{Name: "addEventListener", Length: 2, Fn: func(t *Target, call goja.FunctionCall) goja.Value {
			p.addListener(t, call)
			return goja.Undefined()
		}},
		{Name: "removeEventListener", Length: 2, Fn: func(t *Target, call goja.FunctionCall) goja.Value {
			p.Need(call, 2, "EventTarget", "removeEventListener", "function or HandlerObject")
			typ, callback := p.ToString(call.Arguments[0]).String(), p.listenerOf("removeEventListener", call.Arguments[1])
			t.remove(t.find(typ, callback, captureOf(call.Argument(2))))
			return goja.Undefined()
		}},
		{Name: "dispatchEvent", Length: 1, Fn: func(t *Target, call goja.FunctionCall) goja.Value {
			holder, ok := p.Engine.Attached(call.Argument(0)).(eventHolder)
			if !ok {
				p.BadArgument("EventTarget", "dispatchEvent", 1, "Event")
			}
			ev := holder.event()
			if ev.dispatching {
				p.ThrowDOM("InvalidStateError", "The event is already being dispatched.")
			}
			ev.trusted = false
			return p.VM.ToValue(p.dispatch(t, call.This, ev, call.Arguments[0].(*goja.Object)))
		}},
	}
}

// captureOf flattens the options of removeEventListener (DOM: flatten).
func captureOf(options goja.Value) bool {
	if _, ok := options.(*goja.Object); ok {
		options = webidl.Get(options, "capture")
	}
	return options.ToBoolean()
}

// listenerOf is a callback argument; nil stands for null.
func (p *Events) listenerOf(method string, v goja.Value) *goja.Object {
	callback, ok := v.(*goja.Object)
	if !ok && !webidl.IsMissing(v) {
		p.BadArgument("EventTarget", method, 2, "function or HandlerObject")
	}
	return callback
}

func (p *Events) addListener(t *Target, call goja.FunctionCall) {
	p.Need(call, 2, "EventTarget", "addEventListener", "function or HandlerObject")
	typ, options := p.ToString(call.Arguments[0]).String(), call.Argument(2)
	callback := p.listenerOf("addEventListener", call.Arguments[1])
	l := &listener{typ: typ, callback: callback, capture: captureOf(options), once: webidl.Get(options, "once").ToBoolean(), passive: webidl.Get(options, "passive").ToBoolean()}
	var signal *Signal
	if v := webidl.Get(options, "signal"); !goja.IsUndefined(v) {
		var ok bool
		if signal, ok = p.Engine.Attached(v).(*Signal); !ok {
			p.Engine.Throw("TypeError", "Incorrect type for the 'signal' field on 'AddEventListenerOptions': the provided value is not of type 'AbortSignal'.")
		}
		if signal.Aborted() {
			return
		}
	}
	if callback == nil || t.find(typ, callback, l.capture) != nil {
		return
	}
	t.listeners = append(t.listeners, l)
	if signal != nil {
		l.unsignal = signal.OnAbort(func(goja.Value) { t.remove(l) })
	}
}

func (t *Target) find(typ string, callback *goja.Object, capture bool) *listener {
	for _, l := range t.listeners {
		if l.typ == typ && l.callback == callback && l.capture == capture && !l.handler {
			return l
		}
	}
	return nil
}

func (t *Target) has(typ string) bool {
	for _, l := range t.listeners {
		if l.typ == typ {
			return true
		}
	}
	return false
}

// remove takes a listener away, also from a dispatch in progress. The slice is
// replaced, not changed: a dispatch may be walking it.
func (t *Target) remove(l *listener) {
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
func (p *Events) Fire(target, ev *goja.Object) (proceed bool) {
	return p.dispatch(p.targetOf(target), target, p.Engine.Attached(ev).(eventHolder).event(), ev)
}

// dispatch is DOM's dispatch for targets without parents: the listeners of the
// capturing phase, then the others. What one of them throws is reported. It
// reports false if the event was canceled.
func (p *Events) dispatch(t *Target, this goja.Value, ev *domEvent, obj *goja.Object) bool {
	ev.target, ev.current, ev.dispatching = this, this, true
	defer func() {
		ev.dispatching, ev.passive, ev.stopped, ev.stoppedNow, ev.current = false, false, false, false, goja.Null()
	}()
	walk, capturing := t.listeners, false
	for _, l := range walk {
		capturing = capturing || l.capture && l.typ == ev.name
	}
	if capturing {
		p.invokeListeners(t, walk, true, this, ev, obj)
	}
	if ev.stopped {
		return !ev.canceled
	}
	if target, ok := this.(*goja.Object); ok {
		p.callOwnHandler(t, target, ev, obj)
	}
	p.invokeListeners(t, walk, false, this, ev, obj)
	return !ev.canceled
}

// callOwnHandler calls a property on<type> that is no attribute of the class,
// as workerd does for every target (api/basics.c++).
func (p *Events) callOwnHandler(t *Target, target *goja.Object, ev *domEvent, obj *goja.Object) {
	if t.handlers[ev.name] != nil {
		return
	}
	if call, ok := goja.AssertFunction(target.Get("on" + ev.name)); ok {
		if _, err := call(target, obj); err != nil {
			p.report(err)
		}
	}
}

// report reports what a callback threw.
func (p *Events) report(err error) {
	if thrown := p.Engine.Try(func() { p.Engine.Rethrow(err) }); thrown != nil {
		p.Engine.ReportUncaught(thrown)
	}
}

// invokeListeners is DOM's inner invoke for one phase.
func (p *Events) invokeListeners(t *Target, walk []*listener, capture bool, this goja.Value, ev *domEvent, obj *goja.Object) {
	for _, l := range walk {
		if ev.stoppedNow {
			return
		}
		if l.typ != ev.name || l.capture != capture || l.removed {
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
	}
}

func (p *Events) callListener(l *listener, this goja.Value, ev *domEvent, obj *goja.Object) {
	call, ok := goja.AssertFunction(l.callback)
	switch {
	case !ok && l.handler:
		return // an object that is no function: the attribute does nothing
	case !ok:
		p.Engine.Call(l.callback.Get("handleEvent"), l.callback, obj)
		return
	}
	v, err := call(this, obj)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	if l.handler && v != nil && v.StrictEquals(p.VM.ToValue(false)) {
		ev.canceled = ev.canceled || ev.cancelable
	}
}

// HandlerAttribute is an `on...` attribute (HTML, section 8.1.8.1): what is no
// object reads as null. Its place among the listeners is that of its first
// value; a later one takes over the place, null gives it up.
func HandlerAttribute[T Targeter](typ string) engine.Accessor[T] {
	return engine.Accessor[T]{Name: "on" + typ,
		Get: func(self T, _ *goja.Object) goja.Value {
			if l := self.events().handlers[typ]; l != nil {
				return l.callback
			}
			return goja.Null()
		},
		Set: func(self T, _ *goja.Object, v goja.Value) {
			t := self.events()
			callback, ok := v.(*goja.Object)
			l := t.handlers[typ]
			switch {
			case !ok:
				t.remove(l)
				delete(t.handlers, typ)
			case l != nil:
				l.callback = callback
			default:
				if t.handlers == nil {
					t.handlers = map[string]*listener{}
				}
				l = &listener{typ: typ, callback: callback, handler: true}
				t.handlers[typ] = l
				t.listeners = append(t.listeners, l)
			}
		},
	}
}
