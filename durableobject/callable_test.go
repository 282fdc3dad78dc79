package durableobject_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// Objects of a class that does not extend DurableObject answer fetch() and refuse calls in
// workerd's words, but by the flag js_rpc.
func TestCallsNeedTheBaseClass(t *testing.T) {
	const worker = `export class Plain { hello() { return 1; } fetch() { return new Response("fetched"); } }
export default { async fetch(request, env) {
  const plain = env.PLAIN.getByName("p");
  const called = await plain.hello().catch((e) => e.name + ": " + e.message + " " + e.remote);
  return new Response((await (await plain.fetch("http://x/")).text()) + " " + called);
} };`
	for flag, want := range map[string]string{
		"global_navigator": "fetched TypeError: The receiving Durable Object does not support RPC, because its class was not declared with `extends DurableObject`. In order to enable RPC, make sure your class extends the special class `DurableObject`, which can be imported from the module \"cloudflare:workers\". true",
		"js_rpc":           "fetched 1",
	} {
		w := minidotest.NewWorldFrom(t, map[string]string{
			"worker.js": worker,
			"wrangler.json": strings.ReplaceAll(`{"name": "w", "main": "worker.js", "compatibility_date": "2026-03-20", "compatibility_flags": ["FLAG"],
"durable_objects": {"bindings": [{"name": "PLAIN", "class_name": "Plain"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Plain"]}]}`, "FLAG", flag),
		}, minidotest.Options{})
		if got := w.Do("GET", "http://localhost/", "").Text(); got != want {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
	}
}
