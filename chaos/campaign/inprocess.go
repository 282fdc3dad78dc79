package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
)

const (
	serveLimit   = 20 * time.Second
	pendingLimit = 10 * time.Second
	wakeLimit    = 20 * time.Second
	// deathLimit is how long after a client has lost its connection its server's death
	// may show.
	deathLimit = time.Second
	// pollFirst and pollMost are how long the harness waits between two questions
	// whether anything is left to do: soon at first, then less often.
	pollFirst = 2 * time.Millisecond
	pollMost  = 20 * time.Millisecond
	// openSocket is how the server names a socket that cannot hibernate.
	openSocket = "an open WebSocket"
)

// processWorld is the World of real processes that die by SIGKILL, on the real
// clock. Its servers are the slot's standbys.
type processWorld struct {
	camp    *campaign
	slot    *slot
	run     *caseRun
	session *drive.Session
	log     *os.File
	dir     string // of the case
	state   string // that the servers share

	child  *process.Standby // of the present life; nil between two
	n      int              // its number
	life   fault.Plan
	ahead  time.Duration // how far the servers' clock was set
	died   time.Time     // when the life before this one did
	driven chan error    // gets the driver's end; nil while none runs
	due    chan struct{} // closed when the kill at a time is; nil without one
	stop   func()        // ends the present life's clients and its timer

	drivenAt time.Time // when the driver has stopped
	bounded  bool      // the present life was ended at the horizon
	deadline time.Time
	pause    time.Duration
	why      string // what was left to do when it was last asked

	settled  bool   // the present server has recovered, or had nothing to
	restocks bool   // the next case's standbys are started then
	loud     func() // ends what nursery.quiet began at the last death; not nil
}

func (s *slot) processWorld(ctx context.Context, r *caseRun) *processWorld {
	w := &processWorld{camp: s.camp, slot: s, run: r, log: r.log, dir: r.dir, state: filepath.Join(r.dir, "state"), loud: func() {}, stop: func() {}}
	r.history = history.NewRecorder(s.camp.clock, r.events)
	r.session = drive.NewSession(r.history, s.camp.scheduler, s.camp.Timeout+r.plan.Held())
	r.session.Pace(r.pace)
	w.session = r.session
	s.upstreams(r)
	if !s.camp.NoStandby {
		s.stock(r.camp.loads(len(r.lives)))
		s.await(ctx)
	}
	return w
}

// Now implements World.
func (w *processWorld) Now() time.Time { return w.camp.clock.Now() }

// Begin implements World.
func (w *processWorld) Begin(ctx context.Context, n int, life fault.Plan) (b born, err error) {
	w.n, w.life = n, life
	if w.child, err = w.slot.take(ctx, w.log, w.run.at); err != nil {
		return b, err
	}
	b.url, err = w.child.Serve(ctx, serveLimit, w.order())
	if err != nil {
		var exit *process.ExitError
		if life.Kill() != nil && errors.As(err, &exit) && exit.Exit.SelfKilled() {
			return b, errDied
		}
		return b, err
	}
	ready := w.Now()
	if n > 0 {
		b.readyMs = msBetween(w.died, ready)
	}
	child := w.child
	w.session.Await(func(ctx context.Context) {
		if life.Kill() != nil {
			_ = wait.Channel(ctx, w.camp.clock, deathLimit, "the server's death", child.Exited()) // else it was no death
		}
	})
	w.session.Connect(b.url)
	w.settled, w.restocks = n == 0, life.Kill() == nil && !w.slot.last && !w.camp.NoStandby
	w.bounded = false
	w.deadline, w.pause, w.why = ready.Add(w.camp.Timeout+w.run.plan.Held()+w.camp.Horizon+w.camp.Within-check.Horizon), pollFirst, "a client waits for its answer"
	var timer clock.Timer
	if f := life.Kill(); f != nil && f.After > 0 {
		passed := make(chan struct{})
		w.due, timer = passed, w.camp.clock.AfterFunc(f.After, func() { close(passed) })
	}
	w.stop = func() {
		w.due = nil
		if timer != nil {
			timer.Stop()
		}
		w.session.Disconnect()
	}
	b.pid = w.child.Pid()
	return b, nil
}

// order says what a server is to do in the present life.
func (w *processWorld) order() process.Order {
	o := process.Order{Persist: w.state, Points: w.pointLog(w.n), ClockMs: w.ahead.Milliseconds(), Skews: w.run.skews}
	if f := w.life.Kill(); f != nil {
		o.Arm, o.Checkpoint = f.Point, f.Checkpoint
	}
	for _, f := range w.life {
		if f.Verb != "" {
			o.Acts = append(o.Acts, f.String())
			o.Acted = w.actLog(w.n)
		}
	}
	return o
}

func (w *processWorld) pointLog(n int) string {
	return filepath.Join(w.dir, fmt.Sprintf("points-%d.ndjson", n+1))
}

