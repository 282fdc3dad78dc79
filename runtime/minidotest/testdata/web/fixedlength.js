// Streams that pass bytes on: what overruns and underruns of a FixedLengthStream, a
// cancellation and an abort do to the other side. Each step ends before the next.
const from = (s) => new TextEncoder().encode(s);
const told = (e) => (e instanceof Error ? `${e.name}: ${e.message}` : show(e));
const wait = (p) => Promise.race([Promise.resolve(p).then((v) => show(v), told), tick(20).then(() => "pending")]);
const steps = (name, make, list) =>
  each(name, async () => {
    const stream = make();
    const s = { stream, w: stream.writable.getWriter(), r: list.reader === false ? null : stream.readable.getReader() };
    const started = [["closed of the writer", s.w.closed]];
    if (s.r) started.push(["closed of the reader", s.r.closed]);
    for (const [what, step] of list) {
      started.push([what, step(s)]);
      await tick(2);
    }
    const out = [];
    for (const [what, p] of started) out.push(`${what}: ${await wait(p)}`);
    return [...out, "desiredSize: " + threw(() => s.w.desiredSize)];
  });
const fixed = (n) => () => new FixedLengthStream(n);
const w = (text) => ["write " + text, (s) => s.w.write(from(text))];
const r = ["read", (s) => s.r.read()];
const close = ["close", (s) => s.w.close()];
const abort = (reason) => ["abort " + show(reason), (s) => s.w.abort(reason)];
const ready = ["ready", (s) => s.w.ready];
const cancel = (...reason) => ["cancel " + reason.map(told), (s) => (s.r ?? s.stream.readable).cancel(...reason)];
const unread = (list) => Object.assign(list, { reader: false });

each("constructor", () => [[], [1.5], [undefined], [null], ["3"], [2 ** 53], [2 ** 64], [NaN], [-0.5], [-1], [-1n], [2n ** 64n], [5n]].map((a) => {
  try { return show(new FixedLengthStream(...a)); } catch (e) { return told(e); }
}));
steps("too many at once", fixed(3), [w("abcd"), r, w("a"), close]);
steps("too many in two writes", fixed(3), [w("ab"), r, w("cd"), r, r, w("a")]);
steps("one more", fixed(3), [w("abc"), r, r, w("d"), r, close]);
steps("more than none", fixed(0), [r, w("a"), close]);
steps("none", fixed(0), [close, r]);
steps("too few", fixed(3), [w("ab"), r, close, r, w("c"), close]);
steps("nothing", fixed(3), [close, r]);
steps("too few, read first", fixed(3), [r, close, r]);
each("bodies", async () => {
  const body = async (stream, ...writes) => {
    const writer = stream.writable.getWriter();
    const all = [...writes.map((text) => writer.write(from(text))), writer.close()];
    const text = new Response(stream.readable).text();
    return show(await Promise.all([...all, text].map(wait)));
  };
  return [await body(new FixedLengthStream(3), "a"), await body(new FixedLengthStream(3), "abcd"), await body(new FixedLengthStream(3), "abc", "d"), await body(new FixedLengthStream(3), "ab", "c")];
});
each("pipes", async () => {
  const pipe = async (source, stream) => show(await Promise.all([source.pipeTo(stream.writable), new Response(stream.readable).text()].map(wait)));
  const one = () => new ReadableStream({ start(c) { c.enqueue(from("abc")); c.close(); } });
  return [await pipe(new Response("abcd").body, new FixedLengthStream(5)), await pipe(one(), new FixedLengthStream(5)), await pipe(one(), new FixedLengthStream(3)),
    await wait(new Response(new Response("abcd").body.pipeThrough(new FixedLengthStream(2))).text())];
});
for (const [name, make] of [["identity", () => new IdentityTransformStream()], ["fixed", fixed(3)]]) {
  for (const reason of [["z"], [], [new Error("boo")], [null]]) steps(`${name} canceled`, make, unread([ready, cancel(...reason), w("a"), close, ready, abort("q")]));
  steps(`${name} canceled in a write`, make, unread([w("a"), cancel("z"), w("b"), close]));
  steps(`${name} canceled in a read`, make, [r, cancel("z"), r, w("b"), close]);
  steps(`${name} canceled when closed`, make, unread([close, cancel("z"), w("b")]));
  steps(`${name} aborted in a write`, make, [w("a"), abort(new Error("boo")), r, w("b")]);
  steps(`${name} aborted in a read`, make, [r, abort("z"), r, w("b")]);
  steps(`${name} aborted`, make, unread([abort("z"), w("b"), close]));
  steps(`${name}, no bytes`, make, [r, ["write 1", (s) => s.w.write(1)], ["write {}", (s) => s.w.write({})], w("ab"), r]);
  each(`${name}, a pipe into a canceled one`, async () => {
    const stream = make();
    const log = [];
    await stream.readable.cancel("z");
    log.push(await wait(new ReadableStream({ pull(c) { c.enqueue(from("a")); }, cancel(reason) { log.push("source canceled: " + told(reason)); } }).pipeTo(stream.writable)));
    return log;
  });
}
