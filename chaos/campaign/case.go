package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/cut"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/oracle"
	"minido.dev/minido/chaos/outside"
	"minido.dev/minido/chaos/place"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/runtime/world"
)

// caseRun is one run of a plan: its life cycle (life.go) in a World. Confined to its
// slot's goroutine.
type caseRun struct {
	camp     *campaign
	slot     *slot
	plan     fault.Plan
	lives    []fault.Plan // of the plan
	like     []fault.Plan // that this run stands for, too
	known    []*world.Recording
	dir      string
	events   io.Writer // gets the history
	log      *os.File  // gets what the servers write; nil if that is dropped
	world    World
	history  *history.Recorder
	session  *drive.Session
	driver   drive.Driver
	model    *outside.Model // nil without one
	sink     *outside.Sink  // nil without one
	copies   []copied
	missed   []string        // why faults did not happen
	awaited  string          // what clients waited for when the run ended before they did
	evidence *check.Evidence // that was judged; nil before
	state    *oracle.State   // at rest; nil where it is not compared
	pace     time.Duration   // of the clients
	slow     bool            // pace is how slow the machine was (slowness), and quick is that of the clients
	quick    time.Duration
	end      copied    // the files at rest
	begin    time.Time // of the simulation, zero for its usual one
	// asking is a run that only shows whether what clients are told otherwise lasts.
	asking   bool
	told     []oracle.Difference // of such a run
	at       int                 // of camp.versions: what the present life loads
	ends     []lifeEnd           // of the lives so far
	skews    fault.Skews         // from the next life on
	waking   bool                // the present life only wakes what the last one has left at rest
	atRest   bool                // the present life was deployed at rest
	woken    bool                // the present life has had every object constructed
	toWake   bool                // the next life will
	between  bool                // a death has cut a version that another one follows
	idle     bool                // clients do nothing in the present life
	passed   [][]string          // the labels of the points of each life, but of one that wakes
	unborn   []string            // objects that could not be
	explains bool                // its points say where in the source they come from
	points   [][]process.Point   // of each life, if explains
	struck   []place.Place       // of its faults, where that is known
	// rewind ends the run with stepper.ErrRewound (Options.Step); nil without a person.
	rewind context.CancelCauseFunc
	// reference is set for a run without faults that others are compared with.
	reference *reference
	result    ranCase
}

// copied is where the files of a dead server were copied to, and when.
type copied struct {
	name, dir string
	at        time.Time
}

func (c copied) read(deep bool) (check.Snapshot, error) {
	s, err := check.ReadSnapshot(c.dir, c.at, deep)
	if err != nil {
		return s, fmt.Errorf("campaign: the files of %s: %w", c.name, err)
	}
	return s, nil
}

// end is how a life ends early, and with it the case.
type end struct {
	outcome result.Outcome
	err     error
}

func (e *end) Error() string { return e.err.Error() }
func (e *end) Unwrap() error { return e.err }

func ended(o result.Outcome, format string, args ...any) error {
	return &end{o, fmt.Errorf(format, args...)}
}

// isFatal says whether an error makes further cases pointless, or this one one that
// must be run otherwise.
func isFatal(err error) bool {
	return errors.Is(err, world.ErrAstray) || errors.Is(err, process.ErrRefused) || errors.Is(err, context.Canceled)
}

// runCase runs the plan of g once in the directory dir, which must not exist. The error
// is for what makes further cases pointless: ctx's end, or a project that cannot
// be served.
func (s *slot) runCase(ctx context.Context, g group, dir string) (ran ranCase, err error) {
	r := &caseRun{camp: s.camp, slot: s, plan: g.plan, like: g.like, known: g.known, lives: g.plan.Lives(), dir: dir, pace: s.camp.Pace}
	r.result = began(g.plan.String())
	r.result.Tries, r.result.Dir, r.result.Replay, r.result.Pace = 1, dir, s.camp.replay(g.plan), s.camp.paceName()
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		return r.result, fmt.Errorf("campaign: %w", err)
	}
	events, err := os.Create(filepath.Join(dir, "history.ndjson"))
	if err != nil {
		return r.result, fmt.Errorf("campaign: %w", err)
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	r.events = events
	if r.log, err = os.Create(filepath.Join(dir, "server.log")); err != nil {
		return r.result, fmt.Errorf("campaign: %w", err)
	}
	defer func() { err = errors.Join(err, r.log.Close()) }()
	if err := os.WriteFile(filepath.Join(dir, "plan.txt"), []byte(g.plan.String()+"\n"), 0o600); err != nil {
		return r.result, fmt.Errorf("campaign: %w", err)
	}
	if s.camp.Mode == Workerd {
		err = r.once(ctx, s.workerdWorld(r))
	} else if s.camp.Mode == Sim {
		if s.camp.Step != nil {
			ctx, r.rewind = context.WithCancelCause(ctx)
			defer r.rewind(nil)
		}
		err = r.simulate(ctx)
	} else {
		err = r.once(ctx, s.processWorld(ctx, r))
	}
	r.count()
	if r.result.Failed() && len(r.struck) > 0 {
		r.result.Places = r.struck
	}
	return r.result, err
}

// count notes what the clients sent.
func (r *caseRun) count() {
	if r.history == nil {
		return // there was no world to send to
	}
	events := r.history.Events()
	r.result.achieved = cut.StepsIn(events)
	r.result.wrote = cut.Wrote(events)
	for _, e := range events {
		if e.Kind == history.Call {
			r.result.calls++
			r.result.chats = r.result.chats || e.Text == "chat" || e.Text == "resume"
		}
	}
}

// once runs the plan in w, and closes it.
func (r *caseRun) once(ctx context.Context, w World) (err error) {
	r.world = w
	if tell := r.camp.Observe; tell != nil && r.log != nil {
		r.history.Observe(func(e history.Event) { tell(r.dir, e) })
	}
	if r.driver, err = r.camp.newDriver(len(r.plan) == 0 && r.reference == nil); err == nil {
		err = r.play(ctx)
	}
	r.result.Ms = float64(r.history.Elapsed().Microseconds()) / 1000
	err = errors.Join(err, w.Close())
	if ctx.Err() != nil { // the end of a case that was cut says nothing
		return errors.Join(context.Cause(ctx), r.history.Err())
	}
	return errors.Join(r.conclude(err), r.history.Err())
}