func (w *processWorld) actLog(n int) string {
	return filepath.Join(w.dir, fmt.Sprintf("acts-%d.ndjson", n+1))
}

// Drive implements World.
func (w *processWorld) Drive(ctx context.Context, d drive.Driver) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	w.driven = stopped
	before := w.stop
	w.stop = func() { before(); cancel() }
	w.camp.scheduler.Go("drive", func() { stopped <- d.Run(ctx, w.session) })
}

// Next implements World.
func (w *processWorld) Next(ctx context.Context, d drive.Driver) (happening, error) {
	for {
		tick := make(chan struct{})
		timer := w.camp.clock.AfterFunc(w.pause, func() { close(tick) })
		select {
		case <-w.child.Exited():
			timer.Stop()
			return happening{what: died}, w.gone()
		case <-w.due:
			timer.Stop()
			return happening{what: due}, nil
		case err := <-w.driven:
			timer.Stop()
			w.driven, w.drivenAt = nil, w.Now()
			if w.cut(ctx, err) {
				continue
			}
			return happening{what: driven, err: err}, nil
		case <-ctx.Done():
			timer.Stop()
			return happening{}, context.Cause(ctx)
		case <-tick:
		}
		w.recovered()
		if w.driven == nil {
			if at, err := w.ask(ctx, d); err != nil || at.what != 0 {
				return at, err
			}
		}
		if !w.Now().Before(w.deadline) {
			return happening{}, ended(result.Restless, "not at rest %v after the server was ready: %s", w.camp.Timeout+w.run.plan.Held(), w.why)
		}
	}
}

// cut reports whether a driver has stopped because its server died: a lost
// connection is the first sign of that.
func (w *processWorld) cut(ctx context.Context, err error) bool {
	if errors.Is(err, drive.ErrUnsent) || errors.Is(err, agentrpc.ErrLost) {
		return wait.Channel(ctx, w.camp.clock, deathLimit, "the server's death", w.child.Exited()) == nil
	}
	_, exited := w.child.Exit()
	return err == nil && exited
}

// ask asks whether anything is left to do, and the next time a little later.
func (w *processWorld) ask(ctx context.Context, d drive.Driver) (happening, error) {
	why, err := w.child.Pending(ctx, pendingLimit, w.camp.Within)
	if err != nil {
		if _, exited := w.child.Exit(); exited {
			return happening{}, nil // Next sees it
		}
		if ctx.Err() == nil && errors.Is(err, wait.ErrTimeout) {
			return happening{}, ended(result.Restless, "the server's loop does not come back: %w", err)
		}
		return happening{}, err
	}
	w.why, w.pause = why, min(w.pause*2, pollMost)
	if why == "" {
		return happening{what: rested}, nil
	}
	past := w.Now().Sub(w.drivenAt)
	if d.Finished() && (strings.HasSuffix(why, openSocket) || w.camp.Horizon > 0 && past >= w.camp.Horizon/2) {
		w.session.Disconnect() // such a socket keeps its object awake: the clients are done, and go
	}
	if w.bounded = w.camp.Horizon > 0 && past >= w.camp.Horizon && mayGoOn(why); w.bounded {
		return happening{what: rested}, nil
	}
	return happening{}, nil
}

// recovered has preparations go on once this life's server has recovered, and the
// next case's servers begin to prepare if this life is the last: before, they
// would be in its way.
func (w *processWorld) recovered() {
	if w.settled {
		return
	}
	points, err := process.ReadPoints(w.pointLog(w.n))
	if _, found := firstCommit(points); err != nil || !found {
		return
	}
	w.settled = true
	w.loud()
	if w.restocks {
		w.slot.stock(w.camp.loads(w.n + 1))
	}
}

// Wake implements World.
func (w *processWorld) Wake(ctx context.Context) ([]string, error) {
	unborn, err := w.child.Wake(ctx, wakeLimit)
	var exit *process.ExitError
	if w.life.Kill() != nil && errors.As(err, &exit) && exit.Exit.SelfKilled() {
		return nil, errDied
	}
	return unborn, err
}

// Kill implements World.
func (w *processWorld) Kill() error {
	if err := w.child.Kill(); err != nil {
		return err
	}
	if exit, _ := w.child.Exit(); !exit.Killed {
		return fmt.Errorf("campaign: %w", w.child.ExitError())
	}
	return nil
}

// gone says whether a child that has ended did so as the plan says.
func (w *processWorld) gone() error {
	f := w.life.Kill()
	if exit, _ := w.child.Exit(); f == nil || !exit.Killed || f.After == 0 && !exit.SelfKilled() {
		return fmt.Errorf("campaign: %w", w.child.ExitError())
	}
	return nil
}

// mayGoOn reports whether what is left to do may go on for ever in a system that lives:
// alarms, timers and sockets. No turn runs then.
func mayGoOn(why string) bool {
	return strings.HasPrefix(why, "an alarm is due in") || strings.HasSuffix(why, "timers are pending (setTimeout, setInterval)") || strings.HasSuffix(why, openSocket) ||
		strings.HasSuffix(why, "or open sockets keep it alive")
}

