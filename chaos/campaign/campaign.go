package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"sync"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/oracle"
	"minido.dev/minido/chaos/outside"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/stepper"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/crash"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
)

// frozenDir, in a campaign's directory, holds the bundles that its servers share:
// what is under test stays the same, also if its files change meanwhile.
const frozenDir = "frozen"

// campaign is what the slots of one campaign share. Its fields are immutable
// after open, but for the report.
type campaign struct {
	Options
	config    string    // the wrangler file
	versions  []version // the project, and those of Options.Then
	cache     string
	dir       string
	workshop  *evidence.Workshop // nil: cases run in dir
	clock     clock.Clock
	scheduler *sched.Threads
	checkers  []check.Checker
	until     time.Time      // no case begins after it; zero for no such limit
	order     []string       // in which a run without faults passed its points; nil before
	asked     Options        // as they were given
	journal   *journal       // nil for none
	corpus    *corpus.Corpus // of Random
	slots     []*slot
	nursery   *process.Nursery
	depth     int // after so many deaths no states are taken

	mu       sync.Mutex // guards everything below
	report   result.Report
	kept     result.Shelf
	done     map[uint64]bool      // cases of an earlier run of this campaign (keyOf)
	drawn    numbers              // of the plans that were run
	before   map[int]corpus.Entry // with plans that were drawn in an earlier run of this campaign
	planned  int
	cases    int // directories made
	recorded int // bytes of recordings
	marks    map[string]bool
	known    map[string]*reference   // runs without faults, by what was lost in them
	masks    map[maskOf]*oracle.Mask // that were learnt
	unharmed *oracle.State           // what this campaign's own run without faults left
	onto     *onto                   // of Repeat
	passing  map[string]int          // of what clients were told, how often a difference did not last
}

// with opens a campaign, runs it, and ends whatever it started.
func with(ctx context.Context, verb string, o Options, run func(*campaign, context.Context) error) (report result.Report, err error) {
	o, err = o.complete()
	if err == nil {
		err = resumable(o)
	}
	if err != nil {
		return result.Report{Verb: verb, Code: chaos.CodeOf(err)}, err
	}
	c := &campaign{Options: o, clock: clock.Real{}, checkers: check.All(), nursery: process.NewNursery(clock.Real{}, runtime.GOMAXPROCS(0))}
	c.report = result.Report{Verb: verb, Project: o.Project, Cases: []result.Case{}}
	if o.Shards > 0 {
		c.report.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
	}
	if c.bundles == nil {
		c.bundles = &server.Bundles{}
	}
	began := c.clock.Now()
	if o.For > 0 {
		c.until = began.Add(o.For)
	}
	c.asked = o
	err = c.open(ctx)
	if err == nil {
		err = run(c, ctx)
		err = errors.Join(err, c.close(), c.journal.close())
	}
	c.report.Ms = msBetween(began, c.clock.Now())
	c.report.Stopped = ctx.Err() != nil
	if !c.report.Stopped && (verb == "enumerate" || verb == "random") {
		c.report.Unmet = c.unmet()
	}
	if c.Script != nil && c.Script.Silent() {
		c.report.Warnings = append(c.report.Warnings, "check() of the scenario asserts nothing: it called no expect(), always(), sometimes() or eventually(), and did not throw")
	}
	c.report.Conclude()
	if err != nil {
		c.report.Code = codeOf(err)
	}
	return c.report, err
}

// codeOf is the exit code that goes with a fatal error.
func codeOf(err error) int {
	if errors.Is(err, process.ErrRefused) {
		return chaos.Usage
	}
	return chaos.CodeOf(err)
}

func (c *campaign) open(ctx context.Context) (err error) {
	if c.config, err = chaos.FindConfig(c.Project, c.Env, c.Vars); err != nil {
		return err
	}
	if c.dir, err = evidence.MakeDir(c.Dir, c.config, c.report.Verb); err != nil {
		return err
	}
	c.report.Dir = c.dir
	if err := c.openVersions(ctx); err != nil {
		return err
	}
	if c.cases, err = evidence.LastCase(c.dir); err != nil {
		return err
	}
	// That of `minido dev`: what it has transformed need not be done again.
	c.cache = filepath.Join(filepath.Dir(c.config), ".wrangler", "state", "minido-cache")
	c.scheduler = crash.NewThreads(c.clock)
	if c.Mode == Sim && !c.Keep && !c.Sigkill && c.Step == nil { // most cases leave nothing
		c.workshop = evidence.OpenWorkshop()
	}
	for range c.Jobs {
		s := &slot{camp: c}
		if c.Mode == Sim {
			c.slots = append(c.slots, s) // its upstreams belong to each case
			continue
		}
		if c.SinkVar != "" {
			if s.sink, err = outside.NewSink(c.scheduler); err != nil {
				return errors.Join(err, c.close())
			}
		}
		if c.AI != nil {
			if s.model, err = outside.NewModel(c.scheduler, *c.AI); err != nil {
				return errors.Join(err, s.close(), c.close())
			}
		}
		c.slots = append(c.slots, s)
	}
	return nil
}

