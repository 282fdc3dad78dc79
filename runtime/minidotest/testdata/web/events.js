const ET = EventTarget;
check("event ctor", () => {
  const e = new Event("x", { bubbles: 1, cancelable: "a", composed: 0 });
  return [
    e.type,
    e.bubbles,
    e.cancelable,
    e.composed,
    e.target,
    e.currentTarget,
    e.srcElement,
    e.eventPhase,
    e.defaultPrevented,
    e.returnValue,
    e.cancelBubble,
    e.isTrusted,
    typeof e.timeStamp,
    e.composedPath(),
  ];
});
check("event ctor args", () => [
  threw(() => new Event()),
  threw(() => new Event("a", 1)),
  threw(() => new Event("a", null)),
  new Event(undefined).type,
  new Event(null).type,
  threw(() => new Event(Symbol())),
]);
check("event dict order", () => {
  const log = [];
  new Event(
    "x",
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(k);
        },
      },
    ),
  );
  return log;
});
check("custom dict order", () => {
  const log = [];
  new CustomEvent(
    "x",
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(k);
        },
      },
    ),
  );
  return log;
});
check("message dict order", () => {
  const log = [];
  new MessageEvent(
    "x",
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(k);
        },
      },
    ),
  );
  return log;
});
check("error dict order", () => {
  const log = [];
  new ErrorEvent(
    "x",
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(k);
        },
      },
    ),
  );
  return log;
});
check("close dict order", () => {
  const log = [];
  new CloseEvent(
    "x",
    new Proxy(
      {},
      {
        get(t, k) {
          log.push(k);
        },
      },
    ),
  );
  return log;
});
check("custom", () => {
  const e = new CustomEvent("x");
  const f = new CustomEvent("x", { detail: 5 });
  return [
    e.detail,
    f.detail,
    threw(() => {
      e.initCustomEvent("y", true, true, 7);
      return [e.type, e.detail, e.bubbles];
    }),
  ];
});
check("isTrusted own", () => {
  const e = new Event("x"),
    f = new Event("y");
  const d = Object.getOwnPropertyDescriptor(e, "isTrusted"),
    g = Object.getOwnPropertyDescriptor(f, "isTrusted");
  return d ? [typeof d.get, d.get === g.get, d.set, d.enumerable, d.configurable] : "none";
});
check("message event", () => {
  const e = new MessageEvent("m");
  return [
    e.data,
    e.origin,
    e.lastEventId,
    e.source,
    e.ports,
    Object.isFrozen(e.ports),
    new MessageEvent("m", { data: 1, origin: 2, lastEventId: 3 }).origin,
  ];
});
check("error event", () => {
  const e = new ErrorEvent("m");
  const f = new ErrorEvent("m", { message: 1, filename: "f", lineno: "3", colno: -1, error: 9 });
  return [e.message, e.filename, e.lineno, e.colno, e.error, f.message, f.filename, f.lineno, f.colno, f.error];
});
check("close event", () => {
  const e = new CloseEvent("m");
  const f = new CloseEvent("m", { wasClean: 1, code: 70000, reason: 5 });
  return [e.wasClean, e.code, e.reason, f.wasClean, f.code, f.reason];
});
check("PRE", () => [
  threw(() => new PromiseRejectionEvent("x")),
  threw(() => new PromiseRejectionEvent("x", {})),
  threw(() => {
    const e = new PromiseRejectionEvent("x", { promise: Promise.resolve(), reason: 3 });
    return [e.reason, e.promise instanceof Promise];
  }),
]);
check("addEventListener args", () => {
  const t = new ET();
  return [
    threw(() => t.addEventListener()),
    threw(() => t.addEventListener("a")),
    threw(() => t.addEventListener("a", null)),
    threw(() => t.addEventListener("a", undefined)),
    threw(() => t.addEventListener("a", 1)),
    threw(() => t.addEventListener("a", "x")),
    threw(() => t.addEventListener("a", {})),
    threw(() => t.addEventListener("a", () => {}, 1)),
    threw(() => t.addEventListener("a", () => {}, null)),
    threw(() => t.addEventListener("a", () => {}, { signal: null })),
    threw(() => t.addEventListener("a", () => {}, { signal: 1 })),
    threw(() => t.addEventListener("a", null, { signal: 1 })),
    threw(() => t.removeEventListener("a")),
    threw(() => t.removeEventListener("a", null)),
    threw(() => t.dispatchEvent()),
    threw(() => t.dispatchEvent({})),
    threw(() => t.dispatchEvent(null)),
  ];
});
check("listener options order", () => {
  const log = [];
  const px = new Proxy(
    {},
    {
      get(t, k) {
        log.push(k);
      },
    },
  );
  const t = new ET();
  t.addEventListener("a", () => {}, px);
  log.push("|");
  t.removeEventListener("a", () => {}, px);
  return log;
});
check("once/dup/capture", () => {
  const log = [];
  const t = new ET();
  const f = () => log.push("f");
  t.addEventListener("a", f);
  t.addEventListener("a", f);
  t.addEventListener("a", f, true);
  t.addEventListener("a", f, { once: true });
  t.addEventListener("a", () => log.push("o"), { once: true });
  t.dispatchEvent(new Event("a"));
  log.push("|");
  t.dispatchEvent(new Event("a"));
  t.removeEventListener("a", f);
  log.push("|");
  t.dispatchEvent(new Event("a"));
  t.removeEventListener("a", f, { capture: true });
  log.push("|");
  t.dispatchEvent(new Event("a"));
  return log;
});
check("capture order at target", () => {
  const log = [];
  const t = new ET();
  t.addEventListener("a", () => log.push("bubble"));
  t.addEventListener("a", () => log.push("capture"), true);
  t.dispatchEvent(new Event("a"));
  return log;
});
check("handleEvent", () => {
  const log = [];
  const t = new ET();
  const o = {
    handleEvent(e) {
      log.push(this === o, e.type);
    },
  };
  t.addEventListener("a", o);
  t.dispatchEvent(new Event("a"));
  o.handleEvent = () => log.push("new");
  t.dispatchEvent(new Event("a"));
  return log;
});
check("handleEvent getter lazily", () => {
  let n = 0;
  const t = new ET();
  t.addEventListener("a", {
    get handleEvent() {
      n++;
      return () => {};
    },
  });
  const a = n;
  t.dispatchEvent(new Event("a"));
  t.dispatchEvent(new Event("a"));
  return [a, n];
});
check("listener this", () => {
  const t = new ET();
  let th;
  t.addEventListener("a", function () {
    th = this;
  });
  t.dispatchEvent(new Event("a"));
  return th === t;
});
check("dispatch state", () => {
  const t = new ET();
  const e = new Event("a", { cancelable: true });
  const log = [];
  t.addEventListener("a", (ev) => {
    log.push(
      ev.eventPhase,
      ev.target === t,
      ev.currentTarget === t,
      ev.composedPath().length,
      ev.composedPath()[0] === t,
      threw(() => t.dispatchEvent(ev)),
    );
    ev.preventDefault();
  });
  const r = t.dispatchEvent(e);
  return [log, r, e.eventPhase, e.target === t, e.currentTarget, e.composedPath(), e.defaultPrevented];
});
check("redispatch", () => {
  const t = new ET();
  let n = 0;
  const e = new Event("a");
  t.addEventListener("a", (ev) => {
    n++;
    ev.stopImmediatePropagation();
  });
  t.addEventListener("a", () => {
    n += 10;
  });
  t.dispatchEvent(e);
  const c1 = e.cancelBubble;
  t.dispatchEvent(e);
  return [n, c1];
});
check("stopPropagation before dispatch", () => {
  const t = new ET();
  let n = 0;
  t.addEventListener("a", () => n++);
  const e = new Event("a");
  e.stopPropagation();
  t.dispatchEvent(e);
  const f = new Event("a");
  f.cancelBubble = true;
  t.dispatchEvent(f);
  const g = new Event("a");
  g.cancelBubble = false;
  t.dispatchEvent(g);
  t.dispatchEvent(e);
  return n;
});
check("preventDefault", () => {
  const o = [];
  const t = new ET();
  for (const [init, opt] of [
    [{ cancelable: true }, {}],
    [{}, {}],
    [{ cancelable: true }, { passive: true }],
  ]) {
    const f = (e) => {
      e.preventDefault();
      o.push(e.defaultPrevented, e.returnValue);
    };
    t.addEventListener("a", f, opt);
    o.push(t.dispatchEvent(new Event("a", init)));
    t.removeEventListener("a", f);
  }
  const e = new Event("x", { cancelable: true });
  e.returnValue = false;
  o.push(e.defaultPrevented);
  e.returnValue = true;
  o.push(e.defaultPrevented);
  return o;
});
check("removed during dispatch", () => {
  const log = [];
  const t = new ET();
  const b = () => log.push("b");
  t.addEventListener("a", () => {
    log.push("a");
    t.removeEventListener("a", b);
    t.addEventListener("a", () => log.push("late"));
  });
  t.addEventListener("a", b);
  t.dispatchEvent(new Event("a"));
  return log;
});
check("signal option", () => {
  const log = [];
  const t = new ET();
  const ac = new AbortController();
  t.addEventListener("a", () => log.push("a"), { signal: ac.signal });
  t.dispatchEvent(new Event("a"));
  ac.abort();
  t.dispatchEvent(new Event("a"));
  t.addEventListener("a", () => log.push("b"), { signal: ac.signal });
  t.dispatchEvent(new Event("a"));
  return log;
});
check("signal abort in dispatch", () => {
  const log = [];
  const t = new ET();
  const ac = new AbortController();
  t.addEventListener("a", () => {
    log.push("1");
    ac.abort();
  });
  t.addEventListener("a", () => log.push("2"), { signal: ac.signal });
  t.dispatchEvent(new Event("a"));
  return log;
});
check("listener throws", async () => {
  const log = [];
  const h = (e) => {
    log.push(e.error?.message ?? e.message);
    e.preventDefault();
  };
  globalThis.addEventListener?.("error", h);
  const t = new ET();
  t.addEventListener("a", () => {
    throw new RangeError("boom");
  });
  t.addEventListener("a", () => log.push("second"));
  const r = threw(() => t.dispatchEvent(new Event("a")));
  globalThis.removeEventListener?.("error", h);
  return [log, r];
});
check("initEvent", () => {
  const e = new Event("a");
  return threw(() => {
    e.initEvent("b", true, false);
    return [e.type, e.bubbles, e.cancelable];
  });
});
check("initEvent during dispatch", () => {
  const t = new ET();
  const e = new Event("a");
  let ty;
  t.addEventListener("a", () => {
    e.initEvent("b");
    ty = e.type;
  });
  t.dispatchEvent(e);
  return ty;
});
check("subclass ET", () => {
  class A extends ET {
    constructor() {
      super();
      this.x = 1;
    }
  }
  const a = new A();
  let n = 0;
  a.addEventListener("q", () => n++);
  a.dispatchEvent(new Event("q"));
  return [n, a instanceof ET, Object.prototype.toString.call(a)];
});
check("timeStamp", () => {
  const a = new Event("x").timeStamp;
  return a >= 0 && a <= performance.now() + 1;
});
check("global et", () => {
  let n = 0;
  const f = () => n++;
  addEventListener("zz", f);
  dispatchEvent(new Event("zz"));
  removeEventListener("zz", f);
  dispatchEvent(new Event("zz"));
  return n;
});
check("global this undefined", () => {
  const { addEventListener: a } = globalThis;
  return threw(() => a("x", () => {}));
});
check("reportError", async () => {
  const log = [];
  const h = (e) => {
    log.push([e.constructor.name, e.message, e.error === 7 || show(e.error), typeof e.lineno, typeof e.filename, e.cancelable, e.bubbles]);
    e.preventDefault();
  };
  addEventListener("error", h);
  try {
    reportError(new RangeError("zz"));
    reportError(7);
    reportError(undefined);
  } finally {
    removeEventListener("error", h);
  }
  return [log, threw(() => reportError())];
});
check("onerror attr", () => {
  const log = [];
  globalThis.onerror = function (...a) {
    log.push(a.length);
    return true;
  };
  try {
    reportError(new Error("q"));
  } finally {
    globalThis.onerror = null;
  }
  return log;
});
check("unhandledrejection", async () => {
  const log = [];
  const h = (e) => {
    log.push([e.constructor.name, e.reason, e.promise instanceof Promise, e.cancelable]);
    e.preventDefault();
  };
  addEventListener("unhandledrejection", h);
  const g = (e) => log.push("handled " + e.reason);
  addEventListener("rejectionhandled", g);
  const p = Promise.reject(5);
  await tick(5);
  p.catch(() => {});
  await tick(5);
  removeEventListener("unhandledrejection", h);
  removeEventListener("rejectionhandled", g);
  return log;
});
// abort
check("abort basics", () => {
  const c = new AbortController();
  const s = c.signal;
  const log = [];
  s.onabort = (e) => log.push("on", e.type, e.isTrusted, e.target === s, e.bubbles);
  s.addEventListener("abort", () => log.push("l"));
  c.abort();
  c.abort("x");
  return [log, s.aborted, show(s.reason), s.reason.code, s === c.signal, s.onabort.name];
});
check("abort reason", () => {
  const c = new AbortController();
  c.abort(undefined);
  const d = new AbortController();
  d.abort(null);
  return [
    show(c.signal.reason),
    d.signal.reason,
    threw(() => d.signal.throwIfAborted()),
    threw(() => new AbortController().signal.throwIfAborted()),
    threw(() => new AbortSignal()),
    AbortSignal.abort(3).reason,
    AbortSignal.abort().reason.name,
  ];
});
check("abort timeout", async () => [
  threw(() => AbortSignal.timeout()),
  threw(() => AbortSignal.timeout(-1)),
  threw(() => AbortSignal.timeout(NaN)),
  threw(() => AbortSignal.timeout(Infinity)),
  threw(() => AbortSignal.timeout("x")),
  await (async () => {
    const s = AbortSignal.timeout(5);
    await tick(20);
    return [s.aborted, s.reason?.name, s.reason?.code, s.reason instanceof DOMException];
  })(),
]);
check("any", () => {
  const a = new AbortController(),
    b = new AbortController();
  const s = AbortSignal.any([a.signal, b.signal]);
  const t = AbortSignal.any([s]);
  const log = [];
  for (const [n, x] of [
    ["t", t],
    ["s", s],
    ["a", a.signal],
  ])
    x.addEventListener("abort", () => log.push(n, s.aborted, t.aborted));
  b.abort("B");
  return [
    log,
    s.reason,
    t.reason,
    AbortSignal.any([]).aborted,
    AbortSignal.any([AbortSignal.abort(1), AbortSignal.abort(2)]).reason,
    threw(() => AbortSignal.any()),
    threw(() => AbortSignal.any([1])),
    threw(() => AbortSignal.any({})),
    threw(() => AbortSignal.any("x")),
  ];
});
check("any nested order", () => {
  const log = [];
  const c = new AbortController();
  const s1 = AbortSignal.any([c.signal]);
  const s2 = AbortSignal.any([c.signal]);
  const s3 = AbortSignal.any([s1, s2]);
  const s4 = AbortSignal.any([s3]);
  [
    [4, s4],
    [3, s3],
    [2, s2],
    [1, s1],
    [0, c.signal],
  ].forEach(([n, s]) => s.addEventListener("abort", () => log.push(n)));
  c.abort();
  return log;
});
check("any reentrant", () => {
  const log = [];
  const a = new AbortController();
  const s = AbortSignal.any([a.signal]);
  a.signal.addEventListener("abort", () => {
    const t = AbortSignal.any([s]);
    log.push(s.aborted, t.aborted, s.reason);
  });
  a.abort("r");
  return log;
});
check("any same signals", () => {
  const a = new AbortController();
  const s = AbortSignal.any([a.signal, a.signal]);
  let n = 0;
  s.addEventListener("abort", () => n++);
  a.abort();
  return n;
});
check("abort reason same error", () => {
  const a = new AbortController();
  const s = AbortSignal.any([a.signal]);
  a.abort();
  return a.signal.reason === s.reason;
});
check("onabort non-callable", () => {
  const s = new AbortController().signal;
  s.onabort = 1;
  const a = s.onabort;
  s.onabort = {};
  const b = show(s.onabort);
  s.onabort = "x";
  return [a, b, s.onabort];
});
check("onabort order", () => {
  const log = [];
  const c = new AbortController();
  c.signal.addEventListener("abort", () => log.push(1));
  c.signal.onabort = () => log.push("on");
  c.signal.addEventListener("abort", () => log.push(2));
  c.signal.onabort = () => log.push("on2");
  c.abort();
  return log;
});
// structuredClone
check("sc basics", () => {
  const o = {
    a: [1, , 3],
    d: new Date(5),
    r: /x/gi,
    m: new Map([[1, 2]]),
    s: new Set([3]),
    b: new Uint8Array([1, 2]),
    n: null,
    u: undefined,
    big: 10n,
    nan: NaN,
    z: -0,
    B: new Boolean(false),
    S: new String("q"),
    N: new Number(1),
  };
  const c = structuredClone(o);
  return [
    1 in c.a,
    c.a.length,
    c.d.getTime(),
    String(c.r),
    c.m.get(1),
    c.s.has(3),
    c.b,
    c.n,
    "u" in c,
    c.big,
    c.nan,
    c.z,
    typeof c.B,
    c.S.length,
    c.N + 1,
  ];
});
check("sc lastIndex", () => {
  const r = /a/g;
  r.lastIndex = 3;
  return structuredClone(r).lastIndex;
});
check("sc errors", () => [
  threw(() => structuredClone(() => {})),
  threw(() => structuredClone(Symbol())),
  threw(() => structuredClone({ f() {} })),
  threw(() => structuredClone(new WeakMap())),
  threw(() => structuredClone(Promise.resolve())),
  threw(() => structuredClone()),
  threw(() => structuredClone(1, 1)),
  threw(() => structuredClone(1, { transfer: 1 })),
  threw(() => structuredClone(1, { transfer: [1] })),
  threw(() => structuredClone(1, { transfer: [{}] })),
  threw(() => structuredClone(1, null)),
  threw(() => structuredClone(1, { transfer: null })),
  threw(() => structuredClone(new Proxy({}, {}))),
  threw(() => structuredClone(1, { transfer: undefined })),
]);
check("sc error types", () =>
  [RangeError, TypeError, SyntaxError, URIError, EvalError, ReferenceError, Error].map((C) => {
    const e = new C("m", { cause: 1 });
    const c = structuredClone(e);
    return [c.constructor === C, c.name, c.message, c.cause, typeof c.stack, Object.prototype.hasOwnProperty.call(c, "message")];
  }),
);
check("sc error custom", () => {
  class X extends Error {}
  const e = new X("a");
  e.name = "Foo";
  e.extra = 1;
  const c = structuredClone(e);
  return [c.constructor.name, c.name, c.extra];
});
check("sc error no message", () => {
  const c = structuredClone(new Error());
  return [Object.prototype.hasOwnProperty.call(c, "message"), c.message];
});
check("sc domexception", () => {
  const c = structuredClone(new DOMException("m", "DataCloneError"));
  return [c instanceof DOMException, c.name, c.message, c.code];
});
check("sc class instance", () => {
  class A {
    constructor() {
      this.x = 1;
    }
    get y() {
      return 2;
    }
  }
  const c = structuredClone(new A());
  return [c.constructor === Object, c];
});
check("sc getters", () =>
  structuredClone({
    get a() {
      return 5;
    },
  }),
);
check("sc getter throws", () =>
  threw(() =>
    structuredClone({
      get a() {
        throw new RangeError("g");
      },
    }),
  ),
);
check("sc cycle identity", () => {
  const o = {};
  o.o = o;
  const c = structuredClone(o);
  const b = new ArrayBuffer(4);
  const d = structuredClone([b, new Uint8Array(b), new Uint16Array(b, 2)]);
  return [c.o === c, d[1].buffer === d[0], d[2].byteOffset];
});
check("sc transfer", () => {
  const b = new Uint8Array([1, 2, 3]).buffer;
  const c = structuredClone({ b }, { transfer: [b] });
  return [
    b.byteLength,
    c.b.byteLength,
    threw(() => structuredClone(b, { transfer: [b] })),
    threw(() => {
      const x = new ArrayBuffer(1);
      structuredClone(1, { transfer: [x, x] });
    }),
  ];
});
check("sc transfer view", () => {
  const v = new Uint8Array([1, 2, 3]);
  return [
    threw(() => structuredClone(v, { transfer: [v] })),
    v.byteLength,
    threw(() => {
      const v = new Uint8Array(3);
      const c = structuredClone(v, { transfer: [v.buffer] });
      return [v.length, c.length];
    }),
  ];
});
check("sc transfer iterable", () => {
  const b = new ArrayBuffer(2);
  structuredClone(1, { transfer: new Set([b]) });
  return b.byteLength;
});
check("sc blob file", async () => {
  const f = new File(["abc"], "n", { type: "t/x", lastModified: 5 });
  const c = threw(() => structuredClone(f));
  const b = structuredClone(new Blob(["q"], { type: "a/b" }));
  return [c, b.type, await b.text()];
});
check("sc platform", () => [
  threw(() => structuredClone(new URL("http://a"))),
  threw(() => structuredClone(new URLSearchParams())),
  threw(() => structuredClone(new Headers())),
  threw(() => structuredClone(new EventTarget())),
  threw(() => structuredClone(new AbortController())),
  threw(() => structuredClone(new Event("x"))),
  threw(() => structuredClone(new TextDecoder())),
  threw(() => structuredClone(new FormData())),
]);
check("sc sparse + props", () => {
  const a = [1];
  a.foo = 2;
  a.length = 4;
  const c = structuredClone(a);
  return [c.length, c.foo, 2 in c];
});
check("sc symbol keys", () => Object.getOwnPropertySymbols(structuredClone({ [Symbol("a")]: 1, b: 2 })).length);
check("sc bigint obj", () => typeof structuredClone(Object(5n)));
check("sc arguments", () =>
  (function () {
    return Object.prototype.toString.call(structuredClone(arguments));
  })(1, 2),
);
// message channel
check("mc", async () => {
  const { port1, port2 } = new MessageChannel();
  const log = [];
  port2.onmessage = (e) => {
    log.push([e.data, e.constructor.name, e.ports.length, e.origin, e.source, e.isTrusted, e.target === port2]);
  };
  port1.postMessage({ a: 1 });
  log.push("sync");
  await tick(20);
  port1.close();
  return log;
});
check("mc queue until start", async () => {
  const { port1, port2 } = new MessageChannel();
  const log = [];
  port1.postMessage(1);
  port2.addEventListener("message", (e) => log.push(e.data));
  await tick(10);
  log.push("|");
  port2.start();
  await tick(10);
  port1.close();
  return log;
});
check("mc transfer", async () => {
  const { port1, port2 } = new MessageChannel();
  const log = [];
  port2.onmessage = (e) => log.push(e.data.byteLength);
  const b = new ArrayBuffer(3);
  port1.postMessage(b, [b]);
  const c = new ArrayBuffer(4);
  port1.postMessage(c, { transfer: [c] });
  await tick(20);
  port1.close();
  return [log, b.byteLength, c.byteLength];
});
check("mc port transfer", async () => {
  const a = new MessageChannel(),
    b = new MessageChannel();
  const log = [];
  a.port2.onmessage = (e) => {
    log.push(e.ports.length, e.ports[0] === e.data);
    e.ports[0].onmessage = (x) => log.push(x.data);
  };
  a.port1.postMessage(b.port2, [b.port2]);
  b.port1.postMessage("hey");
  await tick(30);
  a.port1.close();
  b.port1.close();
  return log;
});
check("mc errors", () => {
  const { port1 } = new MessageChannel();
  const r = [
    threw(() => port1.postMessage()),
    threw(() => port1.postMessage(() => {})),
    threw(() => port1.postMessage(1, [port1])),
    threw(() => port1.postMessage(1, 1)),
    threw(() => port1.postMessage(1, [1])),
    threw(() => new MessagePort()),
  ];
  port1.close();
  return r;
});
check("mc close event", async () => {
  const { port1, port2 } = new MessageChannel();
  const log = [];
  port2.addEventListener("close", () => log.push("close2"));
  port1.addEventListener("close", () => log.push("close1"));
  port2.start();
  port1.close();
  await tick(20);
  return log;
});
check("mc order", async () => {
  const { port1, port2 } = new MessageChannel();
  const log = [];
  port2.onmessage = (e) => {
    log.push(e.data);
    Promise.resolve().then(() => log.push("m" + e.data));
  };
  port1.postMessage(1);
  port1.postMessage(2);
  await tick(20);
  port1.close();
  return log;
});
// timers
check("timers", async () => {
  const log = [];
  setTimeout((a, b) => log.push(a, b), 1, "A", "B");
  setTimeout(() => log.push("neg"), -5);
  const t = setTimeout(() => log.push("no"));
  clearTimeout(t);
  clearTimeout(undefined);
  clearTimeout("x");
  clearTimeout();
  await tick(30);
  return [log, typeof t === "number" || typeof t];
});
check("timer string", () => threw(() => clearTimeout(setTimeout("1"))));
check("timer none", () => threw(() => setTimeout()));
check("microtask", async () => {
  const log = [];
  queueMicrotask(() => log.push(1));
  Promise.resolve().then(() => log.push(2));
  log.push(0);
  await flush();
  return [log, threw(() => queueMicrotask()), threw(() => queueMicrotask(1)), threw(() => queueMicrotask({}))];
});
check("timer order", async () => {
  const log = [];
  setTimeout(() => log.push(2), 2);
  setTimeout(() => log.push(1), 1);
  setTimeout(() => log.push(0), 0);
  setTimeout(() => log.push("0b"), 0);
  await tick(30);
  return log;
});
check("DOMException", () => {
  const e = new DOMException();
  const f = new DOMException("m", "AbortError");
  const g = new DOMException("m", { name: "X", cause: 1 });
  return [
    e.name,
    e.message,
    e.code,
    f.code,
    g.name,
    e instanceof Error,
    typeof e.stack,
    Object.prototype.toString.call(e),
    String(f),
    DOMException.ABORT_ERR,
    e.ABORT_ERR,
    Object.keys(e),
    Object.prototype.hasOwnProperty.call(f, "message"),
    threw(() => new DOMException(Symbol())),
  ];
});
check("DOMException codes", () =>
  "IndexSizeError HierarchyRequestError WrongDocumentError InvalidCharacterError NoModificationAllowedError NotFoundError NotSupportedError InUseAttributeError InvalidStateError SyntaxError InvalidModificationError NamespaceError InvalidAccessError TypeMismatchError SecurityError NetworkError AbortError URLMismatchError QuotaExceededError TimeoutError InvalidNodeTypeError DataCloneError EncodingError OperationError"
    .split(" ")
    .map((n) => new DOMException("", n).code),
);
check("DOMException getter brand", () => [
  threw(() => Object.getOwnPropertyDescriptor(DOMException.prototype, "name")?.get.call({})),
  threw(() => DOMException.prototype.name),
]);
// HTML, section 2.7.3: what has other internal slots, as arguments have [[ParameterMap]], is refused.
check("sc arguments nested", () =>
  threw(() =>
    structuredClone({
      a: (function () {
        return arguments;
      })(1),
    }),
  ),
);
// HTML, sections 2.7.3 and 2.7.5: clones of resizable buffers are resizable, transferred ones too, and views follow them.
check("sc resizable", () => {
  const b = new ArrayBuffer(4, { maxByteLength: 8 });
  const fixed = new Uint8Array(b, 2, 2);
  const tracking = new Uint16Array(b, 2);
  const data = new DataView(b, 3);
  b.resize(3);
  const out = [threw(() => structuredClone(fixed)), structuredClone(tracking).length, structuredClone(data).byteLength];
  b.resize(8);
  const c = structuredClone({ fixed, tracking, data, b });
  c.b.resize(6);
  out.push(c.b.resizable, c.b.maxByteLength, c.fixed.length, c.tracking.length, c.data.byteLength, c.fixed.buffer === c.b, c.tracking.buffer === c.b, b.byteLength);
  const t = structuredClone({ fixed, tracking }, { transfer: [b] });
  t.fixed.buffer.resize(2);
  out.push(t.fixed.length, t.tracking.length, b.detached, b.maxByteLength, threw(() => b.resize(1)));
  return [out, structuredClone(new ArrayBuffer(0, { maxByteLength: 0 })).resizable];
});
// api/basics.c++: listeners of the capturing phase are refused by these texts,
// handleEvent is read once, and what a listener throws leaves dispatchEvent.
check("capture texts", () => {
  const t = new ET();
  const text = (fn) => {
    try {
      return fn();
    } catch (e) {
      return e.message;
    }
  };
  const f = () => {};
  return [true, { capture: 1 }, 0, ""].flatMap((options) => [
    text(() => t.addEventListener("a", f, options)),
    text(() => t.removeEventListener("a", f, options)),
    text(() => t.addEventListener("a", null, options)),
    text(() => t.addEventListener("a", {}, options)),
  ]);
});
check("throw ends dispatch", () => {
  const t = new ET();
  const log = [];
  t.ona = () => log.push("own");
  t.addEventListener("a", () => {
    log.push(1);
    throw new RangeError("boom");
  });
  t.addEventListener("a", () => log.push(2));
  const e = new Event("a");
  return [threw(() => t.dispatchEvent(e)), threw(() => t.dispatchEvent(e)), log, e.eventPhase, e.currentTarget === t];
});
