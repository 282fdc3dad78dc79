// cloudflare:workers: the base classes, and the proxies through which stubs
// offer any method name. Calls themselves are Go (native.call, native.get).
function (native, p) {
  "use strict";
  const { Proxy, ReflectGet, ReflectHas, ObjectCreate, ObjectDefineProperty, PromisePrototypeThen, PromisePrototypeCatch,
    PromisePrototypeFinally, SymbolDispose, SymbolToStringTag } = p;
  const hidden = (obj, name, value) => ObjectDefineProperty(obj, name, { value, writable: true, enumerable: false, configurable: true });
  const tag = (C, name) => ObjectDefineProperty(C.prototype, SymbolToStringTag, { value: name, configurable: true });

  class DurableObject { constructor(ctx, env) { this.ctx = ctx; this.env = env; } }
  class WorkerEntrypoint { constructor(ctx, env) { this.ctx = ctx; this.env = env; } }
  class WorkflowEntrypoint { constructor(ctx, env) { this.ctx = ctx; this.env = env; } }
  class RpcTarget {}

  // A handle is the Go side of a stub. Every proxy answers native.handleOf()
  // through this map, so that user code can neither see nor forge it.
  const handles = new WeakMap();
  const remember = (proxy, entry) => { handles.set(proxy, entry); return proxy; };

  class RpcProperty {}
  class RpcPromise {}
  class RpcStub {
    constructor(value) { return stubOf(native.wrap(value)); }
  }
  hidden(RpcPromise.prototype, "then", function then(a, b) { return PromisePrototypeThen(promiseOf(this), a, b); });
  hidden(RpcPromise.prototype, "catch", function (a) { return PromisePrototypeCatch(promiseOf(this), a); });
  hidden(RpcPromise.prototype, "finally", function (a) { return PromisePrototypeFinally(promiseOf(this), a); });
  hidden(RpcPromise.prototype, SymbolDispose, function () {
    PromisePrototypeThen(promiseOf(this), (v) => { const d = v?.[SymbolDispose]; if (typeof d === "function") d.call(v); }, () => {});
  });
  hidden(RpcStub.prototype, "dup", function dup() { return stubOf(native.dup(handles.get(this).handle)); });
  hidden(RpcStub.prototype, SymbolDispose, function () { native.dispose(handles.get(this).handle); });
  for (const [C, name] of [[RpcPromise, "RpcPromise"], [RpcProperty, "RpcProperty"], [RpcStub, "RpcStub"]]) tag(C, name);

  const promiseOf = (proxy) => {
    const entry = handles.get(proxy);
    return entry.promise ??= native.get(entry.handle, entry.path);
  };

  // property is what reading an unknown name of a stub gives: it can be
  // called, read further, or awaited.
  const property = (handle, path) => {
    const entry = { handle, path, promise: undefined };
    const target = () => {};
    const proxy = new Proxy(target, {
      apply: (t, self, args) => rpcPromise(native.call(handle, path, args)),
      get(t, name) {
        if (typeof name === "symbol" || name === "then" || name === "catch" || name === "finally") {
          const v = ReflectGet(RpcPromise.prototype, name);
          return typeof v === "function" && name !== "constructor" ? (a, b) => v.call(proxy, a, b) : v;
        }
        return property(handle, [...path, name]);
      },
      getPrototypeOf: () => RpcProperty.prototype,
      has: () => true,
    });
    return remember(proxy, entry);
  };

  // rpcPromise is the result of a call: a promise whose members can be used
  // before it resolves (promise pipelining).
  const rpcPromise = (promise) => {
    const target = ObjectCreate(RpcPromise.prototype);
    const proxy = new Proxy(target, {
      get(t, name) {
        if (typeof name === "symbol" || ReflectHas(RpcPromise.prototype, name)) return ReflectGet(t, name, proxy);
        return pipelined(promise, [name]);
      },
    });
    return remember(proxy, { promise });
  };

  // pipelined is a member of a result that has not arrived: the call follows
  // the result on its heels, in order.
  const pipelined = (promise, path) => {
    const walk = (v, upto) => { for (let i = 0; i < upto; i++) v = v[path[i]]; return v; };
    const entry = { promise: undefined, path };
    const proxy = new Proxy(() => {}, {
      apply: (t, self, args) => rpcPromise(PromisePrototypeThen(promise, (v) => {
        const receiver = walk(v, path.length - 1);
        const method = receiver?.[path[path.length - 1]];
        if (typeof method !== "function") throw new p.TypeError(`The RPC receiver does not implement the method "${path[path.length - 1]}".`);
        return p.apply(method, receiver, args);
      })),
      get(t, name) {
        if (typeof name === "symbol" || name === "then" || name === "catch" || name === "finally") {
          entry.promise ??= PromisePrototypeThen(promise, (v) => walk(v, path.length));
          const v = ReflectGet(RpcPromise.prototype, name);
          return typeof v === "function" && name !== "constructor" ? (a, b) => v.call(proxy, a, b) : v;
        }
        return pipelined(promise, [...path, name]);
      },
      getPrototypeOf: () => RpcProperty.prototype,
    });
    return remember(proxy, entry);
  };

  // stubOf makes the stub of a capability: a function or an RpcTarget elsewhere.
  const stubOf = (handle) => {
    const proxy = new Proxy(() => {}, {
      apply: (t, self, args) => rpcPromise(native.call(handle, [], args)),
      get(t, name) {
        if (name === "then") return undefined;
        if (typeof name === "symbol" || ReflectHas(RpcStub.prototype, name)) return ReflectGet(RpcStub.prototype, name, proxy);
        return property(handle, [name]);
      },
      getPrototypeOf: () => RpcStub.prototype,
      has: (t, name) => name !== "then",
      ownKeys: () => [],
    });
    return remember(proxy, { handle });
  };

  // Fetcher is the base of service stubs and of durable object stubs.
  class Fetcher {}
  hidden(Fetcher.prototype, "fetch", function fetch(input, init) {
    const entry = handles.get(this);
    if (entry === undefined) throw new p.TypeError("Illegal invocation");
    return native.fetch(entry.handle, input, init);
  });
  hidden(Fetcher.prototype, "connect", function connect() {
    throw new p.Error("connect() on a service or Durable Object stub is not available in minido; use fetch() or RPC.");
  });
  class DurableObjectStub extends Fetcher {}
  ObjectDefineProperty(DurableObjectStub, "name", { value: "DurableObject" });
  tag(Fetcher, "Fetcher"); tag(DurableObjectStub, "DurableObject");

  // fetcherOf makes a stub whose own properties are those of own ({id, name}).
  const fetcherOf = (handle, C, own) => {
    const target = ObjectCreate(C.prototype);
    for (const key in own) ObjectDefineProperty(target, key, { value: own[key], enumerable: true, configurable: false, writable: false });
    const proxy = new Proxy(target, {
      get(t, name, receiver) {
        if (typeof name === "symbol" || ReflectHas(t, name)) return ReflectGet(t, name, receiver);
        return name === "then" ? undefined : property(handle, [name]);
      },
    });
    return remember(proxy, { handle });
  };

  return {
    DurableObject, WorkerEntrypoint, WorkflowEntrypoint, RpcTarget, RpcStub, RpcPromise, RpcProperty,
    Fetcher, DurableObjectStub,
    stubOf, rpcPromise,
    serviceStub: (handle) => fetcherOf(handle, Fetcher, {}),
    objectStub: (handle, own) => fetcherOf(handle, DurableObjectStub, own),
    // handleOf finds the capability behind a stub; undefined for anything else.
    handleOf: (v) => { const e = handles.get(v); return e?.path === undefined ? e?.handle : undefined; },
    disposable: (obj, dispose) => hidden(obj, SymbolDispose, dispose),
  };
}
