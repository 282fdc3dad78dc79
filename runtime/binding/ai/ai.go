// Package ai is the Workers AI binding, against a provider on this machine.
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
func (p provider) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	if p.base == "" {
		return driver.Absent(a, b)
	}
	vm := a.Engine.VM()
	create := a.Engine.Load(prelude, a.Engine.Native())
	return a.Engine.Call(create, goja.Undefined(), vm.GlobalObject().Get("fetch"), vm.ToValue(p.base))
}
