package pool_test

import (
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/minidotest"
)

const updatedWorker = `
const said = [];
export class U extends DurableObject {
  st = this.ctx.storage;
  said() { return said.splice(0); }
  alarm() {}
  async late(what) {
    let over;
    await this.st.transaction(async (t) => { over = t; });
    if (what === "queued") this.ctx.blockConcurrencyWhile(() => scheduler.wait(5000));
    else await scheduler.wait(5000);
    const all = {
      queued: () => this.st.transaction(async () => { said.push("inside"); }),
      transaction: () => this.st.transaction(async () => { said.push("inside"); }),
      transactionSync: () => this.st.transactionSync(() => { said.push("inside"); }),
      over: () => over.get("k"), rollback: () => over.rollback(), sync: () => this.st.sync(), getAlarm: () => this.st.getAlarm(),
      setAlarm: () => this.st.setAlarm(Date.now() + 1000), deleteAlarm: () => this.st.deleteAlarm(), deleteAll: () => this.st.deleteAll(),
    };
    try { await all[what](); } catch (e) { said.push(e.message); }
    said.push("went on");
    return "went on";
  }
}
export default serve({});
`

// Whatever use of storage comes first after a code update ends the object's old instance, whose code hears so
// if it is told at once.
func TestStorageAfterAnUpdate(t *testing.T) {
	const updated = "Durable Object reset because its code was updated."
	for _, what := range strings.Fields("queued transaction transactionSync over rollback sync getAlarm setAlarm deleteAlarm deleteAll") {
		w := minidotest.NewWorker(t, updatedWorker, minidotest.Options{})
		late := w.Post("U/a/late", what)
		w.Advance(time.Second)
		if err := w.Act("U", "a", pool.Action{Verb: pool.Reset}); err != nil {
			t.Fatal(err)
		}
		if got := w.All(late)[0]; got != `{"err":{"name":"Error","message":"`+updated+`","durableObjectReset":true}}` {
			t.Errorf("%s: %s", what, got)
		}
		said := `["` + updated + `","went on"]`
		if what == "queued" || what == "transaction" {
			said = "[]" // what waits for the transaction hears nothing
		}
		w.Want(`{"ok":`+said+`}`, "U/b/said")
		for _, line := range append(w.Logged("restarted"), w.Logged("internal error")...) {
			t.Errorf("%s: %s", what, line)
		}
	}
}
