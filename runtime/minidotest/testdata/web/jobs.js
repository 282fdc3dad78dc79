// workerd: in which job each part of a TransformStream's work is done. Each line has what happened, with the number of the job.
const settled = () => new Promise((r) => setTimeout(r, 3));
const tell = (v) => (v === undefined ? "" : v instanceof Error ? "!" + v.message : typeof v === "object" && "done" in v ? (v.done ? "done" : v.value) : v);
const traced = async (transformer, scenario, readMark, writeMark) => {
  let n = 0, on = false, made;
  const log = [];
  const count = () => { n++; if (n < 60) Promise.resolve().then(count); };
  const put = (s) => { if (on) log.push(`${s}@${n}`); };
  const note = (name, p) => { p.then((v) => put(`${name} ${tell(v)}`), (e) => put(`${name} ${tell(e instanceof Error ? e : new Error(e))}`)); return p; };
  const t = {};
  for (const k of Object.keys(transformer)) t[k] = (...args) => { put(k); return transformer[k](...args); };
  const ts = new TransformStream(t, writeMark === undefined ? undefined : { highWaterMark: writeMark }, readMark === undefined ? undefined : { highWaterMark: readMark });
  const w = ts.writable.getWriter(), r = ts.readable.getReader();
  w.closed.catch(() => {}); w.ready.catch(() => {}); r.closed.catch(() => {});
  const x = { w, r, put, write: (c) => note("write " + c, w.write(c)), read: () => note("read", r.read()), close: () => note("close", w.close()), abort: (e) => note("abort", w.abort(new Error(e))), cancel: (e) => note("cancel", r.cancel(new Error(e))), ends: () => { note("w.closed", w.closed); note("r.closed", r.closed); }, ready: () => note("ready", w.ready) };
  await settled();
  made = scenario(x, async () => { await settled(); put("--"); n = 0; Promise.resolve().then(count); });
  on = true;
  await made;
  await settled();
  on = false;
  return log;
};
const later = (n, f) => { let p = Promise.resolve(); for (let i = 0; i < n; i++) p = p.then(() => {}); return p.then(f); };
const transforms = {
  none: {}, sync: { transform(c, k) { k.enqueue(c); } }, async: { async transform(c, k) { await 0; k.enqueue(c); } }, twice: { transform(c, k) { k.enqueue(c + 1); k.enqueue(c + 2); } }, silent: { transform() {} },
  throws: { transform() { throw new Error("tr"); } }, rejects: { transform() { return Promise.reject(new Error("tr")); } }, late: { transform() { return later(2, () => { throw new Error("tr"); }); } },
  errors: { transform(c, k) { k.error(new Error("er")); } }, terminates: { transform(c, k) { k.enqueue(c); k.terminate(); } }, promised: { transform(c, k) { k.enqueue(c); return Promise.resolve(1); } },
};
const flushes = { flush: { flush() {} }, flushEnqueue: { flush(k) { k.enqueue("f"); } }, flushAsync: { async flush(k) { await 0; k.enqueue("f"); } }, flushThrows: { flush() { throw new Error("fl"); } }, flushRejects: { flush() { return later(2, () => { throw new Error("fl"); }); } }, flushTerminates: { flush(k) { k.terminate(); } }, flushErrors: { flush(k) { k.error(new Error("er")); } } };
const cancels = { cancelled: { cancel() {} }, cancelAsync: { async cancel() { await 0; } }, cancelThrows: { cancel() { throw new Error("ca"); } }, cancelRejects: { cancel() { return later(2, () => { throw new Error("ca"); }); } } };
const scenarios = {
  "write": async (x, go) => { await go(); x.write("a"); await go(); x.read(); },
  "read write": async (x, go) => { x.read(); await go(); x.write("a"); },
  "two writes": async (x, go) => { await go(); x.write("a"); x.write("b"); x.ready(); await go(); x.read(); await go(); x.read(); },
  "two reads": async (x, go) => { x.read(); x.read(); await go(); x.write("a"); x.write("b"); x.ready(); },
  "write close": async (x, go) => { await go(); x.ends(); x.write("a"); x.close(); await go(); x.read(); await go(); x.read(); },
  "read write close": async (x, go) => { x.read(); x.read(); await go(); x.ends(); x.write("a"); x.close(); },
};
for (const [name, t] of Object.entries(transforms)) for (const [s, f] of Object.entries(scenarios)) check(`jobs of ${name}: ${s}`, () => traced(t, f));
const ends = {
  "close": async (x, go) => { await go(); x.ends(); x.close(); await go(); x.read(); },
  "read close": async (x, go) => { x.read(); await go(); x.ends(); x.close(); },
  "close close": async (x, go) => { await go(); x.close(); x.close(); x.write("z"); },
  "close cancel": async (x, go) => { await go(); x.ends(); x.close(); x.cancel("cc"); },
  "close abort": async (x, go) => { await go(); x.ends(); x.close(); x.abort("ab"); },
};
for (const [name, t] of Object.entries({ none: {}, ...flushes })) for (const [s, f] of Object.entries(ends)) check(`jobs of ${name}: ${s}`, () => traced(t, f));
const stops = {
  "abort": async (x, go) => { await go(); x.ends(); x.ready(); x.abort("ab"); await go(); x.read(); x.write("z"); },
  "read abort": async (x, go) => { x.read(); await go(); x.ends(); x.abort("ab"); },
  "write abort": async (x, go) => { x.write("a"); x.write("b"); await go(); x.ends(); x.abort("ab"); await go(); x.read(); },
  "cancel": async (x, go) => { await go(); x.ends(); x.ready(); x.cancel("cc"); await go(); x.read(); x.write("z"); },
  "write cancel": async (x, go) => { x.write("a"); x.write("b"); await go(); x.ends(); x.cancel("cc"); await go(); x.write("z"); },
  "write close cancel": async (x, go) => { x.write("a"); x.close(); await go(); x.ends(); x.cancel("cc"); },
  "abort cancel": async (x, go) => { await go(); x.ends(); x.abort("ab"); x.cancel("cc"); },
  "cancel abort": async (x, go) => { await go(); x.ends(); x.cancel("cc"); x.abort("ab"); },
  "cancel close": async (x, go) => { await go(); x.ends(); x.cancel("cc"); x.close(); },
};
for (const [name, t] of Object.entries({ none: {}, sync: transforms.sync, ...cancels })) for (const [s, f] of Object.entries(stops)) check(`jobs of ${name}: ${s}`, () => traced(t, f));
for (const [name, act] of Object.entries({ error: (k) => k.error(new Error("er")), terminate: (k) => k.terminate(), enqueue: (k) => k.enqueue("q") })) for (const before of ["", "write", "read", "writes", "close"]) check(`jobs of controller.${name}: ${before}`, () => {
  let k;
  return traced({ start(c) { k = c; }, transform(c, k) { k.enqueue(c); } }, async (x, go) => {
    if (before === "read") x.read();
    if (before.startsWith("write")) x.write("a");
    if (before === "writes") x.write("b");
    await go();
    x.ends();
    if (before === "close") x.close();
    try { act(k); } catch (e) { x.put("threw " + e.message); }
    x.put("size " + k.desiredSize);
    await go();
    x.write("z");
    x.read();
  });
});
for (const marks of [[1, 1], [3, 1], [0, 3]]) check(`jobs of marks ${marks}`, () => traced(transforms.sync, async (x, go) => { await go(); for (const c of "abcd") x.write(c); x.ready(); await go(); x.read(); await go(); x.read(); x.read(); }, ...marks));
check("jobs of a pipe", async () => {
  const log = [];
  const source = new ReadableStream({ pull(c) { log.push("pull"); c.enqueue(log.length); if (log.length > 12) c.close(); } });
  const through = source.pipeThrough(new TransformStream({ transform(c, k) { log.push("transform"); k.enqueue(c); }, flush() { log.push("flush"); } }));
  await through.pipeTo(new WritableStream({ write(c) { log.push("write"); }, close() { log.push("close"); } }));
  return log;
});
// workerd: in which job what a WritableStream and a ReadableStream promise is settled.
const jobsOf = async (begin) => {
  let n = 0, on = true; const log = [];
  const count = () => { n++; if (n < 60) Promise.resolve().then(count); };
  const put = (s) => { if (on) log.push(`${s}@${n}`); };
  const note = (name, p) => { p.then((v) => put(`${name} ${v === undefined ? "" : v.done ? "done" : v.value}`), (e) => put(`${name} !${e?.message ?? e}`)); };
  Promise.resolve().then(count);
  try { begin(note, put); } catch (e) { put("threw " + e.message); }
  await settled(); on = false;
  return log;
};
const fail = () => { throw new Error("no"); };
const ways = { none: undefined, sync() {}, async async() { await 0; }, throws: fail, rejects: () => Promise.reject(new Error("no")), late: () => later(2, fail), promised: () => Promise.resolve(1) };
for (const [way, f] of Object.entries(ways)) {
  for (const op of ["write", "writes", "close", "abort", "write close", "write abort"]) check(`jobs of a sink ${way}: ${op}`, async () => {
    const calls = []; let put0 = () => {};
    const g = (k) => f && ((...a) => { put0(k); return f(...a); });
    const ws = new WritableStream({ write: g("write()"), close: g("close()"), abort: g("abort()") });
    const w = ws.getWriter(); w.closed.catch(() => {}); w.ready.catch(() => {});
    await settled();
    return jobsOf((note, put) => { put0 = put; note("closed", w.closed); if (op.startsWith("write")) note("write a", w.write("a")); if (op === "writes") note("write b", w.write("b")); note("ready", w.ready); if (op.endsWith("close")) note("close", w.close()); if (op.endsWith("abort")) note("abort", w.abort(new Error("ab"))); note("z", w.write("z")); });
  });
  for (const op of ["cancel", "read", "read cancel"]) for (const type of [undefined, "bytes"]) check(`jobs of a source ${way} ${type}: ${op}`, async () => {
    let put0 = () => {};
    const g = (k) => f && ((...a) => { put0(k); return f(...a); });
    const rs = new ReadableStream({ type, pull: g("pull()"), cancel: g("cancel()") }, { highWaterMark: 0 });
    const r = rs.getReader(); r.closed.catch(() => {});
    await settled();
    return jobsOf((note, put) => { put0 = put; note("closed", r.closed); if (op.startsWith("read")) note("read", r.read()); if (op.endsWith("cancel")) note("cancel", r.cancel(new Error("cc"))); note("z", r.read().catch(fail)); });
  });
}
check("jobs of what has ended", () => jobsOf((note) => {
  const ws = new WritableStream(), w = ws.getWriter(); note("close", w.close()); note("again", w.close()); note("abort", w.abort()); w.releaseLock(); note("released", w.write()); note("closed", w.closed); note("ready", w.ready); note("ws.close", ws.close()); note("ws.abort", ws.abort());
  const rs = new ReadableStream({ start(c) { c.close(); } }), r = rs.getReader(); note("r.closed", r.closed); note("read", r.read()); note("cancel", r.cancel()); r.releaseLock(); note("r.released", r.read()); note("rs.cancel", rs.cancel());
  note("pipe", new ReadableStream({ start(c) { c.close(); } }).pipeTo(new WritableStream())); note("plain", Promise.resolve());
  note("locked", (() => { const s = new ReadableStream(); s.getReader(); return s.cancel(); })());
}));
// workerd: when a TransformStream has started.
for (const [name, start] of Object.entries({ none: undefined, sync() {}, async async() { await 0; }, promised: () => Promise.resolve(), throws() { throw new Error("st"); }, rejects: () => Promise.reject(new Error("st")) })) for (const act of ["ready", "write", "close", "read", "cancel", "close cancel", "abort"]) check(`jobs of start ${name}: ${act}`, async () => {
  let n = 0, on = true; const log = [], put = (s) => { if (on) log.push(`${s}@${n}`); };
  const count = () => { n++; if (n < 30) Promise.resolve().then(count); };
  const note = (name, p) => p.then((v) => put(`${name} ${tell(v)}`), (e) => put(`${name} ${tell(e)}`));
  Promise.resolve().then(count);
  const ts = new TransformStream({ start: start && ((...a) => { put("start"); return start(...a); }), transform(c, k) { put("transform"); k.enqueue(c); }, flush() { put("flush"); }, cancel() { put("cancel"); } });
  const w = ts.writable.getWriter(), r = ts.readable.getReader();
  note("ready", w.ready); note("w.closed", w.closed); note("r.closed", r.closed);
  if (act === "write") { note("write", w.write("a")); note("read", r.read()); }
  if (act.includes("close")) note("close", w.close());
  if (act === "read") note("read", r.read());
  if (act.includes("cancel")) note("cancel", r.cancel(new Error("cc")));
  if (act === "abort") note("abort", w.abort(new Error("ab")));
  await settled();
  on = false;
  return log;
});
