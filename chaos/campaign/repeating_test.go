package campaign

import (
	"fmt"
	"testing"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/result"
)

// With real processes a difference counts if it comes again, in one of two more runs; what
// another checker finds counts at once.
func TestDifferencesComeAgain(t *testing.T) {
	of := map[string]result.Case{
		"passed": {Outcome: result.Passed}, "missed": {Outcome: result.Missed},
		"differs": {Outcome: result.Violated, Violations: []check.Violation{{Checker: differential}}},
		"broken":  {Outcome: result.Violated, Violations: []check.Violation{{Checker: differential}, {Checker: "alarms"}}},
	}
	for _, c := range []struct {
		runs  []string
		again string
		why   string
	}{
		{[]string{"passed"}, "[false]", ""},
		{[]string{"broken"}, "[false]", ""},
		{[]string{"missed"}, "[false]", ""},
		{[]string{"differs", "differs"}, "[true false]", ""},
		{[]string{"differs", "broken"}, "[true false]", ""},
		{[]string{"differs", "passed", "differs"}, "[true true false]", ""},
		{[]string{"differs", "passed", "passed"}, "[true true false]", unrepeated},
		{[]string{"differs", "missed"}, "[true false]", ""},
	} {
		var p repeating
		var again []bool
		var last ranCase
		for _, name := range c.runs {
			last = ranCase{Case: of[name]}
			again = append(again, p.again(&last))
		}
		if got := fmt.Sprint(again); got != c.again || last.Uncompared != c.why {
			t.Errorf("%v: %s, %q", c.runs, got, last.Uncompared)
		}
	}
}
