package workflow_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

const undoing = `
import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers";
export class Ledger extends DurableObject {
  add(entry) { this.ctx.storage.kv.put("entries", [...this.entries(), entry]); }
  entries() { return this.ctx.storage.kv.get("entries") ?? []; }
}
export class Trip extends WorkflowEntrypoint {
  async run(event, step) {
    const ledger = this.env.LEDGER.getByName("l"), say = (text) => ledger.add(text), kind = event.payload;
    if (kind === "bad") return step.do("bad", async () => 1, { rollback: 5 });
    if (kind === "bad options") return step.do("bad", {}, async () => 1, []);
    if (kind === "bad config") return step.do("bad", async () => 1, { rollback() {}, rollbackConfig: { retries: {} } });
    let tried = 0;
    const flight = await step.do("flight", async () => { await say("flight"); return kind.startsWith("streamed") ? new Response("F1").body : "F1"; }, {
      rollback: async ({ ctx, error, output, stepName }) => {
        const seat = output instanceof ReadableStream ? await new Response(output).text() : output;
        await say(["undo", stepName, seat, error.message, ctx.step.name, ctx.attempt].join(" "));
        if (kind === "stubborn" || (kind.endsWith("slow") && ++tried === 1)) throw new Error("busy");
      },
      rollbackConfig: { retries: { limit: 1, delay: "1 hour" } },
    });
    await step.do("plain", async () => { await say("plain"); });
    if (kind === "waits") await step.sleep("long", "30 days");
    await step.do("hotel", { retries: { limit: 0, delay: 1 } }, async () => { await say("hotel"); if (kind !== "fine") throw new TypeError("full"); return "H"; }, {
      rollback: async ({ output, stepName }) => { await say("undo " + stepName + " " + output); },
    });
    if (kind === "fine") return flight;
  }
}
export default { async fetch(req, env) {
  const u = new URL(req.url), kind = decodeURIComponent(u.search.slice(1));
  if (u.pathname === "/entries") return Response.json(await env.LEDGER.getByName("l").entries());
  if (u.pathname === "/terminate") return Response.json(await (await env.TRIPS.get("t")).terminate({ rollback: true }).catch((e) => e.message) ?? "done");
  if (u.pathname === "/create") return Response.json((await env.TRIPS.create({ id: "t", params: kind })).id);
  const { __LOCAL_DEV_STEP_OUTPUTS: _, ...status } = await (await env.TRIPS.get("t")).status();
  return Response.json(status);
} };`

func trips(t *testing.T, o minidotest.Options) *minidotest.World {
	return minidotest.NewWorldFrom(t, map[string]string{"worker.js": undoing, "wrangler.json": `{"name": "trips", "main": "worker.js", "compatibility_date": "2026-03-20",
"durable_objects": {"bindings": [{"name": "LEDGER", "class_name": "Ledger"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Ledger"]}],
"workflows": [{"binding": "TRIPS", "name": "trips", "class_name": "Trip"}]}`}, o)
}

const full = `{"status":"errored","output":null,"error":{"message":"full","name":"TypeError"}}`

// What an instance that fails has begun is taken back, the last step first, and tried
// again as its configuration says; an instance that succeeds keeps all.
func TestRollback(t *testing.T) {
	for kind, c := range map[string][2]string{
		"fails":         {`["flight","plain","hotel","undo hotel-1 undefined","undo flight-1 F1 full flight 1"]`, full},
		"fine":          {`["flight","plain","hotel"]`, `{"status":"complete","output":"F1"}`},
		"slow":          {`["flight","plain","hotel","undo hotel-1 undefined","undo flight-1 F1 full flight 1","undo flight-1 F1 full flight 1"]`, full},
		"streamed slow": {`["flight","plain","hotel","undo hotel-1 undefined","undo flight-1 F1 full flight 1","undo flight-1 F1 full flight 1"]`, full},
		"stubborn":      {`["flight","plain","hotel","undo hotel-1 undefined","undo flight-1 F1 full flight 1","undo flight-1 F1 full flight 1"]`, full},
		"bad":           {`[]`, `{"status":"errored","output":null,"error":{"message":"WorkflowFatalError: Rollback for \"bad\" must be a function","name":"Error"}}`},
		"bad options":   {`[]`, `{"status":"errored","output":null,"error":{"message":"WorkflowFatalError: Rollback options for \"bad\" must be an object","name":"Error"}}`},
		"bad config": {`[]`, `{"status":"errored","output":null,"error":{"message":"WorkflowFatalError: Rollback config for \"bad\" is in a invalid format. ` +
			`See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/","name":"Error"}}`},
	} {
		t.Run(kind, func(t *testing.T) {
			w := trips(t, minidotest.Options{})
			get(w, "/create?"+kind)
			w.Advance(2 * time.Hour)
			want(t, w, "/entries", c[0])
			want(t, w, "/status", c[1])
			if n := len(w.Logged("A rollback of the Workflow trips failed: Error: busy")); (n == 1) != (kind == "stubborn") {
				t.Errorf("%d warnings", n)
			}
		})
	}
}

