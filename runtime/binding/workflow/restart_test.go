package workflow_test

import (
	"errors"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

const restarting = `
import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";
export class Ledger extends DurableObject {
  add(entry) { this.ctx.storage.kv.put("entries", [...this.entries(), entry]); }
  entries() { return this.ctx.storage.kv.get("entries") ?? []; }
}
export class Order extends WorkflowEntrypoint {
  async run(event, step) {
    const say = (text) => this.env.LEDGER.getByName("l").add(text);
    const kind = event.payload;
    if (kind === "steps") {
      const a = await step.do("a", async () => { await say("a"); return 1; });
      const b = await step.do("b", async () => { await say("b1"); return a + 1; });
      await step.sleep("nap", "1 minute");
      return step.do("b", async () => { await say("b2"); return b + 1; });
    }
    const delays = { grows: ({ ctx, error }) => ctx.attempt * 10000 + (error.message === "no" ? 0 : 1e9), text: async () => "20 seconds", wrong: () => "soon", throws: () => { throw new Error("oops"); },
      slow: () => new Promise((resolve) => setTimeout(resolve, 60000)) };
    return step.do("try", { retries: { limit: 2, delay: delays[kind], backoff: "constant" } }, async (ctx) => {
      await say(kind + " " + Math.round((Date.now() - event.timestamp) / 1000) + " " + JSON.stringify(ctx.config.retries));
      throw new Error("no");
    });
  }
}
export default { async fetch(req, env) {
  const u = new URL(req.url), q = (name) => u.searchParams.get(name);
  const W = env.ORDERS;
  try {
    switch (u.pathname) {
      case "/entries": { const e = env.LEDGER.getByName("l"); return Response.json(await e.entries()); }
      case "/create": return Response.json((await W.create({ id: q("id"), params: q("id") })).id);
      case "/restart": return Response.json((await (await W.get(q("id"))).restart(q("from") ? { from: JSON.parse(q("from")) } : undefined)) ?? null);
      default: {
        const result = await (await W.get(q("id")))[u.pathname.slice(1)]();
        delete result?.__LOCAL_DEV_STEP_OUTPUTS;
        return Response.json(result ?? null);
      }
    }
  } catch (e) { return new Response(e.name + ": " + e.message); }
} };`

func openRestarting(t *testing.T, o minidotest.Options) *minidotest.World {
	return minidotest.NewWorldFrom(t, map[string]string{"worker.js": restarting, "wrangler.json": configuration}, o)
}

// An instance that is restarted from a step keeps what it had done before it; one
// that is deleted is not there, and its id is free.
func TestRestartFrom(t *testing.T) {
	w := openRestarting(t, minidotest.Options{})
	want(t, w, "/create?id=steps", `"steps"`)
	w.Advance(2 * time.Minute)
	const done = `{"status":"complete","output":3}`
	want(t, w, "/status?id=steps", done)
	want(t, w, `/restart?id=steps&from={"name":"b"}`, `null`)
	w.Advance(2 * time.Minute)
	want(t, w, "/status?id=steps", done)
	want(t, w, "/entries", `["a","b1","b2","b1","b2"]`)
	want(t, w, `/restart?id=steps&from={"name":"b","count":2}`, `null`)
	w.Advance(10 * time.Second)
	want(t, w, "/entries", `["a","b1","b2","b1","b2","b2"]`)
	want(t, w, `/restart?id=steps&from={"name":"nap","type":"sleep"}`, `null`)
	w.Advance(30 * time.Second)
	want(t, w, "/status?id=steps", `{"status":"running","output":null}`)
	w.Advance(time.Minute)
	want(t, w, "/status?id=steps", done)
	want(t, w, `/restart?id=steps&from={"name":"c"}`, `Error: WorkflowError: (instance.cannot_restart) Step "c" not found in execution history`)
	want(t, w, "/delete?id=steps", `null`)
	want(t, w, "/status?id=steps", `Error: instance.not_found`)
	want(t, w, "/create?id=steps", `"steps"`)
	w.Advance(2 * time.Minute)
	want(t, w, "/status?id=steps", done)
}

// The delay of a retry may be a function of the failure; what is wrong with it fails
// the step.
func TestDelayFunctions(t *testing.T) {
	for kind, c := range map[string]struct{ entries, status string }{
		"grows":  {`["grows 0 {\"limit\":2,\"backoff\":\"constant\"}","grows 10 {\"limit\":2,\"backoff\":\"constant\"}","grows 30 {\"limit\":2,\"backoff\":\"constant\"}"]`, `{"status":"errored","output":null,"error":{"message":"no","name":"Error"}}`},
		"text":   {`["text 0 {\"limit\":2,\"backoff\":\"constant\"}","text 20 {\"limit\":2,\"backoff\":\"constant\"}","text 40 {\"limit\":2,\"backoff\":\"constant\"}"]`, `{"status":"errored","output":null,"error":{"message":"no","name":"Error"}}`},
		"wrong":  {`["wrong 0 {\"limit\":2,\"backoff\":\"constant\"}"]`, `{"status":"errored","output":null,"error":{"message":"NonRetryableDelayError: The delay function for step \"try-1\" returned an invalid delay value (expected a number of ms or a duration string like \"30 seconds\")","name":"Error"}}`},
		"throws": {`["throws 0 {\"limit\":2,\"backoff\":\"constant\"}"]`, `{"status":"errored","output":null,"error":{"message":"NonRetryableDelayError: The delay function for step \"try-1\" threw an error: oops","name":"Error"}}`},
		"slow":   {`["slow 0 {\"limit\":2,\"backoff\":\"constant\"}"]`, `{"status":"errored","output":null,"error":{"message":"NonRetryableDelayError: The delay function for step \"try-1\" did not return within 5 seconds","name":"Error"}}`},
	} {
		w := openRestarting(t, minidotest.Options{})
		want(t, w, "/create?id="+kind, `"`+kind+`"`)
		w.Advance(5 * time.Minute)
		want(t, w, "/entries", c.entries)
		want(t, w, "/status?id="+kind, c.status)
	}
}

// A death at any commit of a restart leaves an instance that comes to its end.
func TestKilledWhileRestarting(t *testing.T) {
	for n := 1; ; n++ {
		w := openRestarting(t, minidotest.Options{})
		want(t, w, "/create?id=steps", `"steps"`)
		w.Advance(2 * time.Minute)
		seen := 0
		w.Stop()
		w = w.Next(w.Dir(), func(p killpoint.Point) bool {
			if p.Kind == killpoint.Commit {
				seen++
			}
			return seen == n
		})
		r := w.Send("GET", `http://localhost/restart?id=steps&from={"name":"b"}`, "")
		if err := w.Until(r.Done); err == nil {
			if n < 2 {
				t.Fatal("a restart commits nothing")
			}
			return // this many commits are more than a restart has
		} else if !errors.Is(err, minidotest.ErrKilled) {
			t.Fatal(err)
		}
		w = w.Revive()
		w.Advance(2 * time.Minute)
		want(t, w, "/status?id=steps", `{"status":"complete","output":3}`)
	}
}
