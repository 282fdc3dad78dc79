package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/oracle"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/symptom"
	"minido.dev/minido/internal/killpoint"
)

// play is the life cycle of a case: a life for each kill of the plan and one more,
// each driven, interrupted and closed; and when one becomes idle, or to another end
// than its death, the verdict. Checkers always have the last word: also where a
// fault did not happen, where the clients gave up, or where there is no rest.
func (r *caseRun) play(ctx context.Context) error {
	for n := 0; ; n++ {
		var life fault.Plan
		if n < len(r.lives) { // a person may kill more often (Options.Step)
			life = r.lives[n]
		}
		died, err := r.live(ctx, n, life)
		born := r.reference != nil && r.reference.birth != ""
		if died && born && r.camp.newest() == 0 {
			left, err := r.world.Death()
			if err != nil {
				return err
			}
			return r.reference.take(r, left.dir, false)
		}
		if died {
			r.idle = born
			if err := r.bury(n, life); err != nil {
				return err
			}
			if f := life.Kill(); f != nil {
				if r.skews, err = r.skews.After(*f, r.result.Kills[len(r.result.Kills)-1].Point); err != nil {
					return fmt.Errorf("campaign: %w", err)
				}
			}
			r.follow(life.Kill())
			continue
		}
		var early *end
		if err != nil && !errors.As(err, &early) {
			return err
		}
		return errors.Join(err, r.judge(ctx, n, life, err != nil && early.outcome != result.Missed))
	}
}

// live runs one life: until its kill has ended it, or until the system is at rest.
func (r *caseRun) live(ctx context.Context, n int, life fault.Plan) (dead bool, err error) {
	who := serverName(n)
	r.history.Add(r.startOf(n))
	r.woken = false
	b, err := r.world.Begin(ctx, n, life)
	if errors.Is(err, errDied) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	ready := history.Event{Kind: history.Ready, Who: who, Text: b.url}
	if b.pid != 0 {
		ready.Data = json.RawMessage(fmt.Sprintf(`{"pid":%d}`, b.pid))
	}
	r.history.Add(ready)
	if k := len(r.result.Kills); k > 0 {
		r.result.Kills[k-1].ReadyMs = b.readyMs
	}
	if !r.waking && !r.idle {
		hold := 0
		if f := life.Kill(); f != nil {
			hold = f.Step
		}
		r.session.Hold(hold)
		r.world.Drive(ctx, r.driver)
	}
	dead, err = r.attend(ctx, life.Kill())
	return dead, r.world.Leave(dead, err)
}

func serverName(n int) string { return fmt.Sprintf("server-%d", n+1) }

// attend waits for the end of a life: its death by f, or the system's rest.
func (r *caseRun) attend(ctx context.Context, f *fault.Fault) (dead bool, err error) {
	for {
		h, err := r.world.Next(ctx, r.driver)
		if err != nil {
			if !r.driver.Finished() {
				r.awaited = history.Awaited(r.history.Events())
			}
			return false, err
		}
		switch h.what {
		case died:
			return true, nil
		case due:
			return true, r.world.Kill()
		case driven:
			if r.session.Held() && errors.Is(h.err, drive.ErrUnsent) {
				if f != nil && !f.Deploy {
					return true, r.world.Kill()
				}
				continue // its clients go on in the next life
			}
			if err := r.stopped(h.err); err != nil {
				return false, err
			}
			if !r.driver.Finished() {
				r.world.Drive(ctx, r.driver)
			} else if r.reference != nil && r.session.Breaking() {
				r.world.Drive(ctx, breakRest{})
			}
		case rested:
			if r.wakes(f) {
				if err := r.wake(ctx); errors.Is(err, errDied) {
					return true, nil
				} else if err != nil {
					return false, err
				}
				continue
			}
			switch {
			case f != nil && f.Deploy:
				return true, r.world.Kill()
			case f != nil && f.After > 0: // nothing would happen until then
				return true, r.world.Kill()
			case f != nil:
				r.miss(*f, "the system came to rest before")
			case !r.driver.Finished() && !r.waking && !r.idle:
				return false, ended(result.Broken, "the clients have not done all that they should")
			case r.at > 0 && !r.woken:
				r.toWake = true // what has recovered by itself is judged as it is now
				return true, r.world.Kill()
			}
			return false, nil
		}
	}
}

