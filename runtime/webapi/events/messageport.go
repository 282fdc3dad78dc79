package events

import (
	"slices"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/structured"
	"minido.dev/minido/runtime/webidl"
)

// Port is a MessagePort (HTML, section 9.4). Messages are delivered in
// turns of their own; until the port is started or listened to they wait.
// Loop-confined.
type Port struct {
	Target
	object   *goja.Object
	peer     *Port
	waiting  []*message // posted, and not dispatched yet
	started  bool
	closed   bool
	detached bool  // it was transferred:
	moved    *Port // this port took its place
}

// message is what was posted: its data and the ports that came with it.
type message struct {
	data  goja.Value
	ports []*goja.Object
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
		Accessors: []engine.Accessor[*channel]{
			webidl.Reader("port1", func(c *channel) goja.Value { return c.port1.object }),
			webidl.Reader("port2", func(c *channel) goja.Value { return c.port2.object }),
		},
	}).Ctor
}

func (p *Events) newPort() *Port {
	port := &Port{}
	port.object = p.messagePorts().Wrap(port)
	return port
}

func (p *Events) messagePorts() *engine.Class[*Port] {
	st := p
	if st.port != nil {
		return st.port
	}
	onMessage := HandlerAttribute[*Port]("message")
	set := onMessage.Set
	onMessage.Set = func(port *Port, this *goja.Object, v goja.Value) {
		set(port, this, v)
		p.startPort(port)
	}
	st.port = engine.DefineClass(p.Engine, engine.ClassDef[*Port]{
		Name: "MessagePort", Extends: p.Targets().Ctor,
		Accessors: []engine.Accessor[*Port]{onMessage, HandlerAttribute[*Port]("messageerror"), HandlerAttribute[*Port]("close")},
		Methods: []engine.Method[*Port]{
			{Name: "postMessage", Length: 1, Fn: func(port *Port, call goja.FunctionCall) goja.Value {
				p.Need(call, 1, "MessagePort", "postMessage", "JsValue")
				p.postMessage(port, call.Arguments[0], call.Argument(1))
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
// {transfer}).
func (p *Events) postMessage(port *Port, data, options goja.Value) {
	list := goja.Undefined()
	switch obj, ok := options.(*goja.Object); {
	case ok && !webidl.IsMissing(obj.GetSymbol(goja.SymIterator)):
		list = obj
	case ok:
		list = webidl.Get(obj, "transfer")
	case !webidl.IsMissing(options):
		p.BadArgument("MessagePort", "postMessage", 2, "Array or StructuredSerializeOptions")
	}
	var transfer []*goja.Object
	if !goja.IsUndefined(list) {
		transfer = structured.TransferList(p.Realm, list)
	}
	for _, obj := range transfer {
		if obj == port.object {
			panic(p.NewDOMException("DataCloneError", "A MessagePort cannot be sent through itself."))
		}
	}
	clone, received := p.cloner.Clone(data, transfer)
	var ports []*goja.Object
	for _, obj := range received {
		if _, ok := p.Engine.Attached(obj).(*Port); ok {
			ports = append(ports, obj)
		}
	}
	if peer := port.peer; peer != nil && !port.closed && !peer.closed {
		peer.waiting = append(peer.waiting, &message{clone, ports})
		p.deliver(peer, peer.waiting[len(peer.waiting)-1])
	}
}

// closePort ends a channel: both ports are told.
func (p *Events) closePort(port *Port) {
	if port.closed || port.detached {
		return
	}
	port.closed, port.peer.closed = true, true
	for _, end := range []*Port{port.peer, port} {
		p.Engine.Post(p.Engine.Frame(), "port closed", func() { p.Fire(end.object, p.New("close")) })
	}
}

// untransferablePort says why a port cannot be transferred, "" if it can; own is
// false for what is no port.
func (p *Events) untransferablePort(obj *goja.Object) (text string, own bool) {
	port, own := p.Engine.Attached(obj).(*Port)
	if own && port.detached {
		text = "The MessagePort has been transferred already."
	}
	return text, own
}

// transferPort makes the port that takes over this one's end of the channel and
// the messages that wait there.
func (p *Events) transferPort(obj *goja.Object) *goja.Object {
	port := p.Engine.Attached(obj).(*Port)
	next := p.newPort()
	next.peer, next.waiting, next.closed = port.peer, port.waiting, port.closed
	port.peer.peer = next
	port.peer, port.waiting, port.detached = nil, nil, true
	port.moved = next
	return next.object
}

// deliver dispatches a message that waits in a turn to come; without anyone to
// hear it, it waits for the port to be started.
func (p *Events) deliver(port *Port, m *message) {
	p.Engine.Post(p.Engine.Frame(), "message", func() {
		for port.moved != nil {
			port = port.moved
		}
		at := slices.Index(port.waiting, m)
		if at < 0 || !port.started && !port.has("message") {
			return
		}
		port.waiting = slices.Delete(port.waiting, at, at+1)
		ev := p.NewMessage(m.data, "")
		p.Engine.Attached(ev).(*messageEvent).ports = webidl.FrozenList(p.Realm, m.ports)
		p.Fire(port.object, ev)
	})
}

func (p *Events) startPort(port *Port) {
	port.started = true
	for _, m := range port.waiting {
		p.deliver(port, m)
	}
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
	data = port.waiting[0].data
	port.waiting = port.waiting[1:]
	return data, true, true
}
