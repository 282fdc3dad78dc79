// The module minido:suite: what runs a project's vitest suites inside its worker.
// The generated entry imports it before everything else; cloudflare:test and
// minido:test share its state. One instance lives as long as its isolate.
import { env, exports, WorkerEntrypoint } from "cloudflare:workers";

const fetch = globalThis.fetch; // tests replace the global one
const { setTimeout, clearTimeout } = globalThis;

// host asks the process that runs the suites to do something, and returns its answer.
export async function host(op, args = {}) {
  const response = await fetch("http://minido.test/" + op, { method: "POST", body: JSON.stringify(args) });
  const answer = await response.json();
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.value;
}

const objectHost = "http://object.minido.test/";
const actions = new Map();
let actionCount = 0;

// inObject runs callback(instance, state) as an event of the stub's object.
export async function inObject(stub, callback) {
  const url = objectHost + actionCount++;
  const action = { callback, failed: false, result: undefined };
  actions.set(url, action);
  try {
    const response = await stub.fetch(url, { redirect: "manual" });
    if (action.failed) throw action.result;
    return action.result instanceof Response ? response : action.result;
  } finally {
    actions.delete(url);
  }
}

async function act(action, instance, state) {
  try {
    action.result = await action.callback(instance, state);
    if (action.result instanceof Response) return action.result;
  } catch (e) {
    action.failed = true;
    action.result = e;
  }
  return new Response(null, { status: 204 });
}

// wrapObject makes of a Durable Object class one whose instances tests can enter. They are
// the class's own: what has its prototype sees them as they are in production.
export function wrapObject(Class, name, main) {
  if (typeof Class !== "function") return Class;
  const states = new WeakMap();
  const Wrapped = { [name]: class extends Class {
    constructor(state, env) {
      const instance = new Class(state, env);
      states.set(instance, state);
      return instance;
    }
  } }[name];
  Wrapped.prototype.alarm ??= () => {}; // with the plugin every class has one, so setAlarm() is not refused
  // The runtime calls this for a request (isolate.Options.RunsTests).
  Object.defineProperty(Wrapped, "__minido_fetch__", { value: (instance, request) => {
    const action = actions.get(request.url);
    if (action !== undefined) return act(action, instance, states.get(instance));
    if (typeof instance.fetch !== "function") throw new TypeError(`${name} exported by ${main} does not define a \`fetch()\` method`);
    return instance.fetch(request);
  } });
  return Wrapped;
}

// reset says that modules were reset (vi.resetModules): the worker's main module is
// imported anew for each event then, as Cloudflare's plugin always does.
let reset = false;

// wrapDefault makes of the worker's default export one that also runs suites.
export function wrapDefault(handler, suites) {
  const now = (name, args) => reset ? suites.main().then((main) => {
    const fresh = main.default;
    return typeof fresh === "function" ? new fresh(args[2], args[1])[name](args[0]) : fresh[name](...args);
  }) : handler[name](...args);
  const isRun = (request) => request.url.startsWith("http://run.minido.test/");
  // What an event fails with that the worker has no handler for: the plugin's text.
  const none = (name) => {
    if (handler === undefined || handler === null) {
      throw new TypeError(`${suites.path} does not export a default entrypoint. \`@cloudflare/vitest-plugin\` does not support service workers or named entrypoints for \`SELF\`.\nIf you're using service workers, please migrate to the modules format: https://developers.cloudflare.com/workers/reference/migrate-to-module-workers/`);
    }
    throw new TypeError(`Expected default export of ${suites.path} to define a \`${name}()\` ${typeof handler === "function" ? "method" : "function"}`);
  };
  const events = ["scheduled", "queue", "email"];
  if (typeof handler === "function") {
    const Wrapped = class extends handler {
      fetch(request) {
        if (isRun(request)) return run(request, suites);
        if (super.fetch === undefined) return none("fetch");
        return reset ? now("fetch", [request, this.env, this.ctx]) : super.fetch(request);
      }
    };
    for (const name of events) Wrapped.prototype[name] ??= () => none(name);
    return Wrapped;
  }
  class Wrapped extends WorkerEntrypoint {
    fetch(request) {
      if (isRun(request)) return run(request, suites);
      return typeof handler?.fetch === "function" ? now("fetch", [request, this.env, this.ctx]) : none("fetch");
    }
  }
  for (const name of events) {
    Wrapped.prototype[name] = function (event) {
      return typeof handler?.[name] === "function" ? now(name, [event, this.env, this.ctx]) : none(name);
    };
  }
  for (const name of ["tail", "trace"]) {
    if (typeof handler?.[name] === "function") Wrapped.prototype[name] = function (event) { return now(name, [event, this.env, this.ctx]); };
  }
  // The runtime tells this to whoever calls another method (isolate.Options.RunsTests).
  Object.defineProperty(Wrapped, "__minido_missing__", { value: `Expected default export of ${suites.path} to be a subclass of \`WorkerEntrypoint\` for RPC` });
  return Wrapped;
}

