// What bindings look like that are stubs of a worker of the platform's.
import { DurableObject, WorkerEntrypoint, ServiceStub } from "cloudflare:workers";
import { EmailMessage } from "cloudflare:email";
import { inspect } from "node:util";

const masked = (v) => JSON.stringify(v)?.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replaceAll(/[A-Za-z0-9]{36}@/g, "ID@").replaceAll(/http:\/\/(127\.0\.0\.1|localhost):\d+/g, "ORIGIN");
const thrown = (e) => (e instanceof Error ? ["throws", e.name, e.message, { ...e, stack: undefined }] : ["throws", typeof e, String(e)]);
const attempt = async (fn) => { try { const v = await fn(); return v === undefined ? "undefined" : v; } catch (e) { return thrown(e); } };

// Each binding's first method, and arguments that it takes.
const methods = { PIPE: ["send", [{ a: 1 }]], SECRET: ["get"], MAIL: ["send", { from: "a@a.example", to: "b@b.example", subject: "s", text: "t" }], STREAM: ["createDirectUpload", {}], BROWSER: ["nothing"], HELLO: ["set", "v"] };

export class Other extends WorkerEntrypoint {
  async use(stub, name, args) { return [typeof stub, stub.constructor.name, await attempt(() => stub[name](...args))]; }
  keep(stub) { return stub; }
  look({ stub }) { return [stub instanceof ServiceStub, Object.keys(stub)]; }
  whose() { return attempt(() => this.ctx.props.stub.nothing()); }
}
export class Box extends DurableObject {
  async use(stub, name, args) { return [typeof stub, stub.constructor.name, await attempt(() => stub[name](...args))]; }
  own(name, method, args) { return attempt(() => this.env[name][method](...args)); }
  async store(name) { await this.ctx.storage.put("stub", this.env[name]); }
  storeNow(name) { this.ctx.storage.kv.put("stub", this.env[name]); }
}

