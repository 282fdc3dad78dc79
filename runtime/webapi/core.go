package webapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/blob"
	"minido.dev/minido/runtime/webapi/events"
	"minido.dev/minido/runtime/webapi/form"
	"minido.dev/minido/runtime/webapi/performance"
	"minido.dev/minido/runtime/webapi/streams"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
)

// installCore defines the globals of everything but fetch and streams.
func (p *Platform) installCore() {
	e := p.Engine
	e.Global("self", p.VM.GlobalObject())
	p.InstallDOMException()
	// Every object with a Go value is a platform object, and so is what the
	// stream classes make.
	p.Hosts.RefuseOthers(func(obj *goja.Object) bool { return p.Engine.Attached(obj) != nil || p.Streams.Inherits(obj) })
	p.Events = events.New(p.Realm, p.cloner)
	p.Streams = streams.New(p.Realm, p.cloner)
	p.installTimers()
	performance.New(p.Realm, p.cloner, p.Events)
	p.urls.Install()
	p.crypto.Install()
	p.console.Install()
	p.encodings.Install()
	p.Blobs = blob.New(p.Realm, p.Streams)
	p.forms = form.New(p.Realm, p.Blobs)
	p.lang.Install()
	p.regexps.Install()
	p.intls.Install()
	p.installScope()
	navigators := webidl.Lazily(e, p.defineNavigator)
	p.LazyClass("Navigator", func() *goja.Object { return navigators().Ctor })
	e.LazyGlobal("navigator", func() goja.Value { return navigators().Wrap(navigator{}) })
}

type navigator struct{}

// defineNavigator is the class of navigator: workerd's src/workerd/api/global-scope.h.
func (p *Platform) defineNavigator() *engine.Class[navigator] {
	agent := p.opts.UserAgent
	if agent == "" {
		agent = "Cloudflare-Workers"
	}
	text := func(name, value string) engine.Accessor[navigator] {
		return engine.Accessor[navigator]{Name: name, Get: func(navigator, *goja.Object) goja.Value { return p.VM.ToValue(value) }}
	}
	languages := webidl.FrozenList(p.Realm, []string{"en"})
	accessors := []engine.Accessor[navigator]{
		text("userAgent", agent), text("platform", ""),
		{Name: "hardwareConcurrency", Get: func(navigator, *goja.Object) goja.Value { return p.VM.ToValue(1) }},
	}
	if p.Enabled(compat.EnableNavigatorLanguage) {
		accessors = append(accessors, text("language", "en"),
			engine.Accessor[navigator]{Name: "languages", Get: func(navigator, *goja.Object) goja.Value { return languages }})
	}
	return engine.DefineClass(p.Engine, engine.ClassDef[navigator]{
		Name: "Navigator", Accessors: accessors,
		Methods: []engine.Method[navigator]{{Name: "sendBeacon", Length: 1, Fn: func(_ navigator, call goja.FunctionCall) goja.Value { return p.sendBeacon(call) }}},
	})
}

// sendBeacon is navigator.sendBeacon(url, body) (Beacon, section 3): a POST that
// the context waits for and nobody hears of.
func (p *Platform) sendBeacon(call goja.FunctionCall) goja.Value {
	p.Need(call, 1, "Navigator", "sendBeacon", "USVString")
	target, err := url.Parse(p.USV(call.Arguments[0]), "")
	if err != nil || target.Scheme() != "http" && target.Scheme() != "https" {
		p.Engine.Throw("TypeError", "Failed to execute 'sendBeacon' on 'Navigator': parameter 1 is not a URL of http or https.")
	}
	body := call.Argument(1)
	if webidl.IsUndefined(body) {
		body = goja.Null()
	}
	if p.Streams.Is(body) {
		p.Engine.Throw("TypeError", "Failed to execute 'sendBeacon' on 'Navigator': a ReadableStream cannot be sent.")
	}
	if p.Engine.Current() == nil {
		return p.VM.ToValue(false) // in the global scope nothing is sent
	}
	c := p.Engine.IO("sendBeacon")
	c.Hold()
	done := p.VM.ToValue(func(goja.FunctionCall) goja.Value { c.Release(); return goja.Undefined() })
	sent := p.Fetch.Do(p.VM.ToValue(url.Href(target)), p.Record("method", "POST", "body", body))
	p.Engine.Call(p.Engine.Primordial("PromisePrototypeThen"), goja.Undefined(), sent, done, done)
	return p.VM.ToValue(true)
}
