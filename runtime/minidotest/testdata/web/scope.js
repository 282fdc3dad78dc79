// In the global scope there is no I/O, which a body of bytes is too, and no time.
const atStart = [
  () => new Response("x"),
  () => new Response(new Uint8Array(1)),
  () => new Response(new FormData()),
  () => Response.json({}),
  () => Response.redirect("http://x/"),
  () => new Request("http://x/", { method: "POST", body: "x" }),
  () => new Blob(["x"]).stream(),
  () => new IdentityTransformStream(),
  () => new FixedLengthStream(1),
  () => new CompressionStream("gzip"),
  () => new WebSocketPair(),
  () => setTimeout(() => {}, 1),
  () => crypto.randomUUID(),
  () => crypto.getRandomValues(new Uint8Array(1)),
  () => AbortSignal.timeout(1),
  () => new Response(null),
  () => new Response(new ReadableStream()),
  () => new Request("http://x/").clone(),
  () => new TransformStream(),
  () => new TextDecoderStream(),
  () => new Blob(["x"]),
  () => new AbortController().abort(),
  () => new MessageChannel(),
  () => Response.error(),
].map((fn) => threw(fn).replace(/^ok.*/, "ok"));
const timeAtStart = [Date.now(), new Date().getTime(), performance.now()];
check("at the start", () => [...atStart, timeAtStart, Date.now() > 1e12, performance.now() > 0]);

// Web IDL, section 3.7.7: an operation throws a TypeError for a receiver that is
// not a platform object of its interface. Those of the global scope take
// undefined and null for it, and no other object.
const receivers = () => [null, undefined, globalThis, {}, 5];
const onEach = (fn) => receivers().map((o) => threw(() => void fn(o)));
check("timers on", () => [
  onEach((o) => clearTimeout(setTimeout.call(o, () => {}, 1e6))),
  onEach((o) => clearInterval(setInterval.call(o, () => {}, 1e6))),
  onEach((o) => clearTimeout.call(o, 1)),
  onEach((o) => queueMicrotask.call(o, () => {})),
]);
check("functions on", () => [
  onEach((o) => structuredClone.call(o, 1)),
  onEach((o) => atob.call(o, "")),
  onEach((o) => btoa.call(o, "")),
  onEach((o) => addEventListener.call(o, "x", () => {})),
]);
check("fetch on", () => Promise.all([{}, 5].map((o) => athrew(async () => (await fetch.call(o, "data:,x")).status))));

// Neither what inherits from a platform object nor a proxy of one is one.
const branded = {
  Headers: [() => new Headers({ a: "1" }), (o) => o.get("a")],
  URL: [() => new URL("http://x/"), (o) => o.href],
  URLSearchParams: [() => new URLSearchParams("a=1"), (o) => o.get("a")],
  Request: [() => new Request("http://x/"), (o) => o.url],
  Response: [() => new Response(), (o) => o.status],
  Event: [() => new CustomEvent("x"), (o) => o.type],
  Blob: [() => new Blob(["x"]), (o) => o.size],
  TextDecoder: [() => new TextDecoder(), (o) => o.encoding],
  ReadableStream: [() => new ReadableStream(), (o) => o.locked],
  EventTarget: [() => new EventTarget(), (o) => o.addEventListener("x", () => {})],
  AbortController: [() => new AbortController(), (o) => o.signal.aborted],
};
for (const name in branded)
  check("brand " + name, () => {
    const [make, use] = branded[name];
    const seen = [];
    const spy = new Proxy(make(), { get: (o, key, receiver) => (seen.push(String(key)), Reflect.get(o, key, receiver)) });
    const bound = new Proxy(make(), { get: (o, key) => (typeof o[key] === "function" ? o[key].bind(o) : o[key]) });
    class Sub extends make().constructor {}
    const sub = name === "URL" || name === "Request" ? new Sub("http://x/") : name === "Event" ? new Sub("x") : new Sub();
    return [threw(() => use(Object.create(make()))), threw(() => use(new Proxy(make(), {}))), threw(() => use(spy)), seen, threw(() => use(bound)), threw(() => use(sub) === undefined)];
  });
