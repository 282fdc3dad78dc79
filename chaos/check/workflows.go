package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/fibers"
)

// Workflow is what the files of one instance of a Workflow say
// (runtime/binding/workflow/engine.js).
type Workflow struct {
	// Name is the Workflow's, ID the one that the instance was created with.
	Name, ID string
	Status   string
	Alarm    bool
	Steps    []WorkflowStep  // in the order in which they were begun
	Events   []WorkflowEvent // that no step has taken yet, in the order of their coming
}

// WorkflowStep is a step that was begun. Decided is whether its result is known: then
// Result is that.
type WorkflowStep struct {
	Key      string
	Started  int64 // milliseconds
	Attempts int64
	Event    string // the type that it waits for, if it does
	Decided  bool
	Result   string
}

// WorkflowEvent is an event that was acknowledged.
type WorkflowEvent struct {
	Seq  int64
	Type string
}

// ended reports whether the instance will never go on.
func (w Workflow) ended() bool {
	return slices.Contains([]string{"complete", "errored", "terminated"}, w.Status)
}

// step finds one by its key and when it was begun: a restart begins it anew.
func (w Workflow) step(s WorkflowStep) *WorkflowStep {
	for i := range w.Steps {
		if w.Steps[i].Key == s.Key && w.Steps[i].Started == s.Started {
			return &w.Steps[i]
		}
	}
	return nil
}

// workflowPrefix is what folders of Workflows begin with.
const workflowPrefix = "minido-workflow-"

// readWorkflows reads the instances of all Workflows of a persist directory.
func readWorkflows(dir string) (out []Workflow, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "v3", "workflows", workflowPrefix+"*", "*.sqlite"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths { // by name: Glob sorts
		if filepath.Base(path) == indexFile {
			continue
		}
		w, found, err := readWorkflow(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("check: %s: %w", filepath.Base(path), err)
		}
		if found {
			out = append(out, w)
		}
	}
	return out, nil
}

// readWorkflow reads an instance; found is false if it was not created before its
// process died.
func readWorkflow(path string) (w Workflow, found bool, err error) {
	dbs, err := evidence.OpenAll([]string{path})
	defer func() { err = errors.Join(err, evidence.CloseAll(dbs)) }()
	if err != nil {
		return w, false, err
	}
	db := dbs[0]
	if made, err := db.Has("events"); err != nil || !made { // the last table that is made
		return w, false, err
	}
	state, err := fibers.Read(dbs)
	if err != nil {
		return w, false, err
	}
	w.Name, w.Alarm = strings.TrimPrefix(filepath.Base(filepath.Dir(path)), workflowPrefix), state.Databases[0].AlarmSet
	rows, err := db.Query("SELECT id, status FROM instance")
	if err != nil || len(rows) == 0 {
		return w, false, err
	}
	w.ID, w.Status = rows[0].Text("id"), rows[0].Text("status")
	rows, err = db.Query("SELECT key, started, attempts, coalesce(event, '') AS event, state IN ('done', 'failed') AS decided, " +
		"state || ' ' || coalesce(ended, 0) || ' ' || coalesce(error, hex(value), '') AS result FROM steps ORDER BY rowid")
	if err != nil {
		return w, false, err
	}
	for _, r := range rows {
		w.Steps = append(w.Steps, WorkflowStep{r.Text("key"), r.Int("started"), r.Int("attempts"), r.Text("event"), r.Int("decided") != 0, r.Text("result")})
	}
	rows, err = db.Query("SELECT seq, type FROM events ORDER BY seq")
	for _, r := range rows {
		w.Events = append(w.Events, WorkflowEvent{r.Int("seq"), r.Text("type")})
	}
	return w, true, err
}

// workflowChecker judges the instances of Workflows, as they were at each death and at rest.
type workflowChecker struct{}

func (workflowChecker) Name() string { return "workflows" }

func (workflowChecker) Doc() Doc {
	return Doc{"instances of Workflows", []Invariant{
		{"decided-once", "what a step came to before a death is what it came to after it"},
		{"not-again", "a step that was decided before a death is not run again"},
		{"step-kept", "no step that was decided is forgotten while one that was begun after it is known"},
		{"event-kept", "an event that was acknowledged waits until a step takes it"},
		{"goes-on", "at rest, an instance that has not ended has something that will wake it"},
	}}
}

func (workflowChecker) Applies(e Evidence) bool {
	return len(e.Rest.Workflows) > 0 || slices.ContainsFunc(e.Deaths, func(s Snapshot) bool { return len(s.Workflows) > 0 })
}

func (c workflowChecker) Check(e Evidence) []Violation {
	var out []Violation
	add := func(invariant, format string, args ...any) {
		out = append(out, Violation{c.Name(), invariant, fmt.Sprintf(format, args...)})
	}
	all := append(append([]Snapshot{}, e.Deaths...), e.Rest)
	for n := range all[1:] {
		for _, before := range all[n].Workflows {
			for _, after := range all[n+1].Workflows {
				if before.Name == after.Name && before.ID == after.ID {
					judgeWorkflow(before, after, fmt.Sprintf("%s/%s: ", before.Name, before.ID), fmt.Sprintf("death %d", n+1), add)
				}
			}
		}
	}
	if e.Restless || e.Bounded {
		return out
	}
	for _, w := range e.Rest.Workflows {
		if !w.ended() && w.Status != "paused" && !w.Alarm {
			add("goes-on", "%s/%s at rest is %s, and has no alarm: it will never go on", w.Name, w.ID, w.Status)
		}
	}
	return out
}

// judgeWorkflow compares an instance at a death with what it is later.
func judgeWorkflow(before, after Workflow, who, death string, add func(invariant, format string, args ...any)) {
	latest := int64(-1) // the beginning of the last step that is in both
	for _, s := range before.Steps {
		if after.step(s) != nil {
			latest = max(latest, s.Started)
		}
	}
	for _, s := range before.Steps {
		now := after.step(s)
		switch {
		case !s.Decided:
		case now == nil && s.Started < latest:
			add("step-kept", "%s%s was decided at %s, and is not known any more", who, s.Key, death)
		case now == nil: // a restart
		case now.Result != s.Result:
			add("decided-once", "%s%s was %s at %s, and is %s later", who, s.Key, short(s.Result), death, short(now.Result))
		case now.Attempts != s.Attempts:
			add("not-again", "%s%s was decided after %d attempts at %s, and has %d later", who, s.Key, s.Attempts, death, now.Attempts)
		}
	}
	if after.ended() || slices.ContainsFunc(before.Steps, func(s WorkflowStep) bool { return after.step(s) == nil }) {
		return // nobody waits for events any more; a restart drops them
	}
	taken := map[string]int{} // by type: the steps that have taken an event since
	for _, s := range after.Steps {
		if was := before.step(s); s.Event != "" && s.Decided && (was == nil || !was.Decided) {
			taken[s.Event]++
		}
	}
	for _, ev := range before.Events {
		if slices.Contains(after.Events, ev) {
			continue
		}
		if taken[ev.Type]--; taken[ev.Type] < 0 {
			add("event-kept", "%sthe event %q was acknowledged before %s, and no step has taken it", who, ev.Type, death)
		}
	}
}

// short is the beginning of a text.
func short(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}
