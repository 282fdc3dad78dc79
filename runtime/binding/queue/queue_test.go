package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

const worker = `
import { DurableObject } from "cloudflare:workers";
const log = [];
export class Ledger extends DurableObject {
  add(entry) { this.ctx.storage.kv.put("entries", [...this.entries(), entry]); }
  entries() { return this.ctx.storage.kv.get("entries") ?? []; }
}
const attempt = async (fn) => {
  try { return JSON.stringify(await fn()); } catch (e) { return e.name + ": " + e.message; }
};
export default {
  async fetch(req, env) {
    const u = new URL(req.url);
    if (u.pathname === "/log") return new Response(log.join("\n"));
    const ledger = env.LEDGER.getByName("l");
    if (u.pathname === "/entries") return Response.json(await ledger.entries());
    if (u.pathname === "/acknowledged") {
      await env.JOBS.send("one");
      await env.JOBS.sendBatch([{ body: "never" }, { body: "two" }]);
      return new Response("sent");
    }
    if (u.pathname === "/send") {
      const Q = env[u.searchParams.get("q") ?? "JOBS"];
      return new Response(await attempt(() => does[+u.searchParams.get("do")](Q)));
    }
    return new Response("?", { status: 404 });
  },
  async queue(batch, env, ctx) {
    const seen = [];
    for (const m of batch.messages) {
      const body = m.body instanceof ArrayBuffer ? "buffer " + new Uint8Array(m.body) : m.body instanceof Map ? "map " + [...m.body] : JSON.stringify(m.body);
      seen.push(body + "*" + m.attempts);
      if (m.body === "later" && m.attempts === 1) m.retry({ delaySeconds: 60 });
      if (m.body === "never" && batch.queue === "jobs") m.retry();
      if (m.body === "kept") m.ack();
      if (m.body === "late" && m.attempts === 1) ctx.waitUntil(scheduler.wait(20).then(() => { throw new Error("late"); }));
      if (m.body === "again" && m.attempts === 1) ctx.waitUntil(scheduler.wait(20).then(() => m.retry()));
      if (env.RECORD) await env.LEDGER.getByName("l").add(batch.queue + " " + m.body);
    }
    log.push(batch.queue + " [" + seen.join(", ") + "]");
    if (batch.messages.some((m) => m.body === "throw")) throw new Error("thrown");
  },
};`

const configuration = `{"name": "q", "main": "worker.js", "compatibility_date": "2026-03-20", "durable_objects": {"bindings": [{"name": "LEDGER", "class_name": "Ledger"}]},
"migrations": [{"tag": "v1", "new_sqlite_classes": ["Ledger"]}], "queues": {
  "producers": [{"binding": "JOBS", "queue": "jobs"}, {"binding": "LATE", "queue": "jobs", "delivery_delay": 30}, {"binding": "NOBODY", "queue": "nobody"}],
  "consumers": [{"queue": "jobs", "max_batch_size": 4, "max_batch_timeout": 5, "max_retries": 1, "dead_letter_queue": "dead"}, {"queue": "dead"}]
}}`

// world is a server with queues; does are what its worker can be asked to do to
// one, as JavaScript behind "Q.".
type world struct {
	*minidotest.World
	does []string
}

func open(t *testing.T, o minidotest.Options, does ...string) *world {
	source := worker + "\nconst does = ["
	for _, do := range does {
		source += "(Q) => Q." + do + ",\n"
	}
	return &world{minidotest.NewWorldFrom(t, map[string]string{"worker.js": source + "];", "wrangler.json": configuration}, o), does}
}

func (w *world) send(queue, do string) string {
	w.T().Helper()
	n := slices.Index(w.does, do)
	if n < 0 {
		w.T().Fatalf("the worker cannot %s", do)
	}
	return w.Do("GET", fmt.Sprintf("http://localhost/send?q=%s&do=%d", queue, n), "").Text()
}

func (w *world) log() string { return w.Do("GET", "http://localhost/log", "").Text() }

