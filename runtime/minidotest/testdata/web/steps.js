// ECMA-262: the steps of built-ins that proxies, objects like arrays and functions
// of the program's see, in their order.
const traced = (target, fn) => {
  const log = [];
  const key = (k) => (typeof k === "symbol" ? String(k.description) : k);
  const p = new Proxy(target, {
    get: (t, k, r) => (log.push("get " + key(k)), Reflect.get(t, k, r)), set: (t, k, v, r) => (log.push("set " + key(k)), Reflect.set(t, k, v, r)),
    has: (t, k) => (log.push("has " + key(k)), Reflect.has(t, k)), deleteProperty: (t, k) => (log.push("delete " + key(k)), Reflect.deleteProperty(t, k)),
    defineProperty: (t, k, d) => (log.push("define " + key(k) + " " + Object.keys(d)), Reflect.defineProperty(t, k, d)),
    getOwnPropertyDescriptor: (t, k) => (log.push("describe " + key(k)), Reflect.getOwnPropertyDescriptor(t, k)),
    getPrototypeOf: (t) => (log.push("prototype"), Reflect.getPrototypeOf(t)),
  });
  let result;
  try { result = show(fn(p, log)); } catch (e) { result = failure("throws", e); }
  return result + " " + log.join(", ");
};
const seen = (name, target, ...args) => check(name + " " + args.map(show).join(), () => traced(target(), (p) => { const v = Array.prototype[name].apply(p, args); return v === p ? "receiver" : v; }));
// 23.1.3: each method reads length once, and asks for elements as it says
const numbers = () => [3, 1, , 2], alike = () => ({ length: "3", 0: "b", 2: "a" });
for (const target of [numbers, alike]) {
  for (const [name, ...args] of [["at", -1], ["at", {}], ["concat", 1, [2]], ["copyWithin", 0, 1], ["every", (v) => v], ["every"], ["fill", 0, 1, 2], ["filter", (v) => v > 1], ["find", () => true],
    ["findLastIndex", () => false], ["flat"], ["flatMap", (v) => [v, v]], ["forEach", () => 1], ["includes", 2], ["indexOf", 2], ["join", "-"], ["lastIndexOf", 3], ["map", (v) => v],
    ["pop"], ["push", 1], ["reduce", (a, b) => a + b], ["reduceRight", (a, b) => a + b], ["reverse"], ["shift"], ["slice", 1], ["some", () => true], ["sort"], ["splice", 1, 1, 7, 8],
    ["toReversed"], ["toSorted"], ["toSpliced", 1, 1], ["unshift", 0], ["with", 0, 1], ["with", 9, 1], ["toString"], ["toLocaleString"]]) seen(name, target, ...args);
}
seen("slice", () => ({ length: 2 ** 53 + 1, [2 ** 53 - 2]: "end" }), -1);
seen("indexOf", () => ({ length: 2 ** 53 - 1, [2 ** 53 - 2]: "end" }), "end", -2);
seen("push", () => ({ length: 2 ** 53 - 1 }), 1);
check("what is no function is not asked for its text", () => { let n = 0; const o = { toString() { n++; return "o"; } }; return ["map", "reduce", "flatMap", "sort", "find"].map((name) => threw(() => [1, 2][name](o)) + n); });
check("species", () => { const log = []; const a = [3, 1, 2]; a.constructor = { get [Symbol.species]() { log.push("species"); return function (n) { log.push("new " + n); return { length: 0 }; }; } }; return ["map", "filter", "slice", "splice", "concat", "flat"].map((m) => show(a[m]((v) => v)) + log.splice(0)); });
check("cyclic join", () => { const a = new Proxy([1, 2], {}); a[1] = a; return a.join(); });
// 23.1.3.30.1: what is compared, and when, as V8 chooses
const compared = (n, by) => { const l = []; const a = Array.from({ length: n }, (_, i) => (i * 7919) % n % 97); a.sort((x, y) => (l.push(x + ":" + y), by(x, y))); let h = 7; for (const c of l.join() + a) h = (Math.imul(h, 31) + c.charCodeAt(0)) >>> 0; return [l.length, h]; };
for (const n of [2, 5, 15, 17, 31, 64, 65, 127, 128, 130, 500, 1777]) check("compared " + n, () => [compared(n, (x, y) => x - y), compared(n, () => 1), compared(n, () => -1), compared(n, (x, y) => y - x), compared(n, (x, y) => (x >> 2) - (y >> 2))]);
check("typed arrays compare", () => { const l = []; const a = Float32Array.of(5, 2, 4, 1, 3).sort((x, y) => (l.push(x + ":" + y), x - y)); return [a, l.join(" "), Int8Array.of(3, 1, 2).toSorted((x, y) => y - x)]; });
check("a comparison's result is a number", () => [threw(() => [1, 2].sort(() => Symbol())), threw(() => [1, 2].sort(() => 1n)), [2, 1].sort(() => ({ valueOf: () => 1 })), [10, 9, 1].sort(undefined), ["b", undefined, "a"].sort((x, y) => (x < y ? -1 : 1))]);
// 7.3.18: arguments are read once
for (const [name, call] of Object.entries({ apply: (p) => Math.max.apply(null, p), "Reflect.apply": (p) => Reflect.apply(Math.max, null, p), construct: (p) => Reflect.construct(Array, p) })) check("arguments of " + name, () => traced({ length: 2, 0: 5, 1: 6 }, call));
check("Reflect.apply of no function", () => traced({}, (p) => Reflect.apply(p, 1, [])));
// 22.2.6: objects that act as regular expressions
const acting = (answers, flags) => ({ flags, lastIndex: 0, exec(s) { return answers.length ? answers.shift() : null; } });
for (const [name, ...rest] of [["match"], ["replace", "<$1$&$<n>$$>"], ["search"], ["split", 5]]) for (const flags of ["", "g", "gu", "y"]) {
  check(`${name} by ${flags}`, () => traced(acting([{ index: 1, 0: "b", length: 2, 1: "c", groups: { n: "z" } }, { index: 2, 0: "", length: 1 }], flags), (p) => RegExp.prototype[Symbol[name]].call(p, "abcd", ...rest)));
}
check("exec of the program's", () => { const l = []; const r = /b/g; r.exec = function (s) { l.push(s + this.lastIndex); return RegExp.prototype.exec.call(this, s); }; return ["abab".match(r), "abab".replace(r, "x"), "abab".search(r), "abab".split(r), r.test("b"), [..."abab".matchAll(r)].length, l]; });
check("subclass", () => { class R extends RegExp { exec(s) { const m = super.exec(s); if (m) m[0] = m[0].toUpperCase(); return m; } } return ["abab".match(new R("b", "g")), "abab".replace(new R("b", "g"), "[$&]"), "a1b22".split(new R("\\d")), new R("a") instanceof R]; });
check("exec that answers something else", () => [5, "x", undefined, true].map((v) => threw(() => RegExp.prototype[Symbol.match].call({ exec: () => v, flags: "" }, "a"))));
// 25.3.2.1, 23.2.5.1: constructors without arguments, where buffers that can be resized exist
check("no arguments", () => [new ArrayBuffer(1, { maxByteLength: 2 }).resizable, new Uint8Array().length, threw(() => new DataView())]);
// 21.4.4: every argument is converted, of a date that is none too
check("parts of a date", () => ["setHours", "setUTCMinutes", "setMonth", "setFullYear"].map((name) => { let n = 0; const o = { valueOf() { n++; return 1; } }; new Date(NaN)[name](o, o); new Date(0)[name](NaN, o); return n; }));
check("Date.UTC", () => { let n = 0; const o = { valueOf() { n++; return NaN; } }; return [Date.UTC(o, o, o), n, threw(() => Date.UTC(1n)), threw(() => new Date(0).setHours(Symbol()))]; });
// 22.1.3.32, 22.1.3.13, B.2.2
check("texts", () => ["\u00a0a\ud800b\ufeff".trim().length, "\udc00 ".trimEnd().charCodeAt(0), threw(() => "a".anchor(Symbol())), threw(() => String.prototype.bold.call(Symbol()))]);
check("a pattern's own method", () => { const log = []; const p = { get [Symbol.match]() { log.push("match"); }, get [Symbol.search]() { log.push("search"); }, toString() { log.push("text"); return "b"; } }; return ["abc".match(p).index, "abc".search(p), log]; });
check("exponents", () => [(-7.25).toExponential("x"), (7.25).toExponential(NaN), threw(() => (1).toExponential(101)), (1.5).toExponential(undefined)]);
// 20.2.3.6
check("hasInstance", () => { class A {} const P = new Proxy(A, {}), has = Function.prototype[Symbol.hasInstance]; return [has.call(P, new A()), has.call(P, {}), has.call({}, {}), has.call(P, 1), new P() instanceof P]; });
// 10.5.6: a trap's descriptor is made for it
check("descriptors", () => { const log = []; const p = new Proxy({}, { defineProperty(t, k, d) { log.push(k, Object.getPrototypeOf(d) === Object.prototype, Object.keys(d)); return true; } }); const d = { configurable: 1, value: 2, extra: 3, __proto__: null }; Object.defineProperty(p, "a", d); Reflect.defineProperty(p, "b", { get: undefined }); Object.defineProperties(p, { c: d, d: new Map() }); return [log, threw(() => Object.defineProperty(p, "e", { get: 1 })), threw(() => Reflect.defineProperty(p, "f", 5)), threw(() => Object.defineProperties(p, { g: { get() {}, value: 1 } })), threw(() => Object.defineProperties(p))]; });
check("keys of functions", () => [function () {}, class { static x; }, function* () {}, () => 1, async () => 1, { m() {} }.m].map((f) => Reflect.ownKeys(f)));
// 27.2.4.8, 25.5.2, 21.2.1.1, 25.1.6.7, 23.1.2.1, 23.2.5.1
check("capabilities", () => [threw(() => Promise.withResolvers.call(function (f) { f(1, 2); })), threw(() => Promise.withResolvers.call(function (f) { f(() => 1, () => 2); f(() => 1, () => 2); }))]);
check("raw", () => ["1", " 1", "", "{}", "-Infinity", "null", '"a"', "tru"].map((s) => threw(() => JSON.rawJSON(s).rawJSON)).concat(JSON.rawJSON({ toString: () => "2" }).rawJSON));
check("big integers", () => [threw(() => BigInt([1, 2])), threw(() => BigInt({ valueOf: () => 1.5 })), BigInt([7]), threw(() => Reflect.apply(BigInt, null, [])), threw(() => [].values().drop(1n))]);
check("a slice of nothing", () => { const b = new ArrayBuffer(4); b.transfer(); return threw(() => b.slice(0)); });
check("from", () => traced({ length: 2, 0: 5, 1: 6 }, (p) => Array.from(p, (v) => v + 1)) + traced({ length: 2, 0: 5, 1: 6 }, (p) => new Int8Array(p)) + traced([7, 8], (p) => Array.from(p)) + traced([7, 8], (p) => new Int8Array(p)));
check("from closes", () => { let n = 0; const it = { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), return() { n++; return {}; } }) }; return [threw(() => Array.from(it, () => { throw new URIError(); })), threw(() => Array.from.call(function () { return Object.freeze({}); }, it)), n]; });
check("halves", () => { const log = []; const d = new DataView(new ArrayBuffer(4)), o = (name, v) => ({ valueOf() { log.push(name); return v; } }); d.setFloat16(o("at", 1), o("value", 1.5)); return [d.getFloat16(1), log, threw(() => d.setFloat16(o("far", 9), o("then", 1))), log, threw(() => d.setUint8(o("once", 9), 1)), log]; });
// 22.1.3.20
check("replaceAll of nothing", () => [["a\ud800b", "-"], ["é", "[$`|$'|$&|$$]"], ["ü", (m, at, s) => m + at + s], ["", "x"], ["ab", "-"], ["😀", "-"], ["é", ""]].map(([s, by]) => [s.replaceAll("", by), s.replaceAll([], by)]));
// 22.1.3.28, 22.1.3.15: halves of characters stay
check("halves of characters", () => ["toLowerCase", "toUpperCase", "toLocaleLowerCase", "toLocaleUpperCase", "normalize"].map((name) => ["É\ud800ß\udc00é", "\ud800", "😀É\udfff", "ÄΣ", "e\u0301\ud800"].map((s) => Array.from(s[name](), (c) => c.codePointAt(0).toString(16)).join())));
check("concat of a proxy", () => traced([1, , 2], (p) => [0].concat(p)));
