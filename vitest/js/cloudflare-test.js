// The module cloudflare:test, with the names and errors of Cloudflare's own.
import { env, exports, host, inObject } from "minido:suite";

export { fetchMock } from "minido:fetch-mock";

export { env };

export const SELF = new Proxy({}, {
  get(_, key) {
    const value = exports.default[key];
    return typeof value === "function" ? (...args) => exports.default[key](...args) : value;
  },
});

const isNamespace = (v) => typeof v?.idFromName === "function" && typeof v.newUniqueId === "function" && typeof v.get === "function";
const isStub = (v) => v != null && typeof v === "object" && typeof v.fetch === "function" && typeof v.id === "object";

function needStub(fn, stub) {
  if (!isStub(stub)) throw new TypeError(`Failed to execute '${fn}': parameter 1 is not of type 'DurableObjectStub'.`);
}

export async function runInDurableObject(stub, callback) {
  needStub("runInDurableObject", stub);
  if (typeof callback !== "function") throw new TypeError("Failed to execute 'runInDurableObject': parameter 2 is not of type 'function'.");
  const ours = await host("has-object", { id: String(stub.id) });
  if (!ours) throw new Error("Durable Object test helpers can only be used with stubs pointing to objects defined within the same worker.");
  return inObject(stub, callback);
}

export async function runDurableObjectAlarm(stub) {
  needStub("runDurableObjectAlarm", stub);
  return runInDurableObject(stub, async (instance, state) => {
    if (await state.storage.getAlarm() === null) return false;
    await state.storage.deleteAlarm();
    await instance.alarm?.();
    return true;
  });
}

export async function listDurableObjectIds(namespace) {
  if (!isNamespace(namespace)) throw new TypeError("Failed to execute 'listDurableObjectIds': parameter 1 is not of type 'DurableObjectNamespace'.");
  const binding = Object.keys(env).find((key) => env[key] === namespace);
  if (binding === undefined) throw new Error("Expected to find bound name for namespace");
  return (await host("ids", { binding })).map((id) => namespace.idFromString(id));
}

function sockets(options) {
  const mode = options?.webSockets ?? "hibernate";
  if (mode !== "hibernate" && mode !== "close") throw new TypeError('options.webSockets must be "hibernate" or "close".');
  return mode;
}

export async function evictDurableObject(stub, options) {
  needStub("evictDurableObject", stub);
  await host("act", { id: String(stub.id), verb: "evict", sockets: sockets(options), running: true });
}

export async function evictAllDurableObjects(options) {
  await host("act-all", { verb: "evict", sockets: sockets(options) });
}

export const abortAllDurableObjects = () => host("act-all", { verb: "abort" });

export async function reset() {
  for (const [name, id] of await host("alarms")) {
    await inObject(exports[name].get(exports[name].idFromString(id)), (_, state) => state.storage.deleteAlarm());
  }
  for (const name of await host("reset")) {
    const admin = adminSecretsStore(env[name]);
    for (const { metadata } of await admin.list()) await admin.delete(metadata.uuid);
  }
  for (const binding of Object.values(env)) await empty(binding);
}

const ownTables = "name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'";

// empty deletes what a KV namespace, an R2 bucket or a D1 database holds.
async function empty(binding) {
  const service = Object.prototype.toString.call(binding) === "[object Fetcher]"; // it seems to have every method
  const has = (...names) => typeof binding === "object" && binding !== null && !service && names.every((name) => typeof binding[name] === "function");
  if (has("getWithMetadata", "put", "list")) {
    for (let page = await binding.list(); ; page = await binding.list({ cursor: page.cursor })) {
      for (const { name } of page.keys) await binding.delete(name);
      if (page.list_complete) return;
    }
  }
  if (has("createMultipartUpload", "head", "list")) {
    for (let page = await binding.list(); ; page = await binding.list({ cursor: page.cursor })) {
      await binding.delete(page.objects.map((object) => object.key));
      if (!page.truncated) return;
    }
  }
  if (has("prepare", "batch", "exec")) {
    const { results } = await binding.prepare(`SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND ${ownTables} ORDER BY type DESC`).all();
    if (results.length > 0) await binding.batch([binding.prepare("PRAGMA defer_foreign_keys = ON"), ...results.map(({ type, name }) => binding.prepare(`DROP ${type} "${name.replaceAll('"', '""')}"`))]);
  }
}

// Events.

