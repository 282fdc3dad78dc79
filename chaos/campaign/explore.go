package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/draw"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/server"
)

// clean runs without a fault: a system that fails then is no subject for faults.
// Its result is what a plan chooses from.
func (c *campaign) clean(ctx context.Context) (ranCase, error) {
	if c.anyTime && c.Mode == Sim && c.report.Verb == "enumerate" && c.Horizon == 0 {
		c.Within = Far
	}
	r, err := c.slots[0].run(ctx, group{})
	if err == nil && r.Outcome == result.Restless && c.Within == Far && !r.living && len(r.points) < 500 { // nothing goes on all the time
		c.Within = Farthest // a Workflow sleeps
		r, err = c.slots[0].run(ctx, group{})
	}
	if err == nil && r.Outcome == result.Restless && c.anyTime && c.Within >= Far {
		c.Within = c.asked.Within
		r, err = c.slots[0].run(ctx, group{})
	}
	if err == nil && r.Outcome == result.Restless && r.living && c.Mode == Sim && c.Horizon == 0 {
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
func (c *campaign) unharmedBy(ctx context.Context, plan fault.Plan) (ranCase, error) {
	r, err := c.slots[0].run(ctx, group{plan: plan})
	if err == nil {
		err = c.settle(&r, true)
	}
	return c.unharmedIf(r, err)
}

// unharmedIf says whether a run without faults is one.
func (c *campaign) unharmedIf(r ranCase, err error) (ranCase, error) {
	if err != nil {
		return r, err
	}
	switch r.Outcome {
	case result.Passed:
		c.order = r.points
		return r, nil
	case result.Violated:
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
func Enumerate(ctx context.Context, o Options, depth int) (result.Report, error) {
	o.bundles = &server.Bundles{}
	first, then, err := enumerate(ctx, o, depth)
	if err != nil || first.Code != 0 || !then.paceable || o.Mode != Sim || o.OnePace || o.Max > 0 || depth != 1 {
		return first, err
	}
	o.Pace, o.Dir, o.Resume, o.goesOn, o.digest = Patience, first.Dir, false, true, then.digest
	if o.For > 0 {
		if o.For -= first.Elapsed(); o.For <= 0 || first.Left > 0 {
			first.Warnings = append(first.Warnings, "the time was over before the points of clients that wait between their steps; --resume goes on with them")
			return first, nil
		}
	}
	second, _, err := enumerate(ctx, o, depth)
	shard := first.Shard
	first.Shard, second.Shard = "", ""
	all, mergeErr := result.Merge([]result.Report{first, second})
	if mergeErr != nil {
		return second, errors.Join(err, mergeErr)
	}
	all.Points, all.Questions = first.Points+second.Points, first.Questions+second.Questions
	all.Ms, all.Dir, all.Shard, all.Stopped = first.Ms+second.Ms, first.Dir, shard, second.Stopped
	return all, err
}

// onward is what an enumeration tells one with clients of another pace.
type onward struct {
	// paceable says whether clients that wait between steps would do something else: whether
	// they send several, and no chat, which they follow to its end anyway.
	paceable bool
	digest   string // of the journal, "" without one
}

// enumerate is Enumerate with clients of one pace.
func enumerate(ctx context.Context, o Options, depth int) (r result.Report, then onward, err error) {
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
		then.paceable = clean.calls > 1 && !clean.chats
		if errors.Is(err, errFailedClean) {
			return nil
		}
		if err == nil {
			err = c.proves(clean)
		}
		if err != nil {
			return err
		}
		if err := c.openJournal(); err != nil {
			return err
		}
		then.digest = c.digest
		var plans []fault.Plan
		for _, label := range clean.points {
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
		c.report.Points, c.report.Questions = len(plans), clean.questions
		if len(plans) == 0 && len(clean.points) > 0 {
			return &chaos.UsageError{Text: fmt.Sprintf("none of the %d effect points of the run without faults is one at which %s can happen", len(clean.points), o.Fault.Kind())}
		}
		if len(plans) == 0 {
			return &chaos.UsageError{Text: "the run without faults passed no effect point: the clients' steps reached no object"}
		}
		if depth == 1 && o.Fault.IsKill() && o.Fault.Skew == 0 && o.Pace == 0 && c.newest() == 0 && !clean.chats && c.refers() {
			plans = append(plans, fault.Hibernations(clean.points)...)
		}
		if depth == 1 && o.Fault.IsKill() && o.Fault.Skew == 0 && c.newest() == 0 && !clean.chats && c.refers() {
			plans = append(plans, c.betweenSteps(clean)...)
		}
		c.report.Points = len(plans)
		plans = c.choose(plans, clean)
		c.tell(len(plans), "%d of %d points to visit", len(plans), c.report.Points)
		together := together
		if c.newest() > 0 {
			together = upgrading
		}
		if depth == 1 {
			err = c.visitRest(ctx, together(plans, clean))
			if err == nil && c.Schedules > 0 && c.Pace == 0 && c.Shard <= 1 && !c.over() { // what follows depends on what was found
				err = c.schedules(ctx, clean)
			}
			return err
		}
		results, err := c.visit(ctx, together(plans, clean))
		if err != nil {
			return err
		}
		return c.visitRecoveries(ctx, len(plans), results)
	})
	return r, then, err
}

// betweenSteps are the deaths between the steps of the clients that may show what no other
// point does. What an answered step has left in memory alone is there at once: clients that wait
// visit none of them. What is not synced is lost by a death behind the step that has
// written it.
func (c *campaign) betweenSteps(clean ranCase) (plans []fault.Plan) {
	if c.goesOn {
		return nil
	}
	plans = fault.BetweenSteps(c.Fault, clean.steps)
	if c.Mode != Sim || c.Pace > 0 || c.Fault.Power {
		return plans
	}
	for _, p := range fault.BetweenSteps(fault.Fault{Power: true}, clean.steps) {
		if n := p[0].Step - 2; len(clean.wrote) != clean.steps || clean.wrote[n] {
			plans = append(plans, p)
		}
	}
	return plans
}

// recoveriesAtOnce is of how many deaths the second ones are in memory.
const recoveriesAtOnce = 64

// visitRecoveries visits the points that the recoveries from the deaths of results passed.
func (c *campaign) visitRecoveries(ctx context.Context, first int, results []visited) error {
	results = slices.DeleteFunc(results, func(r visited) bool { return r.result.Outcome != result.Passed }) // it needs no second kill
	n := 0
	for _, r := range results {
		n += len(r.result.points) * len(r.all())
	}
	if c.Max > 0 {
		var plans []fault.Plan
		for _, r := range results {
			plans = append(plans, plansOf(r.again(r.result))...)
		}
		plans = c.limit(plans)
		c.tell(first+len(plans), "%d points of recoveries to visit", len(plans))
		return c.visitRest(ctx, alone(plans))
	}
	c.tell(first+n, "%d points of recoveries to visit", n)
	for part := range slices.Chunk(results, recoveriesAtOnce) {
		var second []group
		for _, r := range part {
			second = append(second, r.again(r.result)...)
		}
		if err := c.visitRest(ctx, second); err != nil {
			return err
		}
	}
	return nil
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

// choose takes this shard's plans, and no more than the limit. Plans that leave the same world
// belong to one shard.
func (c *campaign) choose(plans []fault.Plan, clean ranCase) []fault.Plan {
	if c.Shards > 0 {
		groups := alone(plans)
		if c.newest() <= 0 {
			groups = together(plans, clean)
		}
		var mine []fault.Plan
		for i, g := range groups {
			if i%c.Shards == c.Shard-1 {
				mine = append(mine, g.all()...)
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

// swarm runs plans that are drawn, in a simulation each with an order of events of its own:
// so many, or until Options.For has passed. The plan of a number depends on the seed, and on
// what the batches before it have reached: so a campaign that goes on draws what it would
// have drawn.
func (c *campaign) swarm(ctx context.Context, clean ranCase, runs int) (err error) {
	source, from := entropy.NewSeeded(c.report.Seed), c.drawsFrom(clean)
	shards := max(c.Shards, 1)
	mine := (runs + shards - max(c.Shard, 1)) / shards
	if c.For > 0 {
		mine = math.MaxInt / shards
		c.tell(0, "seed %d: runs for %v", c.report.Seed, c.For)
	} else {
		c.tell(mine, "seed %d: %d runs", c.report.Seed, mine)
	}
	for done := 0; done < mine && !c.over(); {
		next := min(batchEnd(done), mine)
		batch := make([]corpus.Entry, next-done)
		var jobs []job
		for i := range batch {
			number := (done+i)*shards + max(c.Shard, 1)
			if c.wasDrawn(number) {
				batch[i] = c.reachedBefore(number)
				continue
			}
			plan := draw.New(source.Fork("plan "+strconv.Itoa(number)), from).Guided(c.corpus)
			j := job{group: group{plan: plan}, done: func(r ranCase) {
				batch[i] = corpus.Entry{Plan: r.Name, Pairs: r.pairs, Points: r.points}
				r.number = number
				c.add(r)
			}}
			if c.Mode == Sim {
				j.seed = c.Seed + uint64(number)
			}
			jobs = append(jobs, j)
		}
		if err := c.runAll(ctx, jobs); err != nil {
			return err
		}
		for _, e := range batch {
			if c.corpus.Learn(e) {
				if err := c.corpus.Keep(e); err != nil {
					return err
				}
			}
		}
		done = next
	}
	c.report.Pairs = c.corpus.Pairs()
	return nil
}

// drawsFrom is what plans are drawn from.
func (c *campaign) drawsFrom(clean ranCase) draw.From {
	from := draw.From{Points: clean.points, Took: time.Duration(clean.Ms * float64(time.Millisecond)), Sim: c.Mode == Sim, Limit: c.Timeout}
	if c.AI != nil {
		from.Asked = clean.asked
	}
	if c.SinkVar != "" {
		from.Effects = clean.effects
	}
	return from
}

// reachedBefore is what an earlier run of the campaign has reached with the plan of that
// number. It is asked once.
func (c *campaign) reachedBefore(number int) corpus.Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.before[number]
	delete(c.before, number)
	return e
}

func (c *campaign) wasDrawn(number int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drawn.has(number)
}

// visited is a group with the result of what was run.
type visited struct {
	group
	result ranCase
}

// visit runs groups, also those that an earlier run of the campaign has done: for what
// follows from their results. The zero case is that of one for which there was no time.
func (c *campaign) visit(ctx context.Context, groups []group) ([]visited, error) {
	out := make([]visited, len(groups))
	for i, g := range groups {
		out[i].group = g
	}
	return out, c.visitEach(ctx, groups, func(i int, r ranCase) { out[i].result = r })
}

// visitRest runs the groups of which something is not done yet.
func (c *campaign) visitRest(ctx context.Context, groups []group) error {
	left := slices.DeleteFunc(slices.Clone(groups), func(g group) bool {
		return !slices.ContainsFunc(g.all(), func(p fault.Plan) bool { return !c.done[keyOf(c.titled(p))] })
	})
	return c.visitEach(ctx, left, func(int, ranCase) {})
}

// titled is a case with the title that one of that plan has.
func (c *campaign) titled(p fault.Plan) result.Case {
	return result.Case{Name: p.String(), Pace: c.paceName()}
}

// visitEach runs groups and takes the results of their plans into the report, in the
// order of the plans. took is called from several goroutines.
func (c *campaign) visitEach(ctx context.Context, groups []group, took func(int, ranCase)) error {
	jobs := make([]job, len(groups))
	for i, g := range groups {
		jobs[i] = job{g, 0, func(r ranCase) {
			took(i, r)
			for _, like := range r.like {
				c.add(like)
			}
			c.add(r)
		}}
	}
	first, firstMissed := len(c.report.Cases), len(c.report.Missed)
	err := c.runAll(ctx, jobs)
	c.mu.Lock()
	defer c.mu.Unlock()
	order := map[string]int{}
	for i, p := range plansOf(groups) {
		order[c.titled(p).Title()] = i
	}
	added, missed := c.report.Cases[first:], c.report.Missed[firstMissed:]
	sort.SliceStable(added, func(i, j int) bool { return order[added[i].Title()] < order[added[j].Title()] })
	sort.SliceStable(missed, func(i, j int) bool { return order[missed[i]] < order[missed[j]] })
	return err
}

// Points are the labels of the effect points that a run without faults passes, in
// order.
//
// # Errors
//
// As Enumerate; *chaos.UsageError where the run itself fails.
func Points(ctx context.Context, o Options) (labels []string, r result.Report, err error) {
	r, err = with(ctx, "points", o, func(c *campaign, ctx context.Context) error {
		clean, err := c.clean(ctx)
		labels = clean.points
		if errors.Is(err, errFailedClean) {
			return nil
		}
		return err
	})
	return labels, r, err
}

// Replay runs one plan runs times.
func Replay(ctx context.Context, o Options, plan fault.Plan, runs int) (result.Report, error) {
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
func Random(ctx context.Context, o Options, seed uint64, runs int) (result.Report, error) {
	return with(ctx, "random", o, func(c *campaign, ctx context.Context) error {
		c.report.Seed = seed
		var err error
		if c.corpus, err = corpus.Open(c.Corpus); err != nil {
			return err
		}
		c.tell(0, "recording the points of a run without faults")
		clean, err := c.clean(ctx)
		if errors.Is(err, errFailedClean) {
			return nil
		}
		if err == nil {
			err = c.proves(clean)
		}
		if err != nil {
			return err
		}
		if err := c.openJournal(); err != nil {
			return err
		}
		c.report.Points, c.report.Questions = len(clean.points), clean.questions
		return c.swarm(ctx, clean, runs)
	})
}

// Shrink looks for a smaller plan that fails in the same way: one with fewer
// faults. A plan counts as failing when two runs of it do. The report's
// last case is the smallest that was found.
func Shrink(ctx context.Context, o Options, plan fault.Plan) (result.Report, error) {
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
		c.report.Cases = []result.Case{*best}
		return nil
	})
}

// failureKey names what is wrong with a case, whatever the facts.
func failureKey(r result.Case) string {
	if r.Outcome != result.Violated {
		return string(r.Outcome)
	}
	return r.Violations[0].Key()
}

// fails runs a plan twice and returns a case if both fail with the key, or with
// the same one if key is "".
func (c *campaign) fails(ctx context.Context, plan fault.Plan, key string) (*result.Case, error) {
	var results []result.Case
	for range 2 {
		out, err := c.visit(ctx, alone([]fault.Plan{plan}))
		if err != nil {
			return nil, err
		}
		results = append(results, out[0].result.Case)
	}
	for _, r := range results {
		if !r.Failed() || r.Outcome == result.Broken {
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
