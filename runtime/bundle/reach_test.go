package bundle

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// In tests import() of what a variable holds finds the project's files that nothing else
// imports. What is wrong with one of them fails who imports it, and nobody else.
func TestComputedImport(t *testing.T) {
	files := map[string]string{
		"test/a.ts": `
const say = (path: string) => import(path).then(m => log(m.n ?? m.default.n), e => log(e.message.replace(/ \(imported.*| from \/\S*/, "")));
(async () => {
  for (const p of ["./late", "./late.ts", "../lib", "/lib/index.ts", "@app/more", "@app/deep/index", "#more", "../data.json", "./broken", "./needs", "./names", "./gone", "gone", "../node_modules/p/i.js", "../tool.config"]) await say(p);
})();`,
		"test/late.ts":        `log("runs"); export const n: number = 1`,
		"test/broken.ts":      `export const = 1`,
		"test/needs.ts":       `import { x } from "not-installed"; export const n = x`,
		"test/names.ts":       `import { none } from "./late"; export const n = none ?? "undefined"`,
		"lib/index.ts":        `export const n = 2`,
		"src/more.mjs":        `export const n = 3`,
		"data.json":           `{"n": 4}`,
		"tool.config.ts":      `export const n = 5`,
		"node_modules/p/i.js": `export const n = 6`,
		".hidden/h.js":        `export const = 1`,
	}
	opts := Options{Entry: "test/a.ts", Mocks: true, Builtins: testBuiltins}
	opts.Dir = project(t, files)
	opts.Alias = map[string]string{"@app": opts.Dir + "/src", "@app/deep": opts.Dir + "/lib"}
	opts.Rewrites = []Rewrite{{regexp.MustCompile(`^#`), opts.Dir + "/src/"}}
	built := build(t, opts)
	r := load(t, built)
	if r.err != nil {
		t.Fatal(r.err)
	}
	r.wantLog("runs", "1", "1", "2", "2", "3", "2", "3", "4", `Expected identifier but found "="`, "Cannot find package 'not-installed' imported", "undefined",
		"Cannot find module '/test/gone' imported", "Cannot find package 'gone' imported",
		"Cannot find module '/node_modules/p/i.js' imported", "Cannot find module '/tool.config' imported")
	if len(built.Warnings) > 0 || !strings.Contains(strings.Join(built.bundler.Inputs(), " "), opts.Dir+"/lib") {
		t.Errorf("warnings %v, inputs %v", built.Warnings, built.bundler.Inputs())
	}
}

// A project of too many files keeps what its literals import, and import() of a variable says why
// it finds nothing else.
func TestComputedImportOfTooMany(t *testing.T) {
	files := map[string]string{"a.ts": `const p = "./" + "b"; import(p).catch(e => log(e.message.replace(/ from \/\S*/, "")));`}
	for n := range maxReachable + 1 {
		files[fmt.Sprintf("data/%d.json", n)] = "{}"
	}
	opts := Options{Entry: "a.ts", Mocks: true, Builtins: testBuiltins}
	opts.Dir = project(t, files)
	load(t, build(t, opts)).wantLog("Cannot find module '/b' imported (only files that something imports by a literal are looked for: . has more than 2000 files that import() of a variable could mean)")
}
