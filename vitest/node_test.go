package vitest

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/vitest/bundled"
)

// What needs Node.js runs in it: the configuration, globalSetup with its end, functions that
// answer requests, and options that ask for what globalSetup provides. Files that
// globalSetup makes are there before the workers are read.
func TestNode(t *testing.T) {
	if findNode().program == "" {
		t.Skip("there is no Node.js in PATH")
	}
	if _, err := bundled.Load(); err != nil {
		t.Fatalf("%v: run make build first", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "vitest.config.ts", `
import fs from "node:fs";
import { createHash } from "node:crypto";
import { buildPagesASSETSBinding, cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
export default defineConfig({
  plugins: [cloudflareTest(async ({ inject }) => ({
    main: "./dist/main.js",
    miniflare: {
      compatibilityDate: "2025-01-01", d1Databases: ["DB"],
      hyperdrives: { SQL: "postgres://me:secret@127.0.0.1:" + new URL("http://x:" + inject("port")).port + "/shop" },
      bindings: { HASH: createHash("sha1").update(fs.readFileSync(new URL("./a.txt", import.meta.url))).digest("hex"),
        MIGRATIONS: await readD1Migrations({ projectPath: __dirname, migrationsPattern: "migrations/*/up.sql" }) },
      serviceBindings: { OTHER: "other", ASSETS: await buildPagesASSETSBinding("./public"),
        async FUNCTION(request) { return new Response(Buffer.from(await request.text()).toString("hex"), { status: 201, headers: { "x-method": request.method, "x-url": request.url } }); } },
      outboundService: (request) => { throw new Error("no way to " + request.url); },
      workers: [{ name: "other", modules: true, scriptPath: "./dist/other.js", outboundService: (request) => new Response("for other: " + request.url) }],
    },
  }))],
  test: { globalSetup: "./setup.ts", include: ["*.test.ts"] },
});`)
	write(t, dir, "setup.ts", `
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
export default function ({ provide }) {
  fs.mkdirSync(path.join(__dirname, "dist"), { recursive: true });
  const other = "export default { fetch: () => fetch('https://up.test/') }";
  for (const [name, text] of Object.entries({ main: "export default { fetch: () => new Response('built') }", other })) {
    execFileSync(process.execPath, ["-e", "console.log('working'); fs.writeFileSync(process.argv[1], process.argv[2])", path.join(__dirname, "dist", name + ".js"), text], { stdio: "inherit" });
  }
  provide("port", 4711);
  return () => fs.writeFileSync(path.join(__dirname, "ended.txt"), "yes");
}`)
	write(t, dir, "a.txt", "abc")
	write(t, dir, "public/b.txt", "asset")
	write(t, dir, "migrations/2_b/up.sql", "INSERT INTO t VALUES (1);")
	write(t, dir, "migrations/1_a/up.sql", "CREATE TABLE t (n);")
	write(t, dir, "a.test.ts", `
import { applyD1Migrations, env, SELF } from "cloudflare:test";
import { expect, inject, it } from "vitest";
it("all", async () => {
  expect([env.HASH, inject("port"), env.SQL.database]).toEqual(["a9993e364706816aba3e25717850c26c9cd0d89d", 4711, "shop"]);
  expect(await (await SELF.fetch("https://x/")).text()).toBe("built");
  const r = await env.FUNCTION.fetch("https://f.test/p?q=1", { method: "PUT", body: "hi" });
  expect([r.status, r.headers.get("x-method"), r.headers.get("x-url"), await r.text()]).toEqual([201, "PUT", "https://f.test/p?q=1", "6869"]);
  expect(await (await env.ASSETS.fetch("https://x/b.txt")).text()).toBe("asset");
  expect((await fetch("https://elsewhere.test/")).status).toBe(500);
  expect(await (await env.OTHER.fetch("https://x/")).text()).toBe("for other: https://up.test/");
  await applyD1Migrations(env.DB, env.MIGRATIONS);
  expect(await env.DB.prepare("SELECT n FROM t").first("n")).toBe(1);
});`)
	r, err := Run(Options{Dir: dir, Retry: -1, Seed: 1, Clock: clock.Real{}, Out: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Files {
		if f.Failed() {
			t.Error(f.Fatal)
		}
		for _, x := range f.Tests() {
			for _, e := range x.Errors {
				t.Error(e.Message)
			}
		}
	}
	if len(r.Files) != 1 {
		t.Errorf("%d files", len(r.Files))
	}
	if !isModule(filepath.Join(dir, "ended.txt")) {
		t.Error("the teardown of globalSetup did not run")
	}
}

// Of a configuration that fails in Node.js too, its error is told.
func TestNodeFails(t *testing.T) {
	if findNode().program == "" {
		t.Skip("there is no Node.js in PATH")
	}
	dir := t.TempDir()
	write(t, dir, "vitest.config.ts", `import fs from "node:fs"; fs.readFileSync("nothing-here"); export default {};`)
	_, err := Run(Options{Dir: dir, Retry: -1, Clock: clock.Real{}, Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "nothing-here") || !strings.Contains(err.Error(), "vitest.config.ts:1:") {
		t.Error(err)
	}
}
