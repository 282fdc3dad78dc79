package campaign

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/entropy"
)

func isRefused(err error) bool { return errors.Is(err, process.ErrRefused) }

// clean runs without a fault: a system that fails then is no subject for faults.
// Its result is what a plan chooses from.
func (c *campaign) clean(ctx context.Context) (Case, error) {
	r, err := c.slots[0].run(ctx, group{})
	if err == nil && r.Outcome == Restless && r.living && c.Mode == Sim && c.Horizon == 0 {
		c.Horizon = check.Horizon
		c.tell(0, "without a fault the system never comes to rest: each life ends %v after its clients are done (--horizon)", c.Horizon)
		r, err = c.slots[0].run(ctx, group{})
	}
	if err == nil {
		err = c.settle(&r, true)
	}
	return c.unharmedIf(r, err)
}

// unharmedBy is clean for a run of a plan that does no harm.
func (c *campaign) unharmedBy(ctx context.Context, plan fault.Plan) (Case, error) {
	r, err := c.slots[0].run(ctx, group{plan: plan})
	if err == nil {
		err = c.settle(&r, true)
	}
	return c.unharmedIf(r, err)
}

// unharmedIf says whether a run without faults is one.
func (c *campaign) unharmedIf(r Case, err error) (Case, error) {
	if err != nil {
		return r, err
	}
	switch r.Outcome {
	case Passed:
		return r, nil
	case Violated:
		c.add(r)
		return r, errFailedClean
	}
	return r, &chaos.UsageError{Text: fmt.Sprintf("without any fault the run is %s: %s\nits evidence is in %s", r.Outcome, r.Text, r.Dir)}
}

// errFailedClean ends a campaign whose clean run violates an invariant: the
// report has it.
var errFailedClean = errors.New("the run without a fault already violates an invariant")

// Enumerate visits every labelled point of a clean run: one case each, which dies
// there by SIGKILL, comes back and is judged. With depth 2, each of these is
// followed by a case for every point that its recovery passed, which dies there
// again.
//
// # Errors
//
// *chaos.UsageError; ctx's cause; what made the harness itself fail. The report
// is complete as far as the campaign came.
func Enumerate(ctx context.Context, o Options, depth int) (Report, error) {
	first, paceable, err := enumerate(ctx, o, depth)
	if err != nil || first.Code != 0 || !paceable || o.Mode != Sim || o.OnePace || o.Max > 0 || depth != 1 {
		return first, err
	}
	o.Pace, o.Dir = Patience, first.Dir
	second, _, err := enumerate(ctx, o, depth)
	shard := first.Shard
	first.Shard, second.Shard = "", ""
	all, mergeErr := Merge([]Report{first, second})
	if mergeErr != nil {
		return second, errors.Join(err, mergeErr)
	}
	all.Points, all.Questions = first.Points+second.Points, first.Questions+second.Questions
	all.Ms, all.Dir, all.Shard, all.Stopped = first.Ms+second.Ms, first.Dir, shard, second.Stopped
	return all, err
}

// enumerate is Enumerate with clients of one pace. It says whether clients that wait
// between steps would do something else: whether they send several, and no chat, which
// they follow to its end anyway.
func enumerate(ctx context.Context, o Options, depth int) (r Report, paceable bool, err error) {
	r, err = with(ctx, "enumerate", o, func(c *campaign, ctx context.Context) error {
		if depth != 1 && depth != 2 {
			return &chaos.UsageError{Text: fmt.Sprintf("--depth is %d; write 1, or 2 for a second kill during the recovery.", depth)}
		}
		if err := c.available(fault.Plan{o.Fault}); err != nil {
			return err
		}
		c.depth = depth
		if c.Pace > 0 {
			c.tell(0, "recording the points of a run without faults whose clients wait %s between steps", c.Pace)
		} else {
			c.tell(0, "recording the points of a run without faults")
		}
		clean, err := c.clean(ctx)
		paceable = clean.calls > 1 && !clean.chats
		if errors.Is(err, errFailedClean) {
			return nil
		}
		if err != nil {
			return err
		}
		var plans []fault.Plan
		for _, label := range clean.Points {
			if f := o.Fault.At(label); f.Happens() {
				plans = append(plans, fault.Plan{f})
			}
		}
		if c.newest() > 0 {
			upgraded, err := c.upgradeAtRest(ctx)
			if errors.Is(err, errFailedClean) {
				return nil
			}
			if err != nil {
				return err
			}
			plans = c.upgrades(clean, upgraded)
		}
		c.report.Points, c.report.Questions = len(plans), clean.Questions
		if len(plans) == 0 && len(clean.Points) > 0 {
			return &chaos.UsageError{Text: fmt.Sprintf("none of the %d effect points of the run without faults is one at which %s can happen", len(clean.Points), o.Fault.Kind())}
		}
		if len(plans) == 0 {
			return &chaos.UsageError{Text: "the run without faults passed no effect point: the clients' steps reached no object"}
		}
		plans = c.choose(plans)
		c.tell(len(plans), "%d of %d points to visit", len(plans), c.report.Points)
		together := together
		if c.newest() > 0 {
			together = upgrading
		}
		results, err := c.visit(ctx, together(plans, clean))
		if err == nil && c.Schedules > 0 && c.Pace == 0 && c.Shard <= 1 { // what follows depends on what was found
			err = c.schedules(ctx, clean)
		}
		if err != nil || depth == 1 {
			return err
		}
		var second []group
		for _, r := range results {
			if r.result.Outcome == Passed { // else it needs no second kill
				second = append(second, r.again(r.result)...)
			}
		}
		if c.Max > 0 {
			second = alone(c.limit(plansOf(second)))
		}
		n := len(plansOf(second))
		c.tell(len(plans)+n, "%d points of recoveries to visit", n)
		_, err = c.visit(ctx, second)
		return err
	})
	return r, paceable, err
}

