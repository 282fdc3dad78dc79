package bundle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/runtime/bundle/counting"
)

// countedLines bundles and runs a module, and returns how often its statements ran, as
// line:count in the order of the source, and its functions and branches likewise.
func countedLines(t *testing.T, name, source string, calls ...string) (r *run, statements, functions, branches string) {
	t.Helper()
	c := &Counting{Wants: func(path string) bool { return strings.HasSuffix(path, "/"+name) }}
	r = runFiles(t, map[string]string{"package.json": `{"name":"app"}`, name: source, "lib.ts": "export const x = 1;", "main.ts": `export * from "./` + strings.TrimSuffix(name, ".ts") + `";`}, Options{Counting: c})
	for _, call := range calls {
		r.call(call)
	}
	files, err := c.Files()
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all [3][]string
	for _, s := range files[0].Statements {
		all[0] = append(all[0], fmt.Sprintf("%d:%d", s.At.Start.Line, s.Count))
	}
	for _, f := range files[0].Functions {
		all[1] = append(all[1], fmt.Sprintf("%s@%d:%d", f.Name, f.Decl.Start.Line, f.Count))
	}
	for _, b := range files[0].Branches {
		all[2] = append(all[2], fmt.Sprintf("%s@%d:%v", b.Kind, b.At.Start.Line, b.Counts))
	}
	return r, strings.Join(all[0], " "), strings.Join(all[1], " "), strings.Join(all[2], " ")
}

// What esbuild adds, and what it makes of syntax that goja lacks, is not counted; the
// source's own statements, functions and branches are. The numbers are by hand.
func TestCounted(t *testing.T) {
	for name, c := range map[string]struct{ source, statements, functions, branches string }{
		"imports and exports": {`import { x } from "./lib";
import * as ns from "./lib";
export { x, ns };
export * from "./lib";
export default class { m() {} }
export class Named extends Object {}
export const call = () => import("./lib");`, "7:1 7:1", "@5:0 @7:1", ""},
		"a namespace": {`export namespace N {
  export const a = 1;
  export function f() { return a; }
}
export const call = () => N.f();`, "1:1 2:1 3:1 5:1 5:1", "@1:1 f@3:1 @5:1", ""},
		"using": {`export function call() {
  using a = { [Symbol.dispose ?? "d"]() {} };
  return 1;
}`, "2:1 3:1", "call@1:1 @2:1", "binary-expr@2:[1 0]"},
		"labels and else": {`export function call() {
  outer: for (const x of [1, 2]) {
    if (x === 1)
      continue outer;
    else
      if (x === 3) return;
  }
}`, "2:1 2:1 3:2 4:1 6:1 6:0", "call@1:1", "if@3:[1 1] if@6:[0 1]"},
		"an async generator": {`export async function* call() {
  for await (const x of []) {
    yield x;
  }
}`, "2:0 3:0", "call@1:0", ""},
		"default exports": {`export default (function () { return 1; })();
export function call() { "use strict"; return 2; }`, "1:1 2:1", "@1:1 call@2:1", ""},
	} { // order-independent: each is a case of its own
		t.Run(name, func(t *testing.T) {
			_, statements, functions, branches := countedLines(t, "counted.ts", c.source, "call")
			if statements != c.statements || functions != c.functions || branches != c.branches {
				t.Errorf("%s\n%s\n%s\nwant\n%s\n%s\n%s", statements, functions, branches, c.statements, c.functions, c.branches)
			}
		})
	}
}

// Code that is counted has the names, source texts and places in stacks that it has
// otherwise.
func TestCountedLooksTheSame(t *testing.T) {
	r, _, _, _ := countedLines(t, "counted.ts", `export const arrow = () => 1, second = function () { return 2; };
export const call = () => [arrow.name, second.name, String(arrow), call.length,
  new Error("x").stack!.split("\n")[1].replace(/.*counted/, "counted").replace(/\(\d+\)/, "")].join(" | ");`)
	plain := runFiles(t, map[string]string{"package.json": `{"name":"app"}`, "main.ts": `export const arrow = () => 1, second = function () { return 2; };
export const call = () => [arrow.name, second.name, String(arrow), call.length,
  new Error("x").stack!.split("\n")[1].replace(/.*main/, "counted").replace(/\(\d+\)/, "")].join(" | ");`}, Options{})
	if got, want := r.call("call").String(), plain.call("call").String(); got != want || !strings.Contains(got, "arrow | second | () => 1 | 0 | counted.ts:") {
		t.Errorf("%s, want %s", got, want)
	}
}

// Counts of several runs of the same text add up; those of another text do not.
func TestCountsAddUp(t *testing.T) {
	at := func(line int) counting.Range {
		return counting.Range{Start: counting.Position{Line: line}, End: counting.Position{Line: line, Column: counting.Unknown}}
	}
	file := func(line int) *counting.File {
		return &counting.File{Statements: []counting.Statement{{At: at(line), Count: 2}}, Functions: []counting.Function{{Decl: at(line), Count: 1}},
			Branches: []counting.Branch{{At: at(line), Paths: []counting.Range{at(line)}, Counts: []uint64{3}}}}
	}
	f := file(1)
	if !f.Add(file(1)) || f.Statements[0].Count != 4 || f.Functions[0].Count != 2 || !slices.Equal(f.Branches[0].Counts, []uint64{6}) {
		t.Errorf("%+v", f)
	}
	if f.Add(file(2)) || f.Statements[0].Count != 4 {
		t.Errorf("%+v", f)
	}
}
