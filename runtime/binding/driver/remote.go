package driver

import (
	"fmt"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/event"
)

// RemoteOnly is the driver of the kinds that are services of an account alone:
// wrangler has no local form of them. The binding is a service stub whose every use
// rejects with the reference's text (miniflare: workers/shared/remote-bindings-utils).
type RemoteOnly struct{ Stateless }

// NewRemoteOnly makes the driver.
func NewRemoteOnly(*Session) Driver { return RemoteOnly{} }

// Offered implements Driver.
func (RemoteOnly) Offered(Worker, config.Binding) bool { return false }

// Make implements Driver.
func (RemoteOnly) Make(a *cfapi.API, _ Worker, b config.Binding) goja.Value { return Remote(a, b.Name) }

// Remote is what a binding of that name calls where wrangler would call the
// account: a service stub of which every use rejects.
func Remote(a *cfapi.API, name string) *goja.Object { return a.Service(remote{name}) }

// remote is the Target of such a stub; its value is the binding's name.
type remote struct{ binding string }

var _ cfapi.Target = remote{}

func (r remote) err() error {
	return &event.Error{Name: "Error", Message: "Binding " + r.binding + " needs to be run remotely", Remote: true}
}

// Dup implements event.Capability.
func (r remote) Dup() event.Capability { return r }

// Release implements event.Capability.
func (r remote) Release() {}

// Call implements event.Capability. In the reference every member is a function, and so
// has no members that can be called.
func (r remote) Call(c *event.Call, done func(*event.Payload, error)) {
	err := r.err()
	if len(c.Path) > 1 {
		err = &event.Error{Name: "TypeError", Message: fmt.Sprintf("The RPC receiver does not implement the method %q.", c.Path[1]), Remote: true}
	}
	done(nil, err)
}

// Fetch implements cfapi.Target.
func (r remote) Fetch(_ *event.Request, done func(*event.Response, error)) (cancel func(error)) {
	done(nil, r.err())
	return func(error) {}
}
