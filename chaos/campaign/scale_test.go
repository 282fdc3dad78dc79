package campaign

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
)

// counts is an object whose request has a few effect points.
const counts = `async fetch() {
	const n = ((await this.ctx.storage.get("n")) ?? 0) + 1;
	await this.ctx.storage.put("n", n);
	return new Response(String(n));
}`

// A report keeps so many cases, counts the others, and its numbers are those of all.
// A merged one does, too.
func TestFolded(t *testing.T) {
	var c campaign
	failed := func(name string) result.Case {
		return result.Case{Name: name, Outcome: result.Violated, Violations: []check.Violation{{Checker: "c", Invariant: "i"}}}
	}
	for i := range result.MaxKept + 50 {
		c.add0(result.Case{Name: "kill@" + strconv.Itoa(i), Outcome: result.Passed, Kills: []result.Kill{{}}, Uncompared: "why"})
	}
	for i := range result.MaxExamples + 7 {
		c.add0(failed("kill@" + strconv.Itoa(i)))
	}
	c.report.Verb = "enumerate"
	c.report.Conclude()
	merged, err := result.Merge([]result.Report{c.report, c.report})
	if err != nil {
		t.Fatal(err)
	}
	for times, r := range map[int]result.Report{1: c.report, 2: merged} {
		runs, failures := times*(result.MaxKept+50+result.MaxExamples+7), times*(result.MaxExamples+7)
		if len(r.Cases) != result.MaxKept+result.MaxExamples || r.Runs() != runs || r.Failures() != failures || r.Code != chaos.Violated {
			t.Errorf("%d cases of %d, %d failed, code %d; want %d, %d", len(r.Cases), r.Runs(), r.Failures(), r.Code, runs, failures)
		}
		if found := r.Findings(); len(found) != 1 || found[0].Count != failures || len(found[0].Cases) != result.MaxExamples {
			t.Errorf("findings %v", found)
		}
		if want := []string{strconv.Itoa(times*(result.MaxKept+50)) + " not compared with runs without faults: why"}; !slices.Equal(r.Uncompared(), want) {
			t.Errorf("%v, want %v", r.Uncompared(), want)
		}
	}
	if c.wants(ranCase{Case: failed("one more")}) || !c.wants(ranCase{Case: result.Case{Outcome: result.Restless}}) {
		t.Error("evidence is kept beyond the examples of a cause, or not for them")
	}
}

// add0 is count under its lock.
func (c *campaign) add0(r result.Case) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(r)
}

// names are the cases of a report, sorted.
func names(r result.Report) (out []string) {
	for _, c := range r.Cases {
		out = append(out, c.Title())
	}
	slices.Sort(out)
	return out
}

