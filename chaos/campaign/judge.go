package campaign

import (
	"fmt"
	"math"
	"path/filepath"
	"time"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/history"
)

// copied is where the files of a dead server were copied to, and when.
type copied struct {
	name, dir string
	at        time.Time
}

// preserve copies the dead server's files.
func (r *caseRun) preserve(name string) (copied, error) {
	c := copied{name: name, dir: filepath.Join(r.dir, name), at: r.camp.clock.Now().Add(r.ahead)}
	if err := evidence.Preserve(filepath.Join(r.state, "v3"), filepath.Join(c.dir, "v3")); err != nil {
		return c, fmt.Errorf("campaign: %w", err)
	}
	return c, nil
}

func (c copied) read(deep bool) (check.Snapshot, error) {
	s, err := check.ReadSnapshot(c.dir, c.at, deep)
	if err != nil {
		return s, fmt.Errorf("campaign: the files of %s: %w", c.name, err)
	}
	return s, nil
}

// readDeaths reads the files of each death, counts what it cut, and says how long
// what it left had to wait.
func (r *caseRun) readDeaths() ([]check.Snapshot, error) {
	var out []check.Snapshot
	for i, c := range r.copies {
		s, err := c.read(false)
		if err != nil {
			return nil, err
		}
		for _, o := range s.Objects {
			r.result.Kills[i].Fibers += len(o.Fibers.Interrupted())
		}
		r.result.Kills[i].wait(s)
		out = append(out, s)
	}
	return out, nil
}

// wait sets WaitedMs: from when the next server was ready until the first alarm of s
// was due, or something else had the system work again.
func (k *Kill) wait(s check.Snapshot) {
	due := math.Inf(1)
	for _, o := range s.Objects {
		if o.Row.Set {
			due = min(due, msBetween(s.At, o.Row.At))
		}
	}
	if !math.IsInf(due, 1) { // else it was no alarm that had it work again
		k.WaitedMs = max(0, min(due, k.RecoveredMs)-k.ReadyMs)
	}
}

// judge ends the last life, reads what it left, and asks the checkers.
func (r *caseRun) judge(restless bool) error {
	if err := r.child.Close(); err != nil {
		return err
	}
	r.child = nil
	last := len(r.lives) - 1
	points, err := r.readPoints(last)
	if err != nil {
		return err
	}
	if err := r.readActs(last); err != nil {
		return err
	}
	for _, p := range points {
		r.result.pass(p.Label)
	}
	end, err := r.preserve("end")
	if err != nil {
		return err
	}
	return r.verdict(end, restless)
}

// verdict asks the checkers, once the files at rest are in end.
func (r *caseRun) verdict(end copied, restless bool) error {
	deaths, err := r.readDeaths()
	if err != nil {
		return err
	}
	rest, err := end.read(true)
	if err != nil {
		return err
	}
	r.evidence = &check.Evidence{Events: r.history.Events(), Deaths: deaths, Rest: rest, Restless: restless, Models: r.camp.Models}
	if err := r.ask(&r.result, *r.evidence); err != nil {
		return err
	}
	for _, v := range r.result.Violations {
		r.history.Add(history.Event{Kind: history.Note, Who: "checker", Text: v.String()})
	}
	return nil
}

// ask takes into c what the checkers say to e.
func (r *caseRun) ask(c *Case, e check.Evidence) error {
	c.Violations, c.Checkers = check.Judge(r.camp.checkers, e)
	if r.camp.Script != nil {
		found, marks, err := r.camp.Script.Check(e)
		if err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
		r.camp.mark(marks)
		c.Violations = append(c.Violations, found...)
		c.Checkers = append(c.Checkers, "scenario")
	}
	if len(c.Violations) > 0 {
		c.Outcome = Violated
	}
	return nil
}
