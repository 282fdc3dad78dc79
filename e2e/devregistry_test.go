package e2e

import (
	"context"
	"encoding/json"
	"maps"
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
  async writable(env) {
    const { readable, writable } = new IdentityTransformStream();
    const text = new Response(readable).text();
    await env.API.fill(writable);
    return (await text).length;
  },
  async echo(env) {
    const [n, date, map, big, bytes] = await env.API.echo([42, new Date("2026-01-02"), new Map([[1, 2], [3, 4], [5, 6]]), 2n ** 64n, new Uint8Array(1e6)]);
    return [n, date, map.size, big.toString(), bytes.length];
  },
  async "own function"(env) { return (await env.API.echo((x) => x + 1))(7); },
  async compressed(env) { const r = await env.BACK.fetch("http://b/gzip"); return [r.headers.get("content-encoding"), await r.text()]; },
  async cut(env) { try { return "whole: " + await (await env.BACK.fetch("http://b/cut")).text(); } catch { return "broken"; } },
  async thrown(env) { try { await env.API.fail(); } catch (e) { return String(e); } },
  nested: async (env) => [await env.API.nested().a.b(5), await env.API.nested().n, await env.API.nested().deep.s.inc(), (await env.API.getter).g],
  async aborted(env) {
    const gone = new AbortController();
    const answer = env.BACK.fetch("http://b/hang", { signal: gone.signal }).catch((e) => e.name);
    const until = async (state) => { for (const end = Date.now() + 60_000; Date.now() < end && await env.API.hung() !== state;); };
    await until("begun");
    gone.abort();
    await until("aborted");
    return [await answer, await env.API.hung()];
  },
  undefined: async (env) => (await env.API.echo(undefined)) ?? null,
  async none(env) { try { await env.ROOM.getByName("x").no(); } catch (e) { return String(e); } },
};
export default { async fetch(req, env) {
  const url = new URL(req.url);
  if (url.pathname.startsWith("/back")) return env.BACK.fetch(req);
  if (url.pathname === "/room") return env.ROOM.getByName("x").fetch(req);
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
  fetch(req) {
    if (req.headers.get("Upgrade") !== "websocket") return new Response("room " + req.url);
    const [client, server] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }
  webSocketMessage(socket, text) { if (text === "close") socket.close(4321, "bye"); else socket.send("echo " + text); }
}
let hung = "";
export class Api extends WorkerEntrypoint {
  hung() { return hung; }
  props() { return this.ctx.props; }
  async use(f, c) { return [await f(21), await c.inc(), await c.inc()]; }
  counter() { return new Counter(); }
  throws() { throw new RangeError("no"); }
  stream() { return new Response("xyz".repeat(30000)).body; }
  fail() { throw "a text"; }
  nested() { return { a: { b: (x) => x * 2 }, n: 7, deep: { s: new Counter() } }; }
  get getter() { return { g: 1 }; }
  echo(x) { return x; }
  async fill(w) { const x = w.getWriter(); await x.write(new TextEncoder().encode("abc")); await x.write(new TextEncoder().encode("def")); await x.close(); }
  async read(s) { return (await new Response(s).text()).length; }
  async answer(req) { return new Response(req.method + " " + await req.text()); }
}
export default {
  async fetch(req) {
    if (req.headers.get("Upgrade") === "websocket") {
      const [client, server] = Object.values(new WebSocketPair());
      server.accept();
      server.addEventListener("message", (e) => e.data === "close" ? server.close(4321, "bye") : server.send("echo " + e.data));
      return new Response(null, { status: 101, webSocket: client });
    }
    if (req.url.endsWith("/hang")) {
      hung = "begun";
      return new Promise((resolve) => {
        req.signal.addEventListener("abort", () => { hung = "aborted"; resolve(new Response()); });
        setTimeout(() => resolve(new Response("waited in vain")), 90_000);
      });
    }
    if (req.url.endsWith("/cut")) return new Response(new ReadableStream({ pull(c) { c.error(new Error("cut")); } }));
    if (req.url.endsWith("/gzip")) return new Response("squeezed", { headers: { "content-encoding": "gzip" } });
    if (req.url.endsWith("/empty")) return new Response(null, { status: 204 });
    return new Response(req.method + " " + req.url + " " + (await req.text()).length, { status: 207, statusText: "Odd", headers: { "x-in": req.headers.get("x-in") ?? "" } });
  },
  tail(events) { console.log("tailed " + events.map((e) => new URL(e.event.request.url).pathname)); },
};`

// minido and wrangler find each other's workers in one place and call them, either way:
// requests, sockets, calls with functions, stubs and streams, props, Durable Objects. A
// worker that does not run is not found by either, in the same words.
func TestDifferentialDevRegistry(t *testing.T) {
	wranglerModules(t)
	t.Setenv(devregistry.DirVariable, "")
	t.Setenv(devregistry.WranglerDirVariable, "")
	if err := os.Unsetenv(devregistry.WranglerDirVariable); err != nil { // empty, it switches the registry off
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	for _, who := range []struct{ front, back string }{{"wrangler", "minido"}, {"minido", "wrangler"}} {
		t.Run(who.front+" calls "+who.back, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // the default place is compared, too
			dir := project(t, registryProject)
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
			back := start(who.back, "back")
			until(t, "the worker to be found", func() bool {
				_, body := ask(t, "GET", front.url+"/call")
				return body == `{"r":1}`
			})
			answers(t, front.url+"/back/x", http.StatusMultiStatus, "GET "+front.url+"/back/x 0")
			tries(t, front.url, map[string]string{
				"room":      `[null,2]`, // workerd's debug port does not tell names
				"writable":  `6`,
				"undefined": `null`,
			})
			echoes(t, front.url)
			if status, body := ask(t, "GET", front.url+"/back/gzip"); status != http.StatusOK || body != "squeezed" { // through both, and undone by the client
				t.Errorf("%d %q", status, body)
			}
			until(t, "the tail worker to be told", func() bool { return strings.Contains(back.Output(), "tailed /back/x") })
		})
	}
}

// registryProject is two workers, of which the first one calls the second.
var registryProject = map[string]string{
	"front/wrangler.json": `{"name": "front", "main": "index.js", "compatibility_date": "2026-08-01",
"services": [{"binding": "BACK", "service": "back"}, {"binding": "API", "service": "back", "entrypoint": "Api", "props": {"r": 1}}],
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room", "script_name": "back"}]}, "tail_consumers": [{"service": "back"}]}`,
	"front/index.js": registryFront,
	"back/wrangler.json": `{"name": "back", "main": "index.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["enable_request_signal"],
"durable_objects": {"bindings": [{"name": "ROOM", "class_name": "Room"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`,
	"back/index.js": registryBack,
}

// tries asks the first worker for what its calls came to: the same everywhere, but for
// what differs.
func tries(t *testing.T, front string, differs map[string]string) {
	t.Helper()
	_, body := ask(t, "GET", front+"/")
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	want := map[string]string{
		"props": `{"r":1}`, "room fetch": `"room http://room/path"`, "arguments": `[42,6,7]`, "target": `[11,12]`, "pipelined": `11`,
		"throws": `[true,"no",true]`, "stream": `90000`, "stream there": `90000`, "request": `"POST hi"`, "post": `[207,"Odd","1","PUT http://b/p?q 100000"]`,
		"empty": `[204,true]`, "none": `"TypeError: The RPC receiver does not implement the method \"no\"."`,
		"echo": `[42,"2026-01-02T00:00:00.000Z",3,"18446744073709551616",1000000]`, "own function": `8`, "compressed": `["gzip","squeezed"]`, "nested": `[10,7,11,1]`, "cut": `"broken"`, "thrown": `"Error: a text"`,
		"aborted": `["AbortError","aborted"]`,
	}
	maps.Copy(want, differs)
	for name, want := range want {
		if string(got[name]) != want {
			t.Errorf("%s: %s, not %s", name, got[name], want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d things were tried, not %d: %s", len(got), len(want), body)
	}
}

// echoes talks to sockets of the second worker's, and of an object of its.
func echoes(t *testing.T, front string) {
	t.Helper()
	for _, path := range []string{"/back", "/room"} {
		echoesAt(t, "ws"+strings.TrimPrefix(front, "http")+path)
	}
}

func echoesAt(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, url, nil)
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
	if err := conn.Write(ctx, websocket.MessageText, []byte("close")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != 4321 {
		t.Errorf("the socket ended with %v", err)
	}
}

// startRegistered starts minido with a registry of the test's own.
func startRegistered(t *testing.T, config, registry string) server {
	t.Helper()
	s, err := launch(t, process.Options{Command: []string{minido, "dev", "--ip", "127.0.0.1", "-c", config, "--port", "0", "--no-watch"},
		Env: []string{devregistry.DirVariable + "=" + registry}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What wrangler's sessions speak works between two of minido's, too: the entry of one is
// made to look like wrangler's.
func TestDevRegistryDebugPort(t *testing.T) {
	t.Parallel()
	dir := project(t, registryProject)
	registry := filepath.Join(t.TempDir(), "v5")
	start := func(name string) server {
		return startRegistered(t, filepath.Join(dir, name, "wrangler.json"), registry)
	}
	back := start("back")
	path := filepath.Join(registry, "back")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var entry map[string]any
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	delete(entry, "minido")
	if text, err = json.Marshal(entry); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	front := start("front")
	answers(t, front.url+"/back/x", http.StatusMultiStatus, "GET "+front.url+"/back/x 0")
	tries(t, front.url, map[string]string{"room": `["x",2]`, "writable": `6`, "undefined": `null`})
	echoes(t, front.url)
	until(t, "the tail worker to be told", func() bool { return strings.Contains(back.Output(), "tailed /back/x") })
	if err := back.Close(); err != nil {
		t.Fatal(err)
	}
	// The same words for a call that leaves before the first session has read the end of the
	// connection, for one after it, and for one that dials anew, as for wrangler dev.
	for range 3 {
		answers(t, front.url+"/object", http.StatusOK, "Error: Network connection lost.")
	}
}

// Two processes find each other through the dev registry: requests, sockets, calls
// with functions and streams both ways, Durable Objects, tail events. Texts of a
// worker that does not run are the reference's.
func TestDevRegistry(t *testing.T) {
	t.Parallel()
	dir := project(t, registryProject)
	registry := filepath.Join(t.TempDir(), "v5")
	start := func(name string) server {
		return startRegistered(t, filepath.Join(dir, name, "wrangler.json"), registry)
	}
	front := start("front")
	const missing = `Worker "back" not found. Make sure it is running locally.`
	answers(t, front.url+"/back", http.StatusServiceUnavailable, missing)
	answers(t, front.url+"/call", http.StatusOK, "Error: "+missing)
	answers(t, front.url+"/object", http.StatusOK, "Error: "+missing)

	back := start("back")
	answers(t, front.url+"/back/x", http.StatusMultiStatus, "GET "+front.url+"/back/x 0")
	tries(t, front.url, map[string]string{
		"room":      `["x",2]`,
		"writable":  `"threw DataCloneError: A WritableStream cannot be sent to a worker of another dev session; run both workers in one session: minido dev -c wrangler.jsonc -c ../other/wrangler.jsonc"`,
		"undefined": `null`,
	})
	until(t, "the tail worker to be told", func() bool { return strings.Contains(back.Output(), "tailed /back/x") })

	echoes(t, front.url)

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

	// Of a program whose workers cannot be called, in the reference's words.
	if err := os.WriteFile(filepath.Join(registry, "back"), []byte(`{"instanceId": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	answers(t, front.url+"/back", http.StatusServiceUnavailable,
		`Worker "back" is not compatible with this version of the dev server. Please update all Worker instances to the same version.`)
}
