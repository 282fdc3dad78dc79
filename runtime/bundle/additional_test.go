package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file that a rule matches can be imported by a computed name, relative to
// the module that names it; one that is broken fails whoever imports it, and
// nobody else.
func TestAdditionalModules(t *testing.T) {
	files := map[string]string{
		"src/main.js": `
import { pick } from "./lib/pick.js";
const lang = ["en", "fr"];
(async () => {
  for (const l of lang) log((await import("./lang/" + l + ".js")).hello);
  log((await pick("de")).hello, (await pick("de")) === (await import("./lang/" + "de" + ".js")));
  log((await import("./" + "note.txt")).default);
  for (const bad of ["./lang/xx.js", "./lang/broken.js", "../other.js", "./node_modules/p/i.js"])
    await import("" + bad).catch(e => log(e.message.split(" (imported")[0]));
})();`,
		"src/lib/pick.js":         `export const pick = (l) => import("../lang/" + l + ".js")`,
		"src/lang/en.js":          `log("en runs"); export const hello = "Hello"`,
		"src/lang/fr.js":          `export const hello = "Bonjour"`,
		"src/lang/de.js":          `export const hello = "Hallo"`,
		"src/lang/broken.js":      `export const = 1`,
		"src/note.txt":            `a note`,
		"src/node_modules/p/i.js": `export default 1`,
		"src/.hidden/h.js":        `export const = 1`,
		"other.js":                `export default 1`,
	}
	opts := Options{Entry: "src/main.js", NoBundle: true, Rules: []Rule{{Type: ESModule, Globs: []string{"**/*.js"}}}, Builtins: testBuiltins}
	opts.Dir = project(t, files)
	opts.Additional = opts.Dir + "/src"
	b := New(opts)
	t.Cleanup(b.Close)
	built, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r := load(t, built)
	if r.err != nil {
		t.Fatal(r.err)
	}
	r.wantLog("en runs", "Hello", "Bonjour", "Hallo true", "a note",
		`No such module "lang/xx.js".`, `Expected identifier but found "="`, `No such module "other.js".`,
		`No such module "node_modules/p/i.js".`)
	if !slices.Contains(b.Inputs(), opts.Additional) {
		t.Errorf("a new file would go unnoticed: %s", strings.Join(b.Inputs(), " "))
	}
}

// A pattern in import() stands for the files that match it when the worker is
// built, and for those that match at the next build.
func TestGlobImport(t *testing.T) {
	files := map[string]string{
		"src/main.ts": `
import { tag } from "./lib/tag";
const load = async (l: string) => import(` + "`../lang/${l}.ts`" + `);
(async () => {
  for (const l of ["en", "sub/fr", "xx"]) await load(l).then(m => log(m.hello, tag), e => log(e.message));
  for (const x of ["a", "b"]) await import(` + "`../esm/${x}.mjs`" + `).then(m => log([Object.keys(m).sort(), m.default, m.n].join()));
  for (const x of ["a.ts", "b.tsx"]) await import(` + "`../typed/${x}`" + `).then(m => log([Object.keys(m).sort(), m.default, m.n].join()));
  log(require("../data/" + "a" + ".json").n);
  load("thrower").catch(e => log(e.stack.split("\n")[1].trim().replace(/\(\d+\)$/, "")));
})();`,
		"src/lib/tag.ts":     `export const tag: string = "t"`,
		"lang/en.ts":         `log("runs"); export const hello: string = "Hello"`,
		"lang/sub/fr.ts":     `export const hello: string = "Bonjour"`,
		"lang/thrower.ts":    "\nthrow new Error('x')",
		"esm/a.mjs":          `export default 1; export const n = 2`,
		"esm/b.mjs":          `export const n = 3`,
		"typed/package.json": `{"type": "module"}`,
		"typed/a.ts":         `export default 4; export const n: number = 5`,
		"typed/b.tsx":        `export const n: number = 6`,
		"data/a.json":        `{"n": 7}`,
	}
	opts := Options{Entry: "src/main.ts", Builtins: testBuiltins, CacheDir: t.TempDir(), Dir: project(t, files)}
	b := New(opts)
	t.Cleanup(b.Close)
	for _, last := range []string{`Module not found in bundle: ../lang/xx.ts`, "Late t"} {
		built, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		r := load(t, built)
		if r.err != nil {
			t.Fatal(r.err)
		}
		if got := strings.Join(r.log, "\n"); got != "runs\nHello t\nBonjour t\n"+last+"\ndefault,n,1,2\nn,,3\ndefault,n,4,5\nn,,6\n7\nat lang/thrower.ts:2:7" {
			t.Errorf("got\n%s", got)
		}
		if !slices.Contains(b.Inputs(), filepath.Join(opts.Dir, "lang")) {
			t.Errorf("a new file would go unnoticed: %v", b.Inputs())
		}
		if err := os.WriteFile(filepath.Join(opts.Dir, "lang", "xx.ts"), []byte(`export const hello = "Late"`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
