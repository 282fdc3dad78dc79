package campaign

import (
	"context"
	"slices"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/cut"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/oracle"
)

// sentAgain is what a run lacks whose clients have sent a frame again that a death had cut, as
// a request that until() repeats: compared with runs in which it arrives once. What is
// there more often, or otherwise, may be meant.
func (r *caseRun) sentAgain(ctx context.Context, e check.Evidence, got oracle.State, mask oracle.Mask, lost []cut.Call) ([]oracle.Difference, error) {
	again := cut.SentAgain(e.Events)
	if len(again) == 0 {
		return nil, nil
	}
	var allowed []oracle.State
	for i := range r.camp.orders() {
		for o := range possible(lost, cut.Sockets(e.Events), r.places()) {
			if !o.Once(again) {
				continue
			}
			f := r.referTo(ctx, i, o.Lost, drive.Breaks{After: cut.Breaks(e.Events), Delivered: o.Delivered}, o.deploys)
			if f.err != nil {
				return nil, f.err
			}
			if f.state == nil {
				continue
			}
			if oracle.Same(got, *f.state, mask) {
				return nil, nil // others can change nothing
			}
			allowed = append(allowed, *f.state)
		}
	}
	if len(allowed) == 0 {
		return nil, nil
	}
	kind, differences := oracle.Judge(got, allowed, mask, false)
	if kind != oracle.Missing || slices.ContainsFunc(differences, func(d oracle.Difference) bool { return d.Got >= d.Want }) {
		return nil, nil
	}
	return differences, nil
}
