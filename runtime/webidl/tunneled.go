package webidl

import "github.com/dop251/goja"

// Tunneled is what a promise of workerd's own I/O rejects with for a reason that
// user code gave (jsg/util.c++, exceptions through KJ): a primitive arrives as
// an Error of its text.
func (r *Realm) Tunneled(reason goja.Value) goja.Value {
	if _, ok := reason.(*goja.Object); ok {
		return reason
	}
	return r.Engine.Errors.New("Error", r.Engine.Text(reason))
}
