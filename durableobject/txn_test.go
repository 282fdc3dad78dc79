package durableobject_test

import (
	"testing"

	"minido.dev/minido/runtime/minidotest"
)

// txnWorker does with transactions what well-behaved code does not. What it notes is in the module's
// said, because an object that ends answers nobody.
const txnWorker = `
const said = [];
const note = async (what, fn) => { try { said.push([what, (await fn()) ?? null]); } catch (e) { said.push([what, e.message]); } };
const noteSync = (what, fn) => { try { said.push([what, fn() ?? null]); } catch (e) { said.push([what, e.message]); } };
export class X extends DurableObject {
  st = this.ctx.storage;
  said() { return said.splice(0); }
  alarm() {}
  get(k) { return this.st.get(k); }
  armed() { return this.st.getAlarm(); }
  die() { try { this.ctx.abort("over"); } catch {} }
  lose() { this.st.sql.exec("CREATE TABLE IF NOT EXISTS t(a); CREATE TRIGGER IF NOT EXISTS tr BEFORE INSERT ON t BEGIN SELECT raise(ROLLBACK, 'negative'); END"); try { this.st.sql.exec("INSERT INTO t VALUES(-1)"); } catch {} }
  async lengths() {
    let out;
    await this.st.transaction(async (t) => { out = Object.fromEntries(["get", "put", "delete", "list", "getAlarm", "setAlarm", "deleteAlarm", "deleteAll", "rollback"].map((m) => [m, t[m].length])); });
    return out;
  }
  async alarms() {
    const later = Date.now() + 3600e3, out = [];
    await this.st.transaction(async (t) => { await t.setAlarm(later); out.push(await t.getAlarm() === later); });
    out.push(await this.st.getAlarm() === later);
    await this.st.transaction(async (t) => { await t.deleteAlarm(); out.push(await t.getAlarm()); t.rollback(); out.push(await this.st.getAlarm() === later); });
    await attempt(() => this.st.transaction(async (t) => { await t.deleteAlarm(); throw new Error("no"); }));
    out.push(await this.st.getAlarm() === later);
    try { this.st.transactionSync(() => { this.st.deleteAlarm(); throw new RangeError("sync"); }); } catch (e) { out.push(e.message); }
    out.push(await this.st.getAlarm() === later);
    await this.st.transaction(async (t) => { await t.deleteAlarm(); });
    out.push(await this.st.getAlarm());
    return out;
  }
  async over() {
    let rolledBack, closed;
    const out = [];
    const why = async (fn) => { try { await fn(); out.push("allowed"); } catch (e) { out.push(e.message.slice(0, 60)); } };
    await this.st.transaction(async (t) => { rolledBack = t; t.rollback(); t.rollback(); await why(() => t.put("k", 1)); await why(() => t.put("k", 1, 5)); });
    await this.st.transaction(async (t) => { closed = t; });
    await why(() => rolledBack.get("k"));
    await why(() => closed.get("k"));
    await why(() => closed.rollback());
    return out;
  }
  async outer() {
    const later = Date.now() + 3600e3;
    const r = await this.st.transaction(async (outer) => {
      await outer.put("outer", 1);
      await outer.setAlarm(later);
      await this.st.transaction(async (inner) => {
        await inner.put("inner", 1);
        await note("rollback", () => outer.rollback());
        await note("armed", async () => await outer.getAlarm() === later);
      });
      await note("then", () => outer.put("then", 1));
      return "done";
    });
    return [r, ...(await this.st.list()).keys(), await this.st.getAlarm() === later, said.splice(0)];
  }
  async nested() {
    await this.st.transaction(async (a) => {
      await a.put("a", 1);
      await this.st.transaction(async (b) => { await b.put("b", 1); await this.st.transaction(async (c) => { await c.put("c", 1); c.rollback(); }); });
      this.st.transactionSync(() => this.st.kv.put("d", 1));
    });
    return [...(await this.st.list()).keys()];
  }
  async lostIn(how) {
    this.st.kv.put("before", 1);
    if (how === "sync") { this.lose(); noteSync(how, () => this.st.transactionSync(() => said.push("inside"))); }
    if (how === "syncEnd") noteSync(how, () => this.st.transactionSync(() => { this.lose(); return "done"; }));
    if (how === "syncThrow") noteSync(how, () => this.st.transactionSync(() => { this.lose(); throw new Error("mine"); }));
    if (how === "end") await note(how, () => this.st.transaction(async () => { this.lose(); return "done"; }));
    if (how === "throw") await note(how, () => this.st.transaction(async () => { this.lose(); throw new Error("mine"); }));
    if (how === "rollback") await this.st.transaction(async (t) => { this.lose(); noteSync(how, () => t.rollback()); });
    if (how === "nested") await this.st.transaction(async (t) => { this.lose(); await note(how, () => this.st.transaction(async () => "inside")); });
    return "went on";
  }
  async dies(how) {
    if (how === "sync") noteSync(how, () => this.st.transactionSync(() => { this.die(); return "done"; }));
    if (how === "syncThrow") noteSync(how, () => this.st.transactionSync(() => { this.die(); throw new Error("mine"); }));
    if (how === "async") await note(how, () => this.st.transaction(async () => { this.die(); return "done"; }));
    if (how === "asyncThrow") await note(how, () => this.st.transaction(async () => { this.die(); throw new Error("mine"); }));
    if (how === "block") await note(how, () => this.ctx.blockConcurrencyWhile(async () => { this.die(); return "done"; }));
    return "went on";
  }
}
export default serve({});
`

