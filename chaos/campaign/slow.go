package campaign

import (
	"context"
	"time"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/cut"
)

// slowly compares again what differs with runs without faults whose clients have other
// paces (otherPaces), and leaves out what that alone makes different. ok is false if their
// clients come to no end, or if there is no such pace.
func (r *caseRun) slowly(ctx context.Context, e check.Evidence) (found []check.Violation, ok bool, err error) {
	for _, pace := range r.otherPaces(e) {
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

// otherPaces are those that the clients of r may as well have had: with real processes how slow
// they were; and where the clock of a machine is skewed, so that its alarms ring so much earlier
// or later, or where they got a frame so much later, that much slower or quicker.
func (r *caseRun) otherPaces(e check.Evidence) (paces []time.Duration) {
	if r.slow {
		return nil
	}
	if r.camp.Mode == Process {
		paces = cut.Slowness(e.Events, r.pace)
	}
	if apart := r.plan.Shifts(); apart > 0 {
		paces = append(paces, r.pace+apart)
		if r.pace > apart {
			paces = append(paces, r.pace-apart)
		}
	}
	return paces
}
