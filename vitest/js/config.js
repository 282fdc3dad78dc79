// What a vitest configuration may import, for its evaluation without Node.js:
// vitest/config, vite, the plugin, and what of node:path, node:url and
// node:process configurations use.

export const defineConfig = (config) => config;
export const defineProject = defineConfig, defineWorkersConfig = defineConfig, defineWorkersProject = defineConfig, defineWorkersPoolOptions = defineConfig;
export const configDefaults = { include: ["**/*.{test,spec}.?(c|m)[jt]s?(x)"], exclude: ["**/node_modules/**", "**/.git/**"] };

export function mergeConfig(a, b) {
  const out = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const old = out[key];
    if (Array.isArray(old) && Array.isArray(value)) out[key] = [...old, ...value];
    else if (old && value && typeof old === "object" && typeof value === "object") out[key] = mergeConfig(old, value);
    else if (value !== undefined) out[key] = value;
  }
  return out;
}

export const cloudflareTest = (options) => ({ name: "@cloudflare/vitest-pool-workers", cloudflare: options });
export const minido = (options) => ({ name: "minido", cloudflare: options ?? {} });
export const cloudflarePool = (options) => ({ name: "cloudflare-pool", cloudflare: options });

// readD1Migrations reads the files of a directory as { name, queries }.
export async function readD1Migrations(path) {
  if (typeof path === "string") return __migrations(path);
  if (path !== null && typeof path === "object") return __migrations(JSON.stringify({ projectPath: __config.dir, ...path }));
  throw new TypeError("Failed to execute 'readD1Migrations': parameter 1 is not of type 'string' or 'object'.");
}
const pages = Symbol("assets");
export async function buildPagesASSETSBinding(path) {
  if (typeof path !== "string") throw new TypeError("Failed to execute 'buildPagesASSETSBinding': parameter 1 is not of type 'string'.");
  return { [pages]: path };
}

