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
export const cloudflarePool = (options) => ({ name: "cloudflare-pool", cloudflare: options });

export function readD1Migrations() { throw new Error("readD1Migrations is not available: minido test evaluates the configuration without Node.js"); }
export const buildPagesASSETSBinding = readD1Migrations;

function normalize(path) {
  const out = [];
  for (const part of path.split("/")) {
    if (part === "..") out.pop();
    else if (part !== "" && part !== ".") out.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + out.join("/");
}
export const join = (...parts) => normalize(parts.join("/"));
export const resolve = (...parts) => parts.reduce((at, part) => part.startsWith("/") ? normalize(part) : normalize(at + "/" + part), __config.dir);
export const dirname = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
export const basename = (path) => path.slice(path.lastIndexOf("/") + 1);
export const fileURLToPath = (url) => decodeURIComponent(String(url).replace(/^file:\/\//, ""));
export const env = {}, cwd = () => __config.dir;
export default { join, resolve, dirname, basename, normalize, env, cwd, fileURLToPath };

globalThis.process = { env, cwd };
globalThis.URL = class {
  constructor(path, base) { this.href = String(path).startsWith("file:") ? String(path) : "file://" + resolve(dirname(fileURLToPath(base)), String(path)); }
  get pathname() { return this.href.slice(7); }
  toString() { return this.href; }
};

const known = new Set(["include", "exclude", "setupFiles", "globals", "testTimeout", "hookTimeout", "retry", "alias", "env", "root", "name", "pool", "poolOptions", "environment",
  "reporters", "coverage", "passWithNoTests", "isolate", "fileParallelism", "maxWorkers", "minWorkers", "watch", "deps", "server", "typecheck", "sequence", "bail", "clearMocks", "mockReset", "restoreMocks",
  "unstubEnvs", "unstubGlobals", "fakeTimers", "allowOnly", "dangerouslyIgnoreUnhandledErrors", "maxConcurrency", "chaiConfig", "expect", "provide", "snapshotFormat", "slowTestThreshold", "silent", "includeTaskLocation", "css", "logHeapUsage", "teardownTimeout", "outputFile", "open", "ui", "api", "experimental", "onConsoleLog", "printConsoleTrace"]);
const passed = ["sequence", "clearMocks", "mockReset", "restoreMocks", "unstubEnvs", "unstubGlobals", "fakeTimers", "allowOnly", "maxConcurrency", "chaiConfig", "expect", "provide"];
const pool = new Set(["wrangler", "main", "miniflare", "isolatedStorage", "singleWorker", "experimental_remoteBindings", "remoteBindings", "additionalExports"]);
const list = (v) => v === undefined ? [] : [].concat(v);

// settle gives the part of a configuration that minido uses, as JSON.
export async function settle(given) {
  let config = await given;
  if (typeof config === "function") config = await config({ mode: "test", command: "serve", isSsrBuild: false, isPreview: false });
  if (config === undefined) throw new Error("it has no default export");
  const test = config.test ?? {}, refused = [];
  for (const key of Object.keys(test)) if (!known.has(key)) refused.push("test." + key);
  const plugins = [config.plugins].flat(Infinity).filter(Boolean);
  let options = plugins.map((p) => p.cloudflare).find((o) => o !== undefined) ?? test.pool?.cloudflare ?? test.poolOptions?.workers ?? {};
  options = await options;
  if (typeof options === "function") options = await options({ inject: (key) => test.provide?.[key] });
  for (const key of Object.keys(options)) if (!pool.has(key)) refused.push("the pool's option " + key);
  const { bindings, compatibilityDate, compatibilityFlags, ...rest } = options.miniflare ?? {};
  for (const key of Object.keys(rest)) refused.push("the pool's option miniflare." + key + " (put it into the wrangler file)");
  for (const p of plugins) if (!("cloudflare" in p)) refused.push("the plugin " + (p.name ?? "without a name"));
  const alias = {};
  for (const a of [config.resolve?.alias, test.alias]) {
    if (Array.isArray(a)) {
      for (const { find, replacement } of a) typeof find === "string" ? alias[find] = replacement : refused.push("an alias by regular expression");
    } else Object.assign(alias, a);
  }
  const define = {};
  for (const [key, value] of Object.entries(config.define ?? {})) define[key] = typeof value === "string" ? value : JSON.stringify(value);
  const vitest = {};
  for (const key of passed) if (test[key] !== undefined) vitest[key] = test[key];
  return JSON.stringify({
    root: test.root ?? config.root, include: list(test.include).flatMap(expand), exclude: list(test.exclude).flatMap(expand), setupFiles: list(test.setupFiles), globals: test.globals === true,
    testTimeout: test.testTimeout, hookTimeout: test.hookTimeout, retry: typeof test.retry === "number" ? test.retry : 0, alias, define, env: test.env, vitest,
    wrangler: options.wrangler?.configPath, environment: options.wrangler?.environment, main: options.main, bindings, date: compatibilityDate, flags: compatibilityFlags, refused,
  });
}

// expand writes a pattern of micromatch with what minido's globs have: "?(c|m)"
// and "[jt]" become alternatives.
function expand(pattern) {
  return [pattern.replace(/^\.\//, "").replace(/\?\(([^)]*)\)/g, (_, words) => "{" + words.split("|").join(",") + ",}")
    .replace(/@\(([^)]*)\)/g, (_, words) => "{" + words.split("|").join(",") + "}")
    .replace(/\[([^\]-]*)\]/g, (_, letters) => "{" + [...letters].join(",") + "}")];
}
