package mend

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// runMended evaluates a script as units are compiled.
func runMended(t *testing.T, vm *goja.Runtime, code string, shifts bool) goja.Value {
	t.Helper()
	return runMendedBy(t, vm, code, mender{bounds: shifts})
}

func runMendedBy(t *testing.T, vm *goja.Runtime, code string, m mender) goja.Value {
	t.Helper()
	tree, err := goja.Parse("test.js", code, parser.WithDisableSourceMaps)
	if err != nil {
		t.Fatal(err)
	}
	if err := mend(tree, m); err != nil {
		t.Fatal(err)
	}
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vm.RunProgram(program)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// new.target is undefined in a plain call, also while a constructor runs, and
// is what it should be in every kind of construction.
func TestNewTarget(t *testing.T) {
	const code = `(() => {
  function plain() { return new.target === undefined; }
  const arrow = function() { return (() => new.target)() === undefined; };
  const refuses = function(x) { if (new.target) throw new Error("called with new"); return x; };
  class Base { constructor() { this.made = new.target; this.inside = [plain(), arrow(), refuses(true), Reflect.apply(plain, {}, [])]; } }
  class Derived extends Base { constructor() { const nt = () => new.target; super(); this.own = nt(); } }
  function Old() { this.made = new.target; }
  const b = new Base(), d = new Derived(), o = new Old(), r = Reflect.construct(Old, [], Base);
  let refused = false;
  try { new refuses(1); } catch (e) { refused = e.message === "called with new"; }
  return [plain(), ...b.inside, ...d.inside, b.made === Base, d.made === Derived, d.own === Derived, o.made === Old, r.made === Base, refused].join();
})()`
	if got := runMended(t, goja.New(), code, false).String(); strings.Contains(got, "false") {
		t.Errorf("some of them are wrong: %s", got)
	}
	if v, err := goja.New().RunString(code); err == nil && !strings.Contains(v.String(), "false") {
		t.Error("goja does all this by itself now: the mending can go")
	}
}

// An async generator that is the default of a parameter has its name; where the helper of
// async generators is the code's own, nothing is done.
func TestAsyncGeneratorsAsDefaults(t *testing.T) {
	const code = `(() => { const $async = (fn, name) => name, __asyncGenerator = () => {}; return ((h = function(_0) { return __asyncGenerator(this, arguments, function*() {}); }) => typeof h + (h.name ?? h))(); })()`
	for async, want := range map[bool]string{true: "stringh", false: "functionh"} {
		if got := runMendedBy(t, goja.New(), code, mender{async: async}).String(); got != want {
			t.Errorf("async %t: got %s", async, got)
		}
	}
}

// Literals that goja cannot do justice to become constructor calls, as esbuild
// makes of others; the text of the function stays.
func TestLiteralsBecomeCalls(t *testing.T) {
	for code, want := range map[string]string{
		`String([/^[$_\p{ID_Start}"]$/u])`:          `new ^[$_\p{ID_Start}"]$ u`,
		`String(["\\p{L}", /\p{L}/, /[\P{Lu}]/gu])`: `\p{L},/\p{L}/,new [\P{Lu}] gu`,
		`String([/(?=a)./i, /(?<a>b)./i])`:          `new (?=a). i,/(?<a>b)./i`,
		`String([/(?i:a)/, /(?:(a)|b)+/, /(ab)+/])`: `new (?i:a) ,new (?:(a)|b)+ ,/(ab)+/`,
		`String(function() { return /[\p{L}]/u; })`: `function() { return /[\p{L}]/u; }`,
	} {
		vm := goja.New()
		if _, err := vm.RunString(`globalThis.RegExp = class { constructor(p, f) { this.s = "new " + p + " " + f; } toString() { return this.s; } }`); err != nil {
			t.Fatal(err)
		}
		if got := runMended(t, vm, code, false).String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}

// A literal that is no pattern is an early error, with V8's text and its place.
func TestLiteralsAreChecked(t *testing.T) {
	for code, want := range map[string]string{
		"1;\n/(?<a>x)(?<a>y)/":   "SyntaxError: Invalid regular expression: /(?<a>x)(?<a>y)/: Duplicate capture group name at test.js:2:1",
		"f(/(?i:a)/gg)":          "SyntaxError: Invalid regular expression flags at test.js:1:3",
		"/(?<a>)\\k<b>/.test(1)": "SyntaxError: Invalid regular expression: /(?<a>)\\k<b>/: Invalid named capture referenced at test.js:1:1",
	} {
		tree, err := goja.Parse("test.js", code, parser.WithDisableSourceMaps)
		if err != nil {
			t.Fatal(err)
		}
		if err = mend(tree, mender{}); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", code, err, want)
		}
	}
}

// Shifts keep their meaning, whatever stands on their right, and each goes
// through the helper.
func TestShiftsAreGuarded(t *testing.T) {
	const code = `(function(exports,$shl,$shr){"use strict";
const f = (x) => x + 1, g = (x) => (y) => x + y, o = { n: 2, m() { return 3; } }, a = [4], i = 1, l = 64;
let x = 1, y = 1n;
x <<= f(1);
y <<= 3n;
exports.all = [
  i << o.n, i << (x, 2), i << (f)(1), i << g(1)(2), i << a[0], i << (o.n + 1), i << (i << o.n), i << o.n << o.n, l >> (o.n ? 1 : 2), l >> o.m(), x, String(y), String(8n >> 1n),
  i << -o.n, i << +"3", i << \u0061[0], i << function() { return 2; }(), i << (() => 2)(), i << new Number(2), ` + "i << `2`, `${i << o.n} << ${o.n}`" + `, 1 << 5, 64 >> 2, -1 >>> o.n, i << typeof o.n.length
];
})`
	if !mayBound(code) || mayBound("x = 1 << 5; y >>>= 2; z >> 0x1f;") || !mayBound("x >>= 0b1n;") {
		t.Error("shifts are not found where they are")
	}
	checkGuarded(t, code, "4,4,4,8,16,8,16,16,32,8,4,8,4,1073741824,8,16,4,4,4,4,4 << 2,32,16,1073741823,1", 24)
}

// Products, quotients and remainders keep their meaning, and what is on their
// right goes through the helper unless it is a variable with a number.
func TestFactorsAreGuarded(t *testing.T) {
	const code = `(function(exports,$shl,$shr,$mul){"use strict";
const o = { n: 4, big: 3n, toString() { return "8"; } }, n = 6, big = 5n, absent = undefined, nothing = null;
let x = 7, y = 7n;
x *= o.n;
y *= big;
y %= n && 4n;
exports.all = [
  n * n, n * o.n, n / o.n, n % o.n, x, y, big * big, big * o.big, big / o.big, big % o.big, 2 * o.n, o.n * 2, o.n / .5, n * o, n * absent, n * nothing, n * "3", n * -o.n,
  n * n * n, n * (n - n / o.n), [n].map((v) => v * v)[0], o.n ? n * n : 0
].map(String).join();
})`
	if !mayBound("a * b") || !mayBound("a /= b;") || !mayBound("a % 7n") || mayBound("a * 2 + b / 0.5 % 3; c *= 2;") {
		t.Error("factors are not found where they are")
	}
	checkGuarded(t, code, "36,24,1.5,2,28,3,25,15,1,2,8,8,8,48,NaN,0,18,-24,216,27,36,36", 17)
}

// checkGuarded runs code with helpers that count their calls, and checks what it
// exports as `all`.
func checkGuarded(t *testing.T, code, want string, calls int) {
	t.Helper()
	vm := goja.New()
	call, _ := goja.AssertFunction(runMended(t, vm, code, true))
	exports := vm.NewObject()
	guarded := 0
	helper := vm.ToValue(func(by goja.Value) goja.Value { guarded++; return by })
	if _, err := call(nil, exports, helper, helper, helper); err != nil {
		t.Fatal(err)
	}
	if got := exports.Get("all").String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if guarded != calls {
		t.Errorf("%d helpers were called", guarded)
	}
}

// A function that stands where it gets its name from has it in stacks, too; the
// helper is left where the name is another, or the function gets none by itself.
func TestFunctionsHaveTheirNamesInStacks(t *testing.T) {
	const code = `(() => {
  const helped = [];
  const __name = (fn, name) => { helped.push(name); Object.defineProperty(fn, "name", { value: name, configurable: true }); return fn; };
  const me = (stack) => stack.split("\n")[1].replace(/^\s*at (?:([^(]+) \()?.*/, "$1");
  const arrow = __name(() => me(new Error().stack), "arrow");
  const anonymous = __name(function() { return me(new Error().stack); }, "anonymous");
  let later; later = __name(async () => me(new Error().stack), "later");
  const o = { member: __name(() => me(new Error().stack), "member") };
  const given = (f = __name(() => 1, "f")) => f.name;
  const _other = __name(() => me(new Error().stack), "other");
  const named = __name(function own() { return me(new Error().stack); }, "named");
  class A { field = __name(() => me(new Error().stack), "field"); constructor() { this.made = me(new Error().stack); } }
  class B extends A { constructor() { super(); this.own = me(new Error().stack); } }
  class _D { static { __name(this, "D"); } constructor() { this.made = me(new Error().stack); } }
  const b = new B(), C = class { constructor() { this.made = me(new Error().stack); } };
  return [given(), arrow(), anonymous(), o.member(), _other(), named(), b.field(), b.made, b.own, new _D().made, new C().made, later.name, A.name, B.name, C.name, typeof A.prototype.constructor, arrow.name, _other.name, named.name].join() + " " + helped;
})()`
	const want = "f,arrow,anonymous,member,,own,field,new A,new B,new D,,later,A,B,C,function,arrow,other,named other,named,D,f"
	if got := runMendedBy(t, goja.New(), code, mender{names: true}); got.String() != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// ECMA-262, section 13.3.7.1: super is allowed in the initializers of fields and in
// static blocks, wherever the class stands.
func TestSuperOutsideOfMethods(t *testing.T) {
	const code = `class A { cm() { return 1; } static sm() { return 2; } }
class B extends A {
  q = super.cm(); list = [super.cm(), () => super.cm()]; named = () => super.cm();
  static s = super.sm(); static f = function() {};
  static { var x = super.sm(); this.block = x + 1; for (const k of [1]) this.last = k + super.sm(); }
}
const b = new B();
[b.q, b.list[0], b.list[1](), b.named(), b.named.name, B.s, B.f.name, B.block, B.last, typeof x].join();`
	if got, want := runMended(t, goja.New(), code, false).String(), "1,1,1,1,named,2,f,3,3,undefined"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// ECMA-262, section B.3.4: the variable of a catch clause may be declared again.
func TestCaughtVariableDeclaredAgain(t *testing.T) {
	const code = `[
  (() => { try { throw 1; } catch (e) { var e = 2, f = e; if (f) { var e; } return [e, f].join(); } })(),
  (() => { try { throw 1; } catch (e) { var e = 2; } return e; })(),
  (() => { try { throw 1; } catch (e) { for (var i = 0, e = 5; i < 1; i++); return e; } })(),
  (() => { try { throw 1; } catch (e) { for (var e in { k: 1 }); return e; } })(),
  (() => { try { throw 1; } catch (e) { return (() => { var e = 3; return e; })() + e; } })(),
  (() => { try { throw 1; } catch (e) { if (e) var e = 5; return e; } })(),
  (() => { try { throw 0; } catch (e) { if (e) ; else var e = 8, f = e; return [e, f].join(); } })(),
  (() => { try { throw 1; } catch (e) { a: var e = 7; return e; } })(),
  (() => { try { throw 1; } catch (e) { do var e = e + 4; while (e < 6); while (e < 11) var e = e + 1; return e; } })(),
  (() => { try { throw 1; } catch (e) { for (const i of [1]) var e = e + i; for (const k in [1, 2]) var e = e + k; for (; e.length < 4;) var e = e + "!"; return e; } })(),
  (() => { try { throw 1; } catch (e) { if (!e) var e; else if (e) a: if (e) var e = 6; return e; } })(),
].join(";");`
	if got, want := runMended(t, goja.New(), code, false).String(), "2,2;;5;k;4;5;8,8;7;11;201!;6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// ECMA-262, section 10.2.11: arguments are those of the innermost function that is
// no arrow function, also where arrow functions alone name them.
func TestArgumentsInArrowFunctions(t *testing.T) {
	const code = `[
  (function() { return (() => arguments[0])(); })(1),
  (function() { "use strict"; return (() => arguments.length)(); })(1, 2),
  (function(a) { return () => arguments[0] + a; })(3)(),
  (function() { return [1].map(() => arguments[0])[0]; })(4),
  ({ m() { return (() => (() => arguments[0])())(); } }).m(5),
  new (class { constructor() { this.a = (() => arguments[0])(); } })(6).a,
  (function() { const r = []; for (const x of [1]) r.push(() => ({ arguments }).arguments[0] + x); return r[0](); })(7),
  (function() { try { throw 1; } catch (e) { return (() => arguments[0] + e)(); } })(8),
  [...(function*() { yield (() => arguments[0])(); })(9)][0],
  (function(...rest) { return ((f) => f())(() => arguments.length + rest.length); })(1, 2),
  (function(a, g = () => arguments.length) { return g(); })(1, undefined, 3),
  (function(a, { g = () => arguments[0], h: [k = () => arguments.length] } = { h: [] }, ...r) { var q = 1; return (() => g() + k() + r.length + arguments[3] + q)(); })(1, undefined, 3, 4),
  ({ m(a, g = ((f) => f())(() => arguments.length)) { return g; } }).m(1),
  [...(function*(a, g = () => () => arguments[0] + a) { yield g()(); })(9)][0],
  new (class { constructor(a, g = () => ({ arguments }).arguments[0]) { this.a = g() + a; } })(6).a,
  (function(a, g = function() { return arguments.length; }, h = () => arguments.length) { "use strict".length; return g() + h(); }).call(null, 1, undefined, undefined),
].join();`
	if got, want := runMendedBy(t, goja.New(), code, mender{arguments: true}).String(), "1,2,6,4,5,6,8,9,9,4,3,12,1,18,12,3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// ECMA-262, section 14.15.3: a catch clause does not catch what the finally block
// beside it throws, and that block runs once.
func TestFinallyThatThrows(t *testing.T) {
	const code = `[0, 1].map((first) => {
  const log = [];
  try { try { if (first) throw 1; } catch (e) { log.push("c" + e); } finally { log.push("f"); throw 2; } } catch (e) { log.push(e); }
  log.push((() => { l: try { if (first) throw 3; return "r"; } catch { break l; } finally { log.push("g"); } return "s"; })());
  return log.join();
}).join(";");`
	if got, want := runMended(t, goja.New(), code, false).String(), "f,2,g,r;c1,f,2,g,s"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// ECMA-262, section 13.10: comparisons are grouped from the left.
func TestComparisonsInARow(t *testing.T) {
	const code = `((a, b, o) => [1 < 2 < 3, 3 > 2 > 1, 3 > (2 > 1), a < b < (a | 1) < 2, a < (b, 1) < 1, (a < b) < (b < a), a >= (")(", b) >= a,
  "a" in o in { true: 1 }, o instanceof Object instanceof Object, 2 > (f(")") > a) > 0, 1 < 2 == true].join())(1, 2, { a: 1 });
function f() { return 5; }`
	want := "true,false,true,true,true,false,false,true,false,true,true"
	if got := runMended(t, goja.New(), code, false).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// ECMA-262, section 13.2.9: parentheses group what they are around, whatever else
// there is of them in strings, templates, regular expressions and comments.
func TestComparisonsInParentheses(t *testing.T) {
	const head = "((b, x, id, s, object) => { function* g() { return G; } const i = g(); let r = i.next(); if (!r.done) r = i.next(2); return String(r.value); })(2, true, (v) => v, '', {})"
	for _, left := range []string{
		"(b ?? 2)", "(b || 2)", "(b = 2)", "(x ? 2 : 0)", "(0, id)(2)", "(0, 2)", "((b))", "id(2)", "b", "+(b)", "(b)++", "new (id, Number)(2)",
		"/* @__PURE__ */ id(2)", "/* ) */ id(/* ( */2)", "id(2 // )\n)", "id(`${`)`}`.length + 1)", "id(`${{ a: `}${1}(` }.a.length - 1}`)", "id`)`.length + 1", "(id)`(`.length + 1",
		`/\)/.exec(")").length + 1`, `id(/[)]/.test(")") ? 2 : 2)`, `id(/[/(]/.test("(") ? 2 : 2)`, `/=\(/.exec("=(").length / 1 + 1`, "4 / (2) / 1", `(")").length + 1`, `"\\".length + 1`, `'"('.length`,
		"((() => 2))()", "(function(a = ')') { return b; })()", "[b, '(']['0']", "{ b }.b", "(async (a) => 1, 2)", "class { static s = '(' }.s.length + 1",
	} {
		if strings.HasPrefix(left, "{") {
			left = "(" + left + ")"
		}
		for code, want := range map[string]string{
			"3 > (L > 1)": "true", "3 > L > 1": "false", "3 > (L) > 1": "false", "3 > (L > (1))": "true", "(3 > L) > 1": "false", "3 > ((L) > 1)": "true",
			"3 > /* ( */ (/* ) */ L > 1)": "true", "3 > (((L)) > 1) > 0": "true", "3 > (L > 1 > 0)": "true", "(3 > (L > 1)) > 0": "true", "id(3 > L) > (1 > 0)": "false", "id(3 > (L > 1))": "true",
		} {
			code = strings.ReplaceAll(code, "L", left)
			if got := runMended(t, goja.New(), strings.ReplaceAll(head, "G", code), false).String(); got != want {
				t.Errorf("%s: %s, want %s", code, got, want)
			}
		}
	}
	for code, want := range map[string]string{
		"0 < ((() => 1) instanceof Function)": "true", "0 < (() => 1) instanceof Function": "false", "0 < ((a) => a) instanceof Function": "false", "1 > ((a, b) => (a)) < 1": "true",
		"3 > ((yield 1) > 1)": "true", "3 > (yield 1) > 1": "false",
		"0 <= (async (a) => a) instanceof Function": "false", "0 <= ((async (a) => a) instanceof Function)": "true",
		"('(' in object) < ((')') in object)": "false", "'a' in ({ a: ')' }) in { true: '(' }": "true",
	} {
		if got := runMended(t, goja.New(), strings.ReplaceAll(head, "G", code), false).String(); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
}

// ECMA-262, section 14.6.2: what a condition that never holds stands before changes
// nothing.
func TestCodeThatCannotRun(t *testing.T) {
	const code = `[
  ((a) => { if (2) a = 3; else { [a, a] = [5, 6]; L: { let v = a; if (void 0) break L; (() => v)(); } } const f = () => a; a = 7; return f() + a; })(1),
  ((a) => { for (const i of [1]) { if (false) { let v = --a; if ([...(function* () { yield v; })()].length) continue; } } return (() => a)(); })(2),
  ((a) => { if (!1) { var b = 1; } else if ("x") { a++; } return [a, b].join("/"); })(2),
  ((o) => (true ? o.f : (() => o)())())({ f() { return this === undefined; } }),
  ((a) => [false && (a = 5), 0 || a, "" && (() => a)(), null ?? 4, (1, 1) ? a : 0].join("/"))(9),
  (() => { const log = []; O: for (let i = 0; i < 2; i++) { while (false) { log.push(2, 3); if (i) continue O; else break O; } log.push(i); } return log; })(),
  (() => { const log = []; O: for (let i = 0; i < 2; i++) { for (; null;) { if (i) continue O; break O; } log.push(i); } return log; })(),
  (() => { const log = []; O: for (let i = 0; i < 2; i++) { for (;;) { log.push(i); break; if (i) continue O; else { log.push(5, 6); break O; } } } return log; })(),
  (() => { const log = []; A: { B: { if (-1) { log.push(1); } else { log.push(2, 3, 4, 5); log.push(6); break A; } log.push(7); } log.push(8); } return log; })(),
  (() => { A: { B: { break B; var q = 5; let r = () => q; function g() { return 4; } if (q) break A; } return typeof q; } })(),
].join(";");`
	if got, want := runMended(t, goja.New(), `"use strict";`+code, false).String(), "14;2;3/;true;false/9//4/9;0,1;0,1;0,1;1,7,8;undefined"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// ECMA-262, section 20.2.3.5: the text of a function is that of its source, to the
// last parenthesis.
func TestTextOfArrowFunctions(t *testing.T) {
	for _, source := range []string{`() => (1, 2)`, `(a) => ((a))`, `x => ({ y: (x) })`, `() => (1).z`, `() => [(")")]`, `() => { return (1); }`, `() => (() => (1, (2)))`, `async (a = (1)) => (await a, 2)`} {
		if got := runMended(t, goja.New(), "const f = "+source+"; String(f)", false).String(); got != source {
			t.Errorf("got %s, want %s", got, source)
		}
		if got := runMended(t, goja.New(), "[String("+source+")][0]", false).String(); got != source {
			t.Errorf("got %s, want %s", got, source)
		}
	}
}

// 8.6.3: the default of a parameter is named like it.
func TestNamesOfDefaults(t *testing.T) {
	const code = `[(p = () => {}) => p.name, function (p = function () {}) { return p.name }, (p = class {}) => p.name, { m(a, p = async () => {}) { return p.name } }.m, (p = class { static name() {} }) => typeof p.name, (p = (0, () => {})) => p.name, (p = function q() {}) => p.name].map((f) => f()).join()`
	if got := runMended(t, goja.New(), code, false).String(); got != "p,p,p,p,function,,q" {
		t.Fatal(got)
	}
}

// The scanner for an expression's end reads regular expressions, comments and
// templates as what they are, and stays within the code.
func TestEndsOfExpressions(t *testing.T) {
	for _, c := range []struct {
		code string
		end  int
	}{{`f(")"), 1`, 6}, {"`${a(`)`)}` ) ", 12}, {"/[\"'/]/.test(x))", 15}, {"/'/g, 1", 4}, {"a / b / c, '", 9}, {"a /= '/', 1", 8}, {"f(a) / 2 + /[)]/.b)", 18}, {"(// don't )\n1), 2", 14},
		{"`${a, `b`}`, 1", 11}, {"/* , ' */ 1, 2", 11}, {"x => {\n  if (a) /'/.test(b);\n}, 1", 30}, {"return / '/, 1", 11}, {"a++ / b, '/", 7}, {"a ? b : c, 1", 9}, {"a ?? b : c", 7}, {"a?.b : c", 5}, {"/a/ / 2, '/", 7}, {"/*/ ' */ 1, 2", 10}, {"`${", 3}, {"\"\\", 2}, {"", 0}, {"a /* , */ b; c", 11}} {
		if end := expressionEnd(c.code, 0); end != c.end {
			t.Errorf("%q ends at %d, want %d", c.code, end, c.end)
		}
	}
}

// 20.2.3.5: an arrow function's text has the parentheses that its body ends with,
// wherever they began.
func TestParenthesesOfArrows(t *testing.T) {
	for _, source := range []string{`(x) => (/["']/.test(x), 1)`, `(a) => (b) => (a(), b)`, `x => x && (x(), 1)`, `x => x ? 1 : (x(), /[']/)`, `x => x + (1, 2)`, `(f = () => 1) => (f(")"), 1)`,
		"(x) => (\n  // don't\n  (x + 1, 2)\n)", "x => (`${x, `)`}`, 1)", `x => (x)`, `x => f(x)`, `x => x`, `x => f(")(")`} {
		if got := runMended(t, goja.New(), "String(("+source+"))", false).String(); got != source {
			t.Errorf("got %s, want %s", got, source)
		}
	}
	if got := runMended(t, goja.New(), "String(f(1 ? (x) => (x(), 1) : (y) => (y(), 2))); function f(g) { return g }", false).String(); got != "(x) => (x(), 1)" {
		t.Error("in a conditional expression:", got)
	}
}
