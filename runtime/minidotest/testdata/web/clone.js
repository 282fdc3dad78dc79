// flag: nodejs_compat
// What cannot be cloned, and the texts that say so.
import { exports, env } from "cloudflare:workers";
const clone = (make) => {
  try {
    const copy = structuredClone(make());
    return "cloned " + Object.prototype.toString.call(copy);
  } catch (e) {
    return `${e.name}: ${e.message}`;
  }
};
const all = (name, things) => each(name, () => things.map(clone));
all("Intl", [
  () => new Intl.DateTimeFormat("en"), () => new Intl.NumberFormat(), () => new Intl.Collator(), () => new Intl.PluralRules(),
  () => new Intl.ListFormat("en"), () => new Intl.RelativeTimeFormat("en"), () => new Intl.Segmenter("en"), () => new Intl.Locale("en"),
  () => new Intl.DisplayNames("en", { type: "region" }), () => new Intl.Segmenter("en").segment("ab"),
  () => new Intl.Segmenter("en").segment("ab")[Symbol.iterator](), () => new (class extends Intl.Collator {})(), () => ({ a: [new Intl.Collator()] }),
  () => Intl, () => Intl.Collator.prototype,
]);
all("language", [
  () => new WeakRef({}), () => new FinalizationRegistry(() => {}), () => (async function* () {})(), () => (function* () {})(), () => [].values().map((x) => x),
  () => Iterator.from({ next() {} }), () => new DisposableStack(), () => new AsyncDisposableStack(), () => new WebAssembly.Memory({ initial: 1 }),
  () => new WebAssembly.Global({ value: "i32" }, 1), () => new WeakMap(), () => Promise.resolve(), () => Symbol("a"), () => Object(Symbol("q")),
]);
all("platform", [
  () => globalThis, () => ({ a: self }), () => console, () => console.log, () => console.warn, () => console.dir, () => fetch, () => structuredClone, () => parseInt,
  () => console.log.bind(console), () => Cloudflare, () => new ReadableStream().values(), () => new Headers().entries(),
  () => { const t = setTimeout(() => {}, 0); clearTimeout(t); return t; }, () => env, () => exports,
]);
all("proxies", [
  () => new Proxy({}, {}), () => new Proxy([], {}), () => new Proxy(new Map(), {}), () => new Proxy(new Response(), {}), () => new Proxy(new Date(), {}),
  () => new Proxy(/a/, {}), () => new Proxy(new Proxy(new WeakMap(), {}), {}), () => new Proxy(new TypeError("abc"), {}), () => new Proxy(new Error(), {}),
  () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; },
]);
all("names", [
  () => Object.assign(new WeakMap(), { toString() { return "q"; } }), () => Object.assign(new WeakMap(), { constructor: 1 }),
  () => Object.assign(new WeakMap(), { constructor: class Mine {} }), () => Object.defineProperty(new WeakMap(), Symbol.toStringTag, { value: "Tag" }),
  () => Object.defineProperty(Object.assign(new WeakMap(), { constructor: 1 }), Symbol.toStringTag, { value: "Tag" }),
  () => () => "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  () => () => "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]);
each("console", () => ["debug", "error", "info", "log", "warn", "dir", "table", "assert"].map((k) => [k, String(console[k]), console[k].name]));
each("Cloudflare", () => [Object.prototype.toString.call(Cloudflare), Cloudflare.constructor.name, Object.keys(Cloudflare), threw(() => new Cloudflare.constructor())]);
