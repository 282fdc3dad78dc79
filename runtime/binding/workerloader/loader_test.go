package workerloader_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

const worker = `
import { WorkerEntrypoint, RpcTarget, exports } from "cloudflare:workers";
const seen = [];
export class Tool extends WorkerEntrypoint {
  tail(events) { seen.push(...events.map((e) => [e.scriptName, e.outcome, e.logs.map((l) => l.message), this.ctx.props])); }
  add(a, b) { return a + b; }
  fetch(req) { return new Response("outbound " + new URL(req.url).pathname); }
}
const streamed = [];
export class Follower extends WorkerEntrypoint {
  tailStream(onset) {
    streamed.push([onset.event.type, onset.event.info?.type, this.ctx.props.n]);
    return { log: (e) => streamed.push(["log", e.event.message]), outcome: (e) => streamed.push(["outcome", e.event.outcome]) };
  }
}
let asked = 0;
const code = (main, more) => ({ ...more, compatibilityDate: "2026-03-20", mainModule: "main.js", modules: { "main.js": main, ...more?.modules } });
const attempt = async (fn) => {
  try { return JSON.stringify((await fn()) ?? null); } catch (e) { return e.name + ": " + e.message; }
};
const does = {
  fetch: (env) => env.LOADER.load(code("export default { fetch: (req) => new Response('dynamic ' + req.method + new URL(req.url).pathname) }")).getEntrypoint().fetch("http://x/y").then((r) => r.text()),
  async named(env) {
    const get = () => env.LOADER.get("n", async () => { asked++; return code("let n = 0; export default { fetch: () => new Response('' + ++n) }"); });
    const all = await Promise.all([get(), get(), get()].map(async (w) => (await w.getEntrypoint().fetch("http://x/")).text()));
    return [all, asked];
  },
  async modules(env) {
    const w = env.LOADER.load(code(
      "import t from './t.txt'; import { one } from 'lib/one.js'; import j from './j.json'; import d from './d.bin'; export default { fetch: () => Response.json([t, one, j, new Uint8Array(d)]) }",
      { modules: { "t.txt": { text: "text" }, "lib/one.js": { js: "export const one = 1" }, "j.json": { json: { a: [1] } }, "d.bin": { data: new Uint8Array([7, 8]) } } }));
    return (await w.getEntrypoint().fetch("http://x/")).json();
  },
  async env(env) {
    const w = env.LOADER.load(code("import { WorkerEntrypoint } from 'cloudflare:workers'; export class E extends WorkerEntrypoint { async go(n) { return [await this.env.TOOL.add(n, 1), this.env.text, this.ctx.props.p]; } } export default {}",
      { env: { TOOL: env.TOOL, text: "given" } }));
    return w.getEntrypoint("E", { props: { p: 5 } }).go(2);
  },
  async callback(env) {
    const w = env.LOADER.load(code("import { WorkerEntrypoint } from 'cloudflare:workers'; export default class extends WorkerEntrypoint { async run(host) { return (await host.twice(4)) + 1; } }"));
    class Host extends RpcTarget { twice(n) { return 2 * n; } }
    return w.getEntrypoint().run(new Host());
  },
  outbound: (env) => env.LOADER.load(code("export default { fetch: (req) => fetch('http://elsewhere/path') }", { globalOutbound: env.TOOL })).getEntrypoint().fetch("http://x/").then((r) => r.text()),
  forbidden: (env) => env.LOADER.load(code("export default { fetch: (req) => fetch('http://elsewhere/path') }", { globalOutbound: null })).getEntrypoint().fetch("http://x/").then((r) => r.text()),
  throws: (env) => env.LOADER.load(code("throw new Error('at start')")).getEntrypoint().fetch("http://x/").then((r) => r.text()),
  syntax: (env) => env.LOADER.load(code("export default {")).getEntrypoint().fetch("http://x/").then((r) => r.text()),
  callbackThrows: (env) => env.LOADER.get("bad", () => { throw new RangeError("no code"); }).getEntrypoint().fetch("http://x/").then((r) => r.text()),
  isolated: async (env) => {
    globalThis.leak = 1;
    return (await env.LOADER.load(code("export default { fetch: () => new Response(typeof globalThis.leak) }")).getEntrypoint().fetch("http://x/")).text();
  },
  outside: (env) => env.LOADER.load(code("export default {}", { modules: { "../x.js": "1" } })).getEntrypoint().fetch("http://x/").then((r) => r.text()),
  none: (env) => env.LOADER.load({ ...code(""), modules: {} }),
  typescript: (env) => env.LOADER.load(code("export default {}", { modules: { "a.ts": "1" } })),
  large: (env) => env.LOADER.load(code("export default {}", { modules: { "d.bin": { data: new Uint8Array(64 * 1024 * 1024) } } })),
  environment: (env) => env.LOADER.load(code("export default {}", { env: { text: "x".repeat(1024 * 1024) } })),
  experimental: (env) => env.LOADER.load(code("export default {}", { allowExperimental: true })),
  streamingTails: (env) => env.LOADER.load(code("export default {}", { streamingTails: [env.TOOL] })),
  async tails(env) {
    const tailed = code("export default { fetch: (req) => { console.log('dynamic', 1); return new Response('x'); } }", { tails: [env.TOOL, exports.Tool({ props: { from: "exports" } })] });
    await env.LOADER.load(tailed).getEntrypoint().fetch("http://x/");
    await new Promise((r) => setTimeout(r, 10));
    return seen;
  },
  async follows(env) {
    const followed = code("export default { fetch: (req) => { console.log('dynamic', 1); return new Response('x'); } }", { allowExperimental: true, streamingTails: [exports.Follower({ props: { n: 1 } }), exports.Follower({ props: { n: 2 } })] });
    await (await env.LOADER.load(followed).getEntrypoint().fetch("http://x/")).text();
    await new Promise((r) => setTimeout(r, 10));
    return streamed.map(String).sort();
  },
  noTail: (env) => env.LOADER.load(code("export default {}", { tails: [5] })),
  cpu: (env) => env.LOADER.load(code("export default { fetch: () => { for (;;); } }", { limits: { cpuMs: 2 } })).getEntrypoint().fetch("http://x/").then((r) => r.text()),
  async subrequests(env) {
    const w = env.LOADER.load(code("export default { async fetch() { let n = 0; try { for (; n < 9; n++) await (await fetch('http://y/')).text(); } catch (e) { return new Response(n + e.message); } } }", { limits: { subRequests: 2 }, globalOutbound: env.TOOL }));
    return (await w.getEntrypoint().fetch("http://x/")).text();
  },
  class: (env) => Object.prototype.toString.call(env.LOADER.load(code("export default {}")).getDurableObjectClass("A")),
  kind: (env) => env.LOADER.load(code("export default {}", { modules: { "x.js": {} } })),
  async many(env) {
    const out = [];
    for (let i = 0; i < 40; i++) out.push(await (await env.LOADER.load(code("export default { fetch: () => new Response('" + i + "') }")).getEntrypoint().fetch("http://x/")).text());
    return out.length;
  },
};
export default { fetch: async (req, env) => new Response(await attempt(() => does[new URL(req.url).pathname.slice(1)](env))) };`

