package isolate_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// A worker in service-worker syntax is sloppy code, as wrangler bundles it; the answers are
// workerd's. What a worker exports is strict.
func TestScriptsAreSloppy(t *testing.T) {
	const body = `
  const out = [];
  out.push(typeof implied, (function () { return typeof this; })(), (function (a) { arguments[0] = 9; return a; })(1));
  try { Object.freeze([]).length = 2; out.push("silent"); } catch (e) { out.push(e.name); }
  try { (function () { "use strict"; unknown = 1; })(); } catch (e) { out.push(e.name); }
  return new Response(out.join());`
	script := minidotest.NewWorldFrom(t, map[string]string{"worker.js": `
implied = 010;
var member; with ({ inner: 2 }) { member = inner; }
addEventListener("fetch", (event) => event.respondWith((() => {` + body + `})()));
addEventListener("fetch", () => { if (implied + member !== 10) throw new Error("with, or an octal number"); });
`, "wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`}, minidotest.Options{})
	if got, want := script.Do("GET", "http://localhost/", "").Body, "number,object,9,silent,ReferenceError"; got != want {
		t.Errorf("a script: %s\nwant %s", got, want)
	}
	module := minidotest.NewWorldFrom(t, map[string]string{"worker.js": `
export default { fetch() {` + body + `} };
`, "wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`}, minidotest.Options{})
	if got, want := module.Do("GET", "http://localhost/", "").Body, "undefined,undefined,1,TypeError,ReferenceError"; got != want {
		t.Errorf("a module: %s\nwant %s", got, want)
	}
}

// waitUntil() of a ctx is that of the event which calls it, whichever the ctx was made for;
// one object serves all events of a handler by a flag. Both as workerd.
func TestContexts(t *testing.T) {
	for flags, want := range map[string]string{``: "false,waited", `"nonclass_entrypoint_reuses_ctx_across_invocations"`: "true,waited"} {
		w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": `
let first;
export default { async fetch(request, env, ctx) {
  first ??= ctx;
  let waited = "not called";
  try { first.waitUntil(scheduler.wait(1)); waited = "waited"; } catch (e) { waited = e.message; }
  return new Response([first === ctx, waited].join());
} };
`, "wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": [` + flags + `]}`}, minidotest.Options{})
		w.Do("GET", "http://localhost/", "")
		if got := w.Do("GET", "http://localhost/", "").Body; got != want {
			t.Errorf("with the flags [%s]: %s\nwant %s", flags, got, want)
		}
	}
}
