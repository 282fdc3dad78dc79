package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/world"
)

const (
	serveLimit   = 20 * time.Second
	pendingLimit = 10 * time.Second
	// pollFirst and pollMost are how long the harness waits between two questions
	// whether anything is left to do: soon at first, then less often.
	pollFirst = 2 * time.Millisecond
	pollMost  = 20 * time.Millisecond
	// openSocket is how the server names a socket that cannot hibernate.
	openSocket = "an open WebSocket"
)

// caseRun is one run of a plan. Confined to its slot's goroutine.
type caseRun struct {
	camp    *campaign
	slot    *slot
	plan    fault.Plan
	lives   []fault.Plan // of the plan
	dir     string
	state   string
	history *history.Recorder
	session *drive.Session
	log     *os.File

	child    *process.Standby
	driver   drive.Driver
	begin    func() // has this life's clients go on
	stop     func() // ends them
	died     time.Time
	current  int                // the number of the present life
	loud     func()             // ends what quiet began at the last death; not nil
	settled  bool               // the present life's server has recovered, or had nothing to
	restocks bool               // the next case's standbys are started then
	points   []process.Point    // of the life that has just ended
	like     []fault.Plan       // that this run stands for, too
	known    []*world.Recording // of its first lives
	evidence *check.Evidence    // that was judged; nil before
	result   Case
	copies   []copied      // of each death
	ahead    time.Duration // how far the servers' clock was set
	model    *model        // nil without one
	sink     *sink         // nil without one
}

// end is how a case ends early.
type end struct {
	outcome Outcome
	err     error
}

func (e *end) Error() string { return e.err.Error() }
func (e *end) Unwrap() error { return e.err }

func ended(o Outcome, format string, args ...any) error { return &end{o, fmt.Errorf(format, args...)} }

// runCase runs the plan of g once in the directory dir, which must not exist. The error
// is for what makes further cases pointless: ctx's end, or a project that cannot
// be served.
func (s *slot) runCase(ctx context.Context, g group, dir string) (result Case, err error) {
	plan := g.plan
	r := &caseRun{camp: s.camp, slot: s, plan: plan, like: g.like, known: g.known, lives: plan.Lives(), loud: func() {}, model: s.model, sink: s.sink, dir: dir, state: filepath.Join(dir, "state")}
	r.result = Case{Name: plan.String(), Outcome: Passed, Tries: 1, Dir: dir, Replay: s.camp.replay(plan), Kills: []Kill{}}
	if err := os.MkdirAll(r.state, 0o700); err != nil {
		return r.result, fmt.Errorf("campaign: %w", err)
	}
	events, err := os.Create(filepath.Join(dir, "history.ndjson"))
	if err != nil {
		return r.result, fmt.Errorf("campaign: %w", err)
	}
	if r.log, err = os.Create(filepath.Join(dir, "server.log")); err != nil {
		return r.result, errors.Join(fmt.Errorf("campaign: %w", err), events.Close())
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.txt"), []byte(plan.String()+"\n"), 0o600); err != nil {
		return r.result, errors.Join(fmt.Errorf("campaign: %w", err), events.Close(), r.log.Close())
	}
	if s.camp.Mode == Sim {
		err = r.simulate(ctx, events)
		return r.result, errors.Join(err, events.Close(), r.log.Close())
	}
	r.history = history.NewRecorder(s.camp.clock, events)
	r.session = drive.NewSession(r.history, s.camp.scheduler, s.camp.Timeout)
	if s.sink != nil {
		s.sink.begin(r.history, plan.Upstream(true))
	}
	if s.model != nil {
		s.model.begin(r.history, plan.Upstream(false))
	}
	if r.driver, err = s.camp.newDriver(len(plan) == 0); err == nil {
		err = r.play(ctx)
	}
	if err == nil {
		err = r.askedFor()
	}
	r.session.Disconnect()
	if r.child != nil {
		err = errors.Join(err, r.child.Close())
	}
	if s.sink != nil {
		s.sink.begin(nil, nil)
	}
	if s.model != nil {
		s.model.begin(nil, nil)
	}
	r.result.Ms = float64(r.history.Elapsed().Microseconds()) / 1000
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), r.history.Err(), events.Close(), r.log.Close())
		return r.result, err // the end of a case that was cut says nothing
	}
	err = r.conclude(err)
	return r.result, errors.Join(err, r.history.Err(), events.Close(), r.log.Close())
}

