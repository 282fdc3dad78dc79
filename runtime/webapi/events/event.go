package events

import (
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
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
	canceled        bool // preventDefault was called, also if the event is not cancelable
	stopped         bool // stopPropagation: targets have no parents, so that it only shows as cancelBubble
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
		data, origin, lastEventID, source goja.Value
		ports                             []any // *goja.Object, each of a Port
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

// classes are the classes of events, each made at its first use.
type classes struct {
	event     *engine.Class[eventHolder]
	custom    *engine.Class[*customEvent]
	message   *engine.Class[*messageEvent]
	err       *engine.Class[*errorEvent]
	closed    *engine.Class[*closeEvent]
	rejection *engine.Class[*rejectionEvent]
}

// initEvent reads the arguments (type, {bubbles, cancelable, composed}); dict is
// the name of the latter's type.
func (p *Events) initEvent(ev *domEvent, class, dict string, call goja.ConstructorCall) (init goja.Value) {
	if len(call.Arguments) == 0 {
		p.BadConstruct(class, 1, "string")
	}
	typ := p.ToString(call.Arguments[0])
	init = call.Argument(1)
	if _, ok := init.(*goja.Object); !ok && !webidl.IsMissing(init) {
		p.BadConstruct(class, 2, dict)
	}
	p.setEvent(ev, typ.String())
	ev.typ = typ
	if webidl.IsMissing(init) {
		return goja.Undefined()
	}
	ev.bubbles, ev.cancelable = webidl.Get(init, "bubbles").ToBoolean(), webidl.Get(init, "cancelable").ToBoolean()
	ev.composed = webidl.Get(init, "composed").ToBoolean()
	return init
}

// setEvent fills in a new event.
func (p *Events) setEvent(ev *domEvent, name string) {
	ev.name, ev.typ = name, p.VM.ToValue(name)
	ev.target, ev.current = goja.Undefined(), goja.Undefined()
}

func (p *Events) eventClass() *engine.Class[eventHolder] {
	c := &p.classes
	if c.event != nil {
		return c.event
	}
	flag := func(name string, read func(ev *domEvent) bool) engine.Accessor[eventHolder] {
		return webidl.Reader(name, func(h eventHolder) goja.Value { return p.VM.ToValue(read(h.event())) })
	}
	value := func(name string, read func(ev *domEvent) goja.Value) engine.Accessor[eventHolder] {
		return webidl.Reader(name, func(h eventHolder) goja.Value { return read(h.event()) })
	}
	method := func(name string, fn func(ev *domEvent) goja.Value) engine.Method[eventHolder] {
		return engine.Method[eventHolder]{Name: name, Fn: func(h eventHolder, _ goja.FunctionCall) goja.Value {
			return fn(h.event())
		}}
	}
	stop := func(ev *domEvent) goja.Value { ev.stopped = true; return goja.Undefined() }
	prevent := func(ev *domEvent) goja.Value {
		ev.canceled = ev.canceled || !ev.passive
		return goja.Undefined()
	}
	set := func(a engine.Accessor[eventHolder], set func(ev *domEvent, on bool)) engine.Accessor[eventHolder] {
		a.Set = func(h eventHolder, _ *goja.Object, v goja.Value) { set(h.event(), v.ToBoolean()) }
		return a
	}
	c.event = engine.DefineClass(p.Engine, engine.ClassDef[eventHolder]{
		Name: "Event",
		New: func(call goja.ConstructorCall) eventHolder {
			ev := &domEvent{}
			p.initEvent(ev, "Event", "Init", call)
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
					return p.VM.ToValue(2)
				}
				return p.VM.ToValue(0)
			}),
			value("timeStamp", func(*domEvent) goja.Value { return p.VM.ToValue(0) }), // workerd's
			flag("bubbles", func(ev *domEvent) bool { return ev.bubbles }),
			flag("cancelable", func(ev *domEvent) bool { return ev.cancelable }),
			flag("composed", func(ev *domEvent) bool { return ev.composed }),
			flag("defaultPrevented", func(ev *domEvent) bool { return ev.canceled && ev.cancelable }),
			flag("returnValue", func(ev *domEvent) bool { return !ev.canceled || !ev.cancelable }), // read only in workerd
			flag("isTrusted", func(ev *domEvent) bool { return ev.trusted }),
			set(flag("cancelBubble", func(ev *domEvent) bool { return ev.stopped }), func(ev *domEvent, on bool) {
				ev.stopped = ev.stopped || on
			}),
		},
		Methods: []engine.Method[eventHolder]{
			method("preventDefault", prevent),
			method("stopPropagation", stop),
			method("stopImmediatePropagation", func(ev *domEvent) goja.Value { ev.stoppedNow = true; return goja.Undefined() }),
			method("composedPath", func(ev *domEvent) goja.Value {
				if ev.dispatching {
					return p.VM.NewArray(ev.current)
				}
				return p.VM.NewArray()
			}),
		},
	})
	return c.event
}

