package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/workerd"
	"minido.dev/minido/internal/clock"
)

// example is a report with a violation, whose history is on disk.
func example(t *testing.T) result.Report {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "history.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	h := history.NewRecorder(clock.Real{}, f)
	for _, e := range []history.Event{
		{Kind: history.Start, Who: "server-1"}, {Kind: history.Ready, Who: "server-1"},
		{Kind: history.Call, Who: "client-1", Op: "c1", Text: "start<b>", Data: []byte(`["tides"]`)},
		{Kind: history.Point, Who: "server-1", Text: "commit:after(A/a)/rpc#1", Data: []byte(`{"at_ms":0.1}`)},
		{Kind: history.Unknown, Who: "client-1", Op: "c1"}, {Kind: history.Kill, Who: "server-1", Text: "commit:after(A/a)/rpc#1"},
		{Kind: history.Ready, Who: "server-2"}, {Kind: history.Effect, Who: "sink", Text: "charge"},
	} {
		h.Add(e)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return result.Report{Verb: "enumerate", Project: "app", Code: chaos.Violated, Points: 2, Visited: 2, Kills: 2, Dir: dir, Cases: []result.Case{
		{Name: "kill@1", Outcome: result.Passed, Uncompared: "reasons", Kills: []result.Kill{{Point: "x", ReadyMs: 10}}, Replay: "minido chaos replay 1"},
		{Name: "kill@2", Outcome: result.Violated, Violations: []check.Violation{{Checker: "fibers", Invariant: "hook-once", Text: "100% wrong\nreally"}},
			Kills: []result.Kill{{Point: "y"}}, Dir: dir, Replay: "minido chaos replay 2"},
	}}
}

// The list tells a failure as a story whose last line replays it, and sums up.
func TestList(t *testing.T) {
	r := example(t)
	var out bytes.Buffer
	s, err := Open([]string{"list"}, &out, false, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Cases {
		s.Progress(result.Event{Campaign: &r, Case: &r.Cases[i], Planned: 2})
	}
	if err := s.End(r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"VIOLATED  kill@2", "fibers/hook-once: 100% wrong", "    minido chaos replay 2\n", "FAIL  2 runs, 2 kills", "visited 2 of 2 points", "1 × fibers/hook-once", "1 not compared with runs without faults: reasons"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "kill@1") {
		t.Errorf("a run that passed is told:\n%s", out.String())
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "report.json")); err != nil {
		t.Error(err)
	}
}

// JUnit's XML parses, and says which failed.
func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJUnit(&out, example(t)); err != nil {
		t.Fatal(err)
	}
	var s suite
	if err := xml.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	if s.Tests != 2 || s.Failures != 1 || s.Cases[1].Failure == nil || !strings.HasSuffix(s.Cases[1].Failure.Text, "minido chaos replay 2\n") {
		t.Errorf("%+v", s)
	}
}

// Annotations are on one line each: GitHub's escapes for the rest.
func TestGitHub(t *testing.T) {
	var out bytes.Buffer
	if err := WriteGitHub(&out, example(t)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "::error title=minido chaos%3A fibers/hook-once%3A 100%25 wrong%0Areally::SIGKILL 1") {
		t.Errorf("%q", lines)
	}
}

// The page holds a timeline with a lane for each party, escapes what came from
// the worker, and loads nothing from elsewhere.
func TestHTML(t *testing.T) {
	var out bytes.Buffer
	if err := WriteHTML(&out, example(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">client-1<", ">A/a<", ">effects<", `class="kill"`, `class="lost"`, "start&lt;b&gt;", "minido chaos replay 2", "1 not compared with runs without faults: reasons"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, bad := range []string{"start<b>", "http://", "https://", "<script"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
}

// The page unfolds one case of each cause, and a finding speaks of objects by their names.
func TestHTMLUnfoldsCauses(t *testing.T) {
	r := example(t)
	again := r.Cases[1]
	again.Name = "kill@3"
	other := again
	other.Name, other.Names = "kill@4", map[string]string{"shop-Cart/0123abcd": "Cart/ann"}
	other.Violations = []check.Violation{{Checker: "differential", Invariant: "missing", Text: "at rest shop-Cart/0123abcd items lacks id=1"}}
	other.Confirm = "minido chaos replay 4 here"
	r.Cases = append(r.Cases, again, other)
	var out bytes.Buffer
	if err := WriteHTML(&out, r); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `" open>`); n != 2 {
		t.Errorf("%d cases are unfolded, of two causes", n)
	}
	for _, want := range []string{"differential/missing (something that was acknowledged is not there)", "at rest Cart/ann items lacks id=1", "minido chaos replay 4 here"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// Each report says what became of a finding on workerd, also where another of its cases was
// run there.
func TestWorkerd(t *testing.T) {
	r := example(t)
	second := r.Cases[1]
	second.Name, second.Workerd = "kill@3", &workerd.Result{By: "workerd 1", Reproduced: true, Try: 2, Tries: 10, Run: 2, How: "at <once>"}
	r.Cases = append(r.Cases, second)
	for name, write := range map[string]func(io.Writer, result.Report) error{"html": WriteHTML, "markdown": WriteMarkdown, "junit": WriteJUnit, "github": WriteGitHub, "json": WriteJSON,
		"list": func(w io.Writer, r result.Report) error { return (&list{out: w}).end(r) }} {
		var out bytes.Buffer
		if err := write(&out, r); err != nil {
			t.Fatal(err)
		}
		want := "also on workerd 1 (try 2 of 10, killed at "
		if name == "json" {
			want = `"by": "workerd 1",` + "\n        " + `"reproduced": true`
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
		}
	}
}

// An unknown kind is refused with the known ones.
func TestOpenRefuses(t *testing.T) {
	if _, err := Open([]string{"pdf"}, &bytes.Buffer{}, false, false); err == nil || !strings.Contains(err.Error(), "junit") {
		t.Errorf("%v", err)
	}
}

// Markdown has a section for each cause, with the command that replays it, and nothing
// of what it shows is taken for markup.
func TestMarkdown(t *testing.T) {
	r := example(t)
	r.Cases[1].Violations[0].Text = "```\n# no heading"
	second := r.Cases[1]
	second.Replay = "minido chaos replay 3"
	r.Cases = append(r.Cases, second)
	var out bytes.Buffer
	if err := WriteMarkdown(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### minido chaos enumerate failed\n", "\n1 not compared with runs without faults: reasons\n", "3 runs, 2 kills", "1 finding.", "#### 1. fibers/hook-once\n\n2 runs", "\n````\nSIGKILL 1", "```\nminido chaos replay 2\n```\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "replay 3") {
		t.Errorf("two symptoms are two sections:\n%s", out.String())
	}
}
