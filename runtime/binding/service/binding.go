// Package service is the service binding: an entrypoint of this worker, or of
// another one, of this session or of another.
package service

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

type services struct{ driver.Stateless }

// New makes the driver of service bindings.
func New(*driver.Session) driver.Driver { return services{} }

// Offered implements driver.Driver. A worker that does not run is answered for as
// in miniflare, but it is no service.
func (services) Offered(w driver.Worker, b config.Binding) bool {
	return w.Reachable(b.Param("service"))
}

// Make implements driver.Driver.
func (services) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	var props *event.Payload
	if b.Props != nil {
		props = a.Pack(a.ParseJSON(string(b.Props)))
	}
	return a.Service(w.Service(b.Param("service"), b.Param("entrypoint"), props))
}
