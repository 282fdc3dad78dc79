// What a Worker Loader is given (workerd: api/worker-loader.h), read and refused in the
// order in which workerd does.
function (native, p) {
  "use strict";
  const { ArrayIsArray, ArrayPrototypePush, ArrayBufferIsView, Boolean, JSONStringify, MathTrunc, NumberIsFinite, ObjectKeys } = p;

  const refuse = (text) => { throw new p.TypeError(text); };
  const wrong = (field, dictionary, type) => refuse(`Incorrect type for the '${field}' field on '${dictionary}': the provided value is not of type '${type}'.`);
  const isObject = (v) => (typeof v === "object" && v !== null) || typeof v === "function";
  const endsWith = (text, end) => text.length >= end.length && text.slice(text.length - end.length) === end;
  const array = (v, field, make) => {
    if (v === undefined) return [];
    if (!ArrayIsArray(v)) wrong(field, "WorkerCode", "Array");
    const out = [];
    for (let i = 0; i < v.length; i++) ArrayPrototypePush(out, make(v[i], i));
    return out;
  };
  const maxInteger = 0xffffffff;
  const integer = (v) => {
    if (v === undefined) return undefined;
    const n = +v;
    if (!NumberIsFinite(n)) refuse("The value cannot be converted because it is not an integer.");
    if (n < 0) refuse("The value cannot be converted because it is negative and this API expects a positive number.");
    if (n > maxInteger) refuse(`Value out of range. Must be less than or equal to ${maxInteger}.`);
    return MathTrunc(n);
  };
  const limits = (v, dictionary) => {
    if (v === undefined || v === null) return {};
    if (!isObject(v)) wrong("limits", dictionary, "ResourceLimits");
    return { cpuMs: integer(v.cpuMs), subRequests: integer(v.subRequests) };
  };

  const kinds = ["js", "cjs", "text", "data", "json", "py", "wasm"];
  const bytes = (v, field, type) => {
    if (ArrayBufferIsView(v)) return new p.Uint8Array(v.buffer, v.byteOffset, v.byteLength);
    return native.isBuffer(v) ? new p.Uint8Array(v) : wrong(field, "Module", type);
  };
  const readers = {
    __proto__: null,
    js: (v) => `${v}`, cjs: (v) => `${v}`, text: (v) => `${v}`, py: (v) => `${v}`, json: (v) => v,
    data: (v) => bytes(v, "data", "Array"),
    wasm: (v) => {
      if (native.isModule(v)) refuse("Worker Loader: a WebAssembly.Module as the content of a module is not available in minido; give its bytes.");
      return bytes(v, "wasm", "Array or WasmModuleObject");
    },
  };
  // moduleOf is a module as it is given: a text, or what its only member says.
  const moduleOf = (content) => {
    if (content !== undefined && content !== null && !isObject(content)) return { text: `${content}` };
    const given = [];
    for (let i = 0; i < kinds.length; i++) {
      const value = content?.[kinds[i]];
      if (value !== undefined) ArrayPrototypePush(given, { kind: kinds[i], value: readers[kinds[i]](value) });
    }
    return { given };
  };
  const content = (name, module) => {
    if (module.text === undefined) {
      const count = module.given.length;
      if (count !== 1) refuse(`Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module '${name}' contained ${count} properties.`);
      const { kind, value } = module.given[0];
      if (kind === "json") return { name, kind, text: `${JSONStringify(value)}` };
      return kind === "data" || kind === "wasm" ? { name, kind, data: value } : { name, kind, text: value };
    }
    if (endsWith(name, ".py")) return { name, kind: "py", text: module.text };
    if (!endsWith(name, ".js")) {
      const hint = endsWith(name, ".ts") || endsWith(name, ".tsx") || endsWith(name, ".jsx")
        ? ". If you're trying to load TypeScript, bundle it first with '@cloudflare/worker-bundler' and pass the generated JavaScript modules." : "";
      refuse(`Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: ${name}${hint}`);
    }
    return { name, kind: "js", text: module.text };
  };
  const fetcher = (v, i) => native.isFetcher(v) ? v : refuse(`Incorrect type for array element ${i}: the provided value is not of type 'Fetcher'.`);

  return {
    // read is the members of a WorkerCode, which is an object.
    read(code) {
      const date = `${code.compatibilityDate}`;
      const flags = array(code.compatibilityFlags, "compatibilityFlags", (flag) => `${flag}`);
      const allowExperimental = Boolean(code.allowExperimental);
      const limit = limits(code.limits, "WorkerCode");
      const main = `${code.mainModule}`;
      const given = code.modules;
      if (!isObject(given) || ArrayIsArray(given)) wrong("modules", "WorkerCode", "object");
      const names = ObjectKeys(given), parts = [];
      for (let i = 0; i < names.length; i++) ArrayPrototypePush(parts, moduleOf(given[names[i]]));
      const env = code.env;
      if (env !== undefined && !isObject(env)) wrong("env", "WorkerCode", "Object");
      const outbound = code.globalOutbound;
      if (outbound !== undefined && outbound !== null && !native.isFetcher(outbound)) wrong("globalOutbound", "WorkerCode", "Fetcher");
      const tails = array(code.tails, "tails", fetcher);
      const following = code.streamingTails;
      const follows = following !== undefined;
      const streamingTails = array(following, "streamingTails", fetcher);

      if (names.length === 0) refuse("Dynamic Worker code must contain at least one module.");
      const modules = [];
      for (let i = 0; i < names.length; i++) ArrayPrototypePush(modules, content(names[i], parts[i]));
      const python = endsWith(main, ".py");
      for (let i = 0; i < modules.length; i++) {
        const { name, kind } = modules[i];
        if (python && (kind === "js" || kind === "cjs")) refuse(`Module "${name}" is a JS module, but the main module is a Python module.`);
        if (!python && kind === "py") refuse(`Module "${name}" is a Python module, but the main module isn't a Python module.`);
      }
      if (python) refuse(`Worker Loader: the main module "${main}" is Python, which minido does not run.`);
      return { date, flags, allowExperimental, limit, main, modules, env, outbound, tails, follows, streamingTails };
    },
    // options are those of an entrypoint or class: its props, undefined for none.
    options(method, options) {
      if (options === undefined || options === null) return undefined;
      if (!isObject(options)) refuse(`Failed to execute '${method}' on 'WorkerStub': parameter 2 is not of type 'EntrypointOptions'.`);
      const { props } = options;
      if (props !== undefined && !isObject(props)) wrong("props", "EntrypointOptions", "Object");
      limits(options.limits, "EntrypointOptions");
      return props;
    },
  };
}