// The answers and errors of send and sendBatch are the reference's (wrangler dev
// with the same worker).
func TestSendAnswers(t *testing.T) {
	cases := [][2]string{
		{`send({a: 1})`, `{"metadata":{"metrics":{"backlogCount":0,"backlogBytes":0}}}`},
		{`send(undefined)`, `TypeError: Message body cannot be undefined`},
		{`send()`, `TypeError: Failed to execute 'send' on 'WorkerQueue': parameter 1 is not of type 'Value'.`},
		{`send(1, {contentType: "text"})`, `TypeError: Content Type "text" requires a value of type string, but received: number`},
		{`send(new ArrayBuffer(2), {contentType: "bytes"})`, `TypeError: Content Type "bytes" requires a value of type ArrayBufferView, but received: object`},
		{`send(() => 1, {contentType: "v8"})`, `DataCloneError: () => 1 could not be cloned.`},
		{`send(() => 1)`, `Error: Unknown Internal Error (15000)`},
		{`send(1n)`, `TypeError: Do not know how to serialize a BigInt`},
		{`send(1, {contentType: "xml"})`, `TypeError: Unsupported queue message content type: xml`},
		{`send(1, {delaySeconds: -1})`, `Error: Unknown Internal Error (15000)`},
		{`send(1, {delaySeconds: 100000})`, `Error: Unknown Internal Error (15000)`},
		{`send("x".repeat(128001), {contentType: "text"})`, `Error: Unknown Internal Error (15000)`},
		{`sendBatch([])`, `TypeError: sendBatch() requires at least one message`},
		{`sendBatch([{}])`, `TypeError: Message body cannot be undefined`},
		{`sendBatch([1])`, `TypeError: Incorrect type: the provided value is not of type 'MessageSendRequest'.`},
		{`sendBatch(1)`, `TypeError: Failed to execute 'sendBatch' on 'WorkerQueue': parameter 1 is not of type 'Sequence'.`},
		{`sendBatch(Array(101).fill({body: 1}))`, `Error: Unknown Internal Error (15000)`},
		{`sendBatch(Array(3).fill({body: "x".repeat(100000), contentType: "text"}))`, `Error: Unknown Internal Error (15000)`},
		{`constructor.name`, `"WorkerQueue"`},
	}
	does := []string{"metrics()"}
	for _, c := range cases {
		does = append(does, c[0])
	}
	w := open(t, minidotest.Options{}, does...)
	for _, c := range cases {
		if got := w.send("JOBS", c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
	if got := w.send("JOBS", `metrics()`); !strings.HasPrefix(got, `{"backlogCount":1,"backlogBytes":7,"oldestMessageTimestamp":"20`) {
		t.Errorf("metrics: %s", got)
	}
}

// Batches are delivered when they are full or their first message has waited;
// messages are retried after their delay, and end in the dead letter queue.
func TestDelivery(t *testing.T) {
	first := `sendBatch([{body: {a: 1}}, {body: new Uint8Array([1, 2]), contentType: "bytes"}, {body: new Map([[1, 2]]), contentType: "v8"}])`
	second := `sendBatch([{body: "later"}, {body: "never"}, {body: "kept"}, {body: "x", contentType: "text"}])`
	w := open(t, minidotest.Options{}, first, second, `send("throw")`, `send(1)`)
	want := func(after time.Duration, lines ...string) {
		t.Helper()
		w.Advance(after)
		if got := w.log(); got != strings.Join(lines, "\n") {
			t.Errorf("after another %v: %q, want %q", after, got, lines)
		}
	}
	w.send("JOBS", first)
	want(4 * time.Second)
	one := `jobs [{"a":1}*1, buffer 1,2*1, map 1,2*1]`
	want(2*time.Second, one)
	w.send("JOBS", second)
	two := `jobs ["later"*1, "never"*1, "kept"*1, "x"*1]`
	want(0, one, two) // it is full
	three := `jobs ["never"*2]`
	dead := `dead ["never"*1]`
	want(7*time.Second, one, two, three, dead)
	four := `jobs ["later"*2]`
	want(50*time.Second, one, two, three, dead)
	want(10*time.Second, one, two, three, dead, four)
	w.send("LATE", `send("throw")`)
	want(34*time.Second, one, two, three, dead, four)
	five := `jobs ["throw"*1]`
	want(2*time.Second, one, two, three, dead, four, five)
	if got := w.send("NOBODY", `send(1)`); !strings.HasPrefix(got, `{"metadata"`) {
		t.Errorf("a queue that nobody consumes: %s", got)
	}
}

// What waitUntil holds belongs to the batch: it can fail it, and say what becomes of a
// message. By the flag only the handler does.
func TestWaitUntilOfBatches(t *testing.T) {
	late, again := `sendBatch([{body: "late"}, {body: "other"}])`, `sendBatch([{body: "again"}, {body: "other"}])`
	for flags, want := range map[string][]string{
		``: {`jobs ["late"*1, "other"*1]`, `jobs ["late"*2, "other"*2]`, `jobs ["again"*1, "other"*1]`, `jobs ["again"*2]`},
		`"queue_consumer_no_wait_for_wait_until"`: {`jobs ["late"*1, "other"*1]`, `jobs ["again"*1, "other"*1]`},
	} {
		source := worker + "\nconst does = [(Q) => Q." + late + ", (Q) => Q." + again + "];"
		w := &world{minidotest.NewWorldFrom(t, map[string]string{"worker.js": source,
			"wrangler.json": strings.Replace(configuration, `"name"`, `"compatibility_flags": [`+flags+`], "name"`, 1)}, minidotest.Options{}), []string{late, again}}
		for _, do := range w.does {
			w.send("JOBS", do)
			w.Advance(20 * time.Second)
		}
		if got := w.log(); got != strings.Join(want, "\n") {
			t.Errorf("flags [%s]: %q, want %q", flags, got, want)
		}
	}
}

// Whatever was acknowledged is delivered, and ends in the dead letter queue if it
// is never accepted, after a death of the process or of the machine at any effect
// point of sending, delivering and burying. Nothing is left over.
func TestDeathAtEveryPoint(t *testing.T) {
	minidotest.EachDeath(t, func(t *testing.T, d minidotest.Death) {
		o := d.With(minidotest.Options{Vars: []string{"RECORD:yes"}})
		play := func(w *minidotest.World) (acknowledged bool) {
			r := w.Send("GET", "http://localhost/acknowledged", "")
			over := false
			w.Clock().AfterFunc(time.Minute, func() { over = true })
			if err := w.Until(func() bool { return over }); err != nil && !w.Dead() {
				t.Fatal(err)
			}
			return r.Done() && r.Status == 200
		}
		want := func(where string, w *minidotest.World, entries ...string) {
			t.Helper()
			got := w.Do("GET", "http://localhost/entries", "").Text()
			for _, entry := range entries {
				if !strings.Contains(got, entry) {
					t.Errorf("%s: %s was acknowledged, and not delivered: %s", where, entry, got)
				}
			}
		}
		all := []string{"jobs one", "jobs two", "jobs never", "dead never"}
		first := open(t, o, "metrics()").World
		if !play(first) {
			t.Fatal("nothing was sent")
		}
		want("alive", first, all...)
		deaths := 0
		points := first.Logged(" point ")
		for i, line := range points {
			n := i + 1
			if !strings.Contains(line, ":before(") {
				continue // a death at an after-side leaves what one at the next before-side leaves
			}
			if d.LosesPower() && !strings.Contains(line, "commit:") && !strings.Contains(line, "index:") {
				continue // between two commits a disk loses the same
			}
			o := o
			o.Kill = func(p killpoint.Point) bool { return p.Number == n }
			w := first.Again(o)
			acknowledged := play(w)
			if !w.Dead() {
				w.Stop()
				continue
			}
			deaths++
			where := w.Logged("killed at")[0]
			w = w.Revive()
			w.Advance(time.Minute)
			if acknowledged {
				want(where, w, all...)
			}
			if got := w.Do("GET", "http://localhost/send?do=0", "").Text(); !strings.HasPrefix(got, `{"backlogCount":0,`) {
				t.Errorf("%s: a minute later the backlog is %s", where, got)
			}
			w.Stop()
		}
		if deaths < 8 {
			t.Errorf("%d deaths at %d points", deaths, len(points))
		}
	})
}
