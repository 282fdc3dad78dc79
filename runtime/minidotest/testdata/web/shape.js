// flag: nodejs_compat
// What the global scope, its classes and their instances are made of, and what
// becomes of what a listener throws.
const internal = new Set(["Symbol(cloudflare:internal-class)", "Symbol(kResourceTypeInspect)", "Symbol(immutable)", "Symbol(length)", "Symbol(state)",
  "Symbol(supportsBYOB)", "Symbol(expectsBytes)"]); // of workerd's own
const described = (o, k) => {
  const d = Object.getOwnPropertyDescriptor(o, k);
  const flags = (d.enumerable ? "e" : "-") + (d.configurable ? "c" : "-");
  if (!("value" in d)) return flags + (d.get ? " get:" + d.get.name + d.get.length : "") + (d.set ? " set:" + d.set.name + d.set.length : "");
  const v = d.value;
  const shown = typeof v === "function" ? v.name + "/" + v.length : typeof v === "object" ? (v === null ? "null" : "object") : String(v);
  return flags + (d.writable ? "w " : "- ") + shown;
};
const members = (o) => Reflect.ownKeys(o).map(String).filter((k) => !internal.has(k)).sort().map((k) => {
  const symbol = Reflect.ownKeys(o).find((s) => typeof s === "symbol" && String(s) === k);
  return k + "=" + described(o, symbol ?? k);
}).join(" ");
const chain = (o) => {
  const list = [];
  for (let p = Object.getPrototypeOf(o); p; p = Object.getPrototypeOf(p)) list.push(Object.prototype.toString.call(p).slice(8, -1));
  return list.join(">");
};
const names = Object.getOwnPropertyNames(Object.getPrototypeOf(globalThis)).filter((n) => n !== "WebSocketRequestResponsePair"); // which a worker with objects has
const classes = [...names.filter((n) => /^[A-Z]/.test(n)), "EventTarget", "ServiceWorkerGlobalScope"].sort();

check("the scope's own names", () => Object.getOwnPropertyNames(globalThis).sort().join());
check("the scope's inherited names", () => names.sort().join());
check("the scope's chain", () => chain(globalThis));
check("what for-in finds", () => { const list = []; for (const k in globalThis) list.push(k); return list.sort().join(); });
check("an interface replaced", () => { globalThis.Blob = 3; const seen = [described(globalThis, "Blob"), described(Object.getPrototypeOf(globalThis), "Blob")]; delete globalThis.Blob; return [...seen, typeof Blob]; });
for (const name of classes) {
  check(name, () => [members(globalThis[name]), chain(globalThis[name])]);
  if (name !== "ServiceWorkerGlobalScope") check(name + ".prototype", () => [members(globalThis[name].prototype), chain(globalThis[name].prototype)]);
}
const instances = {
  MessageEvent: () => new MessageEvent("m", { data: 1 }), CloseEvent: () => new CloseEvent("c", { code: 1, reason: "r", wasClean: true }),
  ErrorEvent: () => new ErrorEvent("e"), MessageChannel: () => new MessageChannel(), CryptoKey: () => crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"]),
  caches: () => caches, pair: () => new WebSocketPair(), socket: () => new WebSocketPair()[0], navigator: () => navigator, performance: () => performance,
  nodeTiming: () => performance.nodeTiming, eventCounts: () => performance.eventCounts, eventCountsProto: () => Object.getPrototypeOf(performance.eventCounts),
  keys: () => Object.getPrototypeOf(new Headers().keys()), entries: () => Object.getPrototypeOf(new FormData().entries()), values: () => Object.getPrototypeOf(new URLSearchParams().values()),
};
for (const [name, make] of Object.entries(instances)) check("instance " + name, async () => { const o = await make(); return [members(o), chain(o)]; });
each("copies", () => [
  JSON.stringify(new CloseEvent("c", { code: 1 })), JSON.stringify({ ...new MessageEvent("m", { data: 1 }) }), JSON.stringify(performance.nodeTiming),
  Response.prototype.json === Object.getPrototypeOf(Response.prototype).json, TraceEvent === TailEvent, Object.hasOwn(globalThis, "fetch"),
]);
const refused = (fn) => { try { return show(fn()); } catch (e) { return e.name + ": " + e.message; } };
each("performance of Node", () => [
  refused(() => performance.timerify(3)), (() => { const f = () => 3; return performance.timerify(f) === f; })(), performance.eventLoopUtilization(),
  refused(() => performance.setResourceTimingBufferSize()), refused(() => performance.setResourceTimingBufferSize("x")), refused(() => performance.setResourceTimingBufferSize(-1)),
  refused(() => performance.setResourceTimingBufferSize(2 ** 33)), refused(() => performance.setResourceTimingBufferSize(1.5)), performance.markResourceTiming(), performance.clearResourceTimings(),
  [...performance.eventCounts], performance.eventCounts.get("x"), performance.eventCounts.has("x"), refused(() => performance.eventCounts.forEach(3)), refused(() => performance.eventCounts.get()),
  performance.nodeTiming === performance.nodeTiming, PerformanceObserver.supportedEntryTypes, refused(() => performance.mark("m", { detail: 3 })), refused(() => new PerformanceResourceTiming()),
]);
each("receivers of the scope's methods", () => [
  addEventListener === EventTarget.prototype.addEventListener, refused(() => addEventListener.call(undefined, "x", () => {})), refused(() => addEventListener.call(new EventTarget(), "x", () => {})),
  refused(() => EventTarget.prototype.addEventListener.call(globalThis, "x", () => {})), globalThis instanceof EventTarget, globalThis instanceof ServiceWorkerGlobalScope,
]);
check("headers that change while they are walked", () => { const h = new Headers({ a: "1", c: "2" }), seen = []; for (const [k] of h) { seen.push(k); h.append("b", "3"); } h.forEach((v, k) => { seen.push(k); h.append("d", "4"); }); return seen; });

