// Package webapitest is an isolate with the whole web platform, for the tests beside
// its parts.
package webapitest

import (
	"errors"
	"testing"

	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/webapi"
	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/runtime/webidl/webidltest"
)

// World is an isolate with the platform, and a network that the test answers for.
// Loop-confined.
type World struct {
	*webidltest.World
	Platform *webapi.Platform
	// Net answers requests of the isolate; nil: there is no network.
	Net func(req *event.Request, done func(*event.Response, error)) func(error)
}

// New makes a world.
func New(t testing.TB) *World {
	w := &World{}
	w.World = webidltest.NewWith(t, func(e *engine.Engine, enabled func(compat.Flag) bool) *webidl.Realm {
		w.Platform = webapi.Install(e, webapi.Options{Compat: enabled, Fetch: w.fetch})
		return w.Platform.Realm
	})
	return w
}

func (w *World) fetch(req *event.Request, done func(*event.Response, error)) func(error) {
	if w.Net == nil {
		done(nil, errors.New("no network"))
		return func(error) {}
	}
	return w.Net(req, done)
}
