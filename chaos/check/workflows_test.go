package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// Each invariant of Workflows is found violated, and none where an instance goes on as it
// should, or was restarted.
func TestWorkflows(t *testing.T) {
	first := WorkflowStep{Key: "do:first-1", Started: 1, Attempts: 1, Decided: true, Result: "done 2 6F"}
	second := WorkflowStep{Key: "do:second-1", Started: 2, Attempts: 1}
	waits := WorkflowStep{Key: "event:paid-1", Started: 3, Event: "paid"}
	took := waits
	took.Decided, took.Result = true, "done 4 6F"
	again, other := first, first
	again.Attempts, other.Result = 2, "done 3 70"
	later := first
	later.Started = 9
	paid := []WorkflowEvent{{1, "paid"}}
	for _, c := range []struct {
		name          string
		before, after Workflow
		want          string
	}{
		{"goes on", Workflow{Steps: []WorkflowStep{first, second, waits}, Events: paid}, Workflow{Alarm: true, Steps: []WorkflowStep{first, second, took}}, ""},
		{"ends", Workflow{Steps: []WorkflowStep{first}, Events: paid}, Workflow{Status: "complete", Steps: []WorkflowStep{first, second}}, ""},
		{"is restarted", Workflow{Steps: []WorkflowStep{first, second}, Events: paid}, Workflow{Alarm: true, Steps: []WorkflowStep{later}}, ""},
		{"is paused", Workflow{}, Workflow{Status: "paused"}, ""},
		{"another result", Workflow{Steps: []WorkflowStep{first}}, Workflow{Alarm: true, Steps: []WorkflowStep{other}}, "decided-once"},
		{"run again", Workflow{Steps: []WorkflowStep{first}}, Workflow{Alarm: true, Steps: []WorkflowStep{again}}, "not-again"},
		{"forgotten", Workflow{Steps: []WorkflowStep{first, second}}, Workflow{Alarm: true, Steps: []WorkflowStep{second}}, "step-kept"},
		{"lost event", Workflow{Steps: []WorkflowStep{waits}, Events: paid}, Workflow{Alarm: true, Steps: []WorkflowStep{waits}}, "event-kept"},
		{"sleeps for ever", Workflow{}, Workflow{Status: "running"}, "goes-on"},
	} {
		e := Evidence{Deaths: []Snapshot{{Workflows: []Workflow{c.before}}}, Rest: Snapshot{Workflows: []Workflow{c.after}}}
		var found []string
		for _, v := range (workflowChecker{}).Check(e) {
			found = append(found, v.Invariant)
		}
		if got := strings.Join(found, " "); got != c.want || !(workflowChecker{}).Applies(e) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if (workflowChecker{}).Applies(Evidence{}) {
		t.Error("a case without Workflows is judged")
	}
}

// What the checker reads is what the engine of Workflows writes.
func TestReadWorkflows(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "v3", "workflows", workflowPrefix+"orders")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("..", "..", "runtime", "binding", "workflow", "engine.js"))
	if err != nil {
		t.Fatal(err)
	}
	_, schema, _ := strings.Cut(string(source), "this.#sql.exec(`")
	schema, _, _ = strings.Cut(schema, "`")
	conn, err := sqlite.Open(sqlite.Options{Path: filepath.Join(folder, strings.Repeat("a", 64)+".sqlite"), Now: clock.Real{}.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec(schema + `; INSERT INTO instance (one, id, created, params, status) VALUES (1, 'o', 1, x'00', 'running');
		INSERT INTO steps (key, state, attempts, value, started, ended) VALUES ('do:a-1', 'done', 2, x'6f', 1, 2);
		INSERT INTO steps (key, state, event, started) VALUES ('event:b-1', 'waiting', 'paid', 3);
		INSERT INTO events (type, timestamp, payload) VALUES ('paid', 1, x'00')`)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSnapshot(dir, time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Workflows) != 1 {
		t.Fatalf("%+v", s)
	}
	w := s.Workflows[0]
	steps := []WorkflowStep{{"do:a-1", 1, 2, "", true, "done 2 6F"}, {"event:b-1", 3, 0, "paid", false, "waiting 0 "}}
	if w.Name != "orders" || w.ID != "o" || w.Status != "running" || w.Alarm || !slices.Equal(w.Steps, steps) || !slices.Equal(w.Events, []WorkflowEvent{{1, "paid"}}) {
		t.Errorf("%+v", w)
	}
}
