// Package minidotest runs worker projects inside Go tests: a World is a whole
// server on one goroutine, with virtual time and a seed (package world).
package minidotest

import (
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
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
	Date     string   // the compatibility date of NewWorker's project; "" is 2026-08-01
	// Start is the virtual time at which the world begins; zero means Epoch.
	Start time.Time
	// Kill, if not nil, picks the effect point, after the start, at which the
	// world dies as a process does that gets SIGKILL; Until then returns ErrKilled, and Revive
	// starts the next life from what was on disk.
	Kill func(killpoint.Point) bool
	// Power, if not nil, makes deaths losses of power; see world.Options.
	Power func(killpoint.Point) (chance entropy.Source, lost bool)
	// SyncFull makes commits sync as they do in "minido dev".
	SyncFull bool
	// SyncTakes is how long syncs take; see world.Options.
	SyncTakes time.Duration
	// Explains has effect points say where in the source they come from (killpoint.Point.Site).
	Explains bool
	// Turns, if not nil, is told of turns and syncs.
	Turns engine.TurnObserver
	// Disk, if not nil, is asked before each write to an object's database and
	// makes it fail with its error.
	Disk func() error
	// TurnLimit bounds the CPU time of a turn; 0 is the engine's default.
	TurnLimit time.Duration
	// Heap bounds the memory of the process; nil does not.
	Heap *engine.HeapWatch
	// Amend, if not nil, changes how the worker is bundled.
	Amend func(*bundle.Options)

	bundles *server.Bundles // of the project, for all its worlds; nil makes them
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
	world   *world.World
	options Options
	clock   *clock.Virtual
	wreck   string // copy of the persist directory at the moment of death
}

// Epoch is when virtual time begins.
var Epoch = world.Epoch

// NewWorld starts a project; the test's cleanup stops it.
func NewWorld(t testing.TB, o Options) *World {
	t.Helper()
	w, err := Open(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Open is NewWorld for a project that may be refused.
func Open(t testing.TB, o Options) (*World, error) {
	t.Helper()
	if o.Start.IsZero() {
		o.Start = Epoch
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	project, err := filepath.Abs(o.Project)
	if err != nil {
		t.Fatal(err)
	}
	if o.bundles == nil {
		o.bundles = &server.Bundles{}
	}
	w := &World{t: t, options: o}
	var others []config.Options
	for _, dir := range o.Others {
		others = append(others, config.Options{Dir: filepath.Join(project, dir), Vars: o.Vars})
	}
	options := world.Options{Amend: o.Amend,
		Config: config.Options{Dir: project, Vars: o.Vars}, Others: others, Seed: o.Seed, Dir: o.Dir, CacheDir: t.TempDir(), Bundles: o.bundles,
		Eviction: o.policy(), Limits: sqlstore.Prod, Disk: o.Disk, Power: o.Power, SyncTakes: o.SyncTakes, Explains: o.Explains, Turns: o.Turns, SyncFull: o.SyncFull, Start: o.Start, TurnLimit: o.TurnLimit, Heap: o.Heap,
		Network: func(x *world.World) { w.world, w.Net, w.clock = x, x.Net, x.Clock() },
		Record:  func(line string) { w.History = append(w.History, line) },
		Wreck: func() string {
			w.wreck = t.TempDir()
			return w.wreck
		},
	}
	if o.Kill != nil {
		options.Kill = func(p killpoint.Point) bool { return w.Server != nil && o.Kill(p) }
	}
	x, err := world.Open(options)
	if err != nil {
		return nil, err
	}
	w.Server = x.Server
	t.Cleanup(w.Stop)
	return w, nil
}

// Until steps the world until done reports true. Time jumps when nothing is
// ready. A world that was killed gives ErrKilled.
func (w *World) Until(done func() bool) error { return w.world.Until(done) }

// Response is what a client saw.
type Response struct {
	Status int
	Body   string
	Err    error
}

// Send starts a request and returns where its response will be.
func (w *World) Send(method, url, body string) *Response {
	r := &Response{}
	seen := w.world.Send(world.Request(method, url, body))
	w.world.Spawn("test client", func(c *world.Routine) {
		if c.Await(seen.Done) {
			r.Status, r.Body, r.Err = seen.Status, string(seen.Body), seen.Err
		}
	})
	return r
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
func (w *World) Now() time.Time { return w.world.Now() }
