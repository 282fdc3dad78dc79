package inspect

import (
	"testing"

	"minido.dev/minido/runtime/ecma/intl"
	"minido.dev/minido/runtime/ecma/lang"
	"minido.dev/minido/runtime/ecma/regexp"
	"minido.dev/minido/runtime/webapi/encoding"
	"minido.dev/minido/runtime/webapi/url"
	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/runtime/webidl/webidltest"
)

// world is an isolate with a console.
type world struct{ *webidltest.World }

func newWorld(t testing.TB) world { return world{webidltest.New(t, install)} }

// install defines the console and what the tests show beside the language.
func install(r *webidl.Realm) {
	r.InstallDOMException()
	lang.New(r).Install()
	regexps := regexp.New(r)
	regexps.Install()
	intl.New(r).Install()
	encoding.New(r).Install()
	url.New(r).Install()
	New(r, regexps).Install()
}