// createPagesEventContext makes the argument of a Pages Function.
export function createPagesEventContext(init) {
  const wrong = (field, type) => { throw new TypeError(`Incorrect type for the '${field}' field on 'EventContextInit': the provided value is not of type '${type}'.`); };
  const isObject = (v) => typeof v === "object" && v !== null;
  if (!isObject(init)) throw new TypeError("Failed to execute 'createPagesEventContext': parameter 1 is not of type 'EventContextInit'.");
  const { request, functionPath, next, params, data } = init;
  if (!(request instanceof Request)) wrong("request", "Request");
  if (functionPath !== undefined && typeof functionPath !== "string") wrong("functionPath", "string");
  if (next !== undefined && typeof next !== "function") wrong("next", "function");
  if (params !== undefined && !isObject(params)) wrong("params", "object");
  if (data !== undefined && !isObject(data)) wrong("data", "object");
  if (typeof env.ASSETS?.fetch !== "function") throw new TypeError("Cannot call `createPagesEventContext()` without defining `ASSETS` service binding");
  const ctx = createExecutionContext();
  return {
    [pending]: ctx[pending],
    request: next ? request.clone() : request, functionPath: functionPath ?? "", env, params: params ?? {}, data: data ?? {},
    waitUntil: ctx.waitUntil.bind(ctx), passThroughOnException: ctx.passThroughOnException.bind(ctx),
    async next(input, options) {
      if (next === undefined) throw new TypeError("Cannot call `EventContext#next()` without including `next` property in 2nd argument to `createPagesEventContext()`");
      if (input === undefined) return next(request);
      return next(new Request(typeof input === "string" ? new URL(input, request.url).toString() : input, options));
    },
  };
}

const flag = Symbol("construct");
const pending = Symbol("waitUntil");

function illegal(given) {
  if (given !== flag) throw new TypeError("Illegal constructor");
}

class ExecutionContext {
  [pending] = [];
  exports = exports;
  constructor(given) { illegal(given); }
  waitUntil(promise) {
    if (!(this instanceof ExecutionContext)) throw new TypeError("Illegal invocation");
    this[pending].push(promise);
  }
  passThroughOnException() {}
}

export const createExecutionContext = () => new ExecutionContext(flag);

// waitLimit is production's limit for waitUntil(), in milliseconds.
const waitLimit = 30_000;

export async function waitOnExecutionContext(ctx) {
  if (!Array.isArray(ctx?.[pending])) {
    throw new TypeError("Failed to execute 'getWaitUntil': parameter 1 is not of type 'ExecutionContext'.\nYou must call 'createExecutionContext()' or 'createPagesEventContext()' to get an 'ExecutionContext' instance.");
  }
  const errors = [];
  for (let list = ctx[pending].splice(0); list.length > 0; list = ctx[pending].splice(0)) {
    let timer;
    const late = new Promise((resolve) => { timer = setTimeout(resolve, waitLimit); });
    const settled = await Promise.race([Promise.allSettled(list), late]);
    clearTimeout(timer);
    if (settled === undefined) {
      console.warn(`${list.length} waitUntil promise(s) did not resolve within ${waitLimit / 1000}s and are abandoned.`);
      break;
    }
    for (const s of settled) if (s.status === "rejected") errors.push(s.reason);
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors);
}

// show gives an event its fields, which nobody changes.
function show(event, fields) {
  for (const key of Object.keys(fields)) Object.defineProperty(event, key, { get: () => fields[key], enumerable: true });
}

class ScheduledController {
  constructor(given, options) {
    illegal(given);
    const scheduledTime = Number(options?.scheduledTime ?? Date.now()), cron = String(options?.cron ?? "");
    show(this, { scheduledTime, cron });
  }
  noRetry() {
    if (!(this instanceof ScheduledController)) throw new TypeError("Illegal invocation");
  }
}

export function createScheduledController(options) {
  if (options !== undefined && typeof options !== "object") throw new TypeError("Failed to execute 'createScheduledController': parameter 1 is not of type 'ScheduledOptions'.");
  return new ScheduledController(flag, options);
}

const decided = Symbol("decision");

