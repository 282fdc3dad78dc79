package vitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
)

// fileRun is one run of one test file, in a world of its own. It belongs to the
// goroutine that runs it.
type fileRun struct {
	project *project
	bundles *server.Bundles
	file    string // absolute
	name    string // testNamePattern
	seed    uint64
	failed  int  // tests of the files before
	quiet   bool // what the tests log is dropped
	// fault, with at counted from 1, is what happens in the test named test; at 0
	// records its points.
	fault Fault
	test  string
	at    int
	armed killpoint.Point // where a crash happens

	world     *world.World
	host      host
	points    []killpoint.Point // of objects, all of the run
	watching  bool              // the test runs
	window    []killpoint.Point // of the test
	running   []string          // the names of tests that have begun and not ended
	timeout   int               // of the last of them, milliseconds
	before    map[string]int    // what was open when the first of them began
	restarted string            // why the worker was restarted last, and where; "" if it was not
	due       string            // the object that an eviction waits for, "Class/name"
	kill      killpoint.Point   // an armed crash that takes all objects with it; its Occurrence counts down to 0
	crashed   bool              // that crash has happened, the others are still to come
	model     model
	stored    []*server.Storage // what storage goes back to, the innermost test or suite last
	history   []observed
	real      bool // time passes as the machine's does
}

// syncTakes is how long a sync takes, of virtual time: what is ready to run then
// runs before it, a loss of power included.
const syncTakes = time.Microsecond

// answer is what the suite's code returns.
type answer struct {
	Fatal     string
	File      *Task
	Snapshot  *Snapshot
	Unhandled []Error
	// Connections are the test's own, in runs for chaos.
	Connections connections
}

// connections are those of a test: how many calls were lost, how many WebSockets it has opened,
// and how many of them were cut; and how often vi.waitFor waited in vain.
type connections struct{ Calls, Sockets, Cut, Vain int }

// do runs the file. The error is of this process; what the file does wrong is in
// the answer.
func (r *fileRun) do() (a *answer, err error) {
	if r.project.options.cancelled() {
		return nil, ErrCancelled
	}
	dir, err := os.MkdirTemp("", "minido-test-")
	if err != nil {
		return nil, fmt.Errorf("vitest: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r.host.run, r.model.note = r, r.note
	p := r.project
	c := p.config
	c.Entry = p.entry
	var unserved error
	r.world, err = world.Open(world.Options{Config: c, Others: p.others, Seed: r.seed, Dir: dir, CacheDir: p.options.CacheDir, Bundles: r.bundles, Amend: p.amend, RunsTests: true, Patience: r.patience(),
		AI:       "http://" + modelHost,
		SyncFull: true, SyncTakes: syncTakes, Power: func(killpoint.Point) (entropy.Source, bool) { return nil, false }, // powerLoss asks what was synced
		Network: func(w *world.World) {
			w.Net.Handle(hostName, r.host.handle)
			if n := p.settings.node; n != nil {
				w.Net.Handle(nodeHost, n.serve)
			}
			w.Net.Handle("*", elsewhere)
			if name := p.settings.Outbound; name != "" {
				w.Net.Handle("*", func(req *event.Request, done func(*event.Response, error)) func(error) {
					return r.outbound(name, req, done)
				})
			}
			unserved = r.model.serve(w)
		}, Point: r.point, Console: r.log,
		Events: func(ev server.Event) {
			if ev.Kind == server.EventRestarted {
				r.restarted = ev.Text
			}
		}})
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, r.world.Stop())
		p.options.measure.fold()
	}()
	if unserved != nil {
		return nil, unserved
	}
	defer r.model.server.End()
	request, err := json.Marshal(r.request())
	if err != nil {
		return nil, fmt.Errorf("vitest: %w", err)
	}
	response := r.world.Send(&event.Request{Method: "POST", URL: "http://run.minido.test/", Header: event.Header{{Name: "Host", Value: "run.minido.test"}}, Body: event.Bytes(request)})
	for !response.Done() {
		if err := r.world.Until(func() bool {
			return response.Done() || len(r.host.queue) > 0 || r.due != "" || r.crashed || p.options.cancelled()
		}); err != nil {
			return &answer{Fatal: "the test file never ends: " + err.Error()}, nil
		}
		if p.options.cancelled() {
			return nil, ErrCancelled
		}
		if err := r.act(); err != nil {
			return nil, err
		}
	}
	if response.Err != nil {
		return &answer{Fatal: r.broken(response.Err)}, nil
	}
	if response.Status != 200 {
		return &answer{Fatal: fmt.Sprintf("the worker answered %d: %s", response.Status, response.Body)}, nil
	}
	a = &answer{}
	if err := json.Unmarshal(response.Body, a); err != nil {
		return nil, fmt.Errorf("vitest: %w", err)
	}
	return a, nil
}

