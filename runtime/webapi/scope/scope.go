// Package scope has the members of the global scope that no other package has: self,
// origin, timers, queueMicrotask, scheduler, navigator and the object Cloudflare.
package scope

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/fetch"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webidl"
)

// Parts are what the scope needs. Fetch and Streams are read when a script
// calls navigator.sendBeacon.
type Parts struct {
	Fetch   *fetch.Fetch
	Streams *streams.Streams
}

// scope is the global scope of one isolate. Loop-confined.
type scope struct {
	*webidl.Realm
	Parts
}

// Install defines the globals of the scope in a realm.
func Install(r *webidl.Realm, parts Parts) {
	p := &scope{Realm: r, Parts: parts}
	e := p.Engine
	e.Global("self", p.VM.GlobalObject())
	p.VM.GlobalObject().DefineDataProperty("origin", p.VM.ToValue("null"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	if !p.Enabled(compat.NoGlobalImportscripts) {
		e.Global("importScripts", e.Func("importScripts", 0, func(goja.FunctionCall) goja.Value {
			e.Throw("Error", "Failed to execute 'importScripts' on 'WorkerGlobalScope': the method is not implemented.") // reference's text
			return nil
		}))
	}
	e.Lazies.Property(p.VM.GlobalObject(), "Cloudflare", goja.FLAG_TRUE, p.makeCloudflare)
	p.installTimers()
	navigators := webidl.Lazily(e, p.defineNavigator)
	p.LazyClass("Navigator", func() *goja.Object { return navigators().Ctor })
	e.Lazies.Global("navigator", func() goja.Value { return p.makeNavigator(navigators()) })
}

// makeCloudflare is the object Cloudflare: compatibilityFlags has every flag by
// the name that switches it on (workerd: api/global-scope.h, class Cloudflare).
func (p *scope) makeCloudflare() goja.Value {
	flags := p.VM.CreateObject(nil)
	for _, f := range compat.Flags() {
		flags.DefineDataProperty(f.String(), p.VM.ToValue(p.Enabled(f)), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	p.Engine.Call(p.Engine.Primordial("ObjectPreventExtensions"), goja.Undefined(), flags)
	class := engine.DefineClass(p.Engine, engine.ClassDef[struct{}]{Name: "Cloudflare", Own: []engine.Accessor[struct{}]{
		{Name: "compatibilityFlags", Get: func(struct{}, *goja.Object) goja.Value { return flags }},
	}})
	return class.Wrap(struct{}{})
}
