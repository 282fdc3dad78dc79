package campaign

import (
	"context"
	"slices"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/orders"
	"minido.dev/minido/chaos/result"
)

// schedules runs up to so many orders of messages, each of which differs from all
// others in the order of what happens to some object. c is the run without a fault.
func (c *campaign) schedules(ctx context.Context, clean ranCase) error {
	seen := map[string]bool{orders.Of(clean.trace): true}
	next := orders.Expand(orders.Node{}, clean.trace)
	done := 0
	for len(next) > 0 && !c.over() {
		var nodes []orders.Node
		nodes, next = next[:min(len(next), c.Schedules-done)], next[min(len(next), c.Schedules-done):]
		if len(nodes) == 0 {
			c.report.Skipped += len(next)
			return nil
		}
		done += len(nodes)
		c.tell(c.runs()+len(nodes), "%d orders of messages to run", len(nodes))
		plans := make([]fault.Plan, len(nodes))
		for i, n := range nodes {
			plans[i] = n.Plan
		}
		results, err := c.visit(ctx, alone(plans))
		if err != nil {
			return err
		}
		for i, r := range results {
			if r.result.Outcome != result.Passed || len(r.result.Missed) > 0 {
				continue // what is wrong needs no further disorder
			}
			if key := orders.Of(r.result.trace); !seen[key] {
				seen[key] = true
				next = append(next, orders.Expand(nodes[i], r.result.trace)...)
			}
		}
	}
	return nil
}

// serial are runs in which what was done at once is done one after the other, in each
// order: the requests that clients send at once, and the calls that one turn sends. A
// result of another order of messages must be one of theirs. Where it is an alarm that comes
// later, so it does in some of them, behind all that it came into the middle of. atOnce says
// whether anything was done at once; not says why there is nothing to compare with.
func (r *caseRun) serial(ctx context.Context, start *reference) (out []*reference, atOnce bool, not string, err error) {
	turns := orders.Turns(start.atOnce)
	atOnce = len(turns) > 1
	for _, ranks := range turns {
		base := terms{seed: start.seed, start: start.start, horizon: start.horizon, pace: r.pace, ranks: ranks}
		f := r.refer(ctx, base)
		if f.err != nil || f.state == nil {
			return nil, false, unordered, f.err
		}
		out = append(out, f)
		plans := orders.Siblings(f.trace)
		atOnce = atOnce || len(plans) > 0
		if late := orders.Late(r.plan); late != nil {
			for _, siblings := range slices.Clone(plans) {
				plans = append(plans, append(slices.Clone(siblings), late...))
			}
			plans = append(plans, late)
		}
		if len(out)+len(plans) > 2*orders.Max {
			return nil, false, tooMany, nil
		}
		for _, plan := range plans {
			with := base
			with.delays = plan
			g := r.refer(ctx, with)
			if g.err != nil {
				return nil, false, "", g.err
			}
			if g.state != nil { // one delay may take another's point away
				out = append(out, g)
			}
		}
	}
	return out, atOnce, "", nil
}
