package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/runtime/world"
)

// simulate runs the case in a simulation, and once more if its result must be
// known to depend on nothing but its seed.
func (r *caseRun) simulate(ctx context.Context) error {
	o := r.camp.Options
	if r.slot.seed != 0 {
		o.Seed = r.slot.seed
	}
	r.result.Order = o.Schedules > 0 && len(r.plan) > 0 && r.reorders()
	r.result.Seed, r.result.Replay = o.Seed, o.replay(r.plan)
	err := r.simulateOnce(ctx, o.Seed)
	if err != nil || ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	failed := r.result.Failed()
	if failed && len(r.plan) > 0 {
		r.result.Confirm = o.confirm(r.labelled(), r.result.Ms)
	}
	for _, plan := range r.like {
		c, err := r.likeness(ctx, plan)
		if err != nil {
			return err
		}
		r.result.like = append(r.result.like, c)
	}
	if (failed || o.SelfCheck) && o.Step == nil { // a person's kills are in no plan
		err = r.check(ctx, o.Seed)
	}
	r.result.lines = nil
	return err
}

// labelled is the plan with the labels of the points at which it killed: numbers
// mean nothing outside of one recorded history.
func (r *caseRun) labelled() fault.Plan {
	out, kills := append(fault.Plan{}, r.plan...), r.result.Kills
	for i := range out {
		if !out[i].IsKill() || len(kills) == 0 {
			continue
		}
		if out[i].Point != "" && kills[0].Point != "" {
			out[i] = out[i].At(kills[0].Point)
		}
		kills = kills[1:]
	}
	return out
}

// check runs the case again and compares: what differs is a bug of minido's, or
// of the harness.
func (r *caseRun) check(ctx context.Context, seed uint64) error {
	dir := filepath.Join(r.dir, "again")
	twin := &caseRun{camp: r.camp, slot: r.slot, plan: r.plan, lives: r.lives, dir: dir, pace: r.pace, events: io.Discard, explains: true, result: began(r.result.Name)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	if err := twin.simulateOnce(ctx, seed); err != nil {
		return err
	}
	r.result.Places = twin.struck
	for i, like := range r.result.like {
		if like.Failed() {
			r.result.like[i].Places = twin.placesOf(like)
		}
	}
	if twin.result.Digest == r.result.Digest {
		return os.RemoveAll(dir)
	}
	r.result.Outcome = result.Broken
	r.result.Text = "determinism: two runs of one seed differ: " + difference(r, twin)
	return nil
}

// difference names where two runs part.
func difference(one, two *caseRun) string {
	if text := world.FirstDifference(one.result.lines, two.result.lines); text != "" {
		return "in the log, " + text
	}
	lines := func(r *caseRun) (out []string) {
		for _, e := range r.history.Events() {
			out = append(out, fmt.Sprintf("%v %s %s %s %s %s", e.AtMs, e.Kind, e.Who, e.Op, e.Text, e.Data))
		}
		return out
	}
	return "in the clients' history, " + world.FirstDifference(lines(one), lines(two))
}

// simulateOnce is one run. What depends on what it knows of earlier ones is the time
// that it takes alone. Its errors are those of runCase.
func (r *caseRun) simulateOnce(ctx context.Context, seed uint64) error {
	w, err := r.slot.simWorld(r, seed)
	if err != nil {
		return err
	}
	err = r.once(ctx, w)
	r.result.PlayedBack, r.result.Digest, r.result.lines = w.playedBack, w.digest, w.system.Lines()
	return err
}
