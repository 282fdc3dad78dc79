// Runs the checks of one file below web/, in order, and answers with a line for
// each: its name and what it gave. Both minido and the reference run it.
const queue = [];
const check = (name, fn) => queue.push([name, fn]);
// fn gives a list; each of its elements is a line.
const each = (name, fn) => queue.push([name, fn, true]);
const show = (v, depth = 0) => {
  if (typeof v === "bigint") return v + "n";
  if (typeof v === "function") return "fn " + v.name;
  if (typeof v === "symbol") return String(v);
  if (v === undefined) return "undefined";
  if (Object.is(v, -0)) return "-0";
  if (typeof v === "string") return JSON.stringify(v);
  if (typeof v !== "object" || v === null) return String(v);
  if (depth > 4) return "...";
  if (v instanceof Error) return `${v.name}(${v.constructor?.name})`;
  if (Array.isArray(v)) return "[" + v.map((x) => show(x, depth + 1)).join(", ") + "]";
  if (v instanceof ArrayBuffer) return "AB(" + new Uint8Array(v).join() + ")";
  if (ArrayBuffer.isView(v)) return v.constructor.name + "(" + Array.from(new Uint8Array(v.buffer, v.byteOffset, v.byteLength)).join() + ")";
  const tag = Object.prototype.toString.call(v);
  if (tag !== "[object Object]") return tag;
  return (
    "{" +
    Object.keys(v)
      .map((k) => k + ": " + show(v[k], depth + 1))
      .join(", ") +
    "}"
  );
};
// What fn throws, by name and class: texts are nobody's contract.
const failure = (verb, e) => (e instanceof Error || e instanceof DOMException ? `${verb} ${e.name}(${e.constructor.name})` : `${verb} ${show(e)}`);
const threw = (fn) => {
  try {
    return "ok " + show(fn());
  } catch (e) {
    return failure("throws", e);
  }
};
const athrew = async (fn) => {
  try {
    return "ok " + show(await fn());
  } catch (e) {
    return failure("rejects", e);
  }
};
const tick = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));
const flush = async () => {
  for (let i = 0; i < 30; i++) await null;
};
export default {
  async fetch() {
    const lines = [];
    for (const [name, fn, split] of queue) {
      const late = Symbol();
      let line;
      let v;
      try {
        v = await Promise.race([(async () => fn())(), tick(3000).then(() => late)]);
        line = v === late ? "never settles" : show(v);
      } catch (e) {
        line = failure("threw", e) + ": " + String(e?.message).slice(0, 150);
      }
      if (split && Array.isArray(v)) v.forEach((x, i) => lines.push(`${name} ${i} => ${typeof x === "string" ? x.replaceAll("\n", "\\n") : show(x)}`));
      else lines.push(name + " => " + line);
    }
    return new Response(lines.join("\n") + "\n");
  },
};
