package campaign

import (
	"fmt"
	"slices"

	"minido.dev/minido/chaos/infer"
	"minido.dev/minido/chaos/result"
)

// teach has Options.Infer get the states of a run: what its first death has left is a state
// of the run without faults; what is left at rest, and at later deaths, may be wrong.
func (r *caseRun) teach(end string) error {
	l := r.camp.Infer
	if l == nil || r.camp.newest() > 0 || r.evidence.Restless {
		return nil
	}
	measure := func(dir string, take func(infer.State)) error {
		s, err := infer.Measure(dir, l.Classes)
		if err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
		take(s)
		return nil
	}
	if len(r.plan) == 0 {
		return measure(end, l.Clean)
	}
	for i, c := range r.copies {
		take := func(s infer.State) { l.Left(fmt.Sprintf("%s, at death %d", r.result.Title(), i+1), s) }
		if i == 0 && r.plan[0].IsKill() && !r.plan[0].Power {
			take = l.Clean
		}
		if err := measure(c.dir, take); err != nil {
			return err
		}
	}
	return measure(end, func(s infer.State) {
		l.Left(r.result.Title(), s)
		if r.result.Outcome == result.Passed && slices.Contains(r.result.Checkers, differential) {
			l.Right(s)
		}
	})
}
