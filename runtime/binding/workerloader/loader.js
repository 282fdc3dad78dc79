// The Worker Loader binding (workerd: api/worker-loader.h). Bundling and running
// the code is Go; a stub can be called before its code is there.
function (native, p) {
  "use strict";
  const { ObjectDefineProperty, ObjectKeys, ArrayPrototypePush, JSONStringify, ArrayBufferIsView, PromisePrototypeThen } = p;

  const kinds = ["js", "cjs", "text", "data", "json", "wasm", "py"];
  const endsWith = (text, end) => text.length >= end.length && text.slice(text.length - end.length) === end;
  const moduleOf = (name, content) => {
    if (typeof content === "string") {
      if (endsWith(name, ".py")) throw new p.TypeError(`Worker Loader: the module "${name}" is Python, which minido does not run.`);
      if (!endsWith(name, ".js")) {
        const hint = endsWith(name, ".ts") || endsWith(name, ".tsx") || endsWith(name, ".jsx")
          ? ". If you're trying to load TypeScript, bundle it first with '@cloudflare/worker-bundler' and pass the generated JavaScript modules." : "";
        throw new p.TypeError(`Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: ${name}${hint}`);
      }
      return { name, kind: "js", text: content };
    }
    let kind, count = 0;
    for (let i = 0; i < kinds.length; i++) {
      if (content?.[kinds[i]] === undefined) continue;
      kind = kinds[i];
      count++;
    }
    if (count !== 1) throw new p.TypeError(`Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module '${name}' contained ${count} properties.`);
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
    const tails = [];
    if (code.tails !== undefined && code.tails !== null) for (const tail of code.tails) ArrayPrototypePush(tails, tail);
    if (code.allowExperimental && !native.experimental) throw new p.Error("'allowExperimental' is only allowed when the calling worker has the 'experimental' compat flag set.");
    const streaming = [];
    if (code.streamingTails !== undefined) {
      if (!code.allowExperimental) throw new p.Error("Streaming tail workers are experimental. You must pass the option 'allowExperimental: true' to the worker loader to use them");
      for (const tail of code.streamingTails) ArrayPrototypePush(streaming, tail);
    }
    const modules = [];
    const names = ObjectKeys(code.modules ?? {});
    if (names.length === 0) throw new p.TypeError("Dynamic Worker code must contain at least one module.");
    for (let i = 0; i < names.length; i++) ArrayPrototypePush(modules, moduleOf(names[i], code.modules[names[i]]));
    const flags = [];
    for (const flag of code.compatibilityFlags ?? []) ArrayPrototypePush(flags, `${flag}`);
    native.provide(worker, `${code.compatibilityDate}`, flags, `${code.mainModule}`, modules, code.env, code.globalOutbound, tails, { cpuMs: code.limits?.cpuMs, subRequests: code.limits?.subRequests }, streaming);
  };

  class WorkerStub {
    #worker;
    constructor(worker) { this.#worker = worker; }
    getEntrypoint(name, options) { return native.entrypoint(this.#worker, name ?? "default", options?.props); }
    getDurableObjectClass(name, options) { return native.objectClass(this.#worker, name ?? "default", options?.props); }
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
  for (const C of [WorkerLoader, WorkerStub]) p.tag(C, C.name);
  return new WorkerLoader();
}
