// Package vars is the variables and secrets of env.
package vars

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

type vars struct{ driver.Stateless }

// New makes the driver of variables.
func New(*driver.Session) driver.Driver { return vars{} }

// Make implements driver.Driver.
func (vars) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	return a.ParseJSON(string(b.Var.Value))
}
