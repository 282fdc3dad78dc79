package bundle

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// runMended evaluates a script as units are compiled.
func runMended(t *testing.T, vm *goja.Runtime, code string, shifts bool) goja.Value {
	t.Helper()
	tree, err := goja.Parse("test.js", code, parser.WithDisableSourceMaps)
	if err != nil {
		t.Fatal(err)
	}
	mend(tree, shifts)
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

// Literals that goja cannot do justice to become constructor calls, as esbuild
// makes of others; the text of the function stays.
func TestLiteralsBecomeCalls(t *testing.T) {
	for code, want := range map[string]string{
		`String([/^[$_\p{ID_Start}"]$/u])`:          `new ^[$_\p{ID_Start}"]$ u`,
		`String(["\\p{L}", /\p{L}/, /[\P{Lu}]/gu])`: `\p{L},/\p{L}/,new [\P{Lu}] gu`,
		`String([/(?=a)./i, /(?<a>b)./i])`:          `new (?=a). i,/(?<a>b)./i`,
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

// Shifts keep their meaning, whatever stands on their right, and each goes
// through the helper.
func TestShiftsAreGuarded(t *testing.T) {
	const code = `(function(exports,$shl,$shr){"use strict";
const f = (x) => x + 1, g = (x) => (y) => x + y, o = { n: 2, m() { return 3; } }, a = [4];
let x = 1, y = 1n;
x <<= f(1);
y <<= 3n;
exports.all = [
  1 << o.n, 1 << (x, 2), 1 << (f)(1), 1 << g(1)(2), 1 << a[0], 1 << (o.n + 1), 1 << (1 << o.n), 1 << o.n << o.n, 64 >> (o.n ? 1 : 2), 64 >> o.m(), x, String(y), String(8n >> 1n),
  1 << -o.n, 1 << +"3", 1 << \u0061[0], 1 << function() { return 2; }(), 1 << (() => 2)(), 1 << new Number(2), ` + "1 << `2`, `${1 << o.n} << ${o.n}`" + `, 1 << 5, 64 >> 2, -1 >>> o.n, 1 << typeof o.n.length
];
})`
	if !mayShift(code) || mayShift("x = 1 << 5; y >>>= 2; z >> 0x1f;") || !mayShift("x >>= 0b1n;") {
		t.Error("shifts are not found where they are")
	}
	vm := goja.New()
	call, _ := goja.AssertFunction(runMended(t, vm, code, true))
	exports := vm.NewObject()
	guarded := 0
	helper := vm.ToValue(func(by goja.Value) goja.Value { guarded++; return by })
	if _, err := call(nil, exports, helper, helper); err != nil {
		t.Fatal(err)
	}
	const want = "4,4,4,8,16,8,16,16,32,8,4,8,4,1073741824,8,16,4,4,4,4,4 << 2,32,16,1073741823,1"
	if got := exports.Get("all").String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if guarded != 24 {
		t.Errorf("%d helpers were called", guarded)
	}
}
