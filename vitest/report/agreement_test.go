package report_test

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/vitest"
	"minido.dev/minido/vitest/report"
)

// What suites that ran under vitest 4.1 and Cloudflare's plugin 1.5 saw there: waits while timers
// are faked, tags, serializers and formats of snapshots by configuration, import() of what is not
// there, projects in folders of their own, and what listDurableObjectIds, reset and
// abortAllDurableObjects do.
func TestAgreement(t *testing.T) {
	dir := project(t, map[string]string{
		"wrangler.jsonc": `{ "name": "front", "main": "w.ts", "compatibility_date": "2026-08-01", "durable_objects": { "bindings": [{ "name": "ROOM", "class_name": "Room" }, { "name": "COUNT", "class_name": "Count", "script_name": "api" }] },
  "services": [{ "binding": "API", "service": "api" }], "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Room"] }] }`,
		"w.ts":   `import { DurableObject } from "cloudflare:workers"; export class Room extends DurableObject { hi() { return "hi"; } wait() { return new Promise(() => {}); } } export default { fetch: () => new Response() };`,
		"api.js": `import { DurableObject, WorkerEntrypoint } from "cloudflare:workers"; export class Count extends DurableObject { up() { return 1; } } export default class extends WorkerEntrypoint {}`,
		"ser.ts": `export default { test: (v) => v instanceof Date, serialize: (v) => "Day<" + v.toISOString().slice(0, 10) + ">" };`,
		"vitest.config.ts": `import { cloudflareTest } from "@cloudflare/vitest-plugin";
const workers = [{ name: "api", modules: true, scriptPath: "./api.js", compatibilityDate: "2026-08-01", durableObjects: { COUNT: { className: "Count", useSQLite: true } } }];
export default { test: { tags: [{ name: "slow", timeout: 9000 }, { name: "flaky", retry: 2 }], snapshotFormat: { printBasicPrototype: true, escapeString: true }, projects: [
  { extends: true, plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.jsonc" }, miniflare: { workers } })], test: { name: "own", include: ["a.test.ts"], snapshotSerializers: ["./ser.ts"] } },
  { plugins: [cloudflareTest({ wrangler: { configPath: "../wrangler.jsonc" }, miniflare: { workers: [{ ...workers[0], scriptPath: "../api.js" }] } })], test: { name: "folder", root: "./sub", include: ["*.test.ts"] } },
] } };`,
		"sub/b.test.ts": `import { it, expect } from "vitest"; it("format is the root's", ({ task }) => { expect(task.file.projectName).toBe("folder"); expect({ a: [1] }).toMatchInlineSnapshot("\n  Object {\n    \"a\": Array [\n      1,\n    ],\n  }\n"); });`,
		"a.test.ts": `import { env } from "cloudflare:workers"; import { abortAllDurableObjects, listDurableObjectIds, reset } from "cloudflare:test"; import { afterEach, expect, it, vi } from "vitest";
afterEach(() => { vi.useRealTimers(); });
it("waitFor", async () => { vi.useFakeTimers(); let ok = false; setTimeout(() => { ok = true; }, 500); await vi.waitFor(() => { if (!ok) throw new Error("no"); }); });
it("poll", async () => { vi.useFakeTimers(); let n = 0; await expect.poll(() => ++n).toBe(3); });
it("tagged", { tags: ["slow"] }, ({ task }) => { expect([task.tags, task.timeout, task.file.projectName]).toEqual([["slow"], 9000, "own"]); });
let tries = 0; it("tagged again", { tags: ["flaky"] }, () => { expect(++tries).toBe(3); });
it("serializer", () => { expect({ d: new Date(0), s: 'a"b' }).toMatchInlineSnapshot("\n  Object {\n    \"d\": Day<1970-01-01>,\n    \"s\": \"a\\\"b\",\n  }\n"); });
it("import", async () => { await expect(import("./none" as string)).rejects.toThrow(/^Cannot find module '\/none' imported from \S*a\.test\.ts$/); await expect(import("not-installed" as string)).rejects.toThrow("Cannot find package 'not-installed' imported from"); });
it("ids", async () => { await env.ROOM.getByName("a").hi(); await env.COUNT.getByName("b").up(); expect(await listDurableObjectIds(env.COUNT)).toHaveLength(1); await reset(); expect((await listDurableObjectIds(env.ROOM)).map(String)).toEqual([String(env.ROOM.idFromName("a"))]); await env.ROOM.getByName("a").hi(); await env.ROOM.getByName("c").hi(); expect(await listDurableObjectIds(env.ROOM)).toHaveLength(2); });
it("abort", async () => { const p = expect(env.ROOM.getByName("w").wait()).rejects.toThrow("Application called abortAllDurableObjects()."); await env.ROOM.getByName("w").hi(); await abortAllDurableObjects(); await p; });
it("texts", async () => { await expect(env.API.nope()).rejects.toThrow('The RPC receiver does not implement the method "nope".'); await expect(env.ROOM.getByName("a").nope()).rejects.toThrow('The RPC receiver does not implement "nope".'); });`,
	})
	if r := runIn(t, dir, vitest.Options{}); r.Failed() || len(r.Files) != 2 || len(r.Files[0].Tests()) != 9 {
		t.Errorf("%s", strings.Join(lines(r), "\n"))
	}
}