func (p *Events) customEventClass() *engine.Class[*customEvent] {
	c := &p.classes
	if c.custom == nil {
		c.custom = engine.DefineClass(p.Engine, engine.ClassDef[*customEvent]{
			Name: "CustomEvent", Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *customEvent {
				ev := &customEvent{}
				init := p.initEvent(&ev.domEvent, "CustomEvent", "CustomEventInit", call)
				ev.detail = webidl.Get(init, "detail")
				return ev
			},
			Accessors: []engine.Accessor[*customEvent]{
				webidl.Reader("detail", func(ev *customEvent) goja.Value { return ev.detail }),
			},
		})
	}
	return c.custom
}

func (p *Events) messageEventClass() *engine.Class[*messageEvent] {
	c := &p.classes
	if c.message == nil {
		c.message = engine.DefineClass(p.Engine, engine.ClassDef[*messageEvent]{
			Name: "MessageEvent", Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *messageEvent {
				ev := &messageEvent{}
				init := p.initEvent(&ev.domEvent, "MessageEvent", "Initializer", call)
				ev.data = webidl.GetOr(init, "data", goja.Null())
				ev.origin, ev.lastEventID = p.ScalarOr(init, "origin"), p.TextOr(init, "lastEventId")
				ev.source = p.messageSource(webidl.Get(init, "source"))
				ev.ports = p.portsOf(webidl.Get(init, "ports"))
				return ev
			},
			Own: []engine.Accessor[*messageEvent]{
				webidl.Reader("ports", func(ev *messageEvent) goja.Value { return p.VM.NewArray(ev.ports...) }),
				webidl.Reader("source", func(ev *messageEvent) goja.Value { return ev.source }),
				webidl.Reader("lastEventId", func(ev *messageEvent) goja.Value { return ev.lastEventID }),
				webidl.Reader("origin", func(ev *messageEvent) goja.Value { return ev.origin }),
				webidl.Reader("data", func(ev *messageEvent) goja.Value { return ev.data }),
			},
		})
	}
	return c.message
}

func (p *Events) errorEventClass() *engine.Class[*errorEvent] {
	c := &p.classes
	if c.err == nil {
		c.err = engine.DefineClass(p.Engine, engine.ClassDef[*errorEvent]{
			Name: "ErrorEvent", Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *errorEvent {
				ev := &errorEvent{}
				init := p.initEvent(&ev.domEvent, "ErrorEvent", "ErrorEventInit", call)
				ev.message, ev.filename = p.TextOr(init, "message"), p.ScalarOr(init, "filename")
				ev.lineno = p.VM.ToValue(p.Int32(webidl.Get(init, "lineno")))
				ev.colno = p.VM.ToValue(p.Int32(webidl.Get(init, "colno")))
				ev.err = webidl.GetOr(init, "error", goja.Undefined())
				return ev
			},
			Accessors: []engine.Accessor[*errorEvent]{
				webidl.Reader("message", func(ev *errorEvent) goja.Value { return ev.message }),
				webidl.Reader("filename", func(ev *errorEvent) goja.Value { return ev.filename }),
				webidl.Reader("lineno", func(ev *errorEvent) goja.Value { return ev.lineno }),
				webidl.Reader("colno", func(ev *errorEvent) goja.Value { return ev.colno }),
				webidl.Reader("error", func(ev *errorEvent) goja.Value { return ev.err }),
			},
		})
	}
	return c.err
}

func (p *Events) closeEventClass() *engine.Class[*closeEvent] {
	c := &p.classes
	if c.closed == nil {
		c.closed = engine.DefineClass(p.Engine, engine.ClassDef[*closeEvent]{
			Name: "CloseEvent", Extends: p.eventClass().Ctor,
			New: func(call goja.ConstructorCall) *closeEvent {
				ev := &closeEvent{}
				init := p.initEvent(&ev.domEvent, "CloseEvent", "Initializer", call)
				ev.code = int(p.Int32(webidl.Get(init, "code")))
				ev.reason, ev.wasClean = p.ScalarOr(init, "reason"), webidl.Get(init, "wasClean").ToBoolean()
				return ev
			},
			Own: []engine.Accessor[*closeEvent]{
				webidl.Reader("wasClean", func(ev *closeEvent) goja.Value { return p.VM.ToValue(ev.wasClean) }),
				webidl.Reader("reason", func(ev *closeEvent) goja.Value { return ev.reason }),
				webidl.Reader("code", func(ev *closeEvent) goja.Value { return p.VM.ToValue(ev.code) }),
			},
		})
	}
	return c.closed
}

