package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/runtime/devregistry"
)

const registryFront = `import { RpcTarget } from "cloudflare:workers";
class Counter extends RpcTarget { n = 5; inc() { return ++this.n; } }
const tried = {
  props: (env) => env.API.props(),
  room: (env) => env.ROOM.getByName("x").add(2),
  "room fetch": async (env) => (await env.ROOM.getByName("x").fetch("http://room/path")).text(),
  arguments: (env) => env.API.use((x) => x * 2, new Counter()),
  async target(env) { using c = await env.API.counter(); return [await c.inc(), await c.inc()]; },
  pipelined: (env) => env.API.counter().inc(),
  async throws(env) { try { await env.API.throws(); } catch (e) { return [e instanceof RangeError, e.message, e.remote]; } },
  async stream(env) { return (await new Response(await env.API.stream()).text()).length; },
  "stream there": (env) => env.API.read(new Response("abc".repeat(30000)).body),
  async request(env) { return (await env.API.answer(new Request("http://r/", { method: "POST", body: "hi" }))).text(); },
  async post(env) { const r = await env.BACK.fetch("http://b/p?q", { method: "PUT", body: "x".repeat(100000), headers: { "x-in": "1" } }); return [r.status, r.statusText, r.headers.get("x-in"), await r.text()]; },
  async empty(env) { const r = await env.BACK.fetch("http://b/empty"); return [r.status, r.body === null]; },
  async writable(env) { try { await env.API.use(new TransformStream().writable); } catch (e) { return e.name + ": " + e.message; } },
  async none(env) { try { await env.ROOM.getByName("x").no(); } catch (e) { return String(e); } },
};
export default { async fetch(req, env) {
  const url = new URL(req.url);
  if (url.pathname.startsWith("/back")) return env.BACK.fetch(req);
  if (url.pathname === "/call") try { return Response.json(await env.API.props()); } catch (e) { return new Response(String(e)); }
  if (url.pathname === "/object") try { return Response.json(await env.ROOM.getByName("x").add(0)); } catch (e) { return new Response(String(e)); }
  const out = {};
  for (const [name, f] of Object.entries(tried)) try { out[name] = await f(env); } catch (e) { out[name] = "threw " + e; }
  return Response.json(out);
} };`

const registryBack = `import { DurableObject, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
class Counter extends RpcTarget { n = 10; inc() { return ++this.n; } }
export class Room extends DurableObject {
  add(by) { const n = (this.ctx.storage.kv.get("n") ?? 0) + by; this.ctx.storage.kv.put("n", n); return [this.ctx.id.name, n]; }
  fetch(req) { return new Response("room " + req.url); }
}
export class Api extends WorkerEntrypoint {
  props() { return this.ctx.props; }
  async use(f, c) { return [await f(21), await c.inc(), await c.inc()]; }
  counter() { return new Counter(); }
  throws() { throw new RangeError("no"); }
  stream() { return new Response("xyz".repeat(30000)).body; }
  async read(s) { return (await new Response(s).text()).length; }
  async answer(req) { return new Response(req.method + " " + await req.text()); }
}
export default {
  async fetch(req) {
    if (req.headers.get("Upgrade") === "websocket") {
      const [client, server] = Object.values(new WebSocketPair());
      server.accept();
      server.addEventListener("message", (e) => server.send("echo " + e.data));
      return new Response(null, { status: 101, webSocket: client });
    }
    if (req.url.endsWith("/empty")) return new Response(null, { status: 204 });
    return new Response(req.method + " " + req.url + " " + (await req.text()).length, { status: 207, statusText: "Odd", headers: { "x-in": req.headers.get("x-in") ?? "" } });
  },
  tail(events) { console.log("tailed " + events.map((e) => new URL(e.event.request.url).pathname)); },
};`

// minido and wrangler look for each other's workers in one place, and each says why it
// does not call those of the other; a worker that does not run is not found by either,
// in the same words.
func TestDifferentialDevRegistry(t *testing.T) {
	wranglerModules(t)
	const (
		refused = `Worker "back" runs in wrangler dev, whose dev registry speaks workerd's Cap'n Proto protocol, which minido does not. Run it with minido: minido dev -c <its wrangler file>.`
		other   = `Worker "back" is not compatible with this version of the dev server. Please update all Worker instances to the same version.`
	)
	t.Setenv(devregistry.DirVariable, "")
	t.Setenv(devregistry.WranglerDirVariable, "")
	if err := os.Unsetenv(devregistry.WranglerDirVariable); err != nil { // empty, it switches the registry off
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	for _, who := range []struct{ front, back, says string }{{"wrangler", "minido", other}, {"minido", "wrangler", refused}} {
		t.Run(who.front+" calls "+who.back, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // the default place is compared, too
			dir := project(t, map[string]string{
				"front/wrangler.json": `{"name": "front", "main": "index.js", "compatibility_date": "2026-08-01",
"services": [{"binding": "BACK", "service": "back"}, {"binding": "API", "service": "back", "entrypoint": "Api"}],
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room", "script_name": "back"}]}}`,
				"front/index.js":     registryFront,
				"back/wrangler.json": `{"name": "back", "main": "index.js", "compatibility_date": "2026-08-01"}`,
				"back/index.js":      `export default { fetch() { return new Response("back"); } };`,
			})
			start := func(runtime, name string) server {
				return runtimes[runtime](t, "-c", filepath.Join(dir, name, "wrangler.json"), "--port", "0")
			}
			front := start(who.front, "front")
			const missing = `Worker "back" not found. Make sure it is running locally.`
			for path, want := range map[string]string{"/back": missing, "/call": "Error: " + missing, "/object": "Error: " + missing} {
				if _, body := ask(t, "GET", front.url+path); body != want {
					t.Errorf("%s: %s, not %s", path, body, want)
				}
			}
			start(who.back, "back")
			until(t, "the worker to be refused", func() bool {
				_, body := ask(t, "GET", front.url+"/call")
				return body == "Error: "+who.says
			})
			if status, body := ask(t, "GET", front.url+"/back"); status != http.StatusServiceUnavailable || body != who.says {
				t.Errorf("%d: %s", status, body)
			}
		})
	}
}

