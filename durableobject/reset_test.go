package durableobject_test

// resetWorker asks what docs/semantics.md 4 to 6 say of ctx.abort(), blockConcurrencyWhile()
// and constructors that fail.
const resetWorker = `
let builds = 0;
export class A extends DurableObject {
  log = [];
  constructor(ctx, env) {
    super(ctx, env);
    builds++;
    if (ctx.id.name === "throws") throw new RangeError("constructor");
    if (ctx.id.name === "blocks") ctx.blockConcurrencyWhile(async () => { await scheduler.wait(5); this.log.push("built"); });
    if (ctx.id.name === "blocksAndFails") ctx.blockConcurrencyWhile(async () => { await scheduler.wait(5); throw new TypeError("block in constructor"); });
  }
  abort(k) { this.ctx.storage.put("lost", 1); this.ctx.abort({ type: () => new TypeError("t"), error: () => { const e = new Error("plain"); e.code = "C"; return e; }, text: () => "text", undefined: () => undefined, null: () => null, object: () => ({ a: 1 }) }[k]()); }
  async block(k) { try { await this.ctx.blockConcurrencyWhile(async () => { if (k === "type") throw new TypeError("tt"); if (k === "text") throw "ss"; const e = new Error("ee"); e.code = 4; throw e; }); } catch {} return "caught"; }
  get(k) { return this.ctx.storage.get(k); }
  async deep(n) { return n === 0 ? "bottom" : this.ctx.blockConcurrencyWhile(() => this.deep(n - 1)); }
  async blockAnd(tag) {
    this.log.push(tag + " asks");
    const p = this.ctx.blockConcurrencyWhile(async () => { this.log.push(tag + " in"); await scheduler.wait(3); this.log.push(tag + " out"); return tag; });
    this.log.push(tag + " goes on");
    const v = await p;
    this.log.push(tag + " got " + v);
    return v;
  }
  async timerWhile() { setTimeout(() => this.log.push("timer"), 1); const p = this.ctx.blockConcurrencyWhile(async () => { await scheduler.wait(5); this.log.push("end of block"); }); await p; await scheduler.wait(5); }
  note(x) { this.log.push(x); }
  take() { const l = this.log; this.log = []; return l; }
  sync() { return this.ctx.blockConcurrencyWhile(() => 5); }
  syncThrow() { return this.ctx.blockConcurrencyWhile(() => { throw new TypeError("sync") }); }
}
const of = (env, n) => env.A.getByName(n);
export default serve({
  async abort(env, ctx, k) { const s = of(env, "x" + k); const before = builds; const out = []; for (let i = 0; i < 2; i++) out.push(await attempt(() => s.abort(k))); out.push(await attempt(() => of(env, "x" + k).get("lost")), builds - before); return out; },
  async block(env, ctx, k) { const s = of(env, "b" + k); return [await attempt(() => s.block(k)), await attempt(() => s.get("x")), await attempt(() => of(env, "b" + k).get("x"))]; },
  async nested(env) { return [await attempt(() => of(env, "n").deep(3)), await attempt(() => of(env, "n").deep(63)), await attempt(() => of(env, "n").deep(64)), await attempt(() => of(env, "n").deep(65)), await attempt(() => of(env, "n").sync()), await attempt(() => of(env, "n").syncThrow()), await attempt(() => of(env, "n2").ctx)]; },
  async orderOfBlocks(env) { const s = of(env, "o"); const all = [s.blockAnd("a"), s.note("between"), s.blockAnd("b"), s.note("after")]; await Promise.all(all); const out = [await s.take()]; await s.timerWhile(); out.push(await s.take()); return out; },
  async constructorThrows(env) { const s = of(env, "throws"); return [await attempt(() => s.take()), await attempt(() => s.take()), await attempt(() => of(env, "throws").take()), await attempt(() => of(env, "blocksAndFails").take()), await attempt(() => of(env, "blocksAndFails").take())]; },
  async constructorBlocks(env) { const s = of(env, "blocks"); return [...await Promise.all([s.take(), s.take()])]; },
});
`