// Leave implements World.
func (w *processWorld) Leave(died bool, err error) error {
	if died && err == nil && drain(w.session, w.driven, w.camp.clock) {
		w.driven = nil
	}
	w.stop()
	w.stop = func() {}
	if died && err == nil {
		w.loud() // this server may have died before it had recovered
		if !w.camp.NoStandby {
			w.loud = w.camp.nursery.Quiet() // until the next one has
		}
		if w.driven != nil {
			<-w.driven // it has lost its connection; what it had not sent comes in the next life
		}
	}
	w.driven = nil
	return err
}

// drain has clients read what a server that has died had sent, and the driver notice the
// death by itself: to hang up instead would race with answers that are on their way. It
// reports whether the driver has stopped.
func drain(s *drive.Session, driven <-chan error, c clock.Clock) bool {
	ctx, cancel := wait.WithLimit(context.Background(), c, deathLimit)
	defer cancel()
	s.Drain(ctx)
	if driven == nil {
		return false // none runs
	}
	select {
	case <-driven: // what it had not sent comes in the next life
		return true
	case <-ctx.Done():
		return false
	}
}

// Bury implements World: the files lie where the next life looks for them, and the
// system has closed the connections.
func (w *processWorld) Bury() error { return nil }

// Death implements World.
func (w *processWorld) Death() (remains, error) {
	before := w.died
	w.died = w.Now()
	left, err := w.end(fmt.Sprintf("death-%d", w.n+1))
	if err != nil {
		return left, err
	}
	left.since = before
	f, n := w.life.Kill(), len(left.points)
	if f != nil && f.Point != "" {
		if err := diedWhereAimed(f.Point, left.points); err != nil {
			return left, err
		}
	}
	if f != nil && f.After == 0 && f.Step == 0 && !f.Deploy && n > 0 { // else it may have done nothing for long
		w.died = time.Unix(0, left.points[n-1].AtNs)
	}
	return left, nil
}

// End implements World.
func (w *processWorld) End() (remains, error) {
	left, err := w.end("end")
	left.since, left.bounded = w.died, w.bounded
	return left, err
}

// end ends the present server and reads what it left.
func (w *processWorld) end(name string) (left remains, err error) {
	if err := w.child.Close(); err != nil {
		return left, err
	}
	w.child = nil
	if left.points, err = process.ReadPoints(w.pointLog(w.n)); err != nil {
		return left, err
	}
	if left.acted, err = w.readActs(); err != nil {
		return left, err
	}
	left.copied, err = preserved(w.state, w.dir, name, w.Now().Add(w.ahead))
	return left, err
}

// preserved copies a state directory whose server is dead to a folder of a case's.
func preserved(state, dir, name string, at time.Time) (copied, error) {
	c := copied{name: name, dir: filepath.Join(dir, name), at: at}
	if err := evidence.Preserve(filepath.Join(state, "v3"), filepath.Join(c.dir, "v3")); err != nil {
		return c, fmt.Errorf("campaign: %w", err)
	}
	return c, nil
}

// readActs reads which faults of the present life were done, beside its kill. The
// clock stays where one of them has set it.
func (w *processWorld) readActs() ([]process.Acted, error) {
	data, err := os.ReadFile(w.actLog(w.n))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("campaign: acts: %w", err)
	}
	var all []process.Acted
	for line := range bytes.Lines(data) {
		var a process.Acted
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("campaign: acts: %w", err)
		}
		all = append(all, a)
		f, err := fault.Parse(a.Fault)
		if err != nil || f.Verb != fault.Jump {
			continue
		}
		d, err := time.ParseDuration(f.Arg)
		if err != nil {
			return nil, fmt.Errorf("campaign: acts: %w", err)
		}
		w.ahead += d
	}
	return all, nil
}

// diedWhereAimed checks that the target was met at the last point, not before.
func diedWhereAimed(target string, points []process.Point) error {
	hits, err := killpoint.ParseTarget(target)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	for i, p := range points {
		at, err := killpoint.ParseLabel(p.Label)
		if err != nil {
			return fmt.Errorf("campaign: the server recorded a point that is none: %w", err)
		}
		at.Number = p.N
		if hits(at) != (i == len(points)-1) {
			return fmt.Errorf("campaign: the server died by SIGKILL, but not at %s: its last point is %d, %s", target, len(points), points[len(points)-1].Label)
		}
	}
	if len(points) == 0 {
		return errors.New("campaign: the server died by SIGKILL before it recorded a point")
	}
	return nil
}

// Close implements World.
func (w *processWorld) Close() (err error) {
	w.loud()
	w.session.Disconnect()
	if w.child != nil {
		err = w.child.Close()
	}
	w.slot.unserve()
	return err
}
