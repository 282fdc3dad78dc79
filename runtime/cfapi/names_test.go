package cfapi_test

import (
	"testing"
	"time"

	"minido.dev/minido/runtime/minidotest"
)

// namesWorker asks which stubs give an object its ctx.id.name (docs/semantics.md 8).
const namesWorker = `
export class A extends DurableObject {
  n() { return this.ctx.id.name; }
  die() { this.ctx.abort("die"); }
  arm(ms) { return this.ctx.storage.setAlarm(Date.now() + ms); }
  alarm() { this.ctx.storage.kv.put("n", this.ctx.id.name ?? "none"); }
  seen() { return this.ctx.storage.kv.get("n"); }
}
export class B extends DurableObject { n() { return "B"; } }
const unnamed = (env, n) => env.A.get(env.A.idFromString(env.A.idFromName(n).toString()));
export default serve({
  async names(env) {
    const N = env.A, out = [];
    out.push(await unnamed(env, "a").n(), await N.getByName("a").n()); await attempt(() => unnamed(env, "a").die());
    out.push(await N.getByName("a").n(), await unnamed(env, "a").n()); await attempt(() => unnamed(env, "a").die());
    out.push(await unnamed(env, "a").n());
    return out;
  },
  async foreign(env) {
    const id = env.B.idFromName("z"), stub = env.A.get(id);
    return [await stub.n(), stub.id === id, (await attempt(() => env.A.idFromString(String(id)))).err?.message];
  },
  async alarms(env) {
    const out = []; await env.A.getByName("c").arm(20); await unnamed(env, "d").arm(20); await scheduler.wait(200);
    for (const n of ["c", "d"]) out.push(await unnamed(env, n).seen(), await env.A.getByName(n).n());
    await env.A.getByName("e").arm(300); await attempt(() => unnamed(env, "e").die()); await scheduler.wait(500); out.push(await unnamed(env, "e").seen(), await unnamed(env, "e").n());
    return out;
  },
  async of(env, ctx, n, method, ...args) { return await unnamed(env, n)[method](...args); },
});
`

// The name outlives evictions, also where an unnamed stub or an alarm wakes
// the object.
func TestNamesSurviveEviction(t *testing.T) {
	w := minidotest.NewWorker(t, namesWorker, minidotest.Options{Idle: 10 * time.Second})
	w.Want(`{"ok":"b"}`, "A/b/n")
	w.Want(`{"ok":null}`, "A/b/arm", 60000)
	w.Want(`{"ok":null}`, "!of", "u", "n")
	w.Want(`{"ok":null}`, "!of", "u", "arm", 60000)
	w.Advance(30 * time.Second)
	if n := w.Server.LiveObjects(); n != 0 {
		t.Fatalf("%d objects in memory", n)
	}
	w.Want(`{"ok":"b"}`, "!of", "b", "n")
	w.Want(`{"ok":null}`, "A/u/n")
	w = w.Restart() // alarms find the objects asleep
	w.Advance(time.Minute)
	w.Want(`{"ok":"b"}`, "!of", "b", "seen")
	w.Want(`{"ok":"none"}`, "!of", "u", "seen")
}
