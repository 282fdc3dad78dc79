package webapi

import (
	"regexp"
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// domEvent is an Event (DOM, section 2.2). Loop-confined.
type domEvent struct {
	name            string
	typ             goja.Value
	target, current goja.Value
	bubbles         bool
	cancelable      bool
	composed        bool
	trusted         bool
	canceled        bool
	stopped         bool // stopPropagation
	stoppedNow      bool // stopImmediatePropagation
	passive         bool // a passive listener runs: preventDefault does nothing
	dispatching     bool
}

// eventHolder is an Event of any class: each embeds a domEvent.
type eventHolder interface{ event() *domEvent }

func (ev *domEvent) event() *domEvent { return ev }

type (
	customEvent struct {
		domEvent
		detail goja.Value
	}
	messageEvent struct {
		domEvent
		data, origin, lastEventID, source, ports goja.Value
	}
	errorEvent struct {
		domEvent
		message, filename, lineno, colno, err goja.Value
	}
	closeEvent struct {
		domEvent
		code     int
		reason   goja.Value
		wasClean bool
	}
	rejectionEvent struct {
		domEvent
		promise, reason goja.Value
	}
)

// eventClasses are the classes of events, each made at its first use.
type eventClasses struct {
	event     *engine.Class[eventHolder]
	custom    *engine.Class[*customEvent]
	message   *engine.Class[*messageEvent]
	err       *engine.Class[*errorEvent]
	closed    *engine.Class[*closeEvent]
	rejection *engine.Class[*rejectionEvent]
}

// initEvent reads the arguments (type, {bubbles, cancelable, composed}).
func (p *Platform) initEvent(ev *domEvent, class string, call goja.ConstructorCall) (init goja.Value) {
	if len(call.Arguments) == 0 {
		p.badConstruct(class, 1, "string")
	}
	typ := call.Arguments[0].ToString()
	init = call.Argument(1)
	if _, ok := init.(*goja.Object); !ok && !isMissing(init) {
		p.badConstruct(class, 2, "Init")
	}
	p.setEvent(ev, typ.String())
	ev.typ = typ
	if isMissing(init) {
		return goja.Undefined()
	}
	ev.bubbles, ev.cancelable = get(init, "bubbles").ToBoolean(), get(init, "cancelable").ToBoolean()
	ev.composed = get(init, "composed").ToBoolean()
	return init
}

// setEvent fills in a new event.
func (p *Platform) setEvent(ev *domEvent, name string) {
	ev.name, ev.typ = name, p.vm.ToValue(name)
	ev.target, ev.current = goja.Null(), goja.Null()
}

// reader makes a read-only attribute.
func reader[T any](name string, read func(T) goja.Value) engine.Accessor[T] {
	return engine.Accessor[T]{Name: name, Get: func(self T, _ *goja.Object) goja.Value { return read(self) }}
}

// getOr is a property of an options object, or def.
func getOr(v goja.Value, name string, def goja.Value) goja.Value {
	if x := get(v, name); !goja.IsUndefined(x) {
		return x
	}
	return def
}

func (p *Platform) eventClass() *engine.Class[eventHolder] {
	c := &p.core.events.classes
	if c.event != nil {
		return c.event
	}
	flag := func(name string, read func(ev *domEvent) bool) engine.Accessor[eventHolder] {
		return reader(name, func(h eventHolder) goja.Value { return p.vm.ToValue(read(h.event())) })
	}
	value := func(name string, read func(ev *domEvent) goja.Value) engine.Accessor[eventHolder] {
		return reader(name, func(h eventHolder) goja.Value { return read(h.event()) })
	}
	method := func(name string, fn func(ev *domEvent) goja.Value) engine.Method[eventHolder] {
		return engine.Method[eventHolder]{Name: name, Fn: func(h eventHolder, _ goja.FunctionCall) goja.Value {
			return fn(h.event())
		}}
	}
	stop := func(ev *domEvent) goja.Value { ev.stopped = true; return goja.Undefined() }
	prevent := func(ev *domEvent) goja.Value {
		// workerd does not ask whether the event is cancelable (basics.h).
		ev.canceled = ev.canceled || !ev.passive
		return goja.Undefined()
	}
	set := func(a engine.Accessor[eventHolder], set func(ev *domEvent, on bool)) engine.Accessor[eventHolder] {
		a.Set = func(h eventHolder, _ *goja.Object, v goja.Value) { set(h.event(), v.ToBoolean()) }
		return a
	}
	c.event = engine.DefineClass(p.Engine, engine.ClassDef[eventHolder]{
		Name: "Event", Length: 1,
		New: func(call goja.ConstructorCall) eventHolder {
			ev := &domEvent{}
			p.initEvent(ev, "Event", call)
			return ev
		},
		Constants: []engine.Constant{{Name: "NONE", Value: 0}, {Name: "CAPTURING_PHASE", Value: 1}, {Name: "AT_TARGET", Value: 2}, {Name: "BUBBLING_PHASE", Value: 3}},
		Accessors: []engine.Accessor[eventHolder]{
			value("type", func(ev *domEvent) goja.Value { return ev.typ }),
			value("target", func(ev *domEvent) goja.Value { return ev.target }),
			value("srcElement", func(ev *domEvent) goja.Value { return ev.target }),
			value("currentTarget", func(ev *domEvent) goja.Value { return ev.current }),
			value("eventPhase", func(ev *domEvent) goja.Value {
				if ev.dispatching {
					return p.vm.ToValue(2)
				}
				return p.vm.ToValue(0)
			}),
			value("timeStamp", func(*domEvent) goja.Value { return p.vm.ToValue(0) }), // workerd's
			flag("bubbles", func(ev *domEvent) bool { return ev.bubbles }),
			flag("cancelable", func(ev *domEvent) bool { return ev.cancelable }),
			flag("composed", func(ev *domEvent) bool { return ev.composed }),
			flag("defaultPrevented", func(ev *domEvent) bool { return ev.canceled }),
			flag("isTrusted", func(ev *domEvent) bool { return ev.trusted }),
			set(flag("returnValue", func(ev *domEvent) bool { return !ev.canceled }), func(ev *domEvent, on bool) {
				if !on {
					prevent(ev)
				}
			}),
			set(flag("cancelBubble", func(ev *domEvent) bool { return ev.stopped }), func(ev *domEvent, on bool) {
				ev.stopped = ev.stopped || on
			}),
		},
		Methods: []engine.Method[eventHolder]{
			method("preventDefault", prevent),
			method("stopPropagation", stop),
			method("stopImmediatePropagation", func(ev *domEvent) goja.Value { ev.stoppedNow = true; return stop(ev) }),
			method("composedPath", func(ev *domEvent) goja.Value {
				if ev.dispatching {
					return p.vm.NewArray(ev.current)
				}
				return p.vm.NewArray()
			}),
		},
	})
	return c.event
}

func (p *Platform) customEventClass() *engine.Class[*customEvent] {
	c := &p.core.events.classes
	if c.custom == nil {
		c.custom = engine.DefineClass(p.Engine, engine.ClassDef[*customEvent]{
			Name: "CustomEvent", Length: 1, Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *customEvent {
				ev := &customEvent{}
				init := p.initEvent(&ev.domEvent, "CustomEvent", call)
				ev.detail = getOr(init, "detail", goja.Null())
				return ev
			},
			Accessors: []engine.Accessor[*customEvent]{
				reader("detail", func(ev *customEvent) goja.Value { return ev.detail }),
			},
		})
	}
	return c.custom
}

func (p *Platform) messageEventClass() *engine.Class[*messageEvent] {
	c := &p.core.events.classes
	if c.message == nil {
		empty := p.vm.ToValue("")
		c.message = engine.DefineClass(p.Engine, engine.ClassDef[*messageEvent]{
			Name: "MessageEvent", Length: 1, Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *messageEvent {
				ev := &messageEvent{}
				init := p.initEvent(&ev.domEvent, "MessageEvent", call)
				ev.data, ev.origin = getOr(init, "data", goja.Null()), getOr(init, "origin", empty).ToString()
				ev.lastEventID, ev.source = getOr(init, "lastEventId", empty).ToString(), getOr(init, "source", goja.Null())
				ev.ports = getOr(init, "ports", nil)
				return ev
			},
			Accessors: []engine.Accessor[*messageEvent]{
				reader("data", func(ev *messageEvent) goja.Value { return ev.data }),
				reader("origin", func(ev *messageEvent) goja.Value { return ev.origin }),
				reader("lastEventId", func(ev *messageEvent) goja.Value { return ev.lastEventID }),
				reader("source", func(ev *messageEvent) goja.Value { return ev.source }),
				reader("ports", func(ev *messageEvent) goja.Value {
					if ev.ports == nil {
						ev.ports = p.vm.NewArray()
					}
					return ev.ports
				}),
			},
		})
	}
	return c.message
}

func (p *Platform) errorEventClass() *engine.Class[*errorEvent] {
	c := &p.core.events.classes
	if c.err == nil {
		empty, zero := p.vm.ToValue(""), p.vm.ToValue(0)
		c.err = engine.DefineClass(p.Engine, engine.ClassDef[*errorEvent]{
			Name: "ErrorEvent", Length: 1, Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *errorEvent {
				ev := &errorEvent{}
				init := p.initEvent(&ev.domEvent, "ErrorEvent", call)
				ev.message, ev.filename = getOr(init, "message", empty).ToString(), getOr(init, "filename", empty).ToString()
				ev.lineno, ev.colno = getOr(init, "lineno", zero).ToNumber(), getOr(init, "colno", zero).ToNumber()
				ev.err = getOr(init, "error", goja.Undefined())
				return ev
			},
			Accessors: []engine.Accessor[*errorEvent]{
				reader("message", func(ev *errorEvent) goja.Value { return ev.message }),
				reader("filename", func(ev *errorEvent) goja.Value { return ev.filename }),
				reader("lineno", func(ev *errorEvent) goja.Value { return ev.lineno }),
				reader("colno", func(ev *errorEvent) goja.Value { return ev.colno }),
				reader("error", func(ev *errorEvent) goja.Value { return ev.err }),
			},
		})
	}
	return c.err
}

func (p *Platform) closeEventClass() *engine.Class[*closeEvent] {
	c := &p.core.events.classes
	if c.closed == nil {
		c.closed = engine.DefineClass(p.Engine, engine.ClassDef[*closeEvent]{
			Name: "CloseEvent", Length: 1, Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *closeEvent {
				ev := &closeEvent{}
				init := p.initEvent(&ev.domEvent, "CloseEvent", call)
				ev.code = int(get(init, "code").ToInteger())
				ev.reason, ev.wasClean = getOr(init, "reason", p.vm.ToValue("")).ToString(), get(init, "wasClean").ToBoolean()
				return ev
			},
			Accessors: []engine.Accessor[*closeEvent]{
				reader("code", func(ev *closeEvent) goja.Value { return p.vm.ToValue(ev.code) }),
				reader("reason", func(ev *closeEvent) goja.Value { return ev.reason }),
				reader("wasClean", func(ev *closeEvent) goja.Value { return p.vm.ToValue(ev.wasClean) }),
			},
		})
	}
	return c.closed
}

func (p *Platform) rejectionEventClass() *engine.Class[*rejectionEvent] {
	c := &p.core.events.classes
	if c.rejection == nil {
		c.rejection = engine.DefineClass(p.Engine, engine.ClassDef[*rejectionEvent]{
			Name: "PromiseRejectionEvent", Length: 2, Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *rejectionEvent {
				ev := &rejectionEvent{}
				init := p.initEvent(&ev.domEvent, "PromiseRejectionEvent", call)
				ev.promise, ev.reason = get(init, "promise"), get(init, "reason")
				return ev
			},
			Accessors: []engine.Accessor[*rejectionEvent]{
				reader("promise", func(ev *rejectionEvent) goja.Value { return ev.promise }),
				reader("reason", func(ev *rejectionEvent) goja.Value { return ev.reason }),
			},
		})
	}
	return c.rejection
}

// newEvent makes a trusted Event without further data.
func (p *Platform) newEvent(name string) *goja.Object {
	ev := &domEvent{trusted: true}
	p.setEvent(ev, name)
	return p.eventClass().Wrap(ev)
}

// newMessageEvent makes the event of a message that came in.
func (p *Platform) newMessageEvent(data goja.Value, origin string) *goja.Object {
	ev := &messageEvent{data: data, origin: p.vm.ToValue(origin), lastEventID: p.vm.ToValue(""), source: goja.Null()}
	p.setEvent(&ev.domEvent, "message")
	ev.trusted = true
	return p.messageEventClass().Wrap(ev)
}

// newCloseEvent makes the event of a connection that ended.
func (p *Platform) newCloseEvent(code int, reason string, wasClean bool) *goja.Object {
	ev := &closeEvent{code: code, reason: p.vm.ToValue(reason), wasClean: wasClean}
	p.setEvent(&ev.domEvent, "close")
	ev.trusted = true
	return p.closeEventClass().Wrap(ev)
}

// newErrorEvent makes the event of a failure; v is what was thrown.
func (p *Platform) newErrorEvent(message string, v goja.Value) *goja.Object {
	file, line, column := p.throwSite(v)
	ev := &errorEvent{message: p.vm.ToValue(message), filename: p.vm.ToValue(file), lineno: p.vm.ToValue(line), colno: p.vm.ToValue(column), err: v}
	p.setEvent(&ev.domEvent, "error")
	ev.trusted, ev.cancelable = true, true
	return p.errorEventClass().Wrap(ev)
}

var stackPosition = regexp.MustCompile(`(?m)^    at (?:.*\()?(.*?):(\d+):(\d+)\)?$`)

// throwSite is the topmost position of an error's stack.
func (p *Platform) throwSite(v goja.Value) (file string, line, column int) {
	if m := stackPosition.FindStringSubmatch(p.Engine.Stack(v)); m != nil {
		line, _ = strconv.Atoi(m[2])
		column, _ = strconv.Atoi(m[3])
		return m[1], line, column
	}
	return "", 0, 0
}
