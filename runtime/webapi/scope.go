package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// scopeState is loop-confined.
type scopeState struct {
	port *engine.Class[*messagePort]
}

// installScope defines what describes the global scope itself, and small
// interfaces of it that have no file of their own.
func (p *Platform) installScope() {
	p.installGlobalScopes()
	p.Engine.Global("origin", p.VM.ToValue("null"))
	p.Engine.LazyGlobal("ExtendableEvent", func() goja.Value {
		return engine.DefineClass(p.Engine, engine.ClassDef[eventHolder]{Name: "ExtendableEvent", Extends: p.eventClass().Ctor}).Ctor
	})
	p.Engine.LazyGlobal("Cloudflare", p.makeCloudflare)
	p.lang.InstallDisposables()
	p.LazyClass("MessagePort", func() *goja.Object { return p.messagePorts().Ctor })
	p.LazyClass("MessageChannel", p.messageChannelClass)
	p.urls.InstallPattern(p.regexps.Ctor)
	p.LazyClass("HTMLRewriter", p.htmlRewriterClass)
}

// installGlobalScopes gives globalThis its classes (HTML, section 10.2.1.1, and
// Service Workers, section 4.1): it is an EventTarget, also for the methods that
// it inherits.
func (p *Platform) installGlobalScopes() {
	type scope struct{}
	extends := p.eventTargets().Ctor
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
	p.Engine.Attach(global, &p.core.events.global)
}

// makeCloudflare is the object Cloudflare: compatibilityFlags answers for
// every flag by name (workerd: api/global-scope.h, class Cloudflare).
func (p *Platform) makeCloudflare() goja.Value {
	return p.Record("compatibilityFlags", p.VM.NewDynamicObject(compatFlags{p}))
}

// compatFlags shows the flags that are on as properties; which there are, only
// Options.Compat knows, so they are not listed.
type compatFlags struct{ p *Platform }

// Get implements goja.DynamicObject.
func (c compatFlags) Get(flag string) goja.Value {
	if c.Has(flag) {
		return c.p.VM.ToValue(true)
	}
	return nil
}

// Set implements goja.DynamicObject.
func (c compatFlags) Set(string, goja.Value) bool { return false }

// Has implements goja.DynamicObject.
func (c compatFlags) Has(flag string) bool { return c.p.Compat != nil && c.p.Compat(flag) }

// Delete implements goja.DynamicObject.
func (c compatFlags) Delete(string) bool { return false }

// Keys implements goja.DynamicObject.
func (c compatFlags) Keys() []string { return nil }