// available says whether the campaign's world has what a plan breaks.
func (c *campaign) available(p fault.Plan) error {
	for _, f := range p {
		switch {
		case f.Sink && c.SinkVar == "":
			return &chaos.UsageError{Text: fmt.Sprintf("%s needs the effect sink: give --effects VAR, or effects in the scenario.", f)}
		case f.Upstream != nil && !f.Sink && c.AI == nil:
			return &chaos.UsageError{Text: fmt.Sprintf("%s needs the scripted model: give --mock-ai, or ai in the scenario.", f)}
		case f.Power && c.Mode != Sim:
			return &chaos.UsageError{Text: "power needs a simulation, whose disk loses what was not synced: give --mode sim."}
		}
	}
	return nil
}

// choose takes this shard's plans, and no more than the limit.
func (c *campaign) choose(plans []fault.Plan) []fault.Plan {
	if c.Shards > 0 {
		var mine []fault.Plan
		for i, p := range plans {
			if i%c.Shards == c.Shard-1 {
				mine = append(mine, p)
			}
		}
		plans = mine
	}
	return c.limit(plans)
}

// limit spreads what a limit leaves evenly over the plans.
func (c *campaign) limit(plans []fault.Plan) []fault.Plan {
	if c.Max == 0 || len(plans) <= c.Max {
		return plans
	}
	c.report.Skipped += len(plans) - c.Max
	out := make([]fault.Plan, c.Max)
	for i := range out {
		out[i] = plans[i*len(plans)/c.Max]
	}
	return out
}

// seedOf is the seed of the ith of the next cases: of a random simulation each
// has one of its own.
func (c *campaign) seedOf(i int) uint64 {
	if c.Mode == Sim && c.report.Verb == "random" {
		return c.Seed + 1 + c.swarmed + uint64(i)
	}
	return 0
}

// swarmBatch is how many cases of a swarm are drawn at a time, for each slot.
const swarmBatch = 8

// swarm runs simulations, each with an order of events of its own: so many, or
// until Options.For has passed.
func (c *campaign) swarm(ctx context.Context, source entropy.Source, clean Case, runs int) error {
	began := c.clock.Now()
	for {
		n := runs - int(c.swarmed)
		if c.For > 0 {
			if c.clock.Now().Sub(began) >= c.For {
				return nil
			}
			n = swarmBatch * len(c.slots)
		}
		if n <= 0 {
			return nil
		}
		plans := newDrawing(source, clean, c.Options).plans(n)
		c.tell(int(c.swarmed)+n, "seeds %d to %d", c.Seed+1+c.swarmed, c.Seed+c.swarmed+uint64(n))
		if _, err := c.visit(ctx, alone(plans)); err != nil {
			return err
		}
		c.swarmed += uint64(n)
	}
}

// visited is a group with the result of what was run.
type visited struct {
	group
	result Case
}

// visit runs groups and takes the results of their plans into the report, in the
// order of the plans.
func (c *campaign) visit(ctx context.Context, groups []group) ([]visited, error) {
	out := make([]visited, len(groups))
	jobs := make([]job, len(groups))
	for i, g := range groups {
		jobs[i] = job{g, c.seedOf(i), func(r Case) {
			out[i] = visited{g, r}
			for _, like := range r.like {
				c.add(like)
			}
			r.trace = nil
			c.add(r)
		}}
	}
	first := len(c.report.Cases)
	err := c.runAll(ctx, jobs)
	c.mu.Lock()
	defer c.mu.Unlock()
	order := map[string]int{}
	for i, p := range plansOf(groups) {
		order[p.String()] = i
	}
	added := c.report.Cases[first:]
	sort.SliceStable(added, func(i, j int) bool { return order[added[i].Name] < order[added[j].Name] })
	for _, r := range added {
		switch {
		case r.Outcome == Unreached:
		case len(r.Missed) > 0:
			c.report.Missed = append(c.report.Missed, r.Title())
		case r.Order:
			c.report.Schedules++
		case len(r.Kills) > 0, c.Fault.Verb != "" && !r.Refused:
			c.report.Visited++
		}
	}
	return out, err
}

