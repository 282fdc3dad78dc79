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
	p.installGlobalScopes()
	p.Engine.Global("origin", p.vm.ToValue("null"))
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
	global := p.vm.GlobalObject()
	global.SetPrototype(class.Proto)
	if err := global.DeleteSymbol(goja.SymToStringTag); err != nil { // goja's own: "global"
		panic(err)
	}
	p.Engine.Attach(global, &p.core.events.global)
}

// calledOnGlobal reports whether an operation of the global scope was called on
// it: as a plain function, or as a method of globalThis (Web IDL, section 3.7.7).
func (p *Platform) calledOnGlobal(call goja.FunctionCall) bool {
	return isMissing(call.This) || call.This == p.vm.GlobalObject()
}

// globalFunc makes an operation of the global scope.
func (p *Platform) globalFunc(name string, length int, fn func(goja.FunctionCall) goja.Value) goja.Value {
	return p.Engine.Func(name, length, func(call goja.FunctionCall) goja.Value {
		if !p.calledOnGlobal(call) {
			p.Engine.Throw("TypeError", "%s", engine.IllegalInvocation)
		}
		return fn(call)
	})
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
