package pool_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

const unbornWorker = `
let built = 0;
export class Unborn extends DurableObject {
  constructor(ctx, env) { super(ctx, env); throw new Error("constructor " + ++built); }
  call() {}
}
export default serve({
  async together(env) {
    const o = () => env.Unborn.getByName("o"), told = (e) => e.message + " " + e.remote;
    const errors = await Promise.all([o().fetch("http://o/").catch(told), o().call().catch(told), o().fetch("http://o/").catch(told)]);
    return [built, ...errors, await o().call().catch(told)];
  },
});
`

// Calls that wait for a constructor fail with it, and it runs once; a later call has it
// run again. workerd gives the same.
func TestConstructorThrowsOnceForAllThatWait(t *testing.T) {
	w := minidotest.NewWorker(t, unbornWorker, minidotest.Options{})
	if got, want := w.Call("!together"), `{"ok":[1,"constructor 1 true","constructor 1 undefined","constructor 1 true","constructor 2 undefined"]}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
