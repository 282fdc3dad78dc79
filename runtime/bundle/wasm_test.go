package bundle

import "testing"

const emptyModule = "\x00asm\x01\x00\x00\x00"

// A .wasm file is imported with and without "?module", statically and at run time,
// from packages too (wrangler's default rule CompiledWasm).
func TestWasmImports(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import a from "./a.wasm";
import b from "./a.wasm?module";
import c from "pkg/c.wasm";
import d from "pkg";
import * as all from "./a.wasm";
log(a, b, c, d, Object.keys(all).join());
import("./a.wasm").then((m) => log("late", m.default));`,
		"a.wasm": emptyModule, "node_modules/pkg/c.wasm": emptyModule + "\x00\x02\x01c",
		"node_modules/pkg/index.js": `import m from "./c.wasm?module"; export default m`,
	}, Options{})
	r.wantLog("module module module module default", "late module")
}

// A prebuilt worker imports the modules beside it; those that a rule matches can be
// named at run time (wrangler's find_additional_modules).
func TestWasmPrebuilt(t *testing.T) {
	files := map[string]string{
		"dist/index.js": `import a from "./a.wasm"; import b from "./1f-a.wasm?module"; log(a, b);
const name = "c"; import("./sub/" + name + ".wasm").then((m) => log("late", m.default), (e) => log(e.message));`,
		"dist/a.wasm": emptyModule, "dist/1f-a.wasm": emptyModule, "dist/sub/c.wasm": emptyModule,
	}
	opts := Options{Entry: "dist/index.js", NoBundle: true}
	opts.Dir = project(t, files)
	opts.Additional = opts.Dir + "/dist"
	r := load(t, build(t, opts))
	if r.err != nil {
		t.Fatal(r.err)
	}
	r.wantLog("module module", "late module")
}
