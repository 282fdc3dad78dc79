package minidotest

import (
	"fmt"
	"testing"
)

// ownershipWorker passes stubs in calls and says what the caller can do with them then, and
// what kind of member hasSubscribers is.
const ownershipWorker = `
import { DurableObject, RpcTarget, RpcStub } from "cloudflare:workers";
import dc from "node:diagnostics_channel";
class T extends RpcTarget { n = 0; inc() { return ++this.n; } }
export class O extends DurableObject {
  make() { return new T(); }
  take(s) { return s.inc(); }
  async takeTwo(a, b) { return [await a.inc(), await b.inc()]; }
  proxy(s) { return this.env.O.getByName("c").take(s); }
  nested(o) { return o.x.inc(); }
}
const attempt = async (f) => { try { return await f(); } catch (e) { return String(e.message).slice(0, 38); } };
export default { async fetch(r, env) {
  const a = env.O.getByName("a"), b = env.O.getByName("b"), out = [];
  const own = new RpcStub(new T());
  out.push(await attempt(() => b.take(own)), await attempt(() => b.take(own)));
  for (const call of [(s) => b.take(s), (s) => b.proxy(s), (s) => b.takeTwo(s, s), (s) => b.nested({ x: s }), (s) => b.takeTwo(s, new (class X {})()), (s) => b.take(s.dup())]) {
    const s = await a.make();
    out.push([await attempt(() => call(s)), await attempt(() => s.inc())]);
  }
  const outer = await a.make(), inner = await a.make(), after = await a.make(); // a getter of the arguments makes a call
  let within;
  out.push(await attempt(() => b.takeTwo(outer, { get inc() { within = b.take(inner); return () => 7; }, after })), await attempt(() => within), await attempt(() => outer.inc()), await attempt(() => after.inc()));
  const target = new T();
  out.push(await b.take(target), await b.take(target));
  const channel = dc.channel("x"), tracing = dc.tracingChannel("y");
  channel.subscribe(() => {});
  out.push(typeof channel.hasSubscribers, typeof tracing.hasSubscribers, dc.hasSubscribers("x"), dc.hasSubscribers("y"));
  return new Response(JSON.stringify(out));
} };`

// Before rpc_params_dup_stubs a stub in the arguments of a call passes to the callee, as
// workerd 1.2026 has it with these dates; before diagnostics_channel_has_subscribers_getter
// hasSubscribers is a method.
func TestStubsInArguments(t *testing.T) {
	gone := `"RPC stub used after being disposed."`
	refused := `"Could not serialize object of type \"X\""`
	for date, want := range map[string]string{
		"2025-10-01": fmt.Sprintf(`[1,%[1]s,[1,%[1]s],[1,%[1]s],[[1,2],%[1]s],[1,%[1]s],[%[2]s,%[1]s],[1,2],[1,7],1,%[1]s,%[1]s,1,2,"function","function",true,false]`, gone, refused),
		"2026-06-01": fmt.Sprintf(`[1,2,[1,2],[1,2],[[1,2],3],[1,2],[%s,1],[1,2],[1,7],1,2,1,1,2,"boolean","boolean",true,false]`, refused),
	} {
		t.Run(date, func(t *testing.T) {
			w := NewWorldFrom(t, map[string]string{"worker.js": ownershipWorker, "wrangler.json": fmt.Sprintf(`{"name": "test", "main": "worker.js", "compatibility_date": %q,
				"compatibility_flags": ["nodejs_compat"], "durable_objects": {"bindings": [{"name": "O", "class_name": "O"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["O"]}]}`, date)}, Options{})
			if got := w.Do("GET", "http://localhost/", "").Body; got != want {
				t.Errorf("%s\nand not\n%s", got, want)
			}
		})
	}
}
