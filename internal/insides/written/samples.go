package written

// Samples has instructions of each kind that is written.
const Samples = `
var v1 = 1; let l1 = 2; const c1 = 3; function f1() {} class K1 {}
v1 = v1 + 1; l1++; v1 ??= 2; typeof v9; delete v9; v9 = 1; (() => { "use strict"; v9 = 2; v9++; v9(); })();
;(function (a, b) {
	"use strict";
	a.b = 1; a.b ??= 2; a.b(); new a(b); new a(...b); a(...b); a.b(...b); a?.b?.(); a?.[b]; delete a.b; delete a[b]; a.b++; a[b]++; b = a.b = 1; b = a.b += 1; a[b] ||= 1; b = a[b] ||= 1;
	b = [1, ...a, , 2]; b = {a, b: 1, [a]: 2, get c() {}, set c(x) {}, get [a]() {}, set [a](x) {}, m() {}, [a]() {}, ...b, __proto__: a, async am() {}, *gm() {}};
	b = /a/g; b = ` + "`a${b}c`; b = a`x${b}y`" + `; b = a ** b; b = a in b; b = a instanceof b; b = void a; b = 1n; b = "ç"; b = null; b = true; b = 1.5;
	b = new.target; b = (a, b);
	for (const x of a) { if (x) continue; break; } for (const x in a) { b = () => x; } for (let i = 0; i < 3; i++) { b = () => i; }
	try { a(); } catch (e) { b = e; } finally { b = 1; } try { a(); } catch { } try { a(); } catch ({m}) { b = () => m; }
	switch (a) { case 1: b = 2; break; default: b = 3; } l: for (;;) { for (;;) { continue l; } }
	var {x, y = 1, ...r} = a; var [p, q = 2, ...s] = a; ({x, y: a.b, [b]: a[b]} = a); [x, a.b, a[b]] = a; throw a;
})
;(function (a, {b, c = 1}, [d], ...rest) { arguments[0] = 1; return () => [a, b, arguments, this]; })
;(function (a) { "use strict"; return arguments; })
;(function () { return eval("1"), v1, () => v1 = 2; })
;(function (a) { with (a) { b; b = 1; b(); b++; typeof b; delete b; } })
;(function () { "use strict"; return super_; })
;(async function (a) { await a; return await a; })
;(async () => { await 1; })
;(function* (a) { const x = yield a; yield* a; yield 1; const z = yield* a; return x + z; })
;({ async m(a) { await a; return super.x; }, *g() { yield super.y(); }, s(a) { super.x = a; super[a] = 1; super[a](); super.z++; return super[a]; } })
;(class A extends f1 { #p = 1; #q; static #s = 2; static { this.#s = 3; } f = 1; static g = 2; ["k"] = 3; #m() { return this.#p; } get #acc() { return 1; } set #acc(v) {} static #sm() {}
	constructor() { super(); this.#p++; this.#q = this.#m(); this.#acc = this.#acc; this.#p ??= 1; const f = () => this; new.target; #p in this; super.m(); } m() { super.m(); } get x() { return super.x; } static sm() { return A.#sm(); } })
;(class { constructor() { return () => this; } })
;(class B extends f1 {})
;(class extends f1 { constructor(...a) { super(...a); this.x = 1; } })
;(class extends f1 { constructor(a) { if (a) super(a); this.x = 1; return this; } })
;(class { [v1] = 1; [v1 + 1] = () => 2; static [v1] = 3; #p; m(a) { return this.#p = a; } n() { return eval("this.#p"), this.#p = 1; } })
;(function (a, b) { a.b = 1; b = a.b = 2; a[1] = 2; b = a[1] = 3; delete a.b; delete a[1]; a[0](); a[b](b); a[0] += 1; for (a.b in a); for (a[0] of []); ({x: a[0], y: a.z} = b); [a[0], a.b] = b; a.b++; b = { [a]: function () {}, [b]: () => 1, [a]: class {} }; ({ [a]: b } = a); })
;(function f2(a) { return f2(a - 1) + (() => f2)(); })
;(function (a) { try { return a(); } finally { a.b(); } })
;(function (a) { for (;;) { try { a(); continue; } finally { break; } } })
;(function (a) { try { a(); } catch (e) { return () => e; } })
;(function (a, ...rest) { return rest.length + a; })
;(function (...rest) { return () => rest; })
;(function (a) { var h; let k; const g = () => h + k; return (h = a) + (k = a); })
;(function (a, b) { eval("var h"); h = 1; b = h = 2; h(); h++; typeof h; let k = 1; { let q = k; eval(""); k = q; return () => { k = 3; h = k; return k = a; }; } })
;(function (a) { let k; with (a) { k = 1; k(); k++; k = a = 2; return () => k; } })
;(function (a) { let k; const f = () => a; with (a) { k++; k = f; return k; } })
;(function (a, b = () => a) { var a; { function n() {} } return eval("a"); })
;({ m(a, b) { "use strict"; super[a] = 1; b = super[a] = 2; super.z = 1; b = super.z = 2; super[a]++; super.z ??= 1; b = delete a?.b; b = delete a?.[b]; b = a?.b(b)?.c?.[b]; b = a?.[b]?.(b); } })
;({ set x(a) { super.y; delete this[a]; }, ["m" + v1](a) { return super[a]; } })
`

// LoopSamples has each instruction that the loop of package insides does.
const LoopSamples = `(function (a, b) {
	"use strict";
	let c = 1, f = 1.5; var d; c = a + b - c * a / b % c; c = a & b | c ^ a; c = a << b >> c >>> a; c += 1;
	d = a < b; d = a <= b; d = a > b; d = a >= b; d = a == b; d = a != b; d = a === b; d = a !== b;
	c++; c--; d = -a; d = +a; d = ~a; d = !a; d = typeof a; d = a++; a = d = c = b;
	if (a && b || c) d = a?.b; d = a ?? b; d ??= c; a = a || b; for (;;) { if (a) break; } do { a(); } while (b);
	d = a.b + a.length; a.b(c); a[b] = c; d = a[b] = c; d = a[b]++; a.b += 1; d = [a, b] = c; 
	{ let e = a; d = e; e = 1; }
	return this;
})
;(function (a, b) { a[b] = 1; let c = a[b] = 2; return c; })
;(function (a, b = 1) { let c = a, g; var h; g = h = c; c = g; h = c; let k = () => a + c; c = 2; g = c = 3; c++; return k; })
;(function (a, ...rest) { let c = a, d; var h; const f = () => a; d = c; h = d; d = h = c; c = d = h; let q; q = c; { let z = c; z = q; q = z = 5; } return h + q; })
;(function (a) { var h = a; return () => { h = 1; return h; }; })
;(function (x) { "use strict"; let c = 0, e; const m = (y) => { c = y; e = c = y; let h = x + c; h = c; return h; }; return m; })
`
