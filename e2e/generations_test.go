package e2e

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/runtime/world"
)

// The published generations of npm agents that have runFiber(), by fixture.
var generations = []string{"fibers", "fibers-0.21", "fibers-0.11"}

// Those that have managed fibers, and fibers in sub-agents.
var managedGenerations = generations[:2]

// Two fibers at once, one of which stashes through AsyncLocalStorage, are cut
// twice; each is recovered with its own snapshot, by every generation.
func TestFiberGenerations(t *testing.T) {
	t.Parallel()
	for _, name := range generations[1:] {
		for _, recovery := range []chaos.Recovery{chaos.ByAlarm, chaos.ByRequest} {
			t.Run(name+"/"+string(recovery), func(t *testing.T) {
				t.Parallel()
				research(t, name, recovery, "kill@checkpoint#2; kill@checkpoint#2")
			})
		}
	}
	for _, name := range generations {
		t.Run(name+"/two at once", func(t *testing.T) {
			t.Parallel()
			c := survive(t, name, `ResearchAgent/r1.startPair("tides")`, chaos.ByAlarm, "kill@checkpoint#2; kill@checkpoint#2")
			for i, k := range c.Kills {
				if k.Fibers != 2 {
					t.Errorf("kill %d cut %d fibers, want 2", i+1, k.Fibers)
				}
			}
		})
	}
}

// survive runs an agent of a fibers fixture under the harness; each kill must have
// been noted by a recovery hook.
func survive(t *testing.T, name, call string, recovery chaos.Recovery, plan string) result.Case {
	t.Helper()
	c := interrupt(t, name, call, plan, "--recover", string(recovery), "--var", "STEP_MS:200", "--var", "KEEP_ALIVE_MS:700")
	fibers := 0
	for _, k := range c.Kills {
		fibers += k.Fibers
	}
	noted(t, c, fibers)
	return c
}

// A managed fiber that is cut is finished by its hook, once.
func TestManagedFiberKilled(t *testing.T) {
	t.Parallel()
	for _, name := range managedGenerations {
		for _, recovery := range []chaos.Recovery{chaos.ByAlarm, chaos.ByRequest} {
			t.Run(name+"/"+string(recovery), func(t *testing.T) {
				t.Parallel()
				survive(t, name, `DeliveryAgent/d1.accept("order-1", 6, "finish")`, recovery, "kill@checkpoint#2")
			})
		}
	}
}

// A sub-agent's fiber is cut twice; the lead's alarm finds it.
func TestSubAgentFiberKilled(t *testing.T) {
	t.Parallel()
	for _, name := range managedGenerations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			survive(t, name, `LeadAgent/l1.send("north", 6)`, chaos.ByAlarm, "kill@checkpoint#2; kill@checkpoint#2")
		})
	}
}

type fiberStatus struct {
	FiberID, Status, Error, IdempotencyKey string
	Accepted                               bool
	Snapshot                               struct {
		Key       string
		Delivered int
	}
}

// What the ledger of managed fibers says across a death: keys are accepted
// once, a cancelled fiber stays cancelled, and the hook's answer decides what
// becomes of an interrupted one.
func TestManagedFiberLedger(t *testing.T) {
	t.Parallel()
	for _, name := range managedGenerations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLedger(t, &subject{stageSet: beginTool(name)(t, dev), name: "d1"})
		})
	}
}