// Wherever a death strikes, everything is taken back in its order; at most the step
// that it cut off is taken back twice.
func TestRollbackAcrossDeaths(t *testing.T) {
	wanted := []string{"flight", "plain", "hotel", "undo hotel-1 undefined", "undo flight-1 F1 full flight 1"}
	for n := 1; ; n++ {
		seen := 0
		w := trips(t, minidotest.Options{Kill: func(p killpoint.Point) bool {
			if p.Kind == killpoint.Commit {
				seen++
			}
			return p.Kind == killpoint.Commit && seen == n
		}})
		over := false
		timer := w.Clock().AfterFunc(time.Hour, func() { over = true })
		w.Send("GET", "http://localhost/create?fails", "")
		if err := w.Until(func() bool { return over }); err != nil && !errors.Is(err, minidotest.ErrKilled) {
			t.Fatal(err)
		}
		timer.Stop()
		if !w.Dead() {
			if n < 10 {
				t.Errorf("only %d commits", n-1)
			}
			return
		}
		w = w.Revive()
		if got := get(w, "/create?fails"); !strings.Contains(got, `"t"`) && !strings.Contains(got, "already exists") {
			t.Fatalf("commit %d: %s", n, got)
		}
		w.Advance(time.Hour)
		want(t, w, "/status", full)
		var got []string
		for _, e := range strings.Split(strings.Trim(get(w, "/entries"), "[]"), ",") {
			if e = strings.Trim(e, `"`); len(got) == 0 || got[len(got)-1] != e {
				got = append(got, e)
			}
		}
		if !slices.EqualFunc(got, wanted, func(a, b string) bool {
			return a == b || strings.HasPrefix(b, "undo flight") && strings.HasPrefix(a, "undo flight-1 F1 full flight")
		}) {
			t.Errorf("commit %d: %q", n, got)
		}
	}
}

const ended = `{"status":"terminated","output":null}`

// An instance that is terminated with a rollback takes back what it has begun before
// terminate() resolves, one that is paused, too.
func TestTerminateWithRollback(t *testing.T) {
	w := trips(t, minidotest.Options{})
	get(w, "/create?waits")
	w.Advance(time.Minute)
	want(t, w, "/terminate", `"done"`)
	want(t, w, "/entries", `["flight","plain","undo flight-1 F1 Instance terminated during rollback flight 1"]`)
	want(t, w, "/status", ended)
	want(t, w, "/terminate", `"WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state"`)
	w.Advance(31 * 24 * time.Hour)
	want(t, w, "/entries", `["flight","plain","undo flight-1 F1 Instance terminated during rollback flight 1"]`)
}

// A rollback that terminate() asked for goes on after a death at any commit.
func TestTerminateAcrossDeaths(t *testing.T) {
	for n := 1; ; n++ {
		seen, armed := 0, false
		w := trips(t, minidotest.Options{Kill: func(p killpoint.Point) bool {
			if armed && p.Kind == killpoint.Commit {
				seen++
			}
			return armed && p.Kind == killpoint.Commit && seen == n
		}})
		get(w, "/create?waits")
		w.Advance(time.Minute)
		armed = true
		over := false
		timer := w.Clock().AfterFunc(time.Hour, func() { over = true })
		w.Send("GET", "http://localhost/terminate", "")
		if err := w.Until(func() bool { return over }); err != nil && !errors.Is(err, minidotest.ErrKilled) {
			t.Fatal(err)
		}
		timer.Stop()
		if !w.Dead() {
			if n < 5 {
				t.Errorf("only %d commits", n-1)
			}
			return
		}
		w = w.Revive()
		w.Advance(time.Minute)
		get(w, "/terminate") // it did not come, or is done
		want(t, w, "/status", ended)
		got := get(w, "/entries")
		again := strings.Replace(got, `,"undo flight-1 F1 Instance terminated during rollback flight 1"`, "", 1)
		if got != `["flight","plain","undo flight-1 F1 Instance terminated during rollback flight 1"]` && !strings.HasPrefix(again, `["flight","plain","undo flight-1 F1 Instance terminated during rollback flight `) {
			t.Errorf("commit %d: %s", n, got)
		}
	}
}
