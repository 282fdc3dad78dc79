package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/demo"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/process"
)

// stepMs is how long one of the fiber's five steps takes.
const stepMs = 300

// interrupt runs the fiber agent (npm agents, unmodified) under the harness.
func interrupt(t *testing.T, change func(*chaos.Options)) chaos.Report {
	t.Helper()
	var story bytes.Buffer
	o := chaos.Options{
		Project: fixture(t, "fibers"), Call: "startResearch", Args: `["tides"]`, On: "research-agent/r1",
		Vars: []string{fmt.Sprintf("STEP_MS:%d", stepMs), "KEEP_ALIVE_MS:1000"}, Timeout: 60 * time.Second,
		Out: &story, Dir: filepath.Join(t.TempDir(), "out"), Server: []string{minido, "dev"},
	}
	change(&o)
	report, err := chaos.Run(t.Context(), o)
	t.Log(story.String())
	if err != nil || report.Code != chaos.Pass {
		t.Fatalf("code %d: %v", report.Code, err)
	}
	if !report.HooksVisible || len(report.Kills) != max(o.Kills, 1) {
		t.Fatalf("report %+v", report)
	}
	checkBooks(t, report, filepath.Base(o.Project))
	return report
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
func checkBooks(t *testing.T, report chaos.Report, project string) {
	t.Helper()
	end := filepath.Join(report.Dir, "end")
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

// stepsAt is how many steps the snapshots of a kill's fibers hold.
func stepsAt(t *testing.T, k chaos.Kill) int {
	t.Helper()
	if len(k.Interrupted) != 1 {
		t.Fatalf("the kill cut %d fibers, want 1: %+v", len(k.Interrupted), k)
	}
	var snapshot struct{ Found []string }
	if text := k.Interrupted[0].Snapshot; text != "" {
		if err := json.Unmarshal([]byte(text), &snapshot); err != nil {
			t.Fatal(err)
		}
	}
	return len(snapshot.Found)
}

// SIGKILL in the middle of a step, twice in one fiber's life: nobody asks, or a
// client connects at once. Each time the hook gets the last checkpoint.
func TestFiberKilledInTheMiddleOfAStep(t *testing.T) {
	for _, recovery := range []chaos.Recovery{chaos.ByAlarm, chaos.ByRequest} {
		t.Run(string(recovery), func(t *testing.T) {
			t.Parallel()
			report := interrupt(t, func(o *chaos.Options) { o.Recover, o.Kills, o.KillAtCheckpoint = recovery, 2, 2 })
			for i, k := range report.Kills {
				if k.Recovered <= 0 {
					t.Errorf("kill %d was not recovered: %+v", i+1, k)
				}
				t.Logf("kill %d: recovered after %v", i+1, k.Recovered)
			}
			// Two checkpoints in the first life. In the second the first one is the
			// old fiber's, taken over.
			if first, second := stepsAt(t, report.Kills[0]), stepsAt(t, report.Kills[1]); first != 2 || second != 3 {
				t.Errorf("killed after %d and %d steps, want 2 and 3", first, second)
			}
		})
	}
}

// pointOf finds the label of the nth commit, on the given side, of a turn of
// the agent that something caused.
func pointOf(t *testing.T, points []process.Point, prefix string, n int) string {
	t.Helper()
	for _, p := range points {
		if strings.HasPrefix(p.Label, prefix) {
			if n--; n == 0 {
				return p.Label
			}
		}
	}
	var labels []string
	for _, p := range points {
		labels = append(labels, p.Label)
	}
	t.Fatalf("no point %s* that often:\n%s", prefix, strings.Join(labels, "\n"))
	return ""
}

// SIGKILL on either side of a commit. Between the commit that begins the fiber
// and the answer to the call: the client never hears of the fiber, and it ends
// all the same. After the commit of a checkpoint: the hook gets it. Before: the
// hook gets the one before.
func TestFiberKilledAroundACommit(t *testing.T) {
	points, report, err := chaos.ListPoints(t.Context(), chaos.Options{
		Project: fixture(t, "fibers"), Call: "startResearch", Args: `["tides"]`, On: "research-agent/r1",
		Vars: []string{fmt.Sprintf("STEP_MS:%d", stepMs), "KEEP_ALIVE_MS:1000"}, Dir: filepath.Join(t.TempDir(), "out"), Server: []string{minido, "dev"},
	})
	if err != nil {
		t.Fatalf("code %d: %v", report.Code, err)
	}
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
				report := interrupt(t, func(o *chaos.Options) { o.Recover, o.KillAt = recovery, c.at })
				k := report.Kills[0]
				if !k.ByItself || k.Point != c.at {
					t.Errorf("died at %s, want %s", k.Point, c.at)
				}
				if got := stepsAt(t, k); got != c.steps {
					t.Errorf("%d steps on disk, want %d", got, c.steps)
				}
			})
		}
	}
}

// beginsFiber is the last commit before the frame that answers the call.
func beginsFiber(t *testing.T, points []process.Point) string {
	t.Helper()
	commit, label := "", ""
	for _, p := range points {
		switch {
		case strings.HasPrefix(p.Label, "commit:after(ResearchAgent/r1)/message"):
			commit = p.Label
		case strings.HasPrefix(p.Label, "frame:before(") && commit != "" && label == "":
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
	var out bytes.Buffer
	report, err := demo.Run(t.Context(), demo.Options{Fixture: fixture(t, "fibers"), Out: &out, Dir: filepath.Join(t.TempDir(), "out"), Server: []string{minido, "dev"}})
	if err != nil || report.Code != chaos.Pass {
		t.Fatalf("code %d, %v\n%s", report.Code, err, out.String())
	}
	contains(t, out.String(), "SIGKILL", "onFiberRecovered ran", "PASS", "review tides #5")
	if lines := strings.Count(out.String(), "\n"); lines > 25 {
		t.Errorf("%d lines do not fit on a screen:\n%s", lines, out.String())
	}
	t.Log(out.String())
}