function normalize(path) {
  const out = [];
  for (const part of path.split("/")) {
    if (part === "..") out.pop();
    else if (part !== "" && part !== ".") out.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + out.join("/");
}
export const join = (...parts) => normalize(parts.join("/"));
const drive = /^[a-z]:\//i; // a path of Windows, with slashes
export const resolve = (...parts) => parts.reduce((at, part) => part.startsWith("/") || drive.test(part) ? normalize(part) : normalize(at + "/" + part), __config.dir);
export const dirname = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
export const basename = (path) => path.slice(path.lastIndexOf("/") + 1);
const unrooted = (path) => drive.test(path.slice(1)) ? path.slice(1) : path; // /C:/a is C:/a
export const fileURLToPath = (url) => unrooted(decodeURIComponent(String(url).replace(/^file:\/\//, "")));
export const env = globalThis.__environ ?? {}, cwd = () => __config.dir;
export default { join, resolve, dirname, basename, normalize, env, cwd, fileURLToPath };

globalThis.process ??= { env, cwd };
globalThis.URL ??= class {
  constructor(path, base) { this.href = String(path).startsWith("file:") ? String(path) : "file:///" + resolve(dirname(fileURLToPath(base)), String(path)).replace(/^\//, "") + (/.\/$/.test(path) ? "/" : ""); }
  get pathname() { return unrooted(this.href.slice(7)); } // aliases are made of it
  toString() { return this.href; }
};

const known = new Set(["include", "includeSource", "exclude", "setupFiles", "globals", "globalSetup", "projects", "testTimeout", "hookTimeout", "retry", "alias", "env", "root", "name", "pool", "poolOptions", "environment",
  "reporters", "coverage", "passWithNoTests", "isolate", "fileParallelism", "maxWorkers", "minWorkers", "watch", "deps", "server", "typecheck", "sequence", "bail", "clearMocks", "mockReset", "restoreMocks",
  "unstubEnvs", "unstubGlobals", "fakeTimers", "allowOnly", "dangerouslyIgnoreUnhandledErrors", "maxConcurrency", "chaiConfig", "expect", "provide", "snapshotFormat", "slowTestThreshold", "silent", "includeTaskLocation", "css", "logHeapUsage", "teardownTimeout", "outputFile", "open", "ui", "api", "experimental", "snapshotSerializers", "tags", "strictTags", "diff", "benchmark", "disableConsoleIntercept", "hideSkippedTests", "cache", "inspect", "inspectBrk", "execArgv", "vmMemoryLimit", "attachmentsDir", "onConsoleLog", "printConsoleTrace"]);
const passed = ["sequence", "clearMocks", "mockReset", "restoreMocks", "unstubEnvs", "unstubGlobals", "fakeTimers", "allowOnly", "maxConcurrency", "chaiConfig", "expect", "provide", "snapshotFormat", "tags", "strictTags"];
const pool = new Set(["wrangler", "main", "miniflare", "isolatedStorage", "singleWorker", "experimental_remoteBindings", "remoteBindings", "additionalExports"]);
const list = (v) => v === undefined ? [] : [].concat(v);

// Of the package miniflare: the classes that functions of the options answer with.
const { Request, Response, Headers, FormData, fetch } = globalThis;
export { Request, Response, Headers, FormData, fetch };

// createFetchMock makes a MockAgent (fetch-mock.js) that answers what goes out.
export const createFetchMock = (options) => new MockAgent(options);

// functions are those of the options that answer requests, in the order in which settle
// finds them. Each is a worker of its own, which finds its function by the number.
export const functions = [];
const directories = []; // of assets that services have, likewise
const numbered = (f) => "minido-function-" + (functions.push(f) - 1);

// settle gives the part of a configuration that minido uses, as JSON. provided is what
// test.globalSetup has provided, once it has run.
export async function settle(given, provided) {
  directories.length = 0;
  let config = await given;
  if (typeof config === "function") config = await config({ mode: "test", command: "serve", isSsrBuild: false, isPreview: false });
  if (config === undefined) throw new Error("it has no default export");
  const test = config.test ?? {}, refused = [];
  for (const key of Object.keys(test)) if (!known.has(key)) refused.push("test." + key);
  if (test.diff !== undefined && typeof test.diff !== "object") refused.push("test.diff that is the path of a module (write its options into the configuration)");
  const plugins = await flat(config.plugins);
  const found = plugins.map((p) => p.cloudflare).find((o) => o !== undefined) ?? test.pool?.cloudflare ?? test.poolOptions?.workers;
  let options = await (found ?? {});
  let late = false, failed = "";
  if (typeof options === "function") {
    const known = { ...test.provide, ...provided };
    try {
      options = await options({ inject: (key) => {
        late ||= !(key in known) || provided != null;
        return known[key];
      } });
    } catch (e) {
      if (!late) throw e;
      failed = String(e?.stack ?? e);
      options = {};
    }
  }
  for (const key of Object.keys(options)) if (!pool.has(key)) refused.push("the pool's option " + key);
  // The pool of earlier versions gave each test storage of its own, unless it was told not
  // to, and heard of no unhandled rejection.
  const earlier = found !== undefined && found === test.poolOptions?.workers;
  const isolated = options.isolatedStorage ?? earlier;
  const { compatibilityDate, compatibilityFlags, ...rest } = options.miniflare ?? {};
  const before = functions.length;
  const { texts, add, others, outbound } = worker(rest, refused);
  for (const p of plugins) if (!("cloudflare" in p) && !native(p.name, plugins)) refused.push("the plugin " + (p.name ?? "without a name"));
  const alias = {}, patterns = []; // those by regular expression
  for (const a of [config.resolve?.alias, test.alias]) {
    if (Array.isArray(a)) {
      for (const { find, replacement } of a) typeof find === "string" ? alias[find] = replacement : patterns.push({ find: (find.flags.includes("i") ? "(?i)" : "") + find.source, to: replacement.replace(/\$(\d)/g, "${$1}") });
    } else Object.assign(alias, a);
  }
  const define = {};
  for (const [key, value] of Object.entries(config.define ?? {})) define[key] = typeof value === "string" ? value : JSON.stringify(value);
  const vitest = test.diff === undefined ? {} : { diff: test.diff };
  for (const key of passed) if (test[key] !== undefined) vitest[key] = test[key];
  return JSON.stringify({
    root: test.root ?? config.root, include: list(test.include).flatMap(expand), includeSource: list(test.includeSource).flatMap(expand), exclude: list(test.exclude).flatMap(expand), setupFiles: list(test.setupFiles), globals: test.globals === true, snapshotSerializers: list(test.snapshotSerializers),
    testTimeout: test.testTimeout, hookTimeout: test.hookTimeout, retry: typeof test.retry === "number" ? test.retry : 0, bail: test.bail, alias, patterns, define, env: test.env, vitest,
    wrangler: options.wrangler?.configPath, environment: options.wrangler?.environment, main: options.main, plugin: found !== undefined, lenient: earlier || test.dangerouslyIgnoreUnhandledErrors === true, isolated, bindings: texts, add, others, outbound, functions: functions.slice(before).map((_, n) => before + n), date: compatibilityDate, flags: compatibilityFlags, refused,
    assets: [...directories], late, failed,
    coverage: test.coverage === undefined ? undefined : coverage(test.coverage),
    name: typeof test.name === "string" ? test.name : test.name?.label, globalSetup: list(test.globalSetup), projects: await projects(test.projects, config),
  });
}

// flat are plugins, which come as arrays and promises of each other.
async function flat(plugins) {
  const all = [];
  for (const p of [await plugins].flat()) {
    if (Array.isArray(p) || typeof p?.then === "function") all.push(...await flat(p));
    else if (p) all.push(p);
  }
  return all;
}

// native says whether minido does by itself what a plugin does: the paths of tsconfig.json,
// JSX, and, of the agents SDK's plugin, decorators.
function native(name, plugins) {
  if (name === "@rolldown/plugin-babel") return plugins.some((p) => String(p.name).startsWith("agents-"));
  return /^(agents-turndown-stub|agents-removed-skills-import|vite-tsconfig-paths|vite:react-.*|vite:preact-.*)$/.test(name);
}

const coverageKnown = new Set(["enabled", "provider", "include", "exclude", "reportsDirectory", "clean", "cleanOnRerun", "reportOnFailure", "skipFull", "thresholds", "watermarks",
  "processingConcurrency", "reporter", "all", "extension", "allowExternal", "excludeAfterRemap", "experimentalAstAwareRemapping"]);

// coverage is test.coverage with all of its reporters as { name, options }.
function coverage({ reporter, ...given }) {
  const refused = [];
  for (const [key, value] of Object.entries(given)) {
    if (!coverageKnown.has(key) && value !== undefined) refused.push("coverage." + key);
    if (["allowExternal", "all"].includes(key) && value === true) refused.push(`coverage.${key} (name files with coverage.include)`);
  }
  const one = (r) => typeof r === "string" ? { name: r, options: {} } : { name: r[0], options: r[1] ?? {} };
  return { ...given, reporter: reporter === undefined ? undefined : typeof reporter === "string" ? [one(reporter)] : reporter.map(one), refused };
}

// projects are the configurations of test.projects: texts are paths of others.
async function projects(given, parent) {
  const all = [];
  for (let p of given ?? []) {
    if (typeof p === "string") { all.push({ path: p }); continue; }
    if (typeof p === "function") p = p({ mode: "test", command: "serve", isSsrBuild: false, isPreview: false });
    p = await p;
    const { projects: _, ...test } = parent.test;
    const base = p.extends === true ? { ...parent, test } : {};
    if (typeof p.extends === "string") throw new Error("test.projects: extends with a path is not available in minido test; import that configuration and use mergeConfig");
    const own = mergeConfig(base, p);
    // What vitest takes from the root for all projects.
    const { hooks, seed, shuffle, concurrent, setupFiles } = parent.test.sequence ?? {};
    own.test = { ...own.test, snapshotFormat: parent.test.snapshotFormat, sequence: { ...own.test?.sequence, hooks, seed, shuffle, concurrent, setupFiles } };
    all.push({ settings: JSON.parse(await settle(own)) });
  }
  return all;
}

// worker makes of miniflare's options what a wrangler file says, in add; texts are bindings
// that are above .dev.vars.
function worker(options, refused, beside) {
  const texts = {}, vars = {}, add = {}, queues = {}, others = [];
  let outbound;
  const named = (v, make) => Array.isArray(v) ? v.map((name) => make(name, name, {})) : Object.entries(v).map(([name, x]) => typeof x === "string" ? make(name, x, {}) : make(name, undefined, x));
  const queue = (name) => String(name).toLowerCase().replaceAll("_", "-");
  const known = {
    bindings: (v) => { for (const [name, x] of Object.entries(v)) (typeof x === "string" ? texts : vars)[name] = x; },
    kvNamespaces: (v) => { add.kv_namespaces = named(v, (binding, id, x) => ({ binding, id: id ?? x.id ?? binding })); },
    d1Databases: (v) => { add.d1_databases = named(v, (binding, id, x) => ({ binding, database_name: binding, database_id: id ?? x.id ?? binding })); },
    r2Buckets: (v) => { add.r2_buckets = named(v, (binding, id, x) => ({ binding, bucket_name: queue(id ?? x.id ?? binding) })); },
    queueProducers: (v) => { queues.producers = named(v, (binding, name, x) => ({ binding, queue: queue(name ?? x.queueName), delivery_delay: x.deliveryDelay })); },
    queueConsumers: (v) => {
      queues.consumers = named(v, (name, _, x) => ({ queue: queue(name), max_batch_size: x.maxBatchSize, max_batch_timeout: x.maxBatchTimeout, max_retries: x.maxRetries ?? x.maxRetires,
        dead_letter_queue: x.deadLetterQueue && queue(x.deadLetterQueue), retry_delay: x.retryDelay }));
    },
    durableObjects: (v) => {
      add.durable_objects = { bindings: named(v, (name, class_name, x) => ({ name, class_name: class_name ?? x.className, script_name: x.scriptName })) };
      const classes = named(v, (_, name, x) => x.useSQLite && !x.scriptName ? x.className : undefined).filter(Boolean);
      if (classes.length > 0) add.migrations = [{ tag: "minido-test", new_sqlite_classes: classes }];
    },
    serviceBindings: (v) => {
      add.services = [];
      for (const [binding, x] of Object.entries(v)) {
        if (x?.[pages] !== undefined) add.services.push({ binding, service: "minido-assets-" + (directories.push(x[pages]) - 1) });
        else if (typeof x === "function") add.services.push({ binding, service: numbered(x) });
        else if (typeof x !== "string" && typeof x?.name !== "string") refused.push(`the pool's option miniflare.serviceBindings.${binding} that is neither a function nor names a worker`);
        else add.services.push(typeof x === "string" ? { binding, service: x } : { binding, service: x.name, entrypoint: x.entrypoint, props: x.props });
      }
    },
    assets: (v) => { add.assets = { directory: v.directory, binding: v.binding }; },
    workflows: (v) => { add.workflows = named(v, (binding, _, x) => ({ binding, name: x.name, class_name: x.className, script_name: x.scriptName })); },
    secretsStoreSecrets: (v) => { add.secrets_store_secrets = named(v, (binding, _, x) => ({ binding, store_id: x.store_id, secret_name: x.secret_name })); },
    analyticsEngineDatasets: (v) => { add.analytics_engine_datasets = named(v, (binding, _, x) => ({ binding, dataset: x.dataset })); },
    ratelimits: (v) => { add.ratelimits = named(v, (name, _, x) => ({ name, namespace_id: x.namespace_id ?? name, simple: x.simple })); },
    hyperdrives: (v) => { add.hyperdrive = Object.entries(v).map(([binding, x]) => ({ binding, id: binding, localConnectionString: String(x?.href ?? x) })); },
    pipelines: (v) => { add.pipelines = named(v, (binding, name, x) => ({ binding, pipeline: name ?? x.pipeline })); },
    workerLoaders: (v) => { add.worker_loaders = named(v, (binding) => ({ binding })); },
    versionMetadata: (v) => { add.version_metadata = { binding: v }; },
    email: (v) => { add.send_email = v.send_email; },
    outboundService: (v) => {
      outbound = typeof v === "function" ? numbered(v) : v?.name ?? v;
      if (typeof outbound === "string") return;
      outbound = undefined;
      refused.push("the pool's option miniflare.outboundService that is neither a function nor names a worker");
    },
    fetchMock: (v) => {
      if (v instanceof MockAgent) outbound = numbered((request) => v.fetch(request));
      else refused.push("the pool's option miniflare.fetchMock that createFetchMock of miniflare has not made");
    },
    workers: (v) => { for (const w of v) others.push(auxiliary(w, refused)); },
    verbose: () => {},
  };
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (key in known) known[key](value);
    else refused.push("the pool's option miniflare." + key + " (put it into the wrangler file)");
  }
  if (outbound !== undefined && beside) (add.services ??= []).push({ binding: "MINIDO_OUTBOUND", service: outbound });
  if (Object.keys(vars).length > 0) add.vars = vars;
  if (Object.keys(queues).length > 0) add.queues = queues;
  return { texts, add, others, outbound };
}

// auxiliary makes settings of a worker beside the one that is tested: its files, the first
// of which is the main one, and what a wrangler file says.
function auxiliary({ name, script, scriptPath, modules, modulesRoot, modulesRules, compatibilityDate, compatibilityFlags, rootPath, ...rest }, refused) {
  const files = [];
  if (Array.isArray(modules)) for (const m of modules) files.push({ path: m.path, text: typeof m.contents === "string" ? m.contents : undefined });
  else if (scriptPath !== undefined) files.push({ path: scriptPath, text: script });
  else if (script !== undefined) files.push({ path: "worker.mjs", text: script });
  else refused.push(`the pool's option miniflare.workers: ${name} without script, scriptPath or modules`);
  if (rest.workers) refused.push("the pool's option miniflare.workers within another");
  const { texts, add, outbound } = worker({ ...rest, workers: undefined }, refused, true);
  return { name, files, outbound, root: rootPath, bindings: texts, add: { name, ...add }, date: compatibilityDate, flags: compatibilityFlags ?? [] };
}

// setUp runs a file of test.globalSetup; what it provides is its result, as JSON. What
// it leaves to tear down is kept.
export async function setUp(module, config) {
  const provided = {}, context = { config, provide: (key, value) => { provided[key] = value; }, onTestsRerun() {} };
  const start = module.setup ?? module.default;
  if (typeof start !== "function" && typeof module.teardown !== "function") throw new Error("it exports no function: setup, teardown or a default one");
  const end = await start?.(Object.assign(context, { ...config }));
  globalThis.tearDown = async () => {
    await module.teardown?.();
    if (typeof end === "function") await end();
  };
  return JSON.stringify(provided);
}

// expand writes a pattern of micromatch with what minido's globs have: "?(c|m)"
// and "[jt]" become alternatives.
function expand(pattern) {
  return [pattern.replace(/^\.\//, "").replace(/\?\(([^)]*)\)/g, (_, words) => "{" + words.split("|").join(",") + ",}")
    .replace(/@\(([^)]*)\)/g, (_, words) => "{" + words.split("|").join(",") + "}")
    .replace(/\[([^\]-]*)\]/g, (_, letters) => "{" + [...letters].join(",") + "}")];
}