// elsewhere answers what goes to the network: servers of this machine, and nobody.
func elsewhere(req *event.Request, done func(*event.Response, error)) func(error) {
	if !req.Upgrade && isLocal(req.URL) {
		askLocal(req, done)
		return func(error) {}
	}
	what := "no network but HTTP servers of this machine"
	if req.Upgrade {
		what = "no WebSockets but the worker's own"
	}
	done(nil, &event.Error{Name: "Error", Message: fmt.Sprintf("%s %s: tests have %s. Answer it with fetchMock of cloudflare:test, msw, "+
		"vi.spyOn(globalThis, \"fetch\"), or outboundService in the plugin's options", req.Method, req.URL, what)})
	return func(error) {}
}

// outbound has the worker of that name answer what goes to the network, as miniflare's
// outboundService does.
func (r *fileRun) outbound(name string, req *event.Request, done func(*event.Response, error)) func(error) {
	service := r.world.Server.Worker(name)
	if service == nil {
		done(nil, fmt.Errorf("the option miniflare.outboundService names the worker %q, which miniflare.workers does not have", name))
		return func(error) {}
	}
	return service.Fetch(req, done)
}

// act does what is due between two steps.
func (r *fileRun) act() error {
	switch {
	case r.crashed:
		r.crashed = false
		r.note("fault", "kill")
		return r.host.actAll("crash", "")
	case r.due != "":
		object := r.due
		r.due = ""
		class, name, _ := strings.Cut(object, "/")
		ref, err := r.world.Server.Address(class, name)
		if err != nil {
			return err
		}
		sockets := "close"
		if r.fault == Hibernate {
			sockets = "hibernate"
		}
		action, err := verb("evict", sockets)
		if err != nil {
			return err
		}
		return r.whenIdle(ref, action, object)
	case len(r.host.queue) > 0:
		r.host.answer()
	}
	return nil
}

// whenIdle evicts an object; one that is busy is due again after the next step,
// until the test is over.
func (r *fileRun) whenIdle(ref pool.Ref, action pool.Action, object string) error {
	err := r.wait(func(done func(error)) { ref.Act(action, done) })
	var refused *pool.RefusedError
	if errors.As(err, &refused) {
		if r.watching {
			r.due = object
			_, err = r.world.Step()
			return err
		}
		return nil
	}
	if errors.Is(err, pool.ErrNotRunning) {
		return nil
	}
	return err
}

// wait starts something and returns its outcome.
func (r *fileRun) wait(start func(done func(error))) error {
	err, over := error(nil), false
	start(func(e error) { err, over = e, true })
	if stuck := r.world.Until(func() bool { return over }); stuck != nil {
		return stuck
	}
	return err
}

// defaultPatience is how long a test may compute without a pause if nothing is configured,
// and leastPatience how long it may in any case: an interpreter is slower than V8, for which
// people choose their limits.
const (
	defaultPatience = 10 * time.Second
	leastPatience   = 5 * time.Second
)

// patience is when a test fails that computes on and on: no timer can fire then.
func (r *fileRun) patience() *engine.Patience {
	o, s := r.project.options, r.project.settings
	limit := time.Duration(s.TestTimeout * float64(time.Millisecond))
	if o.Timeout > 0 {
		limit = o.Timeout
	}
	after := o.Patience
	switch {
	case after > 0:
	case limit == virtualTimeout*time.Millisecond:
		after = defaultPatience
	default:
		after = max(limit, leastPatience)
	}
	return &engine.Patience{After: after, Text: func() string {
		if len(r.running) == 0 {
			return fmt.Sprintf("code outside of tests (a hook of a suite, or the file itself) computed for %v without a pause", after)
		}
		took := r.timeout
		if took == 0 || took == virtualTimeout {
			took = int(after.Milliseconds())
		}
		return fmt.Sprintf("Test timed out in %dms.\nIf this is a long-running test, pass a timeout value as the last argument or configure it globally with \"testTimeout\".\nIt computed for %v without a pause.", took, after)
	}}
}

// begins is told that a test begins.
func (r *fileRun) begins(name string, timers, timeout int) error {
	r.timeout = timeout
	if r.running = append(r.running, name); len(r.running) == 1 {
		r.before = r.open(timers)
	}
	if name != r.test || r.watching {
		return nil
	}
	r.watching, r.window = true, nil
	if r.at == 0 || r.fault != Crash && r.fault != Kill {
		return nil
	}
	return r.arm(r.armed)
}

// arm lets the object of p crash there, and with it all others if the fault is a kill.
// A kill at a point of what is no object of the project's, such as a bucket, takes the
// objects alone.
func (r *fileRun) arm(p killpoint.Point) error {
	if r.fault == Kill {
		r.kill = p
	}
	if !r.owns(p) {
		return nil
	}
	return arm(r.world, p.Object, p.Label())
}

