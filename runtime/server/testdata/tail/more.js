// Requests whose events are told of: diagnostics channels, thrown values, limits, calls between
// entrypoints, and objects whose work goes on.
import { DurableObject, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import dc from "node:diagnostics_channel";
import { AsyncLocalStorage } from "node:async_hooks";

class Target extends RpcTarget {
  more() { console.log("more"); return 7; }
  boom() { throw new Error("target"); }
}
export class Thing extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    console.log("constructed", ctx.id.name);
    if (ctx.id.name === "bad") throw new Error("constructor");
    ctx.blockConcurrencyWhile(async () => { await scheduler.wait(1); console.log("blocked"); if (ctx.id.name === "blockbad") throw new Error("in block"); });
  }
  hello(x) { console.log("hello", x); return x; }
  later() {
    setTimeout(() => console.log("after the handler"), 1);
    this.ctx.waitUntil(scheduler.wait(5).then(() => { console.log("in waitUntil"); throw new Error("late"); }));
  }
  timer() { setTimeout(() => console.log("timer fired"), 30); }
  unhandled() { Promise.reject(new Error("unhandled")); }
  detached() { scheduler.wait(5).then(() => { console.log("detached"); throw new Error("detached"); }); }
  async slow() { await scheduler.wait(60); console.log("slow done"); }
  abort() { this.ctx.abort("aborted by me"); }
  abortError() { this.ctx.abort(new RangeError("aborted by me")); }
  async block() { await this.ctx.blockConcurrencyWhile(async () => { await scheduler.wait(1); throw new Error("blocked"); }); }
  get prop() { console.log("prop"); return 5; }
  get badProp() { throw new Error("getter"); }
  stub() { return new Target(); }
  callback(f) { return f(1); }
  async alarmAt() { await this.ctx.storage.setAlarm(Date.now()); }
  alarm(info) { console.log("alarm", info.retryCount); }
  async fetch(request) {
    if (request.url.endsWith("/throw")) throw new Error("fetch");
    this.ctx.waitUntil(scheduler.wait(5).then(() => console.log("later")));
    return new Response("later");
  }
}
async function connection(entry, bytes) {
  const s = entry.connect("example:25");
  await s.writable.getWriter().write(new Uint8Array(bytes));
  await s.closed;
  return new Response("closed");
}

