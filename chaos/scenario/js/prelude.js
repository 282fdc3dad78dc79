// The module "minido:chaos", as a scenario sees it. native is the harness's side.
(function (native) {
  "use strict";
  class LostError extends Error {
    constructor(message) { super(message); this.name = "LostError"; }
  }
  class RefusedError extends Error {
    constructor(message, status) { super(message); this.name = "RefusedError"; this.status = status; }
  }
  const wrap = (kind, ...args) =>
    new Promise((resolve, reject) =>
      native.start(kind, args, resolve, (why, message, status) => reject(why === "lost" ? new LostError(message) : new RefusedError(message, status))));

  // What packages expect of a program's surroundings. Timers are those of the clients: drive() alone has them.
  globalThis.setTimeout = (fn, ms, ...args) => native.start("sleep", [Math.max(0, Math.trunc(Number(ms)) || 0)], () => { fn(...args); }, () => {}) + 1;
  globalThis.clearTimeout = (timer) => { if (timer > 0) native.stop(timer - 1); };

  const agent = (cls, name) => ({ cls: String(cls), name: String(name) });
  const milliseconds = (d) => (typeof d === "number" ? d : native.duration(String(d)));

  const driver = {
    rpc: (a, method, args) => wrap("call", a.cls, a.name, String(method), JSON.stringify(args ?? [])),
    chat: (a, text, body) => wrap("chat", a.cls, a.name, String(text), body === undefined ? "" : JSON.stringify(body)),
    resume: (a) => wrap("resume", a.cls, a.name),
    fetch: async (method, path, body) => {
      const r = await wrap("fetch", String(method), String(path), body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
      return r;
    },
    connect: async (path, options) => {
      const socket = await wrap("open", String(path), JSON.stringify(options?.headers ?? {}));
      return {
        send: (data) => wrap("send", socket, typeof data === "string" ? data : JSON.stringify(data)),
        receive: () => wrap("receive", socket),
        close: (code, reason) => wrap("close", socket, code ?? 1000, String(reason ?? "")),
      };
    },
    sleep: (d) => wrap("sleep", milliseconds(d)),
    advance: (d) => wrap("advance", milliseconds(d)),
    clock: Object.freeze({ now: () => native.now(), get virtual() { return native.virtual(); } }),
    // A kill may cut the question, and the server may fail for a while: then it is asked again.
    until: async (fn, options) => {
      const within = milliseconds(options?.within ?? "1m");
      const asked = () => native.now() - native.paced(); // the time that clients wait does not count
      const begin = asked(), end = begin + within;
      // The pause grows with the time waited so far: about a hundred questions in a minute, not three thousand.
      const pause = () => options?.every === undefined ? Math.min(1000, Math.max(20, Math.trunc((asked() - begin) / 20))) : milliseconds(options.every);
      const question = native.question();
      for (let last = "every answer was lost"; ;) {
        let refused; // the answer that says that the server fails
        try {
          const value = await native.ask(question, fn);
          if (value) return value;
          last = `the last answer was ${show(value)}` + (value === undefined ? ", as of a response without a body: return true behind it" : "");
        } catch (err) {
          if (err instanceof RefusedError && err.status >= 500) [refused, last] = [err, err.message];
          else if (!(err instanceof LostError)) throw err;
        }
        if (asked() >= end) {
          const text = `until: not true within ${options?.within ?? "1m"}; ${last}`;
          throw refused ? new RefusedError(text, refused.status) : new Error(text);
        }
        await driver.sleep(pause());
      }
    },
    attempt: async (fn) => {
      try {
        return { ok: true, value: await fn() };
      } catch (err) {
        if (err instanceof LostError || err instanceof RefusedError) return { ok: false, lost: err instanceof LostError, error: err.message };
        throw err;
      }
    },
  };

  const show = (v) => { const t = JSON.stringify(v); return t === undefined ? String(v) : t.length > 300 ? t.slice(0, 300) + "…" : t; };
  const same = (a, b) => {
    if (Object.is(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
    const ka = Object.keys(a), kb = Object.keys(b);
    return ka.length === kb.length && ka.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]));
  };
  const expectations = (found) => (value, label) => {
    const of = label === undefined ? "" : `${label}: `;
    const judge = (want, negate) => (name, ok, other) => {
      if (ok === negate) found(`${of}expected ${show(value)} ${want}${negate ? "not " : ""}${name}${other}`);
    };
    const make = (negate) => {
      const j = judge("", negate);
      return {
        toBe: (v) => j("to be ", Object.is(value, v), show(v)),
        toEqual: (v) => j("to equal ", same(value, v), show(v)),
        toBeTruthy: () => j("to be truthy", !!value, ""),
        toBeGreaterThan: (v) => j("to be greater than ", value > v, show(v)),
        toBeLessThan: (v) => j("to be less than ", value < v, show(v)),
        toContain: (v) => j("to contain ", value.includes(v), show(v)),
        toHaveLength: (v) => j("to have length ", value.length === v, show(v)),
        toMatch: (v) => j("to match ", new RegExp(v).test(value), String(v)),
      };
    };
    const all = make(false);
    all.not = make(true);
    return all;
  };

  const claims = []; // of drive(), for check()
  let claim = (kind, name, condition) => claims.push([kind, name, condition]);
  const claiming = (kind) => (name, condition) => claim(kind, String(name), !!condition);
  const sometimes = claiming("sometimes"), always = claiming("always"), eventually = claiming("eventually");
  const reachable = (name) => claim("sometimes", String(name), true);

  // What the files of one moment hold; facts is the harness's side.
  const stores = (facts) => ({
    objects: (cls) => JSON.parse(facts.objects(String(cls))),
    db: (cls, name) => ({
      exists: () => facts.exists(String(cls), String(name)),
      all: (sql, ...args) => JSON.parse(facts.query(String(cls), String(name), String(sql), JSON.stringify(args))),
    }),
    d1: (binding) => ({ all: (sql, ...args) => JSON.parse(facts.d1(String(binding), String(sql), JSON.stringify(args))) }),
    kv: (binding) => ({
      get: (key) => JSON.parse(facts.value("kv", String(binding), String(key))),
      list: (prefix) => JSON.parse(facts.list("kv", String(binding), String(prefix ?? ""))),
    }),
    r2: (binding) => ({
      get: (key) => JSON.parse(facts.value("r2", String(binding), String(key))),
      list: (prefix) => JSON.parse(facts.list("r2", String(binding), String(prefix ?? ""))),
    }),
  });

  const scenario = (name, definition) => {
    if (typeof definition?.drive !== "function") throw new TypeError(`scenario ${JSON.stringify(name)} needs a function drive`);
    return { ...definition, name: String(name) };
  };

  return {
    module: { scenario, agent, sometimes, always, eventually, reachable, LostError, RefusedError },
    drive: (s, resolve, reject) => { Promise.resolve().then(() => s.drive(driver)).then(resolve, reject); },
    isLost: (err) => err instanceof LostError,
    isRefused: (err) => err instanceof RefusedError,
    // asserted is told of each assertion.
    check: (s, facts, found, met, asserted, resolve, reject) => {
      const last = new Map(); // of eventually, by name
      const judge = (kind, name, condition) => {
        if (kind === "sometimes") met(name, condition);
        else if (kind === "eventually") last.set(name, condition);
        else if (!condition) found(`always ${JSON.stringify(name)}: it does not hold`);
      };
      const judged = (...c) => { asserted(); judge(...c); };
      for (const c of claims) judge(...c);
      const later = claim;
      const done = (then) => (value) => {
        claim = later;
        for (const [name, condition] of last) if (!condition) found(`eventually ${JSON.stringify(name)}: the last time it was asked, it did not hold`);
        then(value);
      };
      if (typeof s.check !== "function") return done(resolve)();
      claim = judged;
      const events = JSON.parse(facts.history);
      const history = {
        events,
        kills: events.filter((e) => e.kind === "kill"),
        calls: (text) => events.filter((e) => e.kind === "call" && e.text === text),
        returns: (text) => events.filter((e) => e.kind === "return" && e.text === text),
        effects: events.filter((e) => e.kind === "effect"),
        killsAt: (part) => events.filter((e) => e.kind === "kill" && (e.text ?? "").includes(part)),
      };
      const expect = expectations(found);
      Promise.resolve()
        .then(() => s.check({ ...stores(facts), history, result: facts.result, deaths: facts.deaths, expect: (...args) => { asserted(); return expect(...args); } }))
        .then(done(resolve), done(reject));
    },
    // invariant() of the files of one moment.
    invariant: (s, facts, found, resolve, reject) => {
      if (typeof s.invariant !== "function") return resolve();
      Promise.resolve()
        .then(() => s.invariant({ ...stores(facts), expect: expectations(found) }))
        .then(resolve, reject);
    },
  };
})
