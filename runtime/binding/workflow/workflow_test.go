package workflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

const worker = `
import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
export class Ledger extends DurableObject {
  add(entry) { this.ctx.storage.kv.put("entries", [...this.entries(), entry]); return this.entries().length; }
  entries() { return this.ctx.storage.kv.get("entries") ?? []; }
}
export class Order extends WorkflowEntrypoint {
  async run(event, step) {
    const ledger = this.env.LEDGER.getByName("l");
    const say = (text) => ledger.add(text);
    const p = event.payload;
    switch (p.kind) {
      case "order": {
        const first = await step.do("first", async () => { await say("first"); return { n: 1, at: new Date(0) }; });
        await step.sleep("nap", "1 hour");
        const both = await Promise.all([
          step.do("left", async () => { await say("left"); return "l"; }),
          step.do("right", async () => { await say("right"); return "r"; }),
        ]);
        const paid = await step.waitForEvent("payment", { type: "paid", timeout: "60 days" });
        const again = await step.do("first", async () => { await say("again"); return first.n + 1; });
        return { first, both, paid: paid.payload, again, id: event.instanceId, name: event.workflowName, at: event.timestamp instanceof Date };
      }
      case "flaky":
        return step.do("flaky", { retries: { limit: 3, delay: "10 seconds", backoff: "exponential" } }, async (ctx) => {
          await say("attempt " + ctx.attempt + " at " + Math.round((Date.now() - p.began) / 1000));
          if (ctx.attempt < (p.good ?? 99)) throw new TypeError("not yet");
          return ctx.attempt;
        });
      case "fatal":
        return step.do("fatal", async () => { await say("fatal"); throw new NonRetryableError("no way"); });
      case "slow":
        return step.do("slow", { timeout: "5 seconds", retries: { limit: 1, delay: 1 } }, () => new Promise(() => { setTimeout(() => {}, 60000); }));
      case "months":
        await step.sleep("long", "5 months");
        await step.sleepUntil("longer", new Date(p.until));
        return "woken";
      case "past":
        return step.sleepUntil("past", 1);
      case "unheard":
        return step.waitForEvent("silence", { type: "never", timeout: "1 minute" });
      case "function":
        try { await step.do("function", async () => ({ f: () => 1 })); } catch (e) { return "caught " + e; }
      case "kinds":
        await step.do("kinds", async () => ({ big: 12n, bytes: new Uint8Array(2), map: new Map([["a", 1]]), at: new Date(0) }));
        await step.do("nothing", async () => {});
        await step.waitForEvent("payment", { type: "paid" });
        return 1;
      case "large":
        return step.do("large", { retries: { limit: 0, delay: 1 } }, async () => "x".repeat(1100000));
      case "bad config":
        return step.do("bad", { retries: { limit: -1, delay: 1 } }, async () => 1);
      case "streams": {
        const parts = (list) => new ReadableStream({ start(c) { for (const part of list) c.enqueue(part); c.close(); } });
        const made = await step.do("made", async () => { await say("made"); return parts([new TextEncoder().encode("first "), new Uint8Array(0), new TextEncoder().encode("second")]); });
        const big = await step.do("big", async () => { await say("big"); return parts(Array.from({ length: 9 }, (_, i) => new Uint8Array(100000).fill(i + 128))); });
        await step.do("empty", async () => parts([]));
        await step.sleep("nap", "1 hour");
        const bytes = new Uint8Array(await new Response(big).arrayBuffer());
        return { text: await new Response(made).text(), bytes: bytes.length, right: bytes.every((b, i) => b === Math.floor(i / 100000) + 128) };
      }
      case "object stream": return step.do("texts", { retries: { limit: 0, delay: 1 } }, async () => new ReadableStream({ start(c) { c.enqueue({ no: "bytes" }); c.close(); } }));
      case "broken stream": return step.do("broken", { retries: { limit: 0, delay: 1 } }, async () => new ReadableStream({ start(c) { c.enqueue(new Uint8Array(3)); }, pull(c) { c.error(new Error("cut off")); } }));
      case "slow stream": return step.do("slow", { timeout: "5 seconds", retries: { limit: 0, delay: 1 } }, async () => new ReadableStream({ start(c) { c.enqueue(new Uint8Array(3)); } }));
      case "json": return { big: 5n, bytes: new Uint8Array(2), map: new Map([["a", 1]]), at: new Date(5), none: undefined, nan: NaN };
      case "circular": { const o = { a: 1 }; o.o = o; return o; }
      case "circular step": return step.do("circle", async () => { const o = { a: 1 }; o.o = o; return o; });
      case "stub": return { f: () => 1 };
      case "error step": return step.do("error", async () => new TypeError("x")).then((e) => e.name);
      case "caught":
        try {
          await step.do("caught", { retries: { limit: 0, delay: 1 } }, async () => { throw new RangeError("caught"); });
        } catch (e) { return e.name + ": " + e.message; }
    }
  }
}
const attempt = async (fn) => {
  try { return JSON.stringify((await fn()) ?? null); } catch (e) { return e.name + ": " + e.message; }
};
export default {
  async fetch(req, env) {
    const u = new URL(req.url), q = (name) => u.searchParams.get(name);
    const W = env.ORDERS, id = q("id") ?? undefined;
    switch (u.pathname) {
      case "/entries": return Response.json(await env.LEDGER.getByName("l").entries());
      case "/create": return new Response(await attempt(() => W.create({ id, params: { kind: q("kind"), began: Date.now(), until: +q("until"), good: q("good") ?? undefined } })));
      case "/batch": return new Response(await attempt(async () => (await W.createBatch([{ id: "b1", params: { kind: "fatal" } }, { id: "b2", params: { kind: "past" } }])).map((i) => i.id)));
      case "/event": return new Response(await attempt(async () => (await W.get(id)).sendEvent({ type: "paid", payload: { sum: 3 } })));
      case "/whole": return new Response(await attempt(async () => { const s = await (await W.get(id)).status(); return [Object.keys(s), s]; }));
      default: return new Response(await attempt(async () => {
        const result = await (await W.get(id))[u.pathname.slice(1)]();
        delete result?.__LOCAL_DEV_STEP_OUTPUTS;
        return result;
      }));
    }
  },
};`

