package vitest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minido.dev/minido/vitest/bundled"

	"minido.dev/minido/internal/killpoint"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The configuration is evaluated as TypeScript, with the plugin in its present and
// its earlier forms.
func TestSettings(t *testing.T) {
	for name, text := range map[string]string{
		"plugin": `import { defineConfig } from "vitest/config"; import { cloudflareTest } from "@cloudflare/vitest-pool-workers"; import path from "node:path";
			export default defineConfig({ plugins: [cloudflareTest({ wrangler: { configPath: "./w.toml" }, miniflare: { bindings: { A: "1" } } })],
			  test: { globals: true, testTimeout: 7000, setupFiles: [path.join(__dirname, "setup.ts")] } satisfies object })`,
		"function": `import { defineWorkersConfig } from "@cloudflare/vitest-pool-workers/config";
			export default defineWorkersConfig(async () => ({ test: { globals: true, testTimeout: 7000, setupFiles: __dirname + "/setup.ts",
			  poolOptions: { workers: { wrangler: { configPath: "./w.toml" }, miniflare: { bindings: { A: "1" } } } } } }))`,
	} {
		dir := t.TempDir()
		write(t, dir, "vitest.config.ts", text)
		all, err := (&Options{Dir: dir, nodes: &nodes{}}).settings()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := all[0]
		if s.Wrangler != "./w.toml" || !s.Globals || s.TestTimeout != 7000 || s.Bindings["A"] != "1" || len(s.SetupFiles) != 1 || filepath.FromSlash(s.SetupFiles[0]) != filepath.Join(dir, "setup.ts") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// What is not supported is refused by name, and so are configurations that cannot
// be evaluated.
func TestRefusedSettings(t *testing.T) {
	for text, want := range map[string]string{
		`export default { test: { projects: ["a"] } }`:                            `test.projects: there is no "a"`,
		`export default { test: { browser: {}, runner: "./runner.ts" } }`:         "vitest.config.mts:1: test.browser\n  ",
		`export default { test: { projects: [{ plugins: [{ name: "vue" }] }] } }`: "the plugin vue",
		`import { cloudflareTest } from "@cloudflare/vitest-plugin"; export default { plugins: [cloudflareTest({ miniflare: { workers: [{ name: "w" }], outboundService: { network: { allow: ["private"] } }, serviceBindings: { A: { disk: { path: "." } } } } })] }`: "vitest.config.mts:1: the pool's option miniflare.outboundService that is neither a function nor names a worker",
		"import { cloudflareTest } from \"@cloudflare/vitest-plugin\";\n// workers: []\nconst url = 'http://x/*'; export default { plugins: [cloudflareTest({\n  miniflare: {\n    \"workers\": [{ name: \"w\" }] } })] }":                                             "vitest.config.mts:5: minido test does not support the pool's option miniflare.workers: w without script, scriptPath or modules; take",
		"export default { serviceBindings: 1,\n test: {\n/* browser: 1,\n */ browser: {} } }": "vitest.config.mts:4: minido test does not support test.browser; take",
		"const test = { [\"browser\"]: {} };\nexport default { test }":                        "vitest.config.mts: minido test does not support test.browser; take",
		"import { cloudflarePool } from \"@cloudflare/vitest-plugin\"; const shared = {\n outboundService: 7 };\nexport default { test: { pool: cloudflarePool({ miniflare: shared, nothing: 1 }) } };": "vitest.config.mts:3: the pool's option nothing\n  ",
		`export default { plugins: [{ name: "react" }] }`:                    "the plugin react",
		`import fs from "node:fs"; export default { root: fs.cwd }`:          "without Node.js: node:fs",
		`import p from "@no/plugin/vite"; export default { plugins: [p()] }`: "run npm install @no/plugin in ",
		`export default { test: `:                                            "Unexpected end of file",
		`export default new Promise(() => {})`:                               "never settles",
		`throw new Error("no way")`:                                          "no way",
	} {
		dir := t.TempDir()
		write(t, dir, "vitest.config.mts", text)
		_, err := (&Options{Dir: dir, nodes: &nodes{}}).settings()
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A setup file that is not there is told before anything runs; its extension may be
// left out.
func TestSetupFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "wrangler.jsonc", `{"name": "w", "main": "w.ts", "compatibility_date": "2026-08-01"}`)
	write(t, dir, "w.ts", "export default {}")
	write(t, dir, "node_modules/vitest/package.json", `{"version": "4.1.0"}`)
	for _, name := range []string{"runner", "utils", "mocker", "spy"} {
		write(t, dir, "node_modules/@vitest/"+name+"/package.json", `{"version": "4.1.0"}`)
	}
	write(t, dir, "setup.ts", "")
	for file, want := range map[string]string{"./setup.ts": "", "./setup": "", "./no.ts": "test.setupFiles: there is no "} {
		o := &Options{Dir: dir, CacheDir: t.TempDir()}
		_, err := o.load(&settings{root: dir, SetupFiles: []string{file}})
		if got := fmt.Sprint(err); (err != nil) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Test files are found by globs and parts of paths; shards are disjoint and
// complete.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.test.ts", "src/b.spec.tsx", "src/c.ts", "node_modules/p/d.test.ts", "test/e.test.mjs"} {
		write(t, dir, name, "")
	}
	found := func(o Options) (names []string) {
		o.Dir = dir
		s, err := o.settings()
		if err != nil {
			t.Fatal(err)
		}
		files, err := o.find(s[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			rel, err := filepath.Rel(dir, f)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(rel))
		}
		return names
	}
	if diff := cmp.Diff([]string{"a.test.ts", "src/b.spec.tsx", "test/e.test.mjs"}, found(Options{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"src/b.spec.tsx"}, found(Options{Files: []string{"./src"}})); diff != "" {
		t.Error(diff)
	}
	seen := map[string]int{}
	for i := range 2 {
		for _, name := range found(Options{Shard: i + 1, Shards: 2}) {
			seen[name]++
		}
	}
	if diff := cmp.Diff(map[string]int{"a.test.ts": 1, "src/b.spec.tsx": 1, "test/e.test.mjs": 1}, seen); diff != "" {
		t.Error(diff)
	}
}

// Without an installation of vitest a project gets minido's own; a binary without one
// says what to do.
func TestMissingPackage(t *testing.T) {
	dir := t.TempDir()
	none := func() (*bundled.Vitest, error) { return nil, bundled.ErrNone }
	_, err := locate(dir, none)
	var usage *UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "npm install --save-dev vitest") {
		t.Error(err)
	}
	some := func() (*bundled.Vitest, error) {
		return &bundled.Vitest{Packages: []bundled.Package{{Name: "vitest", Version: "4.0.0"}}}, nil
	}
	if p, err := locate(dir, some); err != nil || p.version != "4.0.0" || p.own == nil {
		t.Errorf("%+v, %v", p, err)
	}
	write(t, dir, "node_modules/vitest/package.json", `{"version": "2.1.0"}`)
	if _, err = locate(dir, some); !errors.As(err, &usage) || !strings.Contains(err.Error(), "vitest 2.1.0 is installed") {
		t.Error(err)
	}
	write(t, dir, "node_modules/vitest/package.json", `{"version": "4.1.0"}`)
	if _, err = locate(dir, some); !errors.As(err, &usage) || !strings.Contains(err.Error(), "which vitest 4.1.0 needs, is not installed") {
		t.Error(err)
	}
}

// Points are spread over a test; the occurrence of one counts within it.
func TestPoints(t *testing.T) {
	if diff := cmp.Diff([]int{1, 4, 7}, spread(9, 3, 0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 2}, spread(2, 0, 0)); diff != "" {
		t.Error(diff)
	}
	if got := spread(3, 0, 4); got != nil {
		t.Error(got)
	}
	p := killpoint.Point{Kind: killpoint.Response, Side: killpoint.Before, Object: "Room/r", Cause: "rpc", Occurrence: 7}
	q := p
	q.Occurrence = 8
	if got := relative([]killpoint.Point{p, {Kind: killpoint.Fetch}, q}, 3); got.Occurrence != 2 {
		t.Error(got)
	}
}
