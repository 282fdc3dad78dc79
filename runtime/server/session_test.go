package server_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// sessionFiles are two workers that call each other: "front", which clients
// reach, and "back", which has entrypoints and objects.
func sessionFiles(front, back string) map[string]string {
	return map[string]string{
		"harness.js": minidotest.Harness,
		"front.ts": `import { DurableObject, RpcTarget, RpcStub, WorkerEntrypoint } from "cloudflare:workers";
import { serve, show, attempt } from "./harness.js";
class Counter extends RpcTarget { n = 0; inc(by = 1) { return this.n += by; } async twice(f) { return [await f(1), await f(2)]; } }
export class Front extends DurableObject { who() { return "front " + this.ctx.id.name; } }
export class Callback extends WorkerEntrypoint { hi(x) { return "callback " + x + " " + this.env.WHO; } }
` + front,
		"wrangler.json": `{"name": "front", "main": "front.ts", "compatibility_date": "2026-08-01", "vars": {"WHO": "front"},
"services": [
  {"binding": "BACK", "service": "back"},
  {"binding": "ADMIN", "service": "back", "entrypoint": "Admin", "props": {"role": "root", "n": [1, null]}},
  {"binding": "GONE", "service": "missing"}, {"binding": "SELF", "service": "front", "entrypoint": "Callback"}],
"durable_objects": {"bindings": [
  {"name": "Front", "class_name": "Front"},
  {"name": "ROOM", "class_name": "Room", "script_name": "back"},
  {"name": "ABSENT", "class_name": "Room", "script_name": "missing"}]},
"migrations": [{"tag": "v1", "new_sqlite_classes": ["Front"]}]}`,
		"back/back.ts": `import { DurableObject, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
class Target extends RpcTarget { n = 10; inc(by = 1) { return this.n += by; } [Symbol.dispose]() { globalThis.disposed = (globalThis.disposed ?? 0) + 1; } }
globalThis.loads = (globalThis.loads ?? 0) + 1;
let inModule = 0;
` + back,
		"back/wrangler.json": `{"name": "back", "main": "back.ts", "compatibility_date": "2026-08-01", "vars": {"WHO": "back"},
"services": [{"binding": "FRONT", "service": "front", "entrypoint": "Callback"}],
"durable_objects": {"bindings": [{"name": "Room", "class_name": "Room"}]},
"migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}]}`,
	}
}

const backWorker = `
export class Room extends DurableObject {
  bump() { inModule++; const n = (this.ctx.storage.kv.get("n") ?? 0) + 1; this.ctx.storage.kv.put("n", n); return [this.ctx.id.name, n, this.env.WHO]; }
  module() { return inModule; }
  fetch(req) { return new Response("room " + this.ctx.id.name + " " + new URL(req.url).pathname); }
  target() { return this.t ??= new Target(); }
  async wake(ms) { await this.ctx.storage.setAlarm(Date.now() + ms); }
  alarm() { this.ctx.storage.kv.put("alarm", "rang"); }
  async keep(t) { this.lost = t; this.k = t.dup(); return "kept"; }
  async kept() { try { await this.lost.inc(); } catch (e) { return [await this.k.inc(), e.message]; } }
  async drop() { this.k[Symbol.dispose](); this.k = undefined; }
  rang() { return this.ctx.storage.kv.get("alarm") ?? "silent"; }
}
export class Admin extends WorkerEntrypoint {
  props() { return this.ctx.props; }
  fetch(req) { return Response.json({ props: this.ctx.props, url: req.url, method: req.method }); }
}
export default class extends WorkerEntrypoint {
  async fetch(req) {
    const url = new URL(req.url);
    if (req.headers.get("Upgrade") === "websocket") {
      const [client, server] = Object.values(new WebSocketPair());
      server.accept();
      server.addEventListener("message", (e) => { server.send("echo " + e.data); if (e.data === "bye") server.close(4001, "done"); });
      return new Response(null, { status: 101, webSocket: client, headers: { "Sec-WebSocket-Protocol": "p" } });
    }
    if (url.pathname === "/count") {
      let n = 0, chunks = 0;
      for await (const c of req.body) { n += c.length; chunks++; }
      return new Response(n + " " + (chunks > 1));
    }
    if (url.pathname === "/drip") {
      const { readable, writable } = new TransformStream();
      const w = writable.getWriter();
      this.ctx.waitUntil((async () => { for (let i = 0; i < 3; i++) { await w.write(new TextEncoder().encode(i + ";")); await scheduler.wait(10); } await w.close(); })());
      return new Response(readable, { status: 201, headers: { "x-who": this.env.WHO } });
    }
    if (url.pathname === "/throw") throw new RangeError("out of back");
    return new Response(this.env.WHO + " " + req.method + " " + url.pathname + " " + await req.text());
  }
  add(a, b) { return a + b; }
  who() { return this.env.WHO; }
  fail() { const e = new RangeError("back fails"); e.code = "E1"; throw e; }
  target() { return new Target(); }
  async call(f) { return [await f(1), await f(2)]; }
  async use(t) { return [await t.inc(3), await t.inc(4)]; }
  self(x) { return x; }
  async front() { return await this.env.FRONT.hi("from back"); }
  module() { return inModule; }
  disposed() { return globalThis.disposed ?? 0; }
  order(x) { (globalThis.log ??= []).push(x); }
  log() { return globalThis.log; }
  stream() { return new Response("streamed").body; }
  async read(s) { return await new Response(s).text(); }
  response() { return new Response("made", { status: 202, headers: { a: "b" } }); }
  room(name) { return this.env.Room.getByName(name); }
}
`

