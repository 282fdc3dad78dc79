// Module mocks in one runtime: who is mocked by what, and the objects through which
// modules that may be mocked are imported. Errors are vitest's.
(function (actual, space, forget) {
  "use strict";
  const { getPrototypeOf, has } = Reflect, mocks = new Map(), forwards = new Map(), AsyncFunction = getPrototypeOf(async () => {});
  const thenable = (v) => (typeof v === "object" && v !== null || typeof v === "function") && typeof v.then === "function";

  // A mock is registered first, and made when it is needed.
  const register = (key, raw, given) => {
    const type = typeof given === "function" ? "manual" : given?.spy ? "autospy" : "automock";
    mocks.set(key, { key, raw, type, factory: given, state: "new", value: undefined, pending: undefined });
  };
  const settled = (m, value) => {
    if (m.type === "manual" && (value === null || typeof value !== "object" || Array.isArray(value))) {
      return failed(m, new TypeError(`[vitest] vi.mock("${m.raw}", factory?: () => unknown) is not returning an object. Did you mean to return an object with a "default" key?`));
    }
    m.state = "done";
    m.value = value;
  };
  const failed = (m, error) => {
    m.state = "failed";
    m.value = error;
  };
  const broken = (cause) => new Error('[vitest] There was an error when mocking a module. If you are using "vi.mock" factory, make sure there are no top level variables inside, since this call is hoisted to top of the file. Read more: https://vitest.dev/api/vi.html#vi-mock', { cause });
  const automock = (ns, type) => globalThis.__vitest_mocker__.mockObject(ns, type);
  const start = (m) => {
    if (m.state !== "new") return;
    m.state = "pending";
    try {
      const wrap = m.type === "manual" ? broken : (e) => e;
      const made = m.type === "manual" ? m.factory(async () => actual(m.key)) : actual(m.key);
      const finish = (v) => settled(m, m.type === "manual" ? v : automock(v, m.type));
      if (!thenable(made)) return finish(made);
      m.pending = made.then(finish, (e) => failed(m, wrap(e)));
    } catch (e) {
      failed(m, m.type === "manual" ? broken(e) : e);
    }
  };
  // kept is the module of a forward, which stays the same when modules are reset.
  const current = (key, kept) => {
    const m = mocks.get(key);
    if (m === undefined) {
      kept.module ??= actual(key);
      return kept.module;
    }
    start(m);
    if (m.state === "failed") throw m.value;
    if (m.state === "pending") throw new Error(`the mock of "${m.raw}" is used while it is being made: write its factory as an async function, so that minido test waits for it before the imports`);
    return m.value;
  };
  const read = (key, name, kept) => {
    const value = current(key, kept), m = mocks.get(key);
    if (m?.type !== "manual" || has(value, name)) return value[name];
    if (name === "then" || name === "__esModule" || typeof name === "symbol") return undefined;
    throw new Error(`[vitest] No "${name}" export is defined on the "${m.raw}" mock. Did you forget to return it from "vi.mock"?
If you need to partially mock a module, you can use "importOriginal" helper inside:
`);
  };
  const forward = (key) => {
    if (!forwards.has(key)) {
      const kept = { module: undefined };
      forwards.set(key, space(new Proxy({}, {
        get: (_, name) => read(key, name, kept),
        has: (_, name) => has(current(key, kept), name),
        ownKeys: () => Reflect.ownKeys(current(key, kept)).filter((name) => name !== "__esModule"),
        getOwnPropertyDescriptor: (_, name) => has(current(key, kept), name) ? { value: read(key, name, kept), writable: true, enumerable: true, configurable: true } : undefined,
        set: () => { throw new TypeError("Cannot assign to an import"); },
        defineProperty: (_, name, d) => { // vi.spyOn
          const value = current(key, kept);
          if (!Object.is(value[name], d.value) && !Reflect.defineProperty(value, name, d)) throw new TypeError(`Cannot redefine property: ${String(name)}`);
          return true;
        },
      })));
    }
    return forwards.get(key);
  };
  return {
    // What an importer gets. With async, a mock that is being made is waited for.
    forward: (key, async) => {
      const m = mocks.get(key);
      if (async && m !== undefined) {
        start(m);
        if (m.state === "pending") return space(m.pending.then(() => forward(key)));
      }
      return forward(key);
    },
    of: (resolve) => ({
      hoisted: (factory) => {
        if (typeof factory !== "function") throw new TypeError(`vi.hoisted() expects a function, but received a ${typeof factory}`);
        return factory();
      },
      mock: (spec, given) => register(resolve(spec), spec, given),
      doMock: (spec, given) => register(resolve(spec), spec, given),
      unmock: (spec) => { mocks.delete(resolve(spec)); },
      doUnmock: (spec) => { mocks.delete(resolve(spec)); },
      importActual: async (spec) => actual(resolve(spec)),
      importMock: async (spec) => {
        const key = resolve(spec), m = mocks.get(key);
        if (m?.type !== "manual") return automock(await actual(key), m?.type ?? "automock");
        start(m);
        await m.pending;
        return forward(key);
      },
      // Modules are evaluated again when they are imported next; mocks stay.
      resetModules: () => {
        forget();
        forwards.clear();
        globalThis.__vitest_mocker__.modulesReset();
        return globalThis.__vitest_mocker__.vi;
      },
      // Waits for the factories that are asynchronous.
      settle: async () => {
        for (const m of mocks.values()) {
          if (m.type === "manual" && getPrototypeOf(m.factory) === AsyncFunction) start(m);
          await m.pending;
        }
      },
    }),
  };
})
