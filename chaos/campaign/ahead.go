package campaign

import (
	"context"
	"fmt"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/orders"
	"minido.dev/minido/chaos/result"
)

// pin has the replay of a finding with real processes die where the finding did. What had
// happened before a death may depend on how busy the machine was, and the plan's point alone
// says nothing of that. A death between two points leaves what one at the first of them
// leaves: so the same is found at the point that was passed ahead of its time, and there each
// time.
func (s *slot) pin(ctx context.Context, g group, r *ranCase) error {
	f := g.plan.Kill()
	if r.Outcome != result.Violated || s.camp.Mode != Process || len(g.plan) != 1 || f == nil || f.Point == "" || len(r.passed) == 0 {
		return nil
	}
	early := orders.Ahead(s.camp.order, r.passed[0])
	if early == "" {
		return nil
	}
	note := fmt.Sprintf("the machine was so busy that %s came before this death, which it otherwise follows", early)
	same := false
	for _, label := range orders.SidesOf(early) {
		there, err := s.run(ctx, group{plan: fault.Plan{f.At(label)}})
		if err != nil {
			return err
		}
		if err := s.camp.settle(&there, false); err != nil {
			return err
		}
		if same = there.Outcome == result.Violated && failureKey(there.Case) == failureKey(r.Case); same {
			r.Replay = there.Replay
			note += fmt.Sprintf("; a death at %s does the same, and is what the replay runs", label)
			break
		}
	}
	if !same {
		note += "; a death there does not do the same, so that a replay may pass where the machine is less busy"
	}
	if r.Text != "" {
		note = r.Text + "\n" + note
	}
	r.Text = note
	return nil
}
