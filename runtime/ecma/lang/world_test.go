package lang

import (
	"testing"

	"minido.dev/minido/runtime/ecma/regexp"
	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/runtime/webidl/webidltest"
)

func newWorld(t testing.TB) *webidltest.World {
	return webidltest.New(t, func(r *webidl.Realm) {
		r.InstallDOMException()
		l := New(r)
		l.Install()
		l.InstallDisposables()
		regexp.New(r).Install()
	})
}
