package durableobject_test

// storageWorker asks the KV side of storage for everything that docs/semantics.md 9 to
// 13 and 34 say.
const storageWorker = `
const t = (fn) => attempt(fn);
export class S extends DurableObject {
  st = this.ctx.storage; sql = this.ctx.storage.sql; kv = this.ctx.storage.kv;
  async keys() {
    await this.st.put({ b: 1, a: 2, "é": 3, "\u{1F600}": 4, "\uFFFD": 5, Z: 6, c: undefined });
    const l = async (o) => [...(await this.st.list(o)).entries()].map(([k, v]) => k + v).join(" ");
    return [await l(), await l({ reverse: true }), await l({ start: "a", end: "c" }), await l({ startAfter: "a" }), await l({ prefix: "a" }), await l({ limit: 2 }), await l({ reverse: true, limit: 2 }),
      await l({prefix: "a", start: "b"}), await l({start:"z", end: "a"}), await l({ start: "b", reverse: true}), await l({startAfter:"a", reverse:true, end: "b\\0"}),
      await t(() => this.st.list({ limit: 0 })), await t(() => this.st.list({ limit: -1 })), await t(() => this.st.list({ start: "a", startAfter: "b" })), await t(()=>this.st.list({limit: 1.5})), await t(()=>this.st.list({limit: "x"})), await t(()=>this.st.list(null)), await t(() => this.st.list("x")),
      [...(await this.st.get(["b", "nope", "a", "b"])).entries()], await this.st.delete(["a", "nope", "b", "b"]), await this.st.delete("zz"), await this.st.delete("c"), await this.st.delete("Z"),
      [...(await this.st.get([])).entries()]];
  }
  async oddArguments() {
    const out = [], s = this.st, odd = [undefined, null, 5, "a", true, {}, [], Symbol("s"), { allowUnconfirmed: 5 }, { allowConcurrency: "x" }];
    const said = async (name, fn) => {
      let how = "throws";
      try { const p = fn(); how = "rejects"; out.push([name, "resolves", (await p) ?? null]); } catch (e) { out.push([name, how, e.name + ": " + e.message]); }
    };
    for (const m of ["get", "put", "delete", "list", "transaction", "setAlarm"]) { await said(m + "()", () => s[m]()); for (const [i, v] of odd.entries()) await said(m + " " + i, () => s[m](v)); }
    for (const [i, v] of odd.entries()) {
      await said("get k " + i, () => s.get("k", v)); await said("put k " + i, () => s.put("k", 1, v)); await said("delete k " + i, () => s.delete("k", v));
      await said("transaction f " + i, () => s.transaction(async () => 1, v)); await said("list limit " + i, () => s.list({ limit: v }).then((m) => m.size > 0));
    }
    await s.transaction(async (t) => { for (const m of ["get", "put", "delete", "deleteAll"]) await said("txn." + m + "()", () => t[m]()); });
    return out;
  }
  async badKeys() {
    return [await t(() => this.st.put("k", undefined)), await t(() => this.st.put("")), await t(() => this.st.put("", 1)), await t(() => this.st.get()), await t(() => this.st.get(undefined)), await t(() => this.st.get(null)), await t(() => this.st.get(5)),
      await t(() => this.st.put(5, "five")), await t(() => this.st.get("5")), await t(() => this.st.put({})), await t(() => this.st.put(null, 1)), await t(() => this.st.put("k")), await t(() => this.st.delete()), await t(() => this.st.put("x".repeat(3000), 1)), await t(()=>this.st.get({})), await t(() => this.st.put({a: () => 1, b: 2})), await t(() => this.st.get("b")),
      await t(() => this.kv.put("k", undefined)), await t(() => this.kv.put("k")), await t(() => this.kv.get()), await t(() => this.kv.put(5, 5)), await t(() => this.kv.get("5")), await t(() => this.kv.get(5)), await t(() => this.kv.get(["5"])), await t(() => this.kv.delete("5")), await t(() => this.kv.list({ limit: 0 })), await t(() => this.kv.put("f", () => 1)),
      await t(() => this.st.put("p", Promise.resolve())), await t(() => this.st.put("s", Symbol("q"))), await t(() => this.st.put("t", new RpcTarget()))];
  }
  async values() {
    class C { x = 1; #p = 2; get y() { return 3; } }
    const cyc = { n: 1 }; cyc.self = cyc;
    const e = new TypeError("m", { cause: "c" });
    const v = { cyc, map: new Map([[1, { a: 1 }]]), set: new Set([1, "2"]), date: new Date(5), re: /a+/gi, big: 12n, neg: -0, holes: [1, , 3], u8: new Uint8Array([1, 2]), f64: new Float64Array([1.5]), dv: new DataView(new ArrayBuffer(2)), c: new C(), e, u: undefined, n: null, nan: NaN, s: "\u00e9\ud800" };
    await this.st.put("v", v);
    const g = await this.st.get("v"), h = await this.st.get("v");
    return [g.cyc.self === g.cyc, g !== h, g.map.get(1), [...g.set], g.date.getTime(), String(g.re), String(g.big), Object.is(g.neg, -0), 1 in g.holes, g.holes.length, [...g.u8], g.f64[0], g.dv.byteLength, g.c.constructor.name, g.c.x, g.c.y, g.e instanceof TypeError, g.e.message, g.e.cause, typeof g.e.stack, "u" in g, g.n, Number.isNaN(g.nan), g.s === v.s, g.s.length];
  }
  async txns() {
    const out = [];
    out.push(await t(() => this.st.transaction(async (txn) => { await txn.put("x", 1); return await txn.get("x"); })));
    out.push(await t(() => this.st.transaction(async (txn) => { await txn.put("x", 2); throw new Error("no"); })), await this.st.get("x"));
    out.push(await t(() => this.st.transaction(async (txn) => { await txn.put("x", 3); txn.rollback(); return "value"; })), await this.st.get("x"));
    out.push(await t(() => this.st.transaction(async (txn) => { txn.rollback(); await txn.put("x", 4); })));
    out.push(await t(() => this.st.transaction(async (txn) => { txn.rollback(); txn.rollback(); return await attempt(() => txn.get("x")); })));
    let leak; await this.st.transaction(async (txn) => { leak = txn; });
    out.push(await t(() => leak.put("x", 5)), await t(() => leak.get("x")), await t(() => leak.rollback()), await t(() => leak.list()), await t(()=>leak.delete("x")), await t(()=>leak.setAlarm(1)));
    out.push(await t(() => this.st.transaction(async (txn) => { await txn.deleteAll(); })), await t(() => this.st.transaction(async (txn) => { await this.st.deleteAll(); })));
    out.push(await t(() => this.st.transaction(async () => { this.sql.exec("CREATE TABLE tt (a)"); this.sql.exec("INSERT INTO tt VALUES (1)"); throw new Error("sql"); })), await t(() => this.sql.exec("SELECT * FROM tt").toArray()));
    out.push(await t(() => this.st.transaction(async (txn) => { this.st.put("x", 7); txn.rollback(); })), await this.st.get("x"));
    out.push(await t(() => this.st.transaction(async (txn) => { await this.st.transaction(async (inner) => { await inner.put("x", 8); inner.rollback(); }); await txn.put("y", 1); return await this.st.get("x"); })), await this.st.get("y"));
    out.push(await t(() => this.st.transaction(5)), await t(() => this.st.transaction()), await t(() => this.st.transaction(() => { throw new TypeError("sync") })), await t(() => this.st.transaction(() => "notasync")));
    return out;
  }
  async txnSync() {
    const out = [];
    this.sql.exec("CREATE TABLE IF NOT EXISTS s (a)");
    out.push(await t(() => this.st.transactionSync(() => { this.sql.exec("INSERT INTO s VALUES (1)"); return "v"; })));
    out.push(await t(() => this.st.transactionSync(() => { this.sql.exec("INSERT INTO s VALUES (2)"); throw new RangeError("r"); })));
    out.push(await t(() => this.st.transactionSync(() => { this.sql.exec("INSERT INTO s VALUES (3)"); try { this.st.transactionSync(() => { this.sql.exec("INSERT INTO s VALUES (4)"); throw 1; }); } catch {} this.sql.exec("INSERT INTO s VALUES (5)"); })));
    out.push(this.sql.exec("SELECT a FROM s").toArray());
    out.push(await t(() => this.st.transactionSync(async () => { this.sql.exec("INSERT INTO s VALUES (6)"); })));
    out.push(this.sql.exec("SELECT a FROM s").toArray());
    out.push(await t(() => this.st.transactionSync(() => this.st.deleteAll())));
    out.push(await t(() => this.st.transactionSync(() => this.kv.put("kk", 1))), this.kv.get("kk"));
    out.push(await t(() => this.st.transactionSync(5)), await t(() => this.st.transactionSync()));
    return out;
  }
  async kvIter() {
    for (let i = 0; i < 4; i++) this.kv.put("i" + i, i);
    const a = this.kv.list({ prefix: "i" });
    const first = a.next();
    const b = this.kv.list({ prefix: "i" });
    const out = [first, await t(() => a.next()), [...b], await t(() => b.next()), typeof a[Symbol.iterator], a[Symbol.iterator]() === a];
    const c = this.kv.list({ prefix: "i", reverse: true, limit: 2 }); c.next(); c.return?.(); out.push(await t(() => c.next()));
    const it = this.kv.list({ prefix: "i" }); it.next(); await 1; this.kv.delete("i1"); this.kv.put("i9", 9); out.push([...it]);
    return out;
  }
  async deleteAllUncommitted() {
    await this.st.put("a", 1); this.sql.exec("CREATE TABLE IF NOT EXISTS d (x)"); 
    this.st.put("b", 2);
    await this.st.deleteAll();
    return [[...(await this.st.list())], await t(() => this.sql.exec("SELECT * FROM d").toArray())];
  }
  shapes() { return [Object.prototype.toString.call(this.st), Object.prototype.toString.call(this.ctx), Object.prototype.toString.call(this.sql), Object.prototype.toString.call(this.kv), Object.keys(this.ctx).sort(), Object.getOwnPropertyNames(Object.getPrototypeOf(this.ctx)).sort(), Object.getOwnPropertyNames(Object.getPrototypeOf(this.st)).sort(), Object.getOwnPropertyNames(Object.getPrototypeOf(this.sql)).sort(), this.ctx.id.name, String(this.ctx.props), typeof this.ctx.exports, this.ctx.container === undefined] }
  async kvLive() {
    const log = [];
    for (let i = 0; i < 4; i++) this.kv.put("i" + i, i);
    const l = (o) => { const it = this.kv.list(o); const first = it.next().value[0]; return [it, first]; };
    { const [it, f] = l({ prefix: "i" }); this.kv.delete("i1"); this.kv.put("i05", 1); log.push([f, ...[...it].map((x) => x[0])]); }
    { const [it, f] = l({ prefix: "i", reverse: true }); this.kv.put("i25", 1); log.push([f, ...[...it].map((x) => x[0])]); }
    { const [it, f] = l({ prefix: "i" }); await this.st.deleteAll(); log.push([f, await t(() => [...it].map((x) => x[0]))]); }
    for (let i = 0; i < 4; i++) this.kv.put("i" + i, i);
    { const [it, f] = l({ prefix: "i" }); await scheduler.wait(5); log.push([f, await t(() => [...it].map((x) => x[0]))]); }
    { const [it, f] = l({ prefix: "i" }); try { this.st.transactionSync(() => { this.kv.put("i11", 1); throw 1; }); } catch {} log.push([f, await t(() => [...it].map((x) => x[0]))]); }
    return log;
  }
  async clones() { return [await t(() => structuredClone(new RpcTarget())), await t(() => structuredClone(this.env.S.getByName("x"))), await t(() => this.st.put("x", this.env.S.getByName("x"))), await t(() => this.st.put("x", { f: this.env.S })), await t(() => this.st.put("x", this.ctx)), await t(() => this.st.put("x", new Response("x"))), await t(() => this.st.put("x", new Headers({a: "b"}))), await t(async () => [...await this.st.get("x")]), await t(()=>this.st.put("x", this.ctx.id)), await t(() => this.st.put("x", new Request("http://x/"))), await t(() => this.st.put("x", new ReadableStream())), await t(() => this.st.put("x", class {})), await t(() => this.st.put("x", new WeakMap())), await t(() => this.st.put("x", {get a() { throw new TypeError("getter") }}))]; }
  async alarmArguments() { const out = []; for (const v of [undefined, null, NaN, "x", 0, -1, Infinity, {}, true, 10n, new Date(NaN), new Date(0)]) out.push(await t(() => this.st.setAlarm(v))); out.push(await t(() => this.st.setAlarm()), await t(() => this.st.getAlarm()), await t(() => this.st.deleteAlarm())); return out; }
}
export class WithAlarm extends DurableObject { alarm() {} }
export default serve({});
`
