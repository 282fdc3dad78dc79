package campaign

import (
	"context"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/cut"
)

// slowly compares again what differs in a run with real processes, with runs without faults
// whose clients take as long for a step as those of r did, and leaves out what that alone
// makes different. ok is false if their clients come to no end, or if those of r were quick.
func (r *caseRun) slowly(ctx context.Context, e check.Evidence) (found []check.Violation, ok bool, err error) {
	if r.camp.Mode != Process || r.slow {
		return nil, false, nil
	}
	for _, pace := range cut.Slowness(e.Events) {
		if pace <= r.pace {
			continue
		}
		slow := *r
		slow.slow, slow.pace, slow.quick = true, pace, r.pace
		again, not, err := slow.compare(ctx, e, false)
		if err != nil {
			return nil, false, err
		}
		if not == "" {
			if found, ok = again, true; len(found) == 0 {
				break
			}
		}
	}
	return found, ok, nil
}
