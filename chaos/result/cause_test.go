package result

import (
	"testing"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/symptom"
)

// The symptoms of one bug are one finding, whatever the rows, the kind of difference and
// the point of the death; another table is another finding.
func TestFindings(t *testing.T) {
	violated := func(plan, point, invariant, text string) Case {
		return Case{Name: plan, Outcome: Violated, Kills: []Kill{{Point: point}}, Violations: []check.Violation{{Checker: symptom.Differential, Invariant: invariant, Text: text}}}
	}
	r := Report{Cases: []Case{
		{Name: "fine", Outcome: Passed},
		violated("a", "commit:after(Room/a)/alarm#1", "missing", "at rest effects lacks name=mail-1"),
		violated("b", "index:before(Room/a)/alarm#7", "twice", "at rest shop-Room/e5c1e2de jobs has id=j1 n=2; shop-Room/e5c1e2de jobs lacks id=j2 n=2 (not compared: x)"),
		violated("c", "fetch:before()/fetch#1", "half", "at rest shop-Room/ffc1e2de.1 jobs has id=j7 2 times, not 1"),
		{Name: "kill@commit:after(Log/l)/rpc#1", Outcome: Restless},
		violated("d", "commit:after(Room/b)/alarm#2", "diverged", "at rest effects lacks name=mail-2; effects has name=mail-3"),
	}}
	found := r.Findings()
	want := []string{
		"differential of effects, struck in Room/alarm",
		"differential of shop-Room jobs, struck in Room/alarm, the worker/fetch",
		"restless, struck in Log/rpc",
	}
	if len(found) != len(want) {
		t.Fatalf("%v", found)
	}
	for i, w := range want {
		if found[i].String() != w {
			t.Errorf("got %q, want %q", found[i], w)
		}
	}
	if len(found[0].Cases) != 2 || found[0].Example.Name != "a" || len(found[1].Cases) != 2 {
		t.Errorf("%v", found)
	}
	if a, b := (Case{Outcome: Violated, Violations: []check.Violation{{Checker: "scenario", Invariant: "x", Text: "expected 1 to be 2\nat a"}}}), (Case{Outcome: Violated,
		Violations: []check.Violation{{Checker: "scenario", Invariant: "x", Text: "expected 3 to be 4\nat b"}}}); a.Cause() != b.Cause() || a.Cause() == "" {
		t.Errorf("%q, %q", a.Cause(), b.Cause())
	}
}