const pause = (ms = 5) => scheduler.wait(ms);
const ends = () => { const [a, b] = Object.values(new WebSocketPair()); a.accept(); b.accept(); return [a, b]; };
const fail = () => { throw new Error("t"); };
check("a listener of messages throws", async () => {
  const [a, b] = ends(), log = [];
  b.addEventListener("message", (e) => { log.push("1 " + e.data); fail(); });
  b.addEventListener("message", (e) => log.push("2 " + e.data));
  b.addEventListener("error", (e) => log.push(e.message, e.error.message, b.readyState));
  b.addEventListener("close", (e) => log.push("closed"));
  a.addEventListener("close", (e) => log.push(e.code + e.reason + e.wasClean));
  a.send("x");
  await pause();
  a.send("y");
  await pause();
  return [...log, b.readyState];
});
check("an onmessage throws", async () => {
  const [a, b] = ends(), log = [];
  b.onmessage = () => { log.push("1"); throw 5; };
  b.addEventListener("message", () => log.push("2"));
  b.addEventListener("error", (e) => log.push(e.message, show(e.error)));
  a.send("x");
  await pause();
  return log;
});
check("a listener of messages rejects", async () => {
  const [a, b] = ends(), log = [];
  b.addEventListener("message", async (e) => { log.push(e.data); fail(); });
  b.addEventListener("error", (e) => log.push(e.message));
  a.send("x");
  await pause();
  a.send("y");
  await pause();
  return log;
});
check("a listener of close throws", async () => {
  const [a, b] = ends(), log = [];
  b.addEventListener("close", () => { log.push("1"); fail(); });
  b.addEventListener("close", () => log.push("2"));
  b.addEventListener("error", (e) => log.push(e.message));
  a.close(1000, "x");
  await pause();
  return [log, b.readyState];
});
check("on-properties of a WebSocket", async () => {
  const [a, b] = ends(), log = [];
  const before = ["onmessage" in b, b.onmessage];
  b.onmessage = (e) => log.push(e.data);
  a.send("x");
  await pause();
  b.onmessage = undefined;
  a.send("y");
  await pause();
  return [...before, typeof b.onmessage, log];
});
check("a listener of a timeout throws", async () => {
  const log = [], s = AbortSignal.timeout(1);
  s.addEventListener("abort", () => { log.push(1); fail(); });
  s.addEventListener("abort", () => log.push(2));
  await pause(10);
  return log;
});
check("a listener of unhandledrejection throws", async () => {
  const log = [], first = () => { log.push(1); fail(); }, second = () => log.push(2);
  addEventListener("unhandledrejection", first);
  addEventListener("unhandledrejection", second);
  Promise.reject(new Error("r"));
  await pause();
  removeEventListener("unhandledrejection", first);
  removeEventListener("unhandledrejection", second);
  return log;
});
check("what makes an error event of the scope", async () => {
  const log = [], heard = (e) => log.push(e.message);
  addEventListener("error", heard);
  reportError(new Error("reported"));
  queueMicrotask(() => { throw new Error("microtask"); });
  setTimeout(() => { throw new Error("timer"); }, 1);
  AbortSignal.timeout(1).onabort = () => { throw new Error("abort"); };
  const [a, b] = ends();
  b.onmessage = () => { throw new Error("message"); };
  a.send("x");
  await pause(10);
  removeEventListener("error", heard);
  const throwing = () => { throw new Error("listener"); };
  addEventListener("error", throwing);
  try { reportError(new Error("again")); } catch (e) { log.push(e.message); }
  removeEventListener("error", throwing);
  return log;
});
