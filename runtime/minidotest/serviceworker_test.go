package minidotest

import (
	"testing"
	"time"
)

// A worker in service-worker syntax is sloppy code, as wrangler bundles it; the answers are
// workerd's. What a worker exports is strict.
func TestScriptsAreSloppy(t *testing.T) {
	const body = `
  const out = [];
  out.push(typeof implied, (function () { return typeof this; })(), (function (a) { arguments[0] = 9; return a; })(1));
  try { Object.freeze([]).length = 2; out.push("silent"); } catch (e) { out.push(e.name); }
  try { (function () { "use strict"; unknown = 1; })(); } catch (e) { out.push(e.name); }
  return new Response(out.join());`
	script := NewWorldFrom(t, map[string]string{"worker.js": `
implied = 010;
var member; with ({ inner: 2 }) { member = inner; }
addEventListener("fetch", (event) => event.respondWith((() => {` + body + `})()));
addEventListener("fetch", () => { if (implied + member !== 10) throw new Error("with, or an octal number"); });
`, "wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`}, Options{})
	if got, want := script.Do("GET", "http://localhost/", "").Body, "number,object,9,silent,ReferenceError"; got != want {
		t.Errorf("a script: %s\nwant %s", got, want)
	}
	module := NewWorldFrom(t, map[string]string{"worker.js": `
export default { fetch() {` + body + `} };
`, "wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`}, Options{})
	if got, want := module.Do("GET", "http://localhost/", "").Body, "undefined,undefined,1,TypeError,ReferenceError"; got != want {
		t.Errorf("a module: %s\nwant %s", got, want)
	}
}

// waitUntil() of a ctx is that of the event which calls it, whichever the ctx was made for;
// one object serves all events of a handler by a flag. Both as workerd.
func TestContexts(t *testing.T) {
	for flags, want := range map[string]string{``: "false,waited", `"nonclass_entrypoint_reuses_ctx_across_invocations"`: "true,waited"} {
		w := NewWorldFrom(t, map[string]string{"worker.js": `
let first;
export default { async fetch(request, env, ctx) {
  first ??= ctx;
  let waited = "not called";
  try { first.waitUntil(scheduler.wait(1)); waited = "waited"; } catch (e) { waited = e.message; }
  return new Response([first === ctx, waited].join());
} };
`, "wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": [` + flags + `]}`}, Options{})
		w.Do("GET", "http://localhost/", "")
		if got := w.Do("GET", "http://localhost/", "").Body; got != want {
			t.Errorf("with the flags [%s]: %s\nwant %s", flags, got, want)
		}
	}
}

// Listeners take batches of queues and what happened to other workers' events; what
// waitUntil gets belongs to the event. The answers are those of wrangler dev.
func TestListeners(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{"worker.js": `
const seen = [], own = (o) => Object.getOwnPropertyNames(o).filter((name) => name !== "constructor").sort().join();
addEventListener("fetch", (event) => event.respondWith(answer(new URL(event.request.url).pathname)));
async function answer(path) {
  if (path === "/send") await JOBS.sendBatch([{ body: 1 }, { body: 2 }]);
  return new Response(seen.splice(0).join("\n"));
}
let tries = 0;
addEventListener("queue", (event) => {
  if (++tries === 1) seen.push([event.constructor.name, event instanceof ExtendableEvent, event.messages === event.messages, own(event), own(Object.getPrototypeOf(event)), typeof QueueEvent]);
  seen.push([event.type, event.queue, event.messages.map((m) => m.body + "*" + m.attempts), JSON.stringify(event.metadata)].join(" "));
  switch (tries) {
    case 1: return event.waitUntil(scheduler.wait(20).then(() => { event.messages[0].ack(); throw new Error("late"); }));
    case 2: return event.retryAll();
    case 3: throw new Error("thrown");
    case 4: return event.waitUntil(scheduler.wait(20).then(() => event.messages[0].retry()));
  }
});
for (const type of ["tail", "trace"]) addEventListener(type, (event) => {
  if (event.events[0].event.request.url.includes("told")) return;
  seen.push([type, event.type, event.constructor.name, own(event), event.events === event.events, event.events === event.traces, event.events[0] === event.traces[0], event.events[0].outcome]);
});`, "wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "compatibility_flags": ["queue_consumer_no_wait_for_wait_until"], "tail_consumers": [{"service": "test"}],
  "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs", "max_batch_timeout": 1, "max_retries": 9}]}}`}, Options{})
	for _, c := range []struct {
		path  string
		after time.Duration
		want  string
	}{
		{"/send", time.Minute, ""},
		{"/told", 0, `tail,tail,TailEvent,events,traces,true,false,true,ok
trace,trace,TailEvent,events,traces,true,false,true,ok
QueueEvent,true,true,messages,metadata,queue,ackAll,retryAll,undefined
queue jobs 1*1,2*1 {"metrics":{"backlogCount":0,"backlogBytes":0}}
queue jobs 1*2,2*2 {"metrics":{"backlogCount":0,"backlogBytes":0}}
queue jobs 1*3,2*3 {"metrics":{"backlogCount":0,"backlogBytes":0}}
queue jobs 1*4,2*4 {"metrics":{"backlogCount":0,"backlogBytes":0}}
queue jobs 1*5 {"metrics":{"backlogCount":0,"backlogBytes":0}}`},
	} {
		got := w.Do("GET", "http://localhost"+c.path, "").Text()
		w.Advance(c.after)
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.path, got, c.want)
		}
	}
}

// Events that nobody listens for fail with workerd's texts.
func TestNoListeners(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{"worker.js": `addEventListener("fetch", (event) => event.respondWith(JOBS.send(1).then(() => new Response("sent"))));`,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs", "max_retries": 1}]}}`}, Options{})
	w.Do("GET", "http://localhost/", "")
	w.Advance(time.Minute)
	w.Do("GET", "http://localhost/cdn-cgi/handler/scheduled", "")
	w.Do("GET", "http://localhost/cdn-cgi/handler/scheduled", "")
	w.Do("POST", "http://localhost/cdn-cgi/handler/email?from=a@example.com&to=b@example.com", "From: a@example.com\r\nTo: b@example.com\r\nMessage-ID: <1@example.com>\r\n\r\nhello\r\n")
	for text, times := range map[string]int{
		`Received a QueueEvent but we lack an event listener for queue events. Did you remember to call addEventListener("queue", ...)?`: 1,
		`No event listener registered for queue messages.`: 2,
		`Received a ScheduledEvent but we lack an event listener for scheduled events (a.k.a. Cron Triggers). Did you remember to call addEventListener("scheduled", ...)?`: 1,
		`No event listener registered for scheduled events.`:    2,
		`service-worker syntax (addEventListener) gets no mail`: 2, // the answer, and the terminal
	} {
		if got := len(w.Logged(text)); got != times {
			t.Errorf("%s: logged %d times, want %d", text, got, times)
		}
	}
}

// A worker whose handler of other workers' events has its earlier name, trace, gets them.
func TestTraceHandler(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{"worker.js": `
const seen = [];
export default { fetch: () => new Response(seen.join()), trace(events) { seen.push(events[0].outcome); } };`,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "tail_consumers": [{"service": "test"}]}`}, Options{})
	w.Do("GET", "http://localhost/", "")
	if got := w.Do("GET", "http://localhost/", "").Text(); got != "ok" {
		t.Errorf("seen: %q", got)
	}
}
