package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// deferTree has a package that may wait and one that may not.
func deferTree() map[string]string {
	return map[string]string{
		"package.json": `{"name":"app"}`,
		"main.ts": `
import { value, Base, count, bump } from "lazy"; import "order"; import * as ns from "lazy";
log("main");
export const use = () => value + ns.value;
export const sub = () => class Sub extends Base {};
export const live = () => { const a = count; bump(); return [a, count, ns.count].join() };
export const keys = () => Object.keys(ns).join();
export { deep } from "lazy";
`,
		"node_modules/lazy/package.json":  `{"name":"lazy","type":"module","sideEffects":["./polyfill.js"],"main":"index.js"}`,
		"node_modules/lazy/index.js":      `import "./polyfill.js"; import { d } from "./deep.js"; log("lazy"); export const value = 1; export class Base {} export let count = 0; export function bump() { count++ } export * from "./deep.js"; export const useDeep = () => d`,
		"node_modules/lazy/deep.js":       `log("deep"); export const deep = "deep"; export const d = 1`,
		"node_modules/lazy/polyfill.js":   `log("polyfill")`,
		"node_modules/order/package.json": `{"name":"order"}`,
		"node_modules/order/index.js":     `log("order")`,
	}
}

func (r *run) call(name string) goja.Value {
	r.t.Helper()
	fn, ok := goja.AssertFunction(r.exports.Get(name))
	if !ok {
		r.t.Fatalf("%s is not a function", name)
	}
	v, err := fn(goja.Undefined())
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// A module of a side-effect-free package runs when one of its exports is first
// read, and not before; the file on the sideEffects list runs with it, first.
func TestDeferred(t *testing.T) {
	r := runFiles(t, deferTree(), Options{})
	r.wantLog("order", "main")
	if got := r.call("keys").String(); got != "Base,bump,count,d,deep,useDeep,value" {
		t.Errorf("keys = %s", got)
	}
	r.wantLog("order", "main")
	if got := r.call("use").ToInteger(); got != 2 {
		t.Errorf("use = %d", got)
	}
	r.wantLog("order", "main", "polyfill", "lazy")
	if got := r.call("live").String(); got != "0,1,1" {
		t.Errorf("live = %s", got)
	}
	r.call("sub")
	if got := r.exports.Get("deep").String(); got != "deep" {
		t.Errorf("deep = %s", got)
	}
	r.wantLog("order", "main", "polyfill", "lazy", "deep")
	if got := r.exports.Get("deep").String(); got != "deep" { // now through the adopted getter
		t.Errorf("deep again = %s", got)
	}
}

// What a deferred module hands on with `export *` from a module that is not deferred is
// there when it is read, also when only another deferred module imports that one.
func TestDeferredStarOfAnother(t *testing.T) {
	r := runFiles(t, map[string]string{
		"package.json":                    `{"name":"app"}`,
		"main.ts":                         `import { make } from "lazy"; export const made = make(); export const use = () => made`,
		"node_modules/lazy/package.json":  `{"name":"lazy","type":"module","sideEffects":false,"main":"index.js"}`,
		"node_modules/lazy/index.js":      `export * from "./middle.js"`,
		"node_modules/lazy/middle.js":     `export * from "eager"`,
		"node_modules/eager/package.json": `{"name":"eager","type":"module","sideEffects":true,"main":"index.js"}`,
		"node_modules/eager/index.js":     `log("eager"); export { make } from "./make.js"`,
		"node_modules/eager/make.js":      `export const make = () => "made"`,
	}, Options{})
	if got := r.call("use").String(); got != "made" {
		t.Errorf("use = %s", got)
	}
	r.wantLog("eager")
}

// With NoDefer, or a `!` entry, the same tree runs in import order.
func TestNoDefer(t *testing.T) {
	for _, opts := range []Options{{NoDefer: true}, {Defer: []string{"!lazy"}}} {
		r := runFiles(t, deferTree(), opts)
		r.wantLog("polyfill", "deep", "lazy", "order", "main")
		if got := r.call("use").ToInteger(); got != 2 {
			t.Errorf("use = %d", got)
		}
	}
}

// A package that declares nothing waits if the user says so.
func TestDeferByName(t *testing.T) {
	files := deferTree()
	files["node_modules/lazy/package.json"] = `{"name":"lazy","type":"module"}`
	runFiles(t, files, Options{}).wantLog("polyfill", "deep", "lazy", "order", "main")
	runFiles(t, files, Options{Defer: []string{"la*"}}).wantLog("order", "main")
}

// The project's own modules keep their order whatever package.json says.
func TestProjectFilesAreNotDeferred(t *testing.T) {
	r := runFiles(t, map[string]string{
		"package.json": `{"name":"app","sideEffects":false}`,
		"main.ts":      `import { a } from "./a"; log("main"); export { a }`,
		"a.ts":         `log("a"); export const a = 1`,
	}, Options{})
	r.wantLog("a", "main")
}

// An error in a deferred module names the module and its importer, and every
// later use throws it again.
func TestDeferredFailure(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts":                        `import { x } from "lazy"; export const use = () => x`,
		"node_modules/lazy/package.json": `{"name":"lazy","type":"module","sideEffects":false}`,
		"node_modules/lazy/index.js":     `export const x = 1; null.boom`,
	}, Options{})
	fn, _ := goja.AssertFunction(r.exports.Get("use"))
	for range 2 {
		_, err := fn(goja.Undefined())
		if err == nil || strings.Count(err.Error(), "while loading node_modules/lazy/index.js, deferred until its first use; imported by main.ts") != 1 {
			t.Fatalf("error = %v", err)
		}
	}
}

