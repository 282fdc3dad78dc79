const { ReadableStream: RS, WritableStream: WS, TransformStream: TS } = globalThis;
const u8 = (...a) => new Uint8Array(a);
check("rs ctor type", () => [
  threw(() => new RS({ type: "" })),
  threw(() => new RS({ type: "Bytes" })),
  threw(() => new RS({ type: null })),
  threw(() => new RS(null)),
  threw(() => new RS(1)),
  threw(() => new RS({ type: "bytes" }, { size() {} })),
  threw(() => new RS({ start: 1 })),
  threw(() => new RS({ pull: null })),
  threw(() => new RS({}, { highWaterMark: -1 })),
  threw(() => new RS({}, { highWaterMark: NaN })),
  threw(() => new RS({}, { highWaterMark: "x" })),
  threw(() => new RS({}, { size: 1 })),
  threw(() => new RS({}, null)),
  threw(() => new RS(undefined, 1)),
  threw(() => new RS({ type: "bytes", autoAllocateChunkSize: 0 })),
  threw(() => new RS({ type: "bytes", autoAllocateChunkSize: -1 })),
  threw(() => new RS({ type: "bytes", autoAllocateChunkSize: 1.5 })),
  threw(() => new RS({ autoAllocateChunkSize: 0 })),
]);
check("rs dict order", () => {
  const log = [];
  const px = (n) =>
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(n + String(k));
          return undefined;
        },
      },
    );
  new RS(px("s."), px("q."));
  return log;
});
check("ws dict order", () => {
  const log = [];
  const px = (n) =>
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(n + String(k));
          return undefined;
        },
      },
    );
  new WS(px("s."), px("q."));
  return log;
});
check("ts dict order", () => {
  const log = [];
  const px = (n) =>
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(n + String(k));
          return undefined;
        },
      },
    );
  new TS(px("t."), px("w."), px("r."));
  return log;
});
check("ws ctor", () => [
  threw(() => new WS({ type: "bytes" })),
  threw(() => new WS({ type: undefined })),
  threw(() => new WS({ type: null })),
  threw(() => new WS({ write: 1 })),
  threw(() => new WS({}, { highWaterMark: -1 })),
]);
check("ts ctor", () => [
  threw(() => new TS({ readableType: "bytes" })),
  threw(() => new TS({ writableType: "bytes" })),
  threw(() => new TS({ transform: 1 })),
  threw(() => new TS({}, { highWaterMark: -1 })),
  threw(() => new TS(null)),
  threw(
    () =>
      new TS({
        start() {
          throw new RangeError("x");
        },
      }),
  ),
]);
check("default reader mode", () => {
  const s = new RS();
  return [
    threw(() => s.getReader({ mode: "x" })),
    threw(() => s.getReader({ mode: null })),
    threw(() => s.getReader({ mode: "byob" })),
    threw(() => s.getReader(1)),
    threw(() => s.getReader(null)),
    threw(() => s.getReader()),
  ];
});
check("getReader mode tostring", () =>
  threw(() =>
    new RS({ type: "bytes" }).getReader({
      mode: {
        toString() {
          return "byob";
        },
      },
    }),
  ),
);
check("read result shape", async () => {
  const s = new RS({
    start(c) {
      c.enqueue(1);
      c.close();
    },
  });
  const r = s.getReader();
  const a = await r.read(),
    b = await r.read();
  return [Object.keys(a), Object.keys(b), Object.getPrototypeOf(a) === Object.prototype, b];
});
check("release pending reads", async () => {
  const s = new RS();
  const r = s.getReader();
  const p = r.read();
  const cl = r.closed;
  r.releaseLock();
  return [
    await athrew(() => p),
    await athrew(() => cl),
    await athrew(() => r.closed),
    cl === r.closed,
    await athrew(() => r.read()),
    await athrew(() => r.cancel()),
  ];
});
check("closed identity after close", async () => {
  let c;
  const s = new RS({
    start(x) {
      c = x;
    },
  });
  const r = s.getReader();
  const cl = r.closed;
  c.close();
  await cl;
  const same1 = r.closed === cl;
  r.releaseLock();
  return [same1, r.closed === cl, await athrew(() => r.closed)];
});
check("cancel returns", async () => {
  let got;
  const s = new RS({
    cancel(r) {
      got = r;
      return "x";
    },
  });
  const v = await s.cancel("why");
  return [v, got];
});
check("cancel errors", async () => {
  const s = new RS({
    cancel() {
      throw new RangeError("q");
    },
  });
  return [
    await athrew(() => s.cancel()),
    await athrew(() => {
      const s = new RS();
      s.getReader();
      return s.cancel();
    }),
  ];
});
check("controller after close", async () => {
  let c;
  const s = new RS({
    start(x) {
      c = x;
    },
  });
  c.close();
  return [c.desiredSize, threw(() => c.enqueue(1)), threw(() => c.close()), threw(() => c.error(1))];
});
check("controller errored", async () => {
  let c;
  const s = new RS({
    start(x) {
      c = x;
    },
  });
  c.error("e");
  return [c.desiredSize, threw(() => c.enqueue(1)), threw(() => c.close()), await athrew(() => s.getReader().read())];
});
check("size throws", async () => {
  let c;
  const s = new RS(
    {
      start(x) {
        c = x;
      },
    },
    {
      size() {
        throw new RangeError("s");
      },
    },
  );
  return [threw(() => c.enqueue(1)), await athrew(() => s.getReader().closed)];
});
check("size bad", async () => {
  let o = [];
  for (const n of [NaN, -1, Infinity, "x", undefined]) {
    let c;
    const s = new RS(
      {
        start(x) {
          c = x;
        },
      },
      {
        size() {
          return n;
        },
      },
    );
    o.push(
      threw(() => c.enqueue(1)),
      await athrew(() => s.getReader().closed),
    );
  }
  return o;
});
check("pull order", async () => {
  const log = [];
  const s = new RS(
    {
      start() {
        log.push("start");
      },
      pull(c) {
        log.push("pull" + c.desiredSize);
        if (log.length < 5) c.enqueue(1);
      },
    },
    { highWaterMark: 2 },
  );
  await flush();
  return log;
});
check("start rejects", async () => {
  const s = new RS({
    start() {
      return Promise.reject(new RangeError("x"));
    },
  });
  return athrew(() => s.getReader().read());
});
check("start throws", () =>
  threw(
    () =>
      new RS({
        start() {
          throw new RangeError("x");
        },
      }),
  ),
);
check("pull throws", async () =>
  athrew(() =>
    new RS({
      pull() {
        throw new RangeError("x");
      },
    })
      .getReader()
      .read(),
  ),
);
check("tee", async () => {
  let c;
  const s = new RS({
    start(x) {
      c = x;
    },
  });
  const [a, b] = s.tee();
  c.enqueue({ a: 1 });
  c.close();
  const x = (await a.getReader().read()).value,
    y = (await b.getReader().read()).value;
  return [x === y, s.locked];
});
check("tee cancel", async () => {
  let got;
  const s = new RS({
    cancel(r) {
      got = r;
    },
  });
  const [a, b] = s.tee();
  const p = a.cancel(1);
  await flush();
  const before = got;
  await b.cancel(2);
  await p;
  return [before, got];
});
check("tee cancel throws", async () => {
  const s = new RS({
    cancel() {
      throw new RangeError("t");
    },
  });
  const [a, b] = s.tee();
  const p = a.cancel(1),
    q = b.cancel(2);
  return [await athrew(() => p), await athrew(() => q)];
});
check("tee pull count", async () => {
  let n = 0;
  const s = new RS(
    {
      pull(c) {
        n++;
        c.enqueue(n);
      },
    },
    { highWaterMark: 0 },
  );
  const [a, b] = s.tee();
  await flush();
  const before = n;
  await a.getReader().read();
  await flush();
  return [before, n];
});
check("from", async () => {
  const o = [];
  for (const v of [
    [1, 2],
    new Set([3]),
    "ab",
    (function* () {
      yield 1;
    })(),
    (async function* () {
      yield 9;
    })(),
    new RS({
      start(c) {
        c.enqueue(5);
        c.close();
      },
    }),
  ]) {
    const r = RS.from(v);
    const l = [];
    for await (const x of r) l.push(x);
    o.push(l);
  }
  return [
    o,
    ...[
      null,
      undefined,
      0,
      {},
      { [Symbol.iterator]: null, [Symbol.asyncIterator]: null },
      { [Symbol.iterator]: () => 1 },
      { [Symbol.asyncIterator]: 1 },
    ].map((v) => threw(() => RS.from(v))),
  ];
});
check("from promises", async () => {
  const l = [];
  for await (const x of RS.from([Promise.resolve(1), 2])) l.push(x);
  return l;
});
check("from next call timing", async () => {
  let n = 0;
  const s = RS.from({
    [Symbol.iterator]() {
      return {
        next() {
          n++;
          return { done: n > 2, value: n };
        },
      };
    },
  });
  await flush();
  const before = n;
  const r = s.getReader();
  const a = await r.read();
  await flush();
  return [before, a, n];
});
check("from return on cancel", async () => {
  const log = [];
  const s = RS.from({
    [Symbol.asyncIterator]() {
      return {
        next() {
          return { done: false, value: 1 };
        },
        return(v) {
          log.push(v);
          return {};
        },
      };
    },
  });
  const r = s.getReader();
  await r.read();
  const x = await athrew(() => r.cancel("why"));
  return [log, x];
});
check("from return variants", async () => {
  const o = [];
  for (const ret of [
    undefined,
    null,
    1,
    () => 1,
    () => {
      throw new RangeError("a");
    },
    () => Promise.reject(new RangeError("b")),
    () => ({}),
  ]) {
    const s = RS.from({
      [Symbol.asyncIterator]() {
        return {
          next() {
            return { done: false, value: 1 };
          },
          return: ret,
        };
      },
    });
    o.push(await athrew(() => s.cancel("why")));
  }
  return o;
});
check("from next bad", async () => {
  const o = [];
  for (const next of [
    () => 1,
    () => {
      throw new RangeError("a");
    },
    () => Promise.reject(new RangeError("b")),
    () => Promise.resolve(1),
    5,
  ]) {
    const s = RS.from({
      [Symbol.asyncIterator]() {
        return { next };
      },
    });
    o.push(await athrew(() => s.getReader().read()));
  }
  return o;
});
check("async iter", async () => {
  const s = new RS({
    start(c) {
      c.enqueue(1);
      c.enqueue(2);
      c.close();
    },
  });
  const l = [];
  for await (const x of s) l.push(x);
  return [l, s.locked];
});
check("async iter break cancels", async () => {
  let got = [];
  const s = new RS({
    start(c) {
      c.enqueue(1);
    },
    cancel(r) {
      got.push(r);
    },
  });
  for await (const x of s) break;
  return [got, s.locked];
});
check("async iter preventCancel", async () => {
  let got = [];
  const s = new RS({
    start(c) {
      c.enqueue(1);
    },
    cancel(r) {
      got.push("c");
    },
  });
  for await (const x of s.values({ preventCancel: true })) break;
  return [got, s.locked];
});
check("async iter return value", async () => {
  const s = new RS({
    start(c) {
      c.enqueue(1);
    },
  });
  const it = s.values();
  const a = await it.return("v");
  const b = await it.next();
  const c = await it.return("w");
  return [a, b, c];
});
check("async iter concurrent", async () => {
  let n = 0;
  const s = new RS({
    pull(c) {
      n++;
      if (n > 3) c.close();
      else c.enqueue(n);
    },
  });
  const it = s.values();
  const r = await Promise.all([it.next(), it.next(), it.return("r"), it.next()]);
  return r;
});
check("async iter error", async () => {
  const s = new RS({
    start(c) {
      c.error(new RangeError("x"));
    },
  });
  const it = s.values();
  return [await athrew(() => it.next()), await athrew(() => it.next()), s.locked];
});
check("async iter bad this", async () => {
  const it = new RS().values();
  const P = Object.getPrototypeOf(it);
  let sync;
  const f = (fn) => {
    try {
      const p = fn();
      return athrew(() => p);
    } catch (e) {
      return "sync";
    }
  };
  return [await f(() => P.next.call({})), await f(() => P.return.call({}))];
});
check("values bad", () => [
  threw(() => new RS().values(1)),
  threw(() => new RS().values(null)),
  threw(() => {
    const s = new RS();
    s.getReader();
    s.values();
  }),
]);
// BYOB
check("byob basic", async () => {
  const s = new RS({
    type: "bytes",
    start(c) {
      c.enqueue(u8(1, 2, 3));
      c.close();
    },
  });
  const r = s.getReader({ mode: "byob" });
  const v = new Uint8Array(2);
  const a = await r.read(v),
    b = await r.read(new Uint8Array(2)),
    c = await r.read(new Uint8Array(2));
  return [a, v.byteLength, b, c];
});
check("byob bad views", async () => {
  const r = new RS({ type: "bytes" }).getReader({ mode: "byob" });
  return [
    await athrew(() => r.read()),
    await athrew(() => r.read({})),
    await athrew(() => r.read(new Uint8Array(0))),
    await athrew(() => r.read(new ArrayBuffer(1))),
    await athrew(() => r.read(new Uint8Array(1), { min: 0 })),
    await athrew(() => r.read(new Uint8Array(1), { min: 2 })),
    await athrew(() => r.read(new Uint8Array(1), { min: -1 })),
    await athrew(() => r.read(new Uint8Array(1), 1)),
    await athrew(() => {
      const v = u8(1);
      structuredClone(v.buffer, { transfer: [v.buffer] });
      return r.read(v);
    }),
  ];
});
check("byob elements", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const r = s.getReader({ mode: "byob" });
  const p = r.read(new Uint16Array(3));
  c.enqueue(u8(1));
  await flush();
  c.enqueue(u8(2, 3));
  const a = await p;
  c.enqueue(u8(4));
  c.close();
  const b = await athrew(() => r.read(new Uint16Array(2)));
  return [a, b];
});
check("byob close with partial", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const r = s.getReader({ mode: "byob" });
  const p = r.read(new Uint16Array(3));
  c.enqueue(u8(1));
  return [threw(() => c.close()), await athrew(() => p), await athrew(() => r.closed)];
});
check("byob min", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const r = s.getReader({ mode: "byob" });
  let done = false;
  const p = r.read(new Uint8Array(5), { min: 3 }).then((v) => {
    done = true;
    return v;
  });
  c.enqueue(u8(1));
  await flush();
  const d1 = done;
  c.enqueue(u8(2, 3, 4));
  return [d1, await p];
});
check("byob min close", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const r = s.getReader({ mode: "byob" });
  const p = r.read(new Uint8Array(5), { min: 3 });
  c.enqueue(u8(1));
  await flush();
  c.close();
  c.byobRequest?.respond(0);
  return p;
});
check("byobRequest respond", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    pull(x) {
      const q = x.byobRequest;
      if (!q) return;
      q.view[0] = 7;
      q.respond(1);
    },
  });
  const r = s.getReader({ mode: "byob" });
  return r.read(new Uint8Array(4));
});
check("byobRequest errors", async () => {
  const o = [];
  const s = new RS({
    type: "bytes",
    pull(x) {
      const q = x.byobRequest;
      o.push(
        threw(() => q.respond()),
        threw(() => q.respond(0)),
        threw(() => q.respond(9)),
        threw(() => q.respond(-1)),
        threw(() => q.respond("x")),
        threw(() => q.respondWithNewView()),
        threw(() => q.respondWithNewView(u8(1))),
        threw(() => q.respondWithNewView(new Uint8Array(q.view.buffer, 1, 1))),
        q.view.constructor.name,
        q.view.byteLength,
        q === x.byobRequest,
        q.view === q.view,
      );
      q.respond(4);
      o.push(
        q.view,
        threw(() => q.respond(1)),
        x.byobRequest,
      );
    },
  });
  const r = s.getReader({ mode: "byob" });
  const v = await r.read(new Uint8Array(4));
  return [o, v];
});
check("respondWithNewView", async () => {
  const s = new RS({
    type: "bytes",
    pull(x) {
      const q = x.byobRequest;
      const b = structuredClone(q.view.buffer, { transfer: [q.view.buffer] });
      const v = new Uint8Array(b, 0, 2);
      v[0] = 5;
      q.respondWithNewView(v);
    },
  });
  const r = s.getReader({ mode: "byob" });
  return r.read(new Uint8Array(4));
});
check("autoAllocate", async () => {
  const s = new RS({
    type: "bytes",
    autoAllocateChunkSize: 8,
    pull(x) {
      const q = x.byobRequest;
      q.view[0] = 1;
      q.respond(1);
    },
  });
  const r = s.getReader();
  const a = await r.read();
  return [a, a.value.buffer.byteLength];
});
check("byob close cancel value", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const r = s.getReader({ mode: "byob" });
  const p = r.read(new Uint8Array(4));
  await r.cancel();
  return [await p, await r.read(new Uint8Array(2))];
});
check("byob close pending", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const r = s.getReader({ mode: "byob" });
  const p = r.read(new Uint8Array(4));
  c.close();
  c.byobRequest.respond(0);
  return [await p, await athrew(() => r.closed)];
});
check("byte enqueue bad", () => {
  let c;
  new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  return [
    threw(() => c.enqueue()),
    threw(() => c.enqueue("x")),
    threw(() => c.enqueue(new Uint8Array(0))),
    threw(() => c.enqueue(new ArrayBuffer(1))),
    c.desiredSize,
    threw(() => {
      const v = u8(1);
      c.enqueue(v);
      return v.byteLength;
    }),
  ];
});
check("byte tee byob", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const [a, b] = s.tee();
  const ra = a.getReader({ mode: "byob" }),
    rb = b.getReader();
  const p = ra.read(new Uint8Array(2));
  await flush();
  c.enqueue(u8(1, 2, 3));
  const x = await p,
    y = await rb.read();
  return [x, y, x.value.buffer === y.value.buffer];
});
check("byte tee close", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const [a, b] = s.tee();
  const ra = a.getReader({ mode: "byob" }),
    rb = b.getReader({ mode: "byob" });
  const p = ra.read(new Uint8Array(2)),
    q = rb.read(u8(1));
  await flush();
  c.close();
  await flush();
  try {
    c.byobRequest?.respond(0);
  } catch {}
  return [await p, await q];
});
check("byte release partial", async () => {
  let c;
  const s = new RS({
    type: "bytes",
    start(x) {
      c = x;
    },
  });
  const r = s.getReader({ mode: "byob" });
  const p = r.read(new Uint16Array(2));
  c.enqueue(u8(1));
  r.releaseLock();
  const e = await athrew(() => p);
  const r2 = s.getReader({ mode: "byob" });
  c.enqueue(u8(2));
  return [e, await r2.read(new Uint8Array(4))];
});
// writable
check("ws order", async () => {
  const log = [];
  const s = new WS({
    start() {
      log.push("start");
    },
    write(c) {
      log.push("w" + c);
    },
    close() {
      log.push("close");
    },
  });
  const w = s.getWriter();
  w.ready.then(() => log.push("ready"));
  w.write(1).then(() => log.push("w1 done"));
  w.write(2);
  w.close().then(() => log.push("closed"));
  w.closed.then(() => log.push("closed2"));
  await w.closed;
  await flush();
  return log;
});
check("ws desiredSize", async () => {
  const s = new WS({}, { highWaterMark: 2 });
  const w = s.getWriter();
  const o = [w.desiredSize];
  w.write(1);
  o.push(w.desiredSize);
  const p = w.close();
  o.push(w.desiredSize);
  await p;
  o.push(w.desiredSize);
  w.releaseLock();
  o.push(threw(() => w.desiredSize));
  return o;
});
check("ws abort signal", async () => {
  let sig,
    log = [];
  const s = new WS({
    start(c) {
      sig = c.signal;
      sig.addEventListener("abort", () => log.push("aborted", sig.reason));
    },
    abort(r) {
      log.push("abort", r);
    },
  });
  const p = s.abort("why");
  log.push("after");
  await p;
  return [log, sig instanceof AbortSignal, sig.aborted];
});
check("ws abort during write", async () => {
  const log = [];
  let done;
  const s = new WS({
    write() {
      return new Promise((r) => {
        done = r;
      });
    },
    abort(r) {
      log.push("abort " + r);
    },
  });
  const w = s.getWriter();
  await w.ready;
  const p = w.write(1);
  w.write(2).catch((e) => log.push("w2 " + e));
  const a = w.abort("A");
  w.closed.catch((e) => log.push("closed " + e));
  w.ready.catch((e) => log.push("ready " + e));
  await flush();
  log.push("--");
  done();
  await a;
  p.then(() => log.push("w1 ok"));
  await flush();
  return log;
});
check("ws close errors", async () => {
  const s = new WS({
    close() {
      throw new RangeError("x");
    },
  });
  const w = s.getWriter();
  return [await athrew(() => w.close()), await athrew(() => w.closed), await athrew(() => w.write(1)), await athrew(() => w.close())];
});
check("ws locked", async () => {
  const s = new WS();
  s.getWriter();
  return [threw(() => s.getWriter()), await athrew(() => s.abort()), await athrew(() => s.close()), s.locked];
});
check("ws error controller", async () => {
  let c;
  const s = new WS({
    start(x) {
      c = x;
    },
  });
  c.error("E");
  const w = s.getWriter();
  return [await athrew(() => w.closed), await athrew(() => w.ready), w.desiredSize, await athrew(() => w.write(1))];
});
check("ws release", async () => {
  const s = new WS();
  const w = s.getWriter();
  const c = w.closed,
    r = w.ready;
  w.releaseLock();
  return [
    await athrew(() => c),
    await athrew(() => r),
    w.ready === r,
    w.closed === c,
    await athrew(() => w.ready),
    await athrew(() => w.write(1)),
    await athrew(() => w.close()),
    await athrew(() => w.abort()),
  ];
});
check("ws write after close", async () => {
  const s = new WS();
  const w = s.getWriter();
  w.close();
  return [await athrew(() => w.write(1)), await athrew(() => w.close())];
});
check("ws writer ctor", () => [
  threw(() => new WritableStreamDefaultWriter()),
  threw(() => new WritableStreamDefaultWriter({})),
  threw(() => new ReadableStreamDefaultReader({})),
  threw(() => new ReadableStreamBYOBReader(new RS())),
  threw(() => new WritableStreamDefaultController()),
  threw(() => new ReadableStreamDefaultController()),
  threw(() => new ReadableStreamBYOBRequest()),
  threw(() => new TransformStreamDefaultController()),
]);
// pipe
check("pipeTo basic", async () => {
  const log = [];
  await RS.from([1, 2, 3]).pipeTo(
    new WS({
      write(c) {
        log.push(c);
      },
      close() {
        log.push("close");
      },
    }),
  );
  return log;
});
check("pipeTo args", async () => {
  const r = new RS(),
    w = new WS();
  return [
    await athrew(() => r.pipeTo()),
    await athrew(() => r.pipeTo({})),
    await athrew(() => r.pipeTo(w, { signal: 1 })),
    await athrew(() => r.pipeTo(w, { signal: null })),
    await athrew(() => r.pipeTo(w, 1)),
    r.locked,
    w.locked,
    threw(() => r.pipeThrough({})),
    threw(() => r.pipeThrough({ readable: r })),
    threw(() => r.pipeThrough({ writable: w })),
    threw(() => r.pipeThrough()),
    r.locked,
  ];
});
check("pipeTo locked", async () => {
  const a = new RS();
  a.getReader();
  const w = new WS();
  const w2 = new WS();
  w2.getWriter();
  return [
    await athrew(() => a.pipeTo(w)),
    await athrew(() => new RS().pipeTo(w2)),
    threw(() => a.pipeThrough(new TS())),
    threw(() => new RS().pipeThrough({ readable: new RS(), writable: w2 })),
  ];
});
check("pipeTo error fwd", async () => {
  const log = [];
  const p = new RS({
    start(c) {
      c.error(new RangeError("src"));
    },
  }).pipeTo(
    new WS({
      abort(r) {
        log.push(r.name);
      },
    }),
  );
  return [await athrew(() => p), log];
});
check("pipeTo preventAbort", async () => {
  const log = [];
  const w = new WS({
    abort(r) {
      log.push(r.name);
    },
  });
  const p = new RS({
    start(c) {
      c.error(new RangeError("src"));
    },
  }).pipeTo(w, { preventAbort: true });
  return [await athrew(() => p), log, w.locked];
});
check("pipeTo dest error", async () => {
  const log = [];
  const p = new RS({
    pull(c) {
      c.enqueue(1);
    },
    cancel(r) {
      log.push(r.name);
    },
  }).pipeTo(
    new WS({
      write() {
        throw new RangeError("dst");
      },
    }),
  );
  return [await athrew(() => p), log];
});
check("pipeTo preventCancel", async () => {
  const log = [];
  const r = new RS({
    pull(c) {
      c.enqueue(1);
    },
    cancel(r) {
      log.push(r.name);
    },
  });
  const p = r.pipeTo(
    new WS({
      write() {
        throw new RangeError("dst");
      },
    }),
    { preventCancel: true },
  );
  return [await athrew(() => p), log, r.locked];
});
check("pipeTo preventClose", async () => {
  const log = [];
  const w = new WS({
    close() {
      log.push("close");
    },
  });
  await RS.from([1]).pipeTo(w, { preventClose: true });
  return [log, w.locked];
});
check("pipeTo dest closed", async () => {
  const log = [];
  const w = new WS();
  await w.close();
  const r = new RS({
    cancel(e) {
      log.push(e.name);
    },
  });
  return [await athrew(() => r.pipeTo(w)), log];
});
check("pipeTo signal", async () => {
  const log = [];
  const ac = new AbortController();
  const r = new RS({
      cancel(e) {
        log.push("cancel", e);
      },
    }),
    w = new WS({
      abort(e) {
        log.push("abort", e);
      },
    });
  const p = r.pipeTo(w, { signal: ac.signal });
  ac.abort("R");
  return [await athrew(() => p), log];
});
check("pipeTo aborted signal", async () => {
  const log = [];
  const r = new RS({
      cancel(e) {
        log.push("cancel", e);
      },
    }),
    w = new WS({
      abort(e) {
        log.push("abort", e);
      },
    });
  const p = r.pipeTo(w, { signal: AbortSignal.abort("R") });
  return [await athrew(() => p), log];
});
check("pipeTo signal errors", async () => {
  const r = new RS({
      cancel(e) {
        throw new RangeError("c");
      },
    }),
    w = new WS({
      abort(e) {
        throw new TypeError("a");
      },
    });
  return athrew(() => r.pipeTo(w, { signal: AbortSignal.abort("R") }));
});
check("pipeTo options order", async () => {
  const log = [];
  await athrew(() =>
    new RS().pipeTo(
      new WS(),
      new Proxy(
        {},
        {
          get(t, k) {
            log.push(k);
            if (k === "signal") throw 1;
          },
        },
      ),
    ),
  );
  return log;
});
check("pipeThrough order", () => {
  const log = [];
  const t = new TS();
  new RS().pipeThrough(
    new Proxy(
      {},
      {
        get(_, k) {
          log.push(k);
          return t[k];
        },
      },
    ),
    new Proxy(
      {},
      {
        get(_, k) {
          log.push(k);
        },
      },
    ),
  );
  return log;
});
check("pipeThrough unhandled", async () => {
  const r = new RS({
    start(c) {
      c.error(new RangeError("x"));
    },
  }).pipeThrough(new TS());
  return athrew(() => r.getReader().read());
});
check("pipeTo backpressure", async () => {
  const log = [];
  let n = 0;
  const r = new RS(
    {
      pull(c) {
        log.push("p" + ++n);
        c.enqueue(n);
        if (n == 4) c.close();
      },
    },
    { highWaterMark: 0 },
  );
  let go;
  const w = new WS(
    {
      write(v) {
        log.push("w" + v);
        return new Promise((r) => {
          go = r;
        });
      },
    },
    { highWaterMark: 1 },
  );
  const p = r.pipeTo(w);
  for (let i = 0; i < 5; i++) {
    await flush();
    log.push("|");
    go?.();
  }
  await p;
  return log;
});
// transform
check("ts identity", async () => {
  const t = new TS();
  const w = t.writable.getWriter();
  w.write(1);
  w.close();
  const l = [];
  for await (const x of t.readable) l.push(x);
  return l;
});
check("ts flush", async () => {
  const t = new TS({
    transform(c, k) {
      k.enqueue(c + 1);
    },
    flush(k) {
      k.enqueue("f");
    },
  });
  const w = t.writable.getWriter();
  w.write(1);
  w.close();
  const l = [];
  for await (const x of t.readable) l.push(x);
  return l;
});
check("ts error", async () => {
  const t = new TS({
    transform() {
      throw new RangeError("x");
    },
  });
  const w = t.writable.getWriter();
  const p = w.write(1);
  return [await athrew(() => t.readable.getReader().read()), await athrew(() => p), await athrew(() => w.closed)];
});
check("ts terminate", async () => {
  let k;
  const t = new TS({
    start(c) {
      k = c;
    },
  });
  k.terminate();
  const w = t.writable.getWriter();
  return [await athrew(() => t.readable.getReader().read()), await athrew(() => w.closed), k.desiredSize, threw(() => k.enqueue(1))];
});
check("ts cancel", async () => {
  const log = [];
  const t = new TS({
    cancel(r) {
      log.push("cancel " + r);
    },
    flush() {
      log.push("flush");
    },
  });
  await t.readable.cancel("R");
  const w = t.writable.getWriter();
  return [log, await athrew(() => w.closed), await athrew(() => w.write(1))];
});
check("ts abort", async () => {
  const log = [];
  const t = new TS({
    cancel(r) {
      log.push("cancel " + r);
    },
  });
  await t.writable.abort("A");
  return [log, await athrew(() => t.readable.getReader().read())];
});
check("ts cancel throws", async () => {
  const t = new TS({
    cancel(r) {
      throw new RangeError("c");
    },
  });
  return [await athrew(() => t.readable.cancel("R")), await athrew(() => t.writable.getWriter().closed)];
});
check("ts cancel + close", async () => {
  const log = [];
  const t = new TS({
    flush() {
      log.push("f");
    },
    cancel() {
      log.push("c");
    },
  });
  const w = t.writable.getWriter();
  const a = w.close(),
    b = t.readable.cancel(1);
  return [await athrew(() => a), await athrew(() => b), log];
});
check("ts backpressure", async () => {
  const t = new TS();
  const w = t.writable.getWriter();
  const o = [w.desiredSize];
  let ready = false;
  w.ready.then(() => {
    ready = true;
  });
  await flush();
  o.push(ready);
  w.write(1);
  o.push(w.desiredSize);
  await flush();
  const r = t.readable.getReader();
  await r.read();
  await flush();
  o.push(w.desiredSize);
  return o;
});
check("strategies", () => [
  new CountQueuingStrategy({ highWaterMark: "3" }).highWaterMark,
  new ByteLengthQueuingStrategy({ highWaterMark: 1 }).size({ byteLength: 9 }),
  new CountQueuingStrategy({ highWaterMark: 1 }).size(),
  new CountQueuingStrategy({ highWaterMark: 1 }).size === new CountQueuingStrategy({ highWaterMark: 2 }).size,
  threw(() => new CountQueuingStrategy()),
  threw(() => new CountQueuingStrategy({})),
  new CountQueuingStrategy({ highWaterMark: NaN }).highWaterMark,
  new CountQueuingStrategy({ highWaterMark: 1 }).size.name,
  new ByteLengthQueuingStrategy({ highWaterMark: 1 }).size.length,
  new CountQueuingStrategy({ highWaterMark: 1 }).size.length,
  threw(() => new ByteLengthQueuingStrategy({ highWaterMark: 1 }).size()),
  "prototype" in new CountQueuingStrategy({ highWaterMark: 1 }).size,
]);
check("sync vs async throw", async () => {
  const kind = (fn) => {
    try {
      const p = fn();
      if (!(p instanceof Promise)) return "value";
      p.catch(() => {});
      return "promise";
    } catch {
      return "throw";
    }
  };
  return [
    [RS.prototype, "cancel"],
    [RS.prototype, "pipeTo"],
    [ReadableStreamDefaultReader.prototype, "read"],
    [ReadableStreamDefaultReader.prototype, "cancel"],
    [ReadableStreamBYOBReader.prototype, "read"],
    [WS.prototype, "abort"],
    [WS.prototype, "close"],
    [WritableStreamDefaultWriter.prototype, "abort"],
    [WritableStreamDefaultWriter.prototype, "close"],
    [WritableStreamDefaultWriter.prototype, "write"],
    [Response.prototype, "text"],
    [Request.prototype, "json"],
    [Blob.prototype, "text"],
    [Blob.prototype, "arrayBuffer"],
  ]
    .map(([o, k]) => kind(() => o[k].call({})))
    .concat(
      [
        [ReadableStreamDefaultReader.prototype, "closed"],
        [ReadableStreamBYOBReader.prototype, "closed"],
        [WritableStreamDefaultWriter.prototype, "closed"],
        [WritableStreamDefaultWriter.prototype, "ready"],
      ].map(([o, k]) => kind(() => Object.getOwnPropertyDescriptor(o, k)?.get.call({}))),
    );
});
check("transfer rs", async () => {
  const s = RS.from([1, { a: 2 }]);
  const t = structuredClone(s, { transfer: [s] });
  const l = [];
  for await (const x of t) l.push(x);
  return [l, s.locked, t instanceof RS];
});
check("transfer ws", async () => {
  const log = [];
  const s = new WS({
    write(c) {
      log.push(c);
    },
    close() {
      log.push("close");
    },
  });
  const t = structuredClone(s, { transfer: [s] });
  const w = t.getWriter();
  await w.write({ a: 1 });
  await w.close();
  await tick(5);
  return [log, s.locked];
});
check("transfer ts", async () => {
  const s = new TS();
  const t = structuredClone(s, { transfer: [s] });
  const w = t.writable.getWriter();
  w.write("x");
  const r = await t.readable.getReader().read();
  return [r, s.readable.locked, s.writable.locked];
});
check("transfer locked", () => {
  const s = new RS();
  s.getReader();
  return [threw(() => structuredClone(s, { transfer: [s] })), threw(() => structuredClone(new RS()))];
});
check("monkeypatch then", async () => {
  let hit = 0;
  Object.defineProperty(Object.prototype, "then", {
    get() {
      hit++;
      return undefined;
    },
    configurable: true,
  });
  try {
    const r = new RS({
      start(c) {
        c.enqueue(1);
        c.close();
      },
    }).getReader();
    await r.read();
    return hit;
  } finally {
    delete Object.prototype.then;
  }
});
check("identity", async () => {
  if (!globalThis.IdentityTransformStream) return "n/a";
  const t = new IdentityTransformStream();
  const w = t.writable.getWriter();
  const p = w.write(u8(1, 2, 3));
  const r = t.readable.getReader({ mode: "byob" });
  const a = await r.read(new Uint8Array(2));
  const b = await r.read(new Uint8Array(2));
  await p;
  return [a, b, await athrew(() => w.write("x")), await athrew(() => w.write(1))];
});
check("fixed", async () => {
  if (!globalThis.FixedLengthStream) return "n/a";
  const t = new FixedLengthStream(3);
  const w = t.writable.getWriter();
  const p = w.write(u8(1, 2, 3, 4));
  const r = t.readable.getReader();
  return [await athrew(() => p), await athrew(() => r.read())];
});
check("fixed short", async () => {
  if (!globalThis.FixedLengthStream) return "n/a";
  const t = new FixedLengthStream(3);
  const w = t.writable.getWriter();
  const r = t.readable.getReader();
  r.read().catch(() => {});
  await w.write(u8(1));
  return [await athrew(() => w.close()), await athrew(() => r.read())];
});
check("tds", async () => {
  const t = new TextDecoderStream();
  const w = t.writable.getWriter();
  w.write(u8(0xe2));
  w.write(u8(0x82, 0xac).buffer);
  w.close();
  const l = [];
  for await (const x of t.readable) l.push(x);
  return l;
});
check("tds fatal", async () => {
  const t = new TextDecoderStream("utf-8", { fatal: true });
  const w = t.writable.getWriter();
  const p = w.write(u8(0xff));
  return [await athrew(() => p), await athrew(() => t.readable.getReader().read())];
});
check("tds fatal end", async () => {
  const t = new TextDecoderStream("utf-8", { fatal: true });
  const w = t.writable.getWriter();
  w.write(u8(0xe2)).catch(() => {});
  const p = w.close();
  p.catch(() => {});
  return [await athrew(() => t.readable.getReader().read()), await athrew(() => p)];
});
check("tds bad chunk", async () => {
  const o = [];
  for (const v of ["x", 1, undefined, null, {}]) {
    const t = new TextDecoderStream();
    const w = t.writable.getWriter();
    const r = t.readable.getReader();
    const p = r.read();
    p.catch(() => {});
    o.push(await athrew(() => w.write(v)), await athrew(() => p));
  }
  return o;
});
check("tes", async () => {
  const t = new TextEncoderStream();
  const w = t.writable.getWriter();
  w.write("\ud83d");
  w.write("\ude00");
  w.write("\ud800");
  w.write(12);
  w.write(null);
  w.write("");
  w.close();
  const l = [];
  for await (const x of t.readable) l.push(...x);
  return l;
});
check("tes bad chunk", async () => {
  const t = new TextEncoderStream();
  const w = t.writable.getWriter();
  const r = t.readable.getReader().read();
  r.catch(() => {});
  return [
    await athrew(() => w.write(Symbol())),
    await athrew(() =>
      w.write({
        toString() {
          throw new RangeError("x");
        },
      }),
    ),
  ];
});
check("compress", async () => {
  const l = [];
  for (const f of ["gzip", "deflate", "deflate-raw"]) {
    const s = new Blob(["hello ".repeat(50)]).stream().pipeThrough(new CompressionStream(f)).pipeThrough(new DecompressionStream(f));
    l.push((await new Response(s).text()).length);
  }
  return l;
});
check("compress bad", async () => [
  threw(() => new CompressionStream("x")),
  threw(() => new CompressionStream()),
  threw(() => new DecompressionStream("GZIP")),
  await athrew(() => new Response(new Blob(["garbage"]).stream().pipeThrough(new DecompressionStream("gzip"))).text()),
]);
check("compress chunk types", async () => {
  const o = [];
  for (const v of ["x", 1, null, undefined, {}, [], new ArrayBuffer(1), u8(1), new DataView(new ArrayBuffer(2))]) {
    const t = new CompressionStream("gzip");
    const w = t.writable.getWriter();
    const r = t.readable.getReader();
    r.read().catch(() => {});
    r.closed.catch(() => {});
    w.closed.catch(() => {});
    o.push(await athrew(() => w.write(v)));
  }
  return o;
});
check("decompress trailing/trunc", async () => {
  const gz = new Uint8Array(await new Response(new Blob(["hi"]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer());
  const run = (b) => athrew(() => new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
  return [await run(gz), await run(gz.slice(0, -1)), await run(new Uint8Array([...gz, 0])), await run(new Uint8Array(0))];
});

// Streams, section 6.4.4: cancel() and abort() at once have one end, and start()
// is two jobs later than a promise that is handed on (Web IDL, section 3.2.24).
check("ts cancel + abort", async () => {
  const log = [];
  const t = new TS({
    cancel(reason) {
      log.push(reason);
    },
  });
  const a = t.readable.cancel("a"),
    b = t.writable.abort("b");
  return [await athrew(() => a), await athrew(() => b), log];
});
// Streams, section 4.7.4 ([[CancelSteps]] clears the pending pull-intos): the request of a canceled stream is gone.
check("byobRequest after cancel", async () => {
  let c;
  const rs = new ReadableStream({ type: "bytes", start: (k) => void (c = k) });
  const reader = rs.getReader({ mode: "byob" });
  const read = reader.read(new Uint8Array(5));
  const request = c.byobRequest;
  await reader.cancel();
  return [c.byobRequest, request.view, threw(() => request.respond(1)), (await read).done];
});
// Streams, section 9.2 (TransferArrayBuffer): a resizable buffer stays resizable.
check("byob resizable", async () => {
  const rs = new ReadableStream({ type: "bytes", pull: (c) => c.byobRequest.respond(1) });
  const view = new Uint8Array(new ArrayBuffer(4, { maxByteLength: 8 }));
  const { value } = await rs.getReader({ mode: "byob" }).read(view);
  return [value.length, value.buffer.resizable, value.buffer.maxByteLength, view.length, view.buffer.detached];
});
// workerd: how many jobs a read takes, and a step of an iterator. Code that writes between two reads sees it.
const settled = () => new Promise((r) => setTimeout(r, 2));
const jobs = async (begin, go) => {
  let n = 0, at = "never";
  const count = () => { if (++n < 40) Promise.resolve().then(count); };
  const result = begin();
  if (go) await settled();
  result.then((r) => { at = [n, r.value, r.done]; }, (e) => { at = [n, e]; });
  Promise.resolve().then(count);
  go?.();
  await settled();
  return at;
};
for (const type of [undefined, "bytes"]) {
  const made = (way) => { let c; const s = new ReadableStream({ type, start(k) { c = k; } }), it = way === "read" ? s.getReader() : s.values({ preventCancel: way === "kept" }); return { c, it, next: () => (it.read ?? it.next).call(it) }; };
  for (const way of ["read", "values"]) check(`jobs of ${way} ${type}`, async () => {
    const chunk = () => new Uint8Array([7]), out = [];
    for (const [act, value] of [["enqueue", chunk], ["close"], ["error", () => "broken"]]) {
      const early = made(way), late = made(way);
      out.push(await jobs(early.next, () => early.c[act](value?.())));
      late.c[act](value?.());
      out.push(await jobs(late.next));
    }
    return out;
  });
  check(`jobs of return ${type}`, async () => [await jobs(() => made("values").it.return(1)), await jobs(() => made("kept").it.return(1))]);
}
check("jobs of two steps", async () => { const s = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); } }), it = s.values(); it.next(); return jobs(() => it.next()); });
check("for await and write", async () => {
  const log = [], { readable, writable } = new TransformStream(), w = writable.getWriter();
  (async () => { for (const x of ["a", "b"]) { log.push("write " + x); await w.write(x); log.push("wrote " + x); } })();
  let n = 0;
  for await (const x of readable) { log.push("read " + x); if (++n === 2) break; }
  return log;
});
// workerd: a read without a view is given one of autoAllocateChunkSize bytes, 4,096 if that is not there, and what is queued is put into it.
check("reads that allocate", async () => {
  const out = [], tell = ({ done, value }) => [done, value?.byteLength, value?.buffer.byteLength];
  const soon = (p) => Promise.race([p, settled().then(() => "waits")]);
  for (const autoAllocateChunkSize of [undefined, 16]) {
    const made = (more) => { let c; const s = new ReadableStream({ type: "bytes", autoAllocateChunkSize, start(k) { c = k; }, ...more }); return { c, s, r: s.getReader() }; };
    const queued = async (...sizes) => { const { c, r } = made(); for (const n of sizes) c.enqueue(new Uint8Array(n)); return [tell(await r.read()), await soon(r.read().then(tell))]; };
    out.push(await queued(1, 2), await queued(40), await queued(5000));
    { const { c, r } = made(), p = [r.read(), r.read()]; await settled(); c.close(); out.push((await Promise.all(p)).map(tell), tell(await r.read())); }
    { const { r } = made(), p = r.read(); await settled(); r.cancel(); out.push(tell(await p)); }
    { const { r } = made({ pull(k) { k.close(); k.byobRequest.respond(0); } }); out.push(tell(await r.read())); }
    { const { c, s, r } = made(); r.releaseLock(); const t = s.tee().map((x) => x.getReader()), p = t.map((x) => x.read()); await settled(); c.enqueue(new Uint8Array(3)); out.push((await Promise.all(p)).map(tell)); const q = t.map((x) => x.read()); await settled(); c.close(); out.push((await Promise.all(q)).map(tell)); }
    { const { c, s, r } = made(); r.releaseLock(); for (const n of [3, 5000]) c.enqueue(new Uint8Array(n)); c.close(); out.push((await new Response(s).bytes()).length); }
  }
  return out;
});
