package bundle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/golden"
)

// Every way a project can be at fault is reported at its line, with a frame
// and, where there is one, a way out. The goldens are what a user reads.
func TestDiagnostics(t *testing.T) {
	wasm := "\x00asm\x02\x00\x00\x00"
	cases := []struct {
		name  string
		files map[string]string
		opts  Options
	}{
		{"missing-entry", map[string]string{"a.ts": ""}, Options{}},
		{"missing-package", map[string]string{
			"package.json": `{"dependencies":{"agents":"1"}}`,
			"main.ts":      "import { Agent } from \"agents\";\nimport x from \"@a/b/c\";\nexport default Agent", "b.ts": ""}, Options{}},
		{"missing-file", map[string]string{"main.ts": "import \"./lib/a\"", "lib/a.ts": "\n  export * from './nope';\n"}, Options{}},
		{"syntax", map[string]string{"main.ts": "export default {\n\tfetch( { return 1 }\n}", "b.ts": ""}, Options{}},
		{"unknown-builtin", map[string]string{"main.ts": "import a from 'node:nope';\nimport c from \"cloudflare:nope\";\nlog(a, c)"}, Options{}},
		{"unknown-bare-builtin", map[string]string{"main.ts": "import { spawn } from \"child_process\";\nlog(spawn)"}, Options{}},
		{"wasm", map[string]string{"main.ts": "import \"./a\"", "a.ts": "// x\nimport mod from './m.wasm';\nlog(mod)", "m.wasm": wasm}, Options{}},
		{"no-loader", map[string]string{"main.ts": "import logo from './logo.svg';\nlog(logo)", "logo.svg": "<svg>"}, Options{}},
		{"missing-name", map[string]string{
			"main.ts": "import { greet, type T, great } from './lib';\nimport d from './lib';\nlog(greet, great, d)",
			"lib.ts":  "export const greet = 1; export type T = string"}, Options{}},
		{"missing-name-of-host", map[string]string{
			"main.ts": "import { DurableObject, Durable, type Stub } from 'cloudflare:workers';\nimport workers from 'cloudflare:workers';\nimport * as all from 'cloudflare:workers';\n" +
				"import { any } from 'node:fs';\nlog(DurableObject, Durable, workers, all.Nope, any)"}, Options{
			Builtins: func(string) bool { return true },
			Exports: func(spec string) []string {
				if spec == "cloudflare:workers" {
					return []string{"DurableObject", "env"}
				}
				return nil
			}}},
		{"bad-json", map[string]string{"main.ts": "import d from './d.json'; log(d)", "d.json": "{\n \"a\": }\n"}, Options{}},
		{"no-bundle-package", map[string]string{"main.js": "import z from 'zod';\nimport './a.js';\nlog(z)", "a.js": "export {}"}, Options{Entry: "main.js", NoBundle: true}},
		{"bad-tsconfig", map[string]string{"tsconfig.json": "{ \"extends\": \"./none.json\", }\n}", "main.ts": "log(1)"}, Options{}},
		{"bad-define", map[string]string{"main.ts": "log(1)"}, Options{Define: map[string]string{"X": "not json("}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Dir = project(t, c.files)
			if c.opts.Entry == "" {
				c.opts.Entry = "main.ts"
			}
			bd := New(c.opts)
			defer bd.Close()
			_, err := bd.Build()
			var be *BuildError
			if !errors.As(err, &be) {
				t.Fatalf("error = %v", err)
			}
			got := strings.ReplaceAll(be.Render(false), bd.opts.Dir, "DIR")
			file := filepath.Join("testdata", "diagnostics", c.name+".txt")
			if golden.Update() {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// What may fail is left to the moment it runs: require inside try, import()
// with a catch, and broken modules or unknown builtins inside packages.
func TestFailuresLeftToRuntime(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import p from "pkg";
try { require("optional") } catch (e) { log(e.message) }
import("nowhere").catch(e => log(e.message));
for (const f of p) try { f() } catch (e) { log(e.message) }
for (const name of ["dyn", "optional"]) try { require(name) } catch (e) { log(e.message) }
for (const name of ["/a/../b", "https://x/y.js", ""]) import(name).catch(e => log(e.message));
`,
		"node_modules/pkg/index.js": `module.exports = [() => require("fs"), () => require("./x.wasm"), () => require.resolve("fs")]`,
		"node_modules/pkg/x.wasm":   "",
	}, Options{})
	r.wantLog(`Dynamic require of "optional" is not supported`,
		`No such module "node:fs": minido does not provide it (imported by node_modules/pkg/index.js)`,
		`x.wasm is no WebAssembly module that can be loaded: BufferSource argument is empty (imported by node_modules/pkg/index.js)`,
		`require.resolve is not available in Workers (imported by node_modules/pkg/index.js)`,
		`Dynamic require of "dyn" is not supported`, `Dynamic require of "optional" is not supported`,
		`No such module "nowhere".`, `No such module "b".`, `No such module "https:/x/y.js".`, `No such module ".".`)
}

// A prebuilt worker is one file with imports of builtins, and of files beside it.
func TestNoBundle(t *testing.T) {
	r := runFiles(t, map[string]string{
		"dist/index.js": `import { DurableObject } from "cloudflare:workers"; import sql from "./q.sql"; import { x } from "./chunk.js";
globalThis.process = { env: { NODE_ENV: "here" } };
class Room extends DurableObject {} log(sql, x, Room.name, typeof BUILD, process.env.NODE_ENV); export { Room, Room as default };`,
		"dist/q.sql": "select", "dist/chunk.js": "export const x = 1",
	}, Options{Entry: "dist/index.js", NoBundle: true, Define: map[string]string{"BUILD": `"x"`}})
	r.wantLog("select 1 Room undefined here")
	if got := strings.Join(r.b.ExportNames(), ","); got != "Room,default" {
		t.Errorf("ExportNames = %s", got)
	}
}

// A worker in service-worker format has no exports, and a CommonJS one has its
// module.exports as default.
func TestOtherFormats(t *testing.T) {
	r := runFiles(t, map[string]string{"main.js": `log(typeof addEventListener)`}, Options{Entry: "main.js"})
	if n := r.b.ExportNames(); len(n) != 0 {
		t.Errorf("ExportNames = %v", n)
	}
	r = runFiles(t, map[string]string{"main.js": `module.exports = { fetch() {} }`}, Options{Entry: "main.js"})
	if d, ok := r.exports.Get("default").(*goja.Object); !ok || d.Get("fetch") == nil {
		t.Errorf("default = %v", r.exports.Get("default"))
	}
}