// conclude turns an early end into an outcome; what remains is fatal.
func (r *caseRun) conclude(err error) error {
	if err == nil {
		return nil
	}
	if chaos.IsUsage(err) || errors.Is(err, world.ErrAstray) || errors.Is(err, process.ErrRefused) || errors.Is(err, context.Canceled) {
		return err
	}
	r.result.Outcome, r.result.Text = Broken, err.Error()
	var e *end
	if errors.As(err, &e) {
		r.result.Outcome = e.outcome
	}
	r.history.Add(history.Event{Kind: history.Note, Who: "harness", Text: string(r.result.Outcome) + ": " + r.result.Text})
	return nil
}

// play is the case: a life for each fault, and one that is left alone.
func (r *caseRun) play(ctx context.Context) error {
	last := len(r.lives) - 1
	defer func() { r.loud() }()
	if !r.camp.NoStandby {
		r.slot.stock(len(r.lives))
		r.slot.await(ctx)
	}
	for life := range last {
		if err := r.live(ctx, life, r.lives[life].Kill()); err != nil {
			return err
		}
		if err := r.bury(life); err != nil {
			return err
		}
	}
	restless := r.live(ctx, last, nil)
	var e *end
	if restless != nil && !(errors.As(restless, &e) && e.outcome == Restless) {
		return restless
	}
	return errors.Join(restless, r.judge(restless != nil))
}

// live runs one life of the server: until f has killed it, or without a fault
// until the system is at rest.
func (r *caseRun) live(ctx context.Context, life int, f *fault.Fault) error {
	child, err := r.slot.take(ctx, r.log)
	if err != nil {
		return err
	}
	r.child = child
	who := fmt.Sprintf("server-%d", life+1)
	order := process.Order{Persist: r.state, Points: r.pointLog(life)}
	if f != nil {
		order.Arm = f.Point
	}
	r.orderActs(life, &order)
	r.history.Add(history.Event{Kind: history.Start, Who: who})
	url, err := child.Serve(ctx, serveLimit, order)
	if err != nil {
		var exit *process.ExitError
		if f != nil && errors.As(err, &exit) && exit.Exit.SelfKilled() {
			return nil // armed at a point of its start
		}
		return err
	}
	ready := r.camp.clock.Now()
	r.history.Add(history.Event{Kind: history.Ready, Who: who, Text: url})
	if n := len(r.result.Kills); n > 0 {
		r.result.Kills[n-1].ReadyMs = msBetween(r.died, ready)
	}
	r.session.Connect(url)
	driving, cancel := context.WithCancel(ctx)
	driven := make(chan error, 1)
	r.begin = func() {
		r.camp.scheduler.Go("drive", func() { driven <- r.driver.Run(driving, r.session) })
	}
	r.begin()
	r.stop = func() { r.session.Disconnect(); cancel() }
	r.current, r.settled = life, life == 0
	r.restocks = f == nil && !r.slot.last && !r.camp.NoStandby
	err = r.attend(ctx, f, ready, driven)
	r.stop()
	return err
}

func (r *caseRun) pointLog(life int) string {
	return filepath.Join(r.dir, fmt.Sprintf("points-%d.ndjson", life+1))
}

