// What bindings are, member by member, and what they say to odd arguments.
import { WorkflowEntrypoint, DurableObject } from "cloudflare:workers";
export class Flow extends WorkflowEntrypoint { async run() { return 1; } }
export class Box extends DurableObject {}
const hidden = (text) => String(text).replaceAll(/\n    at .*/g, "").replaceAll(/127\.0\.0\.1:\d+/g, "HOST").replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID").replaceAll(/[0-9a-f]{32}/g, "RANDOM").replaceAll(/240\.\d+\.\d+\.\d+/g, "IP").replaceAll(/reference = \w+/g, "reference = ...").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
const shown = (e) => (e instanceof Error ? `throws ${e.name}: ${hidden(e.message)} ${hidden(JSON.stringify({ ...e, stack: undefined }))}` : `throws ${typeof e} ${String(e)}`);
const all = ["INDEX", "PIPE", "DISPATCH", "VERSION", "BROWSER", "EVENTS", "SECRET", "PG", "HELLO", "LIMIT", "MAIL", "IMAGES", "STREAM", "AI", "QUEUE", "LOADER", "ASSETS", "SELF", "GONE", "FLOW", "DB", "KV", "BUCKET", "BOX", "TEXT", "JSON"];
function table() {
const probes = {};
for (const n of all) {
  probes[`${n} shape`] = (env) => { const b = env[n]; return [typeof b, Object.getPrototypeOf(Object(b))?.constructor?.name, Object.prototype.toString.call(b), Object.keys(b), JSON.stringify(b), Object.isFrozen(b)]; };
  probes[`${n} own`] = (env) => Object.getOwnPropertyNames(Object(env[n])).sort();
  probes[`${n} members`] = (env) => Object.getOwnPropertyNames(Object.getPrototypeOf(Object(env[n]))).filter((m) => typeof env[n] === "object" && n !== "JSON" && n !== "VERSION" || m === "x").sort();
  probes[`${n} enumerable members`] = (env) => Object.keys(Object.getPrototypeOf(Object(env[n]))).sort();
  probes[`${n} tag`] = (env) => String(env[n][Symbol.toStringTag]);
  probes[`${n} missing member`] = (env) => typeof env[n].nothing;
  probes[`${n} missing method`] = (env) => env[n].nothing(1);
  probes[`${n} missing awaited`] = (env) => env[n].nothing;
  probes[`${n} then`] = (env) => typeof env[n].then;
  probes[`${n} fetch`] = (env) => typeof env[n].fetch;
  probes[`${n} dup`] = (env) => [typeof env[n].dup, typeof env[n][Symbol.dispose], typeof env[n].connect];
  probes[`${n} set`] = (env) => { env[n].mine = 1; const got = typeof env[n].mine; delete env[n].mine; return got; };
  probes[`${n} cloned`] = (env) => { structuredClone(env[n]); return "cloned"; };
  probes[`${n} awaited`] = async (env) => { const b = await env[n]; return b === env[n]; };
  probes[`${n} in env`] = (env) => { const d = Object.getOwnPropertyDescriptor(env, n); return [d.writable, d.enumerable, d.configurable]; };
}
const cycle = {}; cycle.cycle = cycle;
for (const [what, ...args] of [["nothing"], ["undefined", undefined], ["null", null], ["5", 5], ["text", "x"], ["{}", {}], ["[]", []], ["[{}]", [{ a: 1 }]], ["[null]", [null]], ["[5]", [5]], ["bigint", [{ n: 5n }]], ["bigint alone", 5n], ["date", [{ d: new Date(0) }]],
  ["map", [new Map([[1, 2]])]], ["bytes", [new Uint8Array(2)]], ["cycle", [cycle]], ["function", [() => 1]], ["function alone", () => 1], ["symbol", [Symbol("s")]], ["symbol alone", Symbol("s")], ["class", [new (class A { x = 1; })()]], ["weak map", [new WeakMap()]], ["two arguments", [{ a: 1 }], [{ b: 2 }]], ["stream", new Response("x").body], ["stream inside", [new Response("x").body]], ["response", [new Response("x")]], ["headers", [new Headers({ a: "1" })]], ["error", [new RangeError("e")]]]) {
  probes[`PIPE send ${what}`] = (env) => env.PIPE.send(...args);
  probes[`HELLO set ${what}`] = (env) => env.HELLO.set(...args);
}
Object.assign(probes, {
  "PIPE send returns": async (env) => String(env.PIPE.send([{ a: 1 }])),
  "PIPE send length": (env) => [env.PIPE.send.name, typeof env.PIPE.send, String(env.PIPE.send)],
  "PIPE fetch": async (env) => { const r = await env.PIPE.fetch("http://x/"); return [r.status, await r.text()]; },
  "PIPE toString": (env) => env.PIPE.toString(),
  "SECRET get args": (env) => env.SECRET.get("x", 1),
  "SECRET fetch": async (env) => { const r = await env.SECRET.fetch("http://x/"); return [r.status, await r.text()]; },
  "SECRET get prints": (env) => [env.SECRET.get.name, String(env.SECRET.get), typeof env.SECRET.get],
  "SECRET get result": (env) => { const p = env.SECRET.get(); p.catch?.(() => {}); Promise.resolve(p).catch(() => {}); return [p instanceof Promise, Object.prototype.toString.call(p), typeof p.foo]; },
  "HELLO get": (env) => env.HELLO.get(),
  "HELLO fetch": async (env) => { const r = await env.HELLO.fetch("http://x/"); return [r.status, await r.text()]; },
  "VERSION": (env) => [JSON.stringify(env.VERSION), env.VERSION === env.VERSION, Object.isExtensible(env.VERSION)],
  "EVENTS args": (env) => [typeof env.EVENTS.writeDataPoint(), env.EVENTS.writeDataPoint.length, env.EVENTS.writeDataPoint.name],
  "EVENTS of another": (env) => env.EVENTS.writeDataPoint.call(undefined, { blobs: ["x"] }),
  "EVENTS too many": (env) => env.EVENTS.writeDataPoint({ blobs: new Array(30).fill("x"), doubles: new Array(30).fill(1) }),
  "EVENTS bigint": (env) => env.EVENTS.writeDataPoint({ doubles: [5n] }),
  "EVENTS cycle": (env) => env.EVENTS.writeDataPoint(cycle),
  "EVENTS getter": (env) => env.EVENTS.writeDataPoint({ get blobs() { throw new Error("getter"); } }),
  "PG members": (env) => [env.PG.port, typeof env.PG.port, env.PG.user, env.PG.password, env.PG.database, env.PG.host, env.PG.connectionString],
  "MY members": (env) => [env.MY.port, env.MY.user, env.MY.password, env.MY.database, env.MY.host, env.MY.connectionString],
  "PG assign": (env) => { "use strict"; env.PG.user = "x"; return env.PG.user; },
  "PG of another": (env) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(env.PG), "user")?.get?.call({}),
  "PG connect": async (env) => { const s = env.PG.connect(); s.opened.catch(() => {}); s.closed.catch(() => {}); return [s.constructor.name, Object.keys(s).sort(), typeof s.readable, s.secureTransport, s.upgraded]; },
  "PG connect args": async (env) => { const s = env.PG.connect(5, 6); s.opened.catch(() => {}); s.closed.catch(() => {}); return s.constructor.name; },
  "DISPATCH get()": (env) => env.DISPATCH.get().fetch("http://x/"),
  "DISPATCH get(5)": (env) => env.DISPATCH.get(5).fetch("http://x/"),
  "DISPATCH get(x)": (env) => env.DISPATCH.get("x").fetch("http://x/"),
  "DISPATCH get(x, 5)": (env) => env.DISPATCH.get("x", 5).fetch("http://x/"),
  "DISPATCH get(x, f)": (env) => env.DISPATCH.get("x", { f() {} }).fetch("http://x/"),
  "DISPATCH get(x) method": (env) => env.DISPATCH.get("x").m(),
  "DISPATCH get only": (env) => [String(env.DISPATCH.get("x")), env.DISPATCH.get.length, env.DISPATCH.get.name],
  "INDEX lengths": (env) => ["describe", "query", "queryById", "insert", "upsert", "getByIds", "deleteByIds"].map((m) => [m, env.INDEX[m]?.length]),
  "INDEX query()": (env) => env.INDEX.query(),
  "INDEX query(null)": (env) => env.INDEX.query(null),
  "INDEX query(5)": (env) => env.INDEX.query(5),
  "INDEX query text": (env) => env.INDEX.query("abc"),
  "INDEX query metadata": (env) => env.INDEX.query([1], { returnMetadata: "some" }),
  "INDEX query metadata 5": (env) => env.INDEX.query([1], { returnMetadata: 5 }),
  "INDEX query metadata object": (env) => env.INDEX.query([1], { returnMetadata: {} }),
  "INDEX query by id metadata": (env) => env.INDEX.queryById("x", { returnMetadata: "some" }),
  "INDEX query options changed": async (env) => { const o = { returnMetadata: true }; try { await env.INDEX.query([1], o); } catch {} return o; },
  "INDEX insert()": (env) => env.INDEX.insert(),
  "INDEX insert(null)": (env) => env.INDEX.insert(null),
  "INDEX insert({})": (env) => env.INDEX.insert({}),
  "INDEX insert([null])": (env) => env.INDEX.insert([null]),
  "INDEX insert no values": (env) => env.INDEX.insert([{ id: "x" }]),
  "INDEX insert values null": (env) => env.INDEX.insert([{ id: "x", values: null }]),
  "INDEX upsert()": (env) => env.INDEX.upsert(),
  "INDEX upsert no values": (env) => env.INDEX.upsert([{ id: "x" }]),
  "ASSETS fetch": async (env) => { const r = await env.ASSETS.fetch("http://x/a.txt"); return [r.status, await r.text()]; },
  "ASSETS fetch relative": (env) => env.ASSETS.fetch("/a.txt"),
  "ASSETS fetch none": async (env) => { const r = await env.ASSETS.fetch("http://x/none"); return [r.status, await r.text()]; },
  "ASSETS fetch post": async (env) => { const r = await env.ASSETS.fetch("http://x/a.txt", { method: "POST", body: "x" }); return [r.status, await r.text()]; },
  "ASSETS fetch()": (env) => env.ASSETS.fetch(),
  "ASSETS method": (env) => env.ASSETS.unstable_exists("/a.txt"),
  "ASSETS canFetch": (env) => env.ASSETS.unstable_canFetch(new Request("http://x/a.txt")),
  "GONE fetch": async (env) => { const r = await env.GONE.fetch("http://x/"); return [r.status, await r.text()]; },
  "GONE method": (env) => env.GONE.m(),
  "MAIL send()": (env) => env.MAIL.send(),
  "MAIL send(null)": (env) => env.MAIL.send(null),
  "MAIL send(5)": (env) => env.MAIL.send(5),
  "MAIL send(text)": (env) => env.MAIL.send("x"),
  "MAIL send([])": (env) => env.MAIL.send([]),
  "MAIL send two": (env) => env.MAIL.send("a@a.example", "b@b.example", "raw"),
  "LIMIT limit()": (env) => env.LIMIT.limit(),
  "IMAGES info()": (env) => env.IMAGES.info(),
  "IMAGES info(null)": (env) => env.IMAGES.info(null),
  "IMAGES info(5)": (env) => env.IMAGES.info(5),
  "IMAGES info(text)": (env) => env.IMAGES.info("x"),
  "IMAGES info({})": (env) => env.IMAGES.info({}),
  "IMAGES info encoding": (env) => env.IMAGES.info(new Response("x").body, { encoding: "hex" }),
  "IMAGES info base64": (env) => env.IMAGES.info(new Response("@@").body, { encoding: "base64" }),
  "IMAGES info options": (env) => env.IMAGES.info(new Response("x").body, 5),
  "IMAGES input()": (env) => env.IMAGES.input(),
  "IMAGES input() output": (env) => env.IMAGES.input().output({ format: "image/png" }),
  "IMAGES input(5) output": (env) => env.IMAGES.input(5).output({ format: "image/png" }),
  "IMAGES output()": (env) => env.IMAGES.input(new Response("x").body).output(),
  "IMAGES output({})": (env) => env.IMAGES.input(new Response("x").body).output({}),
  "IMAGES transform()": (env) => env.IMAGES.input(new Response("x").body).transform().output({ format: "image/png" }),
  "IMAGES transform(5)": (env) => env.IMAGES.input(new Response("x").body).transform(5).output({ format: "image/png" }),
  "IMAGES draw()": (env) => env.IMAGES.input(new Response("x").body).draw().output({ format: "image/png" }),
  "IMAGES draw(5)": (env) => env.IMAGES.input(new Response("x").body).draw(5).output({ format: "image/png" }),
  "IMAGES hosted": (env) => [typeof env.IMAGES.hosted, env.IMAGES.hosted?.constructor?.name, Object.getOwnPropertyNames(Object.getPrototypeOf(env.IMAGES.hosted)).sort()],
  "IMAGES input shape": (env) => { const i = env.IMAGES.input(new Response("x").body); return [i.constructor.name, Object.keys(i), Object.getOwnPropertyNames(Object.getPrototypeOf(i)).sort()]; },
  "IMAGES hosted upload()": (env) => env.IMAGES.hosted.upload(),
  "IMAGES hosted image()": (env) => env.IMAGES.hosted.image().details(),
  "IMAGES hosted image(null)": (env) => env.IMAGES.hosted.image(null).details(),
  "IMAGES hosted image shape": (env) => { const i = env.IMAGES.hosted.image("x"); return [i.constructor.name, Object.keys(i), Object.getOwnPropertyNames(Object.getPrototypeOf(i)).sort()]; },
  "IMAGES hosted list bad": (env) => env.IMAGES.hosted.list({ limit: "x" }),
  "IMAGES hosted list 0": (env) => env.IMAGES.hosted.list({ limit: 0 }),
  "IMAGES hosted list 5": (env) => env.IMAGES.hosted.list(5),
  "IMAGES hosted signedUrl()": (env) => env.IMAGES.hosted.image("x").signedUrl(),
  "IMAGES hosted update()": (env) => env.IMAGES.hosted.image("x").update(),
  "STREAM video()": async (env) => { const v = await env.STREAM.video(); return v.details(); },
  "STREAM video(x)": async (env) => { const v = await env.STREAM.video("x"); return v.details(); },
  "STREAM upload()": (env) => env.STREAM.upload(),
  "STREAM list": (env) => env.STREAM.videos.list(),
  "QUEUE send()": (env) => env.QUEUE.send(),
  "QUEUE send(symbol)": (env) => env.QUEUE.send(Symbol("s")),
  "QUEUE send(function)": (env) => env.QUEUE.send(() => 1),
  "QUEUE send(v8 function)": (env) => env.QUEUE.send(() => 1, { contentType: "v8" }),
  "QUEUE sendBatch()": (env) => env.QUEUE.sendBatch(),
  "QUEUE sendBatch([])": (env) => env.QUEUE.sendBatch([]),
  "QUEUE sendBatch(5)": (env) => env.QUEUE.sendBatch(5),
  "QUEUE metrics": (env) => env.QUEUE.metrics(),
  "FLOW get()": (env) => env.FLOW.get(),
  "FLOW get(none)": (env) => env.FLOW.get("none"),
  "FLOW get(5)": (env) => env.FLOW.get(5),
  "FLOW create(5)": (env) => env.FLOW.create(5),
  "FLOW create(null)": (env) => env.FLOW.create(null),
  "FLOW create id ''": (env) => env.FLOW.create({ id: "" }),
  "FLOW create id bad": (env) => env.FLOW.create({ id: "a b" }),
  "FLOW create id long": (env) => env.FLOW.create({ id: "a".repeat(101) }),
  "FLOW create id 5": (env) => env.FLOW.create({ id: 5 }),
  "FLOW create params function": (env) => env.FLOW.create({ id: "fn", params: () => 1 }),
  "FLOW create params symbol": (env) => env.FLOW.create({ id: "sy", params: Symbol("s") }),
  "FLOW createBatch()": (env) => env.FLOW.createBatch(),
  "FLOW createBatch([])": (env) => env.FLOW.createBatch([]),
  "FLOW createBatch(5)": (env) => env.FLOW.createBatch(5),
  "FLOW createBatch 101": (env) => env.FLOW.createBatch(Array.from({ length: 101 }, (_, i) => ({ id: `b${i}` }))),
  "FLOW created": async (env) => { const i = await env.FLOW.create({ id: "one" }); return [i.id, i.constructor.name, Object.keys(i), Object.getOwnPropertyNames(Object.getPrototypeOf(i)).sort()]; },
  "FLOW created again": (env) => env.FLOW.create({ id: "one" }),
  "FLOW sendEvent()": async (env) => (await env.FLOW.get("one")).sendEvent(),
  "FLOW sendEvent bad": async (env) => (await env.FLOW.get("one")).sendEvent({ type: "a b" }),
  "FLOW pause": async (env) => (await env.FLOW.get("one")).pause(),
  "FLOW resume": async (env) => (await env.FLOW.get("one")).resume(),
  "FLOW terminate": async (env) => (await env.FLOW.get("one")).terminate(),
  "AI lengths": (env) => ["run", "models", "toMarkdown", "gateway", "autorag"].map((m) => env.AI[m]?.length),
  "BROWSER fetch": (env) => typeof env.BROWSER.fetch,
  "BROWSER limits": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/limits"); return [r.status, await r.text()]; },
  "BROWSER sessions": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/sessions"); return [r.status, await r.text()]; },
  "BROWSER history": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/history"); return [r.status, await r.text()]; },
  "BROWSER none": async (env) => { const r = await env.BROWSER.fetch("http://x/none"); return [r.status, await r.text()]; },
  "BROWSER devtools none": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/connectDevtools"); return [r.status, await r.text()]; },
  "BROWSER devtools unknown": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/connectDevtools?browser_session=x"); return [r.status, await r.text()]; },
  "BROWSER session unknown": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/devtools/session/x"); return [r.status, await r.text()]; },
  "BROWSER session list": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/devtools/session"); return [r.status, await r.text()]; },
  "BROWSER browser unknown": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/devtools/browser/x"); return [r.status, await r.text()]; },
  "BROWSER browser unknown json": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/devtools/browser/x/json"); return [r.status, await r.text()]; },
  "BROWSER browser unknown delete": async (env) => { const r = await env.BROWSER.fetch("http://x/v1/devtools/browser/x", { method: "DELETE" }); return [r.status, await r.text()]; },
  "BROWSER quickAction": (env) => env.BROWSER.quickAction("screenshot", { url: "http://x/" }),
});
return probes;
}
// What is answered otherwise here, as docs/compatibility.md says: dispatch namespaces and Vectorize have a
// local form, pipelines keep what they are sent, a queue without a consumer keeps its messages and so checks
// them, and wrangler's own stacks and internal members are its own.
const otherwise = [/^DISPATCH /, /^INDEX (members|query\(5\)|query text)$/, /^PIPE send (bigint|bigint alone|cycle)$/, /^ASSETS (method|canFetch)$/,
  /^IMAGES (info\(\)|info\(null\)|info base64|input\(\) output)$/, /^QUEUE send\((symbol|function)\)$/, /^FLOW (members|create params function|created)$/,
  /^BROWSER (devtools unknown|browser unknown|quickAction)$/, /^IMAGES hosted list/];
export default { async fetch(request, env) {
  const only = new URL(request.url).searchParams.get("only");
  const out = [], probes = table();
  for (const what of Object.keys(probes)) {
    if (only && !what.includes(only) || otherwise.some((pattern) => pattern.test(what))) continue;
    let answer;
    try {
      answer = JSON.stringify(await probes[what](env)) ?? "undefined";
    } catch (e) { answer = shown(e); }
    out.push(`${what}: ${hidden(answer)}`);
  }
  return Response.json(out);
} };