// The state that vitest's modules look for while they load and run.
const state = {
  ctx: { pool: "minido", projectName: "", config: {}, files: [], providedContext: {} },
  config: { snapshotOptions: {}, experimental: {}, expect: {}, fakeTimers: {}, sequence: {}, root: "/" },
  environment: { name: "minido", viteEnvironment: "ssr" },
  evaluatedModules: { idToModuleMap: new Map(), getModuleById() {}, invalidateModule() {} },
  moduleExecutionInfo: new Map(), resolvingModules: new Set(),
  durations: { environment: 0, prepare: 0 }, providedContext: {}, metaEnv: {},
  onCancel() {}, onCleanup() {}, onFilterStackTrace: (stack) => stack, rpc: {}, current: undefined, filepath: undefined,
};
Object.defineProperty(globalThis, "__vitest_worker__", { value: state, configurable: true, writable: true });

// Vitest copies an error member by member. A stack gets its form, with places of
// the user's source, when code reads a member that it calls stack; vitest looks at
// showDiff before it copies, so that is where the stack is read.
let settled;
Object.defineProperty(Error.prototype, "showDiff", {
  configurable: true,
  get() {
    const error = this;
    settled = error.stack;
    return undefined;
  },
  set(value) { Object.defineProperty(this, "showDiff", { value, configurable: true, writable: true, enumerable: true }); },
});

// Vitest's own functions for module mocks are reached only by calls that the bundler
// has not recognised.
function setMocker({ mockObject }, createMockInstance, vi) {
  const globalConstructors = { Object, Function, Array, RegExp, Map };
  globalThis.__vitest_mocker__ = new Proxy({
    vi, modulesReset() { reset = true; },
    mockObject: (object, a, b) => mockObject({ globalConstructors, createMockInstance, type: b ?? a ?? "automock" }, object, b === undefined ? undefined : a),
  }, {
    get(own, name) {
      if (name in own) return own[name];
      throw new Error("minido test recognises vi.mock, vi.hoisted and their kin where they are called as members of vi, with the module as a literal");
    },
  });
}

export const running = { file: "", latest: "", chaosSkips: {}, leaks: {} }; // latest is the test that began last

// ownTimers are those of vitest's runner, which no test has left behind.
const ownTimers = new Set();

// withOwnTimers loads modules that keep the timers of globalThis for themselves.
async function withOwnTimers(load) {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  globalThis.setTimeout = (callback, delay, ...args) => {
    const id = set(() => {
      ownTimers.delete(id);
      callback(...args);
    }, delay);
    ownTimers.add(id);
    return id;
  };
  globalThis.clearTimeout = (id) => {
    ownTimers.delete(id);
    clear(id);
  };
  try {
    const loaded = await load();
    loaded.setSafeTimers(); // those that vi.waitFor and expect.poll wait with when tests have faked theirs
    return loaded;
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  }
}

// evaluateOnce answers vitest's next new Function("exports", text): workers cannot
// make code of strings, so the process that runs the suites has evaluated the file.
function evaluateOnce(text, data) {
  const original = globalThis.Function;
  globalThis.Function = new Proxy(original, {
    construct(target, args, newTarget) {
      if (args.length !== 2 || args[1] !== text) return Reflect.construct(target, args, newTarget);
      globalThis.Function = original;
      return (exports) => Object.assign(exports, data);
    },
  });
}

