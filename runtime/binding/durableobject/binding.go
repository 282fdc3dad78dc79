// Package durableobject is the binding to the objects of a class, of this worker
// or of another one of the session.
package durableobject

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

type namespaces struct{ driver.Stateless }

// New makes the driver of Durable Object bindings.
func New(*driver.Session) driver.Driver { return namespaces{} }

// Offered implements driver.Driver.
func (namespaces) Offered(w driver.Worker, b config.Binding) bool {
	for _, d := range w.Project().DurableObjects {
		if d.Name == b.Name {
			return d.Local || w.Reachable(d.ScriptName)
		}
	}
	return false
}

// Make implements driver.Driver.
func (namespaces) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	return a.Namespace(w.Namespace(b))
}
