package events

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Target holds the listeners of an EventTarget (DOM, section 2.7). Go
// values of classes that extend EventTarget embed it, which makes their
// instances targets. Loop-confined.
type Target struct {
	listeners []*listener          // in the order in which they were added
	handlers  map[string]*listener // the `on...` attributes of classes that declare them, by type
	changed   func(typ string)     // called when a listener is added or removed; may be nil
}

// Targeter is an EventTarget of any class.
type Targeter interface{ events() *Target }

func (t *Target) events() *Target { return t }

// listener is one registration.
type listener struct {
	typ      string
	callback *goja.Object // a function, or an object with handleEvent
	method   goja.Value   // what handleEvent was when the listener was added; nil for a function
	handler  bool         // it is an `on...` attribute
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
	ev.trusted = true
	if typ == "rejectionhandled" {
		ev.reason = goja.Undefined() // as in workerd
	}
	return !p.DispatchGlobal(p.rejectionEventClass().Wrap(ev))
}

// fireError turns an uncaught exception into the "error" event. A listener that
// throws in its turn throws out of reportError(), as in workerd.
func (p *Events) fireError(v goja.Value) bool {
	st := p
	if st.reporting || !st.global.has("error") && !engine.IsCallable(p.VM.GlobalObject().Get("onerror")) {
		return false
	}
	st.reporting = true
	defer func() { st.reporting = false }()
	ev := p.NewError(p.UncaughtText(v), v)
	proceed, thrown := p.trusted(p.VM.GlobalObject(), ev, p.Engine.Uncaught.Reached)
	if thrown != nil && !p.Enabled(compat.SpecCompliantDispatchExceptions) {
		panic(thrown)
	}
	return !proceed
}

// UncaughtText is the message of the "error" event of an exception: V8's, which finds
// neither name nor message in a DOMException.
func (p *Events) UncaughtText(v goja.Value) string {
	if obj, ok := v.(*goja.Object); ok && p.IsDOMException(obj) {
		return "Uncaught "
	}
	return "Uncaught " + builtin.Show(p.Engine, v)
}

// Targets is the class EventTarget.
func (p *Events) Targets() *engine.Class[Targeter] {
	st := p
	if st.target != nil {
		return st.target
	}
	st.target = defineTarget(p, func(this goja.Value) (*Target, goja.Value) {
		if this == p.VM.GlobalObject() { // has a class of its own, see installGlobalScopes
			p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
		}
		return p.targetOf(this), this
	})
	return st.target
}

// defineTarget makes a class EventTarget, whose methods ask receiver whom they
// are called on.
func defineTarget(p *Events, receiver func(this goja.Value) (*Target, goja.Value)) *engine.Class[Targeter] {
	class := engine.DefineClass(p.Engine, engine.ClassDef[Targeter]{
		Name: "EventTarget",
		New:  func(goja.ConstructorCall) Targeter { return &Target{} },
	})
	for _, m := range p.targetMethods() {
		p.Engine.DefineFunc(class.Proto, engine.Func{Name: m.Name, Fn: func(call goja.FunctionCall) goja.Value {
			var t *Target
			t, call.This = receiver(call.This)
			return m.Fn(t, call)
		}})
	}
	return class
}

// targetOf is the eventTarget of an object, of globalThis too; it throws
// IllegalInvocation for others.
func (p *Events) targetOf(v goja.Value) *Target {
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
		{Name: "addEventListener", Fn: func(t *Target, call goja.FunctionCall) goja.Value {
			p.addListener(t, call)
			return goja.Undefined()
		}},
		{Name: "removeEventListener", Fn: func(t *Target, call goja.FunctionCall) goja.Value {
			p.Need(call, 1, "EventTarget", "removeEventListener", "string")
			typ := p.ToString(call.Arguments[0]).String()
			p.Need(call, 2, "EventTarget", "removeEventListener", "Object")
			callback := p.listenerOf("removeEventListener", "Object", call.Arguments[1])
			capture, what := captureOf(call.Argument(2))
			p.noCapture("removeEventListener", capture, what)
			t.remove(t.find(typ, callback))
			return goja.Undefined()
		}},
		{Name: "dispatchEvent", Fn: func(t *Target, call goja.FunctionCall) goja.Value {
			holder, ok := p.Engine.Attached(call.Argument(0)).(eventHolder)
			if !ok {
				p.BadArgument("EventTarget", "dispatchEvent", 1, "Event")
			}
			ev := holder.event()
			if ev.dispatching {
				p.ThrowDOM("InvalidStateError", "The event is already being dispatched.")
			}
			ev.trusted = false
			proceed, thrown := p.dispatch(t, call.This, ev, call.Arguments[0].(*goja.Object), p.Engine.Uncaught.Report)
			if thrown != nil {
				panic(thrown)
			}
			return p.VM.ToValue(proceed)
		}},
	}
}

// captureOf reads whether options ask for the capturing phase, and by which name.
func captureOf(options goja.Value) (capture bool, what string) {
	if _, ok := options.(*goja.Object); ok {
		return webidl.Get(options, "capture").ToBoolean(), "options.capture"
	}
	return options.ToBoolean(), "useCapture"
}

// noCapture refuses listeners of the capturing phase, as workerd does
// (api/basics.c++).
func (p *Events) noCapture(method string, capture bool, what string) {
	if capture {
		p.Engine.Throw("TypeError", "%s(): %s must be false.", method, what)
	}
}

