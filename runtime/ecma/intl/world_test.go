package intl

import (
	"testing"

	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/runtime/webidl/webidltest"
)

func newWorld(t testing.TB) *webidltest.World {
	return webidltest.New(t, func(r *webidl.Realm) {
		New(r).Install()
	})
}