const configuration = `{"name": "shop", "main": "worker.js", "compatibility_date": "2026-03-20",
"durable_objects": {"bindings": [{"name": "LEDGER", "class_name": "Ledger"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Ledger"]}],
"workflows": [{"binding": "ORDERS", "name": "orders", "class_name": "Order"}]}`

func open(t *testing.T, o minidotest.Options) *minidotest.World {
	return minidotest.NewWorldFrom(t, map[string]string{"worker.js": worker, "wrangler.json": configuration}, o)
}

func get(w *minidotest.World, path string) string {
	return w.Do("GET", "http://localhost"+path, "").Text()
}

// days are advanced one by one: a world gives up on a longer step.
func days(w *minidotest.World, n int) {
	for range n {
		w.Advance(24 * time.Hour)
	}
}

func want(t *testing.T, w *minidotest.World, path, text string) {
	t.Helper()
	if got := get(w, path); got != text {
		t.Errorf("%s: %s, want %s", path, got, text)
	}
}

const completed = `{"status":"complete","output":{"first":{"n":1,"at":"1970-01-01T00:00:00.000Z"},"both":["l","r"],"paid":{"sum":3},"again":2,"id":"o","name":"orders","at":true}}`

// An instance goes through steps, sleeps and events; what it came to is its status.
func TestInstance(t *testing.T) {
	w := open(t, minidotest.Options{})
	want(t, w, "/status?id=o", "Error: instance.not_found")
	want(t, w, "/create?id=o&kind=order", `{"id":"o","binding":{}}`)
	want(t, w, "/create?id=o&kind=order", `Error: WorkflowError: (instance.already_exists) Workflow instance with id "o" already exists`)
	want(t, w, "/create?id=-&kind=order", `Error: WorkflowError: Workflow instance has invalid id`)
	w.Advance(59 * time.Minute)
	want(t, w, "/entries", `["first"]`)
	want(t, w, "/status?id=o", `{"status":"running","output":null}`)
	w.Advance(2 * time.Minute)
	want(t, w, "/entries", `["first","left","right"]`)
	days(w, 30)
	want(t, w, "/event?id=o", `null`)
	w.Advance(time.Minute)
	want(t, w, "/status?id=o", completed)
	want(t, w, "/terminate?id=o", `Error: WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state`)
	want(t, w, "/entries", `["first","left","right","again"]`)
}

