// cloudflare:workers: the base classes, and the proxies through which stubs
// offer any method name. Calls themselves are Go (native.call, native.get).
function (native, p) {
  "use strict";
  const { Proxy, ReflectGet, ReflectHas, ObjectCreate, ObjectDefineProperty, ObjectSetPrototypeOf, PromisePrototypeThen, PromisePrototypeCatch,
    PromisePrototypeFinally, ArrayPrototypeSlice, SymbolDispose, SymbolToStringTag } = p;
  const hidden = (obj, name, value) => ObjectDefineProperty(obj, name, { value, writable: true, enumerable: false, configurable: true });
  const ILLEGAL = "Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details.";
  const tag = (C, name) => ObjectDefineProperty(C.prototype, SymbolToStringTag, { value: name, configurable: true });

  class DurableObject { constructor(ctx, env) { this.ctx = ctx; this.env = env; } }
  class WorkerEntrypoint { constructor(ctx, env) { this.ctx = ctx; this.env = env; } }
  class WorkflowEntrypoint { constructor(ctx, env) { this.ctx = ctx; this.env = env; } }
  class RpcTarget {}

  // An entry is what a proxy stands for: {handle} a stub, whose handle is the
  // Go side; {handle, path} a property of one; {promise} the result of a call;
  // {promise, path} a member of that. User code can neither see nor forge it.
  const entries = new WeakMap();
  const remember = (proxy, entry) => { entries.set(proxy, entry); return proxy; };

  class RpcProperty {}
  class RpcPromise {}
  class RpcStub {
    constructor(value) { return stubOf(native.wrap(value)); }
  }
  const promiseOf = (proxy) => {
    const entry = entries.get(proxy);
    if (entry === undefined) throw new p.TypeError(ILLEGAL);
    if (entry.path === undefined) return entry.promise;
    return entry.value ??= entry.handle !== undefined ? native.get(entry.handle, entry.path)
      : PromisePrototypeThen(entry.promise, (v) => walk(v, entry.path, entry.path.length));
  };
  for (const C of [RpcPromise, RpcProperty]) {
    hidden(C.prototype, "then", function then(a, b) { return PromisePrototypeThen(promiseOf(this), a, b); });
    hidden(C.prototype, "catch", { catch(a) { return PromisePrototypeCatch(promiseOf(this), a); } }.catch);
    hidden(C.prototype, "finally", { finally(a) { return PromisePrototypeFinally(promiseOf(this), a); } }.finally);
  }
  hidden(RpcPromise.prototype, SymbolDispose, function () {
    PromisePrototypeThen(promiseOf(this), (v) => { const d = v?.[SymbolDispose]; if (typeof d === "function") d.call(v); }, () => {});
  });
  hidden(RpcStub.prototype, "dup", function dup() { return stubOf(native.dup(entries.get(this).handle)); });
  hidden(RpcStub.prototype, SymbolDispose, function () { native.dispose(entries.get(this).handle); });
  tag(RpcPromise, "JsRpcPromise"); tag(RpcProperty, "JsRpcProperty"); tag(RpcStub, "JsRpcStub");

  // The arguments that a proxy gets live only as long as its trap: goja reuses
  // their memory.
  const copy = (args) => ArrayPrototypeSlice(args);

  const remote = (message) => {
    const e = new p.TypeError(message);
    e.remote = true;
    return e;
  };
  const walk = (v, path, upto) => {
    for (let i = 0; i < upto; i++) {
      if (v === null || v === undefined) throw remote(`The RPC receiver does not implement the method "${path[i === 0 ? 0 : i - 1]}".`);
      v = v[path[i]];
    }
    return v;
  };

  // JSON.stringify() must not take a stub's toJSON for a method of the object
  // itself; V8 looks it up past the reference's interceptors.
  const absent = (name) => name === "then" || name === "toJSON";

  // An entry is also its proxy's handler: the traps are shared, and inherit
  // nothing that user code could reach.
  const traps = (own) => ObjectSetPrototypeOf(own, null);

  // memberTraps are those of a proxy that can be called, read further, or awaited.
  const memberTraps = (C, call, further) => traps({
    apply(t, self, args) { return rpcPromise(call(this, copy(args))); },
    get(t, name) {
      if (typeof name === "symbol" || ReflectHas(C.prototype, name)) return ReflectGet(C.prototype, name, this.proxy);
      return absent(name) ? undefined : further(this, name);
    },
    getPrototypeOf: () => C.prototype,
    has: () => true,
    ownKeys: () => [],
  });
  const member = (entry) => remember(entry.proxy = new Proxy(() => {}, entry), entry);

  // property is what reading an unknown name of a stub gives.
  const propertyTraps = memberTraps(RpcProperty, (entry, args) => native.call(entry.handle, entry.path, args),
    (entry, name) => property(entry.handle, [...entry.path, name]));
  const property = (handle, path) => member({ __proto__: propertyTraps, handle, path });

  // rpcPromise is the result of a call: a promise whose members can be used
  // before it resolves (promise pipelining).
  const promiseTraps = memberTraps(RpcPromise, (entry, args) => PromisePrototypeThen(entry.promise, (v) => {
    if (typeof v !== "function") throw remote(`"(this)" is not a function.`);
    return p.apply(v, undefined, args);
  }), (entry, name) => pipelined(entry.promise, [name]));
  const rpcPromise = (promise) => member({ __proto__: promiseTraps, promise });

  // pipelined is a member of a result that has not arrived: the call follows
  // the result on its heels, in order.
  const pipelinedTraps = memberTraps(RpcProperty, ({ promise, path }, args) => PromisePrototypeThen(promise, (v) => {
    const receiver = walk(v, path, path.length - 1);
    const name = path[path.length - 1];
    const method = receiver?.[name];
    if (typeof method !== "function") throw remote(`The RPC receiver does not implement the method "${name}".`);
    return p.apply(method, receiver, args);
  }), (entry, name) => pipelined(entry.promise, [...entry.path, name]));
  const pipelined = (promise, path) => member({ __proto__: pipelinedTraps, promise, path });

  // stubOf makes the stub of a capability: a function or an RpcTarget elsewhere.
  const stubTraps = traps({
    apply(t, self, args) { return rpcPromise(native.call(this.handle, [], copy(args))); },
    get(t, name) {
      if (absent(name)) return undefined;
      if (typeof name === "symbol" || ReflectHas(RpcStub.prototype, name)) return ReflectGet(RpcStub.prototype, name, this.proxy);
      return property(this.handle, [name]);
    },
    getPrototypeOf: () => RpcStub.prototype,
    has: (t, name) => name !== "then",
    ownKeys: () => [],
  });
  const stubOf = (handle) => member({ __proto__: stubTraps, handle });

  // ServiceStub is the base of service stubs and of durable object stubs.
  class ServiceStub {}
  hidden(ServiceStub.prototype, "fetch", function fetch(input, init) {
    const entry = entries.get(this);
    if (entry === undefined) throw new p.TypeError(ILLEGAL);
    return native.fetch(entry.handle, input, init);
  });
  hidden(ServiceStub.prototype, "connect", function connect() {
    throw new p.Error("connect() on a service or Durable Object stub is not available in minido; use fetch() or RPC.");
  });
  class DurableObjectStub extends ServiceStub {}
  ObjectDefineProperty(DurableObjectStub, "name", { value: "DurableObject" });
  tag(ServiceStub, "Fetcher"); tag(DurableObjectStub, "DurableObject");

  const fetcherTraps = traps({
    get(t, name, receiver) {
      if (typeof name === "symbol" || ReflectHas(t, name)) return ReflectGet(t, name, receiver);
      return absent(name) ? undefined : property(this.handle, [name]);
    },
    has: (t, name) => name !== "then",
  });

  // fetcherOf makes a stub whose own properties are those of own ({name, id}).
  const fetcherOf = (handle, C, own) => {
    const target = ObjectCreate(C.prototype);
    for (const key in own) ObjectDefineProperty(target, key, { value: own[key], enumerable: true, configurable: false, writable: false });
    const entry = { __proto__: fetcherTraps, handle };
    return remember(new Proxy(target, entry), entry);
  };

  return {
    DurableObject, WorkerEntrypoint, WorkflowEntrypoint, RpcTarget, RpcStub, RpcPromise, RpcProperty,
    stubOf, rpcPromise,
    serviceStub: (handle) => fetcherOf(handle, ServiceStub, {}),
    objectStub: (handle, own) => fetcherOf(handle, DurableObjectStub, own),
    // handleOf finds the capability behind a stub, or the name of the class of
    // what stands for a value elsewhere; undefined for anything else.
    handleOf: (v) => {
      const e = entries.get(v);
      if (e === undefined) return undefined;
      return e.path !== undefined ? "RpcProperty" : e.promise !== undefined ? "RpcPromise" : e.handle;
    },
    disposable: (obj, dispose) => hidden(obj, SymbolDispose, dispose),
  };
}
