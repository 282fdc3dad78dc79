package events

import (
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Port is a MessagePort as workerd has it (api/messagechannel.c++): messages are
// delivered in promise jobs; until the port is started or listened to they
// wait. Nothing can be transferred through it. Loop-confined.
type Port struct {
	Target
	object  *goja.Object
	peer    *Port        // nil once the channel is closed
	waiting []goja.Value // posted, and not on their way yet
	started bool
	closed  bool
}

func (p *Events) messageChannelClass() *goja.Object {
	type channel struct{ port1, port2 *Port }
	return engine.DefineClass(p.Engine, engine.ClassDef[*channel]{
		Name: "MessageChannel",
		New: func(goja.ConstructorCall) *channel {
			c := &channel{p.newPort(), p.newPort()}
			c.port1.peer, c.port2.peer = c.port2, c.port1
			return c
		},
		Own: []engine.Accessor[*channel]{
			webidl.Reader("port2", func(c *channel) goja.Value { return c.port2.object }),
			webidl.Reader("port1", func(c *channel) goja.Value { return c.port1.object }),
		},
	}).Ctor
}

// newPort makes a port. Its first listener for messages starts it, and without
// listeners it waits for the next one.
func (p *Events) newPort() *Port {
	port := &Port{}
	port.object = p.messagePorts().Wrap(port)
	port.changed = func(typ string) {
		switch {
		case typ != "message" || port.closed:
		case port.has(typ):
			p.startPort(port)
		default:
			port.started = false
		}
	}
	return port
}

func (p *Events) messagePorts() *engine.Class[*Port] {
	st := p
	if st.port != nil {
		return st.port
	}
	st.port = engine.DefineClass(p.Engine, engine.ClassDef[*Port]{
		Name: "MessagePort", Extends: p.Targets().Ctor,
		Accessors: []engine.Accessor[*Port]{HandlerAttribute[*Port]("message")},
		Methods: []engine.Method[*Port]{
			{Name: "postMessage", Fn: func(port *Port, call goja.FunctionCall) goja.Value {
				p.postMessage(port, call.Argument(0), call.Argument(1))
				return goja.Undefined()
			}},
			{Name: "start", Fn: func(port *Port, _ goja.FunctionCall) goja.Value {
				p.startPort(port)
				return goja.Undefined()
			}},
			{Name: "close", Fn: func(port *Port, _ goja.FunctionCall) goja.Value {
				p.closePort(port)
				return goja.Undefined()
			}},
		},
	})
	return st.port
}

// postMessage is postMessage(message, transfer) and postMessage(message,
// {transfer}); a transfer list that is not empty is refused.
func (p *Events) postMessage(port *Port, data, options goja.Value) {
	list := goja.Undefined()
	switch obj, ok := options.(*goja.Object); {
	case ok && builtin.IsArray(p.Engine, obj):
		list = obj
	case ok:
		list = webidl.Get(obj, "transfer")
	case !webidl.IsMissing(options):
		p.BadArgument("MessagePort", "postMessage", 2, "Array or PostMessageOptions")
	}
	if !goja.IsUndefined(list) {
		transfers := false
		p.Array(list, "transfer", "PostMessageOptions", func(goja.Value) { transfers = true })
		if transfers {
			p.Engine.Throw("Error", "Transfer list is not supported")
		}
	}
	clone := p.cloner.Clone(data, nil)
	switch peer := port.peer; {
	case peer == nil:
	case peer.started:
		p.deliver(peer, clone)
	default:
		peer.waiting = append(peer.waiting, clone)
	}
}

// closePort ends a channel: both ports are notified at once, the other one first.
func (p *Events) closePort(port *Port) {
	if port.closed {
		return
	}
	peer := port.peer
	port.closed, port.started, port.peer, port.waiting = true, false, nil, nil
	if peer != nil {
		p.closePort(peer)
	}
	p.Fire(port.object, p.New("close"))
}

// deliver dispatches messages in one promise job. What a listener throws is
// dispatched in its turn as the data of a "message" event, as in workerd, or by the
// flag of a "messageerror" event; what is thrown then rejects a promise that nobody
// handles.
func (p *Events) deliver(port *Port, messages ...goja.Value) {
	failure := "message"
	if p.Enabled(compat.SpecCompliantDispatchExceptions) {
		failure = "messageerror"
	}
	settled := p.Promise(goja.Undefined)
	job := p.Engine.Func("", 0, func(goja.FunctionCall) goja.Value {
		for _, data := range messages {
			if thrown := p.dispatchMessage(port, "message", data); thrown != nil {
				if thrown = p.dispatchMessage(port, failure, thrown); thrown != nil {
					panic(thrown)
				}
			}
		}
		return goja.Undefined()
	})
	p.Engine.Call(p.Engine.Primordial("PromisePrototypeThen"), goja.Undefined(), settled, job)
}

func (p *Events) dispatchMessage(port *Port, typ string, data goja.Value) (thrown goja.Value) {
	ev := &messageEvent{data: data, origin: goja.Null(), lastEventID: p.VM.ToValue(""), source: port.object}
	p.setEvent(&ev.domEvent, typ)
	ev.trusted = true
	_, thrown = p.trusted(port.object, p.messageEventClass().Wrap(ev), func(goja.Value) {})
	return thrown
}

func (p *Events) startPort(port *Port) {
	if port.closed || port.started {
		return
	}
	port.started = true
	p.deliver(port, port.waiting...)
	port.waiting = nil
}

// TakeMessage is the message that has waited longest at a MessagePort, for
// receiveMessageOnPort of node:worker_threads; isPort is false for what is no
// port. It is not dispatched any more. Loop-confined.
func (p *Events) TakeMessage(v goja.Value) (data goja.Value, found, isPort bool) {
	port, ok := p.Engine.Attached(v).(*Port)
	if !ok {
		return nil, false, false
	}
	if len(port.waiting) == 0 {
		return nil, false, true
	}
	data, port.waiting = port.waiting[0], slices.Delete(port.waiting, 0, 1)
	return data, true, true
}
