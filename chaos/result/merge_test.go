package result

import (
	"testing"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
)

// The reports of shards add up, and the worst decides; a mark that one of them
// met is met.
func TestMerge(t *testing.T) {
	passed, violated := Case{Name: "a", Outcome: Passed}, Case{Name: "b", Outcome: Violated, Violations: []check.Violation{{Checker: "c", Invariant: "i"}}}
	one := Report{Verb: "enumerate", Project: "p", Shard: "1/2", Points: 2, Visited: 1, Kills: 1, Cases: []Case{passed}, Unmet: []string{"x", "y"}, Code: chaos.Missed}
	two := Report{Verb: "enumerate", Project: "p", Shard: "2/2", Points: 2, Visited: 1, Kills: 1, Cases: []Case{violated}, Unmet: []string{"y"}, Code: chaos.Violated}
	got, err := Merge([]Report{one, two})
	if err != nil {
		t.Fatal(err)
	}
	if got.Code != chaos.Violated || got.Visited != 2 || got.Kills != 2 || got.Points != 2 || len(got.Cases) != 2 || len(got.Unmet) != 1 || got.Unmet[0] != "y" {
		t.Errorf("%+v", got)
	}
	if _, err := Merge([]Report{one, one}); err == nil {
		t.Error("one shard was merged twice")
	}
	two.Project = "q"
	if _, err := Merge([]Report{one, two}); err == nil {
		t.Error("two projects were merged")
	}
	if got, err := Merge([]Report{one, {Verb: "enumerate", Project: "p", Shard: "2/2", Code: chaos.Broken}}); err != nil || got.Code == chaos.Pass {
		t.Errorf("a shard that ended early was forgotten: %+v, %v", got, err)
	}
}