// owns reports whether p is a point of an object of the project's own worker, not of
// another worker's or of a binding that is kept in objects.
func (r *fileRun) owns(p killpoint.Point) bool {
	class, _, _ := strings.Cut(p.Object, "/")
	return slices.ContainsFunc(r.project.worker.Classes, func(c config.DurableObjectClass) bool { return c.ClassName == class })
}

// ends is told that a test ends, and names what it has left open.
func (r *fileRun) ends(name string, timers int) (leaks []string) {
	leaks = r.leaks(timers)
	r.watching = false
	r.running = slices.DeleteFunc(r.running, func(other string) bool { return other == name })
	return leaks
}

// broken is what the file's failure is when the worker ended with err: the tests
// that ran then, and why and where the worker was restarted.
func (r *fileRun) broken(err error) string {
	text := err.Error()
	if r.restarted != "" {
		text = r.restarted
	}
	switch len(r.running) {
	case 0:
		return text
	case 1:
		return fmt.Sprintf("while the test %q ran, %s", r.running[0], text)
	}
	return fmt.Sprintf("while the tests %q ran, %s", r.running, text)
}

// killsAt reports whether the crash that takes all objects with it is at p.
func (r *fileRun) killsAt(p killpoint.Point) bool {
	k := &r.kill
	if k.Occurrence == 0 || p.Kind != k.Kind || p.Side != k.Side || p.Object != k.Object || k.Cause != "" && p.Cause != k.Cause {
		return false
	}
	k.Occurrence--
	return k.Occurrence == 0
}

// point is called at each effect point. Those of a whole class, the directory of
// its files, are no object's.
func (r *fileRun) point(p killpoint.Point, _ world.Moment) {
	if !strings.Contains(p.Object, "/") {
		return
	}
	r.points = append(r.points, p)
	r.note("point", p.Label())
	r.crashed = r.killsAt(p) || r.crashed
	if !r.watching || r.fault != Kill && !r.owns(p) { // what a single object suffers, only the project's suffer
		return
	}
	r.window = append(r.window, p)
	if (r.fault == Evict || r.fault == Hibernate) && len(r.window) == r.at {
		r.due = p.Object
	}
}

func (r *fileRun) log(_ engine.Level, _ *engine.Context, text string) {
	r.note("log", text)
	if !r.quiet {
		_, _ = fmt.Fprintln(r.project.options.Out, text) // what reads it is gone
	}
}

// request is what the suite's code is told. Its paths have slashes on every system,
// as vitest's have.
func (r *fileRun) request() map[string]any {
	o, s := r.project.options, r.project.settings
	slashed := func(paths []string) []string {
		list := []string{}
		for _, path := range paths {
			list = append(list, filepath.ToSlash(path))
		}
		return list
	}
	config := map[string]any{
		"root": filepath.ToSlash(s.root), "testTimeout": s.TestTimeout, "hookTimeout": s.HookTimeout, "retry": s.Retry, "globals": s.Globals, "setupFiles": slashed(r.project.setup()), "snapshotSerializers": slashed(r.project.serializers()), "strictTags": true,
		"testNamePattern": r.name, "allowOnly": true, "passWithNoTests": false, "maxConcurrency": 5, "includeTaskLocation": o.Imports, "tags": []string{}, "name": s.Name, "isolate": true,
		"sequence":     map[string]any{"seed": r.seed, "hooks": "stack", "setupFiles": "parallel", "concurrent": false, "shuffle": false},
		"experimental": map[string]any{"importDurations": map[string]any{"limit": 0}}, "expect": map[string]any{}, "fakeTimers": map[string]any{"loopLimit": 10_000, "shouldClearNativeTimers": true},
		"chaiConfig": map[string]any{}, "diff": map[string]any{},
	}
	for key, value := range s.Vitest { // order-independent: keys are unique
		merge(config, key, value)
	}
	if o.Retry >= 0 {
		config["retry"] = o.Retry
	}
	if o.Timeout > 0 {
		config["testTimeout"] = o.Timeout.Milliseconds()
	}
	if bail := r.project.bail(); bail > 0 {
		config["bail"] = bail - r.failed
	}
	update := "none"
	switch {
	case o.Update:
		update = "all"
	case o.New:
		update = "new"
	}
	req := map[string]any{"file": filepath.ToSlash(r.file), "dir": filepath.ToSlash(r.project.worker.Dir), "env": s.Env, "config": config, "update": update, "isolated": s.Isolated, "lenient": s.Lenient, "source": r.project.isSource(r.file)}
	if r.test != "" {
		req["chaos"], req["update"] = r.test, "none"
	}
	return req
}

// merge sets a member of a configuration; one that is an object keeps what is
// not given.
func merge(config map[string]any, key string, value any) {
	old, isObject := config[key].(map[string]any)
	given, ok := value.(map[string]any)
	if !isObject || !ok {
		config[key] = value
		return
	}
	maps.Copy(old, given)
}
