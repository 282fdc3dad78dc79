package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// prebuilt bundles a tree with esbuild, as wrangler would, into dist/index.js.
func prebuilt(t *testing.T) string {
	t.Helper()
	dir := project(t, map[string]string{
		"src/index.ts": `
import { a, Base, table } from "lazy"; import { side } from "order"; import path from "node:path";
const filler = "FILLER";
log("main", side, filler.length > 9, path.isDefault);
export const use = () => a() + new (class Mine extends Base {})().who();
export const fail = () => table.missing.x;
export const dyn = async () => (await import("lazy/late")).late;
export { Base } from "lazy";
export default { use };`,
		"node_modules/lazy/package.json": `{"name":"lazy","type":"module","sideEffects":false,"exports":{".":"./index.js","./late":"./late.js"}}`,
		"node_modules/lazy/index.js": `
import { b } from "./b.js";
log("lazy");
export function a() { return "a" + b() + count; }
export class Base { who() { return this.constructor.name } }
export let count = 0;
for (var i = 0; i < 2; i++) count += i;
if (count) { var extra = 1 }
export const table = {};
export const total = () => count + extra + i;`,
		"node_modules/lazy/b.js":          `import { total } from "./index.js"; log("b"); export const b = () => "b" + total()`,
		"node_modules/lazy/late.js":       `log("late"); export const late = "late"`,
		"node_modules/order/package.json": `{"name":"order"}`,
		"node_modules/order/index.js":     `log("order"); export let side = "s"; if (side) side += "!"`,
	})
	main := filepath.Join(dir, "src", "index.ts")
	text, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "FILLER", strings.Repeat("x", splitMin), 1))
	if err := os.WriteFile(main, text, 0o644); err != nil {
		t.Fatal(err)
	}
	r := api.Build(api.BuildOptions{EntryPoints: []string{main}, AbsWorkingDir: dir, Outfile: filepath.Join(dir, "dist", "index.js"),
		Bundle: true, Write: true, Format: api.FormatESModule, KeepNames: true, External: []string{"node:*"}})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors[0].Text)
	}
	return dir
}

// Modules of side-effect-free packages inside a prebuilt bundle wait as they do
// outside of one, and everything else keeps its order; without deferral the
// bundle runs whole, with the same results.
func TestPrebuiltBundleIsTakenApart(t *testing.T) {
	dir := prebuilt(t)
	cache := t.TempDir()
	for i, opts := range []Options{{CacheDir: cache}, {CacheDir: cache}, {NoDefer: true}} {
		opts.Dir, opts.Entry, opts.NoBundle, opts.Builtins = dir, "dist/index.js", true, testBuiltins
		r := load(t, build(t, opts))
		if r.err != nil {
			t.Fatal(r.err)
		}
		start := "order\nmain s! true true"
		if opts.NoDefer {
			start = "b\nlazy\n" + start
		}
		if got := strings.Join(r.log, "\n"); got != start {
			t.Errorf("%d: at start:\n%s", i, got)
		}
		if parts := len(r.b.modules) - 1; parts != 3 && !opts.NoDefer {
			t.Errorf("%d: %d parts", i, parts)
		}
		if got := strings.Join(r.b.ExportNames(), ","); got != "Base,default,dyn,fail,use" {
			t.Errorf("%d: ExportNames = %s", i, got)
		}
		if got := r.call("use").String(); got != "ab41Mine" {
			t.Errorf("%d: use = %s", i, got)
		}
		p, ok := r.call("dyn").Export().(*goja.Promise)
		if !ok || p.Result().String() != "late" {
			t.Errorf("%d: dyn = %v", i, p)
		}
		if got := r.exports.Get("Base").ToObject(r.vm).Get("name").String(); got != "Base" {
			t.Errorf("%d: Base.name = %s", i, got)
		}
		want := start + "\nb\nlazy\nlate"
		switch {
		case opts.NoDefer:
			want = start + "\nlate"
		case i < 2:
			want = start + "\nlazy\nb\nlate" // index.js is touched first, then what it calls
		}
		if got := strings.Join(r.log, "\n"); got != want {
			t.Errorf("%d: log:\n%s\nwant:\n%s", i, got, want)
		}
	}
}

// Positions in trunk and parts map to the lines of the prebuilt file.
func TestPrebuiltPositions(t *testing.T) {
	dir := prebuilt(t)
	r := load(t, build(t, Options{Dir: dir, Entry: "dist/index.js", NoBundle: true, Builtins: testBuiltins}))
	if r.err != nil {
		t.Fatal(r.err)
	}
	text, _ := r.b.Source("dist/index.js")
	lineOf := func(mark string) int {
		i := strings.Index(text, mark)
		if i < 0 {
			t.Fatalf("no %q in\n%s", mark, text)
		}
		return 1 + strings.Count(text[:i], "\n")
	}
	where := func() []string {
		var got []string
		for _, f := range r.vm.CaptureCallStack(0, nil) {
			p := f.Position()
			if src, line, _, ok := r.b.MapPosition(p.Filename, p.Line, p.Column); ok {
				got = append(got, fmt.Sprintf("%s:%d", src, line))
			}
		}
		return got
	}
	var stacks []string
	r.set("log", func(call goja.FunctionCall) goja.Value {
		stacks = append(stacks, call.Argument(0).String()+" "+strings.Join(where(), " "))
		return goja.Undefined()
	})
	r.call("use")
	want := []string{
		fmt.Sprintf("lazy dist/index.js:%d dist/index.js:%d", lineOf(`log("lazy")`), lineOf("a() + new")),
		fmt.Sprintf("b dist/index.js:%d dist/index.js:%d dist/index.js:%d", lineOf(`log("b")`), lineOf(`"a" + b()`), lineOf("a() + new")),
	}
	if got := strings.Join(stacks, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("stacks:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	fn, _ := goja.AssertFunction(r.exports.Get("fail"))
	_, err := fn(goja.Undefined())
	ex, ok := err.(*goja.Exception)
	if !ok {
		t.Fatalf("error = %v", err)
	}
	p := ex.Stack()[0].Position()
	if src, line, _, _ := r.b.MapPosition(p.Filename, p.Line, p.Column); src != "dist/index.js" || line != lineOf("table.missing.x") {
		t.Errorf("fail at %s:%d, want line %d", src, line, lineOf("table.missing.x"))
	}
}
