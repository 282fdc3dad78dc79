// A pool for vitest 4: test files run in "minido test", and vitest is told what their tests come to.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";

const { binary } = createRequire(import.meta.url)("./binary.cjs");

/** Makes the pool, for `test.pool`. minido test reads the options from the same configuration. */
export function minido(options = {}) {
  return { name: "minido", cloudflare: options, createPoolWorker: (given) => new Worker(given) };
}

export default minido;

class Worker {
  name = "minido";
  #project;
  #listeners = { message: new Set(), error: new Set(), exit: new Set() };
  #asked = new Map(); // calls of vitest that have no answer yet, by number
  #calls = 0;
  #child;

  constructor({ project }) {
    this.#project = project;
  }

  on(event, callback) { this.#listeners[event]?.add(callback); }
  off(event, callback) { this.#listeners[event]?.delete(callback); }
  deserialize(data) { return data; }
  async start() {}
  async stop() { this.#child?.kill(); }
  canReuse() { return true; }

  #emit(event, value) { for (const callback of [...this.#listeners[event]]) callback(value); }
  #respond(type, error) { this.#emit("message", { __vitest_worker_response__: true, type, error }); }

  // tell calls a method of vitest (birpc's protocol).
  #tell(m, ...a) {
    const i = `minido-${++this.#calls}`;
    return new Promise((resolve, reject) => {
      this.#asked.set(i, { resolve, reject });
      this.#emit("message", { t: "q", i, m, a });
    });
  }

  send(message) {
    if (message.t === "s") {
      const asked = this.#asked.get(message.i);
      this.#asked.delete(message.i);
      if (message.e === undefined) asked?.resolve(message.r);
      else asked?.reject(message.e);
      return;
    }
    switch (message.type) {
      // What is asked for is answered after this call has returned.
      case "start": queueMicrotask(() => this.#respond("started")); break;
      case "stop":
        this.#child?.kill();
        queueMicrotask(() => this.#respond("stopped"));
        break;
      case "cancel": this.#child?.kill(); break;
      case "run":
      case "collect":
        this.#run(message.context, message.type === "collect").then(() => this.#respond("testfileFinished"), (error) => this.#respond("testfileFinished", error));
    }
  }

  async #run(context, collect) {
    for (const { filepath } of context.files) {
      if (!collect) await this.#tell("onQueued", this.#file(filepath));
      const file = this.#file(filepath); // vitest takes over another object than the one that it has
      const { ran, output, coverage } = await this.#test(filepath, collect);
      build(file, ran, collect);
      for (const path of ran.Imports ?? []) if (path !== filepath) await this.#tell("ensureModuleGraphEntry", path, filepath); // what vitest watches
      if (ran.Fatal) file.result = { state: "fail", errors: [thrown(ran.Fatal, output)] };
      await this.#tell("onCollected", [file]);
      if (collect) continue;
      if (output.trim() !== "") await this.#tell("onUserConsoleLog", { content: output, type: "stdout", time: Date.now(), size: 1, taskId: file.id });
      for (const error of ran.Unhandled ?? []) {
        const where = { VITEST_TEST_PATH: filepath, VITEST_TEST_NAME: error.Test || undefined };
        await this.#tell("onUnhandledError", { ...told(error), ...where }, "Unhandled Rejection");
      }
      const { packs, events } = updates(file);
      await this.#tell("onTaskUpdate", packs, events);
      if (coverage) {
        const environment = "ssr"; // where vite's plugins would have transformed it
        await this.#tell("onAfterSuiteRun", { coverage: measured(this.#project.vitest.coverageProvider, coverage), testFiles: [file.name], environment, projectName: this.#project.name });
      }
      const s = ran.Snapshot ?? {};
      await this.#tell("snapshotSaved", {
        filepath, added: s.Added ?? 0, matched: s.Matched ?? 0, unmatched: s.Unmatched ?? 0, updated: s.Updated ?? 0,
        unchecked: s.Unchecked ?? 0, uncheckedKeys: [], fileDeleted: s.FileDeleted ?? false,
      });
    }
  }

  #file(filepath) {
    const { root } = this.#project.config, projectName = this.#project.name;
    const name = relative(root, filepath).split(sep).join("/");
    const { taskId } = this.#project.vitest.getModuleSpecifications(filepath).find((specification) => specification.project === this.#project);
    const file = { id: taskId, name, fullName: name, type: "suite", mode: "queued", filepath, tasks: [], meta: Object.create(null), projectName, pool: "minido" };
    file.file = file;
    return file;
  }

