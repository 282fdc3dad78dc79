package report_test

import (
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/vitest"
	"minido.dev/minido/vitest/report"
)

// What a call through a stub rejects with has its place in the test that awaits it, and the code
// around it, also through the helpers of the test and Promise.all.
func TestPlacesOfRejectedCalls(t *testing.T) {
	dir := project(t, map[string]string{
		"wrangler.jsonc": `{"name": "w", "main": "w.ts", "compatibility_date": "2026-08-01", "durable_objects": {"bindings": [{"name": "OBJ", "class_name": "Obj"}]}, "migrations": [{"tag": "v1", "new_sqlite_classes": ["Obj"]}]}`,
		"w.ts": `import { DurableObject } from "cloudflare:workers";
export class Obj extends DurableObject { fail() { throw new RangeError("no"); } }
export default {};`,
		"a.test.ts": `import { env } from "cloudflare:test";
import { it } from "vitest";
const helper = async (name: string) => { return await env.OBJ.getByName(name).fail(); };
it("awaits", async () => {
  const answer = await env.OBJ.getByName("a").fail();
});
it("awaits a helper", async () => {
  await Promise.all([1, helper("b")]);
});
`,
	})
	text, err := report.Text("default", runIn(t, dir, vitest.Options{}), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"RangeError: no\n ❯ a.test.ts:5:18\n", "  5|   const answer = await env.OBJ.getByName(\"a\").fail();\n",
		"RangeError: no\n ❯ a.test.ts:3:49\n", " ❯ a.test.ts:8:3\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// What is shown of each file as it ends, and then, is what the whole report has; it names
// what became of snapshots, the suite of an error, and the test of an unhandled rejection.
func TestPeople(t *testing.T) {
	dir := project(t, map[string]string{
		"wrangler.jsonc": worker, "w.ts": `export default {}`,
		"a.test.ts": `import { beforeAll, describe, expect, it } from "vitest";
it("differs", () => expect({ a: 1, b: 2 }).toEqual({ a: 1, b: 3 }));
it("has snapshots", () => expect(1).toMatchSnapshot());
it("rejects", () => { Promise.reject(new Error("nobody looks")); });
describe("outer", () => describe("inner", () => { beforeAll(() => { throw new Error("no luck"); }); it("never begins", () => {}); }));
`,
		"b.test.ts":                    `import { expect, it } from "vitest"; it("passes", () => {}); it.todo("later"); it("is new", () => expect(1).toMatchSnapshot());`,
		"__snapshots__/a.test.ts.snap": "// Vitest Snapshot v1\n\nexports[`gone 1`] = `1`;\n\nexports[`has snapshots 1`] = `3`;\n",
	})
	r := runIn(t, dir, vitest.Options{New: true})
	for name, want := range map[string][]string{ // order-independent: each is looked at by itself
		"default": {
			" ❯ a.test.ts (4 tests) ", "   × differs\n", " ✓ b.test.ts (3 tests) ", " FAIL  a.test.ts > outer > inner\nError: no luck\n", "-   \"b\": 3,\n+   \"b\": 2,\n",
			"It came up while the test \"rejects\" ran, or after it had ended.\n", "  Snapshots  1 written\n             1 failed\n             1 obsolete\n             ↳ a.test.ts\n               · gone 1\n Test Files", "     Errors  1 error\n"},
		"verbose": {"   ✓ passes\n   □ later\n"},
		"dot":     {"xx·-·-·\n"},
	} {
		text, err := report.Text(name, r, false)
		if err != nil {
			t.Fatal(err)
		}
		parts := ""
		for _, f := range r.Files {
			part, ok := report.File(name, f, false)
			if !ok {
				t.Errorf("%s shows no files as they end", name)
			}
			parts += part
		}
		rest, err := report.Rest(name, r, false)
		if parts += rest; err != nil || parts != text {
			t.Errorf("%s: in parts (%v)\n%s\nas one\n%s", name, err, parts, text)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is missing in:\n%s", name, w, text)
			}
		}
		if strings.Contains(text, "\x1b") {
			t.Errorf("%s has colours", name)
		}
	}
	if text, err := report.Text("default", r, true); err != nil || !strings.Contains(text, "\x1b[2m    \"a\": 1,\x1b[22m\n\x1b[32m-   \"b\": 3,\x1b[39m\n") {
		t.Errorf("what differs is not marked (%v):\n%s", err, text)
	}
	if text, ok := report.File("json", r.Files[0], false); ok {
		t.Errorf("json begins with %q", text)
	}
	repeated := &vitest.File{Runs: 12, Findings: 1}
	if got := report.Repeated("default", vitest.Evict, repeated, false); got != "   evict: 12 runs, 1 finding\n" {
		t.Errorf("%q", got)
	}
}

// Findings of a test that fails at the same place are shown once, with their points; another
// place, another error and another test are shown by themselves.
func TestFindingsAlike(t *testing.T) {
	r := &vitest.Report{Dir: t.TempDir(), Chaos: vitest.Evict}
	find := func(test string, number int, name, message string, line int) {
		r.Findings = append(r.Findings, vitest.Finding{File: "a.test.ts", Test: test, Point: fmt.Sprintf("rpc:after(Room/r)/rpc#%d", number), Number: number, Replay: fmt.Sprintf("minido test --at %d", number),
			Errors: []vitest.Error{{Diff: "\x1b[32m- 2\x1b[39m", Name: name, Message: message, Stack: fmt.Sprintf("x\n    at a.test.ts:%d:7", line)}}})
	}
	find("counts", 1, "AssertionError", "expected 1 to be 2", 5)
	find("counts", 2, "AssertionError", "expected 1 to be 9", 9)
	for n := 3; n <= 12; n++ {
		find("counts", n, "AssertionError", "expected 1 to be 3", 5)
	}
	find("counts", 13, "TypeError", "no", 5)
	find("other", 1, "AssertionError", "expected 1 to be 2", 5)
	text, err := report.Text("default", r, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text, "\nreplay: "); n != 4 {
		t.Errorf("%d are shown", n)
	}
	if want := "replay: minido test --at 1\nthe same at 10 other points: rpc:after(Room/r)/rpc#3 (--at 3), "; !strings.Contains(text, want) || !strings.Contains(text, "rpc#10 (--at 10), 2 more\n") {
		t.Errorf("%q is missing in:\n%s", want, text)
	}
	if text, err := report.Text("json", r, true); err != nil || !strings.Contains(text, `"Diff":"- 2"`) {
		t.Errorf("json (%v): %s", err, text)
	}
}

// Runs that say nothing about the worker are shown by reason and test, with a test that passes
// with others alone by its name; at most eight tests a reason.
func TestLostRuns(t *testing.T) {
	r := &vitest.Report{Dir: t.TempDir(), Chaos: vitest.Crash, Checked: 20}
	for n := 1; n <= 10; n++ {
		r.Lost = append(r.Lost, vitest.Lost{File: "a.test.ts", Test: fmt.Sprintf("t%d", n), Point: "p", Number: n, Why: "a call failed"}, vitest.Lost{File: "a.test.ts", Test: "t1", Number: 30 + n, Point: "p", Why: "a socket closed"})
	}
	r.Findings = []vitest.Finding{{File: "a.test.ts", Test: "counts", Errors: []vitest.Error{{Message: "no"}}, Replay: "minido test -t counts"}}
	text, err := report.Text("default", r, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"20 runs, 1 findings, 20 say nothing about the worker\n             10 runs: a call failed\n               a.test.ts > t1: 1 run, the first --at 1\n",
		"t8: 1 run, the first --at 8\n               and 2 more\n             10 runs: a socket closed\n               a.test.ts > t1: 10 runs, the first --at 31\n",
		"a.test.ts > counts, alone and without a fault (does it need what other tests leave?)\nno\nreplay: minido test -t counts\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}
