package bundle

import (
	"testing"

	"github.com/dop251/goja"
)

// CommonJS packages are imported as esbuild imports them: default is
// module.exports, except for code compiled from ESM outside Node's mode.
func TestDefaultInterop(t *testing.T) {
	files := map[string]string{
		"node_modules/cjs/index.js":   `module.exports = function f() { return "called" }; module.exports.named = "n"; log(this === exports);`,
		"node_modules/babel/index.js": `exports.__esModule = true; exports.default = "d"; exports.x = "x";`,
		"node_modules/req/index.js":   `const e = require("./esm.mjs"); exports.got = e.default + e.__esModule + Object.keys(e); exports.cjs = require("cjs").named;`,
		"node_modules/req/esm.mjs":    `export default "esm"; export const k = 1`,
		"main.ts": `
import f, { named } from "cjs";
import * as star from "cjs";
import babel, { x } from "babel";
import { got, cjs } from "req";
import ns from "./mode.mjs";
log(f(), named, star.named, typeof star.default, babel, x, got, cjs, ns);
`,
		"mode.mjs": `import b from "babel"; export default typeof b + b.default`,
	}
	r := runFiles(t, files, Options{})
	r.wantLog("true", "called n n function d x esmtruedefault,k n objectd")
}

// JSON, text and data modules, by extension and by rule.
func TestDataModules(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import data, { a } from "./data.json";
import sql from "./q.sql";
import page from "./page.html";
import bytes from "./x.bin";
import glsl from "./s.glsl";
import { v } from "./legacy.inc";
const req = require("./data.json");
log(a, data.b[0], sql.trim(), page.trim(), bytes instanceof ArrayBuffer, new Uint8Array(bytes)[1], glsl.trim(), req === data, v);`,
		"data.json":  `{"a": 1, "b": ["two"]}`,
		"q.sql":      "select 1\n",
		"page.html":  "<p>",
		"x.bin":      "AB",
		"s.glsl":     "shader",
		"legacy.inc": "exports.v = 'inc'",
	}, Options{Rules: []Rule{
		{Type: Text, Globs: []string{"**/*.glsl"}, Fallthrough: true},
		{Type: CommonJS, Globs: []string{"*.inc"}},
	}})
	r.wantLog("1 two select 1 <p> true 66 shader true inc")
}

// Re-exports of all kinds read through to the origin; an explicit name wins
// over a star; an unfinished cycle sees live bindings.
func TestReExportsAndCycles(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import * as all from "./barrel";
import { a, renamed, sub, both, value } from "./barrel";
log(a, renamed, sub.a, both, value, Object.keys(all).sort().join());
all.bump(); log(all.a, a, sub.a);
import { even } from "./even";
log(even(4), even(3));
`,
		"barrel.ts": `
export * from "./one"; export * from "./two";
export { a as renamed } from "./one"; export * as sub from "./one";
export { default as value } from "./one"; export const both = "own";
`,
		"one.ts":  `export let a = 1; export const both = "one"; export function bump() { a++ } export default "def"`,
		"two.ts":  `export const b = 2; export const both = "two"`,
		"even.ts": `import { odd } from "./odd"; export function even(n: number): boolean { return n === 0 || odd(n - 1) }`,
		"odd.ts":  `import { even } from "./even"; log("odd", typeof even); export function odd(n: number): boolean { return n !== 0 && even(n - 1) }`,
	}, Options{})
	r.wantLog("odd function", "1 1 1 own def a,b,both,bump,renamed,sub,value", "2 2 2", "true false")
}

// A star over a CommonJS module has names only once that module ran.
func TestStarOverCommonJS(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts":                   `import { x, y } from "./b"; log(x, y)`,
		"b.ts":                      `export * from "cjs"; export const y = 2`,
		"node_modules/cjs/index.js": `exports["x".toLowerCase()] = 1`,
	}, Options{})
	r.wantLog("1 2")
}