// Steps are retried with their backoff; what fails for good ends the instance.
func TestFailures(t *testing.T) {
	w := open(t, minidotest.Options{})
	get(w, "/create?id=f&kind=flaky&good=3")
	w.Advance(2 * time.Minute)
	want(t, w, "/entries", `["attempt 1 at 0","attempt 2 at 10","attempt 3 at 30"]`)
	want(t, w, "/status?id=f", `{"status":"complete","output":3}`)
	for kind, status := range map[string]string{
		"flaky":      `{"status":"errored","output":null,"error":{"message":"not yet","name":"TypeError"}}`,
		"fatal":      `{"status":"errored","output":null,"error":{"name":"WorkflowFatalError","message":"The execution of the Workflow instance was terminated, as a step threw an NonRetryableError and it was not handled"}}`,
		"slow":       `{"status":"errored","output":null,"error":{"message":"WorkflowTimeoutError: Execution timed out after 5000ms","name":"Error"}}`,
		"past":       `{"status":"errored","output":null,"error":{"message":"You can't sleep until a time in the past, time-traveler","name":"Error"}}`,
		"unheard":    `{"status":"errored","output":null,"error":{"message":"WorkflowTimeoutError: Execution timed out after 60000ms","name":"Error"}}`,
		"function":   `{"status":"errored","output":null,"error":{"name":"WorkflowFatalError","message":"The execution of the Workflow instance was terminated, as the step \"function\" returned a value which is not serialisable"}}`,
		"large":      `{"status":"errored","output":null,"error":{"message":"WorkflowInternalError: Step large-1 output is too large. Maximum allowed size is 1MiB.","name":"Error"}}`,
		"bad+config": `{"status":"errored","output":null,"error":{"message":"WorkflowFatalError: Step config for \"bad\" is in a invalid format. See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/","name":"Error"}}`,
		"caught":     `{"status":"complete","output":"RangeError: caught"}`,
		// as wrangler dev 4.164 shows them
		"json":          `{"status":"complete","output":{"big":"[BigInt(5)]","bytes":"[Uint8Array(2 bytes)]","map":{},"at":"1970-01-01T00:00:00.005Z","nan":null}}`,
		"circular":      `{"status":"errored","output":null,"error":{"message":"Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    --- property 'o' closes the circle","name":"TypeError"}}`,
		"circular+step": `{"status":"errored","output":null,"error":{"message":"Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    --- property 'o' closes the circle","name":"TypeError"}}`,
		"stub":          `{"status":"errored","output":null,"error":{"message":"RpcStub cannot be serialized in this context.","name":"DataCloneError"}}`,
	} {
		id := strings.ReplaceAll(kind, "+", "_")
		get(w, fmt.Sprintf("/create?id=%s&kind=%s", id, kind))
		w.Advance(5 * time.Minute)
		want(t, w, "/status?id="+id, status)
	}
	get(w, "/create?id=e&kind=error+step")
	w.Advance(time.Minute)
	want(t, w, "/whole?id=e", `[["status","__LOCAL_DEV_STEP_OUTPUTS","output","error"],{"status":"complete","__LOCAL_DEV_STEP_OUTPUTS":[{}],"output":"TypeError"}]`)
	get(w, "/create?id=k&kind=kinds")
	w.Advance(time.Minute)
	get(w, "/event?id=k")
	w.Advance(time.Minute)
	want(t, w, "/whole?id=k", `[["status","__LOCAL_DEV_STEP_OUTPUTS","output","error"],{"status":"complete","__LOCAL_DEV_STEP_OUTPUTS":[`+
		`{"big":"[BigInt(12)]","bytes":"[Uint8Array(2 bytes)]","map":{},"at":"1970-01-01T00:00:00.000Z"},null,{"sum":3}],"output":1}]`)
	want(t, w, "/batch", `["b1","b2"]`)
	want(t, w, "/batch", `[]`)
}

