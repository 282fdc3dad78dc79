// cloudflare:workers: the base classes, and the proxies through which stubs
// offer any method name. Calls themselves are Go (native.call, native.get).
function (native, p) {
  "use strict";
  const { Proxy, ReflectGet, ReflectHas, ReflectSet, ReflectOwnKeys, ReflectDefineProperty, ReflectDeleteProperty, ReflectGetOwnPropertyDescriptor,
    ObjectCreate, ObjectDefineProperty, ObjectGetPrototypeOf, ObjectPrototypeHasOwnProperty, PromisePrototypeThen, PromisePrototypeCatch,
    PromisePrototypeFinally, ArrayPrototypeSlice, SymbolDispose } = p;
  const ObjectPrototype = ObjectGetPrototypeOf({});
  const hidden = (obj, name, value) => ObjectDefineProperty(obj, name, { value, writable: true, enumerable: false, configurable: true });
  const { tag } = p;
  const inherit = (C, Base) => {
    p.ObjectSetPrototypeOf(C, Base);
    p.ObjectSetPrototypeOf(C.prototype, Base.prototype);
  };
  const needsNew = (target, name) => {
    if (target === undefined) throw new p.TypeError(`Failed to construct '${name}': Please use the 'new' operator, this object constructor cannot be called as a function.`);
  };
  const takes = (v, name, type) => {
    if (typeof v !== "object" && typeof v !== "function" || v === null) throw new p.TypeError(`Failed to construct '${name}': constructor parameter 1 is not of type '${type}'.`);
  };

  // The base classes are functions, so that a call without new gives the
  // reference's text.
  function DurableObject(ctx, env) {
    needsNew(new.target, "DurableObjectBase");
    takes(ctx, "DurableObjectBase", "DurableObjectState");
    this.ctx = ctx; this.env = env;
  }
  function WorkerEntrypoint(ctx, env) {
    needsNew(new.target, "WorkerEntrypoint");
    takes(ctx, "WorkerEntrypoint", "Object");
    this.ctx = ctx; this.env = env;
  }
  function WorkflowEntrypoint(ctx, env) {
    needsNew(new.target, "WorkflowEntrypoint");
    takes(ctx, "WorkflowEntrypoint", "Object");
    this.ctx = ctx; this.env = env;
  }
  function RpcTarget() { needsNew(new.target, "JsRpcTarget"); }

  // An entry is what a proxy stands for: {handle} a stub, whose handle is the
  // Go side; {handle, path} a property of one; {promise} the result of a call;
  // {result, path} a member of that. User code can neither see nor forge it.
  // It is its proxy's handler, by which native.entry knows it.
  const entryAt = native.entry;

  const illegal = () => { throw new p.TypeError("Illegal constructor"); };
  function RpcProperty() { illegal(); }
  function RpcPromise() { illegal(); }
  function RpcStub(value) {
    needsNew(new.target, "JsRpcStub");
    takes(value, "JsRpcStub", "Object");
    return stubOf(native.wrap(value));
  }
  const entryOf = (proxy) => entryAt(proxy) ?? native.illegal();
  const promiseOf = (proxy) => {
    const entry = entryOf(proxy);
    if (entry.path === undefined) return entry.promise;
    return entry.value ??= entry.handle !== undefined ? native.get(entry.handle, entry.path) : getAt(entry.result, entry.path);
  };
  for (const C of [RpcPromise, RpcProperty]) {
    hidden(C.prototype, "then", function then(a, b) { return PromisePrototypeThen(promiseOf(this), a, b); });
    hidden(C.prototype, "catch", { catch(a) { return PromisePrototypeCatch(promiseOf(this), a); } }.catch);
    hidden(C.prototype, "finally", { finally(a) { return PromisePrototypeFinally(promiseOf(this), a); } }.finally);
  }
  hidden(RpcPromise.prototype, SymbolDispose, function () {
    const entry = entryOf(this);
    if (entry.disposed) return;
    entry.disposed = true;
    PromisePrototypeThen(promiseOf(this), (v) => { const d = v?.[SymbolDispose]; if (typeof d === "function") p.apply(d, v, []); }, () => {});
  });
  hidden(RpcStub.prototype, "dup", function dup() { return stubOf(native.dup(entryOf(this).handle)); });
  hidden(RpcStub.prototype, SymbolDispose, function () { native.dispose(entryOf(this).handle); });
  tag(DurableObject, "DurableObjectBase"); tag(WorkerEntrypoint, "WorkerEntrypoint"); tag(WorkflowEntrypoint, "WorkflowEntrypoint"); tag(RpcTarget, "JsRpcTarget");
  tag(RpcPromise, "JsRpcPromise"); tag(RpcProperty, "JsRpcProperty"); tag(RpcStub, "JsRpcStub");

  // The arguments that a proxy gets live only as long as its trap: goja reuses
  // their memory.
  const copy = (args) => ArrayPrototypeSlice(args);

  const remote = (message) => {
    const e = new p.TypeError(message);
    e.remote = true;
    return e;
  };
  const noMethod = (name) => remote(`The RPC receiver does not implement the method "${name}".`);
  const owns = (obj, name) => ObjectPrototypeHasOwnProperty(obj, name);

  // at finds path in the result of a call by the rules that hold on the other
  // side: own properties of plain objects, and whatever a stub offers, which is
  // left to stub(handle, rest). Anything else has no members.
  const at = (v, path, stub, found) => {
    for (let i = 0; i < path.length; i++) {
      const entry = entryAt(v);
      if (entry !== undefined && entry.handle !== undefined && entry.path === undefined) {
        if (i === path.length - 1 && path[i] === "fetch" && entry.fetcher) return found(v.fetch, v);
        return stub(entry.handle, ArrayPrototypeSlice(path, i));
      }
      const proto = typeof v === "object" && v !== null ? ObjectGetPrototypeOf(v) : undefined;
      if (proto !== ObjectPrototype && proto !== null) throw noMethod(path[i === 0 ? 0 : i - 1]);
      if (!owns(v, path[i])) throw noMethod(path[i]);
      v = v[path[i]];
    }
    return found(v, undefined);
  };
  const alive = (result) => {
    if (result.disposed) throw new p.Error("RPC promise used after being disposed.");
    return result.promise;
  };
  const later = (result, use) => {
    let promise;
    try { promise = alive(result); } catch (e) { return native.rejected(e); }
    return PromisePrototypeThen(promise, use);
  };
  const getAt = (result, path) => later(result, (v) => at(v, path, native.get, (found) => found));
  const callAt = (result, path, args) => later(result, (v) => at(v, path, (handle, rest) => native.call(handle, rest, args), (found, self) => {
    if (typeof found !== "function") throw remote(`"${path.length === 0 ? "(this)" : path[path.length - 1]}" is not a function.`);
    return p.apply(found, self, args);
  }));

  // JSON.stringify() must not take a stub's toJSON for a method of the object
  // itself; V8 looks it up past the reference's interceptors. Indexes are not
  // for interceptors of names at all.
  const absent = (name) => name === "then" || name === "toJSON" || "" + (name >>> 0) === name;

  // The traps are shared: an entry inherits them, and they inherit nothing that
  // user code could reach.
  const traps = (own) => native.entriesInherit(p.ObjectSetPrototypeOf(own, null));

  // openTraps are those of a proxy that can be called and constructed and offers
  // any name.
  const openTraps = (C, call, further) => traps({
    apply(t, self, args) { return call(this, copy(args)); },
    construct(t, args) { return call(this, copy(args)); },
    get(t, name, receiver) {
      if (this.own !== undefined && owns(this.own, name)) return this.own[name];
      if (typeof name === "symbol" || ReflectHas(C.prototype, name)) return ReflectGet(C.prototype, name, receiver);
      return absent(name) ? undefined : further(this, name);
    },
    set(t, name, value) { (this.own ??= ObjectCreate(null))[name] = value; return true; },
    defineProperty(t, name, d) { (this.own ??= ObjectCreate(null))[name] = d.value; return true; },
    deleteProperty(t, name) { if (this.own !== undefined) delete this.own[name]; return true; },
    preventExtensions: () => false,
    setPrototypeOf: () => false,
    getPrototypeOf: () => C.prototype,
    has: (t, name) => typeof name === "symbol" ? ReflectHas(C.prototype, name) : name !== "then" || C !== RpcStub,
    ownKeys: () => [],
  });
  // The target, which all proxies share, is never touched; it has no property
  // that a trap may not hide.
  const target = p.FunctionPrototypeBind(function () {});
  const open = (entry) => new Proxy(target, entry);

  // property is what reading an unknown name of a stub gives.
  const propertyTraps = openTraps(RpcProperty, (entry, args) => rpcPromise(native.call(entry.handle, entry.path, args)),
    (entry, name) => property(entry.handle, [...entry.path, name]));
  const property = (handle, path) => open({ __proto__: propertyTraps, handle, path });

  // rpcPromise is the result of a call: a promise whose members can be used
  // before it resolves (promise pipelining). A call of a member follows the
  // result on its heels, in order.
  const promiseTraps = openTraps(RpcPromise, (entry, args) => rpcPromise(callAt(entry, [], args)), (entry, name) => pipelined(entry, [name]));
  const rpcPromise = (promise) => open({ __proto__: promiseTraps, promise });
  const pipelinedTraps = openTraps(RpcProperty, (entry, args) => rpcPromise(callAt(entry.result, entry.path, args)),
    (entry, name) => pipelined(entry.result, [...entry.path, name]));
  const pipelined = (result, path) => open({ __proto__: pipelinedTraps, result, path });

  // stubOf makes the stub of a capability: a function or an RpcTarget elsewhere.
  const stubTraps = openTraps(RpcStub, (entry, args) => rpcPromise(native.call(entry.handle, [], args)), (entry, name) => property(entry.handle, [name]));
  const stubOf = (handle) => open({ __proto__: stubTraps, handle });

  // Fetcher is the base of service stubs and of durable object stubs; the
  // module exports it as ServiceStub.
  function Fetcher() { illegal(); }
  delete Fetcher.prototype.constructor; // it comes last
  const method = (name, value) => ObjectDefineProperty(Fetcher.prototype, name, { value, writable: true, enumerable: true, configurable: true });
  method("fetch", function fetch(input, init) {
    const entry = entryOf(this);
    if (arguments.length === 0) return native.rejected(new p.TypeError("Failed to execute 'fetch' on 'Fetcher': parameter 1 is not of type 'Request or string'."));
    return native.fetch(entry.handle, input, init, entry.object);
  });
  method("connect", function connect(address, options = undefined) {
    const entry = entryOf(this);
    if (arguments.length === 0) throw new p.TypeError("Failed to execute 'connect' on 'Fetcher': parameter 1 is not of type 'SocketAddress or string'.");
    return native.connect(entry.handle, address, options);
  });
  if (native.verbs) { // before the flag fetcher_no_get_put_delete
    method("get", { get() { return native.verb(entryOf(this).handle, "get", copy(arguments)); } }.get);
    method("put", { put() { return native.verb(entryOf(this).handle, "put", copy(arguments)); } }.put);
    method("delete", { delete() { return native.verb(entryOf(this).handle, "delete", copy(arguments)); } }.delete);
  }
  if (native.handlers) { // by the flag service_binding_extra_handlers
    method("queue", { queue(...args) { return native.queue(entryOf(this).handle, ...args); } }.queue);
    method("scheduled", { scheduled(options) { return native.scheduled(entryOf(this).handle, options); } }.scheduled);
  }
  hidden(Fetcher.prototype, "constructor", Fetcher);
  function DurableObjectStub() { illegal(); }
  inherit(DurableObjectStub, Fetcher);
  ObjectDefineProperty(DurableObjectStub, "name", { value: "DurableObject" });
  function LoopbackServiceStub() { illegal(); }
  inherit(LoopbackServiceStub, Fetcher);
  tag(Fetcher, "Fetcher"); tag(DurableObjectStub, "DurableObject"); tag(LoopbackServiceStub, "LoopbackServiceStub");

  // fetcherOf makes a stub whose own properties are those of own ({name, id}).
  const fetcherTraps = traps({
    get(t, name, receiver) {
      if (typeof name === "symbol" || ReflectHas(t, name)) return ReflectGet(t, name, receiver);
      return absent(name) || !native.rpc ? undefined : property(this.handle, [name]);
    },
    has: (t, name) => native.rpc && typeof name === "string" ? name !== "then" : ReflectHas(t, name), // before the flag rpc a stub has its own members alone
  });
  const fetcherOf = (handle, C, own) => {
    const target = ObjectCreate(C.prototype);
    for (const key in own) ObjectDefineProperty(target, key, { value: own[key], enumerable: true, configurable: false, writable: false });
    return new Proxy(target, { __proto__: fetcherTraps, handle, fetcher: true, object: C === DurableObjectStub });
  };
  const loopbackTraps = openTraps(LoopbackServiceStub, (entry, args) => native.loopback(entry.handle, args), (entry, name) => property(entry.handle, [name]));

  // view is an object that shows what current() is at each look: the env and
  // the exports of cloudflare:workers, which withEnv() and withExports() change.
  const view = (current) => new Proxy({}, {
    get: (t, name) => ReflectGet(current(), name),
    set: (t, name, value) => ReflectSet(current(), name, value),
    has: (t, name) => ReflectHas(current(), name),
    deleteProperty: (t, name) => ReflectDeleteProperty(current(), name),
    ownKeys: () => ReflectOwnKeys(current()),
    defineProperty: (t, name, d) => ReflectDefineProperty(current(), name, d),
    getOwnPropertyDescriptor(t, name) {
      const d = ReflectGetOwnPropertyDescriptor(current(), name);
      if (d !== undefined) d.configurable = true; // the target has none of these properties
      return d;
    },
  });

  const disposeNothing = () => {};
  return {
    DurableObject, WorkerEntrypoint, WorkflowEntrypoint, RpcTarget, RpcStub, RpcPromise, RpcProperty, ServiceStub: Fetcher,
    stubOf, env: view(native.env), exports: view(native.exports),
    serviceStub: (handle) => fetcherOf(handle, Fetcher, {}),
    objectStub: (handle, own) => fetcherOf(handle, DurableObjectStub, own),
    // loopback is a service stub that makes others with props of their own.
    loopback: (handle) => open({ __proto__: loopbackTraps, handle, fetcher: true, loopback: true }),
    // handleOf finds the capability behind a stub, or the name of the class of
    // what stands for a value elsewhere; undefined for anything else. Of a loopback it
    // finds the capability if it is told to.
    handleOf: (v, loopbacks) => {
      const e = entryAt(v);
      if (e === undefined) return undefined;
      if (e.loopback && !loopbacks) return "LoopbackServiceStub";
      return e.path !== undefined ? "RpcProperty" : e.promise !== undefined ? "RpcPromise" : e.handle;
    },
    disposable: (obj, dispose) => hidden(obj, SymbolDispose, dispose ?? disposeNothing),
  };
}
