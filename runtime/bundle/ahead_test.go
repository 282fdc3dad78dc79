package bundle

import (
	"strings"
	"testing"
)

// Deferred modules that the entry imports are evaluated ahead, one at a time and those
// that others import first; what one throws, its first user gets, and none counts as
// used.
func TestAhead(t *testing.T) {
	files := map[string]string{
		"main.ts":                       `import { a } from "pkg"; import { bad } from "pkg/bad.js"; log("main"); export default { a: () => a, bad: () => bad, late: () => import("pkg/late.js") };`,
		"node_modules/pkg/package.json": `{"name": "pkg", "version": "1.0.0", "sideEffects": false, "type": "module", "main": "index.js"}`,
		"node_modules/pkg/index.js":     `import { b } from "./b.js"; log("a"); export const a = () => b;`,
		"node_modules/pkg/b.js":         `log("b"); export const b = 1;`,
		"node_modules/pkg/bad.js":       `log("bad"); throw new Error("no"); export const bad = 1;`,
		"node_modules/pkg/late.js":      `log("late"); export const late = 1;`,
	}
	b := build(t, Options{Dir: project(t, files)})
	var ahead *Ahead
	r := loadWith(t, b, func(h *Host) { h.Ahead = func(a *Ahead) { ahead = a } })
	r.wantLog("main")
	for _, want := range []string{"b", "a", "bad"} {
		if !ahead.Compile() {
			t.Fatalf("nothing is left, where %s should be", want)
		}
		ahead.Evaluate()
		r.log = r.log[1:]
		r.wantLog(want)
	}
	if ahead.Compile() {
		t.Error("something is left")
	}
	for _, m := range b.modules {
		if m.deferred && m.used.Load() {
			t.Errorf("%s counts as used", m.name)
		}
	}
	r.set("exported", r.exports.Get("default"))
	if v, err := r.vm.RunString(`[exported.a()(), (() => { try { return exported.bad(); } catch (e) { return e.message; } })()].join()`); err != nil || !strings.HasPrefix(v.String(), "1,no\n") {
		t.Errorf("%v %v", v, err)
	}
	r.wantLog("bad")
}