// Workers with the flag "experimental" hand over streaming tail workers, each of
// which follows the events of what was loaded.
func TestStreamingTailsOfDynamicWorkers(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js":     worker,
		"wrangler.json": `{"name": "host", "main": "worker.js", "compatibility_date": "2026-03-20", "compatibility_flags": ["experimental"], "worker_loaders": [{"binding": "LOADER"}]}`,
	}, minidotest.Options{})
	want := `["log,dynamic,1","log,dynamic,1","onset,fetch,1","onset,fetch,2","outcome,ok","outcome,ok"]`
	if got := w.Do("GET", "http://localhost/follows", "").Text(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A worker loads others while it runs: their modules, env, ways out and failures.
func TestLoader(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": worker,
		"wrangler.json": `{"name": "host", "main": "worker.js", "compatibility_date": "2026-03-20", "worker_loaders": [{"binding": "LOADER"}],
"services": [{"binding": "TOOL", "service": "host", "entrypoint": "Tool"}]}`,
	}, minidotest.Options{})
	for _, c := range [][2]string{
		{"fetch", `"dynamic GET/y"`},
		{"named", `[["1","2","3"],1]`},
		{"named", `[["4","5","6"],1]`},
		{"modules", `["text",1,{"a":[1]},{"0":7,"1":8}]`},
		{"env", `[3,"given",5]`},
		{"callback", `9`},
		{"outbound", `"outbound /path"`},
		{"forbidden", `Error: This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities (such as bindings in 'env') to talk to the outside world.`},
		{"throws", "Error: Failed to start Worker:\nUncaught Error: at start\n  at main.js:1:7"},
		{"syntax", "Error: Failed to start Worker:\nUncaught SyntaxError: Unexpected end of input\n  at main.js:1:16"},
		{"callbackThrows", "RangeError: no code"},
		{"isolated", `"undefined"`},
		{"outside", "Error: Failed to start Worker:\nworker loader: the module name \"../x.js\" leads out of the worker"},
		{"class", `"[object DurableObjectClass]"`},
		{"kind", `TypeError: Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'x.js' contained 0 properties.`},
		{"none", "TypeError: Dynamic Worker code must contain at least one module."},
		{"typescript", "TypeError: Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: a.ts. If you're trying to load TypeScript, bundle it first with '@cloudflare/worker-bundler' and pass the generated JavaScript modules."},
		{"large", "Error: Dynamic Worker code size (67108881 bytes) exceeds the maximum allowed size of 67108864 bytes."},
		{"environment", "Error: Dynamic Worker env size ("},
		{"experimental", "Error: 'allowExperimental' is only allowed when the calling worker has the 'experimental' compat flag set."},
		{"streamingTails", "Error: Streaming tail workers are experimental. You must pass the option 'allowExperimental: true' to the worker loader to use them"},
		{"tails", `[["dynamic","ok",[["dynamic",1]],{}],["dynamic","ok",[["dynamic",1]],{"from":"exports"}]]`},
		{"noTail", "TypeError: Incorrect type for array element 0: the provided value is not of type 'Fetcher'."},
		{"cpu", "Error: Worker exceeded CPU time limit."},
		{"subrequests", `"2Too many subrequests`},
		{"many", `40`},
		{"fetch", `"dynamic GET/y"`},
	} {
		if got := w.Do("GET", "http://localhost/"+c[0], "").Text(); got != c[1] && !(strings.HasPrefix(c[1], "Error: Dynamic Worker env") || c[0] == "subrequests") || !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}

