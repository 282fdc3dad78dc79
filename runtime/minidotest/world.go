// Package minidotest runs worker projects inside Go tests: a World is a whole
// server on one goroutine, with virtual time and a seed.
package minidotest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/sqlstore"
)

// Options describe a World.
type Options struct {
	Project string // directory of the worker project
	// Others are directories, below Project, of further workers of the session.
	Others []string
	Seed   uint64
	Dir    string        // persist directory; "" makes one for the test
	Idle   time.Duration // time until objects hibernate; 0 never
	// Eviction, if not nil, is the whole policy instead of Idle.
	Eviction *pool.Policy
	Vars     []string // KEY:VALUE
	// Start is the virtual time at which the world begins; zero means Epoch.
	Start time.Time
	// Kill, if not nil, picks the effect point, after the start, at which the
	// world dies as a process does that gets SIGKILL; Until then returns ErrKilled, and Revive
	// starts the next life from what was on disk.
	Kill func(killpoint.Point) bool
	// SyncFull makes commits sync as they do in "minido dev".
	SyncFull bool
	// Disk, if not nil, is asked before each write to an object's database and
	// makes it fail with its error.
	Disk func() error
	// TurnLimit bounds the CPU time of a turn; 0 is the engine's default.
	TurnLimit time.Duration
	// Heap bounds the memory of the process; nil does not.
	Heap *engine.HeapWatch
}

func (o Options) policy() pool.Policy {
	if o.Eviction != nil {
		return *o.Eviction
	}
	return pool.Policy{Hibernate: o.Idle}
}

// World is a server under simulation. It belongs to the test's goroutine:
// nothing happens unless a method steps it.
type World struct {
	// Server is the running server.
	Server *server.Server
	// Net holds the upstreams that the worker can reach.
	Net *netx.Memory
	// History is what was observable, line by line: what ran, what was logged,
	// the effect points, and what clients saw. It is a function of the seed.
	History []string

	t       testing.TB
	options Options
	clock   *clock.Virtual
	sched   *sched.Seeded
	points  *killpoint.Points
	wreck   string // copy of the persist directory at the moment of death
}

// Epoch is when virtual time begins.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// simulated bounds how much virtual time one wait may take.
const simulated = 24 * time.Hour

// NewWorld starts a project; the test's cleanup stops it.
func NewWorld(t testing.TB, o Options) *World {
	t.Helper()
	source := entropy.NewSeeded(o.Seed)
	if o.Start.IsZero() {
		o.Start = Epoch
	}
	w := &World{t: t, clock: clock.NewVirtual(o.Start)}
	w.sched = sched.NewSeeded(w.clock, source.Fork("schedule"))
	w.Net = netx.NewMemory(w.sched)
	w.sched.Trace = func(_ int, name string) { w.note("step %s", name) }
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	w.options = o
	project, err := filepath.Abs(o.Project)
	if err != nil {
		t.Fatal(err)
	}
	points := killpoint.Options{Record: func(p killpoint.Point) { w.note("point %s", p.Label()) }, Die: w.die}
	if o.Kill != nil {
		points.Target = func(p killpoint.Point) bool { return w.Server != nil && o.Kill(p) }
	}
	w.points = killpoint.New(points)
	var others []config.Options
	for _, dir := range o.Others {
		others = append(others, config.Options{Dir: filepath.Join(project, dir), Vars: o.Vars})
	}
	mode := sqlstore.Normal
	if o.SyncFull {
		mode = sqlstore.Full
	}
	s, err := server.Start(context.Background(), server.Options{
		Config: config.Options{Dir: project, Vars: o.Vars}, Others: others,
		Address:    server.Address{None: true},
		PersistDir: o.Dir, CacheDir: t.TempDir(),
		Scheduler: w.sched, Drive: w.Until, Entropy: source, Dialer: w.Net,
		Points: w.points, TurnLimit: o.TurnLimit, TurnClock: clock.Real{}, Heap: o.Heap,
		Sync: mode, Limits: sqlstore.Prod, Disk: o.Disk, Eviction: o.policy(),
		Console: func(_ engine.Level, _ *engine.Context, text string) { w.note("log %s", text) },
		Events:  func(ev server.Event) { w.note("event %d %s", ev.Kind, strings.TrimSpace(ev.Worker+" "+ev.Text)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Server = s
	t.Cleanup(w.Stop)
	return w
}

func (w *World) note(format string, args ...any) {
	w.History = append(w.History, fmt.Sprintf("%s ", w.clock.Now().Sub(Epoch))+fmt.Sprintf(format, args...))
}

// Until steps the world until done reports true. Time jumps when nothing is
// ready. A world that was killed gives ErrKilled.
func (w *World) Until(done func() bool) (err error) {
	defer w.died(&err)
	err = w.sched.Run(func() bool { return w.wreck != "" || done() }, simulated)
	if w.wreck != "" {
		return ErrKilled
	}
	return err
}

// Response is what a client saw.
type Response struct {
	Status int
	Body   string
	Err    error
}

// Send starts a request and returns where its response will be.
func (w *World) Send(method, url, body string) *Response {
	req := &event.Request{Method: method, URL: url, Header: event.Header{{Name: "Host", Value: "localhost"}}}
	if body != "" {
		req.Body = event.Bytes([]byte(body))
	}
	r := &Response{}
	finish := func(status int, object, text string, err error) {
		w.seen(killpoint.Response, object, "fetch", func() {
			r.Status, r.Body, r.Err = status, text, err
			w.note("client %s %s: %d %s %v", method, url, status, text, err)
		})
	}
	w.Server.Fetch(req, func(resp *event.Response, err error) {
		if err != nil {
			finish(500, "", "", err)
			return
		}
		event.ReadAll(resp.Body, 0, func(b []byte, err error) { finish(resp.Status, resp.Object, string(b), err) })
	})
	return r
}

// seen is an effect on a client. The gateway has the same points where it
// writes to a connection.
func (w *World) seen(kind killpoint.Kind, object, cause string, effect func()) {
	_ = w.points.Effect(kind, object, cause, func() error { effect(); return nil }) // effect cannot fail
}

// Do sends a request and steps the world until its response is complete.
func (w *World) Do(method, url, body string) *Response {
	w.t.Helper()
	r := w.Send(method, url, body)
	if err := w.Until(r.Done); err != nil {
		w.t.Fatalf("%s %s: %v", method, url, err)
	}
	return r
}

// Done reports whether the response is complete.
func (r *Response) Done() bool { return r.Status != 0 }

// Now is the virtual time.
func (w *World) Now() time.Time { return w.clock.Now() }
