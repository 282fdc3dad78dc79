package webidl

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/engine"
)

// Tunneled is what a promise of workerd's own I/O rejects with for a reason that
// user code gave (jsg/util.c++, exceptions through KJ): a primitive and a function
// arrive as an Error of their text, as V8 shows it.
func (r *Realm) Tunneled(reason goja.Value) goja.Value {
	if _, ok := reason.(*goja.Object); ok && !engine.IsCallable(reason) {
		return reason
	}
	return r.Engine.Errors.New("Error", builtin.Show(r.Engine, reason))
}
