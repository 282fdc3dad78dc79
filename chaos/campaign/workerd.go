package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/outside"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/workerd"
)

// Workerd is the world of Repeat: the wrangler that the user has installed, on the real clock.
const Workerd Mode = "workerd"

// OnWorkerd says how Repeat runs a plan.
type OnWorkerd struct {
	Tool workerd.Tool
	// Moments are those of the deaths of the plan.
	Moments []workerd.Moment
	// Least is how long a life works after its clients are done.
	Least time.Duration
	// Again takes the result of a try and when its last death came, and says whether another one
	// follows, and whether the evidence of this one is kept.
	Again func(r result.Case, how string) (again, keep bool)
}

// onto is what the cases of Repeat share. Confined to its goroutine.
type onto struct {
	OnWorkerd
	try int    // from 1
	how string // when its last death came
}

// Repeat runs a plan of deaths of the process on workerd, and compares each run with runs
// without a fault there. It returns when Again says so.
//
// # Errors
//
// *chaos.UsageError, where the project or its clients fail there without a fault; ctx's cause;
// what made the harness itself fail.
func Repeat(ctx context.Context, o Options, plan fault.Plan, on OnWorkerd) error {
	o.Mode, o.Jobs, o.SyncNormal = Workerd, 1, false
	_, err := with(ctx, "confirm", o, func(c *campaign, ctx context.Context) error {
		c.onto = &onto{OnWorkerd: on}
		s := c.slots[0]
		if c.refers() {
			if _, err := (&caseRun{camp: c, slot: s, plan: plan, pace: c.Pace}).learn(ctx); err != nil {
				return err
			}
		}
		for again := true; again; {
			c.onto.try++
			c.onto.how = ""
			r, err := s.run(ctx, group{plan: plan})
			if err != nil {
				return err
			}
			var keep bool
			again, keep = on.Again(r.Case, c.onto.how)
			if err := c.settle(&r, keep || c.Keep); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// workerdWorld is the World of `wrangler dev`: it dies when a trigger says so, and is at
// rest when nothing seems to happen any more.
type workerdWorld struct {
	camp  *campaign
	slot  *slot
	run   *caseRun
	state string // that the servers share

	server   *workerd.Server  // of the present life; nil between two
	trigger  *workerd.Trigger // nil if nothing kills it
	n        int              // its number
	rest     workerd.Rest
	died     time.Time  // when the life before this one did
	driven   chan error // gets the driver's end; nil while none runs
	drivenAt time.Time  // when the driver has stopped
	stop     func()     // ends the present life's clients
	bounded  bool       // the present life was ended at the horizon
	deadline time.Time
	why      string // what was left to do when it was last asked
}

const (
	// workerdStart is how long wrangler may take until it answers.
	workerdStart = 5 * time.Minute
	// usualGap is how much time there is for a death where a run without one does not say.
	usualGap = 200 * time.Millisecond
)

func (s *slot) workerdWorld(r *caseRun) *workerdWorld {
	r.history = history.NewRecorder(s.camp.clock, r.events)
	r.session = drive.NewSession(r.history, s.camp.scheduler, s.camp.Timeout)
	r.session.Pace(r.pace)
	if f := r.reference; f != nil {
		r.session.Lose(f.lose)
		r.session.Break(f.breaks)
	}
	s.upstreams(r)
	return &workerdWorld{camp: s.camp, slot: s, run: r, state: filepath.Join(r.dir, "state"), stop: func() {}}
}

// Now implements World.
func (w *workerdWorld) Now() time.Time { return w.camp.clock.Now() }

// Begin implements World.
func (w *workerdWorld) Begin(ctx context.Context, n int, life fault.Plan) (b born, err error) {
	c, scratch := w.camp, filepath.Join(w.run.dir, "wrangler")
	w.n, w.trigger, w.bounded = n, nil, false
	if err := errors.Join(os.MkdirAll(scratch, 0o700), os.MkdirAll(w.state, 0o700)); err != nil {
		return b, fmt.Errorf("campaign: %w", err)
	}
	o := workerd.Life{Config: c.config, Env: c.Env, Vars: append(append([]string{}, c.Vars...), w.slot.sinkVars()...),
		Persist: w.state, Scratch: scratch, Log: c.Log, Scheduler: c.scheduler, Limit: workerdStart}
	if w.slot.model != nil {
		o.Vars = append(outside.ModelVars(w.slot.model.URL()), o.Vars...)
	}
	if w.run.log != nil {
		o.Log = w.run.log
	}
	if w.server, err = c.onto.Tool.Start(ctx, o); err != nil {
		return b, err
	}
	ready := w.Now()
	if n > 0 {
		b.readyMs = msBetween(w.died, ready)
	}
	if f := life.Kill(); f != nil && f.Step == 0 { // before a step, the clients know when
		if err := w.arm(ctx); err != nil {
			return b, err
		}
	}
	session := w.run.session
	session.Await(func(ctx context.Context) {
		if w.trigger != nil {
			w.trigger.Await(ctx, deathLimit) // else it was no death that has cut the connection
		}
	})
	session.Connect(w.server.URL)
	w.stop = session.Disconnect
	w.rest = workerd.Rest{Persist: w.state, Least: c.onto.Least}
	w.deadline, w.why = ready.Add(c.Timeout+c.Horizon+c.onto.Least), "a client waits for its answer"
	b.url, b.pid = w.server.URL, w.server.Pid()
	return b, nil
}

// arm has the present life end as that of the finding did.
func (w *workerdWorld) arm(ctx context.Context) error {
	c := w.camp
	if w.n >= len(c.onto.Moments) {
		return fmt.Errorf("campaign: there is no moment for death %d", w.n+1)
	}
	m := c.onto.Moments[w.n]
	o := workerd.TriggerOptions{Moment: m, Way: workerd.WayOf(c.onto.try), Gap: usualGap, Persist: w.state, Clock: c.clock, Kill: w.server.Kill}
	if c.refers() {
		mask, err := w.run.learn(ctx) // which Repeat has done before
		if err != nil {
			return err
		}
		o.Mask = *mask
		o.Gap = m.Gap(w.run.referTo(ctx, 0, nil, drive.Breaks{}, nil).events, usualGap)
	}
	w.trigger = workerd.Arm(o)
	w.run.history.Observe(w.trigger.Event)
	return nil
}

// Drive implements World.
func (w *workerdWorld) Drive(ctx context.Context, d drive.Driver) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	w.driven = stopped
	before := w.stop
	w.stop = func() { before(); cancel() }
	w.camp.scheduler.Go("drive", func() { stopped <- d.Run(ctx, w.run.session) })
}

// Next implements World.
func (w *workerdWorld) Next(ctx context.Context, d drive.Driver) (happening, error) {
	for {
		tick := make(chan struct{})
		timer := w.camp.clock.AfterFunc(pollFirst, func() { close(tick) })
		select {
		case <-w.trigger.Fired():
			timer.Stop()
			return happening{what: due}, nil
		case <-w.server.Exited():
			timer.Stop()
			if !w.trigger.Killed() {
				return happening{}, fmt.Errorf("campaign: wrangler dev: %w", w.server.ExitError())
			}
			continue
		case err := <-w.driven:
			timer.Stop()
			w.driven, w.drivenAt = nil, w.Now()
			if !w.trigger.Killed() {
				return happening{what: driven, err: err}, nil
			}
			continue // it has stopped for that
		case <-ctx.Done():
			timer.Stop()
			return happening{}, context.Cause(ctx)
		case <-tick:
		}
		w.trigger.Poll()
		if w.driven == nil {
			if at, err := w.ask(d); err != nil || at.what != 0 {
				return at, err
			}
		}
		if !w.Now().Before(w.deadline) {
			return happening{}, ended(result.Restless, "not at rest %v after the server was ready: %s", w.camp.Timeout, w.why)
		}
	}
}

// ask asks whether anything seems to be left to do.
func (w *workerdWorld) ask(d drive.Driver) (happening, error) {
	reached, why, err := w.rest.Reached(w.Now(), w.run.history.Len())
	if err != nil {
		return happening{}, fmt.Errorf("campaign: %w", err)
	}
	w.why = why
	past, horizon := w.Now().Sub(w.drivenAt), w.camp.Horizon
	if d.Finished() && horizon > 0 && past >= horizon/2 {
		w.run.session.Disconnect()
	}
	if w.bounded = !reached && horizon > 0 && past >= horizon; w.bounded || reached {
		return happening{what: rested}, nil
	}
	return happening{}, nil
}

// Wake implements World.
func (w *workerdWorld) Wake(context.Context) ([]string, error) {
	return nil, errors.New("campaign: workerd has no way to have every object constructed")
}

// Kill implements World.
func (w *workerdWorld) Kill() error {
	how, err := "between the two steps of the clients", error(nil)
	if w.trigger != nil {
		how, err = w.trigger.How()
	}
	w.camp.onto.how = how
	return errors.Join(err, w.server.Kill())
}

// Leave implements World.
func (w *workerdWorld) Leave(died bool, err error) error {
	if died && err == nil && drain(w.run.session, w.driven, w.camp.clock) {
		w.driven = nil
	}
	w.stop()
	w.stop = func() {}
	if died && err == nil && w.driven != nil {
		<-w.driven // it has lost its connection; what it had not sent comes in the next life
	}
	w.driven = nil
	return errors.Join(err, w.trigger.Stop())
}

// Bury implements World.
func (w *workerdWorld) Bury() error { return nil }

// Death implements World.
func (w *workerdWorld) Death() (left remains, err error) {
	left.since, w.died = w.died, w.Now()
	left.copied, err = w.end(fmt.Sprintf("death-%d", w.n+1))
	return left, err
}

// End implements World.
func (w *workerdWorld) End() (left remains, err error) {
	left.since, left.bounded = w.died, w.bounded
	left.copied, err = w.end("end")
	return left, err
}

// end ends the present server and keeps its files.
func (w *workerdWorld) end(name string) (copied, error) {
	if err := w.server.Close(); err != nil {
		return copied{}, err
	}
	w.server = nil
	return preserved(w.state, w.run.dir, name, w.Now())
}

// Close implements World.
func (w *workerdWorld) Close() (err error) {
	w.run.session.Disconnect()
	if w.server != nil {
		err = w.server.Close()
	}
	w.slot.unserve()
	return err
}
