package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// An auto-response is unset by undefined alone, and a WebSocket that was not accepted has
// no time of one, as in workerd 1.20261117.
func TestAutoResponseArguments(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": `import { DurableObject } from "cloudflare:workers";
export class Box extends DurableObject {
  attempt(fn) { try { return fn() ?? String(fn()); } catch (e) { return e.name + ": " + e.message; } }
  all() {
    const { ctx } = this;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("a", "b"));
    return [
      this.attempt(() => ctx.setWebSocketAutoResponse(null)), ctx.getWebSocketAutoResponse()?.request,
      this.attempt(() => ctx.setWebSocketAutoResponse()), ctx.getWebSocketAutoResponse(),
      this.attempt(() => ctx.getWebSocketAutoResponseTimestamp(Object.values(new WebSocketPair())[0])),
      this.attempt(() => ctx.getWebSocketAutoResponseTimestamp(5)),
    ];
  }
}
export default { fetch: async (request, env) => Response.json(await env.BOX.getByName("b").all()) };`,
		"wrangler.json": `{"name": "w", "main": "worker.js", "compatibility_date": "2026-03-20",
"durable_objects": {"bindings": [{"name": "BOX", "class_name": "Box"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Box"]}]}`,
	}, minidotest.Options{})
	const want = `["TypeError: Failed to execute 'setWebSocketAutoResponse' on 'DurableObjectState': parameter 1 is not of type 'WebSocketRequestResponsePair'.","a","undefined",null,"null",` +
		`"TypeError: Failed to execute 'getWebSocketAutoResponseTimestamp' on 'DurableObjectState': parameter 1 is not of type 'WebSocket'."]`
	if got := w.Do("GET", "http://localhost/", "").Text(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
