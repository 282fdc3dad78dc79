// Package dispatch is dispatch namespaces of Workers for Platforms. The user workers
// are the workers of the session, by their names; wrangler dev has none locally.
package dispatch

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webidl"
)

type namespaces struct{ driver.Stateless }

// New makes the driver of dispatch namespaces.
func New(*driver.Session) driver.Driver { return namespaces{} }

// namespace is DispatchNamespace. Immutable.
type namespace struct {
	worker  driver.Worker
	binding config.Binding
}

// Make implements driver.Driver.
func (namespaces) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	class := engine.DefineClass(a.Engine, engine.ClassDef[*namespace]{
		Name: "DispatchNamespace",
		Methods: []engine.Method[*namespace]{
			{Name: "get", Length: 1, Fn: func(n *namespace, call goja.FunctionCall) goja.Value { return n.get(a, call) }},
		},
	})
	return class.Wrap(&namespace{w, b})
}

// get is get(name, args, options): a stub of the worker of that name. One that does
// not run is found out when the stub is used, as in production.
func (n *namespace) get(a *cfapi.API, call goja.FunctionCall) goja.Value {
	if len(call.Arguments) == 0 {
		a.Engine.Throw("TypeError", "Failed to execute 'get' on 'DispatchNamespace': parameter 1 is not of type 'string'.")
	}
	name := call.Argument(0).String()
	var props *event.Payload
	if args, ok := call.Argument(1).(*goja.Object); ok {
		props = a.Pack(args)
	}
	if options, ok := call.Argument(2).(*goja.Object); ok && !webidl.IsMissing(options.Get("outbound")) {
		a.Engine.Throw("Error", "env.%s.get() with { outbound } (%s) is not available in minido: what a user worker fetches does not go through an outbound worker. Leave outbound out.",
			n.binding.Name, n.binding.Where)
	}
	if !n.worker.Running(name) {
		return a.Service(missing{})
	}
	return a.Service(n.worker.Service(name, "", props))
}

// missing is the Target of a worker that is not in the namespace.
type missing struct{}

var _ cfapi.Target = missing{}

var errMissing = &event.Error{Name: "Error", Message: "Worker not found."}

// Dup implements event.Capability.
func (m missing) Dup() event.Capability { return m }

// Release implements event.Capability.
func (missing) Release() {}

// Call implements event.Capability.
func (missing) Call(_ *event.Call, done func(*event.Payload, error)) { done(nil, errMissing) }

// Fetch implements cfapi.Target.
func (missing) Fetch(_ *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	done(nil, errMissing)
	return func(error) {}
}
