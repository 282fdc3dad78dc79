package isolate_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// Code that nobody waits for sets timers behind the response: they are set, and never fire
// (workerd 1.20261117.1).
func TestTimersBehindTheResponse(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"w.js": `async function background() {
  for (let i = 0; i < 30; i++) await null;
  console.log("set", typeof setTimeout(() => console.log("fired"), 5), typeof setInterval(() => console.log("fired"), 5));
  await scheduler.wait(1);
  console.log("fired");
}
export default { fetch() { background().catch((e) => console.log("threw", e)); return new Response("x"); } };`,
		"wrangler.json": `{"name": "p", "main": "w.js", "compatibility_date": "2026-08-01"}`,
	}, minidotest.Options{})
	w.Do("GET", "http://localhost/", "").Text()
	w.Advance(1e9)
	if len(w.Logged("set number number")) != 1 || len(w.Logged("threw")) > 0 || len(w.Logged("fired")) > 0 {
		t.Error(w.Logged(""))
	}
}
