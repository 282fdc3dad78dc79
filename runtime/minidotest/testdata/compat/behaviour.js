// What a worker can notice of compatibility flags: each line is a name, and what
// gives its answer. The class E is another entrypoint of the worker.
import { env as imported, exports as importedExports, WorkerEntrypoint } from "cloudflare:workers";

const attempt = async (fn) => { try { return (await fn()) ?? null; } catch (e) { return `${e.name}: ${e.message}`; } };
const rejections = [];
addEventListener("unhandledrejection", (e) => { rejections.push(`unhandled ${e.reason}`); e.preventDefault(); });
addEventListener("rejectionhandled", () => rejections.push("handled"));
// unheard says which events come of the rejections that fn makes, among what it says itself.
const unheard = async (fn) => { rejections.length = 0; fn((x) => rejections.push(x)); await scheduler.wait(1); return rejections.join(); };
const pass = (n) => { let p = Promise.resolve(); while (n-- > 0) p = p.then(() => {}); return p; };
const decode = (label, bytes, options) => new TextDecoder(label, options).decode(new Uint8Array(bytes));
const answers = {
  importScripts: () => typeof importScripts,
  importScriptsCalled: () => attempt(() => importScripts("x")),
  weakRefs: () => [typeof WeakRef, typeof FinalizationRegistry],
  messageChannel: () => [typeof MessageChannel, typeof MessagePort],
  navigatorLanguage: () => [navigator.language, "language" in navigator, "languages" in navigator],
  ctxExports: (env, ctx) => [typeof ctx.exports, "exports" in ctx],
  importedExports: () => [typeof importedExports, Object.keys(importedExports)],
  importedEnv: () => [typeof imported, Object.keys(imported)],
  cacheOption: () => attempt(() => new Request("http://x", { cache: "no-store" }).cache),
  cacheNoCache: () => attempt(() => new Request("http://x", { cache: "no-cache" }).cache),
  cacheOther: () => attempt(() => new Request("http://x", { cache: "default" }).cache),
  cacheReload: () => attempt(() => new Request("http://x", { cache: "reload" }).cache),
  cacheUndefined: () => attempt(() => new Request("http://x", { cache: undefined }).url),
  cacheMember: () => ["cache" in new Request("http://x"), attempt(() => new Request("http://x").cache)],
  methods: () => ["get", "Post", "put", "head", "OPTIONS", "options", "delete", "patch", "PATCH", "query", "move", "x", ""].map((method) => { try { return new Request("http://x", { method }).method; } catch (e) { return `${e.name}: ${e.message}`; } }),
  blobType: () => ["TEXT/Plain", "text/plain;charset=UTF-8", "a b", "x", "text/html;x=\"a b\""].map((type) => new Blob([], { type }).type),
  bom: () => new Response(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).text().then((t) => t.length),
  bomJSON: () => attempt(() => new Response(new Uint8Array([0xef, 0xbb, 0xbf, 0x31])).json()),
  closeReason: () => attempt(() => { const [a, b] = Object.values(new WebSocketPair()); a.accept(); b.accept(); a.close(1000, "x".repeat(124)); return "closed"; }),
  toStringTag: () => [new Headers(), new Response(), new Request("http://x"), new URL("http://x"), new Blob([]), new AbortController(), crypto].map((o) => Object.prototype.toString.call(o)),
  iterableBody: () => attempt(() => new Response((function* () { yield "a"; yield "b"; })()).text()),
  asyncIterableBody: () => attempt(() => new Response((async function* () { yield new Uint8Array([97]); })()).text()),
  arrayBody: () => attempt(() => new Response(["a", "b"]).text()),
  listenerThis: () => { const t = new EventTarget(); let seen; t.addEventListener("x", function () { seen = this === t ? "target" : String(this); }); t.dispatchEvent(new Event("x")); return seen; },
  dispatchOrder: () => { const t = new EventTarget(), seen = []; t.addEventListener("x", () => { seen.push(1); throw new Error("mine"); }); t.addEventListener("x", () => seen.push(2)); try { seen.push(t.dispatchEvent(new Event("x"))); } catch (e) { seen.push(e.message); } return seen; },
  abortThrows: () => { const c = new AbortController(), seen = []; c.signal.addEventListener("abort", () => { throw new Error("mine"); }); c.signal.onabort = () => seen.push("on"); try { c.abort(); } catch (e) { seen.push(e.message); } return [seen, c.signal.aborted]; },
  handlerThrows: () => { const t = new AbortController().signal, seen = []; t.onabort = () => { throw new Error("mine"); }; try { seen.push(t.dispatchEvent(new Event("abort"))); } catch (e) { seen.push(e.message); } return seen; },
  handlerThis: () => { const t = new AbortController().signal; let seen; t.onabort = function () { seen = this === t ? "target" : String(this); }; t.dispatchEvent(new Event("abort")); return seen; },
  dispatchThrows: () => attempt(() => { const t = new EventTarget(); t.addEventListener("x", () => { throw new Error("mine"); }); return t.dispatchEvent(new Event("x")); }),
  surrogates: () => [...decode("utf-16le", [0x00, 0xd8, 0x61, 0x00])].map((c) => c.codePointAt(0)),
  surrogateCases: () => [[0x00, 0xdc], [0x00, 0xd8], [0x3d, 0xd8, 0x00, 0xde], [0x61], [0x00, 0xd8, 0x00]].map((b) => [...decode("utf-16le", b)].map((c) => c.codePointAt(0))),
  surrogateStream: () => { const d = new TextDecoder("utf-16le"); return [d.decode(new Uint8Array([0x3d, 0xd8]), { stream: true }), d.decode(new Uint8Array([0x00, 0xde]))].map((t) => [...t].map((c) => c.codePointAt(0))); },
  bomRequest: () => new Request("http://x", { method: "POST", body: new Uint8Array([0xef, 0xbb, 0xbf, 0x61]) }).text().then((t) => t.length),
  bomBlob: () => new Blob([new Uint8Array([0xef, 0xbb, 0xbf, 0x61])]).text().then((t) => t.length),
  iterators: () => Promise.all([() => new Response(new Set(["a"])), () => new Response({ [Symbol.iterator]: () => [1][Symbol.iterator]() }), () => new Request("http://x", { method: "POST", body: ["x"] }), () => new Response(new String("s")), () => new Response(new Map([[1, 2]]))].map((fn) => attempt(() => fn().text()))),
  ownTexts: () => Promise.all([
    class { *[Symbol.iterator]() { yield "i"; } toString() { return "own"; } }, class { *[Symbol.iterator]() { yield "i"; } [Symbol.toPrimitive]() { return "own"; } },
    class { async *[Symbol.asyncIterator]() { yield "ai"; } toString() { return "own"; } }, class extends Array { constructor() { super(); this.push("e"); } toString() { return "own"; } },
  ].map((C) => attempt(() => new Response(new C()).text()))),
  unheardPlain: () => unheard(() => { Promise.reject(1); }),
  unheardAtOnce: () => unheard(() => { Promise.reject(1).catch(() => {}); }),
  unheardTick: () => unheard((say) => { const p = Promise.reject(1); queueMicrotask(() => p.catch(() => say("caught"))); }),
  unheardTicks: () => unheard((say) => { const p = Promise.reject(1); pass(9).then(() => p.catch(() => say("caught"))); }),
  unheardTimer: () => unheard((say) => { const p = Promise.reject(1); setTimeout(() => p.catch(() => say("caught")), 0); }),
  unheardLoop: () => unheard(async (say) => { for (const p of [Promise.reject(1), Promise.reject(2)]) await p.catch(say); }),
  unheardJobs: () => unheard((say) => { Promise.reject(1); pass(0).then(() => say("a")).then(() => say("b")).then(() => say("c")); queueMicrotask(() => { Promise.reject(2); say("m"); }); }),
  unheardOrder: () => unheard(() => { const all = [..."abcdef"].map((x) => Promise.reject(x)); all[2].catch(() => {}); }),
  unheardNested: () => unheard(() => { Promise.reject(1); pass(0).then(() => { Promise.reject(2); }).then(() => { Promise.reject(3); }); }),
  cjkErrors: () => [
    ["big5", [0x81, 0xa4, 0xa4, 0x87, 0x90, 0x88, 0xad]], ["big5", [0x87, 0x80, 0x41]], ["euc-jp", [0x8e, 0x8f, 0xa2, 0xfe, 0x41]], ["euc-jp", [0x8f, 0xb0, 0x80, 0xb0, 0xa1]], ["euc-jp", [0x8e, 0xe0, 0xa1]],
    ["gbk", [0x80, 0xa6, 0xd9, 0xfe, 0x90]], ["gb18030", [0x82, 0x35, 0x90, 0x37, 0xfe, 0x59]], ["shift_jis", [0xf9, 0x40, 0xf9, 0x81, 0x87, 0x5e, 0x87, 0x40]], ["euc-kr", [0x80, 0xc9, 0xa1, 0xff]], ["iso-2022-jp", [0x1b, 0x24, 0x42, 0x42, 0x35, 0x1b, 0x28, 0x42, 0x61]],
  ].map(([l, b]) => [...decode(l, b)].map((c) => c.codePointAt(0).toString(16)).join()),
  cjkFatal: () => attempt(() => decode("gbk", [0x80], { fatal: true })),
  cjkChunks: () => { const d = new TextDecoder("big5"), show = (t) => [...t].map((c) => c.codePointAt(0).toString(16)).join(); return [show(d.decode(new Uint8Array([0x87]), { stream: true })), show(d.decode(new Uint8Array([0x90, 0xa4]), { stream: true })), show(d.decode(new Uint8Array([0xa4])))]; },
  cjk: () => ["big5", "euc-jp", "gb18030", "shift_jis", "euc-kr", "gbk"].map((l) => [...decode(l, [0x81, 0x40, 0xa4, 0xa4, 0xff, 0x61])].map((c) => c.codePointAt(0).toString(16)).join()),
  pattern: () => attempt(() => { const p = new URLPattern({ pathname: "/a/:b?" }); return [p.hasRegExpGroups, p.pathname, JSON.stringify(p.exec("http://x/a/c")?.pathname)]; }),
  fetcherGet: (env, ctx) => [typeof new Request("http://x").fetcher],
  performanceClasses: () => ["Performance", "PerformanceEntry", "PerformanceMark", "PerformanceMeasure", "PerformanceObserver", "PerformanceObserverEntryList", "PerformanceResourceTiming"].filter((name) => name in globalThis),
  timers: () => typeof setTimeout(() => {}, 0),
  thenable: () => Promise.resolve({ then(f) { f(5); } }),
  pipeIdle: () => attempt(async () => { let fail, reason; const s = new ReadableStream({ cancel(r) { reason = r.message; } }); const p = s.pipeTo(new WritableStream({ start(c) { fail = (e) => c.error(e); } })); await scheduler.wait(1); fail(new Error("idle")); return [(await attempt(() => p)), reason, s.locked]; }),
  pipeKept: () => attempt(async () => { let fail, reason; const s = new ReadableStream({ cancel(r) { reason = r.message; } }); const p = s.pipeTo(new WritableStream({ start(c) { fail = (e) => c.error(e); } }), { preventCancel: true }); await scheduler.wait(1); fail(new Error("idle")); return [await Promise.race([attempt(() => p), scheduler.wait(5).then(() => "waits")]), reason, s.locked]; }),
  pipeCancel: () => attempt(() => new ReadableStream({ pull(c) { c.enqueue(1); }, cancel() { throw new Error("canceling"); } }).pipeTo(new WritableStream({ write() { throw new Error("writing"); } }))),
  pipeEnded: () => attempt(async () => { const w = new WritableStream(); await w.close(); await new ReadableStream().pipeTo(w); }),
  pipeSignal: () => attempt(async () => { let source; const s = new ReadableStream({ start(c) { source = c; } }), seen = [], a = new AbortController(); const p = attempt(() => s.pipeTo(new WritableStream({ write(x) { seen.push(x); }, abort(r) { seen.push(r.message); } }), { signal: a.signal })); await scheduler.wait(1); a.abort(new Error("signal")); seen.push(await Promise.race([p, scheduler.wait(5).then(() => "waits")])); source.enqueue(1); return [await p, seen]; }),
  binaryType: () => new WebSocketPair()[0].binaryType ?? null,
  writerClosed: () => attempt(async () => { const { writable } = new TransformStream(); const w = writable.getWriter(); w.releaseLock(); await w.closed; }),
  byobAtEnd: () => attempt(async () => { const r = new Response("").body?.getReader({ mode: "byob" }); const { done, value } = await r.read(new Uint8Array(4)); return [done, value === undefined ? "undefined" : value.byteLength]; }),
};

export class E extends WorkerEntrypoint {}
export default {
  async fetch(request, env, ctx) {
    const lines = [];
    for (const [name, fn] of Object.entries(answers)) lines.push(`${name}: ${JSON.stringify(await attempt(() => fn(env, ctx)))}`);
    return new Response(lines.join("\n"));
  },
};