// listenerOf is a callback argument; nil stands for null.
func (p *Events) listenerOf(method, kind string, v goja.Value) *goja.Object {
	callback, ok := v.(*goja.Object)
	if !ok && !webidl.IsMissing(v) {
		p.BadArgument("EventTarget", method, 2, kind)
	}
	return callback
}

func (p *Events) addListener(t *Target, call goja.FunctionCall) {
	p.Need(call, 1, "EventTarget", "addEventListener", "string")
	typ, options := p.ToString(call.Arguments[0]).String(), call.Argument(2)
	p.Need(call, 2, "EventTarget", "addEventListener", "function or HandlerObject")
	callback := p.listenerOf("addEventListener", "function or HandlerObject", call.Arguments[1])
	var method goja.Value
	if callback != nil && !engine.IsCallable(callback) {
		if method = callback.Get("handleEvent"); method == nil || !engine.IsCallable(method) {
			p.Engine.Throw("TypeError", "Incorrect type for the 'handleEvent' field on 'HandlerObject': the provided value is not of type 'function'.")
		}
	}
	capture, what := captureOf(options)
	l := &listener{typ: typ, callback: callback, method: method, passive: webidl.Get(options, "passive").ToBoolean(), once: webidl.Get(options, "once").ToBoolean()}
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
	if callback == nil {
		return
	}
	p.noCapture("addEventListener", capture, what)
	if t.find(typ, callback) != nil {
		return
	}
	t.listeners = append(t.listeners, l)
	t.tell(typ)
	if signal != nil {
		l.unsignal = signal.OnAbort(func(goja.Value) { t.remove(l) })
	}
}

func (t *Target) find(typ string, callback *goja.Object) *listener {
	for _, l := range t.listeners {
		if l.typ == typ && l.callback == callback && !l.handler {
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
	t.tell(l.typ)
}

// tell tells the target that its listeners of a type are others now.
func (t *Target) tell(typ string) {
	if t.changed != nil {
		t.changed(typ)
	}
}

// Fire dispatches an event that the platform made on a target object. It reports
// false if a listener called preventDefault.
func (p *Events) Fire(target, ev *goja.Object) (proceed bool) {
	proceed, thrown := p.Deliver(target, ev)
	return proceed || thrown != nil
}

// Deliver is Fire for those who do more about an exception of a listener than to log
// it: it returns the first, nil is none. With the flag the others run, and the global
// scope has an "error" event.
func (p *Events) Deliver(target, ev *goja.Object) (proceed bool, thrown goja.Value) {
	proceed, thrown = p.trusted(target, ev, p.Engine.Uncaught.Report)
	if thrown != nil && !p.Enabled(compat.SpecCompliantDispatchExceptions) {
		p.Engine.Uncaught.Reached(thrown)
	}
	return proceed, thrown
}

// trusted dispatches an event of the platform's and returns the first exception of a
// listener; with the flag caught gets them all.
func (p *Events) trusted(target, ev *goja.Object, caught func(goja.Value)) (proceed bool, first goja.Value) {
	proceed, thrown := p.dispatch(p.targetOf(target), target, p.Engine.Attached(ev).(eventHolder).event(), ev, func(v goja.Value) {
		if first == nil {
			first = v
		}
		caught(v)
	})
	if thrown != nil {
		first = thrown
	}
	return proceed, first
}

// dispatch is workerd's dispatch (api/basics.c++): the property on<type>, then
// the listeners in the order in which they were added. It reports false if the
// event was canceled. What a listener throws ends the dispatch and is returned,
// unless the flag says that caught gets it, and the others run.
func (p *Events) dispatch(t *Target, this goja.Value, ev *domEvent, obj *goja.Object, caught func(goja.Value)) (proceed bool, thrown goja.Value) {
	ev.target, ev.current, ev.dispatching = this, this, true
	defer func() { ev.dispatching, ev.passive = false, false }()
	goOn := p.Enabled(compat.SpecCompliantDispatchExceptions)
	call := func(fn func()) bool {
		if thrown = p.Engine.Try(fn); thrown != nil && goOn {
			caught(thrown)
			thrown = nil
		}
		return thrown == nil
	}
	walk := t.listeners
	if ev.stoppedNow {
		return !ev.canceled, nil
	}
	if target, ok := this.(*goja.Object); ok && t.handlers[ev.name] == nil {
		if !call(func() { p.callOwnHandler(target, ev, obj) }) {
			return false, thrown
		}
	}
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
		if !call(func() { p.callListener(l, this, ev, obj) }) {
			return false, thrown
		}
		ev.passive = false
	}
	return !ev.canceled, nil
}

// callOwnHandler calls a property on<type> that is no attribute of the class,
// as workerd does for every target (api/basics.c++).
func (p *Events) callOwnHandler(target *goja.Object, ev *domEvent, obj *goja.Object) {
	if handler := target.Get("on" + ev.name); engine.IsCallable(handler) {
		p.Engine.Call(handler, target, obj)
	}
}

func (p *Events) callListener(l *listener, this goja.Value, ev *domEvent, obj *goja.Object) {
	if l.method != nil {
		p.Engine.Call(l.method, l.callback, obj)
		return
	}
	if l.handler || !p.Enabled(compat.SetEventTargetThis) {
		this = p.VM.GlobalObject() // as in the reference
	}
	if l.handler && !engine.IsCallable(l.callback) {
		return // an object that is no function: the attribute does nothing
	}
	p.Engine.Call(l.callback, this, obj)
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
				t.tell(typ)
			}
		},
	}
}
