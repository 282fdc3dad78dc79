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
	p.lazyClass("HTMLRewriter", p.htmlRewriterClass)
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
