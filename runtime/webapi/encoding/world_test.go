package encoding

import (
	"testing"

	"minido.dev/minido/runtime/ecma/lang"
	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/runtime/webidl/webidltest"
)

func newWorld(t testing.TB) *webidltest.World {
	return webidltest.New(t, func(r *webidl.Realm) {
		r.InstallDOMException()
		lang.New(r).Install()
		New(r).Install()
	})
}
