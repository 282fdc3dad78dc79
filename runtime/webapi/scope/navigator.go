package scope

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
)

type navigator struct{}

// defineNavigator is the class of navigator: workerd's src/workerd/api/global-scope.h.
func (p *scope) defineNavigator() *engine.Class[navigator] {
	return engine.DefineClass(p.Engine, engine.ClassDef[navigator]{
		Name:    "Navigator",
		Methods: []engine.Method[navigator]{{Name: "sendBeacon", Fn: func(_ navigator, call goja.FunctionCall) goja.Value { return p.sendBeacon(call) }}},
	})
}

// makeNavigator is the object; as in workerd its values are properties of its own.
func (p *scope) makeNavigator(class *engine.Class[navigator]) goja.Value {
	o := class.Wrap(navigator{})
	own := func(name string, value goja.Value) {
		o.DefineDataProperty(name, value, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	if p.Enabled(compat.EnableNavigatorLanguage) {
		own("languages", webidl.FrozenList(p.Realm, []string{"en"}))
		own("language", p.VM.ToValue("en"))
	}
	own("platform", p.VM.ToValue(""))
	own("hardwareConcurrency", p.VM.ToValue(1))
	own("userAgent", p.VM.ToValue("Cloudflare-Workers"))
	return o
}

// sendBeacon is navigator.sendBeacon(url, body) (Beacon, section 3): a POST that
// the context waits for and nobody hears of.
func (p *scope) sendBeacon(call goja.FunctionCall) goja.Value {
	p.Need(call, 1, "Navigator", "sendBeacon", "USVString")
	target, err := url.Parse(p.USV(call.Arguments[0]), "")
	if err != nil || target.Scheme() != "http" && target.Scheme() != "https" {
		return p.VM.ToValue(true) // what becomes of a request nobody hears
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
