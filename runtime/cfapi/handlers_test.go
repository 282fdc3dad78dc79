package cfapi_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// By the flag a service's stub has queue() and scheduled(). The answers are those of
// wrangler dev with the same worker.
func TestExtraHandlers(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": `
import { WorkerEntrypoint } from "cloudflare:workers";
const seen = [], at = new Date(0);
export class Other extends WorkerEntrypoint {
  async scheduled(c) { seen.push([c.cron, c.constructor.name]); if (c.cron === "bad") throw new Error("bad"); }
  async queue(b) { b.messages[0].ack(); b.messages[1]?.retry({ delaySeconds: 3 }); }
}
const attempt = async (fn) => { try { return JSON.stringify(await fn()); } catch (e) { return e.name + ": " + e.message; } };
export default {
  async fetch(request, env) {
    const messages = [{ id: "1", timestamp: at, attempts: 1, body: { a: 1 } }, { id: "2", timestamp: at, attempts: 2, serializedBody: new Uint8Array([255, 15, 34, 1, 97]) }];
    const out = [];
    for (const fn of [
      () => env.OTHER.scheduled({ cron: "a", scheduledTime: new Date(5) }), () => env.OTHER.scheduled(), () => env.OTHER.scheduled({ cron: "bad" }),
      () => env.SELF.scheduled({ cron: "x", scheduledTime: new Date(5) }), () => env.OTHER.scheduled({ scheduledTime: 5 }),
      () => env.OTHER.queue("q", messages), () => env.SELF.queue("q", messages), () => env.SELF.queue("throw", messages),
      () => env.OTHER.queue("q", [{ id: "1" }]), () => env.OTHER.queue("q"), () => env.OTHER.queue("q", [{ id: "1", timestamp: at, attempts: 1 }]),
    ]) out.push(await attempt(fn));
    return new Response([...out, JSON.stringify(seen)].join("\n"));
  },
  async scheduled(c, env, ctx) { ctx.waitUntil(scheduler.wait(30).then(() => { seen.push([c.cron, +c.scheduledTime]); c.noRetry(); })); },
  async queue(b) { if (b.queue === "throw") throw new Error("thrown"); seen.push(b.messages.map((m) => [m.id, m.attempts, m.timestamp, m.body]), b.metadata.metrics); b.ackAll(); },
};`, "wrangler.json": `{"name": "g", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["service_binding_extra_handlers"],
  "services": [{"binding": "SELF", "service": "g"}, {"binding": "OTHER", "service": "g", "entrypoint": "Other"}]}`}, minidotest.Options{})
	const want = `{"outcome":"ok","noRetry":false}
{"outcome":"ok","noRetry":false}
{"outcome":"exception","noRetry":false}
{"outcome":"ok","noRetry":true}
TypeError: Incorrect type for the 'scheduledTime' field on 'ScheduledOptions': the provided value is not of type 'date'.
{"outcome":"ok","ackAll":false,"retryBatch":{"retry":false},"explicitAcks":["1"],"retryMessages":[{"msgId":"2","delaySeconds":3}]}
{"outcome":"ok","ackAll":true,"retryBatch":{"retry":false},"explicitAcks":[],"retryMessages":[]}
{"outcome":"exception","ackAll":false,"retryBatch":{"retry":false},"explicitAcks":[],"retryMessages":[]}
TypeError: Incorrect type for the 'timestamp' field on 'ServiceBindingQueueMessage': the provided value is not of type 'date'.
TypeError: Failed to execute 'queue' on 'Fetcher': parameter 2 is not of type 'Array'.
TypeError: Expected one of body or serializedBody for each message
[["a","ScheduledController"],["","ScheduledController"],["bad","ScheduledController"],["x",5],[["1",1,"1970-01-01T00:00:00.000Z",{"a":1}],["2",2,"1970-01-01T00:00:00.000Z","a"]],{"backlogCount":0,"backlogBytes":0}]`
	if got := w.Do("GET", "http://localhost/", "").Text(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