// stopped looks at how the driver ended while the server lives.
func (r *caseRun) stopped(err error) error {
	var failure *drive.Failure
	switch {
	case errors.As(err, &failure):
		return r.failed(failure)
	case errors.Is(err, drive.ErrUnsent):
		return fmt.Errorf("campaign: the server lives and cannot be reached: %w", err)
	case err == nil, errors.Is(err, agentrpc.ErrLost):
		return nil // the worker itself closed the socket: its checkers say whether it may
	}
	return err
}

// failed is what a driver's failure means.
func (r *caseRun) failed(f *drive.Failure) error {
	switch {
	case len(r.plan) == 0 && r.reference == nil:
		return &chaos.UsageError{Text: "without any fault, " + f.Text}
	case f.Refused && r.plan.Spoils():
		return nil // an answer that a fault may have spoilt: the clients have done what they could
	}
	return ended(result.Violated, "%w", f)
}

// miss notes a fault that did not happen.
func (r *caseRun) miss(f fault.Fault, why string) {
	r.result.Missed = append(r.result.Missed, f.String())
	r.missed = append(r.missed, fmt.Sprintf("%s did not happen: %s", f, why))
}

// bury takes down what a death left behind.
func (r *caseRun) bury(n int, life fault.Plan) error {
	at := float64(r.history.Elapsed().Microseconds()) / 1000
	left, err := r.world.Death()
	if err != nil {
		return err
	}
	if err := r.take(n, life, left); err != nil {
		return err
	}
	k := result.Kill{AtMs: at, Deploy: r.toWake}
	f := life.Kill()
	switch i := len(left.points); {
	case r.toWake:
		k.Point = history.AtRest
	case f != nil && f.Deploy:
		k.Deploy, k.Point = true, f.String()
	case f != nil && f.Step > 0:
		k.Point = f.Before()
	case i > 0:
		k.Point = left.points[i-1].Label
	}
	if r.at > 0 && r.at < r.camp.newest() && !k.Deploy {
		r.between = true
	}
	if !r.waking {
		r.passed = append(r.passed, labelsOf(left.points))
	}
	sent, answered := r.session.Steps()
	r.ends = append(r.ends, lifeEnd{sent, answered})
	r.history.Add(history.Event{Kind: history.Kill, Who: serverName(n), Text: k.Point})
	// The files are read when the case is over: the next server must not wait for it.
	r.copies = append(r.copies, left.copied)
	r.result.Kills = append(r.result.Kills, k)
	return r.world.Bury()
}

// take has the history say what happened in a life, and completes the times of the
// death before it.
func (r *caseRun) take(n int, life fault.Plan, left remains) error {
	began := r.world.Now().Add(-r.history.Elapsed())
	r.place(life, left.points)
	for i, p := range left.points {
		e := history.Event{Kind: history.Point, Who: serverName(n), Text: p.Label}
		if p.AtNs != 0 {
			passed := history.Passed{AtMs: msBetween(began, time.Unix(0, p.AtNs))}
			if left.after != nil {
				passed.After = &left.after[i]
			}
			at, err := json.Marshal(passed)
			if err != nil {
				return fmt.Errorf("campaign: %w", err)
			}
			e.Data = at
		}
		r.history.Add(e)
	}
	if p, recovered := firstCommit(left.points); recovered && n > 0 && p.AtNs != 0 && !left.since.IsZero() {
		r.result.Kills[n-1].RecoveredMs = msBetween(left.since, time.Unix(0, p.AtNs))
	}
	return r.takeActs(began, life, left.acted)
}

// takeActs takes what was done in a life beside its kill into the history. A fault
// whose point was not passed was missed; one that production would not have done
// then was refused.
func (r *caseRun) takeActs(began time.Time, life fault.Plan, acted []process.Acted) error {
	done := map[string]bool{}
	for _, a := range acted {
		done[a.Fault] = true
		text := a.Fault
		blow := history.Blow{AtMs: msBetween(began, time.Unix(0, a.AtNs))}
		if f, err := fault.Parse(a.Fault); err == nil {
			blow.Ends, blow.Cuts = f.EndsObjects() && a.Refused == "", f.CutsSocket() && a.Refused == ""
		}
		switch {
		case a.Error != "":
			return fmt.Errorf("campaign: %s failed: %s", a.Fault, a.Error)
		case a.Refused != "":
			text += " was refused: " + a.Refused
			r.result.Refused, r.result.Text = true, text
		}
		at, err := json.Marshal(blow)
		if err != nil {
			return fmt.Errorf("campaign: acts: %w", err)
		}
		r.history.Add(history.Event{Kind: history.Note, Who: history.ByFault, Text: text, Data: at})
	}
	for _, f := range life {
		if f.Verb != "" && !done[f.String()] {
			r.miss(f, "the server did not pass its point")
		}
	}
	return nil
}

