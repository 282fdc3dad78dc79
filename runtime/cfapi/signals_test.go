package cfapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/minidotest"
)

const signalWorker = `
globalThis.seen = [];
const say = (text) => { seen.push(text); };
const reason = (s) => s.reason instanceof Error || s.reason instanceof DOMException ? s.reason.name + ": " + s.reason.message : JSON.stringify(s.reason);
const run = async (req, ctx, where) => {
  const what = new URL(req.url).pathname.slice(where.length + 1);
  req.signal.addEventListener("abort", async () => { say(where + " aborted " + reason(req.signal)); await scheduler.wait(50); say(where + " listener goes on"); });
  if (what === "plain") { await scheduler.wait(400); say(where + " handler goes on"); }
  if (what === "wait") { ctx.waitUntil(scheduler.wait(300).then(() => say(where + " waitUntil goes on"))); await scheduler.wait(400); say(where + " handler goes on"); }
  if (what === "stream") return new Response(new ReadableStream({ cancel() { say(where + " cancel"); } }));
  return new Response("late");
};
export class O extends DurableObject {
  fetch(req) { return run(req, this.ctx, "object/"); }
  async hear(signal) {
    if (signal.aborted) return "already " + reason(signal);
    const first = await Promise.race([new Promise((ok) => signal.addEventListener("abort", (e) => ok("aborted " + e.isTrusted + " " + reason(signal)))), scheduler.wait(400).then(() => "no abort")]);
    return first + " " + (signal instanceof AbortSignal);
  }
  request(req) { return this.hear(req.signal); }
  async twice({ s, t }) { return [s === t, await this.hear(s)]; }
  give() { const c = new AbortController(); setTimeout(() => c.abort(new TypeError("given")), 100); return c.signal; }
  drop(signal) { signal.addEventListener("abort", () => { this.late = reason(signal); }); }
  told() { return this.late ?? "none"; }
}
const soon = (value) => { const c = new AbortController(); setTimeout(() => c.abort(value), 50); return c.signal; };
const scripts = {
  seen: () => { const all = seen; seen = []; return all; },
  async signals(env) {
    const o = env.O.getByName("a");
    return Promise.all([() => o.hear(soon()), () => o.hear(soon(new RangeError("why"))), () => o.hear(soon({ a: 1 })), () => o.hear(soon(() => 1)), () => o.hear(AbortSignal.abort(new RangeError("before"))),
      () => o.hear(AbortSignal.abort()), () => o.hear(AbortSignal.timeout(50)), () => o.hear(AbortSignal.any([soon("x")])), () => o.hear(new AbortController().signal),
      () => o.request(new Request("http://x", { signal: soon() })), () => { const s = soon(); return o.twice({ s, t: s }); },
      async () => { const s = await o.give(); const before = s.aborted; await scheduler.wait(250); return [before, s.aborted, reason(s)]; },
      async () => { const c = new AbortController(); await o.drop(c.signal); c.abort(); await scheduler.wait(100); return o.told(); },
    ].map((fn) => attempt(fn)));
  },
  async stub(env) { const o = env.O.getByName("a"); return attempt(() => o.fetch("http://x/object/plain", { signal: soon(new RangeError("stop")) })); },
};
const { fetch: answer } = serve(scripts);
export default { fetch(req, env, ctx) {
  const path = new URL(req.url).pathname;
  if (path.startsWith("/object/")) return env.O.getByName("b").fetch(req);
  return path.startsWith("/worker/") ? run(req, ctx, "worker/") : answer(req, env, ctx);
} };
`

func signalWorld(t *testing.T, flags string) *minidotest.World {
	return minidotest.NewWorldFrom(t, map[string]string{
		"harness.js": minidotest.Harness,
		"worker.ts":  "import { DurableObject } from \"cloudflare:workers\";\nimport { serve, attempt } from \"./harness.js\";\n" + signalWorker,
		"wrangler.json": `{"name": "test", "main": "worker.ts", "compatibility_date": "2026-08-01", "compatibility_flags": [` + flags + `],
"durable_objects": {"bindings": [{"name": "O", "class_name": "O"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["O"]}]}`,
	}, minidotest.Options{})
}

// A client that leaves: the request's signal aborts, in objects too, where the
// flag says so; a stateless handler is not waited for, what waitUntil was given
// is; an object goes on. (The answers for streams are the reference's.)
func TestClientLeaves(t *testing.T) {
	leave := func(w *minidotest.World, path string) string {
		var resp *event.Response
		cancel := w.Server.Fetch(&event.Request{Method: "GET", URL: "http://localhost/" + path}, func(r *event.Response, err error) { resp = r })
		w.Advance(150 * time.Millisecond)
		if resp != nil && resp.Body != nil {
			resp.Body.Cancel(fmt.Errorf("the client has gone"))
		}
		cancel(fmt.Errorf("the client has gone"))
		w.Advance(time.Second)
		return w.Call("!seen")
	}
	on, off := signalWorld(t, `"enable_request_signal"`), signalWorld(t, "")
	const aborted = `aborted AbortError: The client has disconnected"`
	for _, c := range []struct{ path, on, off string }{
		{"worker/plain", `["worker/ ` + aborted + `]`, `[]`},
		{"worker/wait", `["worker/ ` + aborted + `,"worker/ listener goes on","worker/ waitUntil goes on"]`, `["worker/ waitUntil goes on"]`},
		{"worker/stream", `["worker/ cancel","worker/ ` + aborted + `]`, `["worker/ cancel"]`},
		{"object/plain", `["object/ ` + aborted + `,"object/ listener goes on","object/ handler goes on"]`, `["object/ handler goes on"]`},
		{"object/stream", `["object/ cancel","object/ ` + aborted + `,"object/ listener goes on"]`, `["object/ cancel"]`},
	} {
		if got := leave(on, c.path); got != `{"ok":`+c.on+`}` {
			t.Errorf("%s: %s", c.path, got)
		}
		if got := leave(off, c.path); got != `{"ok":`+c.off+`}` {
			t.Errorf("%s without the flag: %s", c.path, got)
		}
	}
	on.Want(`{"ok":{"err":{"name":"RangeError","message":"stop"}}}`, "!stub")
	on.Want(`{"ok":["object/ `+aborted+`]}`, "!seen")
}

// AbortSignals cross in RPC calls, by the flag; the answers are the reference's.
func TestSignalsInCalls(t *testing.T) {
	const refused = `{"err":{"name":"DataCloneError","message":"AbortSignal serialization is not enabled.","code":25}}`
	signalWorld(t, "").Want(`{"ok":[`+strings.Repeat(refused+`,`, 11)+strings.Replace(refused, "25", `25,"remote":true`, 1)+`,`+refused+`]}`, "!signals")
	const abort = `AbortError: The operation was aborted`
	signalWorld(t, `"experimental", "enable_abortsignal_rpc"`).Want(`{"ok":[{"ok":"aborted true `+abort+` true"},{"ok":"aborted true RangeError: why true"},{"ok":"aborted true {\"a\":1} true"},{"ok":"no abort true"},`+
		`{"ok":"already RangeError: before"},{"ok":"already `+abort+`"},{"ok":"aborted true TimeoutError: The operation was aborted due to timeout true"},{"ok":"aborted true \"x\" true"},{"ok":"no abort true"},`+
		`{"ok":"aborted true `+abort+` true"},{"ok":[true,"aborted true `+abort+` true"]},{"ok":[false,true,"TypeError: given"]},{"ok":"`+abort+`"}]}`, "!signals")
}
