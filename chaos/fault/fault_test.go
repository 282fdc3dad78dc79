package fault

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A plan that was printed reads back as itself, whatever its objects are called.
func TestPlanReadsBack(t *testing.T) {
	for _, p := range []Plan{
		nil,
		{{Point: "commit:after(ResearchAgent/r1)/alarm#17"}},
		{{Point: "frame:before(Room/a; b)/message#2"}, {After: 350 * time.Millisecond}, {Point: "12"}},
		{{Verb: Crash, Point: "commit:after(A/a; kill)/rpc#1"}, {Verb: Reset, Isolate: true, Point: "wake:after#1"}, {After: time.Second}, {Verb: Abort, Point: "3"}},
	} {
		got, err := ParsePlan(p.String())
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
	}
}

// What is no plan is refused with an example of one.
func TestParsePlanRefuses(t *testing.T) {
	for _, bad := range []string{"kill", "kill@", "evict@", "abort(isolate)@3", "kill@commit", "kill@after(soon)", "kill@after(-1s)", "kill@3; 4"} {
		if _, err := ParsePlan(bad); err == nil || !strings.Contains(err.Error(), "write") && !strings.Contains(err.Error(), "after()") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