func msBetween(from, to time.Time) float64 { return float64(to.Sub(from).Microseconds()) / 1000 }

func labelsOf(points []process.Point) (labels []string) {
	for _, p := range points {
		labels = append(labels, p.Label)
	}
	return labels
}

// firstCommit is the first of points that follows a commit.
func firstCommit(points []process.Point) (process.Point, bool) {
	for _, p := range points {
		if at, err := killpoint.ParseLabel(p.Label); err == nil && at.Kind == killpoint.Commit && at.Side == killpoint.After {
			return p, true
		}
	}
	return process.Point{}, false
}

// judge ends the last life, reads what all of them left, and asks the checkers.
// restless says that the last one never became idle.
func (r *caseRun) judge(ctx context.Context, n int, life fault.Plan, restless bool) error {
	left, err := r.world.End()
	if err != nil {
		return err
	}
	if err := r.take(n, life, left); err != nil {
		return err
	}
	labels := labelsOf(left.points)
	if r.waking { // the life before is the one whose points a plan names
		labels = r.passed[len(r.passed)-1]
	} else {
		r.passed = append(r.passed, labels)
	}
	for i, label := range labels {
		if r.result.pass(label) && left.states != nil && r.at == 0 {
			r.result.states = append(r.result.states, left.states[i])
		}
	}
	r.result.trace, r.result.passed = left.trace, r.passed
	if r.at == 0 {
		r.result.recording = left.recording
	}
	r.result.steps, _ = r.session.Steps()
	for _, never := range r.lives[min(n+1, len(r.lives)):] {
		for _, f := range never {
			r.miss(f, "the life that it belongs to never began")
		}
	}
	r.askedFor()
	return r.verdict(ctx, left.copied, restless, left.bounded)
}

// askedFor checks that the upstreams were asked often enough for their faults, and
// notes how often.
func (r *caseRun) askedFor() {
	if r.model != nil {
		r.result.asked = r.model.Arrived()
	}
	if r.sink != nil {
		r.result.effects = r.sink.Arrived()
	}
	for _, f := range r.plan {
		if f.Upstream == nil {
			continue
		}
		n := r.result.asked
		if f.Sink {
			n = r.result.effects
		}
		if n < f.Upstream.Request {
			r.miss(f, fmt.Sprintf("%d requests came", n))
		}
	}
}

// verdict asks the checkers, once the files at rest are in end.
func (r *caseRun) verdict(ctx context.Context, end copied, restless, bounded bool) error {
	if r.reference != nil {
		return r.reference.take(r, end.dir, restless)
	}
	deaths, err := r.readDeaths()
	if err != nil {
		return err
	}
	r.end = end
	last := end
	if r.waking {
		last = r.copies[len(r.copies)-1]
	}
	rest, err := last.read(true)
	if err != nil {
		return err
	}
	r.evidence = &check.Evidence{Events: r.history.Events(), Deaths: deaths, Rest: rest, Restless: restless, Bounded: bounded, Models: r.camp.Models}
	if err := r.readState(end.dir); err != nil {
		return err
	}
	if r.camp.corpus != nil {
		if r.result.pairs, err = r.pairsOf(end.dir); err != nil {
			return err
		}
	}
	if err := r.ask(ctx, &r.result.Case, *r.evidence); err != nil {
		return err
	}
	if err := r.teach(end.dir); err != nil {
		return err
	}
	for _, v := range r.result.Violations {
		r.history.Add(history.Event{Kind: history.Note, Who: history.ByChecker, Text: v.String()})
	}
	return nil
}

