// The worker of the golden "entrypoints": what crosses between entrypoints of
// one worker, reached through ctx.exports, and what ctx.exports is.
import { RpcPromise, RpcProperty, env as genv, withEnv, withExports, withEnvAndExports, exports } from "cloudflare:workers";
function tell(e) {
  if (!(e instanceof Error)) return { thrown: String(e) };
  const o = { name: e.name, message: e.message, ctor: e.constructor.name, keys: Object.keys(e) };
  for (const k of ["code", "remote", "durableObjectReset", "retryable", "overloaded"]) if (e[k] !== undefined) o[k] = e[k];
  return o;
}
const t = async (fn) => { try { return { ok: (await fn()) ?? null }; } catch (e) { return { err: tell(e) }; } };
const S = (x) => [Object.prototype.toString.call(x), x && typeof x === "object" ? Object.keys(x) : typeof x === "function" ? "fn" : String(x)];
const w = (ms = 5) => scheduler.wait(ms);
const early = (() => { try { return [typeof genv, typeof exports, Object.keys(exports ?? {})]; } catch (e) { return tell(e); } })();
let gone = [];
class L extends RpcTarget { n = 0; constructor(name = "l") { super(); this.name = name; } inc(k = 1) { return this.n += k; } [Symbol.dispose]() { gone.push(this.name); } }
let disposed = [];
let log = [];
class T extends RpcTarget { n = 0; constructor(name) { super(); this.name = name; } inc(k = 1) { return this.n += k; } get val() { return this.n; } child(name) { return new T(name); } fail() { throw new TypeError("tf"); } async slow(ms, x) { await scheduler.wait(ms); log.push(x); return x; } who() { return this.name; } fn() { return (x) => x + 1; } self() { return this; } async hold(f) { this.f = f; } async holdDup(f) { this.f = f.dup(); } async useHeld(x) { return await this.f(x); } releaseHeld() { this.f[Symbol.dispose](); } [Symbol.dispose]() { disposed.push(this.name); } }
export class E2 extends WorkerEntrypoint {
  hi() { return "hi"; } target(name = "t") { return new T(name); } async call(f, ...a) { return await f(...a); }
  disposed() { const d = disposed; disposed = []; return d; } log() { const l = log; log = []; return l; }
  many() { return { a: new T("ma"), b: { c: new T("mc") }, list: [new T("l0"), 5], n: 1, f: (x) => x * 2 }; }
  async slow(ms, x) { await scheduler.wait(ms); log.push(x); return x; }
  async slowTarget(ms, name) { await scheduler.wait(ms); return new T(name); }
  note(x) { log.push(x); return x; }
  fail(kind) {
    class My extends Error { constructor(m) { super(m); this.name = "My"; this.foo = 1; } }
    switch (kind) {
      case "my": throw new My("mine"); case "range": throw new RangeError("r"); case "dom": throw new DOMException("d", "AbortError"); case "target": throw new T("thrown"); case "null": throw null; case "num": throw 5; case "sym": throw Symbol("x"); case "agg": throw new AggregateError([new Error("a")], "agg"); case "frozen": throw Object.freeze(new Error("fr")); case "named": { const e = new Error("nm"); e.name = "Custom"; throw e; } case "stackless": { const e = new Error("sl"); e.stack = "none"; throw e; } case "getter": { const e = new Error("g"); Object.defineProperty(e, "x", { enumerable: true, get() { throw new Error("in getter"); } }); throw e; } case "eval": throw new EvalError("ev"); case "uri": throw new URIError("u"); case "syntax": throw new SyntaxError("sy"); case "ref": return undefinedVariable; case "type": return null.x; case "retry": { const e = new Error("rt"); e.retryable = true; e.overloaded = true; e.durableObjectReset = true; e.remote = 5; throw e; } case "dce": return structuredClone(() => 1); case "reject": return Promise.reject(new Error("rj"));
    }
  }
  errs() { return [new TypeError("t", { cause: new RangeError("c") }), new DOMException("d", "DataError")]; }
  async use(t) { const out = []; for (let i = 0; i < 2; i++) out.push(await t.inc()); return out; }
  async keep(t) { globalThis.kept = t; return 1; }
  echo(x) { return x; }
  types(x) { return [typeof x, Object.prototype.toString.call(x), x instanceof RpcTarget, x instanceof Function, Object.keys(x ?? {})]; }
  async readAll(s) { return await new Response(s).text(); }
  async readChunks(s) { const out = []; for await (const c of s) out.push(typeof c === "string" ? c : c instanceof Uint8Array ? [...c] : Object.prototype.toString.call(c)); return out; }
  async writeTo(w) { const wr = w.getWriter(); await wr.write(new TextEncoder().encode("one")); await wr.write(new TextEncoder().encode("two")); await wr.close(); return "written"; }
  async abortW(w) { await w.abort(new Error("no more")); return "aborted"; }
  stream() { return new ReadableStream({ type: "bytes", start(c) { c.enqueue(new TextEncoder().encode("s1")); c.enqueue(new TextEncoder().encode("s2")); c.close(); } }); }
  vstream() { return new ReadableStream({ start(c) { c.enqueue("s1"); c.enqueue({ a: 1 }); c.close(); } }); }
  errStream() { return new ReadableStream({ type: "bytes", pull(c) { if (this.n) c.error(new RangeError("broke")); else { this.n = 1; c.enqueue(new Uint8Array([1])); } } }); }
  writable() { const ts = new IdentityTransformStream(); globalThis.sink = new Response(ts.readable).text(); return ts.writable; }
  async sunk() { return await globalThis.sink; }
  async reqres(req, res, h) { return [req.method, req.url, await req.text(), req.headers.get("x"), res.status, await res.text(), res.headers.get("y"), [...h]]; }
  mkreq() { return new Request("http://q/z", { method: "POST", body: "B", headers: { x: "1" }, redirect: "manual" }); }
  mkres() { return new Response(new ReadableStream({ type: "bytes", start(c) { c.enqueue(new Uint8Array([104, 105])); c.close(); } }), { status: 203, statusText: "Hm", headers: { y: "2" } }); }
  wsres() { const [a, b] = Object.values(new WebSocketPair()); b.accept(); b.addEventListener("message", (e) => b.send("r:" + e.data)); return new Response(null, { status: 101, webSocket: a }); }
  blob() { return new Blob(["x"]); } file() { return new File(["x"], "n"); } url() { return new URL("http://x"); } fd() { const f = new FormData(); f.set("a", "b"); return f; } abs() { return new AbortController().signal; } ab() { return AbortSignal.abort(new Error("ab")); } usp() { return new URLSearchParams("a=b"); } ws() { return new WebSocketPair()[0]; } evt() { return new Event("x"); } ctxx() { return this.ctx; } envv() { return this.env; } proxy() { return new Proxy({ a: 1 }, {}); } proxyT() { return new Proxy(new T("px"), {}); } cls() { return T; } gen() { return (function* () { yield 1; })(); } asyncfn() { return async (x) => x; } nullproto() { return Object.assign(Object.create(null), { a: 1 }); } arr() { const a = [1, , 3]; a.x = 5; return a; } date() { return new Date(5); } weak() { return new WeakMap(); } prom() { return { p: Promise.resolve(new T("pr")) }; } nestedProm() { return Promise.resolve(Promise.resolve(5)); } acc() { return { get a() { return 5; } }; } fnprops() { const f = () => 1; f.x = 5; f.m = (a) => a; return f; } symkey() { return { [Symbol("a")]: 1, b: 2 }; } nonenum() { return Object.defineProperty({ a: 1 }, "h", { value: 2 }); } frozen() { return Object.freeze({ a: 1 }); } cyc() { const a = {}; a.a = a; return a; } cyct() { const t = new T("cy"); return { t, u: t }; } sab() { return new DataView(new ArrayBuffer(2)); } big() { return 10n ** 30n; } headers() { return new Headers([["a", "1"], ["set-cookie", "x"], ["set-cookie", "y"]]); } err() { const e = new TypeError("e"); e.extra = 1; return e; } args() { return arguments.length; } argv(...a) { return a; } sub() { return new (class extends T { extra() { return "ex"; } })("sub"); } inner() { return new (class Inner {})(); } regex() { return /a/gi; } nan() { return [NaN, -0, Infinity]; } set() { return new Set([1, new Map([[1, 2]])]); } boxed() { return [new Number(1), new String("s"), Object(1n)]; }
  self(x) { return x; }
  usePromise(p) { return p; }
}
export class Named extends WorkerEntrypoint {
  props() { return this.ctx.props; } hi(x) { return "named " + x; } async useS() { return await this.ctx.props.s.hi(3); } abort(r) { this.ctx.abort(r); } async abortLater() { setTimeout(() => this.ctx.abort("later"), 1); await scheduler.wait(50); return "no"; } fetch(req) { return new Response("named fetch " + JSON.stringify(this.ctx.props)); }
  get g() { return { k: (x) => x + 1 }; }
  own = 5;
}
export class NoFetch extends WorkerEntrypoint { hi() { return 1; } }
export class Obj extends DurableObject { facet() { return this.ctx.facets.get("f", () => ({ class: this.ctx.exports.Unbound2({ props: { p: 1 } }) })).props(); } facet2() { return this.ctx.facets.get("g", () => ({ class: this.ctx.exports.Unbound2 })).props(); } kv(k) { this.ctx.storage.kv.put("k", { T: () => new L(), fn: () => () => 1, stub: () => new RpcStub(() => 1), service: () => this.ctx.exports.Named({}) }[k]()); } put(x) { return this.ctx.storage.put("k", x); } dom() { throw new DOMException("x", "AbortError"); } props() { return this.ctx.props; } hi() { return "obj " + this.ctx.id.name; } exportsKeys() { return [Object.keys(this.ctx.exports), this.ctx.exports === exports]; } }
export class Unbound2 extends DurableObject { hi() { return "unbound"; } props() { return this.ctx.props; } }
export class Plain { constructor() { this.a = 1; } hi() { return "plain"; } }
export const fnExport = () => 1;
export const handlerObj = { async fetch() { return new Response("ho"); }, hi(a) { return ["ho", a]; } };
export const data = { a: 1, get g() { return 2; }, m(x, env, ctx) { return [x, typeof env, typeof ctx, this === data]; }, three(a, b, c) { return "three"; } };
const scripts = {
  async errors(env, ctx) { const o = ctx.exports.E2({}); const out = []; for (const k of ["my", "range", "dom", "target", "null", "num", "sym", "agg", "frozen", "named", "stackless", "getter", "eval", "uri", "syntax", "ref", "retry", "dce", "reject"]) out.push([k, await t(() => o.fail(k))]); const e = await o.errs(); out.push(e.map(tell), tell(e[0].cause)); try { await o.fail("range"); } catch (e) { out.push(e.stack.split("\n")[0], e instanceof RangeError); } out.push(await t(async () => { try { await o.fail("type") } catch (e) { return e.name } })); return out; },
  async pipeline(env, ctx) { const o = ctx.exports.E2({}); const out = []; await o.log();
    out.push(await t(() => o.many().b.c.inc(3)), await t(() => o.many().list[1]), await t(() => o.many().n), await t(() => o.many().f(4)), await t(() => o.many().zip), await t(() => o.many().zip.zap), await t(() => o.many().zip()), await t(() => o.many().n.x), await t(() => o.target().child("z").child("y").who()), await t(() => o.target().val), await t(() => o.target().fn()(3)), await t(() => o.hi().length), await t(() => o.hi().toUpperCase()), await t(() => o.argv(1, 2).length), await t(() => o.argv(1, 2)[1]), await t(() => o.fail("range").x.y()), await t(() => o.many().list.length), await t(() => o.many().list.map((x) => 1)), await t(() => o.many().a.name), await t(() => o.nullproto().a), await t(() => o.inner().x), await t(() => o.echo(new L()).inc(2)), await t(() => o.args(o.target)), await t(() => o.date().getTime()), await t(() => o.fnprops().x), await t(() => o.fnprops().m(3)), await t(() => o.prom().p.who()));
    const p = o.slowTarget(10, "slow"); const a = p.slow(5, "p1"); const b = p.slow(0, "p2"); const c = o.note("n"); await Promise.all([a, b, c]); out.push(await o.log());
    const q = o.slowTarget(5, "q"); const r = [q.inc(), q.inc(), q.inc()]; const q2 = await q; r.push(q2.inc()); out.push(await Promise.all(r));
    out.push(await t(() => o.echo(o.slow(1, 5))), await t(() => o.echo({ p: o.hi() })), await t(() => o.echo([o.target("x")])), await t(() => o.usePromise(Promise.resolve(5))));
    const st = new RpcStub({ a: { b: () => 5 }, c: 7 }); out.push(await t(() => st.a.b()), await t(() => st.c), await t(() => st.a), await t(() => st.nope), await t(() => st.a.nope()));
    out.push(await t(() => new RpcStub(() => ({ x: { y: 3 } }))().x.y), await t(() => new RpcStub(async (x) => x + 1)(4)));
    const pr = o.hi(); out.push(Object.prototype.toString.call(pr), pr instanceof RpcPromise, pr.constructor.name, typeof pr, Object.keys(pr), await t(() => pr.then((x) => x + "!")), await t(() => pr.finally(() => {})), await t(() => o.fail("range").catch((e) => "caught " + e.message)));
    const pt = o.target; out.push(Object.prototype.toString.call(pt), pt instanceof RpcProperty, pt.constructor.name, typeof pt, await t(() => pt("named").who()), await t(() => pt));
    const tg = await o.target("i"); out.push(tg instanceof RpcStub, tg instanceof RpcTarget, tg.constructor.name, typeof tg, Object.keys(tg), "x" in tg, "then" in tg, tg.then, String(Object.prototype.toString.call(tg)), await t(() => tg()), await t(() => new tg()), await t(() => { tg.x = 1; return tg.x; }), await t(() => delete tg.x), JSON.stringify(tg), await t(() => tg.dup().who()), await t(() => Object.getOwnPropertyNames(Object.getPrototypeOf(tg)).sort()), await t(() => Object.getOwnPropertyNames(RpcPromise.prototype).sort()), await t(() => Object.getOwnPropertyNames(RpcProperty.prototype).sort()));
    out.push(await t(() => new RpcPromise()), await t(() => new RpcProperty()), await t(() => RpcStub(new L())), await t(() => new RpcStub()), await t(() => new RpcStub(5)), await t(() => new RpcStub(null)), await t(() => new RpcStub(new Map())), await t(() => new RpcStub(o).hi()), await t(() => RpcTarget()), await t(() => new WorkerEntrypoint()), await t(() => new DurableObject()), await t(() => new WorkerEntrypoint({}, {})), await t(() => new RpcStub(new (class X { m() { return 1; } })()).m()));
    return out; },
  async values(env, ctx) { const o = ctx.exports.E2({}); const out = []; const S = (x) => { try { return [Object.prototype.toString.call(x), x?.constructor?.name, x && typeof x === "object" ? Object.keys(x) : typeof x === "function" ? "fn" : String(x)]; } catch (e) { return tell(e); } };
    for (const k of ["blob", "file", "url", "fd", "usp", "ws", "evt", "ctxx", "envv", "proxy", "proxyT", "cls", "gen", "asyncfn", "nullproto", "arr", "date", "weak", "prom", "nestedProm", "acc", "fnprops", "symkey", "nonenum", "frozen", "cyc", "cyct", "sab", "big", "headers", "err", "args", "sub", "inner", "regex", "nan", "set", "boxed"]) out.push([k, await t(async () => S(await o[k]()))]);
    const cy = await o.cyct(); out.push(cy.t === cy.u, await cy.t.inc(), await cy.u.inc()); const c = await o.cyc(); out.push(c.a === c, [...(await o.headers())]);
    out.push(await t(() => o.types(new L())), await t(() => o.types(() => 1)), await t(() => o.types(ctx.exports.E2({}))), await t(() => o.types(env.Obj.getByName("x"))), await t(() => o.types({ a: 1 })), await t(() => o.types(env)), await t(() => o.types(env.Obj)), await t(() => o.types(env.Obj.idFromName("x"))), await t(() => o.types(class A {})), await t(() => o.types(function f() {})), await t(() => o.types(new Response("x"))), await t(() => o.types(Symbol.iterator)), await t(() => o.types(new Proxy({}, {}))), await t(() => o.types(new (class Foo { a = 1 })())), await t(() => o.types({ x: new (class Foo { })() })), await t(() => o.types(new (class extends Map {})())), await t(() => o.types(new (class extends Array {})())), await t(() => o.types(new (class MyErr extends Error {})())), await t(() => o.types(Object.create({ a: 1 }))), await t(() => o.types(new Named({}, {}))), await t(() => o.types(new TextEncoder())), await t(() => o.types(o.hi)), await t(() => o.types(o.hi())));
    const fn = await o.asyncfn(); out.push(fn.name, fn.length, await fn(5));
    const ek = await o.echo(ctx.exports.E2({})); out.push(Object.prototype.toString.call(ek), await t(() => ek.hi())); const eo = await o.echo(env.Obj.getByName("q")); out.push(Object.prototype.toString.call(eo), await t(() => eo.hi()), Object.keys(eo), String(eo.id), await t(()=>ek.fetch("http://x/")));
    return out; },
  async streams(env, ctx) { const o = ctx.exports.E2({}); const out = []; const enc = new TextEncoder();
    out.push(await t(() => o.readAll(new Response("abc").body)), await t(() => o.readChunks(new ReadableStream({ start(c) { c.enqueue("str"); c.close(); } }))), await t(() => o.readChunks(new ReadableStream({ start(c) { c.enqueue({ a: 1 }); c.close(); } }))));
    const ts = new IdentityTransformStream(); const read = new Response(ts.readable).text(); out.push(await t(() => o.writeTo(ts.writable)), await read);
    const chunks = []; out.push(await t(() => o.writeTo(new WritableStream({ write(c) { chunks.push(c.constructor.name, new TextDecoder().decode(c)); }, close() { chunks.push("closed"); } }))), [...chunks]);
    const ab = []; out.push(await t(() => o.abortW(new WritableStream({ abort(e) { ab.push(String(e)); } }))), ab);
    out.push(await t(async () => new Response(await o.stream()).text()), await t(async () => { const out = []; for await (const c of await o.vstream()) out.push(c); return out; }), await t(async () => { const out = []; for await (const c of await o.errStream()) out.push([...c]); return out; }));
    out.push(await t(async () => { const wr = (await o.writable()).getWriter(); await wr.write(enc.encode("w1")); await wr.write(enc.encode("w2")); await wr.close(); return o.sunk(); }));
    out.push(await t(() => o.reqres(new Request("http://a/b", { method: "PUT", body: "rb", headers: { x: "1" } }), new Response("sb", { status: 201, headers: { y: "2" } }), new Headers({ q: "1" }))), await t(async () => { const r = await o.mkreq(); return [r.method, r.url, r.redirect, r.headers.get("x"), await r.text(), r instanceof Request]; }), await t(async () => { const r = await o.mkres(); return [r.status, r.statusText, r.headers.get("y"), await r.text(), r instanceof Response]; }));
    out.push(await t(async () => { const r = await o.wsres(); const s = r.webSocket; s.accept(); const m = new Promise((d) => s.addEventListener("message", (e) => d(e.data))); s.send("q"); return [r.status, await m]; }));
    const body = new Response("once").body; out.push(await t(() => o.readAll(body)), await t(() => o.readAll(body))); const lk = new Response("l").body; lk.getReader(); out.push(await t(() => o.readAll(lk))); const used = new Response("u"); await used.text(); out.push(await t(() => o.reqres(new Request("http://a"), used, new Headers())));
    const rq = new Request("http://z", { method: "POST", body: "bd" }); out.push(await t(() => o.echo(rq).then(async (r) => await r.text())), rq.bodyUsed, await t(() => o.echo({ a: [new Response("n")] }).then((x) => x.a[0].text())), await t(() => o.echo(new Headers({ a: "1" })).then((h) => [...h])));
    return out; },
  async exports(env, ctx) {
    return [ctx.exports === exports, typeof ctx.exports.Named, Object.prototype.toString.call(ctx.exports.Named), Object.prototype.toString.call(ctx.exports.Obj), Object.prototype.toString.call(ctx.exports.Plain), typeof ctx.exports.Plain, typeof ctx.exports.Obj, ctx.exports.Named?.constructor?.name, ctx.exports.Obj?.constructor?.name,
      await t(() => ctx.exports.Named.hi(1)), await t(() => ctx.exports.Named.props()), await t(() => ctx.exports.Named({ props: { a: 1, b: [2] } }).props()), await t(() => ctx.exports.Named({}).props()), await t(() => ctx.exports.Named().props()), await t(async () => (await ctx.exports.Named({ props: { q: 1 } }).fetch("http://x")).text()),
      await t(() => ctx.exports.Named({ props: 5 }).props()), await t(() => ctx.exports.Named({ props: () => 1 }).props()), await t(() => ctx.exports.Named({ props: new Plain() })), await t(() => ctx.exports.Named({ props: { t: new RpcTarget() } }).props()), await t(() => ctx.exports.Named(5)), await t(() => ctx.exports.Named({ props: { s: ctx.exports.Named } }).props().s.hi(9)),
      await t(() => ctx.exports.Obj.getByName("q").hi()), await t(() => ctx.exports.Obj({ props: { a: 1 } })), await t(() => Object.prototype.toString.call(ctx.exports.Obj({ props: { a: 1 } }))), await t(() => Object.prototype.toString.call(ctx.exports.Plain({ props: { a: 1 } }))), await t(() => Object.prototype.toString.call(ctx.exports.Plain({}))), await t(() => ctx.exports.Named === ctx.exports.Named), await t(() => ctx.exports.default.nope()), await t(() => ctx.exports.NoFetch.hi()), await t(() => ctx.exports.NoFetch.fetch("http://x")), await t(() => new ctx.exports.Named()), await t(() => ctx.exports.Named.dup()), await t(() => ctx.exports.Named({props:{}}) instanceof cw.RpcStub), await t(() => ctx.exports.handlerObj?.hi?.(3)), await t(() => Object.getOwnPropertyNames(ctx.exports.Named)), await t(() => Object.getOwnPropertyNames(Object.getPrototypeOf(ctx.exports.Named)).sort()), await t(() => Object.getOwnPropertyNames(Object.getPrototypeOf(Object.getPrototypeOf(ctx.exports.Named))).sort()), await t(() => Object.getOwnPropertyNames(Object.getPrototypeOf(ctx.exports.Obj)).sort()), await t(() => ctx.exports.Named.g.k(2)), await t(() => ctx.exports.Obj.getByName("e").exportsKeys())];
  },
  async env(env, ctx) {
    const out = [Object.keys(genv).sort(), genv === env, genv.R === undefined];
    out.push(await t(() => withEnv({ A: 1 }, () => [genv.A, genv.TEXT, Object.keys(genv), env.TEXT, genv === env])));
    out.push(await t(() => withEnv({ A: 1 }, async () => { await scheduler.wait(1); return genv.A; })));
    out.push(genv.A ?? "gone");
    out.push(await t(() => withEnv({ A: 1 }, () => withEnv({ B: 2 }, () => [genv.A, genv.B]))));
    out.push(await t(() => withEnv(5, () => genv)), await t(() => withEnv({}, 5)), await t(() => withEnv(null, () => 1)), await t(() => withEnv()));
    out.push(await t(() => withEnv({ A: 1 }, () => { throw new Error("x"); })), genv.A ?? "gone");
    out.push(await t(() => { genv.NEW = 1; return [genv.NEW, env.NEW]; }), await t(() => { delete genv.NEW; return genv.NEW; }), "TEXT" in genv, Object.prototype.toString.call(genv), Object.getPrototypeOf(genv) === Object.prototype, JSON.stringify(genv.JSON));
    out.push(typeof withExports, Object.keys(cw).sort(), await t(() => withExports({ X: 1 }, () => [exports.X, Object.keys(exports)])), await t(()=>cw.withEnvAndExports?.({A:1},{X:2},()=>[genv.A, exports.X])));
    out.push(await t(() => withEnv({ A: 1 }, () => env.SELF.hi(1))), withEnv.length, withEnv.name, waitUntil.name, waitUntil.length, await t(() => waitUntil(Promise.resolve(1))), await t(() => waitUntil(5)), await t(()=>Reflect.set(cw, "env", 5) || (()=>{throw new TypeError("no")})()), cw.default === undefined);
    const later = withEnv({ A: 7 }, () => new Promise((r) => setTimeout(() => r(genv.A), 1)));
    out.push(await later);
    return out;
  },
  async more(env, ctx) { const E = ctx.exports; const out = [early, Object.keys(E).filter((k) => k !== "default")];
    out.push(await t(() => E.data.a), await t(() => E.data.g), await t(() => E.data.m(1)), await t(() => E.data.m()), await t(() => E.data.m(1, 2)), await t(() => E.data.three(1)), await t(() => E.data.nope), await t(() => E.data.toString()), await t(() => E.fnExport(1)), await t(() => E.data.fetch("http://x")));
    out.push(await t(() => E.Named({ props: { s: E.Named({ props: {} }) } }).useS()), await t(() => E.Named({ props: { d: new Date(0), m: new Map([[1, 2]]), u: undefined } }).props()), await t(() => E.Named({ props: [1] }).props()), await t(() => E.Named({ props: null }).props()), await t(() => E.Named({ props: undefined }).props()), await t(() => E.Named({ props: { s: new Response("x") } }).props()), await t(() => E.Named({ props: { o: env.Obj.getByName("x") } }).props()));
    out.push(await t(() => E.Named.abort("why")), await t(() => E.Named.abort(new TypeError("te"))), await t(() => E.Named.abort()), await t(() => E.Named.abortLater()));
    const q = env.Obj.getByName("q"); out.push(await t(() => q.facet()), await t(() => q.facet2()), await t(() => q.dom()));
    for (const k of ["T", "fn", "stub", "service"]) out.push([k, await t(() => q.kv(k))]);
    out.push(await t(() => q.put(new L())), await t(() => q.put(() => 1)), await t(() => q.put({ x: E.Named({}) })), await t(() => structuredClone(new L())), await t(() => structuredClone(new RpcStub(new L()))), await t(() => structuredClone(E.Named({}))));
    const o = E.E2({}); const sync = (fn) => { try { fn().catch(() => {}); return "async"; } catch (e) { return "sync " + e.message; } };
    out.push(sync(() => o.hi(Symbol("x"))), sync(() => o.nope()), sync(() => o.fetch("bad")), sync(() => o.fetch()));
    const p = o.target(); p[Symbol.dispose](); out.push(sync(() => p.inc()), await t(() => p.inc()), await t(() => p.a.b()), await t(() => p.a));
    const f = new RpcStub((a) => a); out.push(await t(() => f(1)), await t(() => f.call(null, 2)), await t(() => f.length), await t(() => new RpcStub(Object.create(null))), await t(() => new RpcStub([1])), await t(() => new RpcStub({ a: [1, 2] }).a), await t(() => new RpcStub({ get a() { return 1; } }).a), await t(() => new RpcStub({ then: 5 }).then));
    out.push(await t(async () => (await o.self(E.Named({ props: { a: 1 } }))).props()), await t(() => o.self(env.Obj.getByName("z")).props()), Object.prototype.toString.call(o), Object.prototype.toString.call(env.Obj.getByName("z")), "x" in o, "then" in o, Object.keys(o));
    return out; },
  async args(env, ctx) { const o = ctx.exports.E2({}); const out = []; gone = [];
    out.push(await o.use(new L("arg1"))); await w(); out.push(["arg", gone]); gone = [];
    const st = new RpcStub(new L("arg2")); out.push(await o.use(st)); await w(); out.push(["stub arg", [...gone], await t(() => st.inc())]); st[Symbol.dispose](); await w(); out.push([...gone]); gone = [];
    const st3 = new RpcStub(new L("arg3")); out.push(await o.use(st3.dup())); await w(); out.push(["dup arg", [...gone], await t(() => st3.inc())]); gone = [];
    const tt = await o.target("hold"); await tt.hold(new L("held")); await w(); out.push(["held", [...gone]]); gone = [];
    await tt.holdDup((x) => x + 1); out.push(await t(() => tt.useHeld(4))); await tt.releaseHeld(); out.push(await t(() => tt.useHeld(4)));
    const m = await o.many(); const d = m.a.dup(); m[Symbol.dispose](); await w(); out.push(await t(() => d.inc()), await t(() => m.a.inc()), await t(() => m.f(1)));
    const c1 = tt.child("c1"); const c2 = await tt.child("c2"); out.push(await c1.who(), await c2.who());
    { await using x = await o.many(); out.push(await x.a.inc()); }
    const s = await tt.self(); out.push(await s.who(), await o.echo(new L("echo")).inc(2));
    out.push(typeof (await o.many())[Symbol.dispose], typeof (await o.argv(1))[Symbol.dispose], Object.getOwnPropertySymbols(await o.argv(1)).length, typeof (await o.target())[Symbol.dispose], Object.keys(await o.many()));
    return out; },
};
export default serve(scripts);
