// What a worker can notice of compatibility flags in streams: each line is a name, and
// what gives its answer.
const settled = async (p) => { let s = "pending"; p.then(() => { s = "ok"; }, (e) => { s = `err ${e?.name} ${e?.message ?? e}`; }); await scheduler.wait(2); return s; };
const attempt = (f) => { try { return f() ?? "undefined"; } catch (e) { return `${e.name}: ${e.message}`; } };
const never = () => new Promise(() => {});
const kinds = { plain: () => new WritableStream(), slow: () => new WritableStream({ write: never }), hwm0: () => new WritableStream({ write: never }, { highWaterMark: 0 }), hwm3: () => new WritableStream({ write: never }, { highWaterMark: 3 }), starting: () => new WritableStream({ start: never, write() {} }), failStart: () => new WritableStream({ start() { return Promise.reject(new Error("st")); } }), failWrite: () => new WritableStream({ write() { throw new Error("wr"); } }), failClose: () => new WritableStream({ close() { throw new Error("cl"); } }), slowClose: () => new WritableStream({ close: never }), slowAbort: () => new WritableStream({ abort: never, write: never }), its: () => new IdentityTransformStream().writable, ts: () => new TransformStream().writable, };

// What is done to a stream w of each kind and its writer.
const steps = {
  release: async (ws, w) => { const ready = w.ready, closed = w.closed; w.releaseLock(); return [w.ready === ready, w.closed === closed, await settled(w.ready), await settled(w.closed), await settled(ready), await settled(closed), attempt(() => w.desiredSize), ws.locked]; },
  releaseSettledFirst: async (ws, w) => { const ready = w.ready, closed = w.closed; const a = await settled(ready); w.releaseLock(); return [a, w.ready === ready, w.closed === closed, await settled(w.ready), await settled(w.closed), await settled(ready)]; },
  releaseBackpressured: async (ws, w) => { const p = w.write("x"); p.catch(() => {}); const ready = w.ready; w.releaseLock(); return [w.ready === ready, await settled(ready), await settled(w.ready), await settled(w.closed), await settled(p)]; },
  writeRelease: async (ws, w) => { const p = w.write("x"), q = w.write("y"); w.releaseLock(); return [await settled(p), await settled(q), ws.locked, attempt(() => w.desiredSize)]; },
  releaseWrite: async (ws, w) => { w.releaseLock(); return [await settled(w.write("x")), await settled(w.close()), await settled(w.abort()), ]; },
  closeRelease: async (ws, w) => { const c = w.close(); w.releaseLock(); return [await settled(c), await settled(w.closed), await settled(w.ready), ws.locked]; },
  closed: async (ws, w) => { const c = w.close(); const a = await settled(c); const closed = w.closed, ready = w.ready; w.releaseLock(); return [a, w.closed === closed, w.ready === ready, await settled(closed), await settled(w.closed), await settled(w.ready), attempt(() => w.desiredSize)]; },
  closedWrite: async (ws, w) => { const c = settled(w.close()); return [await c, await settled(w.write("x")), await settled(w.close()), await settled(w.abort("z")), attempt(() => w.desiredSize)]; },
  aborted: async (ws, w) => { const a = settled(w.abort(new Error("ab"))); const r = await a; const closed = w.closed, ready = w.ready; closed.catch(() => {}); ready.catch(() => {}); w.releaseLock(); return [r, w.closed === closed, w.ready === ready, await settled(closed), await settled(w.closed), await settled(ready), await settled(w.ready), attempt(() => w.desiredSize)]; },
  abortSync: async (ws, w) => { const a = settled(w.abort(new Error("ab"))); const closed = w.closed, ready = w.ready; w.releaseLock(); return [await a, w.closed === closed, w.ready === ready, await settled(closed), await settled(w.closed), await settled(ready), await settled(w.ready), attempt(() => w.desiredSize)]; },
  writeAbort: async (ws, w) => { const p = settled(w.write("x")), q = settled(w.write("y")); const a = settled(w.abort(new Error("ab"))); const ready = w.ready; return [await p, await q, await a, await settled(ready), await settled(w.closed), attempt(() => w.desiredSize)]; },
  failed: async (ws, w) => { const p = settled(w.write("x")); const r = await p; const closed = w.closed, ready = w.ready; closed.catch(() => {}); ready.catch(() => {}); w.releaseLock(); return [r, w.closed === closed, w.ready === ready, await settled(closed), await settled(w.closed), await settled(ready), await settled(w.ready)]; },
  again: async (ws, w) => { w.releaseLock(); const v = ws.getWriter(); return [await settled(v.ready), attempt(() => v.desiredSize), await settled(v.write("x")), attempt(() => v.desiredSize), await settled(v.ready), await settled(w.closed), await settled(w.ready)]; },
  againBackpressured: async (ws, w) => { w.write("x").catch(() => {}); w.releaseLock(); const v = ws.getWriter(); return [await settled(v.ready), attempt(() => v.desiredSize), await settled(v.closed), await settled(w.closed), await settled(w.ready)]; },
  againClosed: async (ws, w) => { await settled(w.close()); w.releaseLock(); const v = attempt(() => ws.getWriter()); return typeof v === "string" ? v : [await settled(v.ready), await settled(v.closed), attempt(() => v.desiredSize)]; },
  againAborted: async (ws, w) => { await settled(w.abort(new Error("ab"))); w.releaseLock(); const v = attempt(() => ws.getWriter()); return typeof v === "string" ? v : [await settled(v.ready), await settled(v.closed), attempt(() => v.desiredSize)]; },
  againErroring: async (ws, w) => { settled(w.write("x")); settled(w.abort(new Error("ab"))); w.releaseLock(); const v = attempt(() => ws.getWriter()); return typeof v === "string" ? v : [await settled(v.ready), await settled(v.closed), attempt(() => v.desiredSize)]; },
  againClosing: async (ws, w) => { settled(w.close()); w.releaseLock(); const v = attempt(() => ws.getWriter()); return typeof v === "string" ? v : [await settled(v.ready), await settled(v.closed), attempt(() => v.desiredSize), await settled(v.write("x")), await settled(v.close())]; },
  twice: async (ws, w) => { w.releaseLock(); const closed = w.closed, ready = w.ready; w.releaseLock(); return [w.closed === closed, w.ready === ready]; },
  double: async (ws, w) => { return [attempt(() => ws.getWriter()), await settled(ws.close()), await settled(ws.abort())]; },
};