// app is what facets' worker loads.
const app = `
import { DurableObject } from "cloudflare:workers";
let made = 0;
export class App extends DurableObject {
  constructor(ctx, env) { super(ctx, env); made++; }
  add(n) { const sum = (this.ctx.storage.kv.get("n") ?? 0) + n; this.ctx.storage.kv.put("n", sum); return [sum, made, this.ctx.props?.p, String(this.env.text), this.ctx.id.toString() === this.ctx.id.toString()]; }
  async asks(n) { return await this.env.TOOL.twice(n); }
  fetch(req) { return new Response("app " + new URL(req.url).pathname); }
  throws() { throw new RangeError("in the app"); }
  spins() { for (;;); }
  setAlarm() { return this.ctx.storage.setAlarm(Date.now() + 1000); }
  alarm() {}
  nest() { return this.ctx.facets.get("inner", () => ({ class: this.ctx.exports.Inner })).hello(); }
}
export class Inner extends DurableObject { hello() { this.ctx.storage.kv.put("k", 1); return "inner"; } }
export default {};
`

// facets are objects whose facets are of classes that a dynamic worker exports.
const facets = `
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import text from "./app.txt";
const app = () => ({ compatibilityDate: "2026-03-20", mainModule: "main.js", modules: { "main.js": text } });
export class Tool extends WorkerEntrypoint { twice(n) { return 2 * n; } }
const attempt = async (fn) => { try { return (await fn()) ?? null; } catch (e) { return e.name + ": " + e.message; } };
export class Host extends DurableObject {
  app(name = "app", code = app()) {
    return this.ctx.facets.get(name, () => ({ class: this.env.LOADER.get(name, () => ({ ...code, env: { TOOL: this.env.TOOL, text: "given" }, limits: { cpuMs: 50 } })).getDurableObjectClass("App", { props: { p: 7 } }) }));
  }
  async add(n) { return this.app().add(n); }
  both() { return Promise.all([this.app().add(1), this.app().add(1)]); }
  asks() { return this.app().asks(4); }
  fetches() { return this.app().fetch("http://x/path").then((r) => r.text()); }
  throws() { return attempt(() => this.app().throws()); }
  async spins() { const a = this.app("s"); return [await attempt(() => a.spins()), await attempt(() => a.asks(1)), await attempt(() => this.app("s").asks(1))]; }
  async aborts() { const a = this.app(); await a.asks(1); this.ctx.facets.abort("app", new Error("why")); return [await attempt(() => a.add(1)), await attempt(() => this.app().add(1))]; }
  async deletes() { this.ctx.facets.delete("app"); return this.app().add(5); }
  alarm2() { return attempt(() => this.app().setAlarm()); }
  nest() { return this.app().nest(); }
  async bad() { return [await attempt(() => this.app("bad", { ...app(), modules: { "main.js": "throw new Error('at start')" } }).add(1)), await attempt(() => this.ctx.facets.get("none", () => ({ class: this.env.LOADER.load(app()).getDurableObjectClass("Nothing") })).add(1))]; }
}
export default { fetch: async (req, env) => Response.json(await attempt(() => env.HOST.getByName("h")[new URL(req.url).pathname.slice(1)](1))) };`

