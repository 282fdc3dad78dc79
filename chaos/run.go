package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/fibers"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

const (
	readyLimit = 90 * time.Second // a first start transforms all npm packages
	stopLimit  = 15 * time.Second
	closeLimit = 10 * time.Second
)

// Run drives the agent, kills the server, starts it again on the same files,
// waits until the agent is at rest, and checks what holds. It returns when
// everything it started has ended.
//
// # Errors
//
// The Report's Code says how it went; err explains every code but Pass and
// Violated. *UsageError goes with Usage.
func Run(ctx context.Context, o Options) (Report, error) {
	return with(ctx, o, (*run).play)
}

// ListPoints drives the agent once without a kill and returns the effect points
// that the server passed, in order. Any of them is a KillAt.
func ListPoints(ctx context.Context, o Options) ([]process.Point, Report, error) {
	var points []process.Point
	o.KillAt, o.KillAfter, o.KillAtCheckpoint = "", 0, 0
	report, err := with(ctx, o, func(r *run, ctx context.Context) (err error) {
		points, err = r.record(ctx)
		return err
	})
	return points, report, err
}

// run is one run. Confined to the goroutine that plays it.
type run struct {
	Options
	story
	target    target
	scheduler *sched.Threads
	clock     clock.Clock
	state     string // the persist directory
	log       *os.File
	watcher   *watcher
	// checkpoint tells that the child stands at its last checkpoint; nil if it is
	// killed otherwise.
	checkpoint <-chan error

	child   *process.Child
	url     string
	lives   int // children started
	client  *agentrpc.Client
	asking  *asking
	driven  bool // the call was sent
	clients int

	report Report
	deaths []fibers.State
}

// outcome is an end of a run that is no success, with its exit code.
type outcome struct {
	code int
	err  error
}

func (e *outcome) Error() string { return e.err.Error() }
func (e *outcome) Unwrap() error { return e.err }

func failed(code int, format string, args ...any) error {
	return &outcome{code, fmt.Errorf(format, args...)}
}

// with prepares a run, plays it, and cleans up whatever came of it.
func with(ctx context.Context, o Options, play func(*run, context.Context) error) (report Report, err error) {
	o, err = o.complete()
	if err != nil {
		return Report{Code: CodeOf(err)}, err
	}
	where, err := locate(o)
	if err != nil {
		return Report{Code: CodeOf(err)}, err
	}
	r := &run{Options: o, target: where, clock: clock.Real{}}
	r.scheduler = sched.NewThreads(r.clock)
	if err := r.prepareDir(); err != nil {
		return Report{Code: CodeOf(err)}, fmt.Errorf("chaos: %w", err)
	}
	events, err := os.Create(filepath.Join(r.report.Dir, "history.ndjson"))
	if err != nil {
		return Report{Code: Broken}, fmt.Errorf("chaos: %w", err)
	}
	r.story = story{history: history.NewRecorder(r.clock, events), color: o.Color, out: o.Out}
	r.watcher = newWatcher(r.clock, where.namespaceDir(r.state), where.id, r.tell)

	err = play(r, ctx)
	err = errors.Join(err, r.close(), events.Close())
	r.report.Elapsed = r.history.Elapsed()
	if err != nil {
		r.report.Code = CodeOf(err)
	}
	r.report.Replay = r.replay()
	return r.report, err
}

// CodeOf is the exit code that goes with an error.
func CodeOf(err error) int {
	var o *outcome
	switch {
	case errors.As(err, &o):
		return o.code
	case IsUsage(err):
		return Usage
	}
	return Broken
}

// replay prefers the exact point of a single kill.
func (r *run) replay() string {
	if len(r.report.Kills) == 1 {
		return replayCommand(r.Options, r.report.Kills[0].Point)
	}
	return replayCommand(r.Options, "")
}

// prepareDir makes the directory of the evidence, with the persist directory
// and the server's log in it.
func (r *run) prepareDir() (err error) {
	dir := r.Dir
	if dir == "" {
		if dir, err = newDir(filepath.Join("minido-out", filepath.Base(filepath.Dir(r.target.config)))); err != nil {
			return err
		}
	}
	if r.report.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	r.state = filepath.Join(r.report.Dir, "state")
	if err := os.MkdirAll(r.report.Dir, 0o700); err != nil {
		return err
	}
	// A persist directory of an earlier run would be a different experiment.
	if err := os.Mkdir(r.state, 0o700); errors.Is(err, fs.ErrExist) {
		return usage("%s already holds a run; give another directory.", r.report.Dir)
	} else if err != nil {
		return err
	}
	r.log, err = os.Create(filepath.Join(r.report.Dir, "server.log"))
	return err
}

