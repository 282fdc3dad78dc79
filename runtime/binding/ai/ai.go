// Package ai is the Workers AI binding. run() asks a provider on this machine, if
// there is one; whatever else needs the account says so, as with wrangler dev.
package ai

import (
	_ "embed"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

//go:embed ai.js
var source string

var prelude = engine.NewPrelude("ai.js", source)

type provider struct {
	driver.Stateless
	base string
}

// New makes the driver of Workers AI: run(model, inputs) is POST
// Session.AI/ai/run/model.
func New(s *driver.Session) driver.Driver { return provider{base: s.AI} }

// Offered implements driver.Driver.
func (p provider) Offered(driver.Worker, config.Binding) bool { return p.base != "" }

// Make implements driver.Driver. The binding calls the platform's own fetch.
func (p provider) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	vm := a.Engine.VM()
	base := goja.Undefined()
	if p.base != "" {
		base = vm.ToValue(p.base)
	}
	global := vm.GlobalObject()
	create := a.Engine.Load(prelude, a.Engine.Native())
	return driver.Uncloned(a, a.Engine.Call(create, goja.Undefined(), driver.Remote(a, b.Name), base,
		global.Get("fetch"), global.Get("Headers"), global.Get("ReadableStream"), global.Get("FormData"), global.Get("URL")), cfapi.StubsRefused)
}