// Points are the labels of the effect points that a run without faults passes, in
// order.
//
// # Errors
//
// As Enumerate; *chaos.UsageError where the run itself fails.
func Points(ctx context.Context, o Options) (labels []string, r Report, err error) {
	r, err = with(ctx, "points", o, func(c *campaign, ctx context.Context) error {
		clean, err := c.clean(ctx)
		labels = clean.Points
		if errors.Is(err, errFailedClean) {
			return nil
		}
		return err
	})
	return labels, r, err
}

// Replay runs one plan runs times.
func Replay(ctx context.Context, o Options, plan fault.Plan, runs int) (Report, error) {
	return with(ctx, "replay", o, func(c *campaign, ctx context.Context) error {
		if err := c.available(plan); err != nil {
			return err
		}
		c.tell(runs, "%s", plan)
		plans := make([]fault.Plan, max(runs, 1))
		for i := range plans {
			plans[i] = plan
		}
		_, err := c.visit(ctx, alone(plans))
		return err
	})
}

// Random runs plans that the seed draws from all faults that this world has: one
// fault, or one and a kill. The same seed draws the same plans from the same clean
// run.
func Random(ctx context.Context, o Options, seed uint64, runs int) (Report, error) {
	return with(ctx, "random", o, func(c *campaign, ctx context.Context) error {
		c.report.Seed = seed
		c.tell(0, "recording the points of a run without faults")
		clean, err := c.clean(ctx)
		if errors.Is(err, errFailedClean) {
			return nil
		}
		if err != nil {
			return err
		}
		c.report.Points, c.report.Questions = len(clean.Points), clean.Questions
		source := entropy.NewSeeded(seed)
		if c.Mode == Sim {
			return c.swarm(ctx, source, clean, runs)
		}
		plans := c.choose(newDrawing(source, clean, c.Options).plans(runs))
		c.tell(len(plans), "seed %d: %d runs", seed, len(plans))
		_, err = c.visit(ctx, alone(plans))
		return err
	})
}

// Shrink looks for a smaller plan that fails in the same way: one with fewer
// faults. A plan counts as failing when two runs of it do. The report's
// last case is the smallest that was found.
func Shrink(ctx context.Context, o Options, plan fault.Plan) (Report, error) {
	return with(ctx, "shrink", o, func(c *campaign, ctx context.Context) error {
		if err := c.available(plan); err != nil {
			return err
		}
		c.tell(1, "does %s fail?", plan)
		best, err := c.fails(ctx, plan, "")
		if err != nil {
			return err
		}
		if best == nil {
			return &chaos.UsageError{Text: fmt.Sprintf("%s does not fail in two runs of two; there is nothing to shrink", plan)}
		}
		want := failureKey(*best)
		for smaller := true; smaller; {
			smaller = false
			for _, candidate := range reductions(plan) {
				c.tell(len(c.report.Cases)+1, "trying %s", candidate)
				r, err := c.fails(ctx, candidate, want)
				if err != nil {
					return err
				}
				if r != nil {
					plan, best, smaller = candidate, r, true
					break
				}
			}
		}
		c.report.Cases = []Case{*best}
		return nil
	})
}

// failureKey names what is wrong with a case, whatever the facts.
func failureKey(r Case) string {
	if r.Outcome != Violated {
		return string(r.Outcome)
	}
	return r.Violations[0].Key()
}

// fails runs a plan twice and returns a case if both fail with the key, or with
// the same one if key is "".
func (c *campaign) fails(ctx context.Context, plan fault.Plan, key string) (*Case, error) {
	var results []Case
	for range 2 {
		out, err := c.visit(ctx, alone([]fault.Plan{plan}))
		if err != nil {
			return nil, err
		}
		results = append(results, out[0].result)
	}
	for _, r := range results {
		if !r.failed() || r.Outcome == Broken {
			return nil, nil
		}
		if key == "" {
			key = failureKey(r)
		}
		if failureKey(r) != key {
			return nil, nil
		}
	}
	return &results[0], nil
}

// reductions are the plans that are one step smaller: without one of the faults.
func reductions(plan fault.Plan) []fault.Plan {
	var out []fault.Plan
	for i := range plan {
		if len(plan) > 1 {
			smaller := append(append(fault.Plan{}, plan[:i]...), plan[i+1:]...)
			out = append(out, smaller)
		}
	}
	return out
}