const special = {
  sizeRelease: async () => { let w, wrote = 0; const ws = new WritableStream({ write() { wrote++; } }, { size() { w.releaseLock(); return 1; } }); w = ws.getWriter(); return [await settled(w.write("x")), wrote, ws.locked]; },
  sizeAbort: async () => { let w, wrote = 0; const ws = new WritableStream({ write() { wrote++; } }, { size() { settled(w.abort(new Error("ab"))); return 1; } }); w = ws.getWriter(); return [await settled(w.write("x")), wrote]; },
  sizeClose: async () => { let w, wrote = 0; const ws = new WritableStream({ write() { wrote++; } }, { size() { settled(w.close()); return 1; } }); w = ws.getWriter(); return [await settled(w.write("x")), wrote]; },
  sizeReleaseGet: async () => { let w, v, wrote = 0; const ws = new WritableStream({ write() { wrote++; } }, { size() { if (!v) { w.releaseLock(); v = ws.getWriter(); } return 1; } }); w = ws.getWriter(); return [await settled(w.write("x")), wrote, ws.locked]; },
  sizeWrite: async () => { const seen = []; let w, n = 0; const ws = new WritableStream({ write(c) { seen.push(c); } }, { size() { if (!n++) w.write("inner"); return 1; } }); w = ws.getWriter(); return [await settled(w.write("outer")), seen]; },
  sizeThrow: async () => { let w; const ws = new WritableStream({}, { size() { throw new Error("sz"); } }); w = ws.getWriter(); return [await settled(w.write("outer")), await settled(w.closed), await settled(w.ready)]; },
  sizeReleaseThrow: async () => { let w; const ws = new WritableStream({}, { size() { w.releaseLock(); throw new Error("sz"); } }); w = ws.getWriter(); return [await settled(w.write("outer")), ws.locked, await settled(w.closed), await settled(w.ready)]; },
  ctorLocked: async () => { const ws = new WritableStream(); ws.getWriter(); return attempt(() => new WritableStreamDefaultWriter(ws)); },
  closeLocked: async () => { const ws = new WritableStream(); await ws.close(); return [await settled(ws.close()), await settled(ws.abort("x")), attempt(() => typeof ws.getWriter())]; },
};
// Streams that encode, decode and transform, with nobody who reads.
const transforms = {};
for (const [name, make, chunk] of [["enc", () => new TextEncoderStream(), "a"], ["dec", () => new TextDecoderStream(), new Uint8Array([97])], ["ts", () => new TransformStream({transform(c,k){k.enqueue(c)}}), new Uint8Array([97])], ["tss", () => new TransformStream({start(){}, transform(c,k){k.enqueue(c)}}), new Uint8Array([97])],["idt", () => new TransformStream(), new Uint8Array([97])], ["ts1", () => new TransformStream({transform(c,k){k.enqueue(c)}},{},{}), new Uint8Array([97])]]) {
  transforms[name + " idle"] = async () => { const s = make(), w = s.writable.getWriter(); const r = await settled(w.ready); return [w.desiredSize, r]; };
  transforms[name + " write"] = async () => { const s = make(), w = s.writable.getWriter(); const p = w.write(chunk); return [w.desiredSize, await settled(p), w.desiredSize, await settled(w.ready)]; };
  transforms[name + " write2"] = async () => { const s = make(), w = s.writable.getWriter(); const p = w.write(chunk), q = w.write(chunk); return [await settled(p), await settled(q), w.desiredSize]; };
  transforms[name + " write3"] = async () => { const s = make(), w = s.writable.getWriter(); const p = w.write(chunk), q = w.write(chunk), t = w.write(chunk); return [await settled(p), await settled(q), await settled(t), w.desiredSize]; };
  transforms[name + " read"] = async () => { const s = make(), w = s.writable.getWriter(), r = s.readable.getReader(); const p = w.write(chunk), q = w.write(chunk), t = w.write(chunk); const v = await r.read(); return [String(v.value), await settled(p), await settled(q), await settled(t), w.desiredSize]; };
  transforms[name + " close"] = async () => { const s = make(), w = s.writable.getWriter(); return [await settled(w.close())]; };
  transforms[name + " writeclose"] = async () => { const s = make(), w = s.writable.getWriter(); const p = w.write(chunk); const c = w.close(); return [await settled(p), await settled(c), await settled(w.closed)]; };
  transforms[name + " empty"] = async () => { const s = make(), w = s.writable.getWriter(); const p = w.write(name == "enc" ? "" : new Uint8Array()); return [await settled(p), w.desiredSize]; };
  transforms[name + " abort"] = async () => { const s = make(), w = s.writable.getWriter(); const p = w.write(chunk); const q = settled(p), a = await settled(w.abort(new Error("ab"))); return [await q, a]; };
  transforms[name + " cancel"] = async () => { const s = make(), w = s.writable.getWriter(); const p = w.write(chunk), q = settled(p); const c = await settled(s.readable.cancel(new Error("ca"))); return [await q, c, await settled(w.closed)]; };
  transforms[name + " bad"] = async () => { const s = make(), w = s.writable.getWriter(); const p = settled(w.write(name == "enc" ? Symbol("x") : "text")); const c = settled(w.closed); return [await p, await c]; };
  transforms[name + " pipe"] = async () => { let n = 0; const src = new ReadableStream({ pull(c) { if (++n > 9) c.close(); else c.enqueue(chunk); } }); const out = src.pipeThrough(make()); await scheduler.wait(3); const before = n; const t = await new Response(name == "enc" ? out : out.pipeThrough(new TextEncoderStream())).text(); return [before, t]; };
}

