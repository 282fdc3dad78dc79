package minidotest

import (
	"fmt"
	"strings"
	"testing"
)

const ownersWorker = `
let prom, res, log = [];
const make = { made: () => new Promise((r) => res = r), async: () => (async () => { await new Promise(() => {}); })(), derived: () => new Promise(() => {}).then(() => 1),
  all: () => Promise.all([new Promise(() => {})]), timer: () => scheduler.wait(1000), sub: () => new (class extends Promise {})(() => {}) };
const look = { await: async () => await prom, then: () => prom.then((v) => v), all: () => Promise.all([prom]), resolve: () => new Promise((r) => r(prom)), deep: async () => { const f = async () => { await prom; }; await f(); } };
export default { async fetch(request, env, ctx) {
  const [what, how] = new URL(request.url).pathname.slice(1).split("/");
  try {
    switch (what) {
    case "make": prom = make[how](); return new Response("made");
    case "look": return new Response("got " + await look[how]());
    case "wait": { prom = new Promise((r) => res = r); ctx.waitUntil(scheduler.wait(500)); const v = await prom; return new Response("waited " + v + await scheduler.wait(1)); }
    case "alive": prom = new Promise((r) => res = r); await scheduler.wait(300); return new Response("alive");
    case "then": prom.then(() => log.push("then of " + how)); return new Response("ok");
    case "settle": res("R"); return new Response(await scheduler.wait(20));
    case "log": return new Response(log.join());
    }
  } catch (e) { return new Response(e.constructor === Error ? e.message.slice(0, 70) : "another class"); }
} };`

// A promise that is pending belongs to the request that made it (workerd with and
// without handle_cross_request_promise_resolution, under wrangler 4.164.0).
func TestPromisesOfOtherRequests(t *testing.T) {
	world := func(date string) *World {
		return NewWorldFrom(t, map[string]string{"worker.js": ownersWorker,
			"wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.js", "compatibility_date": %q}`, date)}, Options{})
	}
	const ended = "This promise was created by a request that has since ended, so it can "
	w := world("2026-08-01")
	get := func(path string) string { return w.Do("GET", "http://localhost/"+path, "").Body }
	for _, how := range strings.Fields("made async derived all timer sub") {
		for _, look := range strings.Fields("await then all resolve deep") {
			if get("make/" + how); get("look/"+look) != ended {
				t.Errorf("%s, looked at with %s: %s", how, look, get("look/"+look))
			}
		}
	}
	// What settles it now is dropped, and said.
	get("make/made")
	if get("settle"); get("look/await") != ended || len(w.Logged("A promise was resolved or rejected from a different request context")) == 0 {
		t.Error("settled after its end:", get("look/await"), w.Logged("A promise"))
	}
	both := func(first, second string) (a, b string) {
		one := w.Send("GET", "http://localhost/"+first, "")
		if err := w.Until(func() bool { return w.Do("GET", "http://localhost/log", "").Status == 200 }); err != nil {
			t.Fatal(err)
		}
		b = get(second)
		if err := w.Until(one.Done); err != nil {
			t.Fatal(err)
		}
		if one.Err != nil {
			return one.Err.Error(), b
		}
		return one.Body, b
	}
	// While its request goes on it can be waited for, and who waits is told of its end.
	if a, b := both("alive", "look/await"); a != "alive" || b != ended {
		t.Error("of a request that ends:", a, b)
	}
	if a, b := both("wait", "settle"); a != "waited Rundefined" || b != "" {
		t.Error("settled by another request:", a, b)
	}

	w = world("2024-10-13")
	if a, b := both("wait", "settle"); !strings.Contains(a, "Promise will never complete.") || b != "" {
		t.Error("without the flag:", a, b)
	}
	get("make/made")
	if a, b := both("look/await", "settle"); a != "got R" || b != "" {
		t.Error("of an ended request, without the flag:", a, b)
	}
}