  // test runs minido test with one file.
  async #test(filepath, collect) {
    const config = this.#project.serializedConfig;
    const { root } = this.#project.config;
    const directory = await mkdtemp(join(tmpdir(), "minido-vitest-"));
    try {
      const report = join(directory, "tasks.json");
      const line = ["test", relative(root, filepath).split(sep).join("/"), "--dir", root, "--reporter", "tasks=" + report];
      const configFile = this.#project.vite?.config?.configFile;
      if (configFile) line.push("--config", configFile);
      const pattern = collect ? "$^" : config.testNamePattern?.source ?? config.testNamePattern;
      if (pattern) line.push("-t", String(pattern));
      const measures = !collect && this.#project.vitest.coverageProvider != null;
      const reports = join(directory, "coverage");
      if (measures) line.push("--coverage", "--coverage.reporter", "json", "--coverage.reportsDirectory", reports, "--coverage.reportOnFailure");
      if (config.bail) line.push("--bail", String(config.bail));
      const update = config.snapshotOptions?.updateSnapshot;
      if (update === "all") line.push("-u");
      const env = { ...process.env, NO_COLOR: "1", ...(update === "none" ? { CI: "1" } : {}) };
      const child = (this.#child = spawn(binary(), line, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] }));
      let output = "", errors = "";
      child.stdout.setEncoding("utf8").on("data", (text) => { output += text; });
      child.stderr.setEncoding("utf8").on("data", (text) => { errors += text; });
      await new Promise((resolve, reject) => {
        child.on("error", reject);
        child.on("close", resolve);
      });
      const text = await written(report); // undefined: it never came so far
      const coverage = measures ? await written(join(reports, "coverage-final.json")) : undefined;
      const ran = text === undefined ? undefined : JSON.parse(text).Files.find((f) => f.Abs === filepath);
      return ran ? { ran, output, coverage: coverage && JSON.parse(coverage) } : { ran: { Fatal: errors.trim() || output.trim() || "minido test was ended" }, output: "" };
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

async function written(file) {
  return readFile(file, "utf8").catch((error) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

const adapted = new WeakSet();

// measured makes of istanbul's numbers what a provider of coverage takes. That of V8 takes its
// own form; it gets istanbul's beside an empty one, and adds them to what it has converted.
function measured(provider, coverage) {
  if (provider.name === "istanbul") return coverage;
  if (provider.name !== "v8" || typeof provider.convertCoverage !== "function" || typeof provider.readCoverageFiles !== "function") {
    throw new Error(`minido/vitest measures coverage for the providers istanbul and v8 of vitest 4, not for ${provider.name}: set coverage.provider`);
  }
  if (!adapted.has(provider)) {
    adapted.add(provider);
    const read = provider.readCoverageFiles.bind(provider), convert = provider.convertCoverage.bind(provider);
    let parts = []; // of the project that is read
    provider.readCoverageFiles = (options) => read({ ...options, onFileRead(file) {
      if (file.minido) parts.push(file.minido);
      options.onFileRead(file);
    } });
    provider.convertCoverage = async (...given) => {
      const map = await convert(...given);
      for (const part of parts) map.merge(part);
      parts = [];
      return map;
    };
  }
  return { result: [], minido: coverage };
}

// build makes vitest's tasks of those of the report.
function build(file, { Root, Time }, collect) {
  file.mode = "run";
  file.collectDuration = file.setupDuration = file.prepareDuration = file.environmentLoad = 0;
  const fill = (suite, given) => {
    for (const t of given.Tasks ?? []) {
      const task = { id: `${suite.id}_${suite.tasks.length}`, name: t.Name, type: t.Type, meta: Object.create(null), suite: suite === file ? undefined : suite, file,
        mode: t.Mode === "skip" || t.Mode === "todo" ? (collect && t.Mode === "skip" ? "run" : t.Mode) : "run", location: t.Line ? { line: t.Line, column: 1 } : undefined };
      task.fullName = `${suite.fullName} > ${t.Name}`;
      task.fullTestName = suite === file ? t.Name : `${suite.fullTestName} > ${t.Name}`;
      if (t.Type === "suite") task.tasks = [];
      else Object.assign(task, { context: {}, timeout: 0, annotations: [], artifacts: [] });
      if (!collect) task.result = result(t);
      suite.tasks.push(task);
      fill(task, t);
    }
  };
  if (Root === null || Root === undefined) return;
  fill(file, Root);
  if (!collect) file.result = result(Root, Time);
}

function result(t, ns) {
  if (t.State === "" || t.State === "todo" || t.State === "skip") return t.Mode === "todo" ? undefined : { state: "skip" };
  const duration = ns === undefined ? t.Duration : ns / 1e6; // a file's is the machine's time
  return { state: t.State, startTime: Date.now() - duration, duration, retryCount: t.Retries, note: t.Note, errors: t.Errors?.length ? t.Errors.map(told) : undefined };
}

// Diffs come in colours; whether vitest has colours, tinyrainbow has decided so.
const { env, argv, platform, stdout } = process;
const colours = !("NO_COLOR" in env || argv.includes("--no-color")) &&
  ("FORCE_COLOR" in env || argv.includes("--color") || platform === "win32" || (stdout?.isTTY && env.TERM !== "dumb") || "CI" in env);
const painted = (text) => (colours ? text : text.replace(/\x1b\[\d+m/g, ""));

const told = (e) => ({ name: e.Name, message: e.Message, stack: e.Stack, diff: e.Diff ? painted(e.Diff) : undefined, cause: e.Cause ? { message: e.Cause } : undefined });

function thrown(text, output) {
  return { name: "Error", message: text + (output.trim() === "" ? "" : "\n" + output.trim()), stack: "" };
}

// updates are the results, and the events that a run would have had.
function updates(file) {
  const packs = [], events = [];
  const visit = (task) => {
    const kind = task.type === "test" ? "test" : "suite";
    packs.push([task.id, task.result, task.meta]);
    const run = task.result !== undefined && task.result.state !== "skip";
    if (kind === "test" && !run) return;
    events.push([task.id, `${kind}-prepare`, undefined]);
    for (const inner of task.tasks ?? []) visit(inner);
    events.push([task.id, `${kind}-finished`, undefined]);
  };
  visit(file);
  return { packs, events };
}
