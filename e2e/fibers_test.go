package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/demo"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/result"
)

// stepMs is how long one of the fiber's five steps takes.
const stepMs = 300

// interrupt runs a fiber agent (npm agents, unmodified) under the harness, whose
// checkers decide, and which must see what its recovery hook was given.
func interrupt(t *testing.T, name, call string, plan string, flags ...string) result.Case {
	t.Helper()
	flags = append([]string{"--call", call, "--plan", plan, "--timeout", "60s"}, flags...)
	r, out := campaignOf(t, "replay", fixture(t, name), flags...)
	if r.Code != chaos.Pass || len(r.Cases) != 1 {
		t.Fatalf("code %d:\n%s", r.Code, out)
	}
	c := r.Cases[0]
	if want := strings.Count(plan, "kill@"); len(c.Kills) != want || !slices.Contains(c.Checkers, "fibers") {
		t.Fatalf("%d kills, want %d: %+v", len(c.Kills), want, c)
	}
	return c
}

// filesOf reads the files that a case left at the end, or at a death.
func filesOf(t *testing.T, c result.Case, name string) check.Snapshot {
	t.Helper()
	s, err := check.ReadSnapshot(filepath.Join(c.Dir, name), time.Time{}, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noted checks that the agent has noted so many calls of its recovery hook.
func noted(t *testing.T, c result.Case, want int) {
	t.Helper()
	got := 0
	for _, o := range filesOf(t, c, "end").Objects {
		got += len(o.Fibers.Hooks())
	}
	if got != want {
		t.Errorf("the recovery hook ran %d times, want %d", got, want)
	}
}

// research runs the fiber that the books of checkBooks are about.
func research(t *testing.T, name string, recovery chaos.Recovery, plan string) result.Case {
	t.Helper()
	c := interrupt(t, name, `ResearchAgent/r1.startResearch("tides")`, plan,
		"--recover", string(recovery), "--var", fmt.Sprintf("STEP_MS:%d", stepMs), "--var", "KEEP_ALIVE_MS:1000")
	noted(t, c, len(c.Kills))
	checkBooks(t, c, name)
	return c
}

// row of a table of the agent's, from the files that a run left.
func query(t *testing.T, dir, project, sql string) []evidence.Row {
	t.Helper()
	// A worker's name has no dot, a fixture's may.
	space := strings.ReplaceAll(project, ".", "-") + "-ResearchAgent"
	paths, err := filepath.Glob(filepath.Join(dir, "v3", "do", space, strings.Repeat("[0-9a-f]", 64)+".sqlite"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%d databases in %s, %v", len(paths), dir, err)
	}
	db, err := evidence.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Check(); err != nil {
		t.Error(err)
	}
	rows, err := db.Query(sql)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// checkBooks holds the hook's snapshots against the agent's own log, which it
// writes in the turn of each stash: the snapshot that the hook got has exactly
// as many steps as stash() had returned with for that fiber. And the job was
// completed once, with the answer of an uninterrupted run.
func checkBooks(t *testing.T, c result.Case, project string) {
	t.Helper()
	end := filepath.Join(c.Dir, "end")
	for _, i := range query(t, end, project, "SELECT fiber, snapshot FROM research_interruptions ORDER BY seq") {
		last := 0
		for _, row := range query(t, end, project, "SELECT fiber, event, detail FROM research_log ORDER BY seq") {
			if row.Text("fiber") != i.Text("fiber") {
				continue
			}
			var n, of int
			switch row.Text("event") {
			case "stash":
				if _, err := fmt.Sscanf(row.Text("detail"), "%d steps done", &n); err != nil {
					t.Fatal(err)
				}
				last = n
			case "begin": // a recovered fiber takes over the checkpoint in its first turn
				if _, err := fmt.Sscanf(row.Text("detail"), "job-1 at step %d of %d", &n, &of); err != nil {
					t.Fatal(err)
				}
				last = n - 1
			}
		}
		var snapshot struct{ Found []string }
		if text := i.Text("snapshot"); text != "" {
			if err := json.Unmarshal([]byte(text), &snapshot); err != nil {
				t.Fatal(err)
			}
		}
		if len(snapshot.Found) != last {
			t.Errorf("fiber %s: stash() had returned with %d steps, the hook got %d", i.Text("fiber"), last, len(snapshot.Found))
		}
	}
	jobs := query(t, end, project, "SELECT answer, completions FROM research_jobs")
	const answer = "search tides #1; read tides #2; compare tides #3; draft tides #4; review tides #5"
	if len(jobs) != 1 || jobs[0].Text("answer") != answer || jobs[0].Int("completions") != 1 {
		t.Errorf("jobs %v", jobs)
	}
}

// stepsAt is how many steps the snapshot of the fiber holds that the nth death cut.
func stepsAt(t *testing.T, c result.Case, n int) int {
	t.Helper()
	if k := c.Kills[n-1]; k.Fibers != 1 {
		t.Fatalf("the kill cut %d fibers, want 1: %+v", k.Fibers, k)
	}
	for _, o := range filesOf(t, c, fmt.Sprintf("death-%d", n)).Objects {
		cut := o.Fibers.Interrupted()
		if len(cut) == 0 {
			continue
		}
		var snapshot struct{ Found []string }
		if cut[0].Snapshot != "" {
			if err := json.Unmarshal([]byte(cut[0].Snapshot), &snapshot); err != nil {
				t.Fatal(err)
			}
		}
		return len(snapshot.Found)
	}
	t.Fatal("no fiber on the disk")
	return 0
}

// SIGKILL at a fiber's second checkpoint, twice in one fiber's life: nobody asks, or a
// client connects at once. Each time the hook gets the last checkpoint.
func TestFiberKilledInTheMiddleOfAStep(t *testing.T) {
	t.Parallel()
	for _, recovery := range []chaos.Recovery{chaos.ByAlarm, chaos.ByRequest} {
		t.Run(string(recovery), func(t *testing.T) {
			t.Parallel()
			c := research(t, "fibers", recovery, "kill@checkpoint#2; kill@checkpoint#2")
			for i, k := range c.Kills {
				if k.RecoveredMs <= 0 {
					t.Errorf("kill %d was not recovered: %+v", i+1, k)
				}
				t.Logf("kill %d: recovered after %v ms", i+1, k.RecoveredMs)
			}
			// Two checkpoints in the first life. In the second the first one is the
			// old fiber's, taken over.
			if first, second := stepsAt(t, c, 1), stepsAt(t, c, 2); first != 2 || second != 3 {
				t.Errorf("killed after %d and %d steps, want 2 and 3", first, second)
			}
		})
	}
}

// pointOf finds the label of the nth commit, on the given side, of a turn of
// the agent that something caused.
func pointOf(t *testing.T, points []string, prefix string, n int) string {
	t.Helper()
	for _, label := range points {
		if strings.HasPrefix(label, prefix) {
			if n--; n == 0 {
				return label
			}
		}
	}
	t.Fatalf("no point %s* that often:\n%s", prefix, strings.Join(points, "\n"))
	return ""
}

// SIGKILL on either side of a commit. Between the commit that begins the fiber
// and the answer to the call: the client never hears of the fiber, and it ends
// all the same. After the commit of a checkpoint: the hook gets it. Before: the
// hook gets the one before.
func TestFiberKilledAroundACommit(t *testing.T) {
	t.Parallel()
	points := listPoints(t, fiberRun(t, "--list-points", "--var", fmt.Sprintf("STEP_MS:%d", stepMs))...)
	begin := beginsFiber(t, points)
	for name, c := range map[string]struct {
		at    string
		steps int
	}{
		"between the first commit and its answer": {begin, 0},
		"after the commit of the third step":      {pointOf(t, points, "commit:after(ResearchAgent/r1)/timer", 3), 3},
		"before the commit of the third step":     {pointOf(t, points, "commit:before(ResearchAgent/r1)/timer", 3), 2},
	} {
		for _, recovery := range []chaos.Recovery{chaos.ByAlarm, chaos.ByRequest} {
			t.Run(name+"/"+string(recovery), func(t *testing.T) {
				k := research(t, "fibers", recovery, "kill@"+c.at)
				if k.Kills[0].Point != c.at {
					t.Errorf("died at %s, want %s", k.Kills[0].Point, c.at)
				}
				if got := stepsAt(t, k, 1); got != c.steps {
					t.Errorf("%d steps on disk, want %d", got, c.steps)
				}
			})
		}
	}
}

// listPoints runs `minido chaos run --list-points` and returns the labels.
func listPoints(t *testing.T, args ...string) []string {
	t.Helper()
	h := harness(t, args...)
	if code := ends(t, h); code != chaos.Pass {
		t.Fatalf("exit code %d:\n%s", code, h.Output())
	}
	var labels []string
	for _, m := range listedPoint.FindAllStringSubmatch(h.Output(), -1) {
		labels = append(labels, m[1])
	}
	return labels
}

var listedPoint = regexp.MustCompile(`(?m)^ +[0-9]+  (.*)$`)

// beginsFiber is the last commit before the frame that answers the call.
func beginsFiber(t *testing.T, points []string) string {
	t.Helper()
	commit, label := "", ""
	for _, p := range points {
		switch {
		case strings.HasPrefix(p, "commit:after(ResearchAgent/r1)/message"):
			commit = p
		case strings.HasPrefix(p, "frame:before(") && commit != "" && label == "":
			label = commit
		}
	}
	if label == "" {
		t.Fatalf("no commit of a message before a frame that answers it: %v", points)
	}
	return label
}

// The demonstration shows a newcomer a kill and a recovery, on one screen.
func TestDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	report, err := demo.Run(t.Context(), demo.Options{Fixture: fixture(t, "fibers"), Out: &out, Dir: filepath.Join(t.TempDir(), "out"), Server: []string{minido, "chaos-child"}})
	if err != nil || report.Code != chaos.Pass {
		t.Fatalf("code %d, %v\n%s", report.Code, err, out.String())
	}
	contains(t, out.String(), "SIGKILL", "onFiberRecovered ran", "PASS", "review tides #5")
	if lines := strings.Count(out.String(), "\n"); lines > 25 {
		t.Errorf("%d lines do not fit on a screen:\n%s", lines, out.String())
	}
	t.Log(out.String())
}