// A stream as the result of a step is kept: the run gets its bytes, also after a restart
// of the server, when the step does not run again; people see its beginning, or its size.
func TestStreams(t *testing.T) {
	w := open(t, minidotest.Options{})
	get(w, "/create?id=s&kind=streams")
	w.Advance(30 * time.Minute)
	want(t, w, "/entries", `["made","big"]`)
	const outputs = `"__LOCAL_DEV_STEP_OUTPUTS":["first second","[ReadableStream (binary): 900000 bytes]",""]`
	want(t, w, "/whole?id=s", `[["status","__LOCAL_DEV_STEP_OUTPUTS","output","error"],{"status":"running",`+outputs+`,"output":null}]`)
	w = w.Restart()
	w.Advance(time.Hour)
	want(t, w, "/entries", `["made","big"]`)
	want(t, w, "/whole?id=s", `[["status","__LOCAL_DEV_STEP_OUTPUTS","output","error"],{"status":"complete",`+outputs+`,"output":{"text":"first second","bytes":900000,"right":true}}]`)
	for kind, status := range map[string]string{
		"object stream": `{"status":"errored","output":null,"error":{"name":"WorkflowFatalError","message":"The execution of the Workflow instance was terminated, as the step \"texts\" returned an invalid ReadableStream output. `,
		"broken stream": `{"status":"errored","output":null,"error":{"name":"WorkflowFatalError","message":"The execution of the Workflow instance was terminated, as the step \"broken\" returned an invalid ReadableStream output. `,
		"slow stream":   `{"status":"errored","output":null,"error":{"message":"WorkflowTimeoutError: Execution timed out after 5000ms","name":"Error"}}`,
	} {
		id := strings.ReplaceAll(kind, " ", "_")
		get(w, fmt.Sprintf("/create?id=%s&kind=%s", id, strings.ReplaceAll(kind, " ", "+")))
		w.Advance(5 * time.Minute)
		if got := get(w, "/status?id="+id); !strings.HasPrefix(got, status) {
			t.Errorf("%s: %s, want %s", kind, got, status)
		}
	}
}

// An event for an instance that has ended is no error, and of no consequence.
func TestEventAfterTheEnd(t *testing.T) {
	w := open(t, minidotest.Options{})
	get(w, "/create?id=o&kind=order")
	w.Advance(time.Minute)
	want(t, w, "/terminate?id=o", `null`)
	want(t, w, "/event?id=o", `null`)
	w.Advance(time.Hour)
	want(t, w, "/status?id=o", `{"status":"terminated","output":null}`)
}

// An instance that is paused does nothing, its sleeps stand still; it goes on, is
// restarted and is terminated as it is told.
func TestControl(t *testing.T) {
	w := open(t, minidotest.Options{})
	get(w, "/create?id=o&kind=order")
	w.Advance(30 * time.Minute)
	want(t, w, "/pause?id=o", `null`)
	w.Advance(24 * time.Hour)
	want(t, w, "/status?id=o", `{"status":"paused","output":null}`)
	want(t, w, "/entries", `["first"]`)
	want(t, w, "/resume?id=o", `null`)
	w.Advance(29 * time.Minute)
	want(t, w, "/entries", `["first"]`)
	w.Advance(2 * time.Minute)
	want(t, w, "/entries", `["first","left","right"]`)
	want(t, w, "/restart?id=o", `null`)
	w.Advance(2 * time.Minute)
	want(t, w, "/entries", `["first","left","right","first"]`)
	want(t, w, "/terminate?id=o", `null`)
	w.Advance(2 * time.Hour)
	want(t, w, "/status?id=o", `{"status":"terminated","output":null}`)
	want(t, w, "/entries", `["first","left","right","first"]`)
}

// Sleeps of months end when they are over, across restarts of the server.
func TestSleepOfMonths(t *testing.T) {
	w := open(t, minidotest.Options{})
	until := w.Now().Add(400 * 24 * time.Hour)
	get(w, fmt.Sprintf("/create?id=m&kind=months&until=%d", until.UnixMilli()))
	days(w, 149)
	w = w.Restart()
	days(w, 250)
	want(t, w, "/status?id=m", `{"status":"running","output":null}`)
	days(w, 2)
	want(t, w, "/status?id=m", `{"status":"complete","output":"woken"}`)
}