// Facets of classes that a dynamic worker exports keep data of their own, call what they
// were given, fail without their parent, and survive its eviction and the death of the process.
func TestFacetsOfDynamicWorkers(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": facets, "app.txt": app,
		"wrangler.json": `{"name": "host", "main": "worker.js", "compatibility_date": "2026-03-20", "worker_loaders": [{"binding": "LOADER"}],
"durable_objects": {"bindings": [{"name": "HOST", "class_name": "Host"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Host"]}],
"services": [{"binding": "TOOL", "service": "host", "entrypoint": "Tool"}]}`,
	}, minidotest.Options{})
	ask := func(path, want string) {
		t.Helper()
		if got := w.Do("GET", "http://localhost/"+path, "").Text(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	ask("add", `[1,1,7,"given",true]`)
	ask("both", `[[2,1,7,"given",true],[3,1,7,"given",true]]`)
	ask("asks", `8`)
	ask("fetches", `"app /path"`)
	ask("throws", `"RangeError: in the app"`)
	ask("alarm2", `"Error: Facets currently cannot set alarms."`)
	ask("nest", `"inner"`)
	ask("bad", `["Error: Failed to start Worker:\nUncaught Error: at start\n  at main.js:1:7","Error: Worker has no such actor class: Nothing"]`)
	ask("aborts", `["Error: why",[4,3,7,"given",true]]`)
	ask("spins", `["Error: Durable Object exceeded its CPU time limit and was reset.","Error: Durable Object exceeded its CPU time limit and was reset.",2]`)
	ask("add", `[5,3,7,"given",true]`)
	ask("deletes", `[5,4,7,"given",true]`)
	if err := w.Evict("Host", "h"); err != nil {
		t.Fatal(err)
	}
	ask("add", `[6,5,7,"given",true]`)
	w = w.Restart()
	ask("add", `[7,1,7,"given",true]`)
}