// readDeaths reads the files of each death, counts what it cut, and says how long
// what it left had to wait.
func (r *caseRun) readDeaths() ([]check.Snapshot, error) {
	var out []check.Snapshot
	for i, c := range r.copies {
		s, err := c.read(false)
		if err != nil {
			return nil, err
		}
		for _, o := range s.Objects {
			r.result.Kills[i].Fibers += len(o.Fibers.Interrupted())
		}
		waited(&r.result.Kills[i], s)
		out = append(out, s)
	}
	return out, nil
}

// ask takes into c what the checkers say to e.
func (r *caseRun) ask(ctx context.Context, c *result.Case, e check.Evidence) error {
	c.Violations, c.Checkers = check.Judge(r.camp.checkers, e)
	if r.at > 0 {
		found, err := r.upgraded(ctx, e)
		if err != nil {
			return err
		}
		c.Violations, c.Checkers = append(c.Violations, found...), append(c.Checkers, upgrade)
	}
	if r.camp.Script != nil {
		found, marks, err := r.camp.Script.Check(r.driver, e)
		if err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
		r.camp.mark(marks)
		c.Violations = append(c.Violations, found...)
		c.Checkers = append(c.Checkers, "scenario")
	}
	if r.state != nil {
		found, not, err := r.compare(ctx, e, len(c.Violations) > 0)
		if err != nil {
			return err
		}
		c.Violations = append(c.Violations, found...)
		if c.Uncompared = not; not == "" {
			c.Checkers = append(c.Checkers, differential)
		}
	}
	if len(c.Violations) > 0 {
		c.Outcome, c.Names = result.Violated, symptom.Names(c.Violations, e.Events)
	}
	return nil
}

// conclude gives the case its outcome; what remains is fatal. A violation outranks
// a fault that did not happen, and the report has both.
func (r *caseRun) conclude(err error) error {
	if chaos.IsUsage(err) || isFatal(err) {
		return err
	}
	texts := append([]string{}, r.missed...)
	switch {
	case err != nil:
		r.result.Outcome = result.Broken
		var e *end
		if errors.As(err, &e) {
			r.result.Outcome = e.outcome
		}
		if r.hangs() {
			v := check.Violation{Checker: differential, Invariant: oracle.Hang, Text: err.Error() + "; without the fault it comes to rest"}
			r.result.Outcome, r.result.Violations = result.Violated, append(r.result.Violations, v)
			r.history.Add(history.Event{Kind: history.Note, Who: history.ByChecker, Text: v.String()})
		}
		text := err.Error()
		if r.awaited != "" && r.result.Outcome != result.Broken {
			text += ": " + r.awaited
		}
		texts = append([]string{text}, texts...)
	case r.result.Outcome == result.Passed && len(r.missed) > 0:
		r.result.Outcome = result.Missed
	}
	if len(texts) == 0 {
		return nil
	}
	if r.result.Text != "" {
		texts = append(texts, r.result.Text)
	}
	r.result.Text = strings.Join(texts, "\n")
	r.history.Add(history.Event{Kind: history.Note, Who: history.ByHarness, Text: string(r.result.Outcome) + ": " + r.result.Text})
	return nil
}

// hangs reports whether it is the fault's doing that the run did not come to rest: the run
// without one did. How long real processes take also depends on the machine, and a shorter
// timeout than DefaultTimeout may cut off a recovery that an alarm would have begun.
func (r *caseRun) hangs() bool {
	return r.result.Outcome == result.Restless && r.camp.Timeout >= DefaultTimeout && r.camp.Mode == Sim && r.reference == nil && !r.camp.NoDifferential && r.camp.report.Verb != "random" &&
		len(r.plan) > 0 && len(r.missed) == 0 &&
		!slices.ContainsFunc(r.plan, func(f fault.Fault) bool { return !f.IsKill() && !f.OfMessage() && f.Verb != fault.Hibernate })
}

// waited sets WaitedMs of k: from when the next server was ready until the first alarm of s
// was due, or something else had the system work again.
func waited(k *result.Kill, s check.Snapshot) {
	due := math.Inf(1)
	for _, o := range s.Objects {
		if o.Row.Set {
			due = min(due, msBetween(s.At, o.Row.At))
		}
	}
	if !math.IsInf(due, 1) { // else it was no alarm that had it work again
		k.WaitedMs = max(0, min(due, k.RecoveredMs)-k.ReadyMs)
	}
}
