package workerloader_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

const worker = `
import { WorkerEntrypoint, RpcTarget, exports } from "cloudflare:workers";
export class Tool extends WorkerEntrypoint {
  add(a, b) { return a + b; }
  fetch(req) { return new Response("outbound " + new URL(req.url).pathname); }
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
  class: (env) => env.LOADER.load(code("export default {}")).getDurableObjectClass("A"),
  kind: (env) => env.LOADER.load(code("export default {}", { modules: { "x.js": {} } })),
  async many(env) {
    const out = [];
    for (let i = 0; i < 40; i++) out.push(await (await env.LOADER.load(code("export default { fetch: () => new Response('" + i + "') }")).getEntrypoint().fetch("http://x/")).text());
    return out.length;
  },
};
export default { fetch: async (req, env) => new Response(await attempt(() => does[new URL(req.url).pathname.slice(1)](env))) };`

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
		{"throws", "Error: Failed to start Worker:\nError: at start"},
		{"syntax", "Error: Failed to start Worker:\n"},
		{"callbackThrows", "RangeError: no code"},
		{"isolated", `"undefined"`},
		{"outside", "Error: Failed to start Worker:\nworker loader: the module name \"../x.js\" leads out of the worker"},
		{"class", "Error: Worker Loader: getDurableObjectClass() is not available in minido; getEntrypoint() is."},
		{"kind", `TypeError: Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'wasm', or 'py'. Module "x.js" contained none.`},
		{"many", `40`},
		{"fetch", `"dynamic GET/y"`},
	} {
		if got := w.Do("GET", "http://localhost/"+c[0], "").Text(); got != c[1] && !(strings.HasSuffix(c[1], "Worker:\n") || strings.Contains(c[1], "at start")) || !strings.HasPrefix(got, c[1]) {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}
