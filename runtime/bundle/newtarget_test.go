package bundle

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

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
	v, err := goja.New().RunString(mendExpressions(code))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.String(); strings.Contains(got, "false") {
		t.Errorf("some of them are wrong: %s", got)
	}
	if v, err = goja.New().RunString(code); err == nil && !strings.Contains(v.String(), "false") {
		t.Error("goja does all this by itself now: the rewriting can go")
	}
}

// A literal whose property escape stands in a character class becomes a
// constructor call, as esbuild makes of the others.
func TestPropertyEscapesInClasses(t *testing.T) {
	for code, want := range map[string]string{
		`(/^[$_\p{ID_Start}"]$/u.test(x))`:    `(new RegExp("^[$_\\p{ID_Start}\"]$", "u").test(x))`,
		`(["\\p{L}", /\p{L}/, /[\P{Lu}]/gu])`: `(["\\p{L}", /\p{L}/, new RegExp("[\\P{Lu}]", "gu")])`,
	} {
		if got := mendExpressions(code); got != want {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}
