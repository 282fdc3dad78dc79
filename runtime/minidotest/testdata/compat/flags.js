// What a worker and its objects can notice of compatibility flags between themselves:
// each line is a name, and what gives its answer.
import { DurableObject, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";

const attempt = async (fn) => { try { const v = await fn(); return v === undefined ? "undefined" : v; } catch (e) { return `${e?.name}: ${e?.message}`; } };
const soon = (p) => Promise.race([p.then((v) => `ok ${v}`, (e) => `err ${e}`), scheduler.wait(20).then(() => "pending")]);
const shown = (e) => e instanceof Error ? [e.name, e.message, e.constructor.name, Object.getOwnPropertyNames(e).filter((k) => k !== "stack" && k !== "message").map((k) => `${k}=${k === "durableObjectId" ? "" : typeof e[k] === "object" ? JSON.stringify(e[k]) : e[k]}`).join(), String(e.stack).split("\n")[0]] : [typeof e, String(e)];
const fails = async (fn) => { try { return [await fn(), "did not fail"]; } catch (e) { return shown(e); } };
const bytes = (s) => new TextEncoder().encode(s);
const view = (v) => v === undefined ? "undefined" : [v.constructor.name, v.byteLength];
const byob = async (stream, View = Uint8Array) => { const r = stream.getReader({ mode: "byob" }), out = []; for (let i = 0; i < 3; i++) { const x = await r.read(View === DataView ? new View(new ArrayBuffer(8)) : new View(4)); out.push([x.done, view(x.value)]); if (x.done) break; } return out; };
const thenable = (v, log) => ({ then(r) { log?.push("then"); setTimeout(() => r(v), 0); } });
const tag = (o) => Object.prototype.toString.call(o);
const als = new AsyncLocalStorage(), contexts = [];
const object = (env) => env.D.getByName("d");
let last;

const thrown = {
  plain: () => new TypeError("plain"), code: () => Object.assign(new Error("coded"), { code: "E1", status: 418 }), named: () => Object.assign(new Error("named"), { name: "HttpError" }),
  custom: () => { class Custom extends RangeError { constructor(m) { super(m); this.name = "Custom"; this.code = 5; } } return new Custom("custom"); }, cause: () => new Error("outer", { cause: new Error("inner") }),
  agg: () => new AggregateError([new Error("a")], "agg"), dom: () => new DOMException("dom", "AbortError"), flags: () => Object.assign(new Error("flags"), { retryable: true, overloaded: true, remote: false, durableObjectReset: true }),
  empty: () => new Error(), bare: () => Object.assign(new Error("bare"), { name: "" }), onlyName: () => Object.assign(new Error(""), { name: "Only" }), inner: () => new Error("TypeError: inner"), kind: () => Object.assign(new Error("kind"), { name: "SyntaxError" }),
  text: () => "text", object: () => ({ a: 1 }), nothing: () => undefined,
};
const urls = ["http://x", "HTTP://X.y/a b", "http://x?a#f", "http://x/a/./b/../c", "http://x/..", "http://u:p@x:80/", "http://x/%zz|\"", "/rel", "x", "", "http://x y/", "ftp://x/", "http://x/?a b&c", "http://x/\t"];

const answers = {
  tags: (env, ctx) => [new Headers(), new URL("http://x"), new Blob([]), new Event("x"), new AbortController().signal, new ReadableStream(), new DOMException("a"), crypto.subtle, caches, navigator, globalThis, ctx, new crypto.DigestStream("SHA-1"), new RpcTarget(), console].map(tag),
  tagsOfObjects: (env) => [env.D, object(env), env.D.idFromName("a"), new Headers().entries(), new ReadableStream().values()].map(tag),
  tagsInObject: (env) => object(env).fetch("http://x/tags").then((r) => r.text()),
  views: () => Promise.all([Uint8Array, Uint16Array, DataView, Float64Array].map((V) => attempt(() => byob(new Response("abc").body, V)))),
  viewsEmpty: () => byob(new Response("").body),
  viewsIdentity: () => { const { readable, writable } = new IdentityTransformStream(), w = writable.getWriter(); w.write(bytes("abc")); w.close(); return byob(readable); },
  viewsBytes: () => byob(new ReadableStream({ type: "bytes", start(c) { c.enqueue(bytes("abc")); }, pull(c) { c.close(); c.byobRequest?.respond(0); } })),
  viewsCanceled: async () => { const r = new Response("abc").body.getReader({ mode: "byob" }); await r.cancel(); const x = await r.read(new Uint8Array(4)); return [x.done, view(x.value)]; },
  urls: () => urls.map((u) => { try { return new Request(u).url; } catch (e) { return `${e.name}: ${e.message}`; } }),
  urlsSent: (env) => Promise.all(urls.map((u) => attempt(() => object(env).fetch(u).then((r) => r.text())))),
  blobTypes: () => Promise.all(["TEXT/Plain", "a b", "text/html; a=1;  b=2", ""].map(async (type) => (await new Response("x", { headers: { "content-type": type } }).blob()).type)),
  stub: (env) => ["get", "put", "delete", "fetch", "nothing"].map((k) => [typeof object(env)[k], k in object(env)]),
  get: (env) => Promise.all([["http://x/echo"], ["http://x/1", "json"], ["http://x/1", "arrayBuffer"], ["http://x/1", "stream"], ["http://x/1", "x"], ["http://x/404"], ["http://x/500"], []].map((args) => attempt(async () => { const v = await object(env).get(...args); return [typeof v, v?.constructor?.name ?? String(v), typeof v === "string" ? v : ""]; }))),
  put: (env) => Promise.all([["http://x/echo", "v"], ["http://x/echo?z", "v", { expiration: 12, expirationTtl: 5 }], ["http://x/echo", "v", { expirationTtl: 5 }], ["http://x/500", "v"], ["http://x/echo"], ["http://x/echo", "v", 5]].map((args) => attempt(async () => [String(await object(env).put(...args)), last]))),
  delete: (env) => Promise.all([["http://x/echo"], ["http://x/404"]].map((args) => attempt(async () => [String(await object(env).delete(...args)), last]))),
  rpc: (env) => fails(() => object(env).add(1, 2)),
  waitUntil: async (env, ctx) => { const log = []; ctx.waitUntil(thenable(1, log)); await scheduler.wait(2); return log; },
  fetchThenable: (env) => attempt(() => object(env).fetch("http://x/thenable").then((r) => r.text())),
  fetchNothing: (env) => Promise.all(["undefined", "number", "object", "promised", "request"].map((k) => attempt(() => object(env).fetch("http://x/is/" + k).then((r) => r.text())))),
  blocked: (env) => object(env).fetch("http://x/blocked").then((r) => r.text()),
  writes: async () => { const log = []; const w = new WritableStream({ write() { return thenable(0, log); } }).getWriter(); await w.write(1); log.push("written"); return log; },
  rewriter: async () => { const t = await new HTMLRewriter().on("a", { element(e) { return { then(r) { setTimeout(() => { e.setAttribute("x", "1"); r(); }, 1); } }; } }).transform(new Response("<a>")).text(); return t; },
  abort: async () => { const { readable, writable } = new IdentityTransformStream(), w = writable.getWriter(); const a = soon(w.write(bytes("abc"))), b = soon(w.write(bytes("def"))), c = soon(w.abort(new Error("mine"))), d = soon(w.closed); const r = await soon(readable.getReader().read().then((x) => x.value?.byteLength)); return [await a, await b, await c, await d, r]; },
  abortAlone: async () => { const { writable } = new IdentityTransformStream(), w = writable.getWriter(); const a = soon(w.write(bytes("abc"))), b = soon(w.abort(new Error("mine"))); return [await a, await b]; },
  patterns: () => [["/books/:id", "https://x.com/a?b#c"], ["https://x.com/:a(\\d+)"], ["https://x.com"], ["https://*.x.com/*"], [{ pathname: "/A" }], [{ port: "80", protocol: "http" }], [{ baseURL: "https://x.com/a?b#c", pathname: "x" }], ["?q", "https://x.com/p#h"], ["#q", "https://x.com/p?s"], ["/rel"], [{ pathname: "(" }], [{ pathname: "{a" }], [{ pathname: "/:a/:a" }], [{ pathname: "/\\" }], [{ pathname: ":" }], [{ pathname: "/(a(b))" }], [{ pathname: "/([)" }], [{ baseURL: "x" }], [{ hostname: "a b" }], ["data\\:foo"]].map((args) => { try { const p = new URLPattern(...args); return [p.protocol, p.username, p.hostname, p.port, p.pathname, p.search, p.hash, String(p.hasRegExpGroups)].join(" | "); } catch (e) { return `${e.name}: ${e.message}`; } }),
  patternMatches: () => [[["/books/:id", "https://x.com"], "https://x.com/books/1?a"], [["/books/:id", "https://x.com"], "https://x.com/books/1"], [[{ pathname: "/a/:b?" }], "http://x/a"], [[{ pathname: "/A" }, { ignoreCase: true }], "http://x/a"], [[{ pathname: "/a" }], { pathname: "/a" }], [["https://x.com"], "https://x.com/"], [[{ pathname: "/a" }], { port: "x" }]].map(([args, input]) => { try { const m = new URLPattern(...args).exec(input); return m && [Object.keys(m.inputs[0] instanceof Object ? m.inputs[0] : {}), m.pathname.groups, typeof m.pathname.groups.b]; } catch (e) { return `${e.name}: ${e.message}`; } }),
  snapshots: async (env) => { await object(env).fetch("http://x/snapshot"); return [attempt(() => last.snapshot(() => als.getStore())), attempt(() => last.bound()), attempt(() => last.resource.runInAsyncScope(() => als.getStore()))].reduce(async (all, x) => [...await all, await x], []); },
  context: (env, ctx) => { contexts.push(ctx); return [contexts.map((c) => c === ctx), attempt(() => contexts[0].waitUntil(Promise.resolve()))].reduce(async (all, x) => [...await all, await x], []); },
  pulls: async () => { const log = []; const s = new ReadableStream({ start() { return scheduler.wait(2).then(() => log.push("started")); }, pull(c) { log.push("pull"); c.enqueue(log.length); c.close(); } }, { highWaterMark: 0 }); log.push((await s.getReader().read()).value); await scheduler.wait(4); return log; },
  pullsEnqueued: async () => { const log = []; let c; new ReadableStream({ start(x) { c = x; return scheduler.wait(2).then(() => log.push("started")); }, pull() { log.push("pull"); } }, { highWaterMark: 3 }); c.enqueue(1); log.push("enqueued"); await scheduler.wait(5); return log; },
  iterators: () => Promise.all([() => 5, () => ({}), () => ({ next: () => 5 }), () => ({ next: async () => 5 }), () => ({ next: () => ({ done: true }) })].flatMap((open) => [Symbol.iterator, Symbol.asyncIterator].map((s) => attempt(async () => { const out = []; for await (const x of ReadableStream.from({ [s]: open })) out.push(x); return out; })))),
  iteratedBodies: () => Promise.all([() => 5, () => ({}), () => ({ next: () => 5 })].map((open) => attempt(() => new Response({ [Symbol.iterator]: open }).text()))),
  headerNames: () => ["ü", "日本", "a b", "a\u00ff"].map((name) => { try { return new Headers({ [name]: "v" }).get(name); } catch (e) { return `${e.name}: ${e.message}`; } }),
  cfOption: () => attempt(() => new Request("http://x", { cf: 5 })),
};
for (const k of Object.keys(thrown)) {
  answers[`thrown ${k}`] = (env) => fails(() => object(env).fail(k));
  answers[`fetched ${k}`] = (env) => fails(() => object(env).fetch("http://x/fail/" + k));
}
for (const k of ["plain", "custom", "text"]) {
  answers[`constructor ${k}`] = (env) => fails(() => env.Broken.getByName(k).fail());
  answers[`constructor fetched ${k}`] = (env) => fails(() => env.Broken.getByName(k).fetch("http://x"));
  answers[`blocked ${k}`] = (env) => fails(() => env.Blocked.getByName(k).fail());
  answers[`blocked fetched ${k}`] = (env) => fails(() => env.Blocked.getByName(k).fetch("http://x"));
}
Object.assign(answers, {
  missing: (env) => fails(() => object(env).nope()),
  reserved: (env) => fails(() => object(env).alarm()),
  returned: async (env) => { try { return shown(await object(env).give("custom")); } catch (e) { return shown(e); } },
  given: (env) => attempt(() => object(env).take(thrown.named())),
  aborted: async (env) => [await fails(() => env.D.getByName("a").abort("reason")), await fails(() => env.D.getByName("b").fetch("http://x/abort"))],
});

export class D extends DurableObject {
  add(a, b) { return a + b; }
  fail(k) { throw thrown[k](); }
  give(k) { return thrown[k](); }
  take(e) { return JSON.stringify(shown(e)); }
  abort(reason) { this.ctx.abort(reason); }
  fetch(request) {
    const [kind, what] = request.url.split("/").slice(3);
    switch (kind) {
      case "tags": { const s = this.ctx.storage; return new Response([this, this.ctx, s, s.sql, s.kv, this.ctx.id, s.sql.exec("select 1")].map(tag).join()); }
      case "thenable": return thenable(new Response("then"));
      case "is": return { undefined: undefined, number: 5, object: {}, promised: Promise.resolve(5), request }[what];
      case "blocked": return this.blocked();
      case "fail": throw thrown[what]();
      case "abort": return this.ctx.abort("fetched");
      case "snapshot": als.run("store", () => { last = { snapshot: AsyncLocalStorage.snapshot(), bound: AsyncLocalStorage.bind(() => als.getStore()), resource: new AsyncResource("x") }; }); return new Response();
      case "1": return new Response("1");
      case "404": return new Response("gone", { status: 404 });
      case "500": return new Response("failed", { status: 500 });
    }
    last = `${request.method} ${request.url}`;
    return new Response(last);
  }
  async blocked() {
    const log = [];
    const v = await attempt(() => this.ctx.blockConcurrencyWhile(() => thenable(7, log)));
    return new Response(JSON.stringify([log, typeof v === "object" ? Object.keys(v) : v]));
  }
}
export class Broken extends DurableObject { constructor(ctx, env) { super(ctx, env); throw thrown[ctx.id.name](); } fail() {} fetch() {} }
export class Blocked extends DurableObject { constructor(ctx, env) { super(ctx, env); ctx.blockConcurrencyWhile(async () => { throw thrown[ctx.id.name](); }); } fail() {} fetch() {} }

export class E extends WorkerEntrypoint {}
export default {
  async fetch(request, env, ctx) {
    const lines = [];
    for (const [name, fn] of Object.entries(answers)) lines.push(`${name}: ${JSON.stringify(await attempt(() => fn(env, ctx)))}`);
    return new Response(lines.join("\n"));
  },
};