function snapshotEnvironment(options) {
  return {
    getVersion: () => "1",
    getHeader: () => "// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html",
    resolveRawPath: async (file, raw) => raw.startsWith("/") ? raw : file.slice(0, file.lastIndexOf("/") + 1) + raw,
    resolvePath: async (file) => {
      const cut = file.lastIndexOf("/");
      return file.slice(0, cut) + "/__snapshots__" + file.slice(cut) + ".snap";
    },
    prepareDirectory: async () => {},
    readSnapshotFile: async (path) => {
      if (!path.endsWith(".snap")) return host("read", { path });
      const file = await host("read-snapshots", { path });
      if (file === null) return null;
      evaluateOnce(file.text, file.data);
      return file.text;
    },
    saveSnapshotFile: (path, text) => host("write", { path, text }),
    removeSnapshotFile: (path) => host("remove", { path }),
    processStackTrace: (frame) => {
      const file = frame.file?.replace(/^\/bundle\//, ""); // vitest resolves names from process.cwd()
      if (file && !/^([a-z]:)?\//i.test(file)) frame.file = options.dir + "/" + file;
      return frame;
    },
  };
}

// show is a text of any value: an object without a prototype has none of its own.
const show = (v) => typeof v === "object" && v !== null && typeof v.toString !== "function" ? JSON.stringify(v) : String(v);
const plainError = (e) => ({ name: show(e.name ?? "Unknown Error"), message: show(e.message ?? e), bare: typeof e === "object" && e !== null && !e.message && !e.stack, stack: show(e.stack ?? ""), diff: e.diff ?? "",
  cause: e.cause ? show(e.cause.stack ?? e.cause.message ?? e.cause) : "", test: "" });

// Diffs have the colours that vitest's have on a terminal; nothing else is coloured.
const paint = (on, off) => (text) => `\x1b[${on}m${text}\x1b[${off}m`;
const diffColors = { aColor: paint(32, 39), bColor: paint(31, 39), changeColor: paint(7, 27), commonColor: paint(2, 22), patchColor: paint(33, 39) };

// plain makes of a task what the reports need.
function plain(task) {
  const r = task.result;
  return {
    name: task.name, type: task.type, mode: task.mode, line: task.location?.line ?? 0,
    state: r?.state ?? (task.mode === "todo" || task.mode === "skip" ? task.mode : ""), note: r?.note,
    duration: r?.duration ?? 0, retries: r?.retryCount ?? 0,
    errors: (r?.errors ?? []).map(plainError),
    chaosSkip: running.chaosSkips[task.id], leaks: running.leaks[task.id] ?? [],
    tasks: (task.tasks ?? []).map(plain),
  };
}

async function run(request, suites) {
  const options = await request.json();
  const unhandled = [];
  const listen = (event) => {
    if (options.lenient) return; // it is logged, if nobody handles it
    event.preventDefault();
    unhandled.push({ reason: event.reason, test: running.latest });
  };
  globalThis.addEventListener("unhandledrejection", listen);
  try {
    return Response.json(await runFile(options, suites, unhandled));
  } catch (e) {
    return Response.json({ fatal: String(e?.stack ?? e) });
  }
}

// isolate undoes what was stored in a test and in a describe. As in the pool of earlier
// versions (its worker/lib/cloudflare/test-runner.mjs) it does so before the hooks afterEach,
// and after them where the test has failed.
function isolate(runner) {
  let open; // the test whose storage is to be undone
  const wrap = (name, own) => {
    const was = runner[name]?.bind(runner);
    runner[name] = (subject, ...rest) => own(() => was?.(subject, ...rest), subject);
  };
  const close = async (test) => {
    if (open !== test) return;
    open = undefined;
    await host("storage-pop");
  };
  const isFile = (suite) => "filepath" in suite; // its world ends with it
  wrap("onBeforeRunSuite", async (was, suite) => {
    if (!isFile(suite)) await host("storage-push");
    return was();
  });
  wrap("onAfterRunSuite", async (was, suite) => {
    if (!isFile(suite)) await host("storage-pop");
    return was();
  });
  wrap("onBeforeRunTask", async (was, test) => {
    if (!test.concurrent) return was();
    const name = JSON.stringify(test.name);
    throw new Error(`Concurrent tests are unsupported with isolated storage. Please either:
- Remove \`.concurrent\` from the ${name} test
- Remove \`.concurrent\` from all \`describe()\` blocks containing the ${name} test
- Remove \`isolatedStorage: true\` from your project's Vitest config`);
  });
  wrap("onBeforeTryTask", async (was, test) => {
    await close(test);
    await host("storage-push");
    open = test;
    return was();
  });
  wrap("onAfterTryTask", async (was, test) => {
    await close(test);
    return was();
  });
  wrap("onAfterRunTask", async (was, test) => {
    await close(test);
    return was();
  });
}

// wasLost recognises the error of a call whose object died.
const wasLost = (e) => e?.message === "Network connection lost.";

// repeatsCalls makes of vi.waitFor one that repeats calls of stubs that lost their connection.
// The promise of such a call is a function, as in workerd, and vitest waits for objects alone:
// vi.waitFor(() => stub.method()) passes the first call's promise on, and calls once. Runs with a
// fault are for what clients do who call again, and that is what the test means to do.
// inVain is told when what was waited for did not come.
function repeatsCalls(waitFor, inVain) {
  return async (callback, options) => {
    let other; // what ended the call, if it did not lose its connection
    const value = await waitFor(() => {
      const result = callback();
      if (typeof result !== "function" || typeof result.then !== "function") return result;
      return new Promise((resolve, reject) => result.then(resolve, (error) => {
        if (wasLost(error)) return reject(error);
        other = { error };
        resolve();
      }));
    }, options).catch((error) => {
      inVain();
      throw error;
    });
    if (other !== undefined) throw other.error;
    return value;
  };
}

// followConnections notes what connections the code of tests loses, not that of workers: calls
// of stubs, and WebSockets that end without a Close frame.
function followConnections() {
  const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
  const inTest = new AsyncLocalStorage(); // what a test calls begins without it
  let calls = 0, vain = 0;
  // The runtime sets this on the error of a call that was lost, where the caller gets it.
  Object.defineProperty(Error.prototype, "retryable", {
    configurable: true,
    get() { return undefined; },
    set(value) {
      if (inTest.getStore() === true && wasLost(this)) calls++;
      Object.defineProperty(this, "retryable", { value, configurable: true, writable: true, enumerable: true });
    },
  });
  const property = Object.getOwnPropertyDescriptor(Response.prototype, "webSocket");
  const followed = new Set();
  let cut = 0;
  Object.defineProperty(Response.prototype, "webSocket", { ...property, get() {
    const socket = property.get.call(this);
    if (socket !== null && inTest.getStore() === true && !followed.has(socket)) {
      followed.add(socket);
      socket.addEventListener("close", (event) => { if (!event.wasClean) cut++; });
    }
    return socket;
  } });
  return { run: (callback) => inTest.run(true, callback), seen: () => ({ calls, sockets: followed.size, cut, vain }), inVain: () => { vain++; } };
}

// metaEnv is import.meta.env: the environment, with three members as booleans.
function metaEnv(env) {
  const booleans = ["DEV", "PROD", "SSR"];
  return new Proxy(env, {
    get: (_, key) => booleans.includes(key) ? Boolean(env[key]) : env[key],
    set: (_, key, value) => {
      env[key] = booleans.includes(key) ? (value ? "1" : "") : value;
      return true;
    },
  });
}

// Cloudflare's plugin has one that does nothing; packages that mock requests want one.
globalThis.BroadcastChannel ??= class BroadcastChannel {
  constructor(name) { this.name = name; }
  onmessage = null;
  onmessageerror = null;
  postMessage() {}
  close() {}
  addEventListener() {}
  removeEventListener() {}
};

async function runFile(options, suites, unhandled) {
  const config = options.config;
  const filter = config.testNamePattern;
  if (filter) config.testNamePattern = new RegExp(filter);
  Object.assign(state.config, config);
  Object.assign(state, { filepath: options.file, config: state.config });
  state.config.snapshotOptions = { expand: false, updateSnapshot: options.update, snapshotEnvironment: snapshotEnvironment(options), snapshotFormat: { printBasicPrototype: false, escapeString: false, ...config.snapshotFormat } };
  state.config.diffOptions = state.config._diffOptions = { ...config.diff, ...diffColors }; // the names of vitest 4 and 5
  state.ctx.config = state.config;
  state.providedContext = state.ctx.providedContext = config.provide ?? {};
  let snapshot;
  state.rpc.snapshotSaved = async (result) => { snapshot = result; };
  state.rpc.onCancel = state.rpc.onAfterSuiteRun = state.rpc.onUserConsoleLog = state.rpc.onTaskAnnotate = async () => {};
  state.metaEnv = metaEnv(Object.assign(process.env, { MODE: "test", BASE_URL: "/", PROD: "", DEV: "1", SSR: "1", VITEST_POOL_ID: "1", VITEST_WORKER_ID: "1" }, options.env));
  process.cwd = () => options.dir;
  running.file = options.file;
  const { TestRunner, startTests, vitest, processError, mocker, spy } = await withOwnTimers(suites.runner);
  setMocker(mocker, spy.createMockInstance, vitest.vi);
  globalThis.__vitest_index__ = vitest; // where vitest keeps it, too
  let connections = { run: (callback) => callback(), seen: () => undefined };
  if (options.chaos !== undefined) {
    connections = followConnections();
    vitest.vi.waitFor = repeatsCalls(vitest.vi.waitFor, connections.inVain);
  }
  Object.assign(vitest.chai.config, config.chaiConfig);
  if (config.globals) {
    for (const key of ["suite", "test", "describe", "it", "chai", "expect", "assert", "vitest", "vi", "beforeAll", "afterAll", "beforeEach", "afterEach", "onTestFailed", "onTestFinished", "expectTypeOf", "assertType", "aroundAll", "aroundEach"]) {
      if (vitest[key] !== undefined) globalThis[key] = vitest[key];
    }
  }
  for (const path of config.snapshotSerializers) {
    const serializer = (await suites.files[path]()).default;
    if (typeof serializer !== "object" || serializer === null) throw new Error(`invalid snapshot serializer file ${path}. Must export a default object`);
    if (typeof serializer.test !== "function" || typeof serializer.serialize !== "function" && typeof serializer.print !== "function") {
      throw new TypeError(`invalid snapshot serializer in ${path}. Must have a 'test' method along with either a 'serialize' or 'print' method.`);
    }
    vitest.expect.addSnapshotSerializer(serializer);
  }
  const runner = new TestRunner(state.config);
  runner.__setTraces?.({ $: (name, options, fn) => (fn ?? options)({ setAttribute() {}, setAttributes() {}, end() {} }) });
  runner.onTestAnnotate ??= async (test, annotation) => annotation;
  runner.onTestArtifactRecord ??= async (test, artifact) => artifact;
  runner.importFile = (path) => {
    const load = suites.files[path];
    if (load === undefined) throw new Error("minido test has not bundled " + path);
    // The worker has imported a source file before its tests were asked for.
    if (options.source && path === options.file) suites.reset();
    return load();
  };
  let failed = 0; // tests
  const before = runner.onBeforeRunTask.bind(runner);
  runner.onBeforeRunTask = async (test) => {
    await before(test);
    running.latest = fullName(test);
    if (test.mode === "run" || test.mode === "queued") await host("test-begins", { name: fullName(test), timers: ownTimers.size, timeout: Number.isFinite(test.timeout) ? Math.round(test.timeout) : 0 });
  };
  const after = runner.onAfterRunTask.bind(runner);
  runner.onAfterRunTask = async (test) => {
    running.leaks[test.id] = await host("test-ends", { name: fullName(test), timers: ownTimers.size });
    if (config.bail > 0 && test.result?.state === "fail" && ++failed >= config.bail) runner.cancel?.("test-failure");
    return after(test);
  };
  if (options.isolated) isolate(runner);
  const spec = { filepath: options.file, testLocations: undefined };
  const [file] = await connections.run(() => startTests([spec], runner));
  await new Promise((resolve) => setTimeout(resolve, 0)); // rejections of the last test are reported by then
  return { file: plain(file), snapshot, connections: connections.seen(), unhandled: unhandled.map(({ reason, test }) => ({ ...plainError(processError(reason)), diff: "", cause: "", test })) };
}

export function fullName(task) {
  const names = [];
  for (let t = task; t && !("filepath" in t); t = t.suite) if (t.name) names.unshift(t.name);
  return names.join(" > ");
}

export const currentTest = () => state.current;
export { env, exports };