// Deferred evaluation runs inside Enter, and a cycle between deferred modules
// ends.
func TestDeferredEntersAndCycles(t *testing.T) {
	dir := project(t, map[string]string{
		"main.ts":                        `import { a } from "lazy"; export const use = () => a()`,
		"node_modules/lazy/package.json": `{"name":"lazy","type":"module","sideEffects":false}`,
		"node_modules/lazy/index.js":     `import { b } from "./b.js"; export function a() { return "a" + b } log("a", b)`,
		"node_modules/lazy/b.js":         `import { a } from "./index.js"; log("b", typeof a, inside()); export const b = "b"`,
	})
	b := build(t, Options{Dir: dir})
	r := &run{t: t, b: b, vm: goja.New()}
	depth := 0
	r.set("log", func(call goja.FunctionCall) goja.Value {
		r.log = append(r.log, call.Argument(0).String()+" "+call.Argument(1).String())
		return goja.Undefined()
	})
	r.set("inside", func(goja.FunctionCall) goja.Value { return r.vm.ToValue(depth) })
	enters := 0
	r.exports, _, r.err = b.Load(r.vm, Host{Enter: func(fn func()) { depth++; enters++; fn(); depth-- }})
	if r.err != nil {
		t.Fatal(r.err)
	}
	if got := r.call("use").String(); got != "ab" {
		t.Errorf("use = %s", got)
	}
	r.wantLog("b function", "a b")
	if enters < 2 || depth != 0 {
		t.Errorf("enters = %d, depth = %d", enters, depth)
	}
}

// One bundle serves many runtimes at once.
func TestSharedByRuntimes(t *testing.T) {
	dir := project(t, deferTree())
	b := build(t, Options{Dir: dir})
	done := make(chan int64, 8)
	for range cap(done) {
		go func() {
			r := load(t, b)
			if r.err != nil {
				done <- -1
				return
			}
			fn, _ := goja.AssertFunction(r.exports.Get("use"))
			v, err := fn(goja.Undefined())
			if err != nil {
				done <- -1
				return
			}
			done <- v.ToInteger()
		}()
	}
	for range cap(done) {
		if got := <-done; got != 2 {
			t.Errorf("use = %d", got)
		}
	}
}

// A rebuild keeps the units, and so the programs, of unchanged files; Inputs
// lists what to watch.
func TestIncremental(t *testing.T) {
	dir := project(t, map[string]string{
		"package.json": `{}`, "tsconfig.json": `{}`,
		"main.ts": `import { a } from "./a"; import { p } from "pkg"; log(a, p)`, "a.ts": `export const a = 1`,
		"node_modules/pkg/index.js": `exports.p = 1`,
	})
	bd := New(Options{Dir: dir, Entry: "main.ts"})
	defer bd.Close()
	units := func() map[string]*unit {
		b, err := bd.Build()
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]*unit{}
		for _, mod := range b.modules {
			m[mod.name] = mod.unit
		}
		return m
	}
	first := units()
	write(t, dir, map[string]string{"a.ts": `export const a = 2`})
	second := units()
	for name, u := range first {
		if changed := second[name] != u; changed != (name == "a.ts") {
			t.Errorf("%s: changed = %v", name, changed)
		}
	}
	for _, want := range []string{"main.ts", "a.ts", "package.json", "tsconfig.json", "node_modules/pkg/index.js"} {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, want))
		if err != nil || !slices.Contains(bd.Inputs(), real) {
			t.Errorf("Inputs lacks %s (%v): %v", want, err, bd.Inputs())
		}
	}
	// A broken build is followed by a good one, without a new Bundler.
	write(t, dir, map[string]string{"a.ts": `export const = 2`})
	if _, err := bd.Build(); err == nil {
		t.Fatal("a syntax error built")
	}
	write(t, dir, map[string]string{"a.ts": `export const a = 3`})
	units()
}

// A second process takes lowered files from disk; damage is noticed and costs
// only time.
func TestDiskCache(t *testing.T) {
	dir := project(t, deferTree())
	cache := filepath.Join(t.TempDir(), "cache")
	once := func() (hits int) {
		bd := New(Options{Dir: dir, Entry: "main.ts", CacheDir: cache})
		defer bd.Close()
		stored := map[*lowered]bool{}
		for _, p := range bd.store.packs {
			for _, l := range p {
				stored[l] = true
			}
		}
		b, err := bd.Build()
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Warnings) > 0 {
			t.Errorf("warnings: %v", b.Warnings)
		}
		r := load(t, b)
		if r.err != nil || r.call("use").ToInteger() != 2 {
			t.Fatalf("load: %v", r.err)
		}
		for _, m := range b.modules {
			if stored[m.low] {
				hits++
			}
		}
		return hits
	}
	if n := once(); n != 0 {
		t.Errorf("first: %d hits", n)
	}
	if n := once(); n != 5 {
		t.Errorf("second: %d hits", n)
	}
	packs, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(packs) != 2 {
		t.Fatalf("packs: %v %v", packs, err)
	}
	for _, p := range packs {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := once(); n != 0 {
		t.Errorf("damaged: %d hits", n)
	}
}
