package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// coreState is what the platform without fetch keeps per isolate. Classes are
// made at their first use; the functions that return them are the only way to
// reach them. Loop-confined.
type coreState struct {
	callSite goja.Value // makes the CallSite of a frame, in js/language.js

	errors    errorState
	events    eventState
	abort     abortState
	perf      performanceState
	url       urlState
	encoding  encodingState
	blobs     blobState
	forms     formState
	weak      weakState
	regexp    regexpState
	intl      intlState
	scope     scopeState
	iterators iteratorState
	crypto    cryptoState
}

// installCore defines the globals of everything but fetch and streams.
func (p *Platform) installCore() {
	e := p.Engine
	e.Global("self", p.vm.GlobalObject())
	p.installErrors()
	p.installClone()
	p.installEvents()
	p.installAbort()
	p.installTimers()
	p.installPerformance()
	p.installPerformanceObserver()
	p.installURL()
	p.installCrypto()
	p.installConsole()
	p.installEncoding()
	p.installBlobs()
	p.installForms()
	p.installLanguage()
	p.installScope()
	navigators := lazily(e, p.defineNavigator)
	p.lazyClass("Navigator", func() *goja.Object { return navigators().Ctor })
	e.LazyGlobal("navigator", func() goja.Value { return navigators().Wrap(navigator{}) })
}

// lazyClass defines the global of a class that ctor makes.
func (p *Platform) lazyClass(name string, ctor func() *goja.Object) {
	p.Engine.LazyGlobal(name, func() goja.Value { return ctor() })
}

type navigator struct{}

// defineNavigator is the class of navigator: workerd's src/workerd/api/global-scope.h.
func (p *Platform) defineNavigator() *engine.Class[navigator] {
	agent := p.opts.UserAgent
	if agent == "" {
		agent = "Cloudflare-Workers"
	}
	text := func(name, value string) engine.Accessor[navigator] {
		return engine.Accessor[navigator]{Name: name, Get: func(navigator, *goja.Object) goja.Value { return p.vm.ToValue(value) }}
	}
	languages := frozenList(p, []string{"en"})
	return engine.DefineClass(p.Engine, engine.ClassDef[navigator]{
		Name: "Navigator",
		Accessors: []engine.Accessor[navigator]{
			text("userAgent", agent), text("platform", ""), text("language", "en"),
			{Name: "hardwareConcurrency", Get: func(navigator, *goja.Object) goja.Value { return p.vm.ToValue(1) }},
			{Name: "languages", Get: func(navigator, *goja.Object) goja.Value { return languages }},
		},
		Methods: []engine.Method[navigator]{{Name: "sendBeacon", Length: 1, Fn: func(_ navigator, call goja.FunctionCall) goja.Value { return p.sendBeacon(call) }}},
	})
}

// sendBeacon is navigator.sendBeacon(url, body) (Beacon, section 3): a POST that
// the context waits for and nobody hears of.
func (p *Platform) sendBeacon(call goja.FunctionCall) goja.Value {
	p.need(call, 1, "Navigator", "sendBeacon", "USVString")
	target, err := parseURL(p.usv(call.Arguments[0]), "")
	if err != nil || target.Scheme() != "http" && target.Scheme() != "https" {
		p.Engine.Throw("TypeError", "Failed to execute 'sendBeacon' on 'Navigator': parameter 1 is not a URL of http or https.")
	}
	body := call.Argument(1)
	if isUndefined(body) {
		body = goja.Null()
	}
	if p.isStream(body) {
		p.Engine.Throw("TypeError", "Failed to execute 'sendBeacon' on 'Navigator': a ReadableStream cannot be sent.")
	}
	if p.Engine.Current() == nil {
		return p.vm.ToValue(false) // in the global scope nothing is sent
	}
	c := p.Engine.IO("sendBeacon")
	c.Hold()
	done := p.vm.ToValue(func(goja.FunctionCall) goja.Value { c.Release(); return goja.Undefined() })
	sent := p.Fetch(p.vm.ToValue(hrefOf(target)), p.record("method", "POST", "body", body), p.opts.Fetch)
	p.Engine.Call(p.Engine.Primordial("PromisePrototypeThen"), goja.Undefined(), sent, done, done)
	return p.vm.ToValue(true)
}

// get is a property of an options object, undefined if v is no object.
func get(v goja.Value, name string) goja.Value {
	if obj, ok := v.(*goja.Object); ok {
		if x := obj.Get(name); x != nil {
			return x
		}
	}
	return goja.Undefined()
}

// isMissing tells undefined and null from other values.
func isMissing(v goja.Value) bool { return v == nil || goja.IsUndefined(v) || goja.IsNull(v) }

// isUndefined is goja.IsUndefined that takes nil too.
func isUndefined(v goja.Value) bool { return v == nil || goja.IsUndefined(v) }

// badArgument throws workerd's TypeError for an argument of the wrong type; the
// class "" stands for the global scope (src/workerd/jsg/util.c++).
func (p *Platform) badArgument(class, method string, n int, typ string) {
	if class == "" {
		class = "ServiceWorkerGlobalScope"
	}
	p.Engine.Throw("TypeError", "Failed to execute '%s' on '%s': parameter %d is not of type '%s'.", method, class, n, typ)
}

// badConstruct is badArgument for constructors.
func (p *Platform) badConstruct(class string, n int, typ string) {
	p.Engine.Throw("TypeError", "Failed to construct '%s': constructor parameter %d is not of type '%s'.", class, n, typ)
}

// need is badArgument for the nth argument if it is not there.
func (p *Platform) need(call goja.FunctionCall, n int, class, method, typ string) {
	if len(call.Arguments) < n {
		p.badArgument(class, method, n, typ)
	}
}
