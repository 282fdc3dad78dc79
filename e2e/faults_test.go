package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
)

// planned runs a plan once and returns its report and its history.
func planned(t *testing.T, project, plan string, flags ...string) (result.Report, []history.Event) {
	t.Helper()
	r, out := campaignOf(t, "replay", fixture(t, project), append([]string{"--plan", plan}, flags...)...)
	events := eventsOf(t, r, out)
	if t.Failed() || r.Code == chaos.Broken || r.Code == chaos.Usage {
		t.Logf("code %d\n%s", r.Code, out)
	}
	return r, events
}

// eventsOf is the history of a campaign's only case.
func eventsOf(t *testing.T, r result.Report, out []byte) []history.Event {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir, "case-0001", "history.ndjson"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var events []history.Event
	for line := range bytes.Lines(data) {
		var e history.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// of are the events of a kind whose text begins so.
func of(events []history.Event, kind history.Kind, text string) []history.Event {
	var out []history.Event
	for _, e := range events {
		if e.Kind == kind && strings.HasPrefix(e.Text, text) {
			out = append(out, e)
		}
	}
	return out
}

// Faults of the disk and of the clock happen at their points, are seen by the
// worker and its clients as a machine's would be, and break no invariant.
func TestFaultsOfTheMachine(t *testing.T) {
	t.Parallel()
	steps := []string{"--fetch", "POST /add", "--fetch", "POST /add", "--fetch", "POST /job", "--fetch", "GET /sum", "--fetch", "GET /now",
		"--effects", "SINK", "--model", "counter(POST /add,GET /sum)"}
	const second = "@commit:before(Store/s1)/rpc#2"
	ahead := func(t *testing.T, events []history.Event) time.Duration {
		t.Helper()
		now := of(events, history.Return, "GET /now")
		var ms int64
		if len(now) == 0 || json.Unmarshal(now[0].Data, &ms) != nil {
			t.Fatalf("no answer to GET /now: %+v", now)
		}
		return time.Until(time.UnixMilli(ms))
	}
	for plan, seen := range map[string]func(*testing.T, []history.Event){
		"fail(full)" + second:                     func(t *testing.T, e []history.Event) { failsOnce(t, e, "POST /add") },
		"fail(io)" + second:                       func(t *testing.T, e []history.Event) { failsOnce(t, e, "POST /add") },
		"fail(busy)" + second:                     func(t *testing.T, e []history.Event) { failsOnce(t, e, "POST /add") },
		"fail(full)@index:before(Store/s1)/rpc#1": func(t *testing.T, e []history.Event) { failsOnce(t, e, "POST /job") },
		// Written, and perhaps not for good: the caller does not get its answer, and the next one sees it.
		"fail(sync)@commit:after(Store/s1)/rpc#2": func(t *testing.T, e []history.Event) {
			failsOnce(t, e, "POST /add")
			if got := of(e, history.Return, "GET /sum"); len(got) != 1 || string(got[0].Data) != "2" {
				t.Errorf("the sum: %+v", got)
			}
		},
		// An alarm that cannot do its effect is tried again.
		"fail(dns)@fetch:before()/fetch#1": func(t *testing.T, e []history.Event) { arrives(t, e, 1) },
		"sink.refuse@request#1":            func(t *testing.T, e []history.Event) { arrives(t, e, 1) },
		"sink.status(503)@request#1":       func(t *testing.T, e []history.Event) { arrives(t, e, 1) },
		"sink.cut(0)@request#1":            func(t *testing.T, e []history.Event) { arrives(t, e, 2) },
		"slow(300ms)" + second: func(t *testing.T, e []history.Event) {
			called, answered := of(e, history.Call, "POST /add"), of(e, history.Return, "POST /add")
			if took := answered[1].AtMs - called[1].AtMs; took < 300 {
				t.Errorf("the slow commit was over after %v ms", took)
			}
		},
		"jump(10m)" + second: func(t *testing.T, e []history.Event) {
			if d := ahead(t, e); d < 5*time.Minute { // a slow machine looks late
				t.Errorf("the worker's clock is %v ahead", d)
			}
		},
		"jump(-5s)" + second: func(t *testing.T, e []history.Event) {
			if d := ahead(t, e); d > -4*time.Second {
				t.Errorf("the worker's clock is %v ahead", d)
			}
		},
		// The clock stays where it was set when the next server starts.
		"jump(10m)" + second + "; kill@commit:after(Store/s1)/rpc#2": func(t *testing.T, e []history.Event) {
			if d := ahead(t, e); d < 5*time.Minute { // a slow machine looks late
				t.Errorf("the worker's clock is %v ahead in the second life", d)
			}
		},
	} {
		t.Run(plan, func(t *testing.T) {
			t.Parallel()
			r, events := planned(t, "planted", plan, append([]string{"--keep", "--recover", "request"}, steps...)...)
			if r.Code != chaos.Pass {
				t.Errorf("code %d: %+v", r.Code, r.Failed())
			}
			if kind, _, _ := strings.Cut(plan, "; "); len(of(events, history.Note, kind)) != 1 {
				t.Errorf("the history has no %s", kind)
			}
			seen(t, events)
		})
	}
}

// With real processes, too, an object has a clock of its own in the lives after a skewed death.
func TestSkewedClockOfAProcess(t *testing.T) {
	t.Parallel()
	for plan, least := range map[string]time.Duration{"skew(10m)@commit:after(Store/s1)/rpc#1": 9 * time.Minute, "skew(-10m)@commit:after(Store/s1)/rpc#1": -11 * time.Minute} {
		r, events := planned(t, "planted", plan, "--keep", "--fetch", "POST /add", "--fetch", "GET /now", "--no-differential")
		now := of(events, history.Return, "GET /now")
		var ms int64
		if r.Code != chaos.Pass || len(now) != 1 || json.Unmarshal(now[0].Data, &ms) != nil {
			t.Fatalf("%s: code %d, answers %+v", plan, r.Code, now)
		}
		if ahead := time.Until(time.UnixMilli(ms)); ahead < least || ahead > least+2*time.Minute { // a slow machine looks late
			t.Errorf("%s: the object's clock is %v ahead", plan, ahead)
		}
	}
}

// arrives says how often the one effect must have come, by its key.
func arrives(t *testing.T, events []history.Event, times int) {
	t.Helper()
	got := of(events, history.Effect, "")
	for _, e := range got {
		if e.Op != got[0].Op {
			t.Errorf("two keys: %+v", got)
		}
	}
	if len(got) != times {
		t.Errorf("the effect came %d times, want %d: %+v", len(got), times, got)
	}
}

func failsOnce(t *testing.T, events []history.Event, request string) {
	t.Helper()
	if got := of(events, history.Fail, request+": status 500"); len(got) != 1 {
		t.Errorf("%d answers to %s are failures, want 1", len(got), request)
	}
}

// Faults of the network to a model happen to the request that they name; one that
// never came is missed, and without a model there is nothing to break.
func TestFaultsOfUpstreams(t *testing.T) {
	t.Parallel()
	chats := []string{"--mock-ai", "--var", "KEEP_ALIVE_MS:1000"}
	var parts []string
	for i, f := range []string{"slow(1ms)@request#1", "stall(50ms,3)@request#2", "cut(700)@request#3", "status(429)@request#4", "refuse@request#5"} {
		chats = append(chats, "--chat", "SupportChat/c1: question "+string(rune('a'+i)))
		parts = append(parts, "upstream."+f)
	}
	_, events := planned(t, "chat", strings.Join(parts, "; "), append(chats, "--keep")...)
	var got []string
	for _, e := range of(events, history.Fetch, "/ai/run/") {
		var asked history.Asked
		if err := json.Unmarshal(e.Data, &asked); err != nil {
			t.Fatal(err)
		}
		if asked.Fault != "" {
			got = append(got, asked.Fault)
		}
	}
	if want := "slow stall cut status refuse"; strings.Join(got, " ") != want {
		t.Errorf("the faults that happened: %q, want %q", got, want)
	}
	if r, _ := planned(t, "chat", "upstream.refuse@request#3", append(chats[:3:3], "--chat", "SupportChat/c1: one", "--keep")...); r.Code != chaos.Missed {
		t.Errorf("a request that never came: code %d, want %d", r.Code, chaos.Missed)
	}
	for _, plan := range []string{"upstream.refuse@request#1", "sink.refuse@request#1"} {
		if r, _ := campaignOf(t, "replay", fixture(t, "planted"), "--fetch", "POST /add", "--plan", plan); r.Code != chaos.Usage {
			t.Errorf("%s, and no such server: code %d, want %d", plan, r.Code, chaos.Usage)
		}
	}
}

// A life may wait for an alarm up to the horizon before it works: here a second
// death leaves only the heartbeat of the agents SDK, 30 s ahead.
func TestRestAfterAHeartbeat(t *testing.T) {
	t.Parallel()
	plan := "kill@commit:before(ResearchAgent/r1)/timer#7; kill@index:after(ResearchAgent/r1)/alarm#1"
	for _, c := range []struct {
		timeout string
		want    result.Outcome
	}{{campaign.DefaultTimeout.String(), result.Passed}, {"30s", result.Restless}} {
		r, _ := planned(t, "fibers", plan, "--mode", "sim", "--timeout", c.timeout)
		if len(r.Cases) != 1 || len(r.Cases[0].Kills) != 2 {
			t.Fatalf("--timeout %s: %+v", c.timeout, r.Cases)
		}
		// A life that was cut short is no evidence that its alarm would not have fired.
		late := func(v check.Violation) bool { return v.Checker == "alarms" }
		if one := r.Cases[0]; one.Outcome != c.want || slices.ContainsFunc(one.Violations, late) {
			t.Errorf("--timeout %s: %s: %s %v", c.timeout, one.Outcome, one.Text, one.Violations)
		}
	}
}

// A clock that is set back while an alarm is on its way does not lose the alarm.
func TestClockJumpsBackAtAnAlarm(t *testing.T) {
	t.Parallel()
	r, events := planned(t, "relay", "jump(-1s)@alarm:before(Room/r1)/alarm#1")
	if r.Code != chaos.Pass || len(of(events, history.Note, "jump(-1s)@")) != 1 || len(of(events, history.Point, "alarm:before(Room/r1)/alarm#2")) != 1 {
		t.Errorf("code %d, %d cases: %+v", r.Code, len(r.Cases), r.Failed())
	}
}

// A turn in which the clock jumps has not computed for so long: here one that makes
// the next chunk while the one before it is written.
func TestClockJumpsInATurn(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"w.js": `
let chunks = 0, sum = 0;
export default { fetch: () => new Response(new ReadableStream({
  pull(controller) {
    for (let i = 0; i < 5e5; i++) sum += i; // some looks of the watchdog
    if (++chunks > 6) return controller.close();
    controller.enqueue(new TextEncoder().encode(chunks + ";"));
  },
})) };`,
		"wrangler.json": `{"name": "busy", "main": "w.js", "compatibility_date": "2026-08-01"}`})
	r, out := campaignOf(t, "replay", dir, "--plan", "jump(10m)@chunk:after()/fetch#2", "--fetch", "GET /")
	events := eventsOf(t, r, out)
	returned := of(events, history.Return, "GET /")
	if r.Code != chaos.Pass || len(of(events, history.Note, "jump(10m)@")) != 1 || len(returned) != 1 || string(returned[0].Data) != `"1;2;3;4;5;6;"` {
		t.Errorf("code %d, %v\n%s", r.Code, returned, out)
	}
}
