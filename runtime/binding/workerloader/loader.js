// The Worker Loader binding (workerd: api/worker-loader.h). Bundling and running
// the code is Go; a stub can be called before its code is there.
function (native, p) {
  "use strict";
  const { ObjectDefineProperty, ObjectKeys, ArrayPrototypePush, JSONStringify, ArrayBufferIsView, PromiseResolve, PromisePrototypeThen, ArrayIsArray } = p;

  const kinds = ["js", "cjs", "text", "data", "json", "wasm", "py"];
  const endsWith = (text, end) => text.length >= end.length && text.slice(text.length - end.length) === end;
  const moduleOf = (name, content) => {
    if (typeof content === "string") {
      if (endsWith(name, ".py")) throw new p.TypeError(`Worker Loader: the module "${name}" is Python, which minido does not run.`);
      if (!endsWith(name, ".js")) throw new p.TypeError(`Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: ${name}`);
      return { name, kind: "js", text: content };
    }
    let kind;
    for (let i = 0; i < kinds.length; i++) {
      if (content?.[kinds[i]] === undefined) continue;
      if (kind !== undefined) throw new p.TypeError(`Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'wasm', or 'py'. Module "${name}" contained more than one.`);
      kind = kinds[i];
    }
    if (kind === undefined) throw new p.TypeError(`Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'wasm', or 'py'. Module "${name}" contained none.`);
    if (kind === "py") throw new p.TypeError(`Worker Loader: the module "${name}" is Python, which minido does not run.`);
    const value = content[kind];
    if (kind === "json") return { name, kind, text: JSONStringify(value) };
    if (kind === "data" || kind === "wasm") return { name, kind, data: ArrayBufferIsView(value) ? value : new p.Uint8Array(value) };
    return { name, kind, text: `${value}` };
  };
  const provide = (worker, code) => {
    if (code === null || typeof code !== "object") throw new p.TypeError("Incorrect type: the provided value is not of type 'WorkerCode'.");
    if (code.compatibilityDate === undefined) throw new p.TypeError("Incorrect type for the 'compatibilityDate' field on 'WorkerCode': the provided value is not of type 'string'.");
    if (code.mainModule === undefined) throw new p.TypeError("Incorrect type for the 'mainModule' field on 'WorkerCode': the provided value is not of type 'string'.");
    if (code.tails !== undefined && ArrayIsArray(code.tails) && code.tails.length > 0) throw new p.Error("Worker Loader: tails are not available in minido; leave them out of the worker's code.");
    const modules = [];
    const names = ObjectKeys(code.modules ?? {});
    for (let i = 0; i < names.length; i++) ArrayPrototypePush(modules, moduleOf(names[i], code.modules[names[i]]));
    const flags = [];
    for (const flag of code.compatibilityFlags ?? []) ArrayPrototypePush(flags, `${flag}`);
    native.provide(worker, `${code.compatibilityDate}`, flags, `${code.mainModule}`, modules, code.env, code.globalOutbound);
  };

  class WorkerStub {
    #worker;
    constructor(worker) { this.#worker = worker; }
    getEntrypoint(name, options) { return native.entrypoint(this.#worker, name ?? "default", options?.props); }
    getDurableObjectClass() { throw new p.Error("Worker Loader: getDurableObjectClass() is not available in minido; getEntrypoint() is."); }
  }
  class WorkerLoader {
    get(name, getCode) {
      if (typeof getCode !== "function") throw new p.TypeError("Failed to execute 'get' on 'WorkerLoader': parameter 2 is not of type 'function'.");
      const [worker, fresh] = native.get(name === null || name === undefined ? undefined : `${name}`);
      if (fresh) {
        const failed = (e) => native.fail(worker, e);
        const code = (async () => provide(worker, await getCode()))();
        PromisePrototypeThen(code, undefined, failed);
      }
      return new WorkerStub(worker);
    }
    load(code) {
      const [worker] = native.get(undefined);
      provide(worker, code);
      return new WorkerStub(worker);
    }
  }
  for (const C of [WorkerLoader, WorkerStub]) ObjectDefineProperty(C.prototype, p.SymbolToStringTag, { value: C.name, configurable: true });
  return new WorkerLoader();
}
