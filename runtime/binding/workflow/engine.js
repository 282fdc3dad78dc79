// The engine of one Workflow instance: a Durable Object of the platform's own,
// which calls run() of the worker's class and is the step that it gets. What a
// step came to is a row before its caller hears of it; a run that died is begun
// again, and steps that are decided answer from their rows. The run goes on
// within the alarm, which comes again after a death; while only sleeps and events
// are waited for the alarm is set to the first of them.
function (native, p) {
  "use strict";
  const { DateNow, DatePrototypeGetTime, JSONParse, JSONStringify, MathMin, MathMax, ObjectKeys, PromiseResolve, RegExpPrototypeExec } = p;
  const { setTimeout, clearTimeout } = native; // they refuse a receiver
  const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
  const units = { __proto__: null, ms: 1, millisecond: 1, second, minute, hour, day, week: 7 * day, month: 30 * day, year: 365 * day };
  const defaults = { retries: { limit: 5, delay: 1000, backoff: "exponential" }, timeout: "10 minutes" };
  const maxNameLength = 256, maxResultBytes = 1 << 20;
  // A stream as the result of a step: how large its rows are, and a chunk of it may be.
  const rowBytes = 256 << 10, maxChunkBytes = 16 << 20, previewCharacters = 1024;
  // How long code between two steps is waited for within one alarm, and when the
  // alarm then looks after it.
  const graceMs = 1000, heartbeatMs = minute;
  // How long a question for the status waits for a run that is about to go on: in the
  // reference it waits, too, while the engine stores what a step came to.
  const questionMs = 50;
  const finished = { __proto__: null, complete: true, errored: true, terminated: true };

  const named = (name, message) => {
    const e = new p.Error(message);
    e.name = name;
    return e;
  };
  // bytesAsText replaces what JSON has nothing for.
  const bytesAsText = (key, value) => {
    if (typeof value === "bigint") return `[BigInt(${value})]`;
    if (value instanceof p.Error) return { ...value, stack: undefined }; // one that was stored has it as a member
    if (value instanceof p.ArrayBuffer) return `[ArrayBuffer(${value.byteLength} bytes)]`;
    return p.ArrayBufferIsView(value) && !(value instanceof p.DataView) ? `[${value.constructor.name}(${value.byteLength} bytes)]` : value;
  };
  // outputOf is what is kept of what run() returns: it can be serialized, and is JSON.
  const outputOf = (value) => {
    native.serialize(value);
    const text = JSONStringify(value, bytesAsText);
    return native.serialize(text === undefined ? undefined : JSONParse(text));
  };
  const timedOut = (ms) => named("WorkflowTimeoutError", `Execution timed out after ${ms}ms`);
  const durationOf = (given) => {
    if (typeof given === "number") return given;
    const m = RegExpPrototypeExec(/^\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*$/i, `${given}`);
    const unit = m === null ? undefined : units[m[2] === "m" ? "ms" : m[2].toLowerCase()];
    if (unit === undefined) throw new p.TypeError(`Invalid duration: ${given}`);
    return +m[1] * unit;
  };
  const nonRetryable = (e) => e?.name === "NonRetryableError" || (typeof e?.message === "string" && e.message.startsWith("NonRetryableError"));
  // What an instance fails with that lets it go through (workflows-shared: engine.ts), before
  // the flag workflows_preserve_non_retryable_error_message.
  const fatal = { __proto__: null, name: "WorkflowFatalError", message: "The execution of the Workflow instance was terminated, as a step threw an NonRetryableError and it was not handled" };
  // And by that flag.
  const preserved = ({ name, message }) => {
    const prefix = name === "NonRetryableError" ? null : RegExpPrototypeExec(/^NonRetryableError:?\s*/, message);
    return { name: "NonRetryableError", message: prefix === null ? message : p.StringPrototypeSlice(message, prefix[0].length) };
  };
  // A step's callback and run() are calls over RPC in the reference, which keeps the names
  // of these classes; any other becomes a part of the message (workerd: jsg/util.c++).
  const kept = { __proto__: null, Error: true, RangeError: true, TypeError: true, SyntaxError: true, ReferenceError: true };
  const plain = (e) => {
    if (e === null || typeof e !== "object" || !("message" in e)) return { name: "Error", message: `${e}` };
    return kept[e.name] ? { name: `${e.name}`, message: `${e.message}` } : { name: "Error", message: `${e.name}: ${e.message}` };
  };
  // ordered is an error with its members in the reference's order, which JSON shows.
  const ordered = ({ name, message }) => name === "WorkflowFatalError" || name === "NonRetryableError" ? { name, message } : { message, name };
  const validConfig = (c) => {
    if (c === null || typeof c !== "object") return false;
    const keys = ObjectKeys(c);
    for (let i = 0; i < keys.length; i++) if (keys[i] !== "retries" && keys[i] !== "timeout" && keys[i] !== "sensitive") return false;
    const duration = (v) => (typeof v === "number" && v >= 0) || typeof v === "string";
    if (c.timeout !== undefined && !duration(c.timeout)) return false;
    const r = c.retries;
    return r === undefined || (r !== null && typeof r === "object" && (duration(r.delay) || typeof r.delay === "function") && typeof r.limit === "number" && r.limit >= 0 &&
      (r.backoff === undefined || r.backoff === "constant" || r.backoff === "linear" || r.backoff === "exponential"));
  };
  // undoOf reads the rollback of a step (workflows-shared: lib/rollback.ts).
  const undoOf = (name, given) => {
    if (given === undefined) return undefined;
    if (typeof given !== "object" || given === null || p.ArrayIsArray(given)) throw named("WorkflowFatalError", `Rollback options for "${name}" must be an object`);
    if (typeof given.rollback !== "function") throw named("WorkflowFatalError", `Rollback for "${name}" must be a function`);
    if (given.rollbackConfig !== undefined && !validConfig(given.rollbackConfig)) {
      throw named("WorkflowFatalError", `Rollback config for "${name}" is in a invalid format. See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/`);
    }
    const config = given.rollbackConfig ?? {};
    return { rollback: given.rollback, config: { ...defaults, ...config, retries: { ...defaults.retries, ...config.retries } } };
  };
  const terminated = "Terminated"; // the name of the error with which an instance is terminated
  const undoing = "rollback:"; // before the key of a step, for the step that takes it back
  const delayTimeoutMs = 5000;
  // retryDelay is how long a step waits before its next attempt. The delay may be a
  // function of what has failed; what is wrong with it fails the step.
  const retryDelay = async (config, attempt, input, timely) => {
    const fails = (what) => named("NonRetryableDelayError", `The delay function for step "${input.name}" ${what}`);
    let given = config.retries.delay;
    if (typeof given === "function") {
      try {
        given = await timely(given({ ctx: input.ctx, error: input.error }), delayTimeoutMs);
      } catch (e) {
        throw fails(e?.name === "WorkflowTimeoutError" ? "did not return within 5 seconds" : `threw an error: ${e?.message ?? e}`);
      }
    }
    let delay;
    try { delay = durationOf(given); } catch { /* told below */ }
    if (!(delay >= 0)) throw fails('returned an invalid delay value (expected a number of ms or a duration string like "30 seconds")');
    switch (config.retries.backoff) {
      case "exponential": return delay * 2 ** (attempt - 1);
      case "linear": return delay * attempt;
      default: return delay;
    }
  };

  // bytesOf is a chunk of a stream as bytes; what is none ends the instance.
  const badStream = (name, message) => p.ObjectAssign(named(name, message), { ofStream: true });
  const bytesOf = (chunk) => {
    let bytes;
    if (p.ArrayBufferIsView(chunk) && !(chunk instanceof p.DataView)) bytes = new p.Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    else if (chunk instanceof p.ArrayBuffer) bytes = new p.Uint8Array(chunk);
    else throw badStream("UnsupportedStreamChunkError", "Step returned a ReadableStream with unsupported chunk type. Only ArrayBuffer and TypedArray chunks are supported.");
    if (bytes.byteLength > maxChunkBytes) throw badStream("OversizedStreamChunkError", `Step returned a ReadableStream chunk larger than the maximum allowed size of ${maxChunkBytes} bytes. Return smaller chunks from step.do().`);
    return bytes;
  };

  return (DurableObject, RpcTarget, Response, ReadableStream, entrypoint, workflowName, stepLimit) => {
    const isStream = (value) => value instanceof ReadableStream;
    const streamOf = (chunks) => new ReadableStream({
      start(controller) {
        for (let i = 0; i < chunks.length; i++) controller.enqueue(chunks[i]);
        controller.close();
      },
    });
    // Its methods await what they return: before unhandled_rejection_after_microtask_checkpoint
    // a promise that is rejected and handled a job later counts as unhandled.
    class WorkflowStep extends RpcTarget {
      #engine;
      #run;
      #counts = { __proto__: null };
      #steps = 0;
      constructor(engine, run) {
        super();
        this.#engine = engine;
        this.#run = run;
      }
      #key(kind, name) {
        const counter = `${kind}:${name}`;
        const n = (this.#counts[counter] = (this.#counts[counter] ?? 0) + 1);
        return `${counter}-${n}`;
      }
      async do(name, ...rest) {
        const callback = typeof rest[0] === "function" ? rest[0] : rest[1];
        const config = typeof rest[0] === "function" ? {} : rest[0] ?? {};
        if (typeof callback !== "function") throw named("WorkflowFatalError", `Step "${name}" requires a callback function`);
        const undo = undoOf(name, rest[0] === callback ? rest[1] : rest[2]);
        if (++this.#steps > stepLimit) {
          throw named("WorkflowFatalError", `The limit of ${stepLimit} steps has been reached. This limit can be changed in your worker configuration.`);
        }
        if (typeof name !== "string" || name.length > maxNameLength || RegExpPrototypeExec(/[\x00-\x1f]/, name) !== null) {
          throw named("WorkflowFatalError", `Step name "${name}" exceeds max length (${maxNameLength} chars) or invalid characters found`);
        }
        if (!validConfig(config)) {
          throw named("WorkflowFatalError", `Step config for "${name}" is in a invalid format. See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/`);
        }
        const full = { ...defaults, ...config, retries: { ...defaults.retries, ...config.retries } };
        const key = this.#key("do", name);
        if (undo !== undefined) this.#engine.undoable(this.#run, key, name, { ...undo, stepConfig: full });
        return await this.#engine.perform(this.#run, key, name, full, callback);
      }
      async sleep(name, duration) {
        return await this.#engine.sleep(this.#run, this.#key("sleep", name), DateNow() + durationOf(duration));
      }
      async sleepUntil(name, at) {
        const wake = typeof at === "number" ? at : DatePrototypeGetTime(at);
        const key = this.#key("sleep", name);
        if (wake < DateNow() && !this.#engine.known(key)) throw new p.Error("You can't sleep until a time in the past, time-traveler");
        return await this.#engine.sleep(this.#run, key, wake);
      }
      async waitForEvent(name, options) {
        return await this.#engine.event(this.#run, this.#key("event", name), `${options.type}`, durationOf(options.timeout || "24 hours"));
      }
    }

    return class WorkflowEngine extends DurableObject {
      #sql;
      #storage;
      #run = 0; // of the present run; 0 is none. Steps of earlier ones are refused
      #runs = 0;
      #active = 0; // attempts of steps whose callback runs
      #since = 0; // when the run's code was last answered: it may be about to come back
      #woken = false; // something has happened that the run has yet to see,
      #wokenAt = 0; // at this time
      #waiters = { __proto__: null }; // by key: those who wait for time or an event
      #poke = undefined;
      #mocked = false; // whether a test has said what its steps come to
      #undo = { __proto__: null }; // by key: how the steps of the present run are taken back
      #watchers = []; // those who wait for a status or for what a step comes to

      constructor(ctx, env) {
        super(ctx, env);
        this.#storage = ctx.storage;
        this.#sql = ctx.storage.sql;
        this.#tables();
        this.#mocked = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'mocks'").toArray().length > 0;
      }
      #tables() {
        this.#sql.exec(`CREATE TABLE IF NOT EXISTS instance (
          one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, created INTEGER NOT NULL, params BLOB NOT NULL,
          status TEXT NOT NULL, paused INTEGER, output BLOB, error TEXT
        );
        CREATE TABLE IF NOT EXISTS steps (
          key TEXT PRIMARY KEY, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, wake INTEGER, event TEXT, value BLOB, error TEXT,
          started INTEGER NOT NULL, ended INTEGER
        );
        CREATE TABLE IF NOT EXISTS attempts (
          key TEXT NOT NULL, n INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER, error TEXT, config TEXT, PRIMARY KEY (key, n)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS undoable (key TEXT PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS failing (one INTEGER PRIMARY KEY CHECK (one = 1), error TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, timestamp INTEGER NOT NULL, payload BLOB NOT NULL)`);
      }

      #instance() { return this.#sql.exec("SELECT * FROM instance").toArray()[0]; }
      #existing() {
        const row = this.#instance();
        if (row === undefined) throw named("WorkflowError", "(instance.not_found) Instance does not exist");
        return row;
      }
      #step(key) { return this.#sql.exec("SELECT * FROM steps WHERE key = ?", key).toArray()[0]; }
      known(key) { return this.#step(key) !== undefined; }

      // What the binding calls.
      exists() { return this.#instance() !== undefined; }
      async create(id, params) {
        if (this.exists()) return false;
        this.#sql.exec("INSERT INTO instance (one, id, created, params, status) VALUES (1, ?, ?, ?, 'queued')", id, DateNow(), native.serialize(params));
        await this.#awake();
        return true;
      }
      async status() {
        this.#existing();
        if (!this.#rests()) await this.#rest();
        const row = this.#existing();
        const outputs = p.ArrayPrototypeMap(this.#sql.exec("SELECT * FROM steps WHERE state = 'done' AND key NOT LIKE 'sleep:%' ORDER BY ended, rowid").toArray(), (step) => this.#shown(step));
        return {
          status: row.status, __LOCAL_DEV_STEP_OUTPUTS: outputs,
          output: row.output === null ? null : native.deserialize(row.output) ?? null, error: row.error === null ? undefined : ordered(JSONParse(row.error)),
        };
      }
      // rests reports whether a question for the status has nothing to wait for: the run has
      // ended, its code waits for time or events, or has long been busy.
      #rests() {
        const { status } = this.#existing();
        if (finished[status] || status === "paused") return true;
        if (DateNow() >= MathMax(this.#since, this.#wokenAt) + questionMs) return true;
        return !this.#woken && this.#active === 0 && ObjectKeys(this.#waiters).length > 0;
      }
      // rest waits for that, or for one more step: a run of many is seen on its way.
      async #rest() {
        const steps = () => this.#sql.exec("SELECT count(*) AS n FROM steps WHERE key LIKE 'do:%'").toArray()[0].n;
        const most = steps() + 2;
        let resolve;
        const rested = new p.Promise((r) => { resolve = r; });
        const look = () => (this.#instance() === undefined || this.#rests() || steps() >= most ? { value: resolve } : undefined);
        p.PromisePrototypeThen(this.#watch(look), undefined, resolve);
        const timer = setTimeout(resolve, questionMs);
        await rested;
        clearTimeout(timer);
      }
      // An event for an instance that has ended is of no consequence, and no error.
      async sendEvent(event) {
        if (finished[this.#existing().status]) return;
        this.#sql.exec("INSERT INTO events (type, timestamp, payload) VALUES (?, ?, ?)", `${event.type}`, DateNow(), native.serialize(event.payload));
        await this.#awake();
      }
      async pause() {
        const row = this.#existing();
        if (finished[row.status] || row.status === "paused" || row.status === "waitingForPause") return;
        this.#set("waitingForPause");
        await this.#awake();
      }
      async resume() {
        const row = this.#existing();
        if (row.status === "waitingForPause") this.#set("running");
        if (row.status !== "paused") return;
        const asleep = DateNow() - row.paused; // pauses are no part of sleeps and timeouts
        this.#sql.exec("UPDATE steps SET wake = wake + ? WHERE wake IS NOT NULL", asleep);
        this.#set("queued", ", paused = NULL");
        await this.#awake();
      }
      // terminate ends an instance, with a rollback once what has begun is taken back: the
      // run comes again, up to the first step that is not decided, which names the undoing.
      async terminate(rollback = false) {
        if (finished[this.#existing().status]) {
          throw named("WorkflowError", "(instance.cannot_terminate) Cannot terminate instance since its on a finite state");
        }
        if (rollback && this.#undoableSteps().length > 0) {
          if (this.#failing() === undefined) {
            this.#fails({ name: terminated, message: "Instance terminated during rollback" });
            this.#abort("Aborting engine: User called terminate");
            this.#set("queued", ", paused = NULL");
            await this.#awake();
          }
          return this.#watch(() => (finished[this.#instance()?.status ?? "terminated"] ? { value() {} } : undefined));
        }
        this.#set("terminated");
        this.#abort("Aborting engine: User called terminate");
        await this.#storage.deleteAlarm();
      }
      // restart begins again, or at a step: those that had begun before it are kept.
      async restart(from) {
        this.#existing();
        let first = 0;
        if (from) {
          const kind = { __proto__: null, do: "do", sleep: "sleep", waitForEvent: "event" }[from.type ?? "do"];
          const [step] = this.#sql.exec("SELECT rowid AS row FROM steps WHERE key = ?", `${kind}:${from.name}-${from.count ?? 1}`).toArray();
          if (step === undefined) throw named("WorkflowError", `(instance.cannot_restart) Step "${from.name}" not found in execution history`);
          first = step.row;
        }
        this.#abort("Aborting engine: User called restart");
        this.#sql.exec("DELETE FROM steps WHERE rowid >= ? OR key LIKE 'rollback:%'", first);
        this.#sql.exec("DELETE FROM undoable WHERE key NOT IN (SELECT key FROM steps)");
        this.#sql.exec("DELETE FROM failing");
        this.#sql.exec("DELETE FROM attempts WHERE key NOT IN (SELECT key FROM steps)");
        if (this.#hasStreams()) this.#sql.exec("DELETE FROM chunks WHERE key NOT LIKE 'mock:%' AND key NOT IN (SELECT key FROM steps)");
        this.#sql.exec("DELETE FROM events");
        this.#set("queued", ", paused = NULL, output = NULL, error = NULL");
        await this.#awake();
      }

      // remove ends an instance and forgets it.
      async remove() {
        this.#existing();
        await this.forget("Aborting engine: User called delete");
      }
      async forget(reason) {
        this.#abort(reason);
        const gone = [this.#storage.deleteAlarm(), this.#storage.deleteAll()];
        this.#mocked = false;
        this.#tables(); // at once: the alarm may go on before that is told
        await gone[0];
        await gone[1];
      }

      // fetch is for people, by the explorer: what an instance is, and what is done to it.
      async fetch(request) {
        const ask = await request.json();
        try {
          return Response.json((await this.#asked(ask)) ?? {});
        } catch (e) {
          const text = e.name === "Error" ? e.message : `${e.name}: ${e.message}`;
          return new Response(text, { status: e.message.startsWith("(instance.not_found)") ? 404 : e.message.startsWith("(instance.cannot_restart)") ? 409 : 500 });
        }
      }
      async #asked(ask) {
        switch (ask.op) {
          case "create":
            if (!(await this.create(ask.id, ask.params ?? {}))) throw named("WorkflowError", `(instance.already_exists) Workflow instance with id "${ask.id}" already exists`);
            return;
          case "details": return this.#details(this.#existing());
          case "event": return this.sendEvent({ type: ask.type, payload: ask.payload });
          case "delete": return this.remove();
          case "pause":
            await this.pause();
            if (this.#instance().status === "waitingForPause" && this.#active === 0) await this.waitForStatus("paused");
            break;
          case "resume": await this.resume(); break;
          case "terminate": await this.terminate(ask.rollback); break;
          case "restart": await this.restart(ask.from); break;
          default: throw new p.Error(`there is no operation ${ask.op}`);
        }
        await this.#watch(() => (this.#instance().status === "queued" ? undefined : { value() {} })); // it begins at once
        return { status: this.#instance().status };
      }
      #details(row) {
        const at = (ms) => (ms === null || ms === undefined ? null : new p.Date(ms));
        const [whole] = this.#sql.exec("SELECT * FROM attempts WHERE key = ''").toArray();
        const steps = [];
        for (const s of this.#sql.exec("SELECT * FROM steps WHERE key NOT LIKE 'rollback:%' ORDER BY rowid").toArray()) {
          const kind = s.key.slice(0, s.key.indexOf(":")), name = s.key.slice(kind.length + 1);
          const shown = { name, start: at(s.started), end: at(s.ended) };
          const error = s.error === null ? null : JSONParse(s.error);
          if (kind === "sleep") {
            p.ArrayPrototypePush(steps, { ...shown, finished: s.ended !== null, type: "sleep", error });
          } else if (kind === "event") {
            p.ArrayPrototypePush(steps, { ...shown, finished: s.ended !== null, type: "waitForEvent", error, output: s.state === "done" ? native.deserialize(s.value) : null });
          } else {
            const attempts = [];
            let config = null;
            for (const a of this.#sql.exec("SELECT * FROM attempts WHERE key = ? ORDER BY n", s.key).toArray()) {
              config = a.config === null ? null : JSONParse(a.config);
              p.ArrayPrototypePush(attempts, { start: at(a.started), end: at(a.ended), success: a.ended === null ? null : a.error === null, error: a.error === null ? null : JSONParse(a.error) });
            }
            p.ArrayPrototypePush(steps, { ...shown, success: s.ended === null ? null : s.state === "done", type: "step", output: s.state === "done" ? this.#shown(s) : undefined, config, attempts });
          }
        }
        return {
          status: row.status, params: native.deserialize(row.params), queued: at(row.created), start: at(whole?.started), end: at(whole?.ended),
          output: row.output === null ? null : native.deserialize(row.output), error: row.error === null ? null : JSONParse(row.error), steps, step_count: steps.length,
        };
      }

      // What tests ask of an instance, before or after it begins (miniflare:
      // @cloudflare/workflows-shared, modifier.ts). A mock has a kind and the key of
      // its step, "" for all, and with a number of times the attempt that it is for.
      #mock(kind, key, attempt = "") {
        if (!this.#mocked) return undefined;
        return this.#sql.exec("SELECT value FROM mocks WHERE kind = ? AND key IN (?, '') AND attempt IN (?, '') ORDER BY key DESC", kind, key, `${attempt}`).toArray()[0];
      }
      #put(kind, key, value, attempt = "") {
        this.#sql.exec("CREATE TABLE IF NOT EXISTS mocks (kind TEXT NOT NULL, key TEXT NOT NULL, attempt TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (kind, key, attempt))");
        this.#mocked = true;
        this.#sql.exec("INSERT OR REPLACE INTO mocks (kind, key, attempt, value) VALUES (?, ?, ?, ?)", kind, key, `${attempt}`, native.serialize(value));
      }
      async modify(o) {
        const of = (kind, step) => `${kind}:${step.name}-${step.index ? step.index : 1}`;
        const keys = (kind) => (o.steps ? p.ArrayPrototypeMap(o.steps, (step) => of(kind, step)) : [""]);
        // The attempts of several calls for the same step follow each other.
        const times = (kind, value) => {
          const key = of("do", o.step);
          if (!o.times) return this.#put(kind, key, value);
          const next = this.#mock("next", key);
          const first = next === undefined ? 1 : native.deserialize(next.value);
          for (let i = 0; i < o.times; i++) this.#put(kind, key, value, first + i);
          this.#put("next", key, first + o.times);
        };
        const unmocked = (doing, after) => {
          if (this.#mock("result", of("do", o.step)) !== undefined) throw new p.Error(`[WorkflowIntrospector] Trying to ${doing} step '${o.step.name}' ${after}!`);
        };
        switch (o.type) {
          case "disableSleeps": for (const key of keys("sleep")) this.#put("no-sleep", key, true); break;
          case "disableRetryDelays": for (const key of keys("do")) this.#put("no-delay", key, true); break;
          case "mockStepResult":
            unmocked("mock", "multiple times");
            if (isStream(o.stepResult) || o.chunks !== undefined) {
              await this.#keep(`mock:${of("do", o.step)}`, isStream(o.stepResult) ? o.stepResult : streamOf(o.chunks), () => true);
              this.#put("stream", of("do", o.step), true);
              this.#put("result", of("do", o.step), undefined);
            } else if (o.stepResult) this.#put("result", of("do", o.step), o.stepResult); // what is falsy is none, as in the reference
            break;
          case "mockStepError": unmocked("mock error on", "after mocking its result"); times("error", { name: `${o.error.name}`, message: `${o.error.message}` }); break;
          case "forceStepTimeout": unmocked("force timeout on", "after mocking its result"); times("timeout", true); break;
          case "forceEventTimeout": this.#put("event-timeout", of("event", o.step), true); break;
          case "mockEvent":
            this.#sql.exec("INSERT INTO events (type, timestamp, payload) VALUES (?, ?, ?)", `${o.event.type}`, DateNow(), native.serialize(o.event.payload));
            if (this.exists()) await this.#awake();
        }
      }
      // waitForStep is what a step comes to, once it has.
      waitForStep(name, index) {
        const key = `do:${name}-${index ?? 1}`, before = this.#step(key), decided = before !== undefined && before.ended !== null;
        return this.#watch(() => {
          const row = this.#step(key);
          return row === undefined || row.ended === null ? undefined : { value: () => {
            if (row.state === "done") return this.#outcome(row);
            throw new p.Error(decided ? "#<Object>" : "Step failed"); // the reference's texts
          } };
        });
      }
      waitForStatus(status) {
        return this.#watch(() => {
          const row = this.#instance();
          if (row === undefined || (row.status !== status && !(finished[row.status] && finished[status]))) return undefined;
          return { value: () => {
            if (row.status !== status) throw new p.Error(`[WorkflowIntrospector] The Workflow instance ${row.id} has reached status '${row.status}'. This is a finite status that prevents it from ever reaching the expected status of '${status}'.`);
          } };
        });
      }
      outputOrError(output) {
        const row = this.#existing();
        const want = output ? "complete" : "errored";
        if (row.status !== want) {
          throw new p.Error(`Cannot retrieve ${output ? "output" : "error"}: Workflow instance is in status "${row.status}" but must be "${want}" to have ${output ? "an output" : "error information"} available`);
        }
        return output ? native.deserialize(row.output) : JSONParse(row.error);
      }
      #watch(look) {
        return new p.Promise((resolve, reject) => {
          p.ArrayPrototypePush(this.#watchers, () => {
            const seen = look();
            if (seen === undefined) return true;
            try { resolve(seen.value()); } catch (e) { reject(e); }
            return false;
          });
          this.#seen();
        });
      }
      #seen() {
        if (this.#watchers.length > 0) this.#watchers = p.ArrayPrototypeFilter(this.#watchers, (watcher) => watcher());
      }

      #set(status, also = "", ...values) {
        this.#sql.exec(`UPDATE instance SET status = ?${also}`, status, ...values);
        if (finished[status]) this.#sql.exec("UPDATE attempts SET ended = ? WHERE key = ''", DateNow());
        this.#seen();
      }
      async #awake() {
        this.#woken = true;
        this.#wokenAt = DateNow();
        await this.#storage.setAlarm(DateNow());
        this.#changed();
      }
      #changed() {
        const poke = this.#poke;
        this.#poke = undefined;
        if (poke !== undefined) poke();
      }
      #abort(reason) {
        this.#run = 0;
        const keys = ObjectKeys(this.#waiters);
        for (let i = 0; i < keys.length; i++) {
          const waiter = this.#waiters[keys[i]];
          delete this.#waiters[keys[i]];
          waiter.reject(new p.Error(reason));
        }
        this.#changed();
      }

      // The run.
      async alarm() {
        const row = this.#instance();
        if (row === undefined || finished[row.status] || row.status === "paused") return;
        if (this.#run === 0 && row.status !== "waitingForPause") this.#begin(row);
        for (;;) {
          this.#fire();
          this.#woken = false;
          this.#seen();
          if (this.#idle()) break;
          await this.#until(this.#next());
        }
        const status = this.#instance()?.status;
        if (status === undefined || finished[status] || status === "paused") return;
        const next = this.#next();
        const beat = this.#since + heartbeatMs;
        if (next === undefined) await this.#storage.setAlarm(MathMax(beat, DateNow() + heartbeatMs));
        else await this.#storage.setAlarm(beat > DateNow() ? MathMin(next, beat) : next);
      }
      #begin(row) {
        const run = (this.#run = ++this.#runs);
        this.#active = 0;
        this.#undo = { __proto__: null };
        this.#since = DateNow();
        this.#set("running");
        this.#sql.exec("INSERT OR IGNORE INTO attempts (key, n, started) VALUES ('', 0, ?)", DateNow());
        const event = { timestamp: new p.Date(row.created), payload: native.deserialize(row.params), instanceId: row.id, workflowName };
        this.#follow(run, event);
      }
      async #follow(run, event) {
        let output, error, ownNames = false; // the error is the engine's, with a name of its own
        try {
          const value = await entrypoint.run(event, new WorkflowStep(this, run));
          ownNames = true;
          output = outputOf(value);
        } catch (e) {
          error = e;
        }
        if (this.#run !== run) return; // another run has taken over, or the instance was paused or ended
        const failed = this.#failing();
        if (error !== undefined || failed !== undefined) {
          error = failed ?? error;
          if (failed !== undefined) ownNames = false;
          await this.#rollBack(run, error);
          if (this.#run !== run) return;
        }
        this.#run = 0;
        if (error === undefined) this.#set("complete", ", output = ?", output);
        else if (failed?.name === terminated) this.#set("terminated");
        else this.#set("errored", ", error = ?", JSONStringify(nonRetryable(error) ? native.keepsMessage ? preserved(error) : fatal : ownNames ? { name: error.name, message: error.message } : plain(error)));
        this.#changed();
      }
      // failing is why the instance fails: once a step may have been taken back, no run
      // comes to anything else.
      #failing() {
        const [row] = this.#sql.exec("SELECT error FROM failing").toArray();
        if (row === undefined) return undefined;
        const { name, message } = JSONParse(row.error);
        return named(name, message);
      }
      #fails(error) { this.#sql.exec("INSERT OR IGNORE INTO failing (one, error) VALUES (1, ?)", JSONStringify(error)); }
      #undoableSteps() { return this.#sql.exec("SELECT steps.key AS key FROM steps JOIN undoable ON undoable.key = steps.key ORDER BY steps.rowid DESC").toArray(); }
      // undoable keeps how a step that begins is taken back if the instance fails.
      undoable(run, key, name, undo) {
        this.#came(run);
        // The stub of the function would end with the call of do().
        this.#undo[key] = { ...undo, rollback: typeof undo.rollback.dup === "function" ? undo.rollback.dup() : undo.rollback };
        if (this.#failing() === undefined) this.#sql.exec("INSERT OR IGNORE INTO undoable (key) VALUES (?)", key);
      }
      // rollBack takes back the steps that have begun, the last one first, each as a step
      // of its own, which is decided once and tried again like any other. The first that
      // cannot be taken back ends it.
      async #rollBack(run, error) {
        const keys = this.#undoableSteps();
        if (keys.length === 0) return;
        this.#fails(error !== null && typeof error === "object" && "message" in error ? { name: `${error.name}`, message: `${error.message}` } : { name: "Error", message: `${error}` });
        try {
          for (let i = 0; i < keys.length; i++) {
            const key = keys[i].key, row = this.#step(key), undo = this.#undo[key], name = key.slice(3);
            if (undo === undefined) throw named("RollbackMissing", "Rollback function not available in registry");
            const ctx = { step: { name: name.slice(0, name.lastIndexOf("-")), count: +name.slice(name.lastIndexOf("-") + 1) }, attempt: row.attempts, config: undo.stepConfig };
            await this.perform(run, undoing + key, name, undo.config, async () => {
              const output = row.state === "done" ? this.#outcome(row) : undefined; // a stream is read by one attempt
              await undo.rollback({ ctx, error: this.#failing(), output, stepName: name });
            });
          }
        } catch (e) {
          if (this.#run === run) native.warn(`A rollback of the Workflow ${workflowName} failed: ${e?.name}: ${e?.message}`);
        }
      }
      #came(run) {
        if (this.#run !== run) throw new p.Error("Aborting engine: this run of the instance is over");
      }
      #idle() {
        const status = this.#instance()?.status;
        if (status === undefined) return true; // forgotten
        if (status === "waitingForPause" && this.#active === 0) {
          this.#set("paused", ", paused = ?", DateNow());
          this.#abort("Aborting engine: User called pause");
          return true;
        }
        if (finished[status]) return true;
        return this.#active === 0 && DateNow() >= this.#since + graceMs;
      }
      // The first moment at which something is due.
      #next() {
        const [row] = this.#sql.exec("SELECT min(wake) AS wake FROM steps WHERE state IN ('waiting', 'retry')").toArray();
        return row.wake ?? undefined;
      }
      async #until(wake) {
        let at = wake ?? Infinity;
        if (this.#active === 0) at = MathMin(at, this.#since + graceMs);
        let resolve;
        const changed = new p.Promise((r) => { resolve = r; });
        this.#poke = resolve;
        const timer = at === Infinity ? undefined : setTimeout(resolve, MathMin(MathMax(0, at - DateNow()), heartbeatMs));
        await changed;
        if (timer !== undefined) clearTimeout(timer);
      }
      // What is due is decided, and those who wait for it are told.
      #fire() {
        const now = DateNow();
        for (const event of this.#sql.exec("SELECT * FROM events ORDER BY seq").toArray()) {
          const [step] = this.#sql.exec("SELECT key FROM steps WHERE state = 'waiting' AND event = ? ORDER BY started, rowid LIMIT 1", event.type).toArray();
          if (step === undefined) continue;
          const value = { payload: native.deserialize(event.payload), timestamp: new p.Date(event.timestamp), type: event.type };
          this.#sql.exec("DELETE FROM events WHERE seq = ?", event.seq);
          this.#decide(step.key, value);
        }
        for (const step of this.#sql.exec("SELECT * FROM steps WHERE state IN ('waiting', 'retry') AND wake <= ? ORDER BY wake, rowid", now).toArray()) {
          if (step.state === "retry") this.#tell(step.key);
          else if (step.event === null) this.#decide(step.key, undefined);
          else this.#refuse(step.key, timedOut(step.wake - step.started));
        }
      }
      #tell(key) {
        const waiter = this.#waiters[key];
        delete this.#waiters[key];
        this.#since = DateNow();
        if (waiter !== undefined) waiter.resolve();
        this.#seen();
      }
      #wait(key) {
        return new p.Promise((resolve, reject) => {
          this.#waiters[key] = { resolve, reject };
          this.#changed();
          this.#seen();
        });
      }
      // A step is decided once: later words of the same step change nothing.
      #decide(key, value) { this.#decided(key, native.serialize(value)); }
      // decided notes what a step came to: bytes, or null if they are rows of chunks.
      #decided(key, bytes) {
        this.#sql.exec("UPDATE steps SET state = 'done', value = ?, wake = NULL, ended = ? WHERE key = ? AND ended IS NULL", bytes, DateNow(), key);
        this.#tell(key);
      }
      #refuse(key, error) {
        this.#sql.exec("UPDATE steps SET state = 'failed', error = ?, wake = NULL, ended = ? WHERE key = ? AND ended IS NULL", JSONStringify(plain(error)), DateNow(), key);
        this.#tell(key);
      }
      #answer(row) {
        this.#since = DateNow();
        this.#changed();
        return this.#outcome(row);
      }
      #outcome(row) {
        if (row.state === "done") return row.value === null ? this.#replay(row.key) : native.deserialize(row.value);
        const e = JSONParse(row.error);
        throw named(e.name, e.message);
      }

      async sleep(run, key, wake) {
        this.#came(run);
        if (this.#mock("no-sleep", key) !== undefined) wake = DateNow();
        if (!this.known(key)) this.#sql.exec("INSERT INTO steps (key, state, wake, started) VALUES (?, 'waiting', ?, ?)", key, wake, DateNow());
        return await this.#awaited(run, key);
      }
      async event(run, key, type, timeout) {
        this.#came(run);
        if (!this.known(key)) {
          this.#sql.exec("INSERT INTO steps (key, state, event, wake, started) VALUES (?, 'waiting', ?, ?, ?)", key, type, DateNow() + timeout, DateNow());
          if (this.#mock("event-timeout", key) !== undefined) this.#refuse(key, timedOut(timeout));
        }
        return await this.#awaited(run, key);
      }
      // stopped ends a run whose instance fails, at the first step that is not decided.
      #stopped(key) {
        if (!this.#step(key)?.ended && this.#failing() !== undefined) throw named("WorkflowFatalError", "Cannot execute steps during rollback phase");
      }
      async #awaited(run, key) {
        this.#stopped(key);
        if (this.#step(key).ended === null) await this.#wait(key);
        this.#came(run);
        return this.#answer(this.#step(key));
      }

      async perform(run, key, name, config, callback) {
        this.#came(run);
        const undone = key.startsWith(undoing);
        if (!undone) this.#stopped(key);
        if (!this.known(key)) {
          this.#sql.exec("INSERT INTO steps (key, state, started) VALUES (?, 'new', ?)", key, DateNow());
          this.#seen();
        }
        for (;;) {
          let row = this.#step(key);
          if (row.ended !== null) return this.#answer(row);
          if (row.state === "retry" && row.wake > DateNow()) {
            await this.#wait(key);
            this.#came(run);
          }
          if (this.#instance().status === "waitingForPause") {
            this.#changed();
            await this.#wait(key); // ends with the pause
          }
          await this.#attempt(run, key, name, config, callback, row.attempts + 1);
          this.#came(run);
        }
      }
      async #attempt(run, key, name, config, callback, attempt) {
        this.#sql.exec("UPDATE steps SET state = 'running', attempts = ?, wake = NULL WHERE key = ?", attempt, key);
        this.#active++;
        this.#sql.exec("INSERT OR REPLACE INTO attempts (key, n, started, config) VALUES (?, ?, ?, ?)", key, attempt, DateNow(), JSONStringify(config));
        const tried = (error) => this.#sql.exec("UPDATE attempts SET ended = ?, error = ? WHERE key = ? AND n = ?", DateNow(), error === undefined ? null : JSONStringify(plain(error)), key, attempt);
        const shown = typeof config.retries.delay === "function" ? { ...config, retries: { ...config.retries, delay: undefined } } : config;
        const ctx = { step: { name, count: +key.slice(key.lastIndexOf("-") + 1) }, attempt, config: shown };
        try {
          const began = DateNow(), limit = durationOf(config.timeout);
          const value = this.#mocked ? await this.#mockedResult(key, attempt, ctx, config, callback) : await this.#timely(callback(ctx), limit);
          if (this.#run !== run) return;
          if (isStream(value)) { // what is left of the step's time is for all of it
            let reads = true;
            try {
              await this.#timely(this.#keep(key, value, () => reads && this.#run === run), MathMax(0, limit - (DateNow() - began)), limit);
            } finally {
              reads = false;
            }
            if (this.#run !== run) return;
            tried();
            this.#decided(key, null);
            return;
          }
          let bytes;
          try {
            bytes = native.serialize(value);
          } catch (e) {
            return this.#endsWith(key, `Value returned from step "${name}" is not serialisable`, `the step "${name}" returned a value which is not serialisable`, tried);
          }
          if (bytes.byteLength > maxResultBytes) throw named("WorkflowInternalError", `Step ${key.slice(3)} output is too large. Maximum allowed size is 1MiB.`);
          try {
            JSONStringify(value, bytesAsText); // people see it as JSON
          } catch (e) {
            tried(e);
            return this.#refuse(key, e);
          }
          tried();
          this.#decide(key, value);
        } catch (e) {
          if (this.#run !== run) return;
          if (e?.ofStream) return this.#endsWith(key, e.message, `the step "${name}" returned an invalid ReadableStream output. ${e.message}`, tried);
          tried(e);
          if (nonRetryable(e) || attempt > config.retries.limit) this.#refuse(key, e);
          else await this.#retryLater(run, key, config, attempt, { name: key.slice(3), ctx, error: e });
        } finally {
          if (this.#run === run) this.#active--;
          this.#since = DateNow();
          this.#changed();
        }
      }
      async #mockedResult(key, attempt, ctx, config, callback) {
        const error = this.#mock("error", key, attempt);
        if (error !== undefined) {
          const { name, message } = native.deserialize(error.value);
          throw named(name, message);
        }
        if (this.#mock("timeout", key, attempt) !== undefined) throw timedOut(0);
        if (this.#mock("stream", key) !== undefined) return this.#replay(`mock:${key}`);
        const result = this.#mock("result", key);
        return result === undefined ? this.#timely(callback(ctx), durationOf(config.timeout)) : native.deserialize(result.value);
      }

      // Streams as results. Their bytes are rows, and whoever asks for the step's result
      // gets a stream of them.
      #hasStreams() { return this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'chunks'").toArray().length > 0; }
      async #keep(key, stream, wanted) {
        const unreadable = "Step returned a ReadableStream that is already locked or otherwise unreadable. Return a fresh, unlocked ReadableStream from step.do().";
        if (stream.locked) throw badStream("InvalidStepReadableStreamError", unreadable);
        this.#sql.exec("CREATE TABLE IF NOT EXISTS chunks (key TEXT NOT NULL, n INTEGER NOT NULL, chunk BLOB NOT NULL, PRIMARY KEY (key, n)) WITHOUT ROWID");
        this.#sql.exec("DELETE FROM chunks WHERE key = ?", key);
        const reader = stream.getReader();
        let n = 0, row = new p.Uint8Array(rowBytes), used = 0;
        const flush = () => {
          if (used > 0) this.#sql.exec("INSERT INTO chunks (key, n, chunk) VALUES (?, ?, ?)", key, n++, p.TypedArrayPrototypeSubarray(row, 0, used));
          used = 0;
        };
        try {
          for (;;) {
            let read;
            try {
              read = await reader.read();
            } catch (e) {
              throw badStream("InvalidStepReadableStreamError", `Failed to read from step ReadableStream output. ${e?.message ?? e}`);
            }
            if (!wanted()) throw new p.Error("Aborting engine: nobody waits for this stream");
            if (read.done) return flush();
            const bytes = bytesOf(read.value);
            for (let from = 0; from < bytes.byteLength; ) {
              const part = p.TypedArrayPrototypeSubarray(bytes, from, MathMin(bytes.byteLength, from + rowBytes - used));
              p.TypedArrayPrototypeSet(row, part, used);
              used += part.byteLength;
              from += part.byteLength;
              if (used === rowBytes) flush();
            }
          }
        } catch (e) {
          p.PromisePrototypeThen(reader.cancel(e), undefined, () => {}); // whoever made it knows why
          if (wanted()) this.#sql.exec("DELETE FROM chunks WHERE key = ?", key);
          throw e;
        }
      }
      #chunk(key, n) { return this.#sql.exec("SELECT chunk FROM chunks WHERE key = ? AND n = ?", key, n).toArray()[0]?.chunk; }
      #replay(key) {
        let n = 0;
        return new ReadableStream({
          pull: (controller) => {
            const chunk = this.#chunk(key, n++);
            if (chunk === undefined) controller.close();
            else controller.enqueue(new p.Uint8Array(chunk));
          },
        });
      }
      // shown is what people see of a step's output: of a stream its beginning as text, or its size.
      #shown(step) {
        if (step.value !== null) {
          const value = native.deserialize(step.value), text = JSONStringify(p.StringPrototypeStartsWith(step.key, "event:") ? value.payload : value, bytesAsText);
          return text === undefined ? undefined : JSONParse(text);
        }
        const [{ bytes }] = this.#sql.exec("SELECT coalesce(sum(length(chunk)), 0) AS bytes FROM chunks WHERE key = ?", step.key).toArray();
        const text = native.text(this.#chunk(step.key, 0) ?? new p.ArrayBuffer(0), bytes > rowBytes);
        if (text === undefined) return `[ReadableStream (binary): ${bytes} bytes]`;
        return text.length > previewCharacters || bytes > rowBytes ? `${p.StringPrototypeSlice(text, 0, previewCharacters)}[truncated output]` : text;
      }
      // endsWith ends the instance: what a step gave, by these words, cannot be kept.
      #endsWith(key, message, how, tried) {
        const error = { name: "WorkflowFatalError", message };
        tried(named(error.name, message));
        this.#sql.exec("UPDATE steps SET state = 'failed', error = ?, wake = NULL, ended = ? WHERE key = ?", JSONStringify(error), DateNow(), key);
        this.#set("errored", ", error = ?", JSONStringify({ ...error, message: `The execution of the Workflow instance was terminated, as ${how}` }));
        this.#abort("Aborting engine: what a step gave cannot be kept");
      }
      async #retryLater(run, key, config, attempt, input) {
        try {
          const delay = this.#mock("no-delay", key) !== undefined ? 0 : await retryDelay(config, attempt, input, (result, ms) => this.#timely(result, ms));
          if (this.#run === run) this.#sql.exec("UPDATE steps SET state = 'retry', wake = ? WHERE key = ?", DateNow() + delay, key);
        } catch (e) {
          if (this.#run === run) this.#refuse(key, e);
        }
      }
      // timely is a result that comes within ms; told is the time that its failure names.
      async #timely(result, ms, told = ms) {
        let timer;
        const late = new p.Promise((_, reject) => {
          timer = setTimeout(() => reject(timedOut(told)), ms);
        });
        try {
          return await p.Promise.race([result, late]);
        } finally {
          clearTimeout(timer);
        }
      }
    };
  };
}
