package campaign

import (
	"fmt"
	"path/filepath"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/history"
)

// snapshot copies the dead server's files and reads them.
func (r *caseRun) snapshot(name string, deep bool) (check.Snapshot, error) {
	dir := filepath.Join(r.dir, name)
	if err := evidence.Preserve(filepath.Join(r.state, "v3"), filepath.Join(dir, "v3")); err != nil {
		return check.Snapshot{}, fmt.Errorf("campaign: %w", err)
	}
	s, err := check.ReadSnapshot(dir, r.camp.clock.Now(), deep)
	if err != nil {
		return s, fmt.Errorf("campaign: the files of %s: %w", name, err)
	}
	return s, nil
}

// judge ends the last life, reads what it left, and asks the checkers.
func (r *caseRun) judge() error {
	if err := r.child.Close(); err != nil {
		return err
	}
	r.child = nil
	points, err := r.readPoints(len(r.plan))
	if err != nil {
		return err
	}
	for _, p := range points {
		r.result.Points = append(r.result.Points, p.Label)
	}
	rest, err := r.snapshot("end", true)
	if err != nil {
		return err
	}
	e := check.Evidence{Events: r.history.Events(), Deaths: r.deaths, Rest: rest, Models: r.camp.Models}
	r.result.Violations, r.result.Checkers = check.Judge(r.camp.checkers, e)
	if r.camp.Script != nil {
		found, marks, err := r.camp.Script.Check(e)
		if err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
		r.camp.mark(marks)
		r.result.Violations = append(r.result.Violations, found...)
		r.result.Checkers = append(r.result.Checkers, "scenario")
	}
	if len(r.result.Violations) > 0 {
		r.result.Outcome = Violated
	}
	for _, v := range r.result.Violations {
		r.history.Add(history.Event{Kind: history.Note, Who: "checker", Text: v.String()})
	}
	return nil
}
