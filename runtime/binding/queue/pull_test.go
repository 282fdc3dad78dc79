package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/binding/queue"
	"minido.dev/minido/runtime/minidotest"
)

type pulled struct {
	Backlog  int `json:"message_backlog_count"`
	Messages []struct {
		ID, Body string
		Attempts int
		Lease    string            `json:"lease_id"`
		Metadata map[string]string `json:"metadata"`
	}
}

func pull(t *testing.T, w *minidotest.World, name string, size int) (p pulled) {
	t.Helper()
	answer, err := w.AskQueue(name, queue.Ask{Op: "pull", BatchSize: &size})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// show is the bodies, content types and attempts of messages.
func (p pulled) show() string {
	var all []string
	for _, m := range p.Messages {
		all = append(all, fmt.Sprintf("%s %s %d", m.Body, m.Metadata["CF-Content-Type"], m.Attempts))
	}
	return strings.Join(all, ", ")
}

// A pull consumer gets each message with a lease: what it acknowledges is gone, what
// it does not is visible again when the lease is over, also after a restart, and goes
// to the dead letter queue after the last attempt.
func TestPull(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(req, env) {
  await env.Q.send("text", { contentType: "text" });
  await env.Q.send({ a: 1 });
  await env.Q.send(new Uint8Array([1, 2]), { contentType: "bytes" });
  return new Response("sent");
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "queues": {"producers": [{"binding": "Q", "queue": "q"}],
"consumers": [{"queue": "q", "type": "http_pull", "visibility_timeout_ms": 5000, "max_retries": 1, "dead_letter_queue": "dead"}, {"queue": "dead", "type": "http_pull"}]}}`,
	}, minidotest.Options{})
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("sent", w.Do("GET", "http://localhost/", "").Body, "sent")
	first := pull(t, w, "q", 2)
	want("first", first.show(), "text text 1, eyJhIjoxfQ== json 1")
	want("rest", pull(t, w, "q", 10).show(), "AQI= bytes 1")
	want("nothing is left", pull(t, w, "q", 10).show(), "")

	answer, err := w.AskQueue("q", queue.Ask{Op: "ack", Acks: json.RawMessage(`[{"lease_id": "` + first.Messages[0].Lease + `"}, {"lease_id": "none"}]`),
		Retries: json.RawMessage(`[{"lease_id": "` + first.Messages[1].Lease + `", "delay_seconds": 1}]`)})
	if err != nil {
		t.Fatal(err)
	}
	want("acknowledged", answer, `{"ackCount":1,"retryCount":1,"warnings":{"none":"the lease is not known, or is over"}}`)
	w.Advance(time.Second)
	want("retried", pull(t, w, "q", 10).show(), "eyJhIjoxfQ== json 2")
	w = w.Restart()
	w.Advance(5 * time.Second)
	want("visible again", pull(t, w, "q", 10).show(), "AQI= bytes 2") // the other one has had its attempts
	w.Advance(time.Second)
	want("dead", pull(t, w, "dead", 10).show(), "eyJhIjoxfQ== json 1")

	if _, err := w.AskQueue("nobody", queue.Ask{Op: "pull"}); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("an unknown queue: %v", err)
	}
}

// Messages come in the order in which they are due, those that are due since they came
// among those that were delayed; one that is put back at the instant of its coming is
// seen again.
func TestPullOrder(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(req, env) {
  const url = new URL(req.url);
  for (const text of url.searchParams.getAll("m")) {
    const [body, delaySeconds] = text.split(",");
    await env.Q.send(body, { contentType: "text", delaySeconds: +(delaySeconds ?? 0) });
  }
  return new Response("sent");
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "queues": {"producers": [{"binding": "Q", "queue": "q"}],
"consumers": [{"queue": "q", "type": "http_pull", "visibility_timeout_ms": 60000, "max_retries": 9}]}}`,
	}, minidotest.Options{})
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	w.Do("GET", "http://localhost/?m=a,10&m=b&m=c,5&m=d", "")
	first := pull(t, w, "q", 1)
	want("first", first.show(), "b text 1")
	want("second", pull(t, w, "q", 1).show(), "d text 1")
	if _, err := w.AskQueue("q", queue.Ask{Op: "ack", Retries: json.RawMessage(`[{"lease_id": "` + first.Messages[0].Lease + `", "delay_seconds": 0}]`)}); err != nil {
		t.Fatal(err)
	}
	want("put back", pull(t, w, "q", 10).show(), "b text 2")
	w.Advance(20 * time.Second)
	w.Do("GET", "http://localhost/?m=e", "")
	want("in order", pull(t, w, "q", 10).show(), "c text 1, a text 1, e text 1")
}

// A paused queue delivers nothing, also after a restart, until it is resumed.
func TestPause(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `import { DurableObject } from "cloudflare:workers";
export class Log extends DurableObject { add(x) { this.ctx.storage.kv.put("n", this.get() + x); } get() { return this.ctx.storage.kv.get("n") ?? 0; } }
export default {
  async fetch(req, env) {
    if (req.url.endsWith("/send")) await env.Q.send(1);
    return Response.json(await env.Log.getByName("l").get());
  },
  async queue(batch, env) { await env.Log.getByName("l").add(batch.messages.length); },
};`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01", "queues": {"producers": [{"binding": "Q", "queue": "q"}], "consumers": [{"queue": "q"}]},
"durable_objects": {"bindings": [{"name": "Log", "class_name": "Log"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Log"]}]}`,
	}, minidotest.Options{})
	seen := func(want string) {
		t.Helper()
		w.Advance(10 * time.Second)
		if got := w.Do("GET", "http://localhost/", "").Body; got != want {
			t.Errorf("delivered %s, want %s", got, want)
		}
	}
	if _, err := w.AskQueue("q", queue.Ask{Op: "pause"}); err != nil {
		t.Fatal(err)
	}
	w.Do("GET", "http://localhost/send", "")
	seen("0")
	w = w.Restart()
	seen("0")
	if _, err := w.AskQueue("q", queue.Ask{Op: "resume"}); err != nil {
		t.Fatal(err)
	}
	seen("1")
}
