package confirm

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/workerd"
	"minido.dev/minido/internal/clock"
)

// violated is a case in which a row of a table is missing.
func violated(name, table string) result.Case {
	c := result.Case{Name: name, Outcome: result.Violated, Dir: "case-1", Kills: []result.Kill{{}}}
	c.Violations = []check.Violation{{Checker: "differential", Invariant: "missing", Text: "at rest app-Room/0123abcd " + table + " lacks n=1"}}
	return c
}

// What workerd cannot do is not tried, and the report names it.
func TestImpossible(t *testing.T) {
	kept := violated("kill@commit:after(A/a)/rpc#1", "t")
	lost := kept
	lost.Dir = ""
	restless := kept
	restless.Outcome = result.Restless
	deployed := kept
	deployed.Kills = []result.Kill{{}, {Deploy: true}}
	for want, c := range map[string]result.Case{
		"": kept, "evidence was not kept": lost, "it is restless": restless, "--then": deployed,
		"loss of power":           violated("power@commit:after(A/a)/rpc#1", "t"),
		"no death of the process": violated("drop@rpc:before(A/a)/fetch#1; kill@after(3ms)", "t"),
		"it needs no fault":       violated("none", "t"),
	} {
		if got := impossible(c); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", c.Name, got, want)
		}
	}
}

// Of a finding's cases that is run which can be, whose clients do not wait, with the fewest
// deaths.
func TestBest(t *testing.T) {
	impossible, paced, two := violated("power@1", "t"), violated("kill@2", "t"), violated("kill@3; kill@4", "t")
	paced.Pace = "1m0s"
	two.Kills = append(two.Kills, result.Kill{})
	one := violated("kill@5", "t")
	if got := best([]result.Case{impossible, paced, two, one}); got.Name != one.Name {
		t.Error(got.Name)
	}
	if got := best([]result.Case{impossible, paced, two}); got.Name != two.Name {
		t.Error(got.Name)
	}
	if got := best([]result.Case{impossible, paced}); got.Name != paced.Name {
		t.Error(got.Name)
	}
	if best(nil) != nil {
		t.Error("there is none")
	}
}

// Tries end with the first that violates the same, with their number or their time, or when
// one says nothing; something else that is violated is noted.
func TestTake(t *testing.T) {
	found, other := violated("kill@1", "t"), violated("kill@1", "u")
	passed := result.Case{Outcome: result.Passed}
	uncompared := result.Case{Outcome: result.Passed, Uncompared: "reasons"}
	for want, x := range map[string]struct {
		cases []result.Case
		late  bool
	}{
		"also on workerd 1 (try 2 of 3, killed how)":                                        {[]result.Case{passed, found, found}, false},
		"not reproduced on workerd 1 in 3 tries":                                            {[]result.Case{passed, passed, passed, found}, false},
		"not reproduced on workerd 1 in 1 try; then its time was over (--confirm-for 1m0s)": {[]result.Case{passed, found}, true},
		"not reproduced on workerd 1 in 1 try; then a run could not be compared: reasons":   {[]result.Case{uncompared, found}, false},
		"not reproduced on workerd 1 in 1 try; then a run was broken: it":                   {[]result.Case{{Outcome: result.Broken, Text: "it"}, found}, false},
		"not reproduced on workerd 1 in 3 tries, 1 of which came to rest before the moment of the death; something else was violated: differential of app-Room u": {
			[]result.Case{other, {Outcome: result.Missed}, other}, false},
	} {
		o := Options{Tries: 3, For: time.Minute}
		out := workerd.Result{By: "workerd 1", Tries: 3}
		for _, c := range x.cases {
			again, keep := o.take(c, found, "how", x.late, &out)
			if keep != (out.Reproduced || out.Why != "" && !x.late) {
				t.Errorf("%s: the evidence of %+v is kept: %v", want, c, keep)
			}
			if !again {
				break
			}
		}
		if got := out.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A wrangler that ends at once is told as why a finding was not run, with what it wrote; all
// findings get a result.
func TestFindingsWithoutARunningWrangler(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	for name, text := range map[string]string{
		"bin/wrangler":  "#!/bin/sh\necho no such binding >&2\nexit 1\n",
		"wrangler.json": `{"name": "app", "main": "w.js", "compatibility_date": "2026-01-01"}`, "w.js": "export default { fetch() { return new Response() } }",
		"case-1/history.ndjson": `{"n":1,"at_ms":0,"kind":"kill","who":"server-1"}` + "\n", "case-1/death-1/v3/x": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tool, err := workerd.Find(dir, filepath.Join(bin, "wrangler"))
	if err != nil {
		t.Fatal(err)
	}
	one, two := violated("kill@1", "t"), violated("power@1", "u")
	one.Dir = filepath.Join(dir, "case-1")
	r := result.Report{Verb: "enumerate", Dir: filepath.Join(dir, "out"), Cases: []result.Case{one, two}}
	var said []string
	o := Options{Tool: tool, Tries: 2, For: time.Minute, Clock: clock.Real{}, Campaign: campaign.Options{Project: dir, Script: nil, Steps: steps(t),
		Progress: func(e result.Event) { said = append(said, e.Text) }}}
	if err := Findings(context.Background(), o, &r); err != nil {
		t.Fatal(err)
	}
	if w := r.Cases[0].Workerd; w == nil || w.Run != 0 || !strings.Contains(w.Why, "no such binding") {
		t.Errorf("%+v", w)
	}
	if w := r.Cases[1].Workerd; w == nil || !strings.Contains(w.Why, "loss of power") {
		t.Errorf("%+v", w)
	}
	if len(said) != 3 || !strings.Contains(said[1], "not tried on workerd: without any fault, ") {
		t.Errorf("%q", said)
	}
}

func steps(t *testing.T) []drive.Step {
	t.Helper()
	step, err := drive.Parse(drive.Fetch, "GET /")
	if err != nil {
		t.Fatal(err)
	}
	return []drive.Step{step}
}
