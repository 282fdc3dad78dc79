package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// What no golden has: an object takes 32,768 sockets and no more (docs/semantics.md 24);
// transaction() begins when the open implicit transaction has committed, so its
// rollback leaves what was written before (34).
func TestSocketLimitAndTransactionOrder(t *testing.T) {
	w := minidotest.NewWorker(t, `
export class N extends DurableObject {
  sockets() {
    for (let i = 0; i < 32768; i++) this.ctx.acceptWebSocket(new WebSocketPair()[0]);
    try { this.ctx.acceptWebSocket(new WebSocketPair()[0]); return "accepted"; } catch (e) { return [this.ctx.getWebSockets().length, String(e)]; }
  }
  async order() {
    const s = this.ctx.storage;
    s.put("before", 1);
    s.sql.exec("CREATE TABLE t(a)");
    await s.transaction(async (txn) => { await txn.put("inside", 1); s.sql.exec("INSERT INTO t VALUES (1)"); txn.rollback(); });
    return [[...(await s.list()).keys()], s.sql.exec("SELECT count(*) AS n FROM t").one().n];
  }
}
export default serve({});`, minidotest.Options{})
	w.Want(`{"ok":[32768,"Error: only 32768 websockets can be accepted on a single Durable Object instance"]}`, "N/a/sockets")
	w.Want(`{"ok":[["before"],0]}`, "N/b/order")
}