func (p *Events) rejectionEventClass() *engine.Class[*rejectionEvent] {
	c := &p.classes
	if c.rejection == nil {
		c.rejection = engine.DefineClass(p.Engine, engine.ClassDef[*rejectionEvent]{
			Name: "PromiseRejectionEvent", Extends: p.eventClass().Ctor,
			Own: []engine.Accessor[*rejectionEvent]{
				webidl.Reader("promise", func(ev *rejectionEvent) goja.Value { return ev.promise }),
				webidl.Reader("reason", func(ev *rejectionEvent) goja.Value { return ev.reason }),
			},
		})
	}
	return c.rejection
}

// New makes a trusted Event without further data.
func (p *Events) New(name string) *goja.Object {
	ev := &domEvent{trusted: true}
	p.setEvent(ev, name)
	return p.eventClass().Wrap(ev)
}

// NewMessage makes the event of a message that came in.
func (p *Events) NewMessage(data, origin goja.Value) *goja.Object {
	ev := &messageEvent{data: data, origin: origin, lastEventID: p.VM.ToValue(""), source: goja.Null()}
	p.setEvent(&ev.domEvent, "message")
	ev.trusted = true
	return p.messageEventClass().Wrap(ev)
}

// NewStreamed makes an event of type typ that a stream of events brought
// (HTML, section 9.2.6).
func (p *Events) NewStreamed(typ, data, origin, id string) *goja.Object {
	ev := &messageEvent{data: p.VM.ToValue(data), origin: goja.Null(), lastEventID: p.VM.ToValue(id), source: goja.Null()}
	if origin != "" { // else it came from no URL
		ev.origin = p.VM.ToValue(origin)
	}
	p.setEvent(&ev.domEvent, typ)
	ev.trusted = true
	return p.messageEventClass().Wrap(ev)
}

// NewFailure makes an "error" event that has a reason, and no text.
func (p *Events) NewFailure(reason goja.Value) *goja.Object {
	zero, none := p.VM.ToValue(0), p.VM.ToValue("")
	ev := &errorEvent{message: none, filename: none, lineno: zero, colno: zero, err: reason}
	p.setEvent(&ev.domEvent, "error")
	ev.trusted = true
	return p.errorEventClass().Wrap(ev)
}

// NewClose makes the event of a connection that ended.
func (p *Events) NewClose(code int, reason string, wasClean bool) *goja.Object {
	ev := &closeEvent{code: code, reason: p.VM.ToValue(reason), wasClean: wasClean}
	p.setEvent(&ev.domEvent, "close")
	ev.trusted = true
	return p.closeEventClass().Wrap(ev)
}

// NewError makes the event of a failure; v is what was thrown.
func (p *Events) NewError(message string, v goja.Value) *goja.Object {
	file, line, column := throwSite(p.Engine, v)
	ev := &errorEvent{message: p.VM.ToValue(message), filename: p.VM.ToValue(file), lineno: p.VM.ToValue(line), colno: p.VM.ToValue(column), err: v}
	p.setEvent(&ev.domEvent, "error")
	ev.trusted = true
	return p.errorEventClass().Wrap(ev)
}

var stackPosition = lazyregexp.New(`(?m)^    at (?:.*\()?(.*?):(\d+):(\d+)\)?$`)

// throwSite is the topmost position of an error's stack.
func throwSite(e *engine.Engine, v goja.Value) (file string, line, column int) {
	if m := stackPosition.FindStringSubmatch(e.Errors.Stack(v)); m != nil {
		line, _ = strconv.Atoi(m[2])
		column, _ = strconv.Atoi(m[3])
		return m[1], line, column
	}
	return "", 0, 0
}

// portsOf converts an array of MessagePorts; undefined is none.
func (p *Events) portsOf(list goja.Value) (ports []any) {
	if goja.IsUndefined(list) {
		return nil
	}
	p.Array(list, "ports", "Initializer", func(port goja.Value) {
		if _, ok := p.Engine.Attached(port).(*Port); !ok {
			p.Engine.Throw("TypeError", "Incorrect type for array element %d: the provided value is not of type 'MessagePort'.", len(ports))
		}
		ports = append(ports, port)
	})
	return ports
}

// messageSource converts a nullable MessageEventSource; undefined is null.
func (p *Events) messageSource(v goja.Value) goja.Value {
	if webidl.IsMissing(v) {
		return goja.Null()
	}
	if _, ok := p.Engine.Attached(v).(*Port); !ok {
		p.Engine.Throw("TypeError", "Incorrect type for the 'source' field on 'Initializer': the provided value is not of type 'MessagePort'.")
	}
	return v
}
