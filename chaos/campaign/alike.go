package campaign

import (
	"context"
	"fmt"
	"slices"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/runtime/world"
)

// group is plans whose deaths leave the same world (sim.State): one is run,
// and the others, which would only do the same again, are judged by it.
type group struct {
	plan  fault.Plan
	like  []fault.Plan
	known []*world.Recording // of the first lives of plan, up to its deaths
}

// alone are groups of one.
func alone(plans []fault.Plan) []group {
	groups := make([]group, len(plans))
	for i, p := range plans {
		groups[i].plan = p
	}
	return groups
}

// all are the plans of a group.
func (g group) all() []fault.Plan { return append(slices.Clone(g.like), g.plan) }

// plansOf are the plans of all groups.
func plansOf(groups []group) []fault.Plan {
	var plans []fault.Plan
	for _, g := range groups {
		plans = append(plans, g.all()...)
	}
	return plans
}

// alike says whether states are compared at all.
func (o Options) alike() bool {
	return o.Mode == Sim && !o.Each && !o.SelfCheck && !o.Keep && !o.Sigkill && o.Fault == (fault.Fault{})
}

// together puts plans together that differ in their last point alone, and there
// in nothing but its name. What runs of them is the last, which has passed the
// points of the others. Without states each is alone.
func together(plans []fault.Plan, c ranCase) []group {
	if c.states == nil {
		return alone(plans)
	}
	var groups []group
	at := map[sim.State]int{}
	for _, p := range plans {
		if p[len(p)-1].Point == "" || !p[len(p)-1].IsKill() {
			groups = append(groups, group{plan: p})
			continue
		}
		i := slices.Index(c.points, p[len(p)-1].Point)
		n, known := at[c.states[i]]
		if !known {
			at[c.states[i]] = len(groups)
			groups = append(groups, group{plan: p, known: []*world.Recording{c.recording}})
			continue
		}
		g := &groups[n]
		g.plan, g.like = p, append(g.like, g.plan)
	}
	return groups
}

// upgrading are groups of one whose first lives are those that c has recorded.
func upgrading(plans []fault.Plan, c ranCase) []group {
	groups := alone(plans)
	for i, p := range plans {
		if !p[0].Deploy {
			groups[i].known = []*world.Recording{c.recording}
		}
	}
	return groups
}

// again are the groups of plans that kill once more, at the points of c, after
// those of g, of which c is the result.
func (g group) again(c ranCase) []group {
	next := func(plan fault.Plan, label string) fault.Plan {
		return append(slices.Clone(plan), fault.Fault{Point: label})
	}
	var plans []fault.Plan
	for _, label := range c.points {
		plans = append(plans, next(g.plan, label))
	}
	groups := together(plans, c)
	for i := range groups {
		groups[i].known = append(slices.Clone(g.known), c.recording)
		for _, second := range groups[i].all() {
			for _, first := range g.like {
				groups[i].like = append(groups[i].like, next(first, second[len(second)-1].Point))
			}
		}
	}
	return groups
}

// likeness is the result of a plan whose deaths leave what those of r's left.
func (r *caseRun) likeness(ctx context.Context, plan fault.Plan) (ranCase, error) {
	o := r.camp.Options
	o.Seed = r.result.Seed
	c := r.result
	c.Name, c.SameAs, c.Replay = plan.String(), r.result.Name, o.replay(plan)
	c.Ms, c.PlayedBack, c.Digest, c.Kills = 0, 0, "", slices.Clone(r.result.Kills)
	c.lines, c.like, c.recording, c.trace = nil, nil, nil, nil
	if r.evidence == nil || len(c.Kills) != len(plan) {
		c.Missed = nil
		for _, f := range plan[min(len(c.Kills), len(plan)):] {
			c.Missed = append(c.Missed, f.String())
		}
		return c, nil // it was cut short
	}
	e := *r.evidence
	for i, f := range plan {
		c.Kills[i].Point = f.Point
		var err error
		if e.Events, err = history.Rename(e.Events, i, f.Point); err != nil {
			return c, fmt.Errorf("campaign: %s: %w", plan, err)
		}
	}
	if c.Outcome == result.Violated {
		c.Outcome = result.Passed // unless it is violated, too
	}
	if err := r.ask(ctx, &c.Case, e); err != nil {
		return c, err
	}
	c.Confirm = ""
	if c.Failed() {
		c.Confirm = o.confirm(plan, c.Ms)
	}
	return c, nil
}