// Web IDL, section 3.7.1: an interface object is no function to call, not even
// for an instance that code before classes made.
check("calls of constructors", () =>
  [Headers, Request, EventTarget, Blob, ReadableStream, DOMException].map((C) => [
    threw(() => C("http://x/")),
    threw(() => C.call(Object.create(C.prototype), "http://x/")),
    threw(() => C.apply(Object.create(C.prototype), ["http://x/"])),
    threw(() => {
      function Old(...args) {
        return Reflect.construct(C, args, Old);
      }
      Object.setPrototypeOf(Old.prototype, C.prototype);
      return new Old(...(C === Blob || C === Headers || C === ReadableStream ? [] : ["http://x/"])) instanceof Old;
    }),
  ]),
);
check("proxies as arguments", () => [
  threw(() => new Request(new Proxy(new Request("http://x/"), {})).url),
  threw(() => new Response("x", new Proxy(new Response("y", { status: 201 }), {})).status),
  threw(() => [...new Headers(new Proxy(new Headers({ a: "1" }), {}))]),
  threw(() => new Request("http://x/", { signal: new Proxy(new AbortController().signal, {}) }).url),
  threw(() => new Blob([new Proxy(new Blob(["x"]), {})]).size),
]);
check("no slots to be seen", () => [
  Reflect.ownKeys(new Headers()),
  Object.getOwnPropertySymbols(new URLSearchParams().entries()),
  Reflect.ownKeys(Object.getOwnPropertyDescriptors(new Blob())),
  Reflect.ownKeys(new Proxy(new TextEncoder(), { ownKeys: () => [] })),
  Reflect.ownKeys(Object.assign(new EventTarget(), { [Symbol.for("a")]: 1, b: 2 })).map(String),
]);

// HTML, section 10.2.1.1, and Service Workers, section 4.1: the global scope.
check("global scope", () => [
  globalThis instanceof ServiceWorkerGlobalScope,
  Object.getPrototypeOf(ServiceWorkerGlobalScope.prototype) === WorkerGlobalScope.prototype,
  Object.getPrototypeOf(WorkerGlobalScope.prototype) === EventTarget.prototype,
  globalThis.constructor.name,
  Object.prototype.toString.call(globalThis),
  Object.getOwnPropertySymbols(globalThis),
  threw(() => new ServiceWorkerGlobalScope()),
  threw(() => new WorkerGlobalScope()),
  ["fetch", "self", "crypto", "caches", "navigator", "performance", "scheduler", "setTimeout", "atob", "origin"].filter((name) => {
    for (const key in globalThis) if (key === name) return false;
    return true;
  }),
  ["console", "Object", "eval"].filter((name) => Object.keys(globalThis).includes(name)),
]);
check("inherited methods of the scope", () => {
  const seen = [];
  const listener = (e) => seen.push(e.type, e.target === globalThis);
  EventTarget.prototype.addEventListener.call(globalThis, "scope", listener);
  EventTarget.prototype.dispatchEvent.call(globalThis, new Event("scope"));
  EventTarget.prototype.removeEventListener.call(globalThis, "scope", listener);
  dispatchEvent(new Event("scope"));
  return seen;
});

// HTML, section 2.7.3, step 13: shared memory is shared, not copied; section
// 2.7.4: it cannot be transferred.
check("shared buffers", () => [
  (() => {
    const b = new SharedArrayBuffer(8), c = structuredClone(b);
    new Uint8Array(b)[0] = 7;
    return [show(c), c === b, c.byteLength, new Uint8Array(c)[0]];
  })(),
  (() => {
    const view = new Uint8Array(new SharedArrayBuffer(8), 2, 3), c = structuredClone({ a: view, b: view.buffer });
    view[0] = 9;
    return [c.a.byteOffset, c.a[0], c.a.buffer === c.b, show(c.b)];
  })(),
  typeof threw(() => structuredClone(1, { transfer: [new SharedArrayBuffer(1)] })),
  structuredClone(1, {}) === 1 && threw(() => new Blob([new SharedArrayBuffer(3)]).size),
]);
check("shared buffers are no BufferSource", async () => {
  const b = new SharedArrayBuffer(3);
  return [
    await new Response(b).text(),
    await athrew(() => crypto.subtle.digest("SHA-256", b)),
    new TextDecoder().decode(b).length,
    await athrew(() => new ReadableStream({ type: "bytes" }).getReader({ mode: "byob" }).read(new Uint8Array(b))),
    threw(() => void new ReadableStream({ type: "bytes", start: (c) => c.enqueue(new Uint8Array(b)) })),
  ];
});

// Writers to a CompressionStream wait for no reader, as in workerd.
check("compress, then read", async () => {
  const out = [];
  for (const format of ["gzip", "deflate", "deflate-raw"]) {
    const c = new CompressionStream(format), d = new DecompressionStream(format);
    const writer = c.writable.getWriter();
    for (let i = 0; i < 20; i++) await writer.write(new TextEncoder().encode("0123456789".repeat(i)));
    await writer.close();
    const bytes = new Uint8Array(await new Response(c.readable).arrayBuffer());
    const again = d.writable.getWriter();
    await again.write(bytes);
    await again.close();
    out.push((await new Response(d.readable).text()).length);
  }
  return out;
});

// V8's console.context(): a console with counters and groups of its own.
check("console.context", () => {
  const c = console.context("x");
  return [Object.keys(console), Object.keys(c).sort(), c.log !== console.log, c.context, typeof c.count()];
});
