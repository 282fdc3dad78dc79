package bundle

import "testing"

// ECMAScript runs modules in the order in which import statements lead to them;
// an import of a module that is being imported runs nothing
// (InnerModuleEvaluation, 16.2.1.5.3.1). Here b.js comes after base.js although
// base.js imports it, as in pdf-lib.
func TestCircleOfImports(t *testing.T) {
	for _, pkg := range []string{`{"name":"p","type":"module"}`, `{"name":"p","type":"module","sideEffects":false}`} {
		r := runFiles(t, map[string]string{
			"main.ts":                     `import { make, Base } from "p"; log(make() instanceof Base, make().name())`,
			"node_modules/p/package.json": pkg,
			"node_modules/p/index.js":     `export * from "./base.js"; export { make } from "./page.js"`,
			"node_modules/p/base.js":      `import { make } from "./page.js"; export class Base { again() { return make() } }`,
			"node_modules/p/page.js":      `import { Sub } from "./sub.js"; export const make = () => new Sub()`,
			"node_modules/p/sub.js":       `import { Base } from "./again.js"; import { suffix } from "./base2.js"; export class Sub extends Base { name() { return "sub" + suffix() } }`,
			"node_modules/p/again.js":     `export { Base } from "./base.js"`,
			"node_modules/p/base2.js":     `import "./sub.js"; export function suffix() { return "!" }`,
		}, Options{})
		r.wantLog("true sub!")
	}
}

// Order of evaluation: a module of a circle runs after what it imports, but for
// what is being imported already; a function reads names when it is called.
func TestCircleOrder(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": `import { a, all } from "./a"; log("main", a, all())`,
		"a.ts":    `import { b } from "./b"; import { deep } from "./d"; log("a", b); export const all = () => deep(); export const a = "a"`,
		"b.ts":    `import { c } from "./c"; log("b", c); export const b = "b"; export const late = () => a; import { a } from "./a"`,
		"c.ts":    `import { late } from "./b"; export const c = "c"; export const early = () => late(); import { d } from "./d"; log("c", d)`,
		"d.ts":    `import { early } from "./c"; export const d = "d"; export const deep = () => early(); log("d")`,
	}, Options{})
	r.wantLog("d", "c d", "b c", "a b", "main a a")
}

// \u{10FFFF} is a code point like the others, in strings and templates (12.9.4.1),
// and wrangler's names for the environment are all replaced.
func TestLastCodePoint(t *testing.T) {
	r := runFiles(t, map[string]string{
		"main.ts": "declare const global: any;\n" + `
const a = "x\u{10FFFF}y", s = 'q"\u{10ffff}', b = ` + "`\\u{10FFFF}${a}\\u{10FFFF}`" + `, d = /[\u{10000}-\u{10FFFF}]/u, e = "\\u{10FFFF}", f = "\\\u{10FFFF}";
log(a.length, s.length, b.length, d.test(a), d.source, e, f.length, a.codePointAt(1));
log(global.process.env.NODE_ENV, globalThis.process.env.NODE_ENV, process.env.NODE_ENV);`,
	}, Options{})
	r.wantLog(`4 4 8 true [\u{10000}-\u{10FFFF}] \u{10FFFF} 3 1114111`, "development development development")
}