// Queues, locks and pipes.
const queues = {
  queued: async () => { const seen = []; const ws = new WritableStream({ async write(c) { seen.push(c); await scheduler.wait(5); } }, { highWaterMark: 3 }); const w = ws.getWriter(); const ps = ["a", "b", "c"].map((c) => w.write(c)); ps.forEach((p) => p.catch(() => {})); const before = w.desiredSize; w.releaseLock(); const v = ws.getWriter(); const after = v.desiredSize; await scheduler.wait(30); return [before, after, seen, v.desiredSize, ...(await Promise.all(ps.map(settled)))]; },
  queuedClose: async () => { const seen = []; const ws = new WritableStream({ async write(c) { seen.push(c); await scheduler.wait(5); }, close() { seen.push("close"); } }, { highWaterMark: 3 }); const w = ws.getWriter(); const ps = ["a", "b", "c"].map((c) => w.write(c)); ps.push(w.close()); ps.forEach((p) => p.catch(() => {})); const before = w.desiredSize; w.releaseLock(); const v = ws.getWriter(); const after = v.desiredSize; await scheduler.wait(30); return [before, after, seen, v.desiredSize, ...(await Promise.all(ps.map(settled))), await settled(v.closed)]; },
  size: async () => { const seen = []; const ws = new WritableStream({ async write(c) { seen.push(c); await scheduler.wait(5); } }, { highWaterMark: 10, size: (c) => c.length }); const w = ws.getWriter(); const ps = ["aa", "bbb", "c"].map((c) => w.write(c)); ps.forEach((p) => p.catch(() => {})); const before = w.desiredSize; w.releaseLock(); const v = ws.getWriter(); const after = v.desiredSize; await scheduler.wait(30); return [before, after, seen, v.desiredSize, ...(await Promise.all(ps.map(settled)))]; },
  startHwm0: async () => { const ws = new WritableStream({ start() {}, write() { return new Promise(() => {}); } }, { highWaterMark: 0 }); const w = ws.getWriter(); return [await settled(w.ready), w.desiredSize]; },
  startHwm1: async () => { const ws = new WritableStream({ start() {}, write() { return new Promise(() => {}); } }); const w = ws.getWriter(); w.write("x"); const r = w.ready; return [await settled(r), w.ready === r, await settled(w.ready), w.desiredSize]; },
  lateWriter: async () => { const ws = new WritableStream({ async start() { await scheduler.wait(5); }, write() { return new Promise(() => {}); } }); const w = ws.getWriter(); w.write("x"); const a = await settled(w.ready); await scheduler.wait(10); const b = await settled(w.ready); w.write("y").catch(() => {}); const c = await settled(w.ready); return [a, b, c, w.desiredSize]; },
  tsCancel: async () => { const t = new TransformStream({ transform(c, k) { k.enqueue(c); } }); await scheduler.wait(2); const w = t.writable.getWriter(); const p = w.write("x"), q = w.write("y"); p.catch(() => {}); q.catch(() => {}); await scheduler.wait(2); const c = await settled(t.readable.cancel(new Error("ca"))); return [await settled(p), await settled(q), c, await settled(w.closed), await settled(w.ready), w.desiredSize, await settled(w.write("z")), await settled(w.close())]; },
  tsCancelIdle: async () => { const t = new TransformStream(); await scheduler.wait(2); const w = t.writable.getWriter(); const c = await settled(t.readable.cancel(new Error("ca"))); return [c, await settled(w.closed), await settled(w.ready), w.desiredSize, await settled(w.write("z")), await settled(w.close())]; },
  tsError: async () => { let k; const t = new TransformStream({ start(c) { k = c; } }); await scheduler.wait(2); const w = t.writable.getWriter(), r = t.readable.getReader(); const p = settled(w.write("x")), q = settled(w.write("y")); await scheduler.wait(2); k.error(new Error("er")); return [await p, await q, await settled(w.closed), await settled(w.ready), w.desiredSize, await settled(r.read()), await settled(w.write("z"))]; },
  tsTerminate: async () => { let k; const t = new TransformStream({ start(c) { k = c; } }); await scheduler.wait(2); const w = t.writable.getWriter(), r = t.readable.getReader(); const p = settled(w.write("x")), q = settled(w.write("y")); await scheduler.wait(2); k.terminate(); return [await p, await q, await settled(w.closed), await settled(w.ready), w.desiredSize, await settled(r.read()), await settled(w.write("z"))]; },
  pipeN: async () => { const out = []; for (const [rs, hw] of [[0, 1], [1, 1], [3, 1], [0, 3], [2, 3]]) { let n = 0; const src = new ReadableStream({ pull(c) { if (++n > 19) c.close(); else c.enqueue("a"); } }, { highWaterMark: 1 }); const t = new TransformStream({ transform(c, k) { k.enqueue(c); } }, { highWaterMark: hw }, { highWaterMark: rs }); src.pipeThrough(t); await scheduler.wait(3); out.push(n); } return out; },
  pipeW: async () => { const out = []; for (const hw of [0, 1, 2, 4]) { let n = 0; const src = new ReadableStream({ pull(c) { if (++n > 19) c.close(); else c.enqueue("a"); } }, { highWaterMark: 1 }); src.pipeTo(new WritableStream({ write() { return new Promise(() => {}); } }, { highWaterMark: hw })); await scheduler.wait(3); out.push(n); } return out; },
  pipeWstart: async () => { const out = []; for (const hw of [0, 1, 2, 4]) { let n = 0; const src = new ReadableStream({ pull(c) { if (++n > 19) c.close(); else c.enqueue("a"); } }, { highWaterMark: 1 }); src.pipeTo(new WritableStream({ start() {}, write() { return new Promise(() => {}); } }, { highWaterMark: hw })); await scheduler.wait(3); out.push(n); } return out; },
  pipeSrc: async () => { const out = []; for (const hw of [0, 1, 2, 4]) { let n = 0; const src = new ReadableStream({ pull(c) { if (++n > 19) c.close(); else c.enqueue("a"); } }, { highWaterMark: hw }); src.pipeTo(new WritableStream({ write() { return new Promise(() => {}); } }, { highWaterMark: 1 })); await scheduler.wait(3); out.push(n); } return out; },
};