// Places begin at the directory of the run, wherever the wrangler file is.
func TestPlacesBesideAnotherDirectory(t *testing.T) {
	dir := project(t, map[string]string{"pkg/wrangler.jsonc": worker, "pkg/w.ts": `export default {}`,
		"vitest.config.ts":   `import { cloudflareTest } from "@cloudflare/vitest-plugin"; export default { plugins: [cloudflareTest({ wrangler: { configPath: "./pkg/wrangler.jsonc" } })] };`,
		"pkg/test/a.test.ts": "import { it } from \"vitest\";\nit(\"fails\", () => {\n  throw new Error(\"here\");\n});\n",
		"test/a.test.ts":     "// another file\n\n\n\n"})
	text, err := report.Text("default", runIn(t, dir, vitest.Options{Files: []string{"pkg"}}), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" ❯ pkg/test/a.test.ts:3:9\n", "     3|   throw new Error(\"here\");\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// A serializer that is none, and one that is not there, are named.
func TestBadSerializers(t *testing.T) {
	files := map[string]string{"wrangler.jsonc": worker, "w.ts": `export default {}`, "ser.ts": `export const x = 1;`,
		"vitest.config.ts": `export default { test: { snapshotSerializers: ["./ser.ts"] } };`, "a.test.ts": `import { it } from "vitest"; it("runs", () => {});`}
	if text := strings.Join(lines(runIn(t, project(t, files), vitest.Options{})), "\n"); !strings.Contains(text, "invalid snapshot serializer file ") || !strings.Contains(text, "Must export a default object") {
		t.Error(text)
	}
	delete(files, "ser.ts")
	_, err := vitest.Run(vitest.Options{Dir: project(t, files), Retry: -1, Seed: 1, Clock: clock.Real{}, Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "test.snapshotSerializers: there is no ") {
		t.Error(err)
	}
}

// The json report has vitest's counts of suites, the first error of a file once, and absolute
// places in stacks.
func TestJSONShape(t *testing.T) {
	dir := project(t, map[string]string{"wrangler.jsonc": worker, "w.ts": `export default {}`,
		"a.test.ts": `import { describe, it } from "vitest"; describe("d", () => { describe("e", () => { it("fails", () => { throw new Error("x"); }); }); }); describe.todo("t"); describe("g", () => { it("runs", () => {}); });`,
		"b.test.ts": `import { it } from "vitest"; it("runs", () => {}); throw new Error("at the top");`})
	text, err := report.Text("json", runIn(t, dir, vitest.Options{}), false)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		NumTotalTestSuites, NumPassedTestSuites, NumFailedTestSuites, NumPendingTestSuites int
		TestResults                                                                        []struct {
			Status, Message  string
			AssertionResults []struct{ FailureMessages []string }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	// vitest 4.1.11 of the same: 6, 1, 4, 1
	if n := [4]int{got.NumTotalTestSuites, got.NumPassedTestSuites, got.NumFailedTestSuites, got.NumPendingTestSuites}; n != [4]int{6, 1, 4, 1} {
		t.Errorf("suites: %v", n)
	}
	if stack, want := got.TestResults[0].AssertionResults[0].FailureMessages[0], "at "+filepath.ToSlash(filepath.Join(dir, "a.test.ts"))+":1:"; !strings.Contains(stack, want) {
		t.Errorf("%q is not in %s", want, stack)
	}
	if got.TestResults[0].Message != "" || got.TestResults[1].Message != "at the top" {
		t.Errorf("messages: %+v", got.TestResults)
	}
}

// What suites saw under vitest 4.1 and Cloudflare's plugin 1.5, too: events that the worker has no
// handler for, calls of workers that are objects, methods that an object shadows, migrations with
// comments, what a workflow fails with, and a Response that another request has made.
func TestAgreementOfEvents(t *testing.T) {
	dir := project(t, map[string]string{
		"wrangler.jsonc": `{ "name": "front", "main": "w.ts", "compatibility_date": "2026-08-01", "durable_objects": { "bindings": [{ "name": "ROOM", "class_name": "Room" }] },
  "workflows": [{ "binding": "FLOW", "name": "flow", "class_name": "Flow" }], "services": [{ "binding": "OTHER", "service": "other" }], "migrations": [{ "tag": "v1", "new_sqlite_classes": ["Room"] }] }`,
		"w.ts": `import { DurableObject, WorkflowEntrypoint } from "cloudflare:workers"; import { NonRetryableError } from "cloudflare:workflows";
export class Room extends DurableObject { hi() { return "hi"; } }
export class Flow extends WorkflowEntrypoint { async run() { throw new NonRetryableError("no"); } }
export default { custom: (x) => x, async queue(batch) { batch.ackAll(); }, async fetch(request, env) { return env.OTHER.fetch(request); } };`,
		"m/1.sql": "-- only; a comment\nCREATE TABLE a (x);\n/* c */ ;\nINSERT INTO a VALUES (';');\n-- the end;\n", "m/2.sql": "CREATE TABLE b (x);\n", "m/3.sql": "BEGIN TRANSACTION;\nCREATE TABLE c (x);\nCOMMIT;\n",
		"vitest.config.ts": `import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
export default async () => ({ plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.jsonc" }, miniflare: { bindings: { MIGRATIONS: await readD1Migrations(__dirname + "/m") }, workers: [{ name: "other", modules: true, script: "export default { fetch: () => new Response('real') }" }] } })] });`,
		"a.test.ts": `import { env, exports } from "cloudflare:workers"; import { introspectWorkflowInstance, runInDurableObject, SELF } from "cloudflare:test"; import { expect, it, vi } from "vitest";
const worker = exports.default as any, failure = (f) => f().then((v) => ["ok", v], (e) => e.name + ": " + e.message.replace(/ \S*w\.ts /, " w.ts "));
it("no scheduled", async () => { expect(await failure(() => worker.scheduled({}))).toBe("TypeError: Expected default export of w.ts to define a ` + "`scheduled()`" + ` function"); });
it("object", async () => { expect(await failure(() => worker.custom(1))).toBe("TypeError: Expected default export of w.ts to be a subclass of ` + "`WorkerEntrypoint`" + ` for RPC"); expect(await failure(() => worker.none())).toContain("to be a subclass of"); });
it("shadowed", async () => { const room = env.ROOM.getByName("a"); await runInDurableObject(room, (r) => { vi.spyOn(r, "hi"); r.own = () => 1; }); expect(await failure(() => room.hi())).toBe('TypeError: The RPC receiver does not implement the method "hi".'); expect(await failure(() => room.own())).toContain("but the receiver instance does."); });
it("migrations", () => { expect(env.MIGRATIONS.map((m) => m.queries)).toEqual([["-- only; a comment\nCREATE TABLE a (x)", "INSERT INTO a VALUES (';')"], ["CREATE TABLE b (x);\n"], ["\nCREATE TABLE c (x);\n\n"]]); });
it("workflow", async () => { await using i = await introspectWorkflowInstance(env.FLOW, "w"); const flow = await env.FLOW.create({ id: "w" }); await i.waitForStatus("errored"); expect((await i.getError()).name).toBe("WorkflowFatalError"); expect(Reflect.ownKeys(await flow.status())).toEqual(["status", "__LOCAL_DEV_STEP_OUTPUTS", "output", "error"]); });
it("mock", async () => { const spy = vi.spyOn(env.OTHER, "fetch").mockResolvedValue(new Response("fake")); expect(await failure(() => SELF.fetch("http://x/"))).toContain("Cannot perform I/O on behalf of a different request."); spy.mockImplementation(async () => new Response("fake")); expect(await (await SELF.fetch("http://x/")).text()).toBe("fake"); spy.mockRestore(); expect(await (await SELF.fetch("http://x/")).text()).toBe("real"); });`,
		"none.ts": `export class A {}`,
		"none.config.ts": `import { cloudflareTest } from "@cloudflare/vitest-plugin";
export default { plugins: [cloudflareTest({ main: "./none.ts", miniflare: { compatibilityDate: "2026-08-01" } })], test: { include: ["none.check.ts"] } };`,
		"none.check.ts": `import { SELF } from "cloudflare:test"; import { expect, it } from "vitest"; it("none", async () => { await expect(SELF.fetch("http://x/")).rejects.toThrow("none.ts does not export a default entrypoint."); });`,
	})
	for config, tests := range map[string]int{"": 6, "none.config.ts": 1} { // order-independent: each by itself
		if r := runIn(t, dir, vitest.Options{Config: config}); r.Failed() || len(r.Files[0].Tests()) != tests {
			t.Errorf("%s", strings.Join(lines(r), "\n"))
		}
	}
}

// A run stops within the file in which it has seen enough failed tests, as vitest does: the rest is
// skipped. The number is a flag, or stands in the configuration.
func TestBail(t *testing.T) {
	dir := project(t, map[string]string{"wrangler.jsonc": worker, "w.ts": `export default {}`,
		"a.test.ts":        `import { expect, it } from "vitest"; it("one", () => { expect(1).toBe(2); }); it("two", () => {});`,
		"b.test.ts":        `import { expect, it } from "vitest"; it("three", () => {}); it("four", () => { expect(1).toBe(2); }); it("five", () => { expect(1).toBe(2); });`,
		"c.test.ts":        `import { it } from "vitest"; it("six", () => {});`,
		"bail.config.ts":   `export default { test: { bail: 2 } };`,
		"vitest.config.ts": `export default {};`})
	for config, o := range map[string]vitest.Options{"flag": {Bail: 2}, "configuration": {Config: "bail.config.ts"}, "flag first": {Config: "bail.config.ts", Bail: 1}} { // order-independent: each by itself
		want := "one: fail two: pass three: pass four: fail five: skip"
		if o.Bail == 1 {
			want = "one: fail two: skip"
		}
		got := ""
		for _, f := range runIn(t, dir, o).Files {
			for _, x := range f.Tests() {
				got += x.Name + ": " + x.State + " "
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: %s, want %s", config, got, want)
		}
	}
}