// attend waits for the end of a life: its death by f, or the system's rest.
func (r *caseRun) attend(ctx context.Context, f *fault.Fault, ready time.Time, driven <-chan error) error {
	deadline, pause := ready.Add(r.camp.Timeout), pollFirst
	var kill <-chan struct{}
	if f != nil && f.After > 0 {
		due := make(chan struct{})
		timer := r.camp.clock.AfterFunc(f.After, func() { close(due) })
		defer timer.Stop()
		kill = due
	}
	driving, why := true, "a client waits for its answer"
	for {
		tick := make(chan struct{})
		timer := r.camp.clock.AfterFunc(pause, func() { close(tick) })
		select {
		case <-r.child.Exited():
			timer.Stop()
			return r.gone(f, driving, driven)
		case <-kill:
			timer.Stop()
			if err := r.child.Kill(); err != nil {
				return err
			}
			return r.gone(f, driving, driven)
		case err := <-driven:
			timer.Stop()
			driving = false
			if err := r.lost(ctx, err); err != nil {
				return err
			}
			if _, exited := r.child.Exit(); !exited && !r.driver.Finished() {
				driving = true
				r.begin()
			}
			continue
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-tick:
		}
		r.recovered()
		if !driving {
			var err error
			if why, err = r.child.Pending(ctx, pendingLimit, check.Horizon); err != nil {
				if _, exited := r.child.Exit(); exited {
					continue
				}
				return r.stuck(ctx, err)
			}
			if why == "" {
				return r.rested(f, driven)
			}
			if strings.HasSuffix(why, openSocket) && r.driver.Finished() {
				r.session.Disconnect() // such a socket keeps its object awake: the clients are done, and go
			}
			pause = min(pause*2, pollMost)
		}
		if !r.camp.clock.Now().Before(deadline) {
			return ended(Restless, "not at rest %v after the server was ready: %s", r.camp.Timeout, why)
		}
	}
}

// recovered has preparations go on once this life's server has recovered, and the
// next case's servers begin to prepare if this life is the last: before, they
// would be in its way.
func (r *caseRun) recovered() {
	if r.settled {
		return
	}
	points, err := process.ReadPoints(r.pointLog(r.current))
	if _, found := firstCommit(points); err != nil || !found {
		return
	}
	r.settled = true
	r.loud()
	if r.restocks {
		r.slot.stock(len(r.lives))
	}
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

// stuck says why a live child does not answer.
func (r *caseRun) stuck(ctx context.Context, err error) error {
	if ctx.Err() == nil && errors.Is(err, wait.ErrTimeout) {
		return ended(Restless, "the server's loop does not come back: %w", err)
	}
	return err
}

// lost looks at how the driver ended while the server seemed to live. A cut
// connection is the first sign of a death: then it is waited for.
func (r *caseRun) lost(ctx context.Context, err error) error {
	var failure *drive.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return r.failed(failure)
	case errors.Is(err, drive.ErrUnsent), errors.Is(err, agentrpc.ErrLost):
		if wait.Channel(ctx, r.camp.clock, time.Second, "the server's death", r.child.Exited()) == nil {
			return nil
		}
		if errors.Is(err, drive.ErrUnsent) {
			return fmt.Errorf("campaign: the server lives and cannot be reached: %w", err)
		}
		return nil // the worker itself closed the socket: its checkers say whether it may
	}
	return err
}

// failed is what a driver's failure means.
func (r *caseRun) failed(f *drive.Failure) error {
	switch {
	case len(r.plan) == 0:
		return &chaos.UsageError{Text: "without any fault, " + f.Text}
	case f.Refused && r.plan.Spoils():
		return nil // an answer that a fault may have spoilt: the clients have done what they could
	}
	return ended(Violated, "%w", f)
}

// rested is a life that came to rest. A kill that was to come later by the clock
// comes now: nothing would happen until then.
func (r *caseRun) rested(f *fault.Fault, driven <-chan error) error {
	if f != nil && f.After > 0 {
		if err := r.child.Kill(); err != nil {
			return err
		}
		return r.gone(f, false, driven)
	}
	if f != nil {
		return ended(Missed, "%s did not happen: the system came to rest before", f)
	}
	if !r.driver.Finished() {
		return ended(Broken, "the clients have not done all that they should")
	}
	return nil
}

// gone is a child that has ended: as it should, or by itself.
func (r *caseRun) gone(f *fault.Fault, driving bool, driven <-chan error) error {
	exit, _ := r.child.Exit()
	if f == nil || !exit.Killed || f.Point != "" && !exit.SelfKilled() {
		return fmt.Errorf("campaign: %w", r.child.ExitError())
	}
	r.stop()
	r.loud() // this server may have died before it had recovered
	if !r.camp.NoStandby {
		r.loud = r.camp.nursery.quiet() // until the next one has
	}
	if driving {
		<-driven // it has lost its connection; what it had not sent comes in the next life
	}
	return nil
}
