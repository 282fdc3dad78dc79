package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/vitest"
)

// measured runs suites of the fixture's measured.config.ts, and writes their coverage. It
// returns what goes to the terminal, and the directory of the reports.
func measured(t *testing.T, options string, files ...string) (r *vitest.Report, text, dir string) {
	t.Helper()
	r = run(t, vitest.Options{Config: "measured.config.ts", Files: files, CacheDir: t.TempDir(), Coverage: json.RawMessage(options)})
	if r.Failed() || r.Coverage == nil {
		t.Fatal(strings.Join(lines(r), "\n"))
	}
	dir = t.TempDir()
	r.Coverage.Time = time.UnixMilli(0)
	r.Coverage.Options.ReportsDirectory = dir
	var out strings.Builder
	if err := r.Coverage.Write(&out, false, 80); err != nil {
		t.Fatal(err)
	}
	return r, out.String(), dir
}

// What the suites calc, deep and hints cover is, to the byte of lcov and of the summaries, what
// vitest 4.1.11 says with @vitest/coverage-istanbul 4.1.11 in Node.js, which has written
// the files of testdata/coverage.
func TestCoverageIsIstanbuls(t *testing.T) {
	r, text, dir := measured(t, `{"enabled":true}`, "calc.test", "deep.test", "hints.test")
	for _, c := range []struct{ name, got string }{{"text.txt", strings.TrimPrefix(text, " % Coverage report from minido\n")}, {"lcov.info", read(t, dir, "lcov.info")}, {"clover.xml", read(t, dir, "clover.xml")}, {"coverage-summary.json", read(t, dir, "summary.json")}} {
		if got, want := strings.ReplaceAll(c.got, r.Dir, "DIR"), read(t, "testdata/coverage", c.name); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
	// The pages are minido's own: a line that ran, one that did not, and one with a path that was not taken.
	page := read(t, dir, "lcov-report/measured/calc.ts.html")
	for _, want := range []string{`<span class=""><i>13</i><i>2×</i>  return a + b;</span>`, `<span class="no"><i>20</i><i>0×</i>    return &quot;negative&quot;;</span>`, `<span class="part"><i>22</i><i>2×</i>`, `<a href="../index.html">`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in\n%s", want, page)
		}
	}
	if index := read(t, dir, "lcov-report/index.html"); !strings.Contains(index, `<a href="measured/deep/syntax.ts.html">measured/deep/syntax.ts</a>`) {
		t.Errorf("%s", index)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Counts of an object that was evicted, crashed and aborted are those of all of its
// lives; thresholds that they miss are vitest's errors.
func TestCoverageOutlivesObjects(t *testing.T) {
	r, text, _ := measured(t, `{"enabled":true,"include":["measured/worker.ts"],"exclude":[],"reporter":[{"name":"text-lcov"}],"thresholds":{"lines":91,"functions":75,"branches":-1,"measured/*.ts":{"statements":90.1}}}`, "room.test")
	for _, line := range []string{"FNDA:4,(anonymous_0)", "FNDA:4,(anonymous_1)", "FNDA:0,(anonymous_2)", "DA:7,4", "DA:13,1", "DA:14,1", "DA:16,3", "DA:21,0", "BRDA:12,0,0,1", "BRDA:12,0,1,3", "LF:10", "LH:9"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is not in\n%s", line, text)
		}
	}
	missed, err := r.Coverage.Missed(r.Dir)
	want := []string{"ERROR: Coverage for lines (90%) does not meet global threshold (91%)", `ERROR: Coverage for statements (90%) does not meet "measured/*.ts" threshold (90.1%)`}
	if err != nil || !slices.Equal(missed, want) {
		t.Errorf("%q %v, want %q", missed, err, want)
	}
}

// Without the flag nothing is measured, and options that do not exist are refused by name.
func TestCoverageIsAskedFor(t *testing.T) {
	if r := run(t, vitest.Options{Config: "measured.config.ts", Files: []string{"room.test"}}); r.Coverage != nil {
		t.Error("it was measured")
	}
	for options, want := range map[string]string{
		`{"enabled":true,"provider":"custom"}`:                         `coverage.provider "custom"`,
		`{"enabled":true,"reporter":[{"name":"teamcity"}]}`:            `coverage.reporter "teamcity"`,
		`{"enabled":true,"thresholds":{"autoUpdate":true}}`:            "coverage.thresholds.autoUpdate",
		`{"enabled":true,"include":["!src"]}`:                          `"!src"`,
		`{"enabled":true,"thresholds":{"lines":"many"}}`:               "coverage.thresholds.lines",
		`{"enabled":true,"refused":["coverage.customProviderModule"]}`: "coverage.customProviderModule",
	} { // order-independent: each is a case of its own
		dir, err := filepath.Abs("../../fixtures/testing")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := vitest.Run(vitest.Options{Dir: dir, Retry: -1, Config: "measured.config.ts", Coverage: json.RawMessage(options), CacheDir: t.TempDir(), Clock: &waits{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", options, err, want)
		}
	}
}
