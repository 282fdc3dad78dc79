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
