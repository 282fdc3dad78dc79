package oracle

import (
	"errors"
	"slices"
	"strings"

	"minido.dev/minido/chaos/evidence"
)

// workflowSteps are the steps that an instance of a Workflow has taken, by their names.
// After a death, run() is called again, and what has been done is not done again: so the
// steps of a program that does not look at what has changed meanwhile are the same.
const workflowSteps = "(steps)"

// ofWorkflow is how the folders of Workflows' instances begin. wrangler's engine keeps its
// own otherwise.
const ofWorkflow = "minido-workflow-"

// readWorkflow reads the steps of an instance that has come to its end. Where one failed, the
// program may have gone another way for that.
func (s State) readWorkflow(file string, at place) (err error) {
	if !strings.HasPrefix(at.namespace, ofWorkflow) {
		return nil
	}
	db, err := evidence.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names, err := db.Tables()
	if err != nil || !slices.Contains(names, "steps") || !slices.Contains(names, "instance") {
		return err // died before they were made
	}
	rows, err := db.Query("SELECT key FROM steps WHERE (SELECT status FROM instance) = 'complete' AND NOT EXISTS (SELECT 1 FROM steps WHERE state = 'failed')")
	if err != nil || len(rows) == 0 {
		return err
	}
	t := table{columns: []string{"step"}}
	for _, r := range rows {
		_, name, _ := strings.Cut(r.Text("key"), ":")
		name = digits.ReplaceAllString(normal(name[:max(0, strings.LastIndexByte(name, '-'))]), "#")
		if row := []string{name}; !slices.ContainsFunc(t.rows, func(other []string) bool { return slices.Equal(row, other) }) {
			t.rows = append(t.rows, row)
		}
	}
	s.put(at, workflowSteps, t)
	return nil
}

// astray are the steps that an instance has taken, and no instance takes without the fault.
// What it did not do again, because it saw that it was done, is right.
func astray(at place, got, want table) (out []Difference) {
	if want.rows == nil {
		return nil // there is no such instance: what it has stored says what that means
	}
	have, should := got.lines(), want.lines()
	for _, row := range slices.Sorted(slices.Values(union(have, should))) {
		if have[row] > 0 && should[row] == 0 {
			out = append(out, Difference{at.label(), row, 1, 0, at})
		}
	}
	return out
}