// The methods of a transaction count their arguments as storage's do, and its alarm is set, deleted
// and brought back with the rest.
func TestTransactionsHaveAlarms(t *testing.T) {
	w := minidotest.NewWorker(t, txnWorker, minidotest.Options{})
	w.Want(`{"ok":{"get":2,"put":3,"delete":2,"list":1,"getAlarm":1,"setAlarm":2,"deleteAlarm":1,"deleteAll":0,"rollback":0}}`, "X/a/lengths")
	w.Want(`{"ok":[true,true,null,true,true,"sync",true,null]}`, "X/a/alarms")
}

// What is done with a transaction that is over says how it has ended; arguments are looked at first.
func TestTransactionsThatAreOver(t *testing.T) {
	w := minidotest.NewWorker(t, txnWorker, minidotest.Options{})
	w.Want(`{"ok":["Cannot put() on rolled back transaction","Failed to execute 'put' on 'DurableObjectTransaction': param",`+
		`"Cannot get() on rolled back transaction","Cannot call get() on transaction that has already committed:","Cannot call rollback() on transaction that has already commi"]}`, "X/a/over")
}

// Transactions nest. An outer one cannot be rolled back from inside of another, and goes on.
func TestTransactionsNest(t *testing.T) {
	w := minidotest.NewWorker(t, txnWorker, minidotest.Options{})
	w.Want(`{"ok":["a","b","d"]}`, "X/a/nested")
	w.Want(`{"ok":["done","inner","outer","then",true,[["rollback","Cannot roll back an outer transaction while a nested transaction is still running."],["armed",true],["then",null]]]}`, "X/b/outer")
}

// However code loses its transaction in SQL, it hears of it, and its object is reset.
func TestTransactionsThatAreLost(t *testing.T) {
	const (
		why   = "the transaction was rolled back by an earlier error: negative: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_TRIGGER)"
		reset = `{"err":{"name":"Error","message":"Durable Object was reset and rolled back to its last known good state because the application left the database in a state where constraints were violated: ` + why + `"}}`
	)
	w := minidotest.NewWorker(t, txnWorker, minidotest.Options{})
	for how, before := range map[string]string{"sync": "null", "syncEnd": "null", "syncThrow": "null", "end": "1", "throw": "1", "rollback": "1", "nested": "1"} { // order-independent: each has an object of its own
		w.Want(reset, "X/"+how+"/lostIn", how)
		w.Want(`{"ok":[["`+how+`","`+why+`"]]}`, "X/other/said")
		w.Want(`{"ok":`+before+`}`, "X/"+how+"/get", "before")
	}
}

// Code whose object ends inside a transaction or a section does not go on behind it.
func TestTransactionsOfEndedObjects(t *testing.T) {
	w := minidotest.NewWorker(t, txnWorker, minidotest.Options{})
	for how, said := range map[string]string{"sync": `["sync","over"]`, "syncThrow": `["syncThrow","over"]`, "async": "", "asyncThrow": "", "block": ""} { // order-independent: each has an object of its own
		w.Want(`{"err":{"name":"Error","message":"over","durableObjectReset":true}}`, "X/"+how+"/dies", how)
		w.Want(`{"ok":[`+said+`]}`, "X/other/said")
	}
}