// A class that two entry points of a package share is one class, also when the
// package is reached through a symbolic path and through import().
func TestOneClassThroughTwoEntryPoints(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import { Base } from "pkg"; import { make } from "pkg/chat";
class Mine extends Base {}
log(make() instanceof Base, new Mine() instanceof Base, Mine.name, new Mine().who());
import("pkg/chat").then(m => log(m.make() instanceof Base));
`,
		"node_modules/pkg/package.json": `{"name":"pkg","type":"module","sideEffects":false,"exports":{".":{"workerd":"./i.js"},"./chat":"./chat.js"}}`,
		"node_modules/pkg/i.js":         `export * from "./base.js"`,
		"node_modules/pkg/chat.js":      `import { Base } from "./base.js"; export const make = () => new Base()`,
		"node_modules/pkg/base.js":      `log("base"); export class Base { who() { return this.constructor.name } }`,
	}, Options{})
	r.wantLog("base", "true true Mine Mine", "true")
}

// Builtins arrive as namespaces, bare names mean node:, require gives the default.
func TestBuiltins(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import path, { join } from "path"; import * as ns from "node:path";
import { DurableObject } from "cloudflare:workers";
import viaRequire from "cjs";
log(join("a", "b"), path.isDefault, ns.join === join, ns.default === path, viaRequire, class X extends DurableObject {}.name);
import("node:path").then(m => log(m.default === path));`,
		"node_modules/cjs/index.js": `module.exports = require("path").isDefault`,
	}, Options{})
	r.wantLog("a/b true true true true X", "true")
}

// Virtual modules come from the host, with TypeScript.
func TestVirtual(t *testing.T) {
	r := runFiles(t, map[string]string{"main.ts": `import { n } from "minido:chaos"; log(n)`},
		Options{Virtual: map[string]string{"minido:chaos": `import { join } from "node:path"; export const n: string = join("v", "x")`}})
	r.wantLog("v/x")
}

// Evaluation waits for each top-level await, in import order, and import() of
// such a module gives its namespace.
func TestTopLevelAwait(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `
import { a } from "./slow"; import "./after";
log("main", a);
const late = await import("./late");
log(late.default, late.n);
export default { a };
export * from "./slow";
`,
		"slow.ts":  `log("slow 1"); export const a = await Promise.resolve(7); log("slow 2"); const x = require("./sync"); log(x.s)`,
		"after.ts": `import { a } from "./slow"; log("after", a)`,
		"late.ts":  `export default await 5; export let n = 6; for await (const v of [1]) log("v", v)`,
		"sync.ts":  `export const s = "sync"`,
	}, Options{})
	r.wantLog("slow 1", "slow 2", "sync", "after 7", "main 7", "v 1", "5 6")
	if !r.b.Async() || r.pending == nil || r.pending.Promise.State() != goja.PromiseStateFulfilled {
		t.Fatalf("pending = %+v", r.pending)
	}
	if v := r.exports.Get("a"); v == nil || v.ToInteger() != 7 {
		t.Errorf("a = %v", v)
	}
}

// A rejected top-level await rejects the whole evaluation.
func TestTopLevelAwaitRejects(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `import "./bad"; log("never")`,
		"bad.ts":  `await Promise.reject(new Error("no"))`,
	}, Options{})
	r.wantLog()
	if r.pending == nil || r.pending.Promise.State() != goja.PromiseStateRejected {
		t.Fatalf("pending = %+v", r.pending)
	}
}

// An evaluation that waits for ever names the await that it waits for, whatever awaits
// came before it and go on in other functions.
func TestTopLevelAwaitUnsettled(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `import "./slow"; log("never")`,
		"slow.ts": "const late = () => new Promise<void>(() => {});\nawait null;\n(async () => { for (;;) { await null; await late(); } })();\nexport const y =\n  [await Promise.all([late(),\n  1])];",
	}, Options{})
	r.wantLog()
	if r.pending == nil || r.pending.Promise.State() != goja.PromiseStatePending {
		t.Fatalf("pending = %+v", r.pending)
	}
	if file, line, col, ok := r.pending.Where(); !ok || file != "slow.ts" || line != 5 || col != 4 {
		t.Errorf("it waits at %s:%d:%d, %v", file, line, col, ok)
	}
}

