package webapi

import (
	_ "embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

//go:embed js/disposable.js
var disposableSource string

var disposablePrelude = engine.NewPrelude("disposable.js", disposableSource)

// scopeState is loop-confined.
type scopeState struct {
	disposables *goja.Object
	port        *engine.Class[*messagePort]
}

// installScope defines what describes the global scope itself, and small
// interfaces of it that have no file of their own.
func (p *Platform) installScope() {
	global := p.vm.GlobalObject()
	global.DefineDataPropertySymbol(goja.SymToStringTag, p.vm.ToValue("ServiceWorkerGlobalScope"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	p.Engine.Global("origin", p.vm.ToValue("null"))
	for _, name := range []string{"ServiceWorkerGlobalScope", "WorkerGlobalScope"} {
		p.Engine.LazyGlobal(name, func() goja.Value {
			type scope struct{}
			return engine.DefineClass(p.Engine, engine.ClassDef[scope]{Name: name, Extends: p.eventTargets().Ctor}).Ctor
		})
	}
	p.Engine.LazyGlobal("ExtendableEvent", func() goja.Value {
		return engine.DefineClass(p.Engine, engine.ClassDef[eventHolder]{Name: "ExtendableEvent", Extends: p.eventClass().Ctor}).Ctor
	})
	p.Engine.LazyGlobal("Cloudflare", p.makeCloudflare)
	for _, name := range []string{"SuppressedError", "DisposableStack", "AsyncDisposableStack"} {
		p.Engine.LazyGlobal(name, func() goja.Value {
			if p.core.scope.disposables == nil {
				show := engine.Func{Name: "show", Fn: func(c goja.FunctionCall) goja.Value { return p.vm.ToValue(p.show(c.Argument(0))) }}
				p.core.scope.disposables = p.Engine.Load(disposablePrelude, p.Engine.Native(show)).(*goja.Object)
			}
			return p.core.scope.disposables.Get(name)
		})
	}
	p.lazyClass("MessagePort", func() *goja.Object { return p.messagePorts().Ctor })
	p.lazyClass("MessageChannel", p.messageChannelClass)
	p.lazyClass("URLPattern", p.urlPatternClass)
}

// makeCloudflare is the object Cloudflare: compatibilityFlags answers for
// every flag by name (workerd: api/global-scope.h, class Cloudflare).
func (p *Platform) makeCloudflare() goja.Value {
	return p.record("compatibilityFlags", p.vm.NewDynamicObject(compatFlags{p}))
}

// compatFlags shows the flags that are on as properties; which there are, only
// Options.Compat knows, so they are not listed.
type compatFlags struct{ p *Platform }

// Get implements goja.DynamicObject.
func (c compatFlags) Get(flag string) goja.Value {
	if c.Has(flag) {
		return c.p.vm.ToValue(true)
	}
	return nil
}

// Set implements goja.DynamicObject.
func (c compatFlags) Set(string, goja.Value) bool { return false }

// Has implements goja.DynamicObject.
func (c compatFlags) Has(flag string) bool { return c.p.opts.Compat != nil && c.p.opts.Compat(flag) }

// Delete implements goja.DynamicObject.
func (c compatFlags) Delete(string) bool { return false }

// Keys implements goja.DynamicObject.
func (c compatFlags) Keys() []string { return nil }

// messagePort is a MessagePort (HTML, section 9.4). Messages are delivered in
// turns of their own; until the port is started or listened to they wait.
// Loop-confined.
type messagePort struct {
	eventTarget
	object  *goja.Object
	peer    *messagePort
	waiting []goja.Value
	started bool
	closed  bool
}

func (p *Platform) messageChannelClass() *goja.Object {
	type channel struct{ port1, port2 *messagePort }
	return engine.DefineClass(p.Engine, engine.ClassDef[*channel]{
		Name: "MessageChannel",
		New: func(goja.ConstructorCall) *channel {
			c := &channel{&messagePort{}, &messagePort{}}
			c.port1.peer, c.port2.peer = c.port2, c.port1
			for _, port := range []*messagePort{c.port1, c.port2} {
				port.object = p.messagePorts().Wrap(port)
			}
			return c
		},
		Accessors: []engine.Accessor[*channel]{
			reader("port1", func(c *channel) goja.Value { return c.port1.object }),
			reader("port2", func(c *channel) goja.Value { return c.port2.object }),
		},
	}).Ctor
}

func (p *Platform) messagePorts() *engine.Class[*messagePort] {
	st := &p.core.scope
	if st.port != nil {
		return st.port
	}
	onMessage := handlerAttribute[*messagePort]("message")
	set := onMessage.Set
	onMessage.Set = func(port *messagePort, this *goja.Object, v goja.Value) {
		set(port, this, v)
		p.startPort(port)
	}
	st.port = engine.DefineClass(p.Engine, engine.ClassDef[*messagePort]{
		Name: "MessagePort", Extends: p.eventTargets().Ctor,
		Accessors: []engine.Accessor[*messagePort]{onMessage, handlerAttribute[*messagePort]("messageerror")},
		Methods: []engine.Method[*messagePort]{
			{Name: "postMessage", Length: 1, Fn: func(port *messagePort, call goja.FunctionCall) goja.Value {
				options := call.Argument(1)
				if list, ok := options.(*goja.Object); ok && list.ClassName() == "Array" {
					options = p.record("transfer", list)
				}
				data := p.structuredClone(call.Argument(0), options)
				if peer := port.peer; !port.closed && !peer.closed {
					p.deliver(peer, data)
				}
				return goja.Undefined()
			}},
			{Name: "start", Fn: func(port *messagePort, _ goja.FunctionCall) goja.Value {
				p.startPort(port)
				return goja.Undefined()
			}},
			{Name: "close", Fn: func(port *messagePort, _ goja.FunctionCall) goja.Value {
				port.closed, port.peer.closed = true, true
				return goja.Undefined()
			}},
		},
	})
	return st.port
}

// deliver dispatches a message in a turn to come; without anyone to hear it, it
// waits for the port to be started.
func (p *Platform) deliver(port *messagePort, data goja.Value) {
	p.Engine.Post(p.Engine.Frame(), "message", func() {
		if !port.started && !port.has("message") {
			port.waiting = append(port.waiting, data)
			return
		}
		p.Fire(port.object, p.newMessageEvent(data, ""))
	})
}

func (p *Platform) startPort(port *messagePort) {
	port.started = true
	waiting := port.waiting
	port.waiting = nil
	for _, data := range waiting {
		p.deliver(port, data)
	}
}
