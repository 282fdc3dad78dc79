package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/wasm"
)

// project writes a tree of files, named by path, and returns its directory.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.TrimLeft(text, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run is one loaded bundle and what it logged through `log(...)`.
type run struct {
	t       *testing.T
	b       *Bundle
	vm      *goja.Runtime
	exports *goja.Object
	pending *Pending
	log     []string
	err     error
}

func build(t *testing.T, opts Options) *Bundle {
	t.Helper()
	if opts.Entry == "" {
		opts.Entry = "main.ts"
	}
	bd := New(opts)
	t.Cleanup(bd.Close)
	b, err := bd.Build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func load(t *testing.T, b *Bundle) *run { return loadWith(t, b, func(*Host) {}) }

// loadWith is load by a host that change has changed.
func loadWith(t *testing.T, b *Bundle, change func(*Host)) *run {
	t.Helper()
	r := &run{t: t, b: b, vm: goja.New()}
	r.set("log", func(call goja.FunctionCall) goja.Value {
		var parts []string
		for _, a := range call.Arguments {
			parts = append(parts, a.String())
		}
		r.log = append(r.log, strings.Join(parts, " "))
		return goja.Undefined()
	})
	asyncIterator, err := r.vm.RunString(`Symbol.asyncIterator ??= Symbol("Symbol.asyncIterator"); Symbol.dispose ??= Symbol("Symbol.dispose"); Symbol.asyncDispose ??= Symbol("Symbol.asyncDispose"); ({ [Symbol.asyncIterator]() { return this; } })`)
	if err != nil {
		t.Fatal(err)
	}
	host := Host{Builtin: r.builtin, AsyncIterator: asyncIterator.(*goja.Object),
		Wasm: func(*wasm.Code) goja.Value { return r.vm.ToValue("module") }}
	change(&host)
	r.exports, r.pending, r.err = b.Load(r.vm, host)
	return r
}

func (r *run) set(name string, v any) {
	if err := r.vm.Set(name, v); err != nil {
		r.t.Fatal(err)
	}
}

// builtin provides node:path with a default, and cloudflare:workers without.
func (r *run) builtin(spec string) (goja.Value, error) {
	switch spec {
	case "node:path":
		return r.vm.RunString(`(()=>{const join=(...a)=>a.join("/"); return {join, default:{join, isDefault:true}}})()`)
	default:
		return r.vm.RunString(`({DurableObject: class DurableObject {}})`)
	}
}

func testBuiltins(spec string) bool { return spec == "node:path" || spec == "cloudflare:workers" }

// runFiles builds and loads a tree whose entry is main.ts (or opts.Entry), and
// sees to it that the frozen bundle loads alike.
func runFiles(t *testing.T, files map[string]string, opts Options) *run {
	t.Helper()
	opts.Dir = project(t, files)
	if opts.Builtins == nil {
		opts.Builtins = testBuiltins
	}
	b := build(t, opts)
	r := load(t, b)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if again := load(t, rethawed(t, b)); again.err != nil || !slices.Equal(again.log, r.log) || !slices.Equal(again.b.ExportNames(), b.ExportNames()) {
		t.Errorf("frozen: %v, log %q, exports %q", again.err, again.log, again.b.ExportNames())
	}
	return r
}

func (r *run) wantLog(want ...string) {
	r.t.Helper()
	if got := strings.Join(r.log, "\n"); got != strings.Join(want, "\n") {
		r.t.Errorf("log:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// Modules run once, in import order, and bindings are live.
func TestOrderAndLiveBindings(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import { n, inc } from "./a";
import "./b";
log("main", n); inc(); log(n);
export default class {}
export const name: string = "x";`,
		"a.ts": `log("a"); export let n = 1; export function inc() { n++ }`,
		"b.ts": `import "./a"; log("b")`,
	}, Options{})
	r.wantLog("a", "b", "main 1", "2")
	if got := strings.Join(r.b.ExportNames(), ","); got != "default,name" {
		t.Errorf("ExportNames = %s", got)
	}
	if got := r.exports.Get("default").ToObject(r.vm).Get("name").String(); got != "default" {
		t.Errorf("class name = %q", got)
	}
}

// Stacks of goja positions map back to lines of the TypeScript source.
func TestMapPosition(t *testing.T) {
	files := map[string]string{
		"main.ts": `
import { boom } from "./lib/boom";
interface Unused { a: string }

export function run() { boom(1) }
`,
		"lib/boom.ts": `
type T = number;
/** comment */
export function boom(n: T): never {
  const text: string = "ü";
  throw new Error(text + n);
}
await Promise.resolve();
`,
	}
	for i, async := range []bool{false, true, true} {
		pattern := i == 2 // of an import()
		if !async {
			files["lib/boom.ts"] = strings.Replace(files["lib/boom.ts"], "await ", "", 1)
		} else {
			files["lib/boom.ts"] += "await 1;\n" // behind what is asked for
		}
		if pattern {
			files["main.ts"] += "export const load = (name: string) => import(`./lib/${name}.ts`);\n"
		}
		r := runFiles(t, files, Options{})
		fn, _ := goja.AssertFunction(r.exports.Get("run"))
		_, err := fn(goja.Undefined())
		ex, ok := err.(*goja.Exception)
		if !ok {
			t.Fatalf("error = %v", err)
		}
		var got []string
		for _, f := range ex.Stack() {
			p := f.Position()
			src, line, col, ok := r.b.MapPosition(p.Filename, p.Line, p.Column)
			if !ok {
				t.Fatalf("no position for %+v", p)
			}
			got = append(got, fmt.Sprintf("%s:%d:%d", src, line, col))
		}
		if s := strings.Join(got, " "); s != "lib/boom.ts:5:9 main.ts:4:25" {
			t.Errorf("async=%v, pattern=%v: stack = %s", async, pattern, s)
		}
	}
}

// A package that exports nothing under the usual conditions is found under those of
// Fallback, also by what it imports itself.
func TestFallbackConditions(t *testing.T) {
	files := map[string]string{
		"main.ts":                       `import { a } from "pkg/part"; import { b } from "pkg"; log(a, b);`,
		"node_modules/pkg/package.json": `{"name": "pkg", "exports": {"./part": {"node": {"import": "./part.mjs"}, "browser": null, "import": "./no.mjs"}, ".": {"browser": "./b.mjs", "node": "./no.mjs"}}}`,
		"node_modules/pkg/part.mjs":     `export const a = "of node";`,
		"node_modules/pkg/b.mjs":        `export const b = "of browsers";`,
		"node_modules/pkg/no.mjs":       `throw new Error("not this one");`,
	}
	runFiles(t, files, Options{Fallback: []string{"node"}}).wantLog("of node of browsers")
}

// Specifiers that a pattern matches are replaced; what then is not there is told of as it
// was written.
func TestRewrites(t *testing.T) {
	dir := t.TempDir()
	rewrites := []Rewrite{{Pattern: regexp.MustCompile(`^@lib/(.*)$`), To: filepath.ToSlash(dir) + "/lib/${1}"}}
	write(t, dir, map[string]string{"main.ts": `import { one } from "@lib/one"; import("@lib/two").then((m) => log(one, m.two));`,
		"lib/one.ts": `export const one = 1;`, "lib/two.ts": `export const two = 2;`})
	load(t, build(t, Options{Dir: dir, Entry: "main.ts", Rewrites: rewrites})).wantLog("1 2")
	write(t, dir, map[string]string{"main.ts": `import "@lib/three";`})
	b := New(Options{Dir: dir, Entry: "main.ts", Rewrites: rewrites})
	t.Cleanup(b.Close)
	_, err := b.Build()
	if err == nil || !strings.Contains(err.Error(), `"@lib/three"`) {
		t.Error(err)
	}
}

// With the query ?raw a file is its text, where vitest's modules are bundled.
func TestRaw(t *testing.T) {
	dir := project(t, map[string]string{"main.ts": `import text from "./a.ts?raw"; log(text);`, "a.ts": `const a = 1;`})
	load(t, build(t, Options{Dir: dir, Mocks: true})).wantLog("const a = 1;")
}

// import.meta.glob is an object of the files that match, as vite has it, and follows what the
// directory holds.
func TestMetaGlob(t *testing.T) {
	files := map[string]string{"sub/main.ts": `
// import.meta.glob(nothing)
type Part = { default: number };
const lazy = import.meta.glob<{ default: () => Part }>("../parts/*.ts");
const all = {
  eager: import.meta.glob("../parts/*.ts", { eager: true, import: "default" }),
  one: import.meta.glob(["../parts/**/*.ts", "!**/b.ts"], {
    import: "name", // of each
  }),
  raw: import.meta.glob("/texts/*.{txt,md}", { eager: true, query: "?raw", import: "default" }),
  base: import.meta.glob("./*.ts", { base: "../parts", eager: true, import: "default" }),
};
log(JSON.stringify(Object.keys(lazy)), JSON.stringify(all.eager), JSON.stringify(Object.keys(all.one)), JSON.stringify(all.raw), JSON.stringify(all.base));
lazy["../parts/a.ts"]().then((m) => log(m.default));
all.one["../parts/deep/c.ts"]().then((name) => log(name));
`, "parts/a.ts": `export default 1; export const name = "a";`, "parts/b.ts": `export default 2;`, "parts/.hidden.ts": `export default 4;`,
		"parts/deep/c.ts": `export default 3; export const name = "c";`, "texts/x.txt": "X", "texts/y.md": "Y", "texts/z.html": "Z"}
	dir := project(t, files)
	o := Options{Dir: dir, Mocks: true, Entry: filepath.Join(dir, "sub", "main.ts")}
	load(t, build(t, o)).wantLog(`["../parts/a.ts","../parts/b.ts"] {"../parts/a.ts":1,"../parts/b.ts":2} ["../parts/a.ts","../parts/deep/c.ts"] {"/texts/x.txt":"X","/texts/y.md":"Y"} {"./a.ts":1,"./b.ts":2}`, "1", "c")
	for text, want := range map[string]string{
		`import.meta.glob(name)`:                          "main.ts: line 1: import.meta.glob: its arguments are literals",
		`import.meta.glob("./*.ts", { query: "?url" })`:   "not ?url",
		`import.meta.glob("parts/*.ts")`:                  "begins with neither / nor ./",
		`import.meta.glob("./*.ts", { colour: "green" })`: "the option colour",
	} {
		write(t, dir, map[string]string{"main.ts": text})
		b := New(Options{Dir: dir, Mocks: true, Entry: "main.ts"})
		t.Cleanup(b.Close)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	write(t, dir, map[string]string{"main.ts": `log(Object.keys(import.meta.glob("./parts/*.ts")).length);`})
	b := New(Options{Dir: dir, Mocks: true, Entry: "main.ts"})
	t.Cleanup(b.Close)
	for _, want := range []string{"2", "3"} {
		out, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		load(t, out).wantLog(want)
		write(t, dir, map[string]string{"parts/d.ts": `export default 5;`})
	}
}
