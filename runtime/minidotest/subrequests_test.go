package minidotest

import (
	"testing"

	"minido.dev/minido/runtime/event"
)

// A worker and an object may each make limits.subrequests requests per event:
// fetches and their redirects, calls and fetches of stubs; not calls of what a
// call returned. Each event of an object begins anew.
func TestSubrequestLimit(t *testing.T) {
	const source = `import { DurableObject, RpcTarget } from "cloudflare:workers";
import { serve, attempt } from "./harness.js";
class Counter extends RpcTarget { n = 0; next() { return ++this.n; } }
export class S extends DurableObject {
  ok() { return "ok"; }
  counter() { return new Counter(); }
  async fetch() { return new Response("ok"); }
  async calls(n) { const s = this.env.S.getByName("other"); let made = 0; for (let i = 0; i < n; i++) { try { await s.ok(); made++; } catch (e) { return [made, e.name + ": " + e.message]; } } return made; }
}
const count = async (n, fn) => { let made = 0; try { for (let i = 0; i < n; i++) { await fn(); made++; } } catch (e) { return [made, e.message.slice(0, 46)]; } return made; };
export default serve({
  fetches: () => count(9, async () => (await fetch("http://up/")).text()),
  redirects: () => count(9, async () => (await fetch("http://up/redirect")).text()),
  stubFetches: (env) => count(9, async () => (await env.S.getByName("a").fetch("http://x/")).text()),
  async session(env) { using c = await env.S.getByName("a").counter(); return await count(9, () => c.next()); },
  async atOnce(env) { const s = env.S.getByName("a"); return (await Promise.allSettled(Array.from({ length: 7 }, () => s.ok()))).map((r) => r.status[0]).join(""); },
});`
	w := NewWorldFrom(t, map[string]string{
		"harness.js": Harness, "worker.ts": source,
		"wrangler.json": `{"name": "test", "main": "worker.ts", "compatibility_date": "2026-08-01", "limits": {"subrequests": 5},
"durable_objects": {"bindings": [{"name": "S", "class_name": "S"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["S"]}]}`,
	}, Options{})
	w.Net.Handle("up", func(req *event.Request, done func(*event.Response, error)) func(error) {
		resp := &event.Response{Status: 200, Body: event.Bytes([]byte("ok"))}
		if req.URL == "http://up/redirect" {
			resp = &event.Response{Status: 302, Header: event.Header{{Name: "Location", Value: "http://up/"}}}
		}
		done(resp, nil)
		return func(error) {}
	})
	const refused = `"Too many subrequests by single Worker invocati"`
	for range 2 { // an object's count begins anew
		w.Want(`{"ok":[5,"Error: Too many subrequests by single Worker invocation. To configure this limit, refer to https://developers.cloudflare.com/workers/wrangler/configuration/#limits"]}`, "S/a/calls", 9)
	}
	w.Want(`{"ok":5}`, "S/a/calls", 5)
	w.Want(`{"ok":[5,`+refused+`]}`, "!fetches")
	w.Want(`{"ok":[2,`+refused+`]}`, "!redirects")
	w.Want(`{"ok":[5,`+refused+`]}`, "!stubFetches")
	w.Want(`{"ok":9}`, "!session")
	w.Want(`{"ok":"fffffrr"}`, "!atOnce")
}