export class Entry extends WorkerEntrypoint {
  async connect(socket) { const read = await socket.readable.getReader().read(); if (read.value.length > 1) throw new TypeError("connection"); }
  async fetch() { console.log("entry fetch"); return new Response("entry", { status: 202 }); }
  add(a, b) { console.log("add"); return a + b; }
  get p() { return { q: { r() { return 1; } } }; }
  boom() { throw new TypeError("entry"); }
  stub() { return new Target(); }
}
const named = (name, e = new Error("msg")) => Object.assign(e, { name });
const withStack = (stack, e = new Error("changed")) => Object.assign(e, { stack });
const text = async (promise) => new Response(String(await promise.catch((e) => e)));
const bytes = (s) => new TextEncoder().encode(s);
const thrown = [
  () => null, () => undefined, () => 5, () => Symbol("s"), () => [1, 2], () => () => 1, () => Object.assign(() => 1, { message: "m" }), () => Object.create(null),
  () => ({ message: "m", name: "N" }), () => ({ name: 5, message: "m" }), () => ({ name: "N" }), () => ({ message: { a: 1 } }), () => ({ toString() { return "text"; } }),
  () => ({ stack: "N: m\n    at one (a.js:1:1)\n    at two", name: "N", message: "m" }), () => new DOMException("d", "AbortError"), () => new Error("outer", { cause: new Error("inner") }),
  () => named("Custom"), () => named(""), () => named(undefined), () => new (class MyError extends Error {})("mine"), () => new (class extends TypeError { name = "Other"; })("mine: with colon"),
  () => new (class extends Error { get name() { return "G"; } })("getter"), () => new Error(), () => new AggregateError([new Error("1")], "agg"), () => new Error("multi\nline\n    at fake"),
  () => withStack(undefined), () => withStack("no frames"), () => withStack("Error: other\n    at x"), () => new Error("z".repeat(4000)), () => new Error("z".repeat(5000)), () => withStack("s".repeat(5000)),
];
const requests = {
  "/channel": () => {
    const c = dc.channel("chan");
    c.publish({ a: 1, d: new Date(0), m: new Map([[1, 2]]), u: undefined, n: null, b: new Uint8Array([1, 2]), e: new RangeError("in dc") });
    for (const v of ["text", 5, undefined, null, 1n, () => 1]) c.publish(v);
    dc.channel(Symbol("s")).publish(1);
  },
  "/channel-subscriber": () => { const got = []; dc.subscribe("sub", (m, n) => got.push(m, n)); dc.channel("sub").publish({ x: 1 }); return Response.json(got); },
  "/channel-thrower": () => { dc.subscribe("thrower", () => { throw new Error("subscriber"); }); dc.channel("thrower").publish(1); },
  "/channel-tracing": async () => {
    const t = dc.tracingChannel("tr"), none = () => {};
    t.subscribe({ start: none, end: none, asyncStart: none, asyncEnd: none, error: none });
    t.traceSync((a) => a + 1, { ctx: 1 }, null, 4);
    await t.tracePromise(async () => 6, { c: 2 });
  },
  "/channel-transform": () => {
    const als = new AsyncLocalStorage(), c = dc.channel("bound");
    c.bindStore(als, () => { throw new Error("transform"); });
    c.runStores({ a: 1 }, () => als.getStore());
  },
  "/channel-big": () => { for (let i = 0; i < 10; i++) dc.channel("big").publish("x".repeat(40000)); },
  "/limit-log": () => { console.log("z".repeat(262000)); for (let i = 0; i < 3; i++) dc.channel("a").publish("y".repeat(100)); console.log("after"); throw new Error("p".repeat(300)); },
  "/limit-channel": () => { dc.channel("a").publish("y".repeat(262000)); console.log("q".repeat(400)); },
  "/limit-exceptions": async (env, ctx) => { for (let i = 0; i < 50; i++) ctx.waitUntil(Promise.reject(new Error("z".repeat(5000)))); await scheduler.wait(1); for (let i = 0; i < 10; i++) console.log("w".repeat(20000)); },
  "/rejected": (env, ctx) => { ctx.waitUntil(Promise.reject(new Error("w1"))); ctx.waitUntil(new Promise((r, j) => queueMicrotask(() => j(new Error("w2"))))); },
  "/microtask": async (env, ctx) => { await null; ctx.waitUntil((async () => { await null; console.log("micro"); await scheduler.wait(1); console.log("timer"); })()); },
  "/stream": (env, ctx) => {
    const { readable, writable } = new TransformStream(), w = writable.getWriter();
    ctx.waitUntil((async () => { await w.write(bytes("a")); console.log("wrote"); await scheduler.wait(3); await w.write(bytes("b")); await w.close(); console.log("closed"); })());
    return new Response(readable);
  },
  "/failing-stream": () => new Response(new ReadableStream({ async pull(c) { await scheduler.wait(2); console.log("pull"); c.error(new Error("stream")); } })),
  "/reads-failing-stream": async (env, ctx) => { const r = await ctx.exports.default.fetch("http://self/failing-stream"); return text(r.text().then(() => "read", () => "failed")); },
  "/plain": () => { console.log("plain"); },
  "/subrequest": async (env, ctx) => new Response(await (await ctx.exports.default.fetch("http://self/plain")).text()),
  "/passed-on": (env, ctx) => ctx.exports.default.fetch("http://self/plain"),
  "/entry": (env, ctx) => ctx.exports.Entry.fetch("http://entry/x?y#z", { method: "PUT", body: "b" }),
  "/entry-rpc": (env, ctx) => text(ctx.exports.Entry.add(1, 2)),
  "/entry-deep": (env, ctx) => text(ctx.exports.Entry.p.q.r()),
  "/entry-boom": (env, ctx) => text(ctx.exports.Entry.boom()),
  "/entry-missing": (env, ctx) => text(ctx.exports.Entry.nothing()),
  "/entry-pipeline": (env, ctx) => text(ctx.exports.Entry.stub().more()),
  "/entry-stub": async (env, ctx) => { using s = await ctx.exports.Entry.stub(); return Response.json([await s.more(), await s.more(), await s.boom().catch((e) => e.message)]); },
  "/entry-connect": (env, ctx) => connection(ctx.exports.Entry, 1),
  "/entry-connect-throws": (env, ctx) => connection(ctx.exports.Entry, 2),
  "/object": (env) => text(env.Thing.getByName("a").later()),
  "/object-timer": (env) => text(env.Thing.getByName("a").timer()),
  "/object-unhandled": (env) => text(env.Thing.getByName("a").unhandled()),
  "/object-detached": (env) => text(env.Thing.getByName("a").detached()),
  "/object-fetch": (env) => env.Thing.getByName("a").fetch("http://thing/later"),
  "/object-fetch-throws": (env) => text(env.Thing.getByName("a").fetch("http://thing/throw")),
  "/object-prop": (env) => text(env.Thing.getByName("a").prop),
  "/object-prop-throws": (env) => text(env.Thing.getByName("a").badProp),
  "/object-missing": (env) => text(env.Thing.getByName("a").nothing()),
  "/object-stub": (env) => text(env.Thing.getByName("a").stub().more()),
  "/object-callback": (env) => text(env.Thing.getByName("a").callback((x) => { console.log("called back"); return x; })),
  "/object-overlap": async (env) => { const o = env.Thing.getByName("o"), slow = o.slow(); await scheduler.wait(10); await o.hello(2); await slow; },
  "/object-alarm": (env) => text(env.Thing.getByName("al").alarmAt()),
  "/object-abort": (env) => text(env.Thing.getByName("b").abort()),
  "/object-abort-error": (env) => text(env.Thing.getByName("b2").abortError()),
  "/object-block": (env) => text(env.Thing.getByName("bm").block()),
  "/object-bad": (env) => text(env.Thing.getByName("bad").hello(1)),
  "/object-bad-fetch": (env) => text(env.Thing.getByName("bad").fetch("http://thing/")),
  "/object-bad-block": (env) => text(env.Thing.getByName("blockbad").hello(1)),
  "/log-errors": () => { console.log(new Error("a"), new TypeError("b", { cause: 1 }), Object.assign(new Error("c"), { code: 5 }), new AggregateError([new Error("d")], "e"), new (class X extends Error {})("f"), named("Custom"), new Error("a\nb"), new Error("")); },
  "/throw-later": (env, ctx) => { setTimeout(() => { throw new Error("t1"); }, 0); setTimeout(() => { Promise.reject(new Error("t2")); console.log("t2"); }, 1); ctx.waitUntil(scheduler.wait(10)); },
  "/uncaught-microtask": async () => { queueMicrotask(() => { throw new Error("micro"); }); process.nextTick(() => { throw new Error("tick"); }); await scheduler.wait(1); },
  "/listener": () => { const t = new EventTarget(); t.addEventListener("x", () => { throw new Error("listener"); }); t.dispatchEvent(new Event("x")); },
  "/report-error": () => { reportError(new Error("reported")); },
};
export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/events") return env.TAIL.fetch("http://tail/");
    if (pathname.startsWith("/thrown/")) throw thrown[pathname.slice(8)]();
    return (await requests[pathname](env, ctx)) ?? new Response("done");
  },
};