// An instance that was acknowledged ends as it does undisturbed, after a death of
// the process or of the machine at any effect point; no step runs again once its
// result is known to the run, and an acknowledged event is not lost.
func TestDeathAtEveryPoint(t *testing.T) {
	minidotest.EachDeath(t, func(t *testing.T, d minidotest.Death) {
		play := func(w *minidotest.World) (created, sent bool) {
			until := func(done func() bool) bool {
				if err := w.Until(done); err != nil && !w.Dead() {
					t.Fatal(err)
				}
				return !w.Dead()
			}
			after := func(wait time.Duration) func() bool {
				over := false
				w.Clock().AfterFunc(wait, func() { over = true })
				return func() bool { return over }
			}
			r := w.Send("GET", "http://localhost/create?id=o&kind=order", "")
			alive := until(r.Done) && until(after(2*time.Hour))
			created = r.Status == 200 && r.Body == `{"id":"o","binding":{}}`
			if !alive {
				return created, false
			}
			r = w.Send("GET", "http://localhost/event?id=o", "")
			if until(r.Done) {
				until(after(time.Hour))
			}
			return created, r.Status == 200 && r.Body == "null"
		}
		first := open(t, d.With(minidotest.Options{}))
		if created, sent := play(first); !created || !sent {
			t.Fatal("nothing was done")
		}
		want(t, first, "/status?id=o", completed)
		deaths := 0
		for i, line := range first.Logged(" point ") {
			if !strings.Contains(line, ":before(") {
				continue // a death at an after-side leaves what one at the next before-side leaves
			}
			if d.LosesPower() && !strings.Contains(line, "commit:") && !strings.Contains(line, "index:") {
				continue // between two commits a disk loses the same
			}
			w := first.Again(d.With(minidotest.Options{Kill: func(p killpoint.Point) bool { return p.Number == i+1 }}))
			created, sent := play(w)
			if !w.Dead() {
				w.Stop()
				continue
			}
			deaths++
			where := w.Logged("killed at")[0]
			w = w.Revive()
			w.Advance(2 * time.Hour)
			if !created {
				get(w, "/create?id=o&kind=order")
				w.Advance(2 * time.Hour)
			}
			if !sent {
				get(w, "/event?id=o")
				w.Advance(time.Minute)
			}
			if got := get(w, "/status?id=o"); got != completed {
				t.Errorf("%s: %s, and should be %s", where, got, completed)
			}
			entries := get(w, "/entries")
			// A death within an attempt repeats it; what the run went on from is not repeated.
			for _, order := range [][2]string{{"first", "left"}, {"first", "right"}, {"left", "again"}, {"right", "again"}} {
				before, after := strings.LastIndex(entries, `"`+order[0]+`"`), strings.Index(entries, `"`+order[1]+`"`)
				if before < 0 || after < before || strings.Count(entries, `"`+order[0]+`"`) > 2 {
					t.Errorf("%s: %q and %q: %s", where, order[0], order[1], entries)
				}
			}
			w.Stop()
		}
		if deaths < 15 {
			t.Errorf("%d deaths", deaths)
		}
	})
}

const asked = `
import { WorkflowEntrypoint } from "cloudflare:workers";
export class Order extends WorkflowEntrypoint {
  async run({ payload }, step) {
    const done = [];
    for (let i = 0; i < payload.steps; i++) {
      done.push(await step.do("s" + i, async () => {
        if (payload.ms) await scheduler.wait(payload.ms);
        return i;
      }));
    }
    if (payload.event) await step.waitForEvent("e", { type: "go" });
    if (payload.fails) throw new Error("oops");
    return done;
  }
}
export default { async fetch(req, env) {
  const { do: method, ...payload } = await req.json();
  const instance = await env.ORDERS.create({ params: payload });
  const seen = [await instance.status()];
  if (method !== undefined) await instance[method]({ type: "go", payload: "x" });
  seen.push(await instance.status());
  return Response.json(seen.map((s) => [s.status, s.__LOCAL_DEV_STEP_OUTPUTS, s.output]));
} };`

// A question for the status right after something that moves the run waits until it has
// moved, as in the reference (wrangler dev answered each of these so), and not for steps
// that take their time.
func TestStatusOfARunThatMoves(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": asked, "wrangler.json": `{"name": "asked", "main": "worker.js",
"compatibility_date": "2026-03-20", "workflows": [{"binding": "ORDERS", "name": "orders", "class_name": "Order"}]}`}, minidotest.Options{})
	for _, c := range []struct{ params, want string }{
		{`{"steps":1}`, `[["complete",[0],[0]],["complete",[0],[0]]]`},
		{`{"steps":3}`, `[["running",[0],null],["complete",[0,1,2],[0,1,2]]]`},
		{`{"steps":1,"fails":true}`, `[["errored",[0],null],["errored",[0],null]]`},
		{`{"steps":3,"ms":200}`, `[["running",[],null],["running",[],null]]`},
		{`{"steps":1,"event":true}`, `[["running",[0],null],["running",[0],null]]`},
		{`{"steps":1,"event":true,"do":"sendEvent"}`, `[["running",[0],null],["complete",[0,"x"],[0]]]`},
		{`{"steps":1,"event":true,"do":"pause"}`, `[["running",[0],null],["paused",[0],null]]`},
		{`{"steps":1,"do":"restart"}`, `[["complete",[0],[0]],["complete",[0],[0]]]`},
	} {
		if got := w.Do("POST", "http://localhost/", c.params).Text(); got != c.want {
			t.Errorf("%s: %s, want %s", c.params, got, c.want)
		}
	}
}
