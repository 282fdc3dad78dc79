package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/killpoint"
)

// How often until() asks does not change which points there are to visit: three
// rounds or thirty, over HTTP and over an agent's socket, the clean run names the
// same ones, and counts the rest apart: one or more of each round after the first.
// Rounds in which a fiber still works are none of the counted ones, for how many
// there are is the machine's affair.
func TestQuestionsAskedAgainAreNoPoints(t *testing.T) {
	t.Parallel()
	type asks struct {
		fixture, drive string
		steps          int // without those asked again: before each but the first there is one more point
	}
	sum := `async drive({ fetch, until }) {
		await fetch("POST", "/add");
		let n = 0;
		await until(async () => { await fetch("GET", "/sum"); await fetch("POST", "/add"); return ++n >= ROUNDS; }, { every: 1 });
		await fetch("GET", "/sum");
	}`
	for mode, c := range map[string]asks{
		"sim":     {"planted", sum, 4},
		"process": {"planted", sum, 4},
		"process over a socket": {"fibers", `vars: { STEP_MS: 20 }, async drive({ rpc, until }) {
			const r1 = { cls: "ResearchAgent", name: "r1" };
			await rpc(r1, "startResearch", ["tides"]);
			let n = 0;
			await until(async () => { return (await rpc(r1, "isDone")) && ++n >= ROUNDS; }, { every: 1 });
		}`, 2},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			few, some := labelsWith(t, strings.Fields(mode)[0], c.fixture, strings.ReplaceAll(c.drive, "ROUNDS", "3"), c.steps)
			many, more := labelsWith(t, strings.Fields(mode)[0], c.fixture, strings.ReplaceAll(c.drive, "ROUNDS", "30"), c.steps)
			if !slices.Equal(few, many) {
				t.Errorf("%d points with 3 rounds, %d with 30:\n%s\n\n%s", len(few), len(many), strings.Join(few, "\n"), strings.Join(many, "\n"))
			}
			if some < 2 || more < 29 {
				t.Errorf("%d points of questions with 3 rounds, %d with 30", some, more)
			}
		})
	}
}

// labelsWith are the points of a clean run of a scenario, sorted, and how many
// points of questions there are beside them, as the report counts them.
func labelsWith(t *testing.T, mode, project, drive string, steps int) (labels []string, questions int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "asks.chaos.ts")
	text := fmt.Sprintf("import { scenario } from %q;\nexport default scenario(\"asks\", { %s });\n", "minido:chaos", drive)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, out := campaignOf(t, "enumerate", fixture(t, project), "--scenario", file, "--mode", mode, "--max", "1", "--keep")
	data, err := os.ReadFile(filepath.Join(r.Dir, "case-0001", "history.ndjson"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range bytes.Lines(data) {
		var e history.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind != history.Point {
			continue
		}
		at, err := killpoint.ParseLabel(e.Text)
		if err != nil {
			t.Fatal(err)
		}
		if at.Cause == killpoint.Question {
			questions++
			continue
		}
		labels = append(labels, e.Text)
	}
	// Behind an effect of a socket's message an object also hibernates: one more point.
	hibernations := len(fault.Hibernations(labels))
	between := len(fault.BetweenSteps(fault.Fault{}, steps))
	if mode == "sim" {
		between *= 2 // the power is lost there, too
	}
	if len(labels) == 0 || r.Points != len(labels)+hibernations+between || r.Questions != questions {
		t.Errorf("the report has %d points and %d of questions; recorded were %d, %d to hibernate at, %d between steps, and %d\n%s",
			r.Points, r.Questions, len(labels), hibernations, between, questions, out)
	}
	slices.Sort(labels)
	return labels, questions
}
