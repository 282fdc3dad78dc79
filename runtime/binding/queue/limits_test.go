package queue_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// What is too large is refused with its size and the limit (wrangler 4.164.0, before
// queue_expose_error_codes).
func TestTooLarge(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `export default { async fetch(request, { Q }) {
  const out = [], tries = [
    () => Q.send("x".repeat(128000)),
    () => Q.sendBatch([{ body: "x".repeat(128000) }]),
    () => Q.sendBatch(Array(101).fill({ body: 1 })),
    () => Q.sendBatch(Array(3).fill({ body: "x".repeat(99998) })),
  ];
  for (const f of tries) try { await f(); out.push("sent"); } catch (e) { out.push(e.message); }
  return Response.json(out);
} };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2025-11-01", "queues": {"producers": [{"binding": "Q", "queue": "q"}]}}`,
	}, minidotest.Options{})
	want := `["Queue send failed: message length of 128002 bytes exceeds limit of 128000",` +
		`"Queue sendBatch failed: message in batch has length 128002 bytes which exceeds single message size limit of 128000",` +
		`"Queue sendBatch failed: batch message count of 101 exceeds limit of 100",` +
		`"Queue sendBatch failed: batch size of 300000 bytes exceeds limit of 288000"]`
	if got := w.Do("GET", "http://localhost/", "").Body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
