// Package assets is the binding to a worker's own static assets (env.ASSETS).
package assets

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

type assets struct{ driver.Stateless }

// New makes the driver of assets bindings.
func New(*driver.Session) driver.Driver { return assets{} }

// Make implements driver.Driver.
func (assets) Make(a *cfapi.API, w driver.Worker, _ config.Binding) goja.Value {
	return a.Service(w.Assets())
}
