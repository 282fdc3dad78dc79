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

// Suites that run under Cloudflare's plugin for vitest have the same results under
// minido, test by test: states and the first lines of errors. Suites that need virtual
// time, minido:test or the earlier fetchMock are left out.
func TestDifferentialSuites(t *testing.T) {
	modules := os.Getenv(reference.EnvVar)
	if modules == "" {
		t.Skip("set " + reference.EnvVar + ", or use make differential")
	}
	fixture, err := filepath.Abs("../../fixtures/testing")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(fixture)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
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
	node, err := filepath.EvalSymlinks(filepath.Join(modules, ".bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	for _, config := range []string{"plugin.config.ts", "vitest.config.ts"} {
		out := filepath.Join(t.TempDir(), "plugin.json")
		cmd := exec.Command(node, "node_modules/vitest/vitest.mjs", "run", "--config", config, "--reporter=json", "--outputFile="+out)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CI=1")
		log, runErr := cmd.CombinedOutput() // it exits with 1: some tests fail on purpose
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatalf("%s: %v, %v\n%s", config, err, runErr, log)
		}
		want := results(t, text, dir)
		r := runIn(t, dir, vitest.Options{Config: config})
		mine, err := report.Text("json", r, false)
		if err != nil {
			t.Fatal(err)
		}
		got := results(t, []byte(mine), dir)
		names := map[string]bool{}
		for _, m := range []map[string]string{want, got} {
			for name := range m { // order-independent: a set
				names[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if want[name] != got[name] {
				t.Errorf("%s: %s\n  plugin %q\n  minido %q", config, name, want[name], got[name])
			}
		}
		t.Logf("%s: %d tests compared", config, len(want))
		if len(want) < 40 {
			t.Errorf("%s: the plugin ran %d tests\n%s", config, len(want), log)
		}
	}
}
