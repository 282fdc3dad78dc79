package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
	"minido.dev/minido/sqlstore"
)

// Hosts of a simulation's upstreams.
const (
	sinkHost  = "sink.test"
	modelHost = "model.test"
)

// simulate runs the case in a simulation, and once more if its result must be
// known to depend on nothing but its seed.
func (r *caseRun) simulate(ctx context.Context, events io.Writer) error {
	o := r.camp.Options
	if r.slot.seed != 0 {
		o.Seed = r.slot.seed
	}
	r.result.Seed, r.result.Replay = o.Seed, o.replay(r.plan)
	err := r.simulateOnce(ctx, events, r.dir, o.Seed)
	if err != nil || ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	failed := r.result.failed()
	if failed && len(r.plan) > 0 {
		r.result.Confirm = o.confirm(r.labelled())
	}
	for _, plan := range r.like {
		c, err := r.likeness(plan)
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
			out[i] = fault.Fault{Point: kills[0].Point}
		}
		kills = kills[1:]
	}
	return out
}

// check runs the case again and compares: what differs is a bug of minido's, or
// of the harness.
func (r *caseRun) check(ctx context.Context, seed uint64) error {
	dir := filepath.Join(r.dir, "again")
	twin := &caseRun{camp: r.camp, slot: r.slot, plan: r.plan, dir: dir, result: Case{Name: r.result.Name, Outcome: Passed, Kills: []Kill{}}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	if err := twin.simulateOnce(ctx, io.Discard, dir, seed); err != nil {
		return err
	}
	if twin.result.Digest == r.result.Digest {
		return os.RemoveAll(dir)
	}
	r.result.Outcome = Broken
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
func (r *caseRun) simulateOnce(ctx context.Context, events io.Writer, dir string, seed uint64) (err error) {
	o := sim.Options{Dir: dir, Events: events, KeepLines: true, Timeout: r.camp.Timeout, World: r.camp.worldOptions(seed)}
	if r.log != nil {
		o.Log = r.log
	}
	o.States = len(r.plan) < r.camp.depth && r.camp.alike()
	system, err := sim.New(o)
	if err != nil {
		return err
	}
	r.history, r.session = system.History, system.Session
	if step := r.camp.Step; step != nil && r.log != nil {
		step.attach(system)
	}
	err = r.serveUpstreams(system)
	if err == nil {
		r.driver, err = r.camp.newDriver(len(r.plan) == 0)
	}
	if err == nil {
		err = r.playSim(ctx, system)
	}
	if err == nil {
		err = r.askedFor()
	}
	r.result.Ms = float64(r.history.Elapsed().Microseconds()) / 1000
	err = r.conclude(err)
	r.result.Digest, r.result.lines = system.Digest(), system.Lines()
	return errors.Join(err, system.End())
}

// worldOptions describe the server as package child runs it.
func (c *campaign) worldOptions(seed uint64) world.Options {
	vars := append([]string{}, c.Vars...)
	if c.SinkVar != "" {
		vars = append(vars, c.SinkVar+":http://"+sinkHost)
	}
	o := world.Options{Seed: seed, CacheDir: c.cache, Bundles: c.bundles, Eviction: pool.Policy{Hibernate: c.Idle}, Limits: sqlstore.Local}
	if c.Sigkill {
		o.Dead = killpoint.KillSelf
	}
	if c.AI != nil {
		o.AI = "http://" + modelHost
		vars = append(modelVars(o.AI), vars...)
	}
	o.Config = config.Options{ConfigPath: c.config, Env: c.Env, Vars: vars}
	return o
}

func (r *caseRun) serveUpstreams(s *sim.System) error {
	if r.camp.SinkVar != "" {
		r.sink = &sink{clock: s.Scheduler().Clock()}
		r.sink.begin(r.history, r.plan.Upstream(true))
		s.Serve(sinkHost, r.sink)
	}
	if ai := r.camp.AI; ai != nil {
		m := &model{ai: *ai}
		var err error
		if m.server, err = upstream.New(upstream.Options{Scheduler: s.Scheduler(), Script: upstream.Words(ai.Words), Pace: ai.Pace, Observe: m.observe}); err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
		m.begin(r.history, r.plan.Upstream(false))
		r.model = m
		s.Serve(modelHost, m.server.Handler())
	}
	return nil
}

// playSim is play: a life for each fault, and one that is left alone.
func (r *caseRun) playSim(ctx context.Context, s *sim.System) error {
	for _, life := range r.plan.Lives() {
		kill := life.Kill()
		if kill == nil {
			break // the last one
		}
		if err := r.liveSim(ctx, s, kill); err != nil {
			return err
		}
		if err := r.burySim(s); err != nil {
			return err
		}
	}
	restless := r.liveSim(ctx, s, nil)
	for { // a person may kill (Options.Step), as often as they like
		if restless != nil {
			break // there may be no world
		}
		if _, dead := s.World.Dead(); !dead {
			break
		}
		if err := r.burySim(s); err != nil {
			return err
		}
		restless = r.liveSim(ctx, s, nil)
	}
	var e *end
	if restless != nil && !(errors.As(restless, &e) && e.outcome == Restless) {
		return restless
	}
	end, err := r.endSim(s)
	if err != nil {
		return err
	}
	return errors.Join(restless, r.verdict(end, restless != nil))
}

// liveSim is one life: until f has killed it, or without a fault until the system
// is at rest.
func (r *caseRun) liveSim(ctx context.Context, s *sim.System, f *fault.Fault) error {
	var kill func(killpoint.Point) bool
	if f != nil && f.Point != "" {
		var err error
		if kill, err = killpoint.ParseTarget(f.Point); err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
	}
	who := fmt.Sprintf("server-%d", s.Lives()+1)
	r.history.Add(history.Event{Kind: history.Start, Who: who})
	switch err := r.begins(s, kill); {
	case errors.Is(err, world.ErrKilled):
		return nil
	case err != nil:
		if text, ofProject := server.Explain(err, false); ofProject {
			return fmt.Errorf("%w: %s", process.ErrRefused, text)
		}
		return err
	}
	r.history.Add(history.Event{Kind: history.Ready, Who: who, Text: sim.URL})
	if n := len(r.result.Kills); n > 0 {
		r.result.Kills[n-1].ReadyMs = 0 // no time passes between two lives
	}
	due := false
	if f != nil && f.After > 0 {
		defer s.Sim.Clock().AfterFunc(f.After, func() { due = true }).Stop()
	}
	err := r.attendSim(ctx, s, f, &due)
	switch {
	case errors.Is(err, world.ErrKilled):
		return nil
	case err != nil && s.World.Server == nil && ctx.Err() == nil: // it was played back, and should have died
		return fmt.Errorf("campaign: %w: %w", world.ErrAstray, err)
	}
	return err
}

// begins begins a life: one that is known is played back.
func (r *caseRun) begins(s *sim.System, kill func(killpoint.Point) bool) error {
	if n := s.Lives(); kill != nil && n < len(r.known) && r.known[n].Fit() {
		r.result.PlayedBack++
		return s.PlayBack(r.known[n], kill)
	}
	return s.Live(kill)
}

// maxRecordings bounds what all recordings of a campaign hold, in bytes. Lives beyond
// it are lived again.
const maxRecordings = 512 << 20

// keeps reports whether there is room for a recording, and takes it.
func (c *campaign) keeps(r *world.Recording) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recorded+r.Bytes() > maxRecordings {
		return false
	}
	c.recorded += r.Bytes()
	return true
}

// lookAgain is how often a life's deadline is looked at: within the limit of one
// wait of a world's.
const lookAgain = world.DefaultLimit / 2

// attendSim waits for the end of a life. Its error is world.ErrKilled where f has
// ended it.
func (r *caseRun) attendSim(ctx context.Context, s *sim.System, f *fault.Fault, due *bool) (err error) {
	// The time that drive() lets pass is no delay.
	limit := s.Sim.Now().Add(s.Timeout() - s.Session.Granted())
	deadline := func() time.Time { return limit.Add(s.Session.Granted()) }
	driving := s.Drive(ctx, r.driver)
	defer func() { err = errors.Join(err, driving.Stop(s)) }()
	for {
		late := false
		timer := s.Sim.Clock().AfterFunc(min(deadline().Sub(s.Sim.Now()), lookAgain), func() { late = true })
		err := s.World.Until(func() bool {
			done, _ := driving.Done()
			return done || *due || late || ctx.Err() != nil
		})
		timer.Stop()
		done, end := driving.Done()
		switch {
		case errors.Is(err, world.ErrKilled):
			return err
		case err != nil && !done:
			return ended(Restless, "nothing is left to do, and a client waits for its answer")
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case *due:
			s.World.Kill()
			return world.ErrKilled
		case late && !done:
			if s.Sim.Now().Before(deadline()) {
				continue
			}
			return ended(Restless, "not at rest %v after the server was ready: a client waits for its answer", s.Timeout())
		}
		if err := r.lostSim(end); err != nil {
			return err
		}
		if r.driver.Finished() {
			break
		}
		driving = s.Drive(ctx, r.driver)
	}
	return r.restSim(s, f, deadline(), due)
}

// lostSim looks at how the driver ended while the server lives.
func (r *caseRun) lostSim(err error) error {
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

// restSim waits until nothing is left to do.
func (r *caseRun) restSim(s *sim.System, f *fault.Fault, deadline time.Time, due *bool) error {
	gone := false
	err := s.World.Rest(check.Horizon, deadline.Sub(s.Sim.Now()), func(why string) bool {
		if !gone && strings.HasSuffix(why, openSocket) {
			gone = true // such a socket keeps its object awake: the clients are done, and go
			s.Sim.Scheduler().Go("disconnect", s.Session.Disconnect)
		}
		return *due
	})
	var restless *world.RestlessError
	switch {
	case errors.As(err, &restless):
		return ended(Restless, "not at rest %v after the server was ready: %s", s.Timeout(), restless.Why)
	case err != nil:
		return err
	case f != nil && f.After > 0:
		s.World.Kill() // nothing would happen until then
		return world.ErrKilled
	case f != nil:
		return ended(Missed, "%s did not happen: the system came to rest before", f)
	}
	return nil
}

// burySim takes down what a death left behind.
func (r *caseRun) burySim(s *sim.System) error {
	if err := s.World.Astray(); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	r.passSim(s)
	k := Kill{AtMs: float64(r.history.Elapsed().Microseconds()) / 1000}
	if n := len(s.Points); n > 0 {
		k.Point = s.Points[n-1].Label()
	}
	r.history.Add(history.Event{Kind: history.Kill, Who: fmt.Sprintf("server-%d", s.Lives()), Text: k.Point})
	r.copies = append(r.copies, copied{name: filepath.Base(s.DeathDir()), dir: s.DeathDir(), at: s.Sim.Now()})
	r.result.Kills = append(r.result.Kills, k)
	return s.Bury()
}

// passSim takes the points of a life into the history.
func (r *caseRun) passSim(s *sim.System) {
	who := fmt.Sprintf("server-%d", s.Lives())
	r.points = nil
	for _, p := range s.Points {
		r.points = append(r.points, process.Point{N: p.Number, Label: p.Label()})
		r.history.Add(history.Event{Kind: history.Point, Who: who, Text: p.Label()})
	}
}

// endSim ends the last life as a death, so that what was not on disk does not
// count.
func (r *caseRun) endSim(s *sim.System) (copied, error) {
	s.World.Kill()
	if err := s.World.Stop(); err != nil {
		return copied{}, err
	}
	r.passSim(s)
	for i, p := range s.Points {
		if r.result.pass(p.Label()) && s.States != nil {
			r.result.states = append(r.result.states, s.States[i])
		}
	}
	if s.Recording.Fit() && r.camp.keeps(s.Recording) {
		r.result.recording = s.Recording
	}
	return copied{name: "end", dir: s.DeathDir(), at: s.Sim.Now()}, nil
}
