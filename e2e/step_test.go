package e2e

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// A person walks through a simulation from a pipe: event by event, with a look at
// what there is, and a kill from which the agent recovers.
func TestStepThroughASimulation(t *testing.T) {
	t.Parallel()
	walk := []string{"n", "?", "o", "t", "w", "sql ResearchAgent/r1 SELECT count(*) AS n FROM sqlite_schema", "sql nonsense", "jump"}
	for range 7 { // into the fibers' work
		walk = append(walk, "p")
	}
	walk = append(walk, "o", "t", "w", "sql ResearchAgent/r1 SELECT id, status FROM research_jobs ORDER BY id", "k", "n", "o", "c")
	cmd := exec.Command(minido, "chaos", "replay", fixture(t, "fibers"), "--step", "--plan", "none")
	cmd.Stdin = strings.NewReader(strings.Join(walk, "\n") + "\n")
	r, out := campaignBy(t, cmd)
	contains(t, string(out),
		"> n\n", "next effect point", "> o\nResearchAgent/r1  ", "n=", "write sql Class/name SELECT", `"jump" is no command`,
		"point commit:after(ResearchAgent/r1)/timer#1", "timer  ResearchAgent/r1", "alarm  ResearchAgent/r1",
		"stays awake: 2 timers are pending", "outside: agentrpc client-1", "id=job-1  status=running", "2 rows",
		"SIGKILL after ", "> n\n       300ms  point alarm:before(ResearchAgent/r1)/alarm#1", "PASS")
	if r.Code != 0 || len(r.Cases) != 1 || len(r.Cases[0].Kills) != 1 {
		t.Errorf("code %d, %+v\n%s", r.Code, r.Cases, out)
	}
}

// A person goes back and forth in time, has a query watched, and asks which turns wrote a
// row. What was done after the moment that one has gone back to has not happened.
func TestStepThroughTime(t *testing.T) {
	t.Parallel()
	walk := []string{
		"goto commit:after#6", "watch ResearchAgent/r1 SELECT id, status FROM research_jobs ORDER BY id", "c",
		"why ResearchAgent/r1.research_jobs job-1", "why ResearchAgent/r1.research_jobs job-2", "why ResearchAgent/r1.research_jobs id = 'nobody'", "why nonsense",
		"k", "b", "b 3", "goto commit:before(ResearchAgent/r1)/timer#4", "goto 3", "watch off", "goto commit:after#9999", "goto 100000", "c",
	}
	cmd := exec.Command(minido, "chaos", "replay", fixture(t, "fibers"), "--step", "--plan", "none")
	cmd.Stdin = strings.NewReader(strings.Join(walk, "\n") + "\n")
	r, out := campaignBy(t, cmd)
	fits := func(patterns ...string) {
		t.Helper()
		rest := string(out)
		for _, p := range patterns {
			at := regexp.MustCompile(p).FindStringIndex(rest)
			if at == nil {
				t.Fatalf("no %q in what follows:\n%s", p, rest)
			}
			rest = rest[at[1]:]
		}
	}
	fits(`(?m)^1> goto`, `commit:after\(ResearchAgent/r1\)/timer#4\n9> watch`, `status=running\n`, `9> c\n`, `status=done\n.*status=done\n +2 rows\n14> why`,
		`(?m)^ +6  written  by commit:after\(ResearchAgent/r1\)/message#\d+ in a turn that a WebSocket message began`, `"method":"startPair"`, `status=running`,
		`(?m)^ +\d+  changed  by commit:after\(ResearchAgent/r1\)/timer#10 in a turn that began with: timer`, `status=done`,
		`14> why ResearchAgent/r1.research_jobs job-2`, `timer#9 in a turn that began with: timer`, `status=done`,
		`no turn up to here has written a row of ResearchAgent/r1.research_jobs with id = 'nobody'`, "write why Class/name.table KEY",
		`14> k\n`, `killed\n15> b\n`, `timer#10\n`, `14> b 3\n`, `11> goto commit:before`, `9> goto 3\n`, `3> watch off\n3> goto commit:after#9999\nthe run ends without commit:after#9999\n`,
		`3> goto 100000\nthe run ends without an event 100000\n`, `3> c\nPASS`)
	if r.Code != 0 || len(r.Cases) != 1 || len(r.Cases[0].Kills) != 0 {
		t.Errorf("code %d, %+v\n%s", r.Code, r.Cases, out)
	}
}

// What a walk comes to is compared with runs without a fault, also where a person has killed: money
// that has left one account and not reached the other is found.
func TestStepIsCompared(t *testing.T) {
	t.Parallel()
	files := pair(t, "transfer-in-two-turns")
	for _, c := range []struct{ source, plan, walk string }{
		{"buggy.ts", "kill@commit:before(Room/a)/timer#1", "c"},
		{"buggy.ts", "none", "goto commit:after(Room/a)/body#1\nk\nc"},
		{"buggy.ts", "none", "c"},
		{"correct.ts", "none", "goto commit:after(Room/a)/timer#1\nk\nc"},
	} {
		dir := project(t, map[string]string{"worker.ts": files[c.source], "wrangler.json": pairConfig(files[c.source]), "drive.chaos.ts": files["drive.chaos.ts"]})
		cmd := exec.Command(minido, "chaos", "replay", dir, "--mode", "sim", "--step", "--plan", c.plan)
		cmd.Stdin = strings.NewReader(c.walk + "\n")
		r, out := campaignBy(t, cmd)
		want := c.source == "buggy.ts" && (c.plan != "none" || c.walk != "c")
		if found := r.Findings(); r.Code != map[bool]int{true: 1}[want] || (len(found) == 1 && strings.Contains(found[0].Cause, "Room accounts")) != want {
			t.Errorf("%+v: code %d, %+v\n%s", c, r.Code, found, out)
		}
	}
}