// Syntax that goja lacks is lowered.
func TestLowering(t *testing.T) {
	r := runFiles(t, map[string]string{
		"tsconfig.json": `{ "compilerOptions": { /* new decorators */ "jsx": "react", "jsxFactory": "h" } }`,
		"main.tsx": `
Symbol.dispose ??= Symbol.for("dispose");
function dec(v: unknown, ctx: any) { log("dec", ctx.kind, ctx.name) }
class C { @dec m() {} accessor q = 1; #p = 2; static s = 3; get p() { return this.#p } }
enum E { A = 4 }
namespace N { export const x = 5 }
async function* g() { yield 1; yield* [2] }
function h(tag: string, props: unknown, ...kids: string[]) { return tag + kids.length }
{ using d = { [Symbol.dispose]() { log("disposed") } }; log("body") }
const c = new C();
log(c.q, c.p, C.s, E.A, N.x, <div>a</div>, C.name, typeof import.meta, import.meta.url, Reflect.ownKeys(import.meta).length, Object.getPrototypeOf(import.meta));
(async () => { for await (const v of g()) log("v", v) })();
`,
	}, Options{Entry: "main.tsx"})
	r.wantLog("dec method m", "body", "disposed", "1 2 3 4 5 div1 C object undefined 0 null", "v 1", "v 2")
}

// Two valid forms that goja's parser refuses are rewritten.
func TestRepaired(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.js": `
class C {
  get = 1;
  static set = () => 2;
  async = "a, b";
  get value() { return this.get }
}
const g = async ({ run = async ({ x }) => await x, tag = ")" }, other = async () => [await 1, await Promise.resolve("}")]) => [await run({ x: 5 }), await other(), tag].join();
const c = new C();
log(c.get, C.set(), C.set.name, c.async, c.value);
g({}).then(log);`,
	}, Options{Entry: "main.js"})
	r.wantLog("1 2 set a, b 1", "5,1,},)")
}

// experimentalDecorators and useDefineForClassFields come from tsconfig, also
// through extends.
func TestLegacyDecorators(t *testing.T) {
	r := runFiles(t, map[string]string{
		"tsconfig.json":                     `{ "extends": ["@x/base/strict.json", "./more.json"] }`,
		"more.json":                         `{ "compilerOptions": { "useDefineForClassFields": false } }`,
		"node_modules/@x/base/strict.json":  `{ "compilerOptions": { "experimentalDecorators": true } }`,
		"node_modules/@x/base/package.json": `{"name":"@x/base"}`,
		"main.ts": `
function legacy(target: any, key: string) { log("legacy", key, typeof target.m) }
class P { set f(v: number) { log("set", v) } }
class C extends P { @legacy m() {} f = 1 }
new C();`,
	}, Options{})
	r.wantLog("legacy m function", "set 1")
}

// tsconfig paths, aliases and define.
func TestResolutionOptions(t *testing.T) {
	r := runFiles(t, map[string]string{
		"tsconfig.json": `{ "compilerOptions": { "baseUrl": ".", "paths": { "@/*": ["src/*"] } } }`,
		"src/util.ts":   `export const u = VERSION`,
		"stub.ts":       `export const s = "stub"`,
		"main.ts":       `import { u } from "@/util"; import { s } from "left-pad"; log(u, s, process.env.NODE_ENV)`,
	}, Options{Alias: map[string]string{"left-pad": "./stub.ts"}, Define: map[string]string{"VERSION": `"1.2"`}})
	r.wantLog("1.2 stub development")
}

// Defined values that are objects are there in every kind of module.
func TestDefinedObjects(t *testing.T) {
	for _, source := range []string{
		`log(X.a[0].b, X === X); (() => log(JSON.stringify(X)))()`,
		`export const x = X.a; log(x[0].b, X === X); log(JSON.stringify(X)); export function f() { return X; }`,
		`module.exports = X; log(X.a[0].b, X === X); log(JSON.stringify(X))`,
		`await null; export const x = X.a; log(x[0].b, X === X); log(JSON.stringify(X))`,
		`export const f = (n) => import("./lib/" + n + ".ts"); log(X.a[0].b, X === X); log(JSON.stringify(X))`,
		`export const y = 1; export async function f() { return X; }; log(X.a[0].b, X === X); f().then((x) => log(JSON.stringify(x)))`,
	} {
		r := runFiles(t, map[string]string{"main.ts": source, "lib/a.ts": `export const a = 1`}, Options{Define: map[string]string{"X": `{ "a": [{ "b": 1 }] }`}})
		r.wantLog("1 true", `{"a":[{"b":1}]}`)
	}
}
