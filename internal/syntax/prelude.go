package syntax

// Prelude declares what programs use. Each program gets what world() answers:
//
//	t(k, v)   logs k and answers v
//	p(v), r(v) a promise of v, a rejected one
//	z()       whether there is fuel for another turn of a loop
//	O         an object whose members log what is done with them
//	it, ai    iterables that log, one synchronous, one not
//	d(k), ad(k) resources for using and await using
//
// The log names errors of the engine by their constructor alone: their texts are
// compared elsewhere.
const Prelude = `
Function.prototype.toString = function () { return "code"; }; // bundlers change it
class Own extends Error {}
const show = (v, deep = 0) => {
  if (typeof v === "string") return JSON.stringify(v.slice(0, 99));
  if (typeof v === "bigint") return v + "n";
  if (typeof v === "symbol") return String(v);
  if (typeof v === "function") return "fn:" + v.name;
  if (v === null || typeof v !== "object") return Object.is(v, -0) ? "-0" : String(v);
  if (v instanceof SuppressedError) return "Suppressed(" + show(v.error, 2) + "," + show(v.suppressed, 2) + ")";
  if (v instanceof Error) return v instanceof Own ? "Own:" + v.message : v.constructor.name;
  if (v instanceof Promise) return "Promise";
  if (deep > 2) return "...";
  if (Array.isArray(v)) return "[" + Array.from(v, (x, i) => i in v ? show(x, deep + 1) : "") + "]";
  if (v.hidden) return v.hidden;
  return "{" + Reflect.ownKeys(v).map((k) => { const d = Object.getOwnPropertyDescriptor(v, k); return String(k) + (d.get || d.set ? "*" : ":" + show(d.value, deep + 1)); }) + "}";
};
// Not logged: goja converts what is called and no function, for the text of its error.
const conversions = new Set([Symbol.toPrimitive, Symbol.toStringTag, "valueOf", "toString"]);
const world = () => {
  const out = [];
  let fuel = 24;
  const put = (text) => { if (out.length < 400) out.push(text.slice(0, 200)); };
  const log = (...v) => put(v.map((x) => show(x)).join(" "));
  const t = (k, v) => { put(k); return v; };
  const p = (v) => new Promise((done) => done(v)), r = (v) => Promise.reject(new Own(v)), fail = (v) => { throw new Own(v); };
  const z = () => fuel-- > 0;
  const O = new Proxy({ a: 1, b: null, c: undefined, d: "s", m(...v) { log("O.m", ...v); return this === O ? O : 7; }, n: { q: 0, w: undefined } }, {
    get(o, k, self) { if (!conversions.has(k)) t("get " + String(k)); return o[k]; },
    set(o, k, v, self) { t("set " + String(k) + "=" + show(v)); o[k] = v; return true; },
    has(o, k) { t("has " + String(k)); return k in o; },
    deleteProperty(o, k) { t("delete " + String(k)); return delete o[k]; },
  });
  Object.defineProperty(O.n, "hidden", { value: "N" });
  out.length = 0;
  const it = (k, ...v) => ({ hidden: "it", [Symbol.iterator]() { t("open " + k); let i = 0; return {
    next(x) { t("next " + k + show(x)); return i < v.length ? { value: v[i++], done: false } : { value: "end" + k, done: true }; },
    return(x) { t("return " + k + show(x)); return { value: x, done: true }; },
    throw(x) { t("throw " + k + show(x)); return { value: "thrown", done: true }; } }; } });
  const ai = (k, ...v) => ({ hidden: "ai", [Symbol.asyncIterator]() { t("aopen " + k); let i = 0; return {
    next(x) { t("anext " + k + show(x)); return p(i < v.length ? { value: v[i++], done: false } : { value: "end" + k, done: true }); },
    return(x) { t("areturn " + k + show(x)); return p({ value: x, done: true }); },
    throw(x) { t("athrow " + k + show(x)); return p({ value: "thrown", done: true }); } }; } });
  const d = (k) => ({ hidden: "d", [Symbol.dispose]() { t("dispose " + k); } });
  const ad = (k) => ({ hidden: "ad", [Symbol.asyncDispose]() { t("adispose " + k); return p(k); } });
  const tag = (s, ...v) => { log("tag", s.length, ...v); return v[0]; };
  const f = (...v) => { log("f", ...v); return v[0]; };
  class Base { constructor(...v) { log("Base", ...v); } get g() { t("Base.g"); return 3; } set g(v) { log("Base.g=", v); } m(...v) { log("Base.m", ...v); return v.length; } static s(...v) { log("Base.s", ...v); return 4; } }
  const drain = (g) => { const all = []; let s, n = 0; while (n++ < 9 && !(s = g.next(n)).done) all.push(s.value); return [...all, s.value]; };
  const adrain = async (g) => { const all = []; let s, n = 0; while (n++ < 9 && !(s = await g.next(n)).done) all.push(s.value); return [...all, s.value]; };
  return { out, log, t, p, r, fail, z, O, it, ai, d, ad, tag, f, Base, drain, adrain, fs: [] };
};
// Runs one program and answers its log.
const trial = async (program) => {
  const w = world();
  let over = false;
  const end = (text) => (v) => { w.log(text, v); over = true; };
  const all = (async () => program(w))().then(end("done"), end("failed"));
  await Promise.race([all, new Promise((done) => setTimeout(done, 0))]);
  for (const g of w.fs) try { w.log("later", g()); } catch (e) { w.log("later failed", e); }
  if (!over) w.out.push("HUNG");
  return w.out.join("\n");
};
`

// Names destructures what a program uses from its parameter.
const Names = `{ log, t, p, r, fail, z, O, it, ai, d, ad, tag, f, Base, drain, adrain, fs }`
