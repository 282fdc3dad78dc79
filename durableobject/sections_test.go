package durableobject_test

import (
	"strings"
	"testing"
	"time"

	"minido.dev/minido/runtime/minidotest"
)

// sectionsWorker has sections of blockConcurrencyWhile() and transaction() that meet in every way.
const sectionsWorker = `
const said = [], lives = {};
export class S extends DurableObject {
  log = [];
  constructor(ctx, env) { super(ctx, env); lives[ctx.id.name] = (lives[ctx.id.name] ?? 0) + 1; }
  lives() { return lives[this.ctx.id.name]; }
  st = this.ctx.storage;
  took() { const l = this.log; this.log = []; return l; }
  ping(x) { this.log.push(x); }
  said() { return said.splice(0); }
  block(tag, ms = 2, inside = () => {}) {
    return this.ctx.blockConcurrencyWhile(async () => { this.log.push(tag + " in"); await scheduler.wait(ms); await inside(); this.log.push(tag + " out"); return tag; });
  }
  txn(tag, inside = () => {}) {
    return this.st.transaction(async (t) => { this.log.push(tag + " in"); await scheduler.wait(1); await inside(t); this.log.push(tag + " out"); return tag; });
  }
  async several() {
    const all = [this.block("a"), this.txn("b"), this.block("c")];
    this.log.push("asked");
    return [await Promise.all(all), this.took()];
  }
  async inside() {
    await this.block("outer", 1, () => Promise.all([this.block("one"), this.txn("two"), this.block("three")]));
    await this.block("next");
    return this.took();
  }
  async slow() { await this.block("slow", 20); }
  async late() {
    // Code of a section that has ended begins another one.
    const ended = new Promise((r) => this.ctx.blockConcurrencyWhile(async () => { setTimeout(() => r(this.block("late")), 5); }));
    return [await ended, this.took()];
  }
  async refuses() {
    const out = [await attempt(() => this.ctx.blockConcurrencyWhile(5)), await attempt(() => this.st.transaction(5))];
    try { this.st.transactionSync(5); } catch (e) { out.push(show(e)); }
    this.st.kv.put("alive", 1);
    return out;
  }
  async deepest(n = 64) { return n === 0 ? attempt(() => this.ctx.blockConcurrencyWhile(5)) : this.ctx.blockConcurrencyWhile(() => this.deepest(n - 1)); }
  async done(how) { await (how === "block" ? this.block("x") : this.txn("x")); }
  async waits() { await this.block("x"); this.ctx.waitUntil(new Promise(() => {})); await this.txn("x"); }
  get(k) { return this.st.get(k); }
}
export default serve({});
`

// Sections of one event run one after another, in the order in which they were asked for, and those
// inside of another one before it ends; events that came meanwhile run after them.
func TestSectionsRunOneAfterAnother(t *testing.T) {
	w := minidotest.NewWorker(t, sectionsWorker, minidotest.Options{})
	w.Want(`{"ok":[["a","b","c"],["asked","a in","a out","b in","b out","c in","c out"]]}`, "S/a/several")
	w.Want(`{"ok":["outer in","one in","one out","two in","two out","three in","three out","outer out","next in","next out"]}`, "S/a/inside")
	w.Want(`{"ok":["late",["late in","late out"]]}`, "S/a/late")
	rs := []*minidotest.Response{w.Post("S/b/slow"), w.Post("S/b/ping", "one"), w.Post("S/b/ping", "two"), w.Post("S/b/slow"), w.Post("S/b/ping", "three")}
	w.All(rs...)
	w.Want(`{"ok":["slow in","slow out","one","two","slow in","slow out","three"]}`, "S/b/took")
}

// What is no function is refused before a section begins, and does no harm.
func TestSectionsNeedFunctions(t *testing.T) {
	w := minidotest.NewWorker(t, sectionsWorker, minidotest.Options{})
	got := w.Call("S/a/refuses")
	if strings.Count(got, `"name":"TypeError"`) != 3 || strings.Contains(got, "durableObjectReset") {
		t.Errorf("refused with %s", got)
	}
	w.Want(`{"ok":1}`, "S/a/get", "alive")
	if got := w.Call("S/b/deepest"); !strings.Contains(got, `"name":"TypeError"`) {
		t.Errorf("where sections nest too deeply: %s", got)
	}
}

// An object may leave the memory when its sections are over, unless something else keeps it.
func TestSectionsLetGoOfTheirObject(t *testing.T) {
	w := minidotest.NewWorker(t, sectionsWorker, minidotest.Options{Idle: 10 * time.Second})
	w.Want(`{"ok":null}`, "S/block/done", "block")
	w.Want(`{"ok":null}`, "S/transaction/done", "transaction")
	w.Want(`{"ok":null}`, "S/waits/waits")
	w.Advance(time.Minute)
	for name, lives := range map[string]string{"block": "2", "transaction": "2", "waits": "1"} { // order-independent: each is looked at alone
		w.Want(`{"ok":`+lives+`}`, "S/"+name+"/lives")
	}
}

// A tail worker hears what a section threw twice, as in workerd: the section threw it, and so did the event
// that waits for it; not what code of an object that has ended throws.
func TestSectionsThatThrowAreTold(t *testing.T) {
	w := minidotest.NewWorldFrom(t, map[string]string{
		"worker.js": minidotest.Imports + `
export class S extends DurableObject {
  constructor(ctx, env) { super(ctx, env); if (ctx.id.name === "constructor") ctx.blockConcurrencyWhile(async () => { throw new TypeError("in a section"); }); }
  call() { return this.ctx.blockConcurrencyWhile(async () => { if (this.ctx.id.name === "ended") try { this.ctx.abort("over"); } catch {} throw new TypeError("in a section"); }); }
}
export default serve({ seen: async (env) => (await env.TAIL.fetch("http://tail/")).json() });`,
		"harness.js": minidotest.Harness,
		"tail.js": `const seen = [];
export default {
  tail(events) { for (const e of events) if (e.entrypoint === "S") seen.push(e.exceptions.map((x) => x.message)); },
  fetch() { return Response.json(seen.splice(0)); },
};`,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01", "tail_consumers": [{"service": "b"}], "services": [{"binding": "TAIL", "service": "b"}],
"durable_objects": {"bindings": [{"name": "S", "class_name": "S"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["S"]}]}`,
		"b/wrangler.json": `{"name": "b", "main": "../tail.js", "compatibility_date": "2026-08-01"}`,
	}, minidotest.Options{Others: []string{"b"}})
	for _, c := range []struct{ name, told string }{{"event", `[["in a section","in a section"]]`}, {"constructor", `[["in a section","in a section"]]`}, {"ended", `[["over"]]`}} {
		w.Call("S/" + c.name + "/call")
		w.Advance(time.Second)
		w.Want(`{"ok":`+c.told+`}`, "!seen")
	}
}
