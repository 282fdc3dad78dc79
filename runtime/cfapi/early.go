package cfapi

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

// early is a capability whose answers stateless workers get once they are committed.
// Until they are on disk, whatever such a worker shows to others waits, and its next
// calls of the same object do not: a promise of the worker resolves in the time of a
// commit, and several commits share a sync.
type early struct{ Target }

// Early is t with early answers. Its calls are to end in one commit of one object, and
// to return no stubs.
func Early(t Target) Target { return early{t} }

// debtor stands for the object in engine.Context.Owes.
func (e early) debtor() any { return e.Label() }

// Label is that of the object, "Class/name".
func (e early) Label() string {
	if l, ok := e.Target.(labelled); ok {
		return l.Label()
	}
	return ""
}

// Dup implements event.Capability.
func (e early) Dup() event.Capability {
	if t, ok := e.Target.Dup().(Target); ok {
		return early{t}
	}
	return e.Target.Dup()
}

// Method is a function that calls one method of t: what a stub of t does, without the
// proxies that a stub's methods are found through. Results hold no stubs, and have no
// disposer.
func Method(a *API, t Target, name string) engine.Func {
	return engine.Func{Name: name, Fn: func(call goja.FunctionCall) goja.Value {
		args := make([]any, len(call.Arguments))
		for i, v := range call.Arguments {
			args[i] = v
		}
		return a.promised(func() goja.Value {
			return a.send(t, &event.Call{Path: []string{name}, Args: a.Pack(a.vm.NewArray(args...))}, a.Unpack)
		})
	}}
}
