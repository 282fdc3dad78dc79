package engine

import (
	"reflect"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// Natives and JavaScript react to a promise in the order of asking, each in its own
// job; what is followed settles two jobs later, as with then() and resolve() of
// JavaScript; a rejection that somebody reacts to is not reported. It is the same
// where goja's promises are not known.
func TestDeferred(t *testing.T) {
	want := []string{"made", "native 1", "script 1", "native again 1", "job", "thrown x", "script 2 x", "followed 1", "thenable 7", "end"}
	for _, known := range []bool{true, false} {
		w := newWorld(t)
		e := w.e
		if !known {
			e.Promises.ways = &insides.Promises{}
		}
		say := func(what string) func(goja.Value) {
			return func(v goja.Value) { w.out = append(w.out, what+" "+v.String()) }
		}
		first, second := e.Promises.New(), e.Promises.New()
		e.Global("begin", e.Func("begin", 0, func(goja.FunctionCall) goja.Value {
			first.Then(say("native"), nil)
			return first.Object()
		}))
		e.Global("rest", e.Func("rest", 0, func(goja.FunctionCall) goja.Value {
			first.Then(say("native again"), nil)
			second.Then(nil, say("thrown"))
			followed, thenable := e.Promises.New(), e.Promises.New()
			followed.Then(say("followed"), nil)
			thenable.Then(say("thenable"), nil)
			first.Fulfil(e.vm.ToValue(1))
			e.Promises.Microtask(func() { w.out = append(w.out, "job") })
			second.Reject(e.vm.ToValue("x"))
			followed.Follow(first)
			later, err := e.vm.RunString(`({ then(f) { Promise.resolve().then(() => f(7)) } })`)
			if err != nil {
				t.Error(err)
			}
			thenable.Resolve(later)
			return second.Object()
		}))
		w.script(nil, `begin().then((v) => say("script " + v)); say("made");
			rest().catch((e) => say("script 2 " + e)).then(() => 0).then(() => 0).then(() => 0).then(() => say("end"))`)
		if !reflect.DeepEqual(w.out, want) {
			t.Errorf("known %v: %q\nwant %q", known, w.out, want)
		}
		if len(w.logs) > 0 {
			t.Errorf("known %v: logged %q", known, w.logs)
		}
		w.script(nil, ``)
	}
}

// A rejection that nobody reacts to is reported once JavaScript has seen the
// promise, unless it concerns nobody; so is what a native's reaction throws.
func TestDeferredUnhandled(t *testing.T) {
	w := newWorld(t)
	e := w.e
	e.Global("reject", e.Func("reject", 0, func(goja.FunctionCall) goja.Value {
		e.Promises.Rejected(e.vm.ToValue("handled")).Handled().Object()
		e.Promises.Rejected(e.vm.ToValue("unseen"))
		return e.Promises.Rejected(e.vm.ToValue("seen")).Object()
	}))
	e.Global("throwing", e.Func("throwing", 0, func(goja.FunctionCall) goja.Value {
		e.Promises.Microtask(func() { panic(e.vm.ToValue("from a job")) })
		return goja.Undefined()
	}))
	w.script(nil, `reject(); throwing()`)
	want := []string{"Uncaught (in promise) seen", "Uncaught (in promise) from a job"}
	if !reflect.DeepEqual(w.logs, want) {
		t.Errorf("logged %q, want %q", w.logs, want)
	}
}
