package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// What a constructor throws is in the log, though its caller catches it.
func TestConstructorFailureIsLogged(t *testing.T) {
	w := minidotest.NewWorker(t, `
export class Broken extends DurableObject { constructor(ctx, env) { super(ctx, env); throw new TypeError("no start"); } }
export default { async fetch(request, env) { return new Response(await env.Broken.getByName("a").hello().catch((e) => e.message)); } };`, minidotest.Options{})
	if got := w.Do("GET", "http://localhost/", ""); got.Body != "no start" {
		t.Errorf("the caller gets %q", got.Body)
	}
	if got := w.Logged("log Uncaught TypeError: no start"); len(got) != 1 {
		t.Errorf("logged: %q", got)
	}
}
