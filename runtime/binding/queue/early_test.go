package queue_test

import (
	"testing"
	"time"

	"minido.dev/minido/runtime/minidotest"
)

const earlyWorker = `
import { DurableObject } from "cloudflare:workers";
const sends = async (Q, n) => { const began = Date.now(); for (let i = 0; i < n; i++) await Q.send(i); return Date.now() - began; };
export class Caller extends DurableObject {
  async sends(n) { return sends(this.env.JOBS, n); }
}
export default {
  async fetch(req, env) {
    const began = Date.now();
    switch (new URL(req.url).pathname) {
      case "/three": return new Response(await sends(env.JOBS, 3));
      case "/put": {
        await sends(env.JOBS, 3);
        await env.KV.put("sent", "yes");
        return new Response(Date.now() - began);
      }
      case "/other": {
        await sends(env.JOBS, 1);
        await sends(env.OTHER, 1);
        return new Response(Date.now() - began);
      }
      case "/both": {
        await Promise.all([sends(env.JOBS, 1), sends(env.OTHER, 1)]);
        const told = Date.now() - began;
        return new Response(told);
      }
      case "/object": return new Response(await env.CALLER.getByName("c").sends(3));
    }
  },
  queue() {},
};`

const earlyConfiguration = `{"name": "q", "main": "worker.js", "compatibility_date": "2026-03-20", "kv_namespaces": [{"binding": "KV", "id": "kv"}],
"durable_objects": {"bindings": [{"name": "CALLER", "class_name": "Caller"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Caller"]}],
"queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}, {"binding": "OTHER", "queue": "other"}]}}`

// What a worker sends is committed when its promise resolves; what the worker shows of
// that, to its client, a KV namespace or another queue, waits until it is on disk. An
// object, which would write down what it was told, waits each time.
func TestSentBeforeItIsSynced(t *testing.T) {
	const syncTakes = 10 * time.Millisecond
	w := minidotest.NewWorldFrom(t, map[string]string{"worker.js": earlyWorker, "wrangler.json": earlyConfiguration},
		minidotest.Options{SyncFull: true, SyncTakes: syncTakes})
	ask := func(path string) (text string, took time.Duration) {
		began := w.Now()
		text = w.Do("GET", "http://localhost"+path, "").Text()
		return text, w.Now().Sub(began)
	}
	ask("/both") // the brokers exist
	ask("/object")
	for _, c := range []struct {
		path, text string
		least      time.Duration
	}{
		{"/three", "0", syncTakes},
		{"/put", "20", 2 * syncTakes}, // the put waits for the sync that covers the last message
		{"/other", "10", 2 * syncTakes},
		{"/both", "0", syncTakes},
		{"/object", "30", 3 * syncTakes},
	} {
		text, took := ask(c.path)
		if text != c.text || took < c.least || took > c.least+syncTakes {
			t.Errorf("%s: the worker waited for %s ms, want %s; it answered after %s, want %s and at most a sync more", c.path, text, c.text, took, c.least)
		}
	}
}
