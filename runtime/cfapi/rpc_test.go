package cfapi_test

// rpcWorker asks stubs for everything that docs/semantics.md 7, 8 and 28 say.
const rpcWorker = `
class Counter extends RpcTarget {
  #n = 0; own = 5;
  constructor(log) { super(); this.log = log; }
  inc(by = 1) { this.#n += by; return this.#n; }
  get value() { return this.#n; }
  get nested() { return { deep: { fn: (x) => x * 2 }, n: 1 }; }
  child() { return new Counter(); }
  fail() { throw new RangeError("counter"); }
  [Symbol.dispose]() { globalThis.disposed = (globalThis.disposed ?? 0) + 1; }
}
class Plain { constructor() { this.a = 1; } m() {} }
class Base extends DurableObject { inherited() { return "inherited"; } }
export class R extends Base {
  own = () => "own"; data = 7;
  #priv = 1;
  hello(...a) { return ["hello", ...a]; }
  get prop() { return { a: { b: 3 }, f: (x) => x + 1 }; }
  get plainProp() { return 42; }
  static st() {}
  _under() { return "under"; }
  $dollar() { return "dollar"; }
  "with space"() { return "space"; }
  toString() { return "mine"; }
  counter() { return new Counter(); }
  many() { return { a: new Counter(), b: new Counter(), plain: 1 }; }
  fn() { let n = 0; return (x) => n += x; }
  async callMe(cb) { const r = await cb(1, 2); return ["called", r]; }
  async callMethods(o) { return [await o.inc(), await o.inc(4), await o.value]; }
  async keep(cb) { this.kept = cb; return "kept"; }
  async useKept() { return await this.kept(1); }
  async keepDup(cb) { this.kept = cb.dup(); return "kept"; }
  plainInstance() { return new Plain(); }
  promise() { return Promise.resolve({ x: { y: (z) => z } }); }
  thenable() { return { then: (r) => r("thenned") }; }
  undef() {}
  nul() { return null; }
  big() { return "x".repeat(33 * 1024 * 1024); }
  typed() { return [new Uint8Array([1, 2]), new Map([[1, new Set([2])]]), new Date(3), 10n, /x/g, new Error("inner"), undefined, NaN]; }
  headers() { return new Headers({ a: "b" }); }
  response() { return new Response("body", { status: 201, headers: { x: "y" } }); }
  request() { return new Request("http://x/y", { method: "POST", body: "rb" }); }
  stream() { return new Response("streamed").body; }
  async readStream(s) { return new Response(s).text(); }
  stub() { return this.env.R.getByName("other"); }
  whoami() { return this.ctx.id.name; }
  sym() { return Symbol("s"); }
  async later() { await scheduler.wait(5); return "later"; }
  log = [];
  async note(x, ms) { if (ms) await scheduler.wait(ms); this.log.push(x); return x; }
  notes() { return this.log; }
  disposed() { return globalThis.disposed ?? 0; }
  alarm() {}
  fetch(req) { return new Response("fetched " + req.method); }
  webSocketMessage() { return "wsm"; }
  echo(x) { return x; }
  async usePromise(p) { return [typeof p, await p.inc(2)]; }
  async manyArgs(o) { return [await o.f(1), await o.g.inc()] }
  async bad() { return { get x() { throw new Error("g") } } }
  async stubs() { return await this.env.R.getByName("o").counter(); }
  async cb2(f) { await f(await this.env.R.getByName("o").counter()); }
  err() { throw new Counter() }
  errf() { const e = new Error("z"); e.f = () => 1; throw e; }
  thrown(k) {
    class My extends Error { foo = 1; code = "XX" }
    throw { type: () => { const e = new TypeError("t"); e.code = "C"; e.extra = { a: 1 }; return e; }, text: () => "text", object: () => ({ a: 1 }), undefined: () => undefined, custom: () => new My("m"), aggregate: () => new AggregateError([new Error("q")], "ag"), fn: () => () => 1, cause: () => new Error("x", { cause: new TypeError("c") }) }[k]();
  }
  twice(k) { return this.env.R.getByName("inner").thrown(k); }
  get boom() { throw new TypeError("getter"); }
}
const s = (env, n = "x") => env.R.getByName(n);
const t = (fn) => attempt(fn);
export default serve({
  async nested(env) { const x = s(env); const c = await x.counter(); return [await t(() => c.nested), await t(() => c.nested.deep.fn(4)), await t(async () => await (await c.nested).deep.fn(4)), await t(() => c.nested.n), await t(() => c.child().inc(3)), await t(() => x.counter().child().inc(8)), await t(() => x.fn()(3)), await t(async () => (await x.many()).plain), await t(async () => (await x.many()).a.inc(3)), await t(() => x.many().a.inc(4)), await t(() => x.many().plain), await t(() => x.echo(c).inc(9)), await t(async () => (await x.echo(c)).inc(9)), await t(async () => (await x.echo({ c })).c.inc(9))]; },
  async promises(env) { const x = s(env); return [typeof x.toJSON, typeof x.then, await t(() => x.usePromise(x.counter())), await t(() => x.usePromise(new Counter())), await t(() => x.manyArgs({ f: (y) => y + 1, g: new Counter() })), await t(() => x.bad()), await t(async () => (await x.stubs()).inc(4)), await t(() => x.stubs().inc(5)), await t(() => x.cb2(async (st) => { globalThis.r = await st.inc(6); })), globalThis.r, await t(() => x.err()), await t(() => x.errf()), RpcStub.name, RpcTarget.name, DurableObject.name, WorkerEntrypoint.name, await t(() => x.echo(x.counter)), await t(() => x.echo(x.counter())), await t(() => new RpcTarget() instanceof RpcTarget), await t(() => x.counter), await t(() => x.counter.name)]; },
  async thrown(env, ctx, k) { const x = s(env, "t"); try { await x.thrown(k); } catch (e) { return [show(e), typeof e, e && Object.keys(e), e instanceof Error, e?.constructor?.name, e?.cause && show(e.cause), e.durableObjectId === String(x.id)]; } },
  async twice(env) { const x = s(env, "t"); try { await x.twice("type"); } catch (e) { return [show(e), Object.keys(e), e.durableObjectId === String(x.id)]; } },
  async methods(env) { const x = s(env); return [await t(() => x.hello(1, { a: [2] })), await t(() => x.inherited()), await t(() => x.own()), await t(() => x.data), await t(() => x.prop), await t(() => x.prop.a), await t(() => x.prop.a.b), await t(() => x.prop.f(4)), await t(() => x.plainProp), await t(() => x.plainProp.nope), await t(() => x.nope), await t(() => x.nope()), await t(() => x._under()), await t(() => x.$dollar()), await t(() => x["with space"]()), await t(() => x.constructor.name), await t(() => x.env), await t(() => x.ctx), await t(() => x.st()), await t(() => x.hasOwnProperty("a")), await t(() => x.toString()), await t(()=>x.valueOf() === x), await t(() => x.alarm()), await t(() => x.webSocketMessage()), await t(() => x.boom), await t(() => x["#priv"]), await t(() => x.__proto__ === Object.getPrototypeOf(x)), await t(() => x.dup()), await t(() => x.prop.__proto__), await t(() => x.prop.constructor), await t(() => x.prop.hasOwnProperty("a")), await t(() => x.hello.call(1, 2)), await t(() => x.hello.length), await t(() => x.hello.name), await t(()=>x[Symbol.iterator] === undefined)]; },
  async shapes(env) { const x = s(env); const p = x.hello(1); const f = x.fn(); return [Object.keys(x), "id" in x, "nope" in x, typeof x.nope, typeof x, typeof p, typeof p.then, p instanceof Promise, Object.prototype.toString.call(p), Object.prototype.toString.call(x), x.constructor.name, String(x.id) === x.id.toString(), x.name, typeof (await f), Object.prototype.toString.call(await f), typeof x.hello, Object.prototype.toString.call(x.hello), JSON.stringify(x), x === s(env), x.id.equals(s(env).id), x.id === x.id, Object.getOwnPropertyNames(x)]; },
  async targets(env) { const x = s(env); const c = await x.counter(); const out = [await c.inc(), await c.inc(5), await c.value, await t(() => c.own), await t(() => c.log), await t(() => c.nope()), await t(() => c.nested), await t(() => c.nested.deep.fn(4)), await t(() => c.nested.n), await t(() => c.fail()), typeof c.dup, Object.prototype.toString.call(c)];
    const ch = c.child(); out.push(await ch.inc(2)); out.push(await x.counter().inc(7)); out.push(await x.counter().child().inc(8));
    const m = await x.many(); out.push(Object.keys(m), await m.a.inc(3), m.plain, typeof m[Symbol.dispose]);
    const f = await x.fn(); out.push(await f(2), await f(3)); out.push(await x.fn()(9)); return out; },
  async params(env) { const x = s(env); return [await t(() => x.callMe((a, b) => a + b)), await t(() => x.callMe(async (a, b) => { await scheduler.wait(1); return a * 10 + b; })), await t(() => x.callMe(() => { throw new TypeError("from callback"); })), await t(() => x.callMethods(new Counter())), await t(() => x.callMe(x.hello)), await t(async () => x.callMe(await x.fn())), await t(() => x.hello(new Plain())), await t(() => x.hello(Symbol("x"))), await t(() => x.hello(new Counter())), await t(() => x.hello(Promise.resolve(1))), await t(() => x.hello(x)), await t(() => x.hello(undefined, null)), await t(()=>x.hello(new WeakMap())), await t(() => x.hello(env))]; },
  async values(env) { const x = s(env); const ty = await x.typed(); return [await t(() => x.plainInstance()), await t(() => x.promise()), await t(() => x.promise().x.y(5)), await t(() => x.thenable()), await t(async () => (await x.undef()) === undefined), await t(() => x.nul()), ty[0] instanceof Uint8Array, [...ty[0]], [...ty[1].get(1)], ty[2].getTime(), String(ty[3]), String(ty[4]), ty[5].message, ty[6] === undefined, await t(() => x.sym()), await t(() => x.big()), await t(async () => (await x.headers()).get("a")), await t(async () => { const r = await x.response(); return [r.status, r.headers.get("x"), await r.text()]; }), await t(async () => { const r = await x.request(); return [r.method, r.url, await r.text()]; }), await t(async () => new Response(await x.stream()).text()), await t(() => x.readStream(new Response("up").body)), await t(async () => (await x.stub()).whoami()), await t(() => x.stub().whoami()), await t(() => x.later())]; },
  async dispose(env) { const x = s(env); const out = [await x.disposed()];
    const c = await x.counter(); const d = c.dup(); c[Symbol.dispose](); out.push(await t(() => c.inc()), await d.inc(), await x.disposed()); d[Symbol.dispose](); await scheduler.wait(1); out.push(await x.disposed());
    const m = await x.many(); m[Symbol.dispose](); await scheduler.wait(1); out.push(await x.disposed(), await t(() => m.a.inc()));
    await x.keep((v) => v + 100); out.push(await t(() => x.useKept())); await x.keepDup((v) => v + 100); out.push(await t(() => x.useKept()));
    { using u = await x.counter(); await u.inc(); } await scheduler.wait(1); out.push(await x.disposed()); c[Symbol.dispose](); out.push(await x.disposed());
    const p = x.counter(); p[Symbol.dispose]?.(); await scheduler.wait(1); out.push(await x.disposed(), await t(() => p));
    return out; },
  async order(env) { const x = s(env, "order"); const ps = []; for (let i = 0; i < 6; i++) ps.push(x.note(i)); const r = await Promise.all(ps); return [r, await x.notes()]; },
  async pipeOrder(env) { const x = s(env); const c = x.counter(); const r = await Promise.all([c.inc(), c.inc(), c.inc(10), c.value]); return r; },
  async localStub() { const st = new RpcStub(new Counter()); const f = new RpcStub((x) => x + 1); return [await st.inc(3), await st.value, await f(4), await t(() => st.nope()), st instanceof RpcStub, Object.prototype.toString.call(st), await t(() => new RpcStub(5)), await t(() => new RpcStub({ a: 1 })), await t(async () => await new RpcStub({ a: () => 5 }).a())]; },
  async ids(env) { const n = env.R; const a = n.idFromName("q"); const u = n.newUniqueId(); const r = n.idFromString(a.toString());
    return [a.toString().length, a.name, r.name, u.name === undefined, a.equals(r), a.equals(u), await t(() => n.idFromString("00")), await t(() => n.idFromString("z".repeat(64))), await t(() => n.idFromString("0".repeat(64))), await t(() => n.get()), await t(() => n.get("x")), n.get(r).name, n.get(a).name, Object.keys(n.get(r)), Object.keys(n.get(a)), await n.get(r).whoami(), await n.get(a).whoami(), await n.get(u).whoami() === undefined, await t(() => n.idFromName()), await t(() => n.idFromName(undefined).name), await t(() => n.idFromName("").name), await t(() => n.getByName()), typeof n.jurisdiction, await t(() => n.jurisdiction("eu").newUniqueId().toString().length), await t(() => n.jurisdiction("mars")), a.jurisdiction === undefined, await t(() => a.equals("x")), await t(() => a.equals()), Object.prototype.toString.call(a), Object.prototype.toString.call(n), Object.getOwnPropertyNames(Object.getPrototypeOf(n)).sort(), await t(() => n.newUniqueId({ jurisdiction: "eu" }).toString().length), JSON.stringify(a), String(a) === a.toString()]; },
  async fetches(env) { const x = s(env); return [await t(async () => (await x.fetch("http://d/")).text()), await t(async () => (await x.fetch(new Request("http://d/", { method: "PUT" }))).text()), await t(async () => (await x.fetch("/relative")).text()), await t(async () => (await x.fetch("http://d/", { method: "POST", body: "x" })).text())]; },
});
`
