package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/checkout"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/killpoint"
)

// version is the project as some lives of a case load it. Immutable.
type version struct {
	given  string // as the user named it
	config string // the wrangler file
	name   string // of the worker, in place of the file's; "" for the first version
	root   string // directory of the whole source tree, "" if the user has it
}

// openVersions finds the versions that follow the project's (Options.Then).
func (c *campaign) openVersions(ctx context.Context) error {
	first, err := chaos.LoadProject(c.Project, c.Env, c.Vars)
	if err != nil {
		return err
	}
	c.versions = []version{{given: c.Project, config: c.config}}
	for i, given := range c.Then {
		v := version{given: given, name: first.Name}
		path := given
		if _, err := os.Stat(given); errors.Is(err, fs.ErrNotExist) {
			if path, v.root, err = c.checkOut(ctx, given, i); err != nil {
				return err
			}
		}
		if v.config, err = chaos.FindConfig(path, c.Env, c.Vars); err != nil {
			return err
		}
		c.versions = append(c.versions, v)
	}
	return nil
}

// checkOut writes the project as it is in a commit into the campaign's directory, and
// returns where that is there. Packages are those that are installed now.
func (c *campaign) checkOut(ctx context.Context, ref string, n int) (project, root string, err error) {
	root = filepath.Join(c.dir, frozenDir, fmt.Sprintf("then-%d", n+1))
	there, err := checkout.Commit(ctx, filepath.Dir(c.config), ref, root)
	if err != nil {
		return "", "", &chaos.UsageError{Text: fmt.Sprintf("--then %s: %v", ref, err)}
	}
	return filepath.Join(there, filepath.Base(c.config)), root, nil
}

// deploys are n versions, each deployed at rest.
func deploys(n int) fault.Plan { return slices.Repeat(fault.Plan{{Deploy: true}}, n) }

// newest is how many versions follow the first.
func (c *campaign) newest() int { return len(c.versions) - 1 }

// version is what the present life loads.
func (r *caseRun) version() version { return r.camp.versions[r.at] }

// follow sets what the next life loads, once one has ended by f: each end is followed by the
// next version, and one at rest with nothing planned by a life that only wakes objects.
func (r *caseRun) follow(f *fault.Fault) {
	r.waking, r.toWake, r.atRest = r.toWake, false, f != nil && f.Deploy
	if !r.waking && r.at < r.camp.newest() {
		r.at++
	}
}

// wakes reports whether a life that is at rest, and that f is to end, has its objects woken
// now: none is left to recover by itself, or the next version comes.
func (r *caseRun) wakes(f *fault.Fault) bool {
	return r.at > 0 && !r.woken && (r.atRest || r.waking || f != nil && f.Deploy)
}

// wake has every stored object constructed by the version that lives now, as its next
// event would. What fails is a finding.
func (r *caseRun) wake(ctx context.Context) error {
	r.woken = true
	unborn, err := r.world.Wake(ctx)
	for _, text := range unborn {
		r.unborn = append(r.unborn, text+" (constructed by "+r.version().given+")")
	}
	return err
}

// upgrade is the name among checkers of what a new version must do.
const upgrade = "upgrade"

// upgraded are the objects that a version could not construct and, where nothing but new
// versions has happened, the requests that the first version answers.
func (r *caseRun) upgraded(ctx context.Context, e check.Evidence) (out []check.Violation, err error) {
	for _, text := range r.unborn {
		out = append(out, check.Violation{Checker: upgrade, Invariant: "opens", Text: text})
	}
	if !r.plan.Deploys() || !r.camp.refers() {
		return out, nil
	}
	before := r.referTo(ctx, 0, nil, drive.Breaks{}, nil)
	if before.err != nil || before.state == nil {
		return out, before.err
	}
	for _, v := range failures(e, before.broken, nil) {
		v.Checker, v.Invariant = upgrade, "answers"
		v.Text = strings.TrimSuffix(v.Text, succeeds) + "; " + r.camp.Project + " answers it"
		out = append(out, v)
	}
	return out, nil
}

// startOf is the begin of a life, for the history.
func (r *caseRun) startOf(n int) history.Event {
	e := history.Event{Kind: history.Start, Who: serverName(n)}
	if r.camp.newest() > 0 {
		e.Text = r.version().given
	}
	return e
}

// places are the plans of deployments at rest of the runs that one whose lives have ended
// so is compared with: the new version may as well have come at any moment between the
// last answer before the death and the last request.
func (r *caseRun) places() []fault.Plan {
	all := []fault.Plan{nil}
	for i, e := range r.ends {
		if i == r.camp.newest() {
			break
		}
		var next []fault.Plan
		for _, p := range all {
			for k := e.answered; k <= e.sent; k++ {
				next = append(next, append(slices.Clone(p), fault.Fault{Deploy: true, Step: k + 1}))
			}
		}
		all = next
	}
	return all
}

// lifeEnd is how many steps clients had sent when a life with a version to follow ended, and
// how many of these had been answered.
type lifeEnd struct{ sent, answered int }

// upgradeAtRest runs the clients without a fault, and deploys all versions at rest.
func (c *campaign) upgradeAtRest(ctx context.Context) (ranCase, error) {
	c.tell(0, "recording the points of a run without faults that deploys %s at rest", strings.Join(c.Then, ", then "))
	return c.unharmedBy(ctx, deploys(c.newest()))
}

// upgrades are the plans of a campaign whose versions follow each other: deaths in the life
// of the first one, each of which the next recovers; deaths while a new version opens
// what another has left at rest; and new versions between two steps of the clients.
func (c *campaign) upgrades(clean, upgraded ranCase) (plans []fault.Plan) {
	add := func(before fault.Plan, label string, left int) {
		f := c.Fault.At(label)
		if at, err := killpoint.ParseLabel(label); !f.Happens() || err == nil && at.Cause == killpoint.Question {
			return
		}
		if f.IsKill() {
			left--
		}
		plans = append(plans, slices.Concat(before, fault.Plan{f}, deploys(max(left, 0))))
	}
	for _, label := range clean.points {
		add(nil, label, c.newest())
	}
	for i, labels := range upgraded.passed {
		for _, label := range labels {
			if i > 0 {
				add(deploys(i), label, c.newest()-i)
			}
		}
	}
	for k := 2; k <= clean.steps; k++ {
		var p fault.Plan // each version does one step, and the last what is left
		for i := range c.newest() {
			if k+i <= clean.steps {
				p = append(p, fault.Fault{Deploy: true, Step: k + i})
			} else {
				p = append(p, fault.Fault{Deploy: true})
			}
		}
		plans = append(plans, p)
	}
	return plans
}

// maxPlaces bounds how many moments of its deployments a run is compared with, and with how
// many of them is learnt what depends on the version that has written it.
const maxPlaces = 16

// elsewhere are deployments between the clients' steps, whose number is known.
func (c *campaign) elsewhere(steps int) (plans []fault.Plan) {
	for k := 1; k <= steps; k += max(1, (steps+maxPlaces-1)/maxPlaces) {
		plans = append(plans, append(fault.Plan{{Deploy: true, Step: k}}, deploys(c.newest()-1)...))
	}
	return plans
}
