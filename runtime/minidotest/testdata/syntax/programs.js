// A variable is assigned to by a logical operator across an await.
let v; v ??= await p(1); log(v); v &&= await p(2); log(v); v = 0; v ||= await p(3); log(v);
// The same of parameters, in nested calls.
log(await (async (a, b = 0) => { a ??= await p(1); b ||= await (async (c) => { c ??= await p(2); return c; })(); return [a, b]; })());
// The same across a yield, and in an async generator.
log(drain((function* (a) { let b = 1; a ??= yield 1; b &&= yield 2; return [a, b]; })())); log(await adrain((async function* (a) { a ??= yield await p(1); return a; })()));
// A function that a logical operator assigns has the variable's name.
let f1, f2; f1 ??= () => 1; f2 ||= class {}; log(f1.name, f2.name);
// What is awaited is asked for no constructor.
log(await { constructor: Promise, a: 1 }); const seen = []; await new Proxy({}, { get(o, k) { seen.push(k); } }); log(seen);
// Promise.prototype is a thenable that is no promise.
try { await Promise.prototype; } catch (e) { log(e); }
// The same in an async generator.
log(await adrain((async function* () { yield await { constructor: Promise }; yield { constructor: Promise, b: 1 }; })()));
// An optional chain that ends before a call with spread arguments.
const q = undefined; log(q?.m(...[1]), [q?.(...[2]), 5], O?.c?.m(...it("a", 1)).x, 1); log(O.m?.(...[1, 2]), delete q?.m(...[1]).a, delete O?.n?.zz?.(...[1])?.a);
// The same with arguments, in defaults, and where the chain is called.
(function () { log(q1?.(...arguments), O.m?.(...arguments), ((x = O?.m(...arguments)) => x)()); })(1, 2); var q1; try { (q1?.m(...[1]).x)(); } catch (e) { log(e); }
// The same with an await or a yield among the arguments.
log(O.b?.(...await p([1])), O.m?.(...await p([1])), delete O.z?.m(...await p([2]))?.a, O.n.x?.()(await p(1)), await (async () => O.b?.(...await p(1)))());
const g = (function* () { log(this.m?.(...yield 1), this?.m?.(...yield 2), this.q?.(...yield 3)); }).call({ m(...a) { return [this.w, ...a]; }, w: 5 }); log(g.next(), g.next([1]), g.next([2]), g.next([3]));
// An optional call of what an optional call gives.
let q = { a() { log(this === q); return null; } }; log(q.a?.()?.(), q.z?.().b, q.z?.()(), q.z?.()?.()?.(), q?.z?.()?.a(), q.b?.c()?.(), (q?.a)(), (() => null)()?.()?.(), 1); log(O.b?.()?.()?.a);
// delete evaluates what is no reference.
log(delete t("a"), delete (t("b"), O.a), delete (t("c") ? O.a : 1)); const del = () => { delete t("d", 2); }; del();
// A computed key behind an accessor of the same name.
const k = t("c", "c"); log({ get [k]() { return 1; }, [k]: t("v", null) }, { set c(v) { log(v); }, a: 1, [k]: 2, ["x" + k]: 3 }); const s = { get c() { return 1; }, [k]: () => 1 }; log(s.c.name);
// A class under a computed key keeps its name.
const k = t("c", "c"); log({ [k]: class N {} }, { [k]: class {} }, { [k]: class N { static { t("x"); } } });
// A member of a primitive value is assigned to.
const n = 5; for (const f of [() => { n.x ??= 2; }, () => { n[1] ||= 2; "abc".length &&= 3; }, () => { [n.x] = [1]; }, () => { ({ a: "abc"[1] } = { a: 1 }); }, () => { for (n.x of [1]); }]) try { f(); } catch (e) { log(e.message); }
// A member of null is assigned to in a pattern: the value is fetched first.
let xs = null; for (const f of [() => { [xs.a] = it("q", 1); }, () => { xs.a ??= t("z"); }, () => { ({ a: xs[t("k", "k")] } = O); }, () => { for (xs.q of it("w", 1)); }, () => { [xs.a = t("d")] = []; }]) try { f(); } catch (e) { log(e.message); }
// using in a loop: an error that was caught is not thrown by the next round.
for (const i of [1, 2, 3]) try { using x = d(i); if (i < 2) fail("q"); log(i); } catch (e) { log(e); }
// await using takes as many turns of the microtask queue as it has to await.
const beat = (async () => { for (let i = 0; i < 12; i++) { t("beat " + i); await null; } })(); { await using a = null; } log(1); { await using a = ad("q"); } log(2); { await using a = ad("q"), b = null, c = ad("r"); using e = d("s"); await using f = d("u"); } log(3); await beat;
// Errors of resources, one after the other.
const bad = (k) => ({ [Symbol.asyncDispose]() { t(k); return r(k); } }); try { await using a = bad("a"), b = bad("b"); using c = { [Symbol.dispose]() { fail("c"); } }; fail("body"); } catch (e) { log(e); }
// The texts of what is no resource.
for (const v of [1, {}, { [Symbol.dispose]: 1 }]) { try { using x = v; } catch (e) { log(e.message); } try { await using x = v; } catch (e) { log(e.message); } } try { await using x = { [Symbol.asyncDispose]: 3 }; } catch (e) { log(e.message); }
// Operands are converted once.
const o = { valueOf() { t("v"); return 2; } }; let w = 5; w %= o; log(w, 5 >> o, 5 * o, 5 << o, 5 / o);
// What stands in an async generator assigns to members of super.
class B { set g(v) { log("g", v, this instanceof A); } get g() { return 3; } } class A extends B { async *run() { super.g = 4; super[t("k", "g")]++; super.g += 3; [super.g, ...super.g] = [9, 1, 2]; ({ a: super.g, b: super.g = 7, ...super.g } = { a: 3 }); for (super.g in { q: 1 }); for (super[t("of", "g")] of [1, 2]); for await (super.g of [p(5)]); for ([super.g] of [[6]]); super.g ??= 8; super.g &&= 8; const f = (x = super.g) => { super.g = x; return super[super.g === 3 ? "g" : "h"]; }; yield f(); } } for await (const x of new A().run()) log(x);
// A pattern that meets null or undefined has looked at the first target, unless the first key is computed.
const T = (k) => ({ get n() { t("n" + k); return {}; } }); for (const f of [() => { ({ a: T(1).n.q } = null); }, () => { ({ a: T(2).n[t("k")], b: T(3).n.q } = undefined); }, () => { ({ [t("c", "a")]: T(4).n.q } = null); }, () => { ({ ...T(5).n.q } = null); }, () => { ({ a: T(6).n.q = t("d"), ...T(7).n.q } = null); }, () => { ({ [t("e", "a")]: T(8).n.q, ...T(9).n.q } = null); }, () => { ({} = null); }, () => { [{ a: T(10).n.q }] = it("i", null, 2); }, () => { ({ a: { b: T(11).n.q } } = { a: null }); }, () => { for ({ a: T(12).n.q } of it("j", null)); }, () => { ({ 1: T(14).n.q } = null); }]) try { f(); log("over"); } catch (e) { log(e.message); }
// The same of variables, declared or not, of parameters, across an await, and where the target throws itself.
let v9; for (const f of [() => { ({ a: v9 } = null); }, () => { const { a, b } = undefined; }, () => { const { a: { b } } = { a: null }; }, () => { (({ a: { b } }) => b)({ a: null }); }, () => { const { ...x } = null; }, () => { ({ a: fail("first").q } = null); }, () => { ({ a: null.q } = undefined); }]) try { f(); log("over"); } catch (e) { log(e); } try { ({ a: (await p(t("w", O))).n.q } = await p(null)); } catch (e) { log(e); } log(drain((function* () { try { ({ a: (yield 1).q, ...(yield 2).z } = null); } catch (e) { yield e.name; } })()));
// super where a class stands belongs to what is around it: in what it extends, in its keys.
class B2 { get g() { return "g"; } get C() { return class { z() { return 1; } }; } static get g() { return "sg"; } static get C() { return Array; } } class A2 extends B2 { async *run() { const c = class extends super.C { [super.g]() { return 2; } static [super.g] = 3; get [(() => super.g)() + 1]() { return 4; } [yield* it("y", 5)] = 6; [await p(super.g) + 2] = 7; }; const o = new c(); yield [o.z(), o.g(), c.g, o.g1, o["endy"], o.g2]; } *gen() { yield new (class extends super.C { [super.g + (yield 1)] = 1; })(); } async as() { return class { static [super.g + await p(1)] = 2; }; } static x = class extends super.C { static [super.g] = 1; }; y = class extends super.C { [super.g]() { return 8; } }; static { log(class { static [super.g] = 9; }.sg); } } for await (const x of new A2().run()) log(x); log(drain(new A2().gen()), (await new A2().as()).g1, A2.x.sg, new (new A2().y)().g());
// super in the parameters of an async generator, where esbuild moves them into another function.
class B3 { get g() { return 3; } set g(v) { log("set", v); } m(...x) { return [this instanceof A3, ...x]; } static s() { return "s"; } } class A3 extends B3 { async *run(a, b = super.m(a), { c: [e = super.g++] = [], [super.g]: f = super["m"](super.g) } = {}, g = () => super.g, h = (super.g = 5), i = class extends super.constructor.B { [super.g]() {} }, ...rest) { yield [a, b, e, f, g(), h, typeof i, rest, super.g]; } static async *st(a = super.s(), b = () => super.s()) { yield a + b(); } } A3.prototype.constructor.B = B3; B3.prototype.constructor.B = B3; for await (const x of new A3().run(1, undefined, undefined, undefined, undefined, undefined, 7)) log(x); for await (const x of A3.st()) log(x); const o3 = { __proto__: { y: 4, m() { return 6; } }, async *m(x = super.y, z = super.m()) { yield x + z + super.y; } }; for await (const x of o3.m()) log(x);
// An async generator without a name gets that of a computed key.
const k4 = "kk", o4 = { [k4]: async function*() {}, get b() { return 1; }, [k4 + 1]: async function*(a = 1) {}, [Symbol("x")]: async function*([a]) {} }; for (const n of Reflect.ownKeys(o4)) log(String(n), o4[n].name); ((h = async function*(z = 1) {}, i = async function* j() {}) => log(i.name, Object.getPrototypeOf(h) === Object.getPrototypeOf(o4.kk)))(); for await (const x of o4.kk()) log(x);
