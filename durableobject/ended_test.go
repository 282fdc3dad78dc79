package durableobject_test

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// Code that goes on after its object has ended, or ends it in the middle of an
// operation, gets errors; the isolate and its other objects are unharmed.
func TestCodeOfEndedObjects(t *testing.T) {
	w := minidotest.NewWorker(t, `
let lives = 0;
const quiet = (fn) => { try { return fn(); } catch (e) { return e.message; } };
export class E extends DurableObject {
  constructor(ctx, env) { super(ctx, env); lives++; }
  die() { quiet(() => this.ctx.abort("over")); return 1; }
  async after(what) {
    const { storage, id } = this.ctx, { sql, kv } = storage;
    const cursor = sql.exec("SELECT 1 UNION ALL SELECT 2"), list = kv.list();
    const dying = { get a() { me.die(); return 1; }, toString() { me.die(); return "SELECT 1"; }, valueOf() { me.die(); return 1; } };
    const me = this;
    const ws = Object.values(new WebSocketPair())[0];
    const all = {
      put: () => storage.put("k", dying), putMany: () => storage.put(dying), list: () => storage.list({ prefix: dying }), get: () => storage.get(dying),
      kvPut: () => kv.put("k", dying), kvPutKey: () => kv.put(dying, 1), kvList: () => kv.list({ get limit() { me.die(); return 1; } }), exec: () => sql.exec(dying), bind: () => sql.exec("SELECT ?", dying),
      transactionSync: () => storage.transactionSync(() => { me.die(); kv.put("x", 1); }),
      transaction: () => storage.transaction(async (txn) => { me.die(); await txn.put("x", 1); }),
      transactionLate: () => storage.transaction(async (txn) => { await txn.put("x", 1); await scheduler.wait(1); me.die(); }),
      transactionRollback: () => storage.transaction(async (txn) => { me.die(); txn.rollback(); }),
      block: () => this.ctx.blockConcurrencyWhile(async () => { me.die(); }),
      blockLate: () => this.ctx.blockConcurrencyWhile(async () => { await scheduler.wait(1); me.die(); throw new Error("late"); }),
      cursor: () => { me.die(); return cursor.next(); }, iterate: () => { me.die(); return [...cursor]; }, raw: () => { const r = cursor.raw(); me.die(); return r.next(); }, kvIterate: () => { me.die(); return [...list]; },
      sync: () => { me.die(); return storage.sync(); }, deleteAll: () => { me.die(); return storage.deleteAll(); }, size: () => { me.die(); return sql.databaseSize; },
      alarm: () => { me.die(); return storage.setAlarm(Date.now() + 1000); }, timer: () => { me.die(); return setTimeout(() => {}, 1); }, fetch: () => { me.die(); return fetch("http://x.test/"); },
      stub: () => { me.die(); return this.env.E.getByName("other").count(); }, accept: () => { me.die(); return this.ctx.acceptWebSocket(ws); }, sockets: () => { me.die(); return this.ctx.getWebSockets(); },
      wait: () => { me.die(); return this.ctx.waitUntil(Promise.resolve()); }, facet: () => { me.die(); return this.ctx.facets.get("f", () => ({ class: this.ctx.exports.E })); }, again: () => { me.die(); return this.ctx.abort("again"); },
    };
    const r = await all[what]();
    return "went on: " + what;
  }
  async alarm() { await this.env.E.getByName("other").count(); this.die(); }
  arm() { return this.ctx.storage.setAlarm(Date.now() + 5); }
  count() { return lives; }
}
export default serve({});
`, minidotest.Options{})
	w.Want(`{"ok":1}`, "E/other/count")
	for _, what := range strings.Fields(`put putMany list get kvPut kvPutKey kvList exec bind transactionSync transaction transactionLate transactionRollback
block blockLate cursor iterate raw kvIterate sync deleteAll size alarm timer fetch stub accept sockets wait facet again`) {
		w.Want(`{"err":{"name":"Error","message":"over","durableObjectReset":true}}`, "E/"+what+"/after", what)
	}
	w.Call("E/alarmed/arm")
	w.Advance(1e9)
	for _, line := range append(w.Logged("restarted"), w.Logged("internal error")...) {
		t.Error(line)
	}
}

// Of several reasons for which an object ends the first counts.
func TestFirstEndCounts(t *testing.T) {
	w := minidotest.NewWorker(t, `
export class F extends DurableObject {
  constructor(ctx, env) { super(ctx, env); try { ctx.abort("first"); } catch {} throw new TypeError("second"); }
  call() {}
}
export default serve({});
`, minidotest.Options{})
	w.Want(`{"err":{"name":"Error","message":"first","durableObjectReset":true}}`, "F/a/call")
}