// newDriver drives a new case; strict calls it a failure when a step fails.
func (c *campaign) newDriver(strict bool) (drive.Driver, error) {
	if c.Script != nil && len(c.Steps) == 0 {
		return c.Script.Driver()
	}
	return drive.NewSteps(c.Steps, drive.StepOptions{Strict: strict, Touch: c.Recover == chaos.ByRequest}), nil
}

func (c *campaign) close() error {
	errs := []error{c.workshop.Close()}
	for _, s := range c.slots {
		errs = append(errs, s.close())
	}
	if c.dir != "" {
		errs = append(errs, os.RemoveAll(filepath.Join(c.dir, frozenDir)))
	}
	ctx, cancel := wait.WithLimit(context.Background(), c.clock, serveLimit)
	defer cancel()
	return errors.Join(append(errs, c.scheduler.Close(ctx))...)
}

// caseDir names the directory in which the next case runs.
func (c *campaign) caseDir() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cases++
	return filepath.Join(c.workshop.Room(c.dir), fmt.Sprintf("case-%04d", c.cases))
}

// settle removes the evidence of a case that is over, or has it where it is kept.
func (c *campaign) settle(r *ranCase, keep bool) error {
	from := r.Dir
	r.Dir = ""
	if keep {
		r.Dir = filepath.Join(c.dir, filepath.Base(from))
	}
	for i := range r.like {
		r.like[i].Dir = r.Dir
	}
	if r.Dir == from {
		return nil
	}
	var err error
	if keep {
		if err = os.Mkdir(r.Dir, 0o700); err == nil {
			err = os.CopyFS(r.Dir, os.DirFS(from))
		}
	}
	if err = errors.Join(err, os.RemoveAll(from)); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	return nil
}

// tell reports a phase.
func (c *campaign) tell(planned int, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planned = planned
	c.Progress(result.Event{Campaign: &c.report, Planned: planned, Text: fmt.Sprintf(format, args...)})
}

// mark notes which marks a case has met, and which there are.
func (c *campaign) mark(marks []Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range marks {
		if c.note(m.Name, m.Met) {
			c.journal.write(entry{Marks: map[string]bool{m.Name: m.Met}})
		}
	}
}

// note takes what is known of a mark, and reports whether that is news. c.mu is held.
func (c *campaign) note(name string, met bool) bool {
	if c.marks == nil {
		c.marks = map[string]bool{}
	}
	before, known := c.marks[name]
	c.marks[name] = before || met
	return !known || met && !before
}

// unmet lists the marks that no case has met.
func (c *campaign) unmet() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for name, met := range c.marks { // order-independent: sorted below
		if !met {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// add takes a case into the report and the journal, unless an earlier run of this campaign
// has done so.
func (c *campaign) add(r ranCase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.number == 0 && c.done[keyOf(r.Case)] {
		return
	}
	e := entry{Case: &r.Case, N: r.number}
	if r.number > 0 && c.corpus.News(r.pairs) {
		e.Pairs, e.Points = r.pairs, r.points[:min(len(r.points), corpus.MaxPoints)]
	}
	if !c.kept.Room(r.Cause()) {
		less := short(r.Case)
		e.Case = &less
	}
	c.journal.write(e)
	if r.number > 0 {
		c.drawn.take(r.number)
	}
	c.count(r.Case)
	c.Progress(result.Event{Campaign: &c.report, Case: &r.Case, Planned: c.planned})
}

// count takes a case into the report. c.mu is held.
func (c *campaign) count(r result.Case) {
	c.kept.Put(&c.report, r)
	if r.SameAs == "" {
		c.report.Kills += r.Deaths()
		c.report.PlayedBack += r.PlayedBack
	} else {
		c.report.Same++
	}
	if r.Refused {
		c.report.Refused++
		if c.report.Verb == "enumerate" && c.Fault.IsKill() {
			c.report.Points-- // production does not hibernate an object there
		}
	}
	switch {
	case r.Outcome == result.Unreached:
		c.report.Unreached++
	case len(r.Missed) > 0:
		if len(c.report.Missed) < result.MaxKept {
			c.report.Missed = append(c.report.Missed, r.Title())
		}
	case r.Order:
		c.report.Schedules++
	case r.Visits(), c.Fault.Verb != "" && !r.Refused:
		c.report.Visited++
	}
}

// runs is Report.Runs so far.
func (c *campaign) runs() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report.Runs()
}

// wants reports whether the evidence of a case that failed is to be kept: there is no end
// of cases, but one of room.
func (c *campaign) wants(r ranCase) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(append(slices.Clone(r.like), r), func(one ranCase) bool { return !one.Outcome.OK() && c.kept.Room(one.Cause()) })
}

