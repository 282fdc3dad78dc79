// ECMA-262: what goja lacks or has otherwise, and is made good.
function* count(n) { for (let i = 0; i < n; i++) yield i; }
const described = (o, k) => { const d = Object.getOwnPropertyDescriptor(o, k); return [d.get?.name ?? d.value?.name, d.enumerable, d.configurable, d.writable]; };
// 17: built-in functions and their properties
check("members", () => [[WeakRef.prototype, "deref"], [FinalizationRegistry.prototype, "register"], [ArrayBuffer.prototype, "detached"], [ArrayBuffer.prototype, "maxByteLength"], [Iterator.prototype, Symbol.toStringTag], [Intl.NumberFormat.prototype, "format"], [Intl.Collator.prototype, "resolvedOptions"]].map(([o, k]) => described(o, k)));
check("unscopables", () => Object.keys(Array.prototype[Symbol.unscopables]).sort());
// 21.1.3.2
check("toExponential", () => [(-1e-7).toExponential(3), (-12345).toExponential(), (0).toExponential(2), (-0).toExponential(1), (25).toExponential(0), NaN.toExponential()]);
// 21.4.4
check("dates", () => [new Date(0).toString(), new Date(0).toTimeString(), new Date(-1e14).toISOString(), new Date(-62198755200000).toISOString(), new Date(8.64e15).toISOString(), new Date(0) + 1]);
// 26.2
check("registry", () => { const f = new FinalizationRegistry(() => {}), o = {}; return [f.register(o, 1, o), f.unregister(o), f.unregister(o), threw(() => f.register({}, 1, 5)), threw(() => f.register(Symbol.for("x"), 1)), f.register(Symbol("x"), 1)]; });
// 27.1: joint iteration and what follows it
check("zip", () => [[...Iterator.zip([[1, 2], ["a", "b", "c"]])], [...Iterator.zip([[1, 2, 3], ["a"]], { mode: "longest", padding: [0, "z"] })], threw(() => [...Iterator.zip([[1], []], { mode: "strict" })]), [...Iterator.zip([])], threw(() => Iterator.zip([1])), threw(() => Iterator.zip([], { mode: "x" }))]);
check("zipKeyed", () => [[...Iterator.zipKeyed({ a: [1, 2], b: count(3) })], [...Iterator.zipKeyed({ a: [1], b: [2, 3], c: undefined }, { mode: "longest", padding: { a: 9 } })]]);
check("zip closes", () => { const log = []; const it = (n) => ({ [Symbol.iterator]() { return { i: 0, next() { return { value: this.i++, done: this.i > n }; }, return() { log.push("return" + n); return {}; } }; } }); const r = [...Iterator.zip([it(5), it(2), it(9)])].length; const z = Iterator.zip([it(3), it(4)]); z.next(); z.return(); return [r, log]; });
check("join, includes", () => [[1, null, "x"].values().join("-"), [].values().join(), count(3).includes(2), count(3).includes(1, 2), [NaN].values().includes(NaN), threw(() => count(1).includes(0, -1)), threw(() => count(1).includes(0, 1.5))]);
// 27.6: async generators: the order of what happens, and what they are
const ticks = (log, n) => { let p = Promise.resolve(); for (let i = 0; i < n; i++) p = p.then(() => { log.push(i); }); };
const settled = async (log) => { await tick(); return log; };
const note = (log) => (v) => { log.push(v); };
check("requests wait", () => { const log = []; async function* g() { try { yield 1; yield Promise.resolve(2); return 3; } finally { log.push("finally"); } } const it = g(); it.next().then(note(log)); it.next().then(note(log)); it.return(9).then(note(log)); it.next().then(note(log)); ticks(log, 12); return settled(log); });
check("delegation", () => { const log = []; async function* g() { yield* [1, 2]; } (async () => { for await (const x of g()) log.push("v" + x); log.push("end"); })(); ticks(log, 16); return settled(log); });
check("return awaits in try", async () => { async function* g() { try { return Promise.reject(new Error("x")); } catch (e) { yield "caught " + e.message; } } return Array.fromAsync(g()); });
check("return of a waiting one", async () => { async function* inner() { try { yield 1; } finally { await null; yield "cleanup"; } } async function* g() { yield* inner(); } const it = g(); return [await it.next(), await it.return(Promise.resolve(5)), await it.next(), await it.next()]; });
check("throw passes through", async () => { async function* inner() { try { yield 1; } catch (e) { yield "got " + e; } } async function* g() { yield* inner(); return "end"; } const it = g(); await it.next(); return [await it.throw("x"), await it.next(), await athrew(() => it.throw(new TypeError("y"))), await it.next()]; });
check("before the start", async () => { let ran = false; async function* g() { ran = true; } const a = g(), b = g(); return [await a.return(Promise.resolve(1)), await athrew(() => b.throw(new RangeError("x"))), await a.next(), await b.next(), ran]; });
check("super", async () => { class A { async *g(n) { yield this.k + n; } get v() { return "v"; } } class B extends A { k = "k"; async *g(n) { yield* super.g(n); yield super.v; const f = () => super.g(3); yield* f(); } } return Array.fromAsync(new B().g(1)); });
check("kinds", () => { const e = async function* () {}; async function* d() {} const it = d(); const AsyncGeneratorPrototype = Object.getPrototypeOf(e).prototype; return [it, Object.getPrototypeOf(e) === Object.getPrototypeOf(d), e.constructor.name, e.name, Object.getPrototypeOf(Object.getPrototypeOf(it)) === AsyncGeneratorPrototype, Reflect.ownKeys(AsyncGeneratorPrototype).map(String).sort(), Object.getPrototypeOf(AsyncGeneratorPrototype) === Object.getPrototypeOf(Object.getPrototypeOf(new ReadableStream().values())), it[Symbol.asyncIterator]() === it, described(AsyncGeneratorPrototype, "next")]; });
check("wrong receivers", () => athrew(() => Object.getPrototypeOf(async function* () {}).prototype.next.call({})));
check("for await", async () => [await athrew(async () => { for await (const x of { [Symbol.asyncIterator]: () => ({ next: () => 5 }) }); }), await athrew(async () => { for await (const x of 5); }), await athrew(async () => { for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }); })]);
check("for await over a list", () => { const log = []; (async () => { for await (const x of [Promise.resolve("a"), "b"]) log.push(x); log.push("end"); })(); ticks(log, 10); return settled(log); });
check("yield* is not async", () => { const both = { *[Symbol.iterator]() { yield 1; }, async *[Symbol.asyncIterator]() { yield 2; } }; function* g() { return yield* both; } return [...g()]; });
check("async dispose", async () => { const log = []; async function* g() { try { yield 1; } finally { log.push("closed"); } } const it = g(); await it.next(); return [await it[Symbol.asyncDispose](), log]; });
// ECMA-402, 11: eras
check("eras", () => { const d = new Date(Date.UTC(2024, 1, 29, 13)), b = new Date(-7e13); const f = (o, t = d) => new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...o }).format(t); return [f({ era: "short" }), f({ era: "long" }), f({ era: "narrow" }), f({ era: "short" }, b), f({ era: "short", year: "numeric", month: "long", day: "numeric" }), f({ era: "short", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric", hour12: false }), f({ era: "short", year: "numeric" }, b)]; });
