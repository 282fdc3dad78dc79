package report_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/reference"
	"minido.dev/minido/vitest"
	"minido.dev/minido/vitest/report"
)

// results are the tests of a JSON report of vitest: each with its state and the first
// lines of its errors.
func results(t *testing.T, text []byte, dir string) map[string]string {
	t.Helper()
	var r struct {
		TestResults []struct {
			Name             string
			AssertionResults []struct {
				FullName, Status string
				FailureMessages  []string
			}
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range r.TestResults {
		name := filepath.ToSlash(strings.TrimPrefix(f.Name, dir+string(filepath.Separator)))
		for _, a := range f.AssertionResults {
			line := a.Status
			for _, m := range a.FailureMessages {
				first, _, _ := strings.Cut(m, "\n")
				line += "; " + first
			}
			all[name+" > "+a.FullName] = line
		}
	}
	return all
}

// The pool of the npm package: vitest says of each test what minido test says.
func TestDifferentialPool(t *testing.T) {
	modules := os.Getenv(reference.EnvVar)
	if modules == "" {
		t.Skip("set " + reference.EnvVar + ", or use make differential")
	}
	dir, binary := fixtureWithPool(t, modules)
	const config = "pool.config.mts"
	text := `import { defineConfig } from "vitest/config";
import { minido } from "minido/vitest";
export default defineConfig({
  define: { BUILD: JSON.stringify("fixture") },
  resolve: { alias: { "@app": new URL("./src", import.meta.url).pathname } },
  test: { pool: minido({ wrangler: { configPath: "./wrangler.jsonc" } }), include: ["test/**/*.test.ts"], setupFiles: ["./test/setup.ts"], provide: { answer: 42 }, maxWorkers: 2 },
});
`
	if err := os.WriteFile(filepath.Join(dir, config), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := vitestRun(t, dir, modules, config, nil, "MINIDO_BINARY="+binary)
	mine, err := report.Text("json", runIn(t, dir, vitest.Options{Config: config}), false)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, config, results(t, []byte(mine), dir), got, 80)
}

// fixtureWithPool is fixtureWith with npm's package, as npm installs it, and the binary for it.
func fixtureWithPool(t *testing.T, modules string) (dir, binary string) {
	t.Helper()
	dir, binary = fixtureWith(t, modules), filepath.Join(t.TempDir(), "minido")
	if out, err := exec.Command("go", "build", "-o", binary, "minido.dev/minido/cmd/minido").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	installed := filepath.Join(dir, "node_modules", "minido")
	if err := os.MkdirAll(installed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(installed, os.DirFS("../../npm/minido")); err != nil {
		t.Fatal(err)
	}
	return dir, binary
}

// With the pool, vitest's reports of coverage are what it writes for the same suites in Node.js
// (testdata/coverage), whichever of its providers it has.
func TestDifferentialPoolCoverage(t *testing.T) {
	modules := os.Getenv(reference.EnvVar)
	if modules == "" {
		t.Skip("set " + reference.EnvVar + ", or use make differential")
	}
	dir, binary := fixtureWithPool(t, modules)
	if err := os.Remove(filepath.Join(dir, "measured", "room.test.ts")); err != nil {
		t.Fatal(err)
	}
	for _, provider := range []string{"istanbul", "v8"} {
		config := provider + ".config.mts"
		put(t, filepath.Join(dir, config), `import { defineConfig } from "vitest/config";
import { minido } from "minido/vitest";
export default defineConfig({
  test: {
    pool: minido({ main: "./measured/worker.ts", miniflare: { compatibilityDate: "2026-08-01", durableObjects: { ROOM: { className: "Room", useSQLite: true } } } }),
    include: ["measured/*.test.ts"],
    // V8's provider also lists files without code
    coverage: { enabled: true, provider: "`+provider+`", include: ["measured/**"], exclude: ["measured/worker.ts", "measured/types.ts", "measured/*.d.ts"], reporter: ["lcovonly", "json-summary"], reportsDirectory: "`+provider+`" },
  },
});
`)
		for name, state := range vitestRun(t, dir, modules, config, nil, "MINIDO_BINARY="+binary) { // order-independent: each is looked at by itself
			if state != "passed" {
				t.Errorf("%s: %s", name, state)
			}
		}
		for _, file := range []string{"lcov.info", "coverage-summary.json"} {
			if got, want := strings.ReplaceAll(read(t, dir, provider+"/"+file), dir, "DIR"), read(t, "testdata/coverage", file); got != want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", provider, file, got, want)
			}
		}
	}
}

// Suites that run under Cloudflare's plugin for vitest have the same results under
// minido, test by test: states and the first lines of errors. Suites that need virtual
// time, minido:test or the earlier fetchMock are left out.
func TestDifferentialSuites(t *testing.T) {
	modules := os.Getenv(reference.EnvVar)
	if modules == "" {
		t.Skip("set " + reference.EnvVar + ", or use make differential")
	}
	dir := fixtureWith(t, modules)
	own, err := filepath.Glob(filepath.Join(dir, "test", "*.test.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range own {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("minido:test")) || bytes.Contains(text, []byte("virtual time")) || bytes.Contains(text, []byte("fetchMock")) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	for config, least := range map[string]int{"plugin.config.ts": 60, "apps.config.ts": 60, "vitest.config.ts": 80, "basics.config.ts": 75, "flows.config.ts": 30, "syntax.config.mts": 45, "insource.config.ts": 5} { // order-independent: each is compared by itself
		want := vitestRun(t, dir, modules, config, nil)
		mine, err := report.Text("json", runIn(t, dir, vitest.Options{Config: config}), false)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, config, want, results(t, []byte(mine), dir), least)
	}
}

// So have those of further.config.ts, each by itself: the plugin hangs when it runs all.
func TestDifferentialFurtherSuites(t *testing.T) {
	modules := os.Getenv(reference.EnvVar)
	if modules == "" {
		t.Skip("set " + reference.EnvVar + ", or use make differential")
	}
	dir := fixtureWith(t, modules)
	for file, least := range map[string]int{"further/absent": 1, "further/mocked": 5, "further/objects": 5, "further/spied": 3} { // order-independent: each is compared by itself
		want := vitestRun(t, dir, modules, "further.config.ts", []string{file})
		mine, err := report.Text("json", runIn(t, dir, vitest.Options{Config: "further.config.ts", Files: []string{file}}), false)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, file, want, results(t, []byte(mine), dir), least)
	}
}

// fixtureWith is a copy of the fixture whose packages are links to those of modules.
func fixtureWith(t *testing.T, modules string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("../../fixtures/testing")); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "node_modules")
	if err := os.RemoveAll(own); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	packages, err := os.ReadDir(modules)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		if err := os.Symlink(filepath.Join(modules, p.Name()), filepath.Join(own, p.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// vitestRun is what vitest says of the tests of a configuration, those in some files or all.
func vitestRun(t *testing.T, dir, modules, config string, files []string, env ...string) map[string]string {
	t.Helper()
	node, err := filepath.EvalSymlinks(filepath.Join(modules, ".bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "vitest.json")
	cmd := exec.Command(node, append([]string{"node_modules/vitest/vitest.mjs", "run", "--config", config, "--reporter=json", "--outputFile=" + out}, files...)...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "CI=1"), env...)
	log, runErr := cmd.CombinedOutput() // it exits with 1: some tests fail on purpose
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("%s: %v, %v\n%s", config, err, runErr, log)
	}
	return results(t, text, dir)
}

// compare compares results test by test; there are at least so many.
func compare(t *testing.T, config string, want, got map[string]string, least int) {
	t.Helper()
	names := map[string]bool{}
	for _, m := range []map[string]string{want, got} {
		for name := range m { // order-independent: a set
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if want[name] != got[name] {
			t.Errorf("%s: %s\n  want %q\n  got  %q", config, name, want[name], got[name])
		}
	}
	t.Logf("%s: %d tests compared", config, len(want))
	if len(want) < least {
		t.Errorf("%s: %d tests ran", config, len(want))
	}
}