func checkLedger(t *testing.T, o *subject) {
	const agent = "delivery-agent/d1"
	c := o.dial(agent)
	var whole fiberStatus
	call(t, c, &whole, "acceptAndWait", "whole", 1)
	if !whole.Accepted || whole.Status != "completed" {
		t.Errorf("an uninterrupted delivery: %+v", whole)
	}
	for _, policy := range []string{"finish", "leave", "give up", "throw"} {
		var first, again fiberStatus
		o.at(policy+"/3", func() { call(t, c, &first, "accept", policy, 30, policy) })
		call(t, c, &again, "accept", policy, 30, policy)
		if !first.Accepted || again.Accepted || again.FiberID != first.FiberID {
			t.Errorf("accepted %+v, then %+v", first, again)
		}
	}
	var cancelled bool
	o.at("unwanted/3", func() { call(t, c, nil, "accept", "unwanted", 30, "finish") })
	call(t, c, &cancelled, "cancel", "unwanted")
	if !cancelled {
		t.Error("a running fiber was not cancelled")
	}
	o.crash()

	c = o.dial(agent)
	// The SDK's guide says that a hook that throws leaves its fiber interrupted;
	// the code of both generations ends it as an error.
	want := map[string]string{"whole": "completed", "finish": "completed", "leave": "interrupted", "give up": "error", "throw": "error", "unwanted": "aborted"}
	untilCall(t, c, "look", func(f fiberStatus) bool { return f.Status == "completed" }, "finish")
	var list []fiberStatus
	call(t, c, &list, "list")
	if len(list) != len(want) {
		t.Errorf("%d fibers in the ledger, want %d", len(list), len(want))
	}
	for _, f := range list {
		if f.Status != want[f.IdempotencyKey] {
			t.Errorf("%s is %s (%s), want %s", f.IdempotencyKey, f.Status, f.Error, want[f.IdempotencyKey])
		}
	}
	var left, again fiberStatus
	call(t, c, &left, "look", "leave")
	var settled bool
	call(t, c, &settled, "settle", left.FiberID)
	call(t, c, &again, "accept", "leave", 30, "leave")
	if !settled || again.Accepted || again.Status != "completed" {
		t.Errorf("settled %v, and asked again: %+v", settled, again)
	}
	var parts []string
	call(t, c, &parts, "parts")
	checkDelivered(t, parts, "finish", 30)
}

// checkDelivered checks that a delivery's parts came in order, each once.
func checkDelivered(t *testing.T, parts []string, key string, n int) {
	t.Helper()
	var got []string
	for _, p := range parts {
		if strings.HasPrefix(p, key+"/") {
			got = append(got, strings.TrimPrefix(p, key+"/"))
		}
	}
	for i, p := range got {
		if p != strconv.Itoa(i+1) {
			t.Fatalf("part %d of %s is %s", i+1, key, p)
		}
	}
	if len(got) != n {
		t.Errorf("%d parts of %s, want %d", len(got), key, n)
	}
}

// Schedules fire after a death, also one that was due while nothing ran, and
// the queue goes on in order.
func TestSchedulesAndQueueAfterDeath(t *testing.T) {
	t.Parallel()
	for _, name := range generations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, name, "STEP_MS:100", "KEEP_ALIVE_MS:700")
			c := l.dial("planner-agent/p1")
			var interval string
			call(t, c, nil, "once", 1, "once")
			call(t, c, &interval, "every", 1, "every")
			call(t, c, nil, "line", []string{"a", "b", "c", "d"})
			untilCall(t, c, "notes", func(notes []string) bool { return slices.Contains(notes, "a") })
			l.crash()

			c = l.dial("planner-agent/p1")
			if name != "fibers" { // see the fixture's README: the next item wakes the queue
				call(t, c, nil, "line", []string{"e"})
			}
			notes := untilCall(t, c, "notes", func(notes []string) bool {
				return slices.Contains(notes, "once") && slices.Contains(notes, "d") && count(notes, "every") >= 2
			})
			if n := count(notes, "once"); n != 1 {
				t.Errorf("a schedule fired %d times: %q", n, notes)
			}
			line := slices.DeleteFunc(slices.Clone(notes), func(s string) bool { return len(s) > 1 })
			// The item that was running at the death is run again: at least once.
			if line = slices.Compact(line); strings.Join(line, "") != "abcd" && strings.Join(line, "") != "abcde" {
				t.Errorf("the queue ran %q", line)
			}
			var stopped bool
			call(t, c, &stopped, "stop", interval)
			planned := []string{}
			call(t, c, &planned, "planned")
			if !stopped || len(planned) != 0 {
				t.Errorf("stopped %v, still planned %q", stopped, planned)
			}
		})
	}
}

func count(list []string, s string) int {
	n := 0
	for _, e := range list {
		if e == s {
			n++
		}
	}
	return n
}

// A sub-agent's schedule is the lead's alarm, and fires after a death with
// nobody asking.
func TestSubAgentScheduleAfterDeath(t *testing.T) {
	t.Parallel()
	for _, name := range managedGenerations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, name)
			call(t, l.dial("lead-agent/l1"), nil, "remind", "north", 2, "look up")
			l.crash()
			c := l.dial("lead-agent/l1")
			notes := untilCall(t, c, "report", func(notes []string) bool { return len(notes) > 0 }, "north")
			if !slices.Equal(notes, []string{"look up"}) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

type stubborn struct {
	Attempts []struct {
		At   float64
		Name string
	}
	Skips []struct{ Name, Reason string }
	Left  []string
}

