// CompressionStream and DecompressionStream: what is read, in which pieces, and what
// errors, aborts and cancellations do to the other side. The bytes of what is compressed
// are not compared, which differ from one compressor to the other.
const text = (s) => new TextEncoder().encode(s);
const told = (e) => (e instanceof Error ? `${e.name}: ${e.message}` : show(e));
const wait = (p) => Promise.race([Promise.resolve(p).then((v) => show(v), told), tick(20).then(() => "pending")]);
const made = async (s, format) => new Uint8Array(await new Response(new Blob([s]).stream().pipeThrough(new CompressionStream(format))).arrayBuffer());
const both = (stream) => ({ w: stream.writable.getWriter(), r: stream.readable.getReader() });
const formats = ["gzip", "deflate", "deflate-raw"];
for (const format of formats) {
  check(`into views ${format}`, async () => {
    const d = new DecompressionStream(format);
    const w = d.writable.getWriter(), r = d.readable.getReader({ mode: "byob" });
    w.write(await made("x".repeat(1000), format)), w.close();
    const out = [];
    for (let i = 0; i < 3; i++) { const { value, done } = await r.read(new Uint8Array(600)); out.push([value.length, value.buffer.byteLength, done]); }
    return out;
  });
  check(`at least ${format}`, async () => {
    const d = new DecompressionStream(format);
    const w = d.writable.getWriter(), r = d.readable.getReader({ mode: "byob" });
    const p = r.read(new Uint8Array(600), { min: 500 });
    const data = await made("x".repeat(700), format);
    for (const b of data) await w.write(Uint8Array.of(b));
    await w.close();
    const { value, done } = await p;
    return [value.length, done];
  });
  check(`joined ${format}`, async () => {
    const { w, r } = both(new DecompressionStream(format));
    const data = await made("x".repeat(5000), format), out = [];
    for (const b of data) out.push(await wait(w.write(Uint8Array.of(b))));
    out.push(w.desiredSize, await wait(w.close()));
    for (let i = 0; i < 3; i++) { const { value, done } = await r.read(); out.push(value?.length, done); }
    return [...new Set(out.slice(0, -8)), ...out.slice(-8)];
  });
  const broken = { truncated: (b) => b.slice(0, -5), trailing: (b) => new Uint8Array([...b, 1, 2, 3]), garbage: () => text("no compressed data"), empty: () => new Uint8Array(0), twice: (b) => new Uint8Array([...b, ...b]) };
  for (const how in broken)
    check(`${how} ${format}`, async () => {
      const { w, r } = both(new DecompressionStream(format));
      const out = [await wait(w.write(broken[how](await made("hello", format)))), await wait(w.close())];
      for (let i = 0; i < 2; i++) out.push(await wait(r.read()));
      return [...out, await wait(r.closed), await wait(w.closed)];
    });
}
for (const [name, stream] of Object.entries({ compression: () => new CompressionStream("gzip"), decompression: () => new DecompressionStream("gzip") })) {
  check(`abort of ${name}`, async () => { const { w, r } = both(stream()); return [await wait(w.abort(new Error("z"))), await wait(r.read()), await wait(r.closed), await wait(w.closed), await wait(w.write(text("a")))]; });
  check(`cancel of ${name}`, async () => { const { w, r } = both(stream()); return [await wait(r.cancel(new Error("z"))), await wait(r.read()), await wait(r.closed), await wait(w.closed), await wait(w.write(text("a"))), await wait(w.close())]; });
  check(`reads of ${name}`, async () => { const { r } = both(stream()); const p = r.read(); return [await wait(r.read()), await wait(p)]; });
  check(`after no bytes ${name}`, async () => { const { w } = both(stream()); const out = []; for (const v of [1, null, undefined, {}, [1]]) out.push(await wait(w.write(v)), w.desiredSize); return out; });
}
check("status codes", () => [2 ** 31, NaN, "x", Infinity].map((v) => [() => new Response(null, { status: v }), () => Response.redirect("http://a/", v), () => { const [a] = Object.values(new WebSocketPair()); a.accept(); a.close(v); }].map((f) => { try { return show(f()); } catch (e) { return told(e); } })));
for (const [name, sink] of Object.entries({ none: undefined, "no write": { close() {} }, "no close": { write() {} } }))
  check(`desired size of ${name}`, async () => {
    const w = new WritableStream(sink, { highWaterMark: 3 }).getWriter(), out = [w.desiredSize];
    for (const v of "abc") w.write(v), out.push(w.desiredSize);
    w.close();
    out.push(w.desiredSize);
    await w.closed;
    return [...out, w.desiredSize];
  });
