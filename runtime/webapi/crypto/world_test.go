package crypto

import (
	"testing"

	"minido.dev/minido/runtime/ecma/lang"
	"minido.dev/minido/runtime/webapi/encoding"
	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/runtime/webidl/webidltest"
)

func newWorld(t testing.TB) *webidltest.World { return webidltest.New(t, install) }

// install defines crypto and what the tests use beside it.
func install(r *webidl.Realm) {
	r.InstallDOMException()
	lang.New(r).Install()
	encoding.New(r).Install()
	New(r, nil).Install()
}
