package engine

import (
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides"
)

// However a program joins strings, in whatever kind of function, a string that is
// too long is a RangeError before it is made; sums and short strings are as ever.
func TestJoinedStringsAreBounded(t *testing.T) {
	w := newWorld(t)
	if _, err := w.e.vm.RunString(`var long = "ab".repeat(7e7)`); err != nil {
		t.Fatal(err)
	}
	for _, join := range []string{"s + s", "`${s}${s}`", "(s += s, s)", "`${s}${s}`.concat(s)", "s + s + '\u4e00'"} {
		for _, shape := range []string{
			"JOIN",
			"(() => JOIN)()",
			"(function () { return JOIN; })()",
			"new (class { x = JOIN })().x",
			"(class { static x = JOIN }).x",
			"new (class A { constructor() { this.x = JOIN } })().x",
			"new (class B extends Object { x = JOIN })().x",
			"({ m() { return JOIN } }).m()",
			"({ get m() { return JOIN } }).m",
			"(function* () { yield JOIN; })().next().value",
			"((a = JOIN) => a)()",
			"(() => { try { return (() => JOIN)(); } finally {} })()",
		} {
			body := strings.ReplaceAll(shape, "JOIN", join)
			src := `(() => { let s = long; try { return "made " + (` + body + `).length; } catch (e) { return String(e); } })()`
			program := goja.MustCompile("test.js", src, true)
			if !insides.Instrument(program) {
				t.Fatal("goja has changed: internal/insides/instructions.go has to follow")
			}
			v, err := w.e.vm.RunProgram(program)
			if want := "RangeError: Invalid string length"; err != nil || v.String() != want {
				t.Errorf("%s: %v %v", body, v, err)
			}
		}
	}
	program := goja.MustCompile("sums.js", `[1 + 2, 1.5 + 1, "a" + 1, 1 + "a", "a" + "b", 1n + 2n, [] + {}, "\u4e00" + "a", true + 1, "a" + undefined, `+"`${1}${'b'}`"+`].join()`, true)
	insides.Instrument(program)
	if v, err := w.e.vm.RunProgram(program); err != nil || v.String() != "3,2.5,a1,1a,ab,3,[object Object],\u4e00a,2,aundefined,1b" {
		t.Errorf("%v %v", v, err)
	}
}