// interrupted runs a campaign that is cut when so many cases have ended.
func interrupted(t *testing.T, o Options, after int, run func(context.Context, Options) (result.Report, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(e result.Event) {
		if e.Case != nil {
			if after--; after == 0 {
				cancel()
			}
		}
	}
	if r, err := run(ctx, o); err == nil || !r.Stopped {
		t.Fatalf("it was not interrupted: %v", err)
	}
	journal := filepath.Join(o.Dir, JournalFile)
	f, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"case":{"name":"kill@comm`); err != nil { // as SIGKILL leaves it
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A campaign that was interrupted, also in the middle of a line of its journal, goes on
// where it was: no case is run again, and the report is that of one that was not.
func TestResume(t *testing.T) {
	campaigns := map[string]func(context.Context, Options) (result.Report, error){
		"enumerate": func(ctx context.Context, o Options) (result.Report, error) { return Enumerate(ctx, o, 1) },
		"depth 2":   func(ctx context.Context, o Options) (result.Report, error) { return Enumerate(ctx, o, 2) },
		"random":    func(ctx context.Context, o Options) (result.Report, error) { return Random(ctx, o, 5, 20) },
	}
	for name, run := range campaigns {
		t.Run(name, func(t *testing.T) {
			o := toldOptions(t, counts, "POST /", "POST /again")
			o.NoDifferential, o.OnePace = true, name == "depth 2" // faster
			if o.OnePace {
				o.Steps = o.Steps[:1]
			}
			whole, err := run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, after := range []int{9} {
				o.Dir, o.Resume = filepath.Join(t.TempDir(), "out"), false
				interrupted(t, o, after, run)
				o.Resume = true
				ran := 0
				o.Progress = func(e result.Event) {
					if e.Case != nil && e.Case.Outcome.OK() {
						ran++
					}
				}
				r, err := run(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(names(whole), names(r)); diff != "" {
					t.Errorf("after %d: %s", after, diff)
				}
				if r.Visited != whole.Visited || r.Kills != whole.Kills || r.Same != whole.Same || r.Code != whole.Code || r.Resumed < after || ran > whole.Runs()-after {
					t.Errorf("after %d: %d visited, %d kills, %d the same, code %d, %d taken over, %d run; the whole one has %d, %d, %d, %d",
						after, r.Visited, r.Kills, r.Same, r.Code, r.Resumed, ran, whole.Visited, whole.Kills, whole.Same, whole.Code)
				}
			}
			o.Steps = append(o.Steps, o.Steps[0])
			if _, err := run(t.Context(), o); !chaos.IsUsage(err) || !strings.Contains(err.Error(), "another campaign") {
				t.Errorf("another campaign went on there: %v", err)
			}
		})
	}
}

// scripted is clients with steps, whose scenario has a digest.
type scripted struct {
	Script
	digest string
}

// Digest implements Script.
func (s scripted) Digest() string { return s.digest }

// A campaign does not go on when the project, its configuration or the scenario is another one
// than when it began: it says so, and begins anew only without Resume.
func TestResumeNoticesChanges(t *testing.T) {
	enumerate := func(ctx context.Context, o Options) (result.Report, error) { return Enumerate(ctx, o, 1) }
	for name, change := range map[string]func(o *Options, edit func(file, from, to string)){
		"source":        func(_ *Options, edit func(file, from, to string)) { edit("w.js", "getByName(", "getByName( ") },
		"configuration": func(_ *Options, edit func(file, from, to string)) { edit("wrangler.json", "2026-01-01", "2026-01-02") },
		"scenario":      func(o *Options, _ func(file, from, to string)) { o.Script = scripted{o.Script, "two"} },
	} {
		t.Run(name, func(t *testing.T) {
			o := toldOptions(t, counts, "POST /")
			o.NoDifferential, o.OnePace, o.Script = true, true, scripted{once{}, "one"}
			interrupted(t, o, 5, enumerate)
			o.Resume = true
			change(&o, func(file, from, to string) {
				path := filepath.Join(o.Project, file)
				text, err := os.ReadFile(path)
				if err != nil || !strings.Contains(string(text), from) {
					t.Fatalf("%q, %v", text, err)
				}
				if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
					t.Fatal(err)
				}
			})
			if _, err := enumerate(t.Context(), o); !chaos.IsUsage(err) || !strings.Contains(err.Error(), "has changed since the campaign in "+o.Dir) {
				t.Errorf("it went on: %v", err)
			}
			o.Resume = false
			if r, err := enumerate(t.Context(), o); err != nil || r.Resumed > 0 || r.Code != 0 {
				t.Errorf("it does not begin anew: %d taken over, code %d, %v", r.Resumed, r.Code, err)
			}
		})
	}
}

// The shards of a random campaign share out the orders of events: each has one of its own.
func TestShardsOfRandom(t *testing.T) {
	o := toldOptions(t, counts, "POST /")
	whole, err := Random(t.Context(), o, 3, 20)
	if err != nil {
		t.Fatal(err)
	}
	var parts []result.Report
	for shard := 1; shard <= 3; shard++ {
		o.Dir, o.Shard, o.Shards = t.TempDir(), shard, 3
		r, err := Random(t.Context(), o, 3, 20)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, r)
	}
	merged, err := result.Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	seeds := func(r result.Report) (out []uint64) {
		for _, c := range r.Cases {
			out = append(out, c.Seed)
		}
		slices.Sort(out)
		return out
	}
	if diff := cmp.Diff(seeds(whole), seeds(merged)); diff != "" {
		t.Error(diff)
	}
}

// What plans have reached is kept, and the next campaign begins with it: it makes plans of
// those, with deaths at points that they have passed, and each replays as it ran.
func TestCorpus(t *testing.T) {
	o := toldOptions(t, counts, "POST /")
	o.Corpus = filepath.Join(t.TempDir(), "corpus")
	first, err := Random(t.Context(), o, 1, 40)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := corpus.Open(o.Corpus)
	if err != nil || len(kept.Entries()) == 0 || kept.Pairs() != first.Pairs {
		t.Fatalf("%d plans, %d pairs of %d, %v", len(kept.Entries()), kept.Pairs(), first.Pairs, err)
	}
	o.Dir = t.TempDir()
	second, err := Random(t.Context(), o, 1, 40)
	if err != nil || second.Pairs < first.Pairs {
		t.Fatalf("%d pairs after %d, %v", second.Pairs, first.Pairs, err)
	}
	if slices.Equal(names(first), names(second)) {
		t.Error("a corpus changes nothing")
	}
	made := regexp.MustCompile(`; kill@[a-z]+:`) // at a label: those that are drawn alone have none
	at := slices.IndexFunc(second.Cases, func(c result.Case) bool { return made.MatchString(c.Name) && len(c.Kills) > 0 })
	if at < 0 {
		t.Fatalf("no plan adds a death at a point that one of the corpus has passed: %v", names(second))
	}
	want := second.Cases[at]
	plan, err := fault.ParsePlan(want.Name)
	if err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Seed = t.TempDir(), want.Seed
	again, err := Replay(t.Context(), o, plan, 1)
	if err != nil || again.Cases[0].Digest != want.Digest {
		t.Errorf("%s ran otherwise than its replay: %v", want.Name, err)
	}
}

// When the time is over, no case begins; what is left is said, and can be resumed.
func TestTimeIsOver(t *testing.T) {
	o := toldOptions(t, counts, "POST /", "POST /again")
	whole, err := Enumerate(t.Context(), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.Dir, o.For = t.TempDir(), time.Nanosecond
	r, err := Enumerate(t.Context(), o, 1)
	if err != nil || r.Code != chaos.Pass || r.Left == 0 || r.Left != r.Points || len(r.Cases) != 0 || len(r.Warnings) == 0 {
		t.Fatalf("code %d, left %d of %d, %d cases, warnings %v, %v", r.Code, r.Left, r.Points, len(r.Cases), r.Warnings, err)
	}
	o.For, o.Resume = 0, true
	if r, err = Enumerate(t.Context(), o, 1); err != nil || r.Left != 0 || !slices.Equal(names(r), names(whole)) {
		t.Errorf("left %d, %v, %v", r.Left, names(r), err)
	}
}

// A death at a time does not wait for the end of a fault that lasts longer.
func TestDeathDuringAFault(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	plan, err := fault.ParsePlan("delay(2m)@response:before(Room/a)/fetch#1; kill@after(1ms)")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Replay(ctx, toldOptions(t, counts, "POST /"), plan, 1)
	if err != nil || r.Kills != 1 {
		t.Errorf("%d kills, %v", r.Kills, err)
	}
}

// A campaign that has found enough begins no further case: the report says after how many
// findings it stopped, and how many cases were left.
func TestStopAfter(t *testing.T) {
	bad := strings.Replace(counts, `await this.ctx.storage.put("n", n);`, `await this.ctx.storage.put("n", n); await scheduler.wait(10); await this.ctx.storage.put("m", n);`, 1)
	o := toldOptions(t, bad, "POST /", "POST /again")
	o.Jobs = 1
	all, err := Enumerate(t.Context(), o, 1)
	if err != nil || len(all.Findings()) != 1 || all.Failures() < 2 || all.Enough > 0 {
		t.Fatalf("%d findings in %d cases, enough %d, %v", len(all.Findings()), all.Failures(), all.Enough, err)
	}
	o.Dir, o.StopAfter = t.TempDir(), 1
	r, err := Enumerate(t.Context(), o, 1)
	if err != nil || r.Code != chaos.Violated || r.Failures() >= all.Failures() || r.Enough != 1 || r.Left == 0 || r.Runs()+r.Left != all.Runs() {
		t.Errorf("code %d, %d of %d cases failed, enough %d, left %d of %d, %v", r.Code, r.Failures(), r.Runs(), r.Enough, r.Left, all.Runs(), err)
	}
	o.Dir, o.StopAfter = t.TempDir(), 2
	if r, err := Enumerate(t.Context(), o, 1); err != nil || r.Runs() != all.Runs() || r.Enough > 0 {
		t.Errorf("with findings to spare: %d of %d cases, enough %d, %v", r.Runs(), all.Runs(), r.Enough, err)
	}
}
