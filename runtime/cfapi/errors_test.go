package cfapi_test

// errorsWorker throws everything from everywhere: what callers get of it, with
// which properties (docs/semantics.md 7).
const errorsWorker = `
class Target extends RpcTarget { constructor() { super(); this.own = 1; } m() { return 1; } }
class Custom extends Error { constructor(m) { super(m); this.name = "Custom"; this.extra = 5; } }
const made = { error: () => new RangeError("r"), custom: () => new Custom("c"), text: () => "text", number: () => 5, undefined: () => undefined, null: () => null, object: () => ({ a: 1 }), target: () => new Target(), holder: () => ({ t: new Target() }), fn: () => () => 1, dom: () => new DOMException("d", "AbortError"), coded: () => Object.assign(new Error("e"), { code: "C", remote: "x", retryable: "y", overloaded: 1, durableObjectReset: 0, extra: { deep: 1 } }), withTarget: () => Object.assign(new Error("holds"), { t: new Target() }), aggregate: () => new AggregateError([new Error("one")], "agg"), cause: () => new Error("outer", { cause: new TypeError("inner") }), symbol: () => Symbol("s"), bigint: () => 10n, array: () => [1], date: () => new Date(0), frozen: () => Object.freeze(new Error("frozen")), getter: () => Object.defineProperty(new Error("g"), "message", { get() { throw new Error("getter"); } }), proxy: () => new Proxy(new Error("p"), {}), response: () => new Response("x") };
const full = (e) => { if (!(e instanceof Error)) { try { return { thrown: typeof e, text: String(e), keys: e !== null && typeof e === "object" ? Object.keys(e) : undefined, m: typeof e?.m }; } catch { return { thrown: typeof e }; } } const o = { ctor: e.constructor.name, name: e.name, message: e.message }; for (const k of Object.keys(e).sort()) if (k !== "stack") o[k] = k === "durableObjectId" ? "id" : typeof e[k] === "object" && e[k] !== null ? Object.keys(e[k]) : e[k]; if (e.cause) o.cause = String(e.cause); if (e.errors) o.errors = e.errors.map(String); return o; };
const tell = async (fn) => { try { return { ok: (await fn()) ?? null }; } catch (e) { return full(e); } };
let built = 0;
export class A extends DurableObject {
  constructor(ctx, env) { super(ctx, env); built++; const n = ctx.id.name; if (n?.startsWith("ctor-")) throw made[n.slice(5)](); if (n?.startsWith("block-")) ctx.blockConcurrencyWhile(async () => { throw made[n.slice(6)](); }); }
  rpc(k) { throw made[k](); }
  async arpc(k) { await scheduler.wait(1); throw made[k](); }
  async fetch(req) { const k = new URL(req.url).pathname.slice(1); if (k === "never") return new Promise(() => {}); if (k === "notresponse") return "text"; if (k === "undef") return; throw made[k](); }
  get getter() { throw new RangeError("getter"); }
  life() { return built; }
}
export class NoFetch extends DurableObject {}
export class Plain { constructor(ctx, env) {} async fetch() { return new Response("plain"); } m() { return 1; } }
const of = (env, n) => env.A.getByName(n);
export default serve({
  async rpc(env) { const out = []; for (const k in made) out.push([k, await tell(() => of(env, "x").rpc(k))]); return out; },
  async arpc(env) { const out = []; for (const k of ["error", "target", "undefined"]) out.push([k, await tell(() => of(env, "x").arpc(k))]); out.push(await tell(() => of(env, "x").getter), await tell(() => of(env, "x").life())); return out; },
  async fetch(env) { const out = []; for (const k of ["error", "custom", "text", "undefined", "object", "target", "coded", "dom", "notresponse", "undef"]) out.push([k, await tell(async () => (await of(env, "x").fetch("http://x/" + k)).status)]); out.push(await tell(() => of(env, "x").life())); out.push(await tell(() => env.NoFetch.getByName("x").fetch("http://x/"))); out.push(await tell(() => env.NoFetch.getByName("x").nope())); return out; },
  async ctor(env) { const out = []; for (const k of ["error", "custom", "text", "undefined", "object", "target", "coded", "dom"]) for (const w of ["ctor-", "block-"]) { const s = of(env, w + k); out.push([w + k, await tell(() => s.life()), await tell(async () => (await s.fetch("http://x/never")).status)]); } return out; },
});
`
