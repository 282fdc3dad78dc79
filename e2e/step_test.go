package e2e

import (
	"os/exec"
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