// skipped is how often a scan passed over or dropped something for a reason.
func (s stubborn) skipped(reason string) (n int) {
	for _, skip := range s.Skips {
		if skip.Reason == reason {
			n++
		}
	}
	return n
}

func (s stubborn) of(name string) (at []float64) {
	for _, a := range s.Attempts {
		if a.Name == name {
			at = append(at, a.At)
		}
	}
	return at
}

// A fiber whose recovery hook throws is tried again and again, and dropped when it
// is too old; it does not keep the others from being recovered, of which a scan
// takes as many as it has time for.
func TestFiberThatCannotBeRecovered(t *testing.T) {
	t.Parallel()
	for _, name := range managedGenerations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, name)
			slow := []string{"slow 1", "slow 2", "slow 3", "slow 4", "slow 5"}
			call(t, l.dial("stubborn-agent/s1"), nil, "begin", append([]string{"poison"}, slow...))
			l.crash() // the agent's alarm brings it back
			c := l.dial("stubborn-agent/s1")
			end := untilCall(t, c, "look", func(s stubborn) bool { return len(s.Left) == 0 })
			for _, n := range slow {
				if got := len(end.of(n)); got != 1 {
					t.Errorf("the hook ran %d times for %s", got, n)
				}
			}
			end.check(t)
		})
	}
}

// check checks how the poisoned fiber was given up. Hooks take 150 ms, and a scan
// yields after 250 ms: five of them cannot be done in one.
func (s stubborn) check(t *testing.T) {
	t.Helper()
	if attempts := len(s.of("poison")); attempts < 3 || s.skipped("max_age_exceeded") != 1 || s.skipped("scan_deadline_exceeded") < 2 {
		t.Errorf("%d attempts at the fiber that cannot be recovered, passed over: %+v", attempts, s.Skips)
	}
}

// The same in a world whose time is exact: while scans get nothing done, the gaps
// between them grow.
func TestFiberRecoveryBacksOff(t *testing.T) {
	t.Parallel()
	for _, name := range managedGenerations {
		t.Run(name, func(t *testing.T) {
			w := simulation(t, fixture(t, name), world.Options{})
			const agent = "/agents/stubborn-agent/s1"
			askWorld(t, w, "POST", agent+"?name=poison&name=slow+1&name=slow+2&name=slow+3&name=slow+4&name=slow+5", nil)
			loseIsolate(t, w)
			if err := w.Advance(time.Minute); err != nil {
				t.Fatal(err)
			}
			var end stubborn
			askWorld(t, w, "GET", agent, &end)
			end.check(t)
			attempts := end.of("poison")
			last := end.of("slow 5")[0]
			alone := slices.DeleteFunc(slices.Clone(attempts), func(at float64) bool { return at <= last })
			if len(end.Left) != 0 || len(alone) < 3 {
				t.Fatalf("left %q, attempts %v", end.Left, attempts)
			}
			for i := 2; i < len(alone); i++ {
				if before, gap := alone[i-1]-alone[i-2], alone[i]-alone[i-1]; gap < 1.5*before {
					t.Errorf("a gap of %.0f ms follows one of %.0f ms: %v", gap, before, attempts)
				}
			}
		})
	}
}

// A fiber that its caller waits for hands on its result or its error, and leaves
// no row; cut, its snapshot reaches the hook. Outside a fiber there is nothing to
// stash into.
func TestFiberThatIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, name := range generations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &subject{stageSet: beginTool(name)(t, dev), name: "r"}
			c := o.dial("research-agent/r")
			var answer, refusal string
			call(t, c, &answer, "ask", "tides")
			if err := tryCall(c, nil, "ask", ""); err == nil || !strings.Contains(err.Error(), "there is no question") {
				t.Errorf("the fiber's error: %v", err)
			}
			call(t, c, &refusal, "stashNowhere")
			if b := o.comesToRest("research-agent"); answer != "an answer about tides" || len(b.Interruptions) != 0 || refusal == "" {
				t.Errorf("%q, %q, %+v", answer, refusal, b)
			}
			o.at("ask/moons", func() {
				o.background(func(ctx context.Context) { _, _ = c.Call(ctx, "ask", []byte(`["moons"]`)) }) // its caller is cut
			})
			o.crash()
			b := o.comesToRest("research-agent")
			if len(b.Interruptions) != 1 || b.Interruptions[0].Name != "ask:moons" || b.Interruptions[0].Snapshot != `{"found":["moons"]}` {
				t.Errorf("the hook was told %+v", b.Interruptions)
			}
		})
	}
}
