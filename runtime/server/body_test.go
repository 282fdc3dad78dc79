package server_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// What breaks the stream of a response is logged once, with its place, and a caller of
// the worker gets it as another worker's, as in workerd; the reading of a stream of
// one's own fails as it is, and nothing is logged.
func TestBrokenResponseBodies(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": `
import { WorkerEntrypoint, DurableObject } from "cloudflare:workers";
const broken = () => new Response(new ReadableStream({ pull(c) { c.error(new TypeError("body broke")); } }));
export class Other extends WorkerEntrypoint { fetch() { return broken(); } }
export class Obj extends DurableObject { fetch() { return broken(); } }
export default { async fetch(req, env) {
  const from = { "/service": () => env.OTHER.fetch(req), "/object": () => env.OBJ.getByName("o").fetch(req), "/own": broken, "/out": broken }[new URL(req.url).pathname];
  const response = await from();
  if (req.url.endsWith("/out")) return response;
  return new Response(await response.text().catch((e) => e + " " + e.remote));
} }`,
		"wrangler.json": `{"name": "bodies", "main": "worker.js", "compatibility_date": "2026-08-01", "services": [{"binding": "OTHER", "service": "bodies", "entrypoint": "Other"}],
			"durable_objects": {"bindings": [{"name": "OBJ", "class_name": "Obj"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["Obj"]}]}`,
	}, minidotest.Options{})
	logged := 0
	for _, c := range []struct {
		path, want string
		logs       int
	}{
		{"/service", "TypeError: body broke true", 1}, {"/object", "TypeError: body broke true", 1}, {"/own", "TypeError: body broke undefined", 0}, {"/out", "failed: TypeError: body broke", 1},
	} {
		if got := w.Do("GET", "http://localhost"+c.path, "").Text(); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
		if logged += c.logs; len(w.Logged("Uncaught TypeError: body broke\n    at ")) != logged {
			t.Errorf("%s: %q", c.path, w.Logged(""))
		}
	}
}
