package fault

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
)

// A plan that was printed reads back as itself, whatever its objects are called.
func TestPlanReadsBack(t *testing.T) {
	for _, p := range []Plan{
		nil,
		{{Point: "commit:after(ResearchAgent/r1)/alarm#17"}},
		{{Point: "frame:before(Room/a; b)/message#2"}, {After: 350 * time.Millisecond}, {Point: "12"}},
		{{Skew: 2 * time.Second, Point: "commit:after(A/a; skew)/rpc#1"}, {Skew: -3 * time.Millisecond, Point: "12"}},
		{{Step: 2}, {Power: true, Step: 3}, {Deploy: true, Step: 4}, {Deploy: true}},
		{{Verb: Crash, Point: "commit:after(A/a; kill)/rpc#1"}, {Verb: Reset, Arg: Isolate, Point: "wake:after#1"}, {After: time.Second}, {Verb: Abort, Point: "3"}},
		{{Verb: Fail, Arg: "full", Point: "commit:before(A/a; fail)/rpc#1"}, {Verb: Slow, Arg: "200ms", Point: "frame:after#1"}, {Verb: Jump, Arg: "-20s", Point: "9"},
			{Upstream: &upstream.Fault{Verb: upstream.Cut, Request: 2, Byte: 900}}, {Upstream: &upstream.Fault{Verb: upstream.Stall, Request: 1, Piece: 3, For: time.Second}},
			{Upstream: &upstream.Fault{Verb: upstream.Refuse, Request: 1}}, {Upstream: &upstream.Fault{Verb: upstream.Status, Request: 3, Status: 429}},
			{Upstream: &upstream.Fault{Verb: upstream.Slow, Request: 1, For: time.Millisecond}}, {After: time.Second},
			{Upstream: &upstream.Fault{Verb: upstream.Truncate, Request: 1}}, {Upstream: &upstream.Fault{Verb: upstream.Slice, Request: 1, Byte: 7}, Sink: true},
			{Verb: Fail, Arg: "sync", Point: "commit:after#1"}, {Verb: Fail, Arg: "dns", Point: "fetch:before()/fetch#1"}},
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
	for _, bad := range []string{"kill", "kill@", "evict@", "abort(isolate)@3", "kill@commit", "kill@after(soon)", "kill@after(-1s)", "kill@3; 4", "kill@step#0", "crash@step#2", "skew@3", "skew(0)@3", "skew(soon)@3", "skew(2s)@step#2", "skew(2s)@after(1s)", "skew(2s)@checkpoint#1",
		"fail@commit:before#1", "fail(paper)@commit:before#1", "fail(full)@commit:after#1", "fail(io)@wake:after#1", "fail(sync)@commit:before#1", "fail(sync)@index:after#1", "fail(dns)@fetch:after#1", "sink.slice(0)@request#1", "sink.melt@request#1", "slow@3", "slow(-1s)@3", "jump(0)@3",
		"upstream.status(429)", "upstream.status(42)@request#1", "upstream.cut@request#1", "upstream.refuse@request#0", "upstream.melt@request#1"} {
		if _, err := ParsePlan(bad); err == nil || !strings.Contains(err.Error(), "write") && !strings.Contains(err.Error(), "after()") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A fault happens only where there is what it is done to.
func TestHappens(t *testing.T) {
	for _, c := range []struct {
		kind, point string
		want        bool
	}{
		{"kill", "store:before(R2/b)/put#1", true},
		{"abort", "commit:before(A/a)/rpc#1", true},
		{"abort", "store:before(R2/b)/put#1", false},
		{"evict", "rpc:before()/fetch#1", false},
		{"evict(isolate)", "rpc:before()/fetch#1", true},
		{"evict(isolate)", "store:before(R2/b)/put#1", true},
		{"fail(io)", "store:before(R2/b)/put#1", true},
		{"fail(io)", "store:after(R2/b)/put#1", false},
		{"fail(sync)", "commit:after(A/a)/rpc#1", true},
		{"fail(dns)", "fetch:before()/fetch#1", true},
		{"fail(dns)", "commit:before(A/a)/rpc#1", false},
		{"slow(1ms)", "rpc:before()/fetch#1", true},
		{"evict", "7", true},
	} {
		f, err := ParseKind(c.kind)
		if f.Point = c.point; err != nil || f.Happens() != c.want {
			t.Errorf("%s happens: %v, %v", f, !c.want, err)
		}
	}
}

// What waits in a run is as much more patient as the plan's delays are long.
func TestHeld(t *testing.T) {
	plan, err := ParsePlan("delay(29.951s)@rpc:before(Bot/b1)/timer#1; slow(1m)@commit:before#1; delay(2m)@alarm:before(Bot/b1)/alarm#1; kill@commit:after#3")
	if got := plan.Held(); err != nil || got != 149951*time.Millisecond {
		t.Errorf("%v, %v", got, err)
	}
}

// Of two faults that take one message another way the first does, and the second is refused: it
// does not stay begun, for which its run would wait.
func TestTwoDetours(t *testing.T) {
	plan, err := ParsePlan("delay(1s)@rpc:before()/fetch#1; drop@rpc:before()/fetch#1")
	if err != nil {
		t.Fatal(err)
	}
	begun, noted := 0, map[string]error{}
	a, err := NewAgenda(plan, nil, func(n int) { begun += n }, func(f Fault, err error) { noted[f.String()] = err })
	if err != nil {
		t.Fatal(err)
	}
	at := killpoint.Point{Kind: killpoint.RPC, Side: killpoint.Before, Cause: "fetch", Occurrence: 1}
	a.Pass(at)
	var refused *pool.RefusedError
	var detour *killpoint.Detour
	if err := noted[plan[1].String()]; begun != 1 || len(noted) != 1 || !errors.As(err, &refused) {
		t.Errorf("%d have begun and are not over; noted %v", begun, noted)
	}
	if !errors.As(a.Interfere(at), &detour) {
		t.Fatalf("the message goes its way: %v", a.Interfere(at))
	}
	detour.None()
	if _, over := noted[plan[0].String()]; begun != 0 || !over {
		t.Errorf("the first is not over: %d, %v", begun, noted)
	}
}
