// Package confirm runs the findings of a campaign on the user's own workerd, the
// specification of minido's behaviour, and reports which of them reproduce there.
package confirm

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/campaign"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/workerd"
	"minido.dev/minido/internal/clock"
)

// Options say how findings are run.
type Options struct {
	// Campaign are those of the campaign that found them.
	Campaign campaign.Options
	Tool     workerd.Tool
	// Tries is how many runs a finding gets at most, For how long they may take together: no
	// run begins after it. Runs without a fault do not count.
	Tries int
	For   time.Duration
	Clock clock.Clock
}

// Findings runs the plan of an example of each finding of a report, until a run violates
// the same, and notes in the report what became of it (result.Case.Workerd). The runs that
// theirs are compared with happen on workerd, too. Only deaths of the process can be had there.
//
// # Errors
//
// ctx's cause; what made the harness itself fail. Why one finding cannot be run is no error.
func Findings(ctx context.Context, o Options, r *result.Report) error {
	tell := o.Campaign.Progress
	say := func(format string, args ...any) {
		if tell != nil {
			tell(result.Event{Campaign: r, Text: fmt.Sprintf(format, args...)})
		}
	}
	findings := r.Findings()
	for i, f := range findings {
		example := best(f.Cases)
		if example == nil {
			continue // the report has counted its cases alone
		}
		result := workerd.Result{By: o.Tool.Name(), Tries: o.Tries, Why: impossible(*example)}
		if result.Why == "" {
			say("on %s, finding %d of %d: %s", result.By, i+1, len(findings), example.Title())
			if err := o.run(ctx, *example, filepath.Join(r.Dir, "workerd"), &result); err != nil {
				return err
			}
		}
		say("%s: %s", f.Cause, result)
		for n := range r.Cases {
			if r.Cases[n].Title() == example.Title() {
				r.Cases[n].Workerd = &result
			}
		}
	}
	return nil
}

// best is the case of a finding that is the best to run on a real clock: one that can be
// run, whose clients do not wait, with the fewest deaths.
func best(cases []result.Case) *result.Case {
	worse := func(c result.Case) (n int) {
		if impossible(c) != "" {
			n += 2 << 20
		}
		if c.Pace != "" {
			n += 1 << 20
		}
		return n + len(c.Kills)
	}
	var found *result.Case
	for i := range cases {
		if found == nil || worse(cases[i]) < worse(*found) {
			found = &cases[i]
		}
	}
	return found
}

// impossible says why a case cannot be run on workerd, or "".
func impossible(c result.Case) string {
	plan, err := fault.ParsePlan(c.Name)
	switch {
	case err != nil:
		return err.Error()
	case c.Outcome != result.Violated:
		return fmt.Sprintf("it is %s, and what can be seen there is violations", c.Outcome)
	case len(plan) == 0:
		return "it needs no fault"
	case c.Dir == "":
		return "its evidence was not kept, which shows when its death comes"
	case c.Deaths() != len(c.Kills):
		return "another version of the project follows in it (--then), and wrangler runs one"
	}
	for _, f := range plan {
		switch {
		case f.Power:
			return fmt.Sprintf("%s is a loss of power; a process can only die there", f)
		case f.Skew != 0:
			return fmt.Sprintf("%s needs machines with different clocks, and workerd runs on one", f)
		case !f.IsKill() || f.Deploy:
			return fmt.Sprintf("%s is no death of the process, and workerd has no other faults", f)
		}
	}
	return ""
}

// run tries a finding.
func (o Options) run(ctx context.Context, found result.Case, dir string, out *workerd.Result) error {
	plan, err := fault.ParsePlan(found.Name)
	if err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	events, err := history.ReadFile(filepath.Join(found.Dir, "history.ndjson"))
	if err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	least := workerd.Recovery(events)
	if limit := max(o.Campaign.Timeout, campaign.DefaultTimeout); least > limit {
		out.Why = fmt.Sprintf("its recovery takes %v, and workerd has no virtual clock; --timeout allows it", least.Round(time.Second))
		return nil
	}
	on := campaign.OnWorkerd{Tool: o.Tool, Least: least}
	for n, f := range plan {
		m, err := workerd.MomentOf(events, n, filepath.Join(found.Dir, fmt.Sprintf("death-%d", n+1)))
		if err != nil {
			return fmt.Errorf("confirm: %w", err)
		}
		m.After = f.After
		on.Moments = append(on.Moments, m)
	}
	c := o.Campaign
	c.Dir, c.Resume, c.Observe, c.Then = dir, false, nil, nil
	c.Progress = nil
	if c.Pace, err = paceOf(found); err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	var until time.Time // the runs that tries are compared with do not count
	on.Again = func(r result.Case, how string) (again, keep bool) {
		if out.Run == 0 {
			until = o.Clock.Now().Add(o.For - time.Duration(r.Ms*float64(time.Millisecond)))
		}
		return o.take(r, found, how, !o.Clock.Now().Before(until), out)
	}
	err = campaign.Repeat(ctx, c, plan, on)
	if ctx.Err() == nil && chaos.IsUsage(err) {
		out.Why, err = err.Error(), nil
	}
	return err
}

func paceOf(c result.Case) (time.Duration, error) {
	if c.Pace == "" {
		return 0, nil
	}
	return time.ParseDuration(c.Pace)
}

// take takes the result of a try, and says whether another one follows and whether its
// evidence is kept.
func (o Options) take(r, found result.Case, how string, late bool, out *workerd.Result) (again, keep bool) {
	out.Run++
	same, other := compared(r, found)
	switch {
	case same:
		out.Reproduced, out.Try, out.How, out.Dir = true, out.Run, how, r.Dir
		for _, v := range r.Violations {
			out.Violated = append(out.Violated, v.String())
		}
		return false, true
	case r.Outcome == result.Violated:
		out.Other = append(out.Other, other...)
		slices.Sort(out.Other)
		out.Other = slices.Compact(out.Other)
	case r.Outcome == result.Missed:
		out.Missed++
	case r.Outcome != result.Passed:
		out.Why = fmt.Sprintf("a run was %s: %s", r.Outcome, r.Text)
		return false, true
	case r.Uncompared != "":
		out.Why = "a run could not be compared: " + r.Uncompared
		return false, true
	}
	if out.Run >= o.Tries {
		return false, false
	}
	if late {
		out.Why = fmt.Sprintf("its time was over (--confirm-for %v)", o.For)
	}
	return !late, false
}

// compared reports whether a run violates something that the finding violates, and what
// else it violates.
func compared(r, found result.Case) (same bool, other []string) {
	if r.Outcome != result.Violated {
		return false, nil
	}
	known := found.Causes()
	for _, cause := range r.Causes() {
		if slices.Contains(known, cause) {
			same = true
		} else {
			other = append(other, cause)
		}
	}
	return same, other
}