function shapes(name) {
  const [method, ...args] = methods[name];
  return {
    "typeof": (b) => [typeof b, b.constructor.name, String(b), Object.prototype.toString.call(b), b[Symbol.toStringTag]],
    "own": (b) => [Object.keys(b), Object.getOwnPropertyNames(b), Reflect.ownKeys(b).length, JSON.stringify(b), JSON.stringify({ ...b }), Object.entries(b)],
    "class": (b) => [b instanceof ServiceStub, Object.getPrototypeOf(b) === ServiceStub.prototype, Object.isFrozen(b), Object.isExtensible(b), Object.getOwnPropertyNames(Object.getPrototypeOf(b))],
    "new": (b) => new b.constructor(),
    "inspect": (b) => [inspect(b), inspect({ b }), inspect(b.nothing), inspect([b.nothing.more])],
    "has": (b) => [method in b, "nothing" in b, "then" in b, "fetch" in b, Symbol.iterator in b],
    "members": (b) => [typeof b.nothing, typeof b[method], typeof b.then, typeof b.fetch, typeof b.connect, typeof b.dup, typeof b[Symbol.dispose], typeof b[Symbol.iterator], typeof b[0], typeof b.constructor],
    "get, put and delete": (b) => [typeof b.get, typeof b.put, typeof b.delete, typeof b.queue, typeof b.scheduled, Object.hasOwn(ServiceStub.prototype, "get")],
    "property": (b) => [String(b.nothing), b.nothing.constructor.name, typeof b.nothing.name, typeof b.nothing.length, Object.keys(b.nothing), typeof b.nothing.then, typeof b.nothing.more, b.nothing === b.nothing],
    "promise": (b) => { const p = b.nothing(); p.catch(() => {}); return [String(p), p.constructor.name, p instanceof Promise, typeof p.then, typeof p.finally, typeof p.more, Object.keys(p), inspect(p), typeof p[Symbol.dispose]]; },
    "missing method": (b) => b.nothing(1),
    "missing method's member": (b) => b.nothing(1).more,
    "missing member": (b) => b.nothing,
    "member of a missing member": (b) => b.nothing.more,
    "method of a missing member": (b) => b.nothing.more(1),
    "a method as a value": async (b) => { const f = await b[method]; return typeof f; },
    "a method by call": (b) => b[method].call(b, ...args),
    "a method by apply": (b) => b[method].apply(b, args),
    "a method bound": (b) => b[method].bind(b),
    "a method by Reflect": async (b) => typeof await Reflect.apply(b[method], undefined, args),
    "a method of its own": async (b) => { const f = b[method]; return typeof await f(...args); },
    "new of a method": (b) => new b[method](),
    ...Object.fromEntries(["alarm", "webSocketMessage", "webSocketClose", "webSocketError", "dup", "constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "prototype", "ctx", "env", "tail", "scheduled", "email", "queue"].map((m) => [`call of ${m}`, async (b) => { const v = await b[m](); return v === b ? "itself" : v instanceof ServiceStub || typeof v; }])),
    "fetch": async (b) => { const r = await b.fetch("http://x/other"); return [r.status, await r.text()]; },
    "fetch a Request": async (b) => { const r = await b.fetch(new Request("http://x/", { method: "POST", body: "x" })); return [r.status, await r.text()]; },
    "fetch nothing": (b) => b.fetch(),
    "fetch no URL": (b) => b.fetch("no URL"),
    "fetch of another": (b) => b.fetch.call({}, "http://x/"),
    "assign": (b) => { b.mine = 1; const got = [b.mine, Object.keys(b), "mine" in b]; delete b.mine; return [...got, typeof b.mine]; },
    "define": (b) => { Object.defineProperty(b, "mine", { value: 2, configurable: true }); const got = b.mine; delete b.mine; return [got, typeof b.mine]; },
    "structuredClone": (b) => structuredClone(b),
    "structuredClone within": (b) => structuredClone({ a: [b] }),
    "structuredClone of a property": (b) => structuredClone(b.nothing),
    "await": async (b) => (await b) === b,
    "resolved": async (b) => (await Promise.resolve(b)) === b,
    "message port": (b) => { const { port1 } = new MessageChannel(); port1.postMessage(b); },
    "in Response": async (b) => new Response(b).text(),
    "in a text": (b) => `${b}`,
    "spread": (b) => [...b],
    "number": (b) => +b,
    "equal": (b) => b == "[object Fetcher]",
    "key of a Map": (b, env) => new Map([[b, 1]]).get(env[name]),
    "to an entrypoint": (b, env) => env.SELF.use(b, method, args),
    "to an entrypoint, missing": (b, env) => env.SELF.use(b, "nothing", []),
    "to an object": (b, env) => env.BOX.getByName("a").use(b, method, args),
    "of an object": (b, env) => env.BOX.getByName("a").own(name, method, args),
    "of an object, missing": (b, env) => env.BOX.getByName("a").own(name, "nothing", []),
    "there and back": async (b, env) => { const back = await env.SELF.keep(b); return [back === b, back.constructor.name, typeof back[Symbol.dispose], await attempt(() => back.nothing())]; },
    "within an argument": (b, env) => env.SELF.look({ stub: b }),
    "a property as an argument": (b, env) => env.SELF.keep(b.nothing),
    "a promise as an argument": (b, env) => { const p = b.nothing(); p.catch(() => {}); return env.SELF.keep(p); },
    "in props": (b, env, ctx) => ctx.exports.Other({ props: { stub: b } }).whose(),
    "in storage": (b, env) => env.BOX.getByName("a").store(name),
    "in storage now": (b, env) => env.BOX.getByName("a").storeNow(name),
    ...Object.fromEntries(Object.entries({
      function: () => 1, symbol: Symbol("s"), bigint: 5n, "a class's instance": new (class A { x = 1; })(), WeakMap: new WeakMap(), Map: new Map([[1, { a: 2 }]]), Date: new Date(0), "bytes": new Uint8Array(2), Error: new RangeError("e"), Headers: new Headers({ a: "1" }), "a Proxy": new Proxy({ a: 1 }, {}), null: null, RegExp: /x/g, Blob: new Blob(["x"]),
    }).map(([what, arg]) => [`argument ${what}`, async (b) => { const v = await b.nothing(arg); return typeof v; }])),
    "too large an argument": (b) => b.nothing("x".repeat(33 << 20)),
  };
}

const cycle = {};
cycle.cycle = cycle;
const more = {
  "PIPE returns": async (env) => [await env.PIPE.send([{ a: 1 }]), await env.PIPE.send([]), await env.PIPE.send(), await env.PIPE.send("x"), await env.PIPE.send([1, null, "x", undefined])],
  "PIPE a stub": (env) => env.PIPE.send([env.SELF]),
  "PIPE a function": (env) => env.PIPE.send(() => 1),
  "SECRET with arguments": (env) => env.SECRET.get("other", 1),
  "SECRET administered": async (env) => { const api = await env.SECRET["SecretsStoreSecret::admin_api"](); return [Object.keys(api).sort(), typeof api.create, (await api.create("hush")).length, await env.SECRET.get(), (await api.list()).map((k) => k.name), await attempt(() => api.update("x", "none")), typeof api[Symbol.dispose]]; },
  "SECRET administered, pipelined": async (env) => { const id = await env.SECRET["SecretsStoreSecret::admin_api"]().create("again"); return [id.length, await env.SECRET.get()]; },
  "HELLO": async (env) => [await env.HELLO.get(), await env.HELLO.set("x"), await env.HELLO.get(), await env.HELLO.get().value],
  "HELLO a Map": async (env) => { await env.HELLO.set(new Map([[1, 2]])); const { value } = await env.HELLO.get(); return [value instanceof Map, value.get(1)]; },
  "HELLO a cycle": async (env) => { await env.HELLO.set(cycle); const { value } = await env.HELLO.get(); return value.cycle === value; },
  "HELLO a function": (env) => env.HELLO.set(() => 1),
  "HELLO Headers": async (env) => { await env.HELLO.set(new Headers({ a: "1" })); return (await env.HELLO.get()).value.get("a"); },
  "HELLO many": async (env) => { const all = []; for (let i = 0; i < 20; i++) all.push(env.HELLO.set(i)); await Promise.all(all); return env.HELLO.get(); },
  "STREAM pipelined": (env) => env.STREAM.video("none").captions.list("de"),
  "STREAM handles": async (env) => { const v = await env.STREAM.video("none"); return [v.constructor.name, String(v), typeof v.id, typeof v.details, await attempt(() => v.id), await attempt(() => v.details()), await attempt(() => v.captions.list()), await attempt(() => v.nothing())]; },
  "STREAM videos": async (env) => { const v = await env.STREAM.videos; return [String(v), await v.list(), await env.STREAM.videos.list()]; },
  "STREAM uploads": (env) => env.STREAM.upload(5),
  "STREAM fetches": async (env) => { const r = await env.STREAM.fetch("http://x/__cf_local/stream/none/watch"); return [r.status, await r.text()]; },
  "STREAM watches": async (env) => { const v = await env.STREAM.upload(new Blob(["video"]).stream()); const r = await env.STREAM.fetch(`http://x/__cf_local/stream/${v.id}/watch`); return [r.status, r.headers.get("content-type"), r.headers.get("content-length"), await r.text()]; },
  "BROWSER fetches": async (env) => { const out = []; for (const path of ["v1/limits", "v1/history", "v1/sessions", "v1/nothing", "other", "v1/connectDevtools", "v1/devtools/session/none", "v1/devtools/browser/none/json/list"]) { const r = await env.BROWSER.fetch("http://x/" + path); out.push([path, r.status, await r.text()]); } return out; },
  "BROWSER acts": (env) => env.BROWSER.quickAction("none", {}),
  "LIMIT": (env) => [Object.keys(env.LIMIT), JSON.stringify(env.LIMIT), env.LIMIT.constructor.name, env.LIMIT.fetcher instanceof ServiceStub],
  "LIMIT's fetcher": async (env) => { const r = await env.LIMIT.fetcher.fetch("http://ratelimit/limit", { method: "POST", body: JSON.stringify({ key: "k", limit: 2, period: 60, delta: 1 }) }); return [r.status, r.headers.get("content-type"), await r.text(), await env.LIMIT.limit({ key: "k" })]; },
  "LIMIT cloned": (env) => structuredClone(env.LIMIT),
  "EmailMessage": () => { const m = new EmailMessage("a", "b", "raw"); return [Object.keys(m), JSON.stringify(m), m instanceof EmailMessage, m.constructor.name, m.raw ?? "none", structuredClone(m), Object.keys(new EmailMessage()), EmailMessage.length]; },
  "EmailMessage to a worker": async (env) => { const m = await env.SELF.keep(new EmailMessage("a", "b", "raw")); return Object.keys(m); },
  "EmailMessage to an entrypoint that sends": async (env) => { const text = "From: a@a.example\r\nTo: b@b.example\r\nMessage-ID: <1@a>\r\n\r\nx"; const { messageId } = await env.MAIL.send(new EmailMessage("a@a.example", "b@b.example", new Response(text).body)); return typeof messageId; },
  "MAIL result": async (env) => { const r = await env.MAIL.send({ from: "a@a.example", to: "b@b.example", subject: "s", text: "t" }); return [Object.keys(r), typeof r[Symbol.dispose], inspect(r)]; },
};

export default {
  async fetch(request, env, ctx) {
    const out = [];
    const only = new URL(request.url).searchParams.get("only") ?? "";
    const t = async (name, fn) => { if (name.includes(only)) out.push(masked([name, await attempt(fn)])); };
    for (const name of Object.keys(methods)) for (const [what, fn] of Object.entries(shapes(name))) await t(`${name} ${what}`, () => fn(env[name], env, ctx));
    for (const [what, fn] of Object.entries(more)) await t(what, () => fn(env));
    return Response.json(out);
  },
};
