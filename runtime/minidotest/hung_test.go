package minidotest

import (
	"strings"
	"testing"
	"time"
)

const hungWorker = `
import { DurableObject } from "cloudflare:workers";
const never = () => new Promise(() => {});
let settle; const shared = new Promise((resolve) => settle = resolve);
let slow;
export class O extends DurableObject {
  wait() { return new Promise((resolve) => this.resolve = resolve); }
  go() { this.resolve("went"); }
}
const paths = {
  at: never,
  later: () => scheduler.wait(50).then(never),
  body: (request) => request.text().then(never),
  stream: () => new ReadableStream().getReader().read(),
  unread: () => new IdentityTransformStream().writable.getWriter().write(new Uint8Array(1)),
  timer: () => new Promise(() => setTimeout(() => {}, 400)),
  waitUntil: (request, env, ctx) => { ctx.waitUntil(scheduler.wait(300)); return never(); },
  abandoned: (request, env, ctx) => { ctx.waitUntil(never()); return "answered"; },
  shared: () => shared,
  settle: () => { settle("settled"); return "done"; },
  slow: () => slow ??= scheduler.wait(200).then(() => "slow"),
  port: () => { const { port1, port2 } = new MessageChannel(); const got = new Promise((resolve) => port2.onmessage = (e) => resolve(e.data)); port1.postMessage("message"); return got; },
  ports: () => { const { port1, port2 } = new MessageChannel(); let n = 0; port2.onmessage = (e) => port2.postMessage(e.data); const got = new Promise((resolve) => port1.onmessage = (e) => e.data < 9 ? port1.postMessage(e.data + 1) : resolve("ports")); port1.postMessage(0); return got; },
  digest: () => crypto.subtle.generateKey({ name: "RSA-PSS", hash: "SHA-256", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]) }, true, ["sign"]).then(() => "key"),
  zip: () => new Response(new Blob(["zip"]).stream().pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))).text(),
  object: (request, env) => env.O.getByName("a").wait(),
  go: (request, env) => env.O.getByName("a").go(),
};
export default { async fetch(request, env, ctx) { return new Response(await paths[new URL(request.url).pathname.slice(1)](request, env, ctx)); } };
`

// A request whose promise nothing can settle is answered: the event has no
// timer, no operation in progress and no connection, nor has any other of the
// isolate (workerd, io/io-context.c++: "had hung and would never generate a
// response"). As long as something may still settle it, it is waited for.
func TestHungRequests(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{"worker.js": hungWorker,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": [{"name": "O", "class_name": "O"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["O"]}]}`}, Options{})
	for _, path := range strings.Fields("at later body stream unread timer waitUntil shared at") {
		start := w.Now()
		r := w.Do("POST", "http://localhost/"+path, "body")
		if r.Err == nil || r.Status != 500 || !strings.Contains(r.Err.Error(), "your Worker's code had hung") {
			t.Error(path, r.Status, r.Err, r.Body)
		}
		least := map[string]time.Duration{"later": 50, "timer": 400, "waitUntil": 300}[path] * time.Millisecond
		if took := w.Now().Sub(start); took < least || took > least+20*time.Millisecond {
			t.Errorf("%s was answered after %v, want %v", path, took, least)
		}
	}
	if logged := w.Logged("Uncaught Error: The Workers runtime canceled this request"); len(logged) != 9 {
		t.Errorf("nine requests hung, and the log has %q", logged)
	}
	for _, c := range [][2]string{{"abandoned", "answered"}, {"settle", "done"}, {"shared", "settled"}, {"slow", "slow"}, {"port", "message"}, {"ports", "ports"},
		{"digest", "key"}, {"zip", "zip"}} {
		if r := w.Do("GET", "http://localhost/"+c[0], ""); r.Err != nil || r.Status != 200 || r.Body != c[1] {
			t.Error(c[0], r.Status, r.Err, r.Body)
		}
	}
}

// What another request or an object will settle is waited for.
func TestWaitingIsNotHanging(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{"worker.js": hungWorker,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": [{"name": "O", "class_name": "O"}]}, "migrations": [{"tag": "1", "new_sqlite_classes": ["O"]}]}`}, Options{})
	first, second := w.Send("GET", "http://localhost/slow", ""), w.Send("GET", "http://localhost/slow", "")
	if err := w.Until(func() bool { return first.Done() && second.Done() }); err != nil {
		t.Fatal(err)
	}
	if first.Body != "slow" || second.Body != "slow" {
		t.Error(first.Status, first.Body, second.Status, second.Body)
	}
	waiting := w.Send("GET", "http://localhost/object", "")
	w.Advance(time.Second)
	if waiting.Done() {
		t.Fatal("a call of an object was not waited for", waiting.Status, waiting.Body)
	}
	w.Do("GET", "http://localhost/go", "")
	if err := w.Until(waiting.Done); err != nil || waiting.Body != "went" {
		t.Error(err, waiting.Status, waiting.Body)
	}
}