// Two processes find each other through the dev registry: requests, sockets, calls
// with functions and streams both ways, Durable Objects, tail events. Texts of a
// worker that does not run are the reference's.
func TestDevRegistry(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"front/wrangler.json": `{"name": "front", "main": "index.js", "compatibility_date": "2026-08-01",
"services": [{"binding": "BACK", "service": "back"}, {"binding": "API", "service": "back", "entrypoint": "Api", "props": {"r": 1}}],
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room", "script_name": "back"}]}, "tail_consumers": [{"service": "back"}]}`,
		"front/index.js": registryFront,
		"back/wrangler.json": `{"name": "back", "main": "index.js", "compatibility_date": "2026-08-01",
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`,
		"back/index.js": registryBack,
	})
	registry := filepath.Join(t.TempDir(), "v5")
	start := func(name string) server {
		s, err := launch(t, process.Options{Command: []string{minido, "dev", "--ip", "127.0.0.1", "-c", filepath.Join(dir, name, "wrangler.json"), "--port", "0", "--no-watch"},
			Env: []string{devregistry.DirVariable + "=" + registry}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	front := start("front")
	const missing = `Worker "back" not found. Make sure it is running locally.`
	answers(t, front.url+"/back", http.StatusServiceUnavailable, missing)
	answers(t, front.url+"/call", http.StatusOK, "Error: "+missing)
	answers(t, front.url+"/object", http.StatusOK, "Error: "+missing)

	back := start("back")
	answers(t, front.url+"/back/x", http.StatusMultiStatus, "GET "+front.url+"/back/x 0")
	_, body := ask(t, "GET", front.url+"/")
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for name, want := range map[string]string{
		"props": `{"r":1}`, "room": `["x",2]`, "room fetch": `"room http://room/path"`, "arguments": `[42,6,7]`, "target": `[11,12]`, "pipelined": `11`,
		"throws": `[true,"no",true]`, "stream": `90000`, "stream there": `90000`, "request": `"POST hi"`, "post": `[207,"Odd","1","PUT http://b/p?q 100000"]`,
		"empty":    `[204,true]`,
		"writable": `"DataCloneError: A WritableStream cannot be sent to a worker of another dev session; run both workers in one session: minido dev -c wrangler.jsonc -c ../other/wrangler.jsonc"`,
		"none":     `"TypeError: The RPC receiver does not implement the method \"no\"."`,
	} {
		if string(got[name]) != want {
			t.Errorf("%s: %s, not %s", name, got[name], want)
		}
	}
	until(t, "the tail worker to be told", func() bool { return strings.Contains(back.Output(), "tailed /back/x") })

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(front.url, "http")+"/back", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageText, []byte("you")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := conn.Read(ctx); err != nil || string(text) != "echo you" {
		t.Errorf("the socket said %q, %v", text, err)
	}

	// A name that has a session's entry is not taken from it; without the secret nobody is answered.
	entry, err := os.ReadFile(filepath.Join(registry, "back"))
	if err != nil {
		t.Fatal(err)
	}
	var e struct{ Minido struct{ Address string } }
	if err := json.Unmarshal(entry, &e); err != nil {
		t.Fatal(err)
	}
	answers(t, "http://"+e.Minido.Address+"/fetch", http.StatusForbidden, "Forbidden")
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	// It was killed, so its entry is there; the one that follows it takes that over.
	back = start("back")
	answers(t, front.url+"/object", http.StatusOK, `["x",2]`)
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(registry, "back")); err != nil {
		t.Fatal(err)
	}
	answers(t, front.url+"/back", http.StatusServiceUnavailable, missing)

	// As wrangler writes it.
	if err := os.WriteFile(filepath.Join(registry, "back"), []byte(`{"debugPortAddress": "127.0.0.1:1", "defaultEntrypointService": "core:user:back", "userWorkerService": "core:user:back", "instanceId": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	answers(t, front.url+"/back", http.StatusServiceUnavailable,
		`Worker "back" runs in wrangler dev, whose dev registry speaks workerd's Cap'n Proto protocol, which minido does not. Run it with minido: minido dev -c <its wrangler file>.`)
}
