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