// newDir makes the first of base/1, base/2, ... that does not exist.
func newDir(base string) (string, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(base, strconv.Itoa(n))
		err := os.Mkdir(dir, 0o700)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// close ends everything that still runs.
func (r *run) close() error {
	var errs []error
	if r.client != nil {
		r.client.Close()
	}
	if r.child != nil {
		errs = append(errs, r.child.Close())
	}
	ctx, cancel := wait.WithLimit(context.Background(), r.clock, closeLimit)
	defer cancel()
	return errors.Join(append(errs, r.scheduler.Close(ctx), r.log.Close(), r.history.Err())...)
}

// play is the run itself.
func (r *run) play(ctx context.Context) error {
	r.say("%s", r.paint(bold, fmt.Sprintf("minido chaos: %s on %s, killed %s, back %s", r.what(), r.On, r.when(), map[Recovery]string{
		ByAlarm: "by its own alarm: nobody asks", ByRequest: "by a request"}[r.Recover])))
	if err := r.start(ctx, true); err != nil {
		return err
	}
	if err := r.drive(ctx); err != nil {
		return err
	}
	for n := 1; n <= r.Kills; n++ {
		if err := r.awaitDeath(ctx, n); err != nil {
			return err
		}
		if err := r.start(ctx, n < r.Kills); err != nil {
			return err
		}
		if !r.driven { // the first child died before it could be asked
			if err := r.drive(ctx); err != nil {
				return err
			}
		} else if r.Recover == ByRequest {
			if err := r.touch(ctx); err != nil {
				return err
			}
		}
	}
	if err := r.awaitRest(ctx); err != nil {
		return err
	}
	rest, err := r.finish(ctx)
	if err != nil {
		return err
	}
	r.judge(rest)
	return nil
}

// record is a run without a kill.
func (r *run) record(ctx context.Context) ([]process.Point, error) {
	if err := r.start(ctx, false); err != nil {
		return nil, err
	}
	if err := r.drive(ctx); err != nil {
		return nil, err
	}
	if err := r.awaitRest(ctx); err != nil {
		return nil, err
	}
	if _, err := r.finish(ctx); err != nil {
		return nil, err
	}
	return r.child.Points()
}

func (r *run) what() string {
	if r.Chat != "" {
		return "chat " + strconv.Quote(r.Chat)
	}
	return r.Call + "(" + inner(r.Args) + ")"
}

// inner is a JSON array without its brackets.
func inner(args string) string {
	var list []json.RawMessage
	if json.Unmarshal([]byte(args), &list) != nil {
		return ""
	}
	out := ""
	for i, a := range list {
		if i > 0 {
			out += ", "
		}
		out += string(a)
	}
	return out
}

func (r *run) when() string {
	switch {
	case r.KillAt != "":
		return "at " + r.KillAt
	case r.KillAfter != 0:
		return "after " + r.KillAfter.String()
	}
	return fmt.Sprintf("once a fiber has stored %d checkpoints", r.KillAtCheckpoint)
}

// finish stops the last child politely and reads what it left.
func (r *run) finish(ctx context.Context) (fibers.State, error) {
	if r.client != nil {
		r.client.Close()
	}
	if err := r.child.Stop(ctx, stopLimit); err != nil {
		return fibers.State{}, failed(Broken, "the server did not stop: %w", err)
	}
	r.history.Add(history.Event{Kind: history.Stop, Who: r.childName()})
	return r.preserve("end")
}

// preserve copies the files of a dead server and reads the agent's.
func (r *run) preserve(name string) (fibers.State, error) {
	dir := filepath.Join(r.report.Dir, name)
	if err := evidence.Preserve(r.state, dir); err != nil {
		return fibers.State{}, fmt.Errorf("chaos: %w", err)
	}
	paths, err := evidence.Databases(r.target.namespaceDir(dir), r.target.id)
	if err != nil {
		return fibers.State{}, fmt.Errorf("chaos: %w", err)
	}
	state, err := fibers.Read(paths)
	if err != nil {
		return fibers.State{}, fmt.Errorf("chaos: the files of %s: %w", name, err)
	}
	return state, nil
}

// judge checks the invariants and gives the verdict.
func (r *run) judge(rest fibers.State) {
	r.report.Violations = fibers.Check(r.deaths, rest, 0)
	for _, d := range rest.Databases {
		r.report.HooksVisible = r.report.HooksVisible || d.HasHooks
	}
	for _, v := range r.report.Violations {
		r.history.Add(history.Event{Kind: history.Note, Who: "checker", Text: v.String()})
	}
	if len(r.report.Violations) > 0 {
		r.report.Code = Violated
	}
	r.verdict()
}

func (r *run) childName() string { return "server-" + strconv.Itoa(r.lives) }
