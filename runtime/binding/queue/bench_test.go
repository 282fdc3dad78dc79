package queue_test

import (
	"fmt"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// What a message costs within one request: cloned, sent to the broker, stored and
// answered. b.N messages are sent one after the other.
func BenchmarkSend(b *testing.B) {
	w := minidotest.NewWorldFrom(b, map[string]string{
		"worker.js": `export default {
  async fetch(req, env) {
    const n = +new URL(req.url).searchParams.get("n");
    for (let i = 0; i < n; i++) await env.JOBS.send({ i, text: "hello" });
    return new Response("sent");
  },
}`,
		"wrangler.json": `{"name": "q", "main": "worker.js", "compatibility_date": "2026-03-20", "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}]}}`,
	}, minidotest.Options{})
	w.Do("GET", "http://localhost/?n=10", "")
	b.ResetTimer()
	const most = 5000 // a request may have 10,000 subrequests
	for left := b.N; left > 0; left -= most {
		if got := w.Do("GET", fmt.Sprintf("http://localhost/?n=%d", min(left, most)), "").Text(); got != "sent" {
			b.Fatal(got)
		}
	}
}
