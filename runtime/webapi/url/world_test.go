package url

import (
	"testing"

	"minido.dev/minido/runtime/ecma/lang"
	"minido.dev/minido/runtime/ecma/regexp"
	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/runtime/webidl/webidltest"
)

func newWorld(t testing.TB) *webidltest.World {
	return webidltest.New(t, func(r *webidl.Realm) {
		l := lang.New(r)
		l.Install()
		regexps := regexp.New(r)
		regexps.Install()
		c := New(r)
		c.Install()
		c.InstallPattern(regexps.Ctor)
	})
}