// The workers of a session call each other's entrypoints: by fetch and by RPC,
// with values, references and errors as within one worker.
func TestSessionServices(t *testing.T) {
	w := minidotest.NewWorldFrom(t, sessionFiles(`
const t = (fn) => attempt(fn);
export default serve({
  async rpc(env) {
    const b = env.BACK; const c = new Counter();
    const target = await b.target();
    const out = [await b.add(1, 2), await b.who(), await t(() => b.fail()), await t(() => b.nothing()), await target.inc(), await target.inc(5), await b.target().inc(2),
      await b.call((x) => x * 10), await b.use(c), c.n, await b.front(), typeof b.add, await t(() => b.self(new (class X {})())), await (await b.self(c)).inc(), c.n];
    target[Symbol.dispose](); await scheduler.wait(1);
    out.push(await b.disposed() > 0, await t(() => target.inc()));
    return out;
  },
  async order(env) { for (let i = 0; i < 5; i++) env.BACK.order(i); return await env.BACK.log(); },
  async bodies(env) {
    const text = new Response("abcdef").body;
    const r = await env.BACK.response();
    return [await env.BACK.read(text), await new Response(await env.BACK.stream()).text(), r.status, r.headers.get("a"), await r.text()];
  },
  async fetches(env) {
    const b = env.BACK;
    const big = new ReadableStream({ async pull(c) { this.i = (this.i ?? 0) + 1; if (this.i > 4) return c.close(); await scheduler.wait(5); c.enqueue(new Uint8Array(1000)); } });
    const drip = await b.fetch("http://x/drip");
    return [await (await b.fetch("http://x/a?b", { method: "PUT", body: "up" })).text(), await (await b.fetch("http://x/count", { method: "POST", body: big })).text(),
      drip.status, drip.headers.get("x-who"), await drip.text(), await t(() => b.fetch("http://x/throw"))];
  },
  async socket(env) {
    const r = await env.BACK.fetch("http://x/ws", { headers: { Upgrade: "websocket" } });
    const ws = r.webSocket; ws.accept();
    const got = [r.status, r.headers.get("Sec-WebSocket-Protocol")];
    const closed = new Promise((done) => { ws.addEventListener("message", (e) => got.push(e.data)); ws.addEventListener("close", (e) => { got.push([e.code, e.reason, e.wasClean]); done(); }); });
    ws.send("hello"); ws.send("bye");
    await closed;
    return got;
  },
  async props(env) { return [await env.ADMIN.props(), await (await env.ADMIN.fetch("http://x/p")).json()]; },
  async missing(env) {
    const r = await env.GONE.fetch("http://x/");
    return [r.status, await r.text(), await t(() => env.GONE.anything(1)), await t(() => env.ABSENT.getByName("x").hi()), (await env.ABSENT.getByName("x").fetch("http://x/")).status];
  },
  async keep(env) { return await env.ROOM.getByName("k").keep(new Counter()); },
  async kept(env) { return await env.ROOM.getByName("k").kept(); },
  async drop(env) { return await env.ROOM.getByName("k").drop(); },
  async self(env) { return await env.SELF.hi("me"); },
});`, backWorker), minidotest.Options{Others: []string{"back"}})
	w.Want(`{"ok":[3,"back",{"err":{"name":"RangeError","message":"back fails","code":"E1","remote":true}},{"err":{"name":"TypeError","message":"The RPC receiver does not implement the method \"nothing\".","remote":true}},11,16,12,[10,20],[3,7],7,"callback from back front","function",{"err":{"name":"DataCloneError","message":"Could not serialize object of type \"X\". This type does not support serialization.","code":25}},8,8,true,{"err":{"name":"Error","message":"RPC stub used after being disposed."}}]}`, "!rpc")
	w.Want(`{"ok":[0,1,2,3,4]}`, "!order")
	w.Want(`{"ok":["abcdef","streamed",202,"b","made"]}`, "!bodies")
	w.Want(`{"ok":["back PUT /a up","4000 true",201,"back","0;1;2;",{"err":{"name":"RangeError","message":"out of back","remote":true}}]}`, "!fetches")
	w.Want(`{"ok":[101,"p","echo hello","echo bye",[4001,"done",true]]}`, "!socket")
	w.Want(`{"ok":[{"role":"root","n":[1,null]},{"props":{"role":"root","n":[1,null]},"url":"http://x/p","method":"GET"}]}`, "!props")
	w.Want(`{"ok":"callback me front"}`, "!self")
	if got := w.Call("!missing"); !strings.HasPrefix(got, `{"ok":[503,"Worker \"missing\" not found. Make sure it is running locally.",{"err":{"name":"Error","message":"Worker \"missing\" not found. Make sure it is running locally.","remote":true}},{"err":{"name":"Error","message":"Worker \"missing\" not found. Make sure it is running locally.","remote":true}},503]}`) {
		t.Errorf("missing workers:\n got %s", got)
	}
	w.Want(`{"ok":"kept"}`, "!keep")
	// A dup keeps the context of its target alive: the request that answered "kept".
	w.Want(`{"ok":[1,"RPC stub used after being disposed."]}`, "!kept")
	w.Want(`{"ok":null}`, "!drop")
}