class QueueMessage {
  #batch;
  [decided] = "";
  constructor(given, batch, m) {
    illegal(given);
    this.#batch = batch;
    const time = typeof m.timestamp === "number" ? m.timestamp : m.timestamp instanceof Date ? m.timestamp.getTime() : undefined;
    if (time === undefined) throw new TypeError("Incorrect type for the 'timestamp' field on 'ServiceBindingQueueMessage': the provided value is not of type 'date'.");
    if (typeof m.attempts !== "number") throw new TypeError("Incorrect type for the 'attempts' field on 'ServiceBindingQueueMessage': the provided value is not of type 'number'.");
    if ("serializedBody" in m) throw new TypeError("Cannot use `serializedBody` with `createMessageBatch()`");
    const fields = { id: String(m.id), timestamp: new Date(time), body: structuredClone(m.body), attempts: m.attempts };
    show(this, fields);
  }
  #decide(what) {
    const all = this.#batch[decided];
    const before = all === what + "All" ? undefined : all || (this[decided] !== what && this[decided]);
    if (all === what + "All" && what === "retry") return;
    if (before) {
      console.warn(`Received a call to ${what}() on message ${this.id} after ${before}() was already called. Calling ${what}() on a message after calling ${before}() has no effect.`);
      return;
    }
    if (all !== "ackAll") this[decided] = what;
  }
  retry() { this.#decide("retry"); }
  ack() { this.#decide("ack"); }
}

class QueueController {
  [decided] = "";
  constructor(given, queue, messages) {
    illegal(given);
    const fields = { queue: String(queue), messages: messages.map((m) => new QueueMessage(flag, this, m)),
      metadata: { metrics: { backlogCount: 0, backlogBytes: 0, oldestMessageTimestamp: new Date(0) } } };
    show(this, fields);
  }
  #decide(what, other) {
    if (this[decided] === other) {
      console.warn(`Received a call to ${what}() after ${other}() was already called. Calling ${what}() after calling ${other}() has no effect.`);
      return;
    }
    this[decided] = what;
  }
  retryAll() { this.#decide("retryAll", "ackAll"); }
  ackAll() { this.#decide("ackAll", "retryAll"); }
}

export function createMessageBatch(queue, messages) {
  if (arguments.length === 0) throw new TypeError("Failed to execute 'createMessageBatch': parameter 1 is not of type 'string'.");
  if (!Array.isArray(messages)) throw new TypeError("Failed to execute 'createMessageBatch': parameter 2 is not of type 'Array'.");
  return new QueueController(flag, queue, messages);
}

export async function getQueueResult(batch, ctx) {
  if (!(batch instanceof QueueController)) throw new TypeError("Failed to execute 'getQueueResult': parameter 1 is not of type 'MessageBatch'.\nYou must call 'createMessageBatch()' to get a 'MessageBatch' instance.");
  if (!(ctx instanceof ExecutionContext)) throw new TypeError("Failed to execute 'getQueueResult': parameter 2 is not of type 'ExecutionContext'.\nYou must call 'createExecutionContext()' to get an 'ExecutionContext' instance.");
  await waitOnExecutionContext(ctx);
  const of = (what) => batch.messages.filter((m) => m[decided] === what);
  return {
    outcome: "ok", retryBatch: { retry: batch[decided] === "retryAll" }, ackAll: batch[decided] === "ackAll",
    retryMessages: of("retry").map((m) => ({ msgId: m.id })), explicitAcks: of("ack").map((m) => m.id),
  };
}

// Workflows.

// Recorder notes what a test does to all instances to come; each gets it when it is created.
class Recorder {
  #operations;
  constructor(operations) { this.#operations = operations; }
  async disableSleeps(steps) { this.#operations.push({ type: "disableSleeps", steps }); }
  async disableRetryDelays(steps) { this.#operations.push({ type: "disableRetryDelays", steps }); }
  async mockStepResult(step, stepResult) {
    // Each instance gets the stream's bytes anew.
    if (stepResult instanceof ReadableStream) this.#operations.push({ type: "mockStepResult", step, chunks: await Array.fromAsync(stepResult) });
    else this.#operations.push({ type: "mockStepResult", step, stepResult });
  }
  async mockStepError(step, error, times) { this.#operations.push({ type: "mockStepError", step, error: { name: error.name, message: error.message }, times }); }
  async forceStepTimeout(step, times) { this.#operations.push({ type: "forceStepTimeout", step, times }); }
  async mockEvent(event) { this.#operations.push({ type: "mockEvent", event }); }
  async forceEventTimeout(step) { this.#operations.push({ type: "forceEventTimeout", step }); }
}

// Disposable has dispose(), which may be called unbound and works once.
class Disposable {
  #disposed = false;
  constructor(end) {
    this.dispose = async () => {
      if (this.#disposed) return;
      this.#disposed = true;
      await end();
    };
  }
  async [Symbol.asyncDispose]() { await this.dispose(); }
}

class WorkflowInstanceIntrospector extends Disposable {
  #workflow;
  #id;
  constructor(workflow, id) {
    super(() => workflow.unsafeAbort(id, "Instance dispose"));
    this.#workflow = workflow;
    this.#id = id;
  }
  async modify(fn) {
    await fn(await this.#workflow.unsafeGetInstanceModifier(this.#id));
    return this;
  }
  async waitForStepResult(step) { return this.#workflow.unsafeWaitForStepResult(this.#id, step.name, step.index); }
  async waitForStatus(status) {
    if (status !== "queued") await this.#workflow.unsafeWaitForStatus(this.#id, status);
  }
  async getOutput() { return this.#workflow.unsafeGetOutputOrError(this.#id, true); }
  async getError() { return this.#workflow.unsafeGetOutputOrError(this.#id, false); }
}

class WorkflowIntrospector extends Disposable {
  #workflow;
  #session;
  #operations = [];
  #instances = new Map();
  constructor(workflow, session) {
    super(async () => {
      try {
        await this.get();
      } finally {
        await workflow.unsafeStopIntrospection(session);
        await Promise.all([...this.#instances.values()].map((instance) => instance.dispose()));
        this.#instances.clear();
      }
    });
    this.#workflow = workflow;
    this.#session = session;
  }
  async modifyAll(fn) {
    await fn(new Recorder(this.#operations));
    await this.#workflow.unsafeSetIntrospectionOperations(this.#session, this.#operations);
  }
  async get() {
    for (const id of await this.#workflow.unsafeGetIntrospectionInstances(this.#session)) {
      if (!this.#instances.has(id)) this.#instances.set(id, new WorkflowInstanceIntrospector(this.#workflow, id));
    }
    return [...this.#instances.values()];
  }
}

function needWorkflow(workflow, fn) {
  if (typeof workflow.unsafeStartIntrospection !== "function") {
    throw new Error(`[WorkflowIntrospector] \`${fn}()\` needs a Workflow binding from \`env\`, and can't introspect Workflows on \`ctx.exports\`. To introspect a Workflow declared in \`exports\`, add a binding to it, for example a test-only binding in your Vitest config: \`miniflare: { workflows: { MY_WORKFLOW: { name: "my-workflow", className: "MyWorkflow" } } }\`. Instances created through \`ctx.exports\` are introspected too.`);
  }
}

export async function introspectWorkflowInstance(workflow, id) {
  if (!workflow || !id) throw new Error("[WorkflowIntrospector] Workflow binding and instance id are required.");
  needWorkflow(workflow, "introspectWorkflowInstance");
  return new WorkflowInstanceIntrospector(workflow, id);
}

export async function introspectWorkflow(workflow) {
  if (!workflow) throw new Error("[WorkflowIntrospector] Workflow binding is required.");
  needWorkflow(workflow, "introspectWorkflow");
  return new WorkflowIntrospector(workflow, await workflow.unsafeStartIntrospection());
}

// adminAPI is the reference's name of a secret's administration.
const adminAPI = "SecretsStoreSecret::admin_api";

export function adminSecretsStore(binding) {
  if (typeof binding !== "object" || binding === null || typeof binding[adminAPI] !== "function") {
    throw new TypeError("Failed to execute 'adminSecretsStore': parameter 1 is not a secrets store binding.");
  }
  let disposed = false;
  return new Proxy(binding[adminAPI](), {
    get(api, key) {
      if (key === Symbol.dispose) return () => { disposed = true; };
      if (disposed && typeof api[key] === "function") throw new Error("RPC promise used after being disposed.");
      return api[key];
    },
  });
}

export async function applyD1Migrations(db, migrations, table = "d1_migrations") {
  if (typeof db?.prepare !== "function" || typeof db.batch !== "function") throw new TypeError("Failed to execute 'applyD1Migrations': parameter 1 is not of type 'D1Database'.");
  if (!Array.isArray(migrations) || !migrations.every((m) => typeof m?.name === "string" && Array.isArray(m.queries))) throw new TypeError("Failed to execute 'applyD1Migrations': parameter 2 is not of type 'D1Migration[]'.");
  if (typeof table !== "string") throw new TypeError("Failed to execute 'applyD1Migrations': parameter 3 is not of type 'string'.");
  const name = `"${table.replaceAll('"', '""')}"`;
  await db.prepare(`CREATE TABLE IF NOT EXISTS ${name} (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL);`).run();
  const applied = new Set((await db.prepare(`SELECT name FROM ${name};`).all()).results.map((row) => row.name));
  for (const m of migrations.filter((m) => !applied.has(m.name))) {
    await db.batch([...m.queries.map((q) => db.prepare(q)), db.prepare(`INSERT INTO ${name} (name) VALUES (?);`).bind(m.name)]);
  }
}