const pulls = {};
for (const mark of [0, 1, 2, 4]) pulls[`pulls ${mark}`] = async () => {
  let n = 0;
  const r = new ReadableStream({ pull(c) { if (++n > 19) c.close(); else c.enqueue("a"); } }, { highWaterMark: mark }).getReader(), seen = [];
  for (let i = 0; i < 6; i++) { await scheduler.wait(1); seen.push(n); await r.read(); }
  return seen;
};
for (const last of [1, 2, 3, 4]) pulls[`piped ${last}`] = async () => {
  let n = 0, written = 0;
  new ReadableStream({ pull(c) { if (++n > 19) c.close(); else c.enqueue("a"); } }).pipeTo(new WritableStream({ write() { if (++written >= last) return never(); } }));
  await scheduler.wait(2);
  return [n, written];
};

export default {
  async fetch() {
    const lines = [];
    const say = async (name, fn) => { let answer; try { answer = JSON.stringify(await fn()); } catch (e) { answer = `${e.name}: ${e.message}`; } lines.push(`${name}: ${answer}`); };
    for (const [kind, make] of Object.entries(kinds)) for (const [name, step] of Object.entries(steps)) await say(`${kind} ${name}`, () => { const ws = make(); return step(ws, ws.getWriter()); });
    for (const table of [special, transforms, queues, pulls]) for (const [name, fn] of Object.entries(table)) await say(name, fn);
    return new Response(lines.join("\n"));
  },
};