// Objects of another worker's class live in that worker: they share its module
// state and its env; their alarms ring, and their state is on disk.
func TestSessionObjects(t *testing.T) {
	front := `
export default serve({
  async objects(env) {
    const r = env.ROOM.getByName("a");
    const target = await r.target();
    const room = await env.BACK.room("a");
    return [await r.bump(), await r.bump(), await env.BACK.module(), await r.module(), await (await r.fetch("http://x/y")).text(), await target.inc(), String(r.id), await room.bump(), String(env.ROOM.idFromName("a")) === String(r.id)];
  },
  async wake(env) { await env.ROOM.getByName("a").wake(1000); return "set"; },
  async rang(env) { return [await env.ROOM.getByName("a").rang(), await env.ROOM.getByName("a").bump()]; },
});`
	w := minidotest.NewWorldFrom(t, sessionFiles(front, backWorker), minidotest.Options{Others: []string{"back"}})
	got := w.Call("!objects")
	want := `{"ok":[["a",1,"back"],["a",2,"back"],2,2,"room a /y",11,"`
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `",["a",3,"back"],true]}`) {
		t.Errorf("objects:\n got %s\nwant %s...", got, want)
	}
	w.Want(`{"ok":"set"}`, "!wake")
	w.Stop()
	w = w.Next(w.Dir(), nil)
	w.Advance(2000000000)
	w.Want(`{"ok":["rang",["a",4,"back"]]}`, "!rang")
}

// A binding to a class that the other worker lacks keeps the session from
// starting, as with wrangler dev; the error says where the binding stands.
func TestSessionLacksClass(t *testing.T) {
	dir := t.TempDir()
	files := sessionFiles("export default serve({});", backWorker)
	files["wrangler.json"] = strings.Replace(files["wrangler.json"], `"Room", "script_name": "back"`, `"Rome", "script_name": "back"`, 1)
	minidotest.WriteFiles(t, dir, files)
	_, err := minidotest.Open(t, minidotest.Options{Project: dir, Others: []string{"back"}})
	if err == nil {
		t.Fatal("it started")
	}
	for _, want := range []string{"wrangler.json:8:", `the binding ROOM names the class "Rome", which back.ts of the worker "back" does not export`,
		"it exports Admin, Room, default; export the class there, or correct class_name"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

// The properties of env stand in the order of wrangler dev: variables, objects
// before texts, then the other bindings by their kind.
func TestOrderOfEnv(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `import { DurableObject } from "cloudflare:workers";
export class B extends DurableObject {}
export default { fetch: (req, env) => new Response(Object.keys(env).join()) };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "version_metadata": {"binding": "VER"}, "vars": {"Z": "1", "A": {"x": 1}, "M": "2"},
"durable_objects": {"bindings": [{"name": "THERE", "class_name": "B"}, {"name": "GONE", "class_name": "X", "script_name": "gone"}]},
"services": [{"binding": "SVC", "service": "p"}], "migrations": [{"tag": "v1", "new_sqlite_classes": ["B"]}]}`,
		".dev.vars": "DV=x\nA2=y\n",
	}, minidotest.Options{})
	if got := w.Do("GET", "http://localhost/", ""); got.Body != "A,Z,M,DV,A2,SVC,THERE,GONE,VER" {
		t.Errorf("got %+v", got)
	}
}
