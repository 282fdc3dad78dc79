package orders

import (
	"slices"
	"testing"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/internal/killpoint"
)

// Of moves of two objects, which commute, one order is run; of two moves of one object
// both are; and nothing is moved for which nothing else comes.
func TestSleepSets(t *testing.T) {
	start := time.Unix(0, 0)
	passed := func(n int, side killpoint.Side, to string, departed int) sim.Passed {
		return sim.Passed{Point: killpoint.Point{Kind: killpoint.RPC, Side: side, To: to, Cause: "fetch", Occurrence: n, Number: n, Departed: departed}, Time: start}
	}
	var trace []sim.Passed
	for i, to := range []string{"A/a", "A/a", "B/b", "B/b", "C/c"} {
		trace = append(trace, passed(2*i+1, killpoint.Before, to, 0), passed(2*i+2, killpoint.After, to, 2*i+1),
			sim.Passed{Point: killpoint.Point{Kind: killpoint.Commit, Side: killpoint.Before, Object: to, Cause: "rpc"}, Time: start})
	}
	first := Expand(Node{}, trace)
	if len(first) != 2 || first[0].Plan[0].Point != "rpc:before()/fetch#1" || first[1].Plan[0].Point != "rpc:before()/fetch#5" {
		t.Fatalf("%v", first)
	}
	if next := Expand(first[0], trace); len(next) != 1 || next[0].Plan.String() != first[0].Plan.String()+"; delay(2ms)@rpc:before()/fetch#5" {
		t.Errorf("after %s: %v", first[0].Plan, next)
	}
	if next := Expand(first[1], trace); len(next) != 0 {
		t.Errorf("after %s, whose moves commute with those before: %v", first[1].Plan, next)
	}
}

// All orders of a few, each once; of many each goes first and last.
func TestPermutations(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 6, 4: 24, 6: 13} {
		if got := len(permutations(n)); got != want {
			t.Errorf("%d have %d orders, want %d", n, got, want)
		}
	}
	if got := permutations(6)[2]; !slices.Equal(got, []int{5, 0, 1, 2, 3, 4}) {
		t.Errorf("the first has gone last: %v", got)
	}
}

// A run that comes late with its alarms is one of those that do one thing after the other:
// only alarms are late, and later than what they came into the middle of.
func TestLate(t *testing.T) {
	plan, err := fault.ParsePlan("delay(15.001s)@alarm:before(A/a)/alarm#1; delay(2ms)@rpc:before()/fetch#1; delay(3ms)@alarm:before(B/b)/alarm#2")
	if err != nil {
		t.Fatal(err)
	}
	if got := Late(plan).String(); got != "delay(25.001s)@alarm:before(A/a)/alarm#1; delay(10.003s)@alarm:before(B/b)/alarm#2" {
		t.Error(got)
	}
	if got := Late(plan[1:2]); got != nil {
		t.Errorf("no alarm is late: %v", got)
	}
}
