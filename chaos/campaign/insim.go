package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/fibers"
	"minido.dev/minido/chaos/orders"
	"minido.dev/minido/chaos/outside"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
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

// lookAgain is how often a life's deadline is looked at: within the limit of one
// wait of a world's.
const lookAgain = world.DefaultLimit / 2

// simWorld is the World of a simulation: one goroutine, virtual time, and a death
// that drops the server where it stands.
type simWorld struct {
	camp       *campaign
	run        *caseRun
	system     *sim.System
	known      []*world.Recording // of the plan's first lives
	playedBack int                // lives
	digest     string             // of all that was observable, once the case is over

	driving  []*sim.Driving // of the present life; the last one may still run
	running  bool           // it does
	broken   error          // what kept a checkpoint from being seen
	due      bool           // the moment of a kill at a time has come
	timer    clock.Timer    // of that; nil without one
	deadline time.Time      // beside the time that drive() lets pass
	left     bool           // the clients have gone, so that objects may rest
	horizon  time.Duration  // see Options.Horizon
	driven   time.Time      // when the clients of the present life were done
	bounded  bool           // the present life was ended at the horizon
	living   *bool          // becomes whether a life without rest has nothing left but what may go on for ever
}

func (s *slot) simWorld(r *caseRun, seed uint64) (*simWorld, error) {
	o := sim.Options{Dir: r.dir, Events: r.events, KeepLines: true, Timeout: s.camp.Timeout + r.plan.Held(), World: s.camp.worldOptions(seed)}
	if r.log != nil {
		o.Log = r.log
	}
	o.Trace = s.camp.Schedules > 0 || r.reference != nil
	o.States = len(r.plan) < s.camp.depth && s.camp.alike() && r.reference == nil
	o.World.SyncFull = s.camp.Fault.Power || slices.ContainsFunc(r.plan, func(f fault.Fault) bool { return f.Power })
	o.World.SyncNormal = s.camp.SyncNormal
	o.World.SyncTakes = time.Microsecond // else nothing could come between a write and its sync
	o.World.Start, o.World.Explains = r.begin, r.explains || s.camp.Step != nil
	if r.reference != nil {
		o.World.Start = r.reference.start
	}
	system, err := sim.New(o)
	if err != nil {
		return nil, err
	}
	r.history, r.session = system.History, system.Session
	r.session.Pace(r.pace)
	if r.reference != nil {
		r.session.Lose(r.reference.lose)
		r.session.Break(r.reference.breaks)
		r.session.Stagger(r.reference.ranks, orders.Apart)
	}
	if step := s.camp.Step; step != nil && r.log != nil {
		step.Attach(system, r.rewind)
	}
	w := &simWorld{camp: s.camp, run: r, system: system, known: r.known, horizon: s.camp.Horizon, living: &r.result.living}
	if r.reference != nil {
		w.horizon = r.reference.horizon
	}
	if err := r.serveUpstreams(system); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// worldOptions describe the server as package child runs it.
func (c *campaign) worldOptions(seed uint64) world.Options {
	o := world.Options{Seed: seed, CacheDir: c.cache, Bundles: c.bundles, Eviction: pool.Policy{Hibernate: c.Idle}, Limits: sqlstore.Local}
	if c.Sigkill {
		o.Dead = killpoint.KillSelf
	}
	if c.AI != nil {
		o.AI = "http://" + modelHost
	}
	o.Config = *c.configOf(c.versions[0])
	return o
}

// configOf is a version of the project in a simulation.
func (c *campaign) configOf(v version) *config.Options {
	vars := append([]string{}, c.Vars...)
	if c.SinkVar != "" {
		vars = append(vars, c.SinkVar+":http://"+sinkHost)
	}
	if c.AI != nil {
		vars = append(outside.ModelVars("http://"+modelHost), vars...)
	}
	return &config.Options{ConfigPath: v.config, Env: c.Env, Vars: vars, Add: config.Named(v.name), AddFrom: "the version before"}
}

// serveUpstreams puts what outlives the server on the simulation's network.
func (r *caseRun) serveUpstreams(s *sim.System) error {
	if r.camp.SinkVar != "" {
		r.sink = outside.SinkAt(s.Scheduler().Clock())
		r.sink.Begin(r.history, r.plan.Upstream(true))
		s.Serve(sinkHost, r.sink)
	}
	if ai := r.camp.AI; ai != nil {
		m, err := outside.ModelAt(s.Scheduler(), *ai)
		if err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
		m.Begin(r.history, r.plan.Upstream(false))
		r.model = m
		s.Serve(modelHost, m.Handler())
	}
	return nil
}

// Now implements World.
func (w *simWorld) Now() time.Time { return w.system.Sim.Now() }

// Begin implements World. A life that is known is played back.
func (w *simWorld) Begin(_ context.Context, n int, life fault.Plan) (b born, err error) {
	var kill func(killpoint.Point) bool
	f := life.Kill()
	switch {
	case f != nil && f.Point != "":
		kill, err = killpoint.ParseTarget(f.Point)
	case f != nil && f.Checkpoint > 0:
		kill, err = w.atCheckpoint(f.Checkpoint)
	}
	if err != nil {
		return b, fmt.Errorf("campaign: %w", err)
	}
	v := w.run.version()
	if kill != nil && len(life) == 1 && !f.Power && len(w.run.skews) == 0 && n < len(w.known) && w.known[n].Fit() {
		w.playedBack++
		err = w.system.PlayBack(w.known[n], kill)
	} else {
		err = w.system.Live(sim.Life{Kill: kill, Power: f != nil && f.Power, Faults: life, Skews: w.run.skews, Config: w.camp.configOf(v)})
	}
	switch {
	case errors.Is(err, world.ErrKilled):
		return b, errDied
	case err != nil:
		if text, ofProject := server.Explain(err, false); ofProject {
			return b, fmt.Errorf("%w: %s", process.ErrRefused, text)
		}
		return b, err
	}
	w.due, w.timer, w.left, w.bounded = false, nil, false, false
	if f != nil && f.After > 0 {
		w.timer = w.system.Sim.Clock().AfterFunc(f.After, func() { w.due = true })
	}
	w.deadline = w.Now().Add(w.system.Timeout() + w.horizon - w.system.Session.Granted())
	return born{url: sim.URL}, nil // no time passes between two lives
}

// atCheckpoint is the target of a kill at a fiber's checkpoint.
func (w *simWorld) atCheckpoint(n int) (func(killpoint.Point) bool, error) {
	c, err := fibers.NewCheckpoints(w.system.State(), n)
	return func(p killpoint.Point) bool {
		hit, err := c.Hit(p)
		w.broken = errors.Join(w.broken, err)
		return hit
	}, err
}

// Drive implements World.
func (w *simWorld) Drive(ctx context.Context, d drive.Driver) {
	w.driving, w.running = append(w.driving, w.system.Drive(ctx, d)), true
}

// limit is the end of the present life's time. What drive() lets pass is no delay.
func (w *simWorld) limit() time.Time { return w.deadline.Add(w.system.Session.Granted()) }

// restLimit is that for a life whose clients are done.
func (w *simWorld) restLimit() time.Time { return w.limit().Add(w.camp.Within - check.Horizon) }

// Next implements World.
func (w *simWorld) Next(ctx context.Context, _ drive.Driver) (happening, error) {
	for w.running {
		driving := w.driving[len(w.driving)-1]
		late := false
		timer := w.system.Sim.Clock().AfterFunc(min(w.limit().Sub(w.Now()), lookAgain), func() { late = true })
		err := w.system.World.Until(func() bool {
			done, _ := driving.Done()
			return done || w.due || late || ctx.Err() != nil
		})
		timer.Stop()
		done, end := driving.Done()
		switch {
		case errors.Is(err, world.ErrKilled):
			return happening{what: died}, nil
		case err != nil && !done:
			return happening{}, ended(result.Restless, "nothing is left to do, and a client waits for its answer")
		case err != nil:
			return happening{}, err
		case ctx.Err() != nil:
			return happening{}, context.Cause(ctx)
		case w.due:
			return happening{what: due}, nil
		case done:
			w.driven = w.Now()
			w.running = false // its context lives on: sockets that it has opened belong to the life
			return happening{what: driven, err: end}, nil
		case !w.Now().Before(w.limit()):
			return happening{}, ended(result.Restless, "not at rest %v after the server was ready: a client waits for its answer", w.system.Timeout())
		}
	}
	return w.rest()
}

// rest waits until nothing is left to do.
func (w *simWorld) rest() (happening, error) {
	for {
		h, err := w.idle()
		if err != nil || h.what != rested || w.due || !w.system.Acting() { // a death does not wait for a fault's end
			return h, err
		}
		late := false
		timer := w.system.Sim.Clock().AfterFunc(w.restLimit().Sub(w.Now()), func() { late = true })
		err = w.system.World.Until(func() bool { return late || w.due || !w.system.Acting() })
		timer.Stop()
		switch {
		case errors.Is(err, world.ErrKilled):
			return happening{what: died}, nil
		case err != nil:
			return happening{}, err
		case late:
			return happening{}, ended(result.Restless, "not at rest %v after the server was ready: a fault has begun", w.system.Timeout())
		}
	}
}

// idle waits until the server has nothing to do.
func (w *simWorld) idle() (happening, error) {
	err := w.system.World.Rest(w.camp.Within, w.restLimit().Sub(w.Now()), func(why string) bool {
		past := w.Now().Sub(w.driven)
		if !w.left && (strings.HasSuffix(why, openSocket) || w.horizon > 0 && past >= w.horizon/2) {
			w.left = true // such a socket keeps its object awake: the clients are done, and go
			w.system.Sim.Scheduler().Go("disconnect", w.system.Session.Disconnect)
		}
		w.bounded = w.horizon > 0 && past >= w.horizon && mayGoOn(why)
		return w.due || w.bounded
	})
	var restless *world.RestlessError
	switch {
	case errors.Is(err, world.ErrKilled):
		return happening{what: died}, nil
	case errors.As(err, &restless):
		*w.living = mayGoOn(restless.Why)
		return happening{}, ended(result.Restless, "not at rest %v after the server was ready: %s", w.system.Timeout(), restless.Why)
	case err != nil:
		return happening{}, err
	}
	return happening{what: rested}, nil
}

// Wake implements World.
func (w *simWorld) Wake(context.Context) (unborn []string, err error) {
	woken := false
	var failed error
	server.Wake(w.system.World.Server, func(list []pool.Unborn, err error) {
		woken, failed = true, err
		for _, u := range list {
			unborn = append(unborn, u.String())
		}
	})
	err = w.system.World.Until(func() bool { return woken })
	if errors.Is(err, world.ErrKilled) {
		return unborn, errDied
	}
	return unborn, errors.Join(err, failed)
}

// Kill implements World.
func (w *simWorld) Kill() error {
	w.system.World.Kill()
	return nil
}

// Leave implements World.
func (w *simWorld) Leave(died bool, err error) error {
	if w.timer != nil {
		w.timer.Stop()
	}
	for _, driving := range w.driving {
		err = errors.Join(err, driving.Stop(w.system))
	}
	w.driving, w.running = nil, false
	if !died && w.system.World.Server == nil { // it was played back, and should have died
		return fmt.Errorf("campaign: %w: %w", world.ErrAstray, err)
	}
	return err
}

// Bury implements World.
func (w *simWorld) Bury() error { return w.system.Bury() }

// Death implements World.
func (w *simWorld) Death() (remains, error) {
	if err := w.system.World.Astray(); err != nil {
		return remains{}, fmt.Errorf("campaign: %w", err)
	}
	return w.remains(filepath.Base(w.system.DeathDir())), nil
}

// End implements World. The last life ends as a death, so that what was not on disk
// does not count.
func (w *simWorld) End() (remains, error) {
	w.system.World.Kill()
	if err := w.system.World.Stop(); err != nil {
		return remains{}, err
	}
	left := w.remains("end")
	dir := filepath.Join(filepath.Dir(left.dir), left.name)
	if err := os.Rename(left.dir, dir); err != nil {
		return remains{}, fmt.Errorf("campaign: %w", err)
	}
	left.dir = dir
	left.states, left.trace = w.system.States, w.system.Trace
	if w.system.Recording.Fit() && w.camp.keeps(w.system.Recording) {
		left.recording = w.system.Recording
	}
	return left, nil
}

// remains are what the present life left, or the last.
func (w *simWorld) remains(name string) remains {
	left := remains{copied: copied{name: name, dir: w.system.DeathDir(), at: w.Now().Add(w.system.Sim.Ahead())}, acted: w.system.Acted, bounded: w.bounded}
	for i, p := range w.system.Points {
		at := w.system.Times[i]
		left.points = append(left.points, process.Point{N: p.Number, Label: p.Label(), AtNs: at.At.UnixNano(), Site: p.Site})
		left.after = append(left.after, at.After)
	}
	return left
}

// Close implements World.
func (w *simWorld) Close() error {
	w.digest = w.system.Digest()
	return errors.Join(w.broken, w.system.End())
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
