// Reads into views: what the end of a stream, answers and new views do to those that wait,
// and to the request that a source holds.
const u8 = (...a) => new Uint8Array(a);
const told = (e) => (e instanceof Error ? `${e.name}: ${e.message}` : show(e));
const tried = (fn) => {
  try {
    return show(fn());
  } catch (e) {
    return told(e);
  }
};
const outcome = (p) => Promise.race([p.then(show, told), flush().then(() => "pending")]);
const request = (c) => tried(() => c.byobRequest && [show(c.byobRequest.view), c.byobRequest.atLeast]);
const make = () => {
  let c;
  const s = new ReadableStream({ type: "bytes", start(x) { c = x; } });
  return { s, c };
};
for (const K of [Uint8Array, Uint16Array]) for (const n of [0, 1, 2, 3]) for (const min of [1, 2])
  check(`close ${K.name} ${n} ${min}`, async () => {
    const { s, c } = make();
    const r = s.getReader({ mode: "byob" });
    if (n) c.enqueue(new Uint8Array(n).fill(7));
    const reads = [r.read(new K(4), { min }), r.read(new K(4))];
    const out = [tried(() => c.close()), request(c)];
    for (const p of [...reads, r.read(new K(4)), r.closed]) out.push(await outcome(p));
    return out;
  });
for (const n of [1, 2, 3]) for (const min of [1, 3])
  check(`close, then read ${n} ${min}`, async () => {
    const { s, c } = make();
    const r = s.getReader({ mode: "byob" });
    c.enqueue(new Uint8Array(n).fill(7));
    c.close();
    const out = [];
    for (let i = 0; i < 3; i++) out.push(await outcome(r.read(new Uint16Array(3), { min })));
    return [...out, await outcome(r.closed)];
  });
const answers = {
  "respond 0": (q) => q.respond(0), "respond 1": (q) => q.respond(1), "respond 9": (q) => q.respond(9), "respond -1": (q) => q.respond(-1), "respond x": (q) => q.respond("x"),
  "respond 2**31": (q) => q.respond(2 ** 31), "respond Infinity": (q) => q.respond(Infinity), "respond ()": (q) => q.respond(),
  "view 0": (q) => q.respondWithNewView(new Uint8Array(0)), "view 1": (q) => q.respondWithNewView(new Uint8Array(1)), "view of 1": (q) => q.respondWithNewView(q.view.subarray(0, 1)),
  "view further on": (q) => q.respondWithNewView(q.view.subarray(1, 2)), "no view": (q) => q.respondWithNewView({}),
};
const ends = { open: () => {}, closed: (c) => c.close(), failed: (c) => c.error(new Error("x")), canceled: (c, r) => void r.cancel("y"), answered: (c) => c.byobRequest.respond(2) };
for (const end in ends) for (const answer in answers)
  check(`${end}, ${answer}`, async () => {
    const { s, c } = make();
    const r = s.getReader({ mode: "byob" });
    const reads = end === "answered" ? [r.read(new Uint8Array(4))] : [r.read(new Uint8Array(4)), r.read(new Uint8Array(4))];
    const q = c.byobRequest;
    for (const p of [...reads, r.closed]) p.catch(() => {});
    ends[end](c, r);
    const out = [c.byobRequest === q, request(c), tried(() => answers[answer](q)), c.byobRequest === q];
    for (const p of reads) out.push(await outcome(p));
    return out;
  });
for (const v of [-1, NaN, "x", "2", 1.5, Infinity, 2 ** 31, null, true, undefined, 0, 5])
  check(`at least ${v}`, async () => {
    const read = async (f) => outcome(f(make().s.getReader({ mode: "byob" })));
    return [await read((r) => r.read(new Uint8Array(4), { min: v })), await read((r) => r.readAtLeast(v, new Uint8Array(4)))];
  });
for (const then of ["close", "enqueue"])
  check(`closed, then ${then}`, () => [tried(() => { const { c } = make(); c.close(); c[then](u8(1)); }), tried(() => { const { c } = make(); c.enqueue(u8(1)); c.close(); c[then](u8(1)); }), tried(() => { const { c } = make(); c.error(1); c[then](u8(1)); })]);
check("each read asks", async () => {
  let pulls = 0;
  const r = new ReadableStream({ type: "bytes", pull() { pulls++; } }).getReader({ mode: "byob" });
  r.read(u8(1));
  await flush();
  r.read(u8(1));
  await flush();
  return pulls;
});