// over reports whether the campaign's time is, or whether it has found enough.
func (c *campaign) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.StopAfter > 0 && c.kept.Causes() >= c.StopAfter {
		c.report.Enough = c.kept.Causes()
	}
	return c.report.Enough > 0 || !c.until.IsZero() && !c.clock.Now().Before(c.until)
}

// paceName is Case.Pace of its cases.
func (c *campaign) paceName() string {
	if c.Pace == 0 {
		return ""
	}
	return c.Pace.String()
}

// leave counts the cases of a group that are not begun any more. How many are drawn
// depends on it anyway.
func (c *campaign) leave(g group) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report.Verb == "enumerate" {
		c.report.Left += len(g.all())
	}
}

// job is a plan to run, and what to do with its result.
type job struct {
	group
	seed uint64 // of a simulation; 0 is that of the options
	done func(ranCase)
}

// runAll runs the plans on all slots and returns the first fatal error. done is
// called from several goroutines, one at a time for each slot.
func (c *campaign) runAll(ctx context.Context, jobs []job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan job, len(jobs))
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	ends := make(chan error, len(c.slots))
	for _, s := range c.slots {
		c.scheduler.Go("slot", func() {
			err := s.work(ctx, queue)
			if err != nil {
				cancel(err) // the others need not go on
			}
			ends <- err
		})
	}
	var first error
	for range c.slots {
		if err := <-ends; err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	if cause := context.Cause(ctx); cause != nil && first != nil {
		return cause
	}
	return first
}

// work runs jobs until there is none.
func (s *slot) work(ctx context.Context, queue <-chan job) error {
	for j := range queue {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if s.camp.over() {
			s.camp.leave(j.group)
			continue
		}
		s.seed, s.last = j.seed, len(queue) == 0
		r, err := s.try(ctx, j.group)
		if err != nil {
			return err
		}
		j.done(r)
	}
	return nil
}

// run is runCase in the next directory. What ends the campaign keeps its evidence,
// unless that is the end of ctx.
func (s *slot) run(ctx context.Context, g group) (ranCase, error) {
	r, err := s.runCase(ctx, g, s.camp.caseDir())
	if errors.Is(err, world.ErrAstray) && ctx.Err() == nil { // what was recorded does not help here
		if err = os.RemoveAll(r.Dir); err != nil {
			return r, fmt.Errorf("campaign: %w", err)
		}
		g.known = nil
		r, err = s.runCase(ctx, g, s.camp.caseDir())
	}
	for s.camp.Step != nil && ctx.Err() == nil && (errors.Is(err, stepper.ErrRewound) || err == nil && s.camp.Step.Over()) {
		if err = os.RemoveAll(r.Dir); err != nil {
			return r, fmt.Errorf("campaign: %w", err)
		}
		r, err = s.runCase(ctx, g, r.Dir)
	}
	switch {
	case err == nil:
	case ctx.Err() == nil:
		err = errors.Join(err, s.camp.settle(&r, true))
	default: // a case that was cut says nothing
		err = errors.Join(err, s.camp.settle(&r, s.camp.Keep))
	}
	return r, err
}

// repeats is how often a plan is run again, with real processes, of which nothing but a
// difference from runs without faults has been found.
const repeats = 2

// repeating decides about these runs. Runs without faults are simulated, and take no time;
// a busy machine may take so much that, say, an alarm fires more often. What is found must
// come again.
type repeating struct{ left int }

// again reports whether the plan is to be run again after r; a difference that has not
// come again is none.
func (p *repeating) again(r *ranCase) bool {
	differs := r.Outcome == result.Violated && !slices.ContainsFunc(r.Violations, func(v check.Violation) bool { return v.Checker != differential })
	switch {
	case p.left == 0 && differs:
		p.left = repeats
		return true
	case p.left == 0 || r.Outcome != result.Passed:
		return false
	}
	if p.left--; p.left == 0 {
		r.Uncompared = unrepeated
	}
	return p.left > 0
}

// try runs a plan, again while its fault does not happen, and after a difference that may
// come from time alone. The evidence of what passed goes, unless it is to be kept.
func (s *slot) try(ctx context.Context, g group) (ranCase, error) {
	var repeating repeating
	for n := 1; ; n++ {
		r, err := s.run(ctx, g)
		r.Tries = n
		if err != nil {
			return r, err
		}
		// What was drawn need not be there: another order of events has fewer points,
		// and the first of two faults may take the second one's moment away, as the delay
		// of one message does with that of another.
		drawn := s.camp.report.Verb == "random" && (s.camp.Mode == Sim || len(g.plan) > 1) || r.Order && len(g.plan) > 1
		if drawn && r.Outcome == result.Missed {
			r.Outcome = result.Unreached
		}
		again := r.Outcome == result.Missed && n < MaxTries && s.camp.Mode != Sim || s.camp.Mode == Process && repeating.again(&r)
		keep := s.camp.Keep || !again && s.camp.wants(r)
		if err := s.camp.settle(&r, keep); err != nil {
			return r, err
		}
		if !again {
			return r, s.pin(ctx, g, &r)
		}
	}
}
