// flag: nodejs_compat
// Areas that no other file has: texts of errors are compared here, too.
import zlib from "node:zlib";
import util from "node:util";
import { EventEmitter, once, on } from "node:events";
import { Readable, Writable, Transform, PassThrough, pipeline, finished, compose, addAbortSignal } from "node:stream";
import { pipeline as pipelineP } from "node:stream/promises";
import nodePerf from "node:perf_hooks";
import nodeCrypto from "node:crypto";
import { Buffer } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import querystring from "node:querystring";
import nodePath from "node:path";
import nodeUrl from "node:url";
import nodeAssert from "node:assert";

const told = (fn) => {
  try {
    return show(fn());
  } catch (e) {
    return `${e?.name} ${e?.code ?? ""}: ${e?.message}`;
  }
};
const atold = async (fn) => {
  try {
    return show(await fn());
  } catch (e) {
    return `${e?.name} ${e?.code ?? ""}: ${e?.message}`;
  }
};
const from = (s) => new TextEncoder().encode(s);

each("Intl numbers", () => [
  new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" }).format(-1234.5),
  new Intl.NumberFormat("de", { maximumSignificantDigits: 3 }).format(123456),
  new Intl.NumberFormat("en", { notation: "compact" }).format(1234567),
  new Intl.NumberFormat("en", { style: "unit", unit: "kilometer-per-hour" }).format(50),
  told(() => new Intl.NumberFormat("en", { style: "currency" })),
  told(() => new Intl.NumberFormat("en", { minimumFractionDigits: 101 })),
  told(() => new Intl.NumberFormat("x_y")),
]);
each("Intl others", () => [
  new Intl.PluralRules("en", { type: "ordinal" }).select(22),
  new Intl.ListFormat("en", { type: "disjunction" }).format(["a", "b", "c"]),
  new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day"),
  told(() => new Intl.RelativeTimeFormat("en").format(1, "fortnight")),
  [...new Intl.Segmenter("en", { granularity: "word" }).segment("Hi you!")].map((s) => s.segment + s.isWordLike),
  told(() => Intl.supportedValuesOf("nope")),
  new Intl.Collator("en", { numeric: true }).compare("a10", "a9"),
]);
each("Intl dates", () => [
  new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeStyle: "long", timeZone: "UTC" }).format(0),
  new Intl.DateTimeFormat("en-GB", { timeZone: "Asia/Tokyo", hour: "2-digit", minute: "2-digit" }).format(0),
  told(() => new Intl.DateTimeFormat("en", { timeZone: "No/Where" })),
  told(() => new Intl.DateTimeFormat("en", { dateStyle: "full", hour: "numeric" })),
  told(() => new Intl.DateTimeFormat("en").format(NaN)),
]);
each("zlib round", () => [
  zlib.gunzipSync(zlib.gzipSync("hello")).toString(),
  zlib.inflateRawSync(zlib.deflateRawSync(Buffer.from("x".repeat(1000)), { level: 9 })).length,
  zlib.brotliDecompressSync(zlib.brotliCompressSync("hello")).toString(),
  zlib.crc32("hello"),
  zlib.crc32("lo", zlib.crc32("hel")),
]);
each("zlib errors", () => [
  told(() => zlib.gunzipSync("not gzip")),
  told(() => zlib.inflateSync(Buffer.from([0x78, 0x9c, 1]))),
  told(() => zlib.inflateRawSync(Buffer.from([7]))),
  told(() => zlib.deflateSync("a", { level: 10 })),
  told(() => zlib.deflateSync("a", { windowBits: 99 })),
  told(() => zlib.gzipSync(5)),
  told(() => zlib.brotliDecompressSync("zzzz")),
  told(() => zlib.inflateSync(zlib.deflateSync("x".repeat(100)), { maxOutputLength: 10 })),
  told(() => zlib.crc32(5)),
  told(() => zlib.crc32("a", -1)),
]);
each("perf_hooks", async () => [
  Object.keys(nodePerf).sort(),
  typeof nodePerf.performance.now(),
  told(() => nodePerf.createHistogram()),
  told(() => nodePerf.monitorEventLoopDelay()),
  told(() => nodePerf.performance.timerify(() => 1)),
  told(() => nodePerf.performance.eventLoopUtilization()),
]);
each("util.inspect", () => [
  util.inspect({ a: [1, { b: { c: { d: 1 } } }], m: new Map([[1, { x: 1 }]]), s: new Set(["a"]) }),
  util.inspect(new (class Foo extends Map {})([["a", 1]])),
  util.inspect(Object.create(null, { x: { get() {}, enumerable: true } })),
  util.inspect([, "a", , 2], { compact: false }),
  util.inspect(Symbol("x")) + util.inspect(-0) + util.inspect(10n) + util.inspect("it's"),
  util.inspect(new Proxy({ a: 1 }, {}), { showProxy: true }),
  util.inspect({ f() {}, g: class A {}, h: async () => {}, *i() {} }),
  util.inspect("a\nb".repeat(3)) + util.inspect(new Uint8Array(3)) + util.inspect(new ArrayBuffer(2)),
]);
each("util.format", () => [
  util.format("%s %d %i %f %j %o %O %c %%", "a", 1.5, "42.9", "3.1", { a: 1 }, [1], { b: 2 }, "css"),
  util.format("%s", Symbol("a"), null, undefined, -0),
  util.format("%d %d", 10n, "x"),
  util.format(1, 2, "3"),
  util.format("%s", { toString() { return "own"; } }, class A {}),
]);
each("util misc", () => [
  util.isDeepStrictEqual({ a: [1, new Date(0)] }, { a: [1, new Date(0)] }),
  util.stripVTControlCharacters("\u001b[31mred\u001b[0m"),
  told(() => util.styleText("red", "x", { validateStream: false })),
  told(() => util.styleText("nope", "x")),
  told(() => util.promisify(5)),
  told(() => util.inherits(1, 2)),
  told(() => util.parseArgs({ args: ["--a=1", "-b", "c"], options: { a: { type: "string" }, b: { type: "boolean", short: "b" } }, allowPositionals: true })),
  told(() => util.parseArgs({ args: ["--z"], options: {} })),
  told(() => util.toUSVString("a\ud800")),
  told(() => util.getSystemErrorName(-2)),
  told(() => util.types.isBoxedPrimitive(Object(1n))),
  told(() => new util.MIMEType("text/html; charset=utf-8; q=\"a b\"").toString()),
  told(() => new util.MIMEType("bad")),
  told(() => util.callbackify(5)),
  told(() => util.debuglog("x").enabled),
]);
each("util.promisify and callbackify", async () => [
  await atold(util.promisify((a, cb) => cb(null, a + 1)).bind(null, 1)),
  await atold(util.promisify((cb) => cb(new RangeError("r")))),
  await new Promise((r) => util.callbackify(async () => 5)((e, v) => r([e, v]))),
  await new Promise((r) => util.callbackify(() => Promise.reject(null))((e) => r([e.name, e.code, e.message]))),
]);
each("events", async () => {
  const e = new EventEmitter();
  const log = [];
  e.on("newListener", (n) => log.push("new " + n));
  e.prependOnceListener("a", () => log.push("first"));
  e.on("a", () => log.push("second"));
  e.emit("a");
  e.emit("a");
  return [
    log,
    e.eventNames(),
    e.listenerCount("a"),
    told(() => e.emit("error", new TypeError("boom"))),
    told(() => e.emit("error", { x: 1 })),
    told(() => e.on("a", 5)),
    told(() => e.setMaxListeners(-1)),
    told(() => EventEmitter.defaultMaxListeners),
    await atold(async () => {
      setTimeout(() => e.emit("error", new Error("o")), 0);
      await once(e, "never");
    }),
    await atold(() => once(e, "x", { signal: AbortSignal.abort() })),
    await atold(async () => {
      const it = on(e, "v", { signal: AbortSignal.timeout(5) });
      e.emit("v", 1);
      e.emit("v", 2);
      const got = [];
      for await (const [v] of it) got.push(v);
      return got;
    }),
  ];
});
each("node streams", async () => [
  await atold(() => Readable.from([1, 2, 3]).map((x) => x * 2).filter((x) => x > 2).toArray()),
  await atold(() => pipelineP(Readable.from(["a"]), new Transform({ transform(c, e, cb) { cb(new Error("t")); } }), new PassThrough())),
  await atold(() => pipelineP(Readable.from(["a"]))),
  told(() => new Readable().read()),
  told(() => new Writable().write(null)),
  await atold(() => new Promise((ok, no) => { const w = new Writable({ write(c, e, cb) { cb(); } }); w.end(); w.on("error", no); w.write("x"); })),
  await atold(() => new Promise((ok, no) => { const r = new Readable({ read() {} }); finished(r, (e) => (e ? no(e) : ok(1))); r.destroy(); })),
  await atold(() => new Promise((ok, no) => { const r = new Readable({ read() {} }); r.on("error", no); r.push(5); })),
  await atold(() => Readable.from([1, 2, 3, 4]).reduce((a, b) => a + b)),
  await atold(() => { const r = addAbortSignal(AbortSignal.abort(), new Readable({ read() {} })); return r.toArray(); }),
  await atold(async () => { const c = compose(async function* (s) { for await (const x of s) yield String(x).toUpperCase(); }); c.end("abc"); return (await c.toArray()).map(String); }),
  new Readable({ highWaterMark: 5 }).readableHighWaterMark,
  new Writable().writableHighWaterMark,
  await atold(async () => { const w = Readable.toWeb(Readable.from([from("ab")])); return new Response(w).text(); }),
]);
each("FormData", async () => {
  const f = new FormData();
  f.append("a", "1");
  f.append("a", new Blob(["x"]), "n.txt");
  f.set("b", new File(["y"], "m"));
  const text = await new Response(f).text();
  return [
    [...f.keys()],
    f.getAll("a").map((v) => (typeof v === "string" ? v : [v.name, v.type, v.size])),
    f.has("b"), f.get("zz"),
    told(() => f.append("a")),
    told(() => f.append("a", "x", "name")),
    told(() => new FormData(1)),
    text.replace(/--+[0-9a-zA-Z]+/g, "--B"),
    await atold(() => new Response("x").formData()),
    await atold(() => new Response("x", { headers: { "content-type": "multipart/form-data" } }).formData()),
    await atold(() => new Response("x", { headers: { "content-type": "multipart/form-data; boundary=q" } }).formData()),
    await atold(async () => [...(await new Response("a=1&b=%zz+&c", { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData())]),
  ];
});
each("clone", async () => {
  const r = new Response("abc", { status: 201, headers: { a: "b" } });
  const c = r.clone();
  await c.text();
  const q = new Request("http://h/", { method: "POST", body: "q" });
  const q2 = new Request(q);
  return [
    await atold(() => c.text()),
    told(() => c.clone()),
    await atold(() => r.text()),
    q.bodyUsed, await atold(() => q.text()), await atold(() => q2.text()),
    told(() => q2.clone()),
    told(() => new Request(q2)),
    told(() => new Response(r.body)),
    told(() => new Response("x", { status: 204 })),
    told(() => new Response(null, { status: 99 })),
    told(() => new Response(null, { status: 600 })),
    told(() => new Response("x", { statusText: "a\nb" })),
    told(() => new Request("http://h/", { method: "GET", body: "x" })),
    told(() => new Request("/rel")),
    told(() => new Request("http://h/", { method: "a b" })),
    told(() => Response.json(undefined)),
    told(() => Response.json(1n)),
    told(() => Response.redirect("http://h/", 200)),
    told(() => Response.redirect("rel")),
    Response.error === undefined ? "no error()" : told(() => Response.error().type),
  ];
});
each("locked bodies", () => {
  const mk = () => {
    const s = new ReadableStream();
    s.getReader();
    return s;
  };
  const own = () => {
    const r = new Response("x");
    r.body.getReader();
    return r;
  };
  return [told(() => mk().tee()), told(() => own().clone()), told(() => own().body.tee()), told(() => mk().getReader()), told(() => own().body.getReader())];
});
each("WebSocket close", async () => {
  const { 0: a, 1: b } = new WebSocketPair();
  a.accept();
  b.accept();
  const out = [
    told(() => a.close(999)), told(() => a.close(1005)), told(() => a.close(1006)), told(() => a.close(1015)), told(() => a.close(5000)),
    told(() => a.close(1000, "x".repeat(124))), told(() => a.close(undefined, "why")), told(() => a.send(Symbol())),
  ];
  const closed = new Promise((r) => b.addEventListener("close", (e) => r([e.code, e.reason, e.wasClean])));
  out.push(told(() => a.close(3001, "bye")), await closed, a.readyState, b.readyState);
  out.push(told(() => a.send("x")), told(() => a.close()), told(() => b.send("y")));
  out.push(told(() => new WebSocket("ftp://x")), told(() => new WebSocket("nope")), told(() => new WebSocket("ws://h/#a")), told(() => new WebSocket("ws://h/", ["a", "a"])), told(() => new WebSocket("ws://h/", "a b")));
  return out;
});
each("subtle wrap", async () => {
  const kek = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-KW", false, ["wrapKey", "unwrapKey"]);
  const key = await crypto.subtle.importKey("raw", new Uint8Array(16).fill(7), { name: "AES-GCM" }, true, ["encrypt"]);
  const fixed = await crypto.subtle.importKey("raw", new Uint8Array(16).fill(7), { name: "AES-GCM" }, false, ["encrypt"]);
  const wrapped = await crypto.subtle.wrapKey("raw", key, kek, "AES-KW");
  return [
    wrapped,
    await atold(async () => crypto.subtle.exportKey("raw", await crypto.subtle.unwrapKey("raw", wrapped, kek, "AES-KW", "AES-GCM", true, ["encrypt"]))),
    await atold(() => crypto.subtle.wrapKey("raw", fixed, kek, "AES-KW")),
    await atold(() => crypto.subtle.wrapKey("raw", key, key, "AES-GCM")),
    await atold(() => crypto.subtle.wrapKey("jwk", key, kek, "AES-KW")),
    await atold(() => crypto.subtle.wrapKey("nope", key, kek, "AES-KW")),
    await atold(() => crypto.subtle.unwrapKey("raw", new Uint8Array(24), kek, "AES-KW", "AES-GCM", true, ["encrypt"])),
    await atold(() => crypto.subtle.unwrapKey("raw", wrapped, kek, "AES-KW", "AES-GCM", true, [])),
    await atold(() => crypto.subtle.unwrapKey("raw", wrapped.slice(1), kek, "AES-KW", "AES-GCM", true, ["encrypt"])),
  ];
});
each("TextDecoder labels", () =>
  ["utf8", " UTF-8 ", "latin1", "ascii", "windows-1252", "iso-8859-1", "utf-16", "utf-16be", "unicode", "shift_jis", "sjis", "gb18030", "gbk", "gb2312", "big5", "euc-jp", "euc-kr", "iso-2022-jp", "koi8-r", "macintosh", "x-user-defined", "iso-8859-8-i", "windows-1251", "ibm866", "utf-7", "replacement", "hz-gb-2312", "", "utf-32", "utf-9"].map((l) => told(() => new TextDecoder(l).encoding)),
);
each("TextDecoder decode", () => [
  told(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))),
  told(() => new TextDecoder("utf-16le", { fatal: true }).decode(new Uint8Array([0, 0xd8]))),
  new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])).length,
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])).length,
  told(() => new TextDecoder().decode("x")),
  told(() => new TextDecoder().decode(null)),
  new TextDecoder().decode(new Uint8Array([0xe2, 0x82])),
  new TextDecoder("windows-1252").decode(new Uint8Array([0x80, 0x81, 0x9f])),
  new TextDecoder("shift_jis").decode(new Uint8Array([0x82, 0xa0, 0x80])),
  new TextDecoder("gb18030").decode(new Uint8Array([0x81, 0x30, 0x81, 0x30])),
]);
each("scheduler.wait", async () => [
  await atold(() => scheduler.wait(1)),
  await atold(() => scheduler.wait()),
  await atold(() => scheduler.wait(-5)),
  await atold(() => scheduler.wait("x")),
  await atold(() => scheduler.wait(1000, { signal: AbortSignal.abort() })),
  await atold(() => scheduler.wait(1000, { signal: AbortSignal.abort("why") })),
  await atold(() => scheduler.wait(1000, { signal: AbortSignal.timeout(1) })),
  await atold(() => scheduler.wait(1, { signal: 5 })),
  Object.prototype.toString.call(scheduler),
]);
each("HTMLRewriter", async () => {
  const run = (html, f) => atold(() => f(new HTMLRewriter()).transform(new Response(html)).text());
  return [
    await run("<p a=1 b>x</p>", (r) => r.on("p", { element(e) { e.setAttribute("c", '"'); e.removeAttribute("a"); e.tagName = "q"; e.before("<i>"); e.append("<b>", { html: true }); } })),
    await run("<p>x</p>", (r) => r.on("p", { element(e) { e.setAttribute("a b", "1"); } })),
    await run("<p>x</p>", (r) => r.on("p", { element(e) { e.tagName = ""; } })),
    await run("<p>x</p>", (r) => r.on("p[", {})),
    await run("<p>x</p>", (r) => r.on("p:hover", {})),
    await run("<br>", (r) => r.on("br", { element(e) { e.onEndTag(() => {}); } })),
    await run("<p>x</p>", (r) => r.on("p", { element(e) { e.onEndTag((t) => t.before("!")); e.setInnerContent("y"); } })),
    await run("<!--c--><p>x</p>", (r) => r.onDocument({ comments(c) { c.text = "-->"; } })),
    await run("<!doctype html><p>", (r) => r.onDocument({ doctype(d) { d.remove(); }, end(e) { e.append("END"); } })),
    told(() => new HTMLRewriter().on(1, 2)),
    told(() => new HTMLRewriter().transform("x")),
  ];
});
each("MessageChannel", async () => {
  const { port1, port2 } = new MessageChannel();
  const got = new Promise((r) => (port2.onmessage = (e) => r([e.data, e.constructor.name, e.origin, e.ports])));
  port1.postMessage({ a: new Date(0), b: new Map([[1, 2]]) });
  return [
    await got,
    told(() => port1.postMessage()),
    told(() => port1.postMessage(parseInt)),
    told(() => port1.postMessage(Symbol())),
    told(() => new MessagePort()),
    told(() => (port1.close(), port1.postMessage(1))),
    Object.getOwnPropertyNames(MessagePort.prototype).sort(),
  ];
});
each("navigator", () => [
  navigator.userAgent, navigator.hardwareConcurrency, navigator.language, navigator.languages, navigator.platform, typeof navigator.sendBeacon, typeof navigator.gpu, typeof navigator.storage,
  Object.getOwnPropertyNames(Object.getPrototypeOf(navigator)).sort(), Object.prototype.toString.call(navigator),
  told(() => navigator.sendBeacon("nope")), told(() => new Navigator()), told(() => (navigator.userAgent = "x")),
]);
each("caches.default", async () => [
  await atold(() => caches.default.put("http://h/", new Response("x", { status: 206 }))),
  await atold(() => caches.default.put(new Request("http://h/", { method: "POST" }), new Response("x"))),
  await atold(() => caches.default.put("http://h/", new Response("x", { headers: { vary: "*" } }))),
  await atold(() => caches.default.put("nope", new Response("x"))),
  await atold(() => caches.default.match("nope")),
  await atold(() => caches.default.put("http://h/")),
  await atold(() => caches.default.put("http://h/", 5)),
  await atold(() => caches.has("x")),
  await atold(() => caches.keys()),
  await atold(() => caches.default.add?.("http://h/")),
  await atold(() => caches.default.keys()),
  await atold(() => caches.default.matchAll("http://h/")),
  told(() => new Cache()), told(() => new CacheStorage()),
]);
each("X509", () => [
  told(() => new nodeCrypto.X509Certificate("x")),
  told(() => new nodeCrypto.X509Certificate()),
  told(() => new nodeCrypto.X509Certificate(Buffer.from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"))),
]);
each("node:crypto errors", () => [
  told(() => nodeCrypto.createHash("nope")),
  told(() => nodeCrypto.createHmac("sha256")),
  told(() => nodeCrypto.createHmac("nope", "k")),
  told(() => nodeCrypto.randomBytes(-1)),
  told(() => nodeCrypto.randomInt(5, 1)),
  told(() => nodeCrypto.pbkdf2Sync("a", "b", 0, 1, "sha1")),
  told(() => nodeCrypto.pbkdf2Sync("a", "b", 1, 1, "nope")),
  told(() => nodeCrypto.scryptSync("a", "b", 1, { N: 3 })),
  told(() => nodeCrypto.timingSafeEqual(Buffer.alloc(1), Buffer.alloc(2))),
  told(() => nodeCrypto.createCipheriv("aes-128-cbc", Buffer.alloc(1), Buffer.alloc(16))),
  told(() => nodeCrypto.createCipheriv("aes-128-cbc", Buffer.alloc(16), Buffer.alloc(1))),
  told(() => nodeCrypto.createCipheriv("nope", Buffer.alloc(16), Buffer.alloc(16))),
  told(() => { const h = nodeCrypto.createHash("md5"); h.digest(); h.digest(); }),
  told(() => nodeCrypto.createHash("md5").update(5)),
  told(() => nodeCrypto.hkdfSync("sha256", "k", "s", "i", 99999)),
  told(() => nodeCrypto.createSecretKey("")),
  told(() => nodeCrypto.createPublicKey("junk")),
  told(() => nodeCrypto.hash("sha1", "x")),
  told(() => nodeCrypto.generateKeyPairSync("nope")),
  told(() => nodeCrypto.createSign("nope")),
]);
each("Buffer", () => [
  told(() => Buffer.alloc(-1)), told(() => Buffer.from(5)), told(() => Buffer.from(null)), told(() => Buffer.from("zz", "nope")),
  told(() => Buffer.alloc(2).readUInt32LE(0)), told(() => Buffer.alloc(2).writeUInt8(256)), told(() => Buffer.alloc(2).writeUInt8(1, 5)),
  Buffer.from("aGk", "base64url").toString(), Buffer.from("abc").toString("hex"), Buffer.from("zz", "hex").length,
  told(() => Buffer.concat([5])), told(() => Buffer.compare(1, 2)), Buffer.from("abcabc").lastIndexOf("c"), Buffer.from("a").equals(Buffer.from("a")),
  told(() => Buffer.from("abc").swap16()), util.inspect(Buffer.from("abc")), JSON.stringify(Buffer.from("a")), told(() => Buffer.alloc(3).fill("abc", 5)),
  Buffer.byteLength("é"), told(() => Buffer.byteLength(5)), Buffer.from("é", "latin1").length, Buffer.isEncoding("ucs2"),
]);
each("string_decoder, querystring", () => [
  new StringDecoder("utf8").write(Buffer.from([0xe2, 0x82])) + new StringDecoder("utf8").end(Buffer.from([0xe2])),
  told(() => new StringDecoder("nope")),
  querystring.stringify({ a: [1, 2], b: "x y", c: NaN, d: true }), querystring.parse("a=1&a=2&b=%zz&=c&d"), querystring.escape("é /"), querystring.unescape("%zz%20"),
]);
each("path and url", () => [
  nodePath.relative("/a/b/c", "/a/d"), nodePath.parse("/x/y.tar.gz"), nodePath.win32.join("a", "..", "b\\c"), told(() => nodePath.join(5)), nodePath.format({ dir: "/d", name: "n", ext: "e" }),
  nodeUrl.format({ protocol: "http", host: "h:1", pathname: "/a b", query: { q: "1" } }), told(() => nodeUrl.fileURLToPath("http://x")), told(() => nodeUrl.fileURLToPath("file:///a%2fb")), nodeUrl.pathToFileURL("/a b#c").href,
  nodeUrl.domainToASCII("münchen.de"), nodeUrl.resolve("http://a/b/c", "../d"), told(() => nodeUrl.parse("http://[bad")), told(() => nodeUrl.urlToHttpOptions(new URL("http://u:p@h:1/x?y")).auth),
]);
each("assert", () => [
  told(() => nodeAssert.equal(1, 2)), told(() => nodeAssert.strictEqual("a", "b")), told(() => nodeAssert.deepStrictEqual({ a: 1 }, { a: 2 })), told(() => nodeAssert(0)), told(() => nodeAssert.ok()),
  told(() => nodeAssert.throws(() => {})), told(() => nodeAssert.throws(() => { throw new Error("x"); }, /y/)), told(() => nodeAssert.match("a", /b/)), told(() => nodeAssert.fail()), told(() => nodeAssert.ifError(new Error("i"))), told(() => nodeAssert.notStrictEqual(1, 1)),
]);
each("URL errors", () => [
  told(() => new URL("nope")), told(() => new URL("x", "y")), told(() => new URL()), URL.canParse("a", "http://h"), URL.parse("nope"), told(() => new URLSearchParams([["a"]])), told(() => new URLSearchParams("a=b").append("x")),
  told(() => URL("http://x")), new URL("http://EXAMPLE.com:80/a/../b?x#y").href, new URL("http://ü.de/%zz").href, told(() => { new URL("http://h").href = "bad"; }),
]);
each("Headers", () => [
  told(() => new Headers().set("")), told(() => new Headers().set("", "x")), told(() => new Headers().delete("")), told(() => new Headers().get("")), told(() => new Headers().has("a b")), told(() => new Headers().append("a", "b\0c")), told(() => new Headers().append("é", "x")), told(() => new Headers([["a", "b", "c"]])), told(() => new Headers(5)), told(() => new Headers().set("a", "ü")), told(() => [...new Headers([["set-cookie", "a"], ["Set-Cookie", "b"]])]), told(() => new Headers([["set-cookie", "a"], ["Set-Cookie", "b"]]).getSetCookie()),
]);
each("atob, btoa", () => [told(() => atob("a")), told(() => atob("é")), told(() => btoa("é€")), atob(" Y W I= "), told(() => atob()), told(() => btoa())]);
each("structuredClone", () => [
  told(() => structuredClone(parseInt)), told(() => structuredClone(Symbol("s"))), told(() => structuredClone()), told(() => structuredClone(new WeakMap())), told(() => structuredClone(new Proxy({}, {}))), told(() => structuredClone(new Headers())), told(() => structuredClone(Promise.resolve())),
  told(() => structuredClone(1, { transfer: [5] })), told(() => structuredClone(new ReadableStream())), told(() => { const s = new ReadableStream(); return structuredClone(s, { transfer: [s] }); }),
  told(() => { const b = new ArrayBuffer(1); return structuredClone(b, { transfer: [b, b] }); }), told(() => structuredClone(Object.assign(new RangeError("m", { cause: 1 }), { x: 1 })).x), structuredClone(/a/g).flags,
]);
each("timers", () => [
  told(() => setTimeout("x")), told(() => setTimeout()), told(() => setInterval(5)), told(() => queueMicrotask(5)), told(() => clearTimeout("x")), told(() => setTimeout(() => {}, 1n)), told(() => queueMicrotask()),
]);
each("abort", async () => [
  told(() => new AbortSignal()), told(() => AbortSignal.timeout()), told(() => AbortSignal.timeout(-1)), told(() => AbortSignal.any()), told(() => AbortSignal.any([5])), told(() => AbortSignal.abort().throwIfAborted()), AbortSignal.any([AbortSignal.abort("a"), AbortSignal.abort("b")]).reason,
  await atold(() => fetch("http://h/", { signal: AbortSignal.abort() })), told(() => AbortSignal.abort().reason.message), told(() => new EventTarget().dispatchEvent({})), told(() => new Event()), told(() => new CustomEvent("x", { detail: 5 }).detail),
]);
each("blob", async () => [
  told(() => new Blob("x")), told(() => new Blob(5)), told(() => new Blob([{}]).size), told(() => new File([])), told(() => new Blob(["abc"]).slice(-2, -1).size), new Blob([], { type: "A/B" }).type, await atold(() => new Blob(["é"]).bytes?.()), await atold(() => new Blob(["ab"]).slice(1, 2, "t").text()),
]);
each("subtle digest and hmac", async () => [
  await atold(() => crypto.subtle.digest("nope", new Uint8Array())), await atold(() => crypto.subtle.digest("SHA-1", "x")), await atold(() => crypto.subtle.digest()), await atold(() => crypto.subtle.digest({}, new Uint8Array())), await atold(() => crypto.subtle.digest("md5", new Uint8Array())),
  await atold(() => crypto.subtle.importKey("raw", new Uint8Array(0), { name: "HMAC", hash: "SHA-1" }, true, ["sign"])), await atold(() => crypto.subtle.importKey("raw", new Uint8Array(1), { name: "HMAC" }, true, ["sign"])), await atold(() => crypto.subtle.importKey("raw", new Uint8Array(1), { name: "HMAC", hash: "SHA-1" }, true, [])), await atold(() => crypto.subtle.importKey("raw", new Uint8Array(1), { name: "HMAC", hash: "SHA-1" }, true, ["encrypt"])), await atold(() => crypto.subtle.importKey("raw", new Uint8Array(1), { name: "HMAC", hash: "SHA-1", length: 99 }, true, ["sign"])),
  await atold(() => crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-1", length: 0 }, true, ["sign"])), await atold(() => crypto.subtle.generateKey("HMAC", true, ["sign"])), told(() => crypto.getRandomValues(new Float32Array(1))), told(() => crypto.getRandomValues(new Uint8Array(65537))), told(() => crypto.getRandomValues(5)),
]);
each("subtle AES", async () => {
  const gcm = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", true, ["encrypt", "decrypt"]);
  const cbc = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-CBC", true, ["encrypt", "decrypt"]);
  const ctr = await crypto.subtle.importKey("raw", new Uint8Array(16), "AES-CTR", true, ["encrypt"]);
  const e = (alg, k, d = new Uint8Array(1)) => atold(() => crypto.subtle.encrypt(alg, k, d));
  const d = (alg, k, b = new Uint8Array(1)) => atold(() => crypto.subtle.decrypt(alg, k, b));
  const iv = new Uint8Array(16);
  return [
    await e({ name: "AES-GCM" }, gcm), await e({ name: "AES-GCM", iv: new Uint8Array(0) }, gcm), await e({ name: "AES-GCM", iv, tagLength: 1 }, gcm), await d({ name: "AES-GCM", iv }, gcm), await d({ name: "AES-GCM", iv }, gcm, new Uint8Array(32)),
    await e({ name: "AES-CBC", iv: new Uint8Array(1) }, cbc), await e({ name: "AES-CBC" }, cbc), await d({ name: "AES-CBC", iv }, cbc), await d({ name: "AES-CBC", iv }, cbc, new Uint8Array(16)),
    await e({ name: "AES-CTR", counter: new Uint8Array(1), length: 1 }, ctr), await e({ name: "AES-CTR", counter: iv, length: 0 }, ctr), await e({ name: "AES-CTR", counter: iv, length: 129 }, ctr), await d({ name: "AES-CTR", counter: iv, length: 1 }, ctr), await e({ name: "AES-CTR", counter: iv, length: 1 }, ctr, new Uint8Array(64)),
    await e({ name: "AES-GCM", iv }, cbc), await e("nope", gcm), await e({}, gcm),
    await atold(() => crypto.subtle.importKey("raw", new Uint8Array(5), "AES-GCM", true, ["encrypt"])), await atold(() => crypto.subtle.importKey("jwk", { kty: "oct" }, "AES-GCM", true, ["encrypt"])), await atold(() => crypto.subtle.importKey("jwk", { kty: "RSA" }, "AES-GCM", true, ["encrypt"])), await atold(() => crypto.subtle.generateKey({ name: "AES-GCM", length: 100 }, true, ["encrypt"])), await atold(() => crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, [])), await atold(() => crypto.subtle.importKey("spki", new Uint8Array(1), "AES-GCM", true, ["encrypt"])),
  ];
});
each("subtle derive and EC", async () => {
  const pb = await crypto.subtle.importKey("raw", new Uint8Array(1), "PBKDF2", false, ["deriveBits"]);
  const hk = await crypto.subtle.importKey("raw", new Uint8Array(1), "HKDF", false, ["deriveBits"]);
  const salt = new Uint8Array(8);
  const ec = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const b = (alg, k, n) => atold(() => crypto.subtle.deriveBits(alg, k, n));
  return [
    await b({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 0 }, pb, 8), await b({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 1 }, pb, 7), await b({ name: "PBKDF2", hash: "SHA-256", salt, iterations: 1 }, pb, null), await b({ name: "PBKDF2", hash: "nope", salt, iterations: 1 }, pb, 8), await b({ name: "PBKDF2", hash: "SHA-256", iterations: 1 }, pb, 8),
    await b({ name: "HKDF", hash: "SHA-256", salt }, hk, 8), await b({ name: "HKDF", hash: "SHA-256", salt, info: salt }, hk, 99992 * 8), await b({ name: "HKDF", hash: "SHA-256", salt, info: salt }, hk, null), await b({ name: "ECDH", public: ec.publicKey }, ec.privateKey, 8),
    await atold(() => crypto.subtle.sign("ECDSA", ec.privateKey, salt)), await atold(() => crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, ec.publicKey, salt)), await atold(() => crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, ec.publicKey, salt, salt)), await atold(() => crypto.subtle.exportKey("raw", ec.privateKey)), await atold(() => crypto.subtle.exportKey("pkcs8", ec.publicKey)),
    await atold(() => crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-1" }, true, ["sign"])), await atold(() => crypto.subtle.generateKey({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 100, publicExponent: new Uint8Array([1, 0, 1]) }, true, ["sign"])), await atold(() => crypto.subtle.generateKey({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2048, publicExponent: new Uint8Array([2]) }, true, ["sign"])), await atold(() => crypto.subtle.importKey("spki", new Uint8Array(5), { name: "RSA-PSS", hash: "SHA-256" }, true, ["verify"])), await atold(() => crypto.subtle.importKey("raw", new Uint8Array(5), "Ed25519", true, ["verify"])), await atold(() => crypto.subtle.importKey("raw", new Uint8Array(5), { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"])),
  ];
});
each("DigestStream, compression", async () => [
  told(() => new crypto.DigestStream("nope")), told(() => new CompressionStream("nope")), told(() => new DecompressionStream()), await atold(async () => new Response(new Response("junk").body.pipeThrough(new DecompressionStream("gzip"))).text()),
]);
each("fixed-length bodies", async () => {
  const len = async (make) => atold(async () => new Request("http://h/", { method: "POST", body: make() }).headers.get("content-length"));
  const f = (n) => { const s = new FixedLengthStream(n); const w = s.writable.getWriter(); w.write(new Uint8Array(n)); w.close(); return s.readable; };
  return [await len(() => f(3)), told(() => new FixedLengthStream()), told(() => new FixedLengthStream(-1)), told(() => new FixedLengthStream("x")), await atold(() => new Response(f(3)).text()), await atold(async () => { const s = new FixedLengthStream(1); const w = s.writable.getWriter(); const r = new Response(s.readable).text(); r.catch(() => {}); await w.write(new Uint8Array(2)); return r; }), await atold(async () => { const s = new FixedLengthStream(3); const w = s.writable.getWriter(); const r = new Response(s.readable).text(); r.catch(() => {}); await w.write(new Uint8Array(2)); await w.close(); return r; })];
});
each("subtle missing arguments", async () => {
  const s = crypto.subtle, k = await s.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"]);
  return [
    await atold(() => s.encrypt()), await atold(() => s.encrypt("AES-GCM")), await atold(() => s.encrypt("AES-GCM", k)), await atold(() => s.decrypt()), await atold(() => s.sign()), await atold(() => s.sign("HMAC")), await atold(() => s.sign("HMAC", k)), await atold(() => s.verify()), await atold(() => s.verify("HMAC", k)), await atold(() => s.verify("HMAC", k, new Uint8Array())), await atold(() => s.digest("SHA-1")), await atold(() => s.generateKey()), await atold(() => s.generateKey("HMAC")), await atold(() => s.generateKey("HMAC", true)),
    await atold(() => s.deriveKey()), await atold(() => s.deriveKey("HKDF", k)), await atold(() => s.deriveBits()), await atold(() => s.deriveBits("HKDF")), await atold(() => s.importKey()), await atold(() => s.importKey("raw")), await atold(() => s.importKey("raw", new Uint8Array())), await atold(() => s.importKey("raw", new Uint8Array(), "HMAC", true)), await atold(() => s.exportKey()), await atold(() => s.exportKey("raw")), await atold(() => s.wrapKey()), await atold(() => s.wrapKey("raw")), await atold(() => s.wrapKey("raw", k, k)), await atold(() => s.unwrapKey()), await atold(() => s.unwrapKey("raw")), await atold(() => s.unwrapKey("raw", new Uint8Array())), await atold(() => s.unwrapKey("raw", new Uint8Array(), k)), await atold(() => s.unwrapKey("raw", new Uint8Array(), k, "AES-KW")),
  ];
});
each("subtle algorithm without a name", async () => {
  const s = crypto.subtle, k = await s.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]);
  return [
    await atold(() => s.generateKey({}, true, ["sign"])), await atold(() => s.importKey("raw", new Uint8Array(1), {}, true, ["sign"])), await atold(() => s.sign({}, k, new Uint8Array())), await atold(() => s.deriveBits({}, k, 8)), await atold(() => s.encrypt("HMAC", k, new Uint8Array())), await atold(() => s.verify("HMAC", k, new Uint8Array(), new Uint8Array())), await atold(() => s.digest({ name: null }, new Uint8Array())),
  ];
});
each("subtle JWK", async () => {
  const s = crypto.subtle, j = (k, a, u) => atold(async () => (await s.importKey("jwk", k, a, true, u)).type);
  const rs = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, n = "A".repeat(2) + "w" + "A".repeat(339) + "Q";
  const p = { name: "ECDSA", namedCurve: "P-256" }, ec = { kty: "EC", crv: "P-256", x: "_".repeat(63) + "w", y: "AA" };
  return [
    await j({ kty: "RSA", n }, rs, ["verify"]), await j({ kty: "RSA", n: "", e: "AQAB" }, rs, ["verify"]), await j({ kty: "RSA", n: "!", e: "AQAB" }, rs, ["verify"]), await j({ kty: "RSA", n, e: "AQAB", d: "AQ" }, rs, ["sign"]), await j({ kty: "RSA", n, e: "AQAB", use: "enc" }, rs, ["verify"]), await j({ kty: "RSA", n, e: "AQAB", key_ops: ["sign"] }, rs, ["verify"]), await j({ kty: "RSA", n, e: "AQAB", use: "sig", key_ops: ["encrypt"] }, rs, ["verify"]),
    await j(ec, p, ["verify"]), await j({ ...ec, x: "AA" }, p, ["verify"]), await j({ ...ec, x: "!" }, p, ["verify"]), await j({ kty: "EC", y: "AA" }, p, ["verify"]), await j({ ...ec, alg: "ES384" }, p, ["verify"]), await j({ ...ec, kty: "x", use: "enc" }, p, ["verify"]),
    await j({ kty: "oct", k: "AAAA", use: "enc" }, { name: "HMAC", hash: "SHA-1" }, ["sign"]), await j({ kty: "oct", k: "AAAA", key_ops: ["verify"] }, { name: "HMAC", hash: "SHA-1" }, ["sign"]), await j({ kty: "oct", k: "AAAA", key_ops: ["sign", "sign"] }, { name: "HMAC", hash: "SHA-1" }, ["sign"]),
    await j({ kty: "OKP", crv: "Ed25519" }, "Ed25519", ["verify"]), await j({ kty: "OKP", crv: "Ed25519", x: "A".repeat(43), d: "AA" }, "Ed25519", ["sign"]), await j({ kty: "OKP", crv: "Ed25519", x: "A".repeat(43), d: "A".repeat(43) }, "Ed25519", ["sign"]),
    await j({ kty: "oct", k: "AA" }, "PBKDF2", ["deriveBits"]),
  ];
});
each("DigestStream", async () => {
  const w = (make) => atold(async () => { const d = new crypto.DigestStream("SHA-1"), w = d.getWriter(); d.digest.catch(() => {}); w.closed.catch(() => {}); const r = await Promise.race([make(w, d), new Promise((r) => setTimeout(r, 50, "pending"))]); return r instanceof ArrayBuffer ? r.byteLength : r; });
  return [
    await w((w) => w.write(5)), await w((w) => w.write({})), await w((w) => w.write(null)), await w((w) => w.write("x")), await w((w, d) => { w.write(5).catch(() => {}); return d.digest; }), await w((w, d) => { w.write(5).catch(() => {}); w.close().catch(() => {}); return d.digest; }), await w((w, d) => { w.abort(new Error("why")); return d.digest; }), await w((w, d) => { w.close(); return d.digest; }), await w((w, d) => { d[Symbol.dispose]?.(); return d.digest; }), told(() => new crypto.DigestStream()), told(() => crypto.DigestStream("SHA-1")),
  ];
});
