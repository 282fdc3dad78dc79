// Package world runs a whole server as a simulation: on the caller's goroutine, with
// virtual time, with an order of events chosen by a seed, with clients and upstreams
// in the same process, and with deaths that leave what SIGKILL leaves.
//
// Everything that happens is a function of the options and of what the caller
// does: the same seed gives the same history, byte for byte.
package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/sqlstore"
)

// Epoch is when virtual time begins by default.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// DefaultLimit bounds how much virtual time one wait may take.
const DefaultLimit = 24 * time.Hour

// Options describe a World. Config, Dir and CacheDir are required.
type Options struct {
	Config config.Options
	Others []config.Options
	// Sim is what this world's server lives in; nil makes one from Seed and Start,
	// which ends with the world.
	Sim  *Sim
	Seed uint64
	// Dir is the persist directory, CacheDir that of transformed modules.
	Dir, CacheDir string
	// Bundles, shared by worlds of the same project, bundles it once.
	Bundles *server.Bundles
	// Eviction says when objects leave memory by themselves.
	Eviction pool.Policy
	// Skew is server.Options.Skew.
	Skew   func(label string) time.Duration
	Limits sqlstore.LimitsProfile
	// Disk fails writes; see server.Options.
	Disk func() error
	// Power, if not nil, makes the deaths for which it reports lost losses of power
	// rather than of the process: what was not synced may be gone. chance chooses
	// what of it survives; nil: nothing does. It is asked once, at the death; the
	// zero Point is a Kill between two steps. It means little without SyncFull.
	Power func(p killpoint.Point) (chance entropy.Source, lost bool)
	// SyncFull makes commits sync as they do in "minido dev"; SyncNormal beside it, as
	// with "--sync normal": what was committed survives the process, and not a loss of power.
	SyncFull, SyncNormal bool
	// SyncTakes is how long, in virtual time, a sync off the loop takes: everything
	// else that can happen then happens before it. It needs SyncFull.
	SyncTakes time.Duration
	// Start is the virtual time at which the world begins; zero means Epoch.
	Start time.Time
	// Network makes the upstreams that the worker can reach, from the start; nil
	// makes none.
	Network func(*World)
	// Kill, if not nil, picks the effect point at which the world dies as a
	// process does that gets SIGKILL.
	Kill func(killpoint.Point) bool
	// Wreck names a directory that gets a copy of the persist directory at the
	// moment of death. A world that dies at a kill point and does not go by Dead
	// needs one: what unwinds then may still write.
	Wreck func() string
	// Dead, if not nil, replaces the death in this process: it must not return.
	Dead func(killpoint.Point)
	// Interfere, if not nil, decides about each effect; see killpoint.Points.Interfere.
	Interfere func(killpoint.Point) error
	// Explains has effect points say where in the source they come from.
	Explains bool
	// Turns, if not nil, is told of turns and syncs.
	Turns engine.TurnObserver
	// Record is Sim.Record.
	Record func(line string)
	// Point, if not nil, is called for each effect point, with its Moment.
	Point func(p killpoint.Point, at Moment)
	// Into, if not nil, records the life: it must be new.
	Into *Recording
	// From, if not nil, is played back: no server runs. Kill must pick a point of it;
	// a life that does not end there is astray (World.Astray).
	From *Recording
	// TurnLimit bounds the CPU time of a turn; 0 is the engine's default.
	TurnLimit time.Duration
	// Heap bounds the memory of the process; nil does not.
	Heap *engine.HeapWatch
	// Limit bounds the virtual time of one wait; 0 is DefaultLimit.
	Limit time.Duration
	// Entropy replaces the chance of the seed in the server, for tests of what
	// happens then; nil is the seed's.
	Entropy entropy.Source
	// Ahead is server.Options.Ahead.
	Ahead bool
	// Amend and RunsTests are those of server.Options.
	Amend     func(*bundle.Options)
	RunsTests bool
	// Patience is engine.Options.Patience.
	Patience *engine.Patience
	// Console, if not nil, gets what the worker logs, besides Record.
	Console engine.Logger
	// Events, if not nil, gets what happens to the server, besides Record.
	Events func(server.Event)
	// AI is the URL of a provider of Workers AI, on the network; see server.Options.
	AI string
}

// World is a server under simulation, for one life. It belongs to one goroutine:
// nothing happens unless a method steps it.
type World struct {
	*Sim
	// Server is the running server; nil in a life that is played back.
	Server *server.Server

	options  Options
	own      bool // the simulation ends with the world
	scope    *scope
	points   *killpoint.Points
	door     door
	recorder *recorder  // nil without one
	files    *disk.Disk // nil without Options.Power
	astray   error
	dead     bool
	buried   bool
	at       killpoint.Point // of the death
	wreck    string
	fault    error  // of what cannot return one
	links    []link // connections of clients, in order
	fetching fetches
	touched  int  // see touch
	open     bool // the server holds a socket to an upstream
}

// Open starts a project.
//
// # Errors
//
// Those of server.Start; ErrKilled if the world died during the start: then
// the World is returned with it.
func Open(o Options) (w *World, err error) {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	w = &World{Sim: o.Sim, options: o}
	if w.Sim == nil {
		w.Sim, w.own = NewSim(o.Seed, o.Start), true
	}
	if o.Record != nil {
		w.Sim.Record = o.Record
	}
	w.lives++
	if o.Power != nil {
		w.files = disk.New()
	}
	w.scope = newScope(w.Sim)
	w.scope.syncTakes = o.SyncTakes
	w.points = killpoint.New(killpoint.Options{Record: w.pass, Target: o.Kill, Die: w.die, Explains: o.Explains})
	if o.Interfere != nil {
		w.points.Interfere(o.Interfere)
	}
	if o.Network != nil {
		o.Network(w)
	}
	defer w.died(&err)
	if o.From != nil {
		p := &playback{world: w, rec: o.From, way: &dialer{w}, timers: map[int]clock.Timer{}, aborts: map[int]func(error){}}
		w.door = p
		_ = p.enter(enterStart, 0, "") // what fails is not recorded
		return w, nil
	}
	if o.Into != nil {
		w.recorder = &recorder{world: w, rec: o.Into}
	}
	if err := w.start(); err != nil {
		if w.dead {
			return w, ErrKilled
		}
		return nil, err
	}
	return w, nil
}

// start starts the server.
func (w *World) start() (err error) {
	o, r := w.options, w.recorder
	mode := sqlite.Off // a kill leaves what was written, on the disk or not
	if o.SyncFull {
		mode = sqlite.Full
		if o.SyncNormal {
			mode = sqlite.Normal
		}
	}
	chance := o.Entropy
	if chance == nil {
		chance = w.source.Fork(fmt.Sprintf("life %d", w.lives))
	}
	note := func(text string) { w.Note("%s", text) }
	so := server.Options{
		Config: o.Config, Others: o.Others, Address: server.Address{None: true},
		PersistDir: o.Dir, CacheDir: o.CacheDir, Bundles: o.Bundles,
		Scheduler: w.scope, Drive: w.Until, Entropy: chance, Dialer: &dialer{w}, AI: o.AI, Ahead: o.Ahead,
		Points: w.points, TurnLimit: o.TurnLimit, Machine: clock.Real{}, Heap: o.Heap,
		Sync: mode, Limits: o.Limits, Disk: o.Disk, Files: w.files, Eviction: o.Eviction, Skew: o.Skew,
		Amend: o.Amend, RunsTests: o.RunsTests, Patience: o.Patience, Turns: o.Turns,
		Console: func(level engine.Level, c *engine.Context, text string) {
			note("log " + text)
			if o.Console != nil {
				o.Console(level, c, text)
			}
		},
		Events: func(ev server.Event) {
			note(fmt.Sprintf("event %d %s", ev.Kind, strings.TrimSpace(ev.Worker+" "+strings.ReplaceAll(ev.Text, o.Dir, "DIR")))) // where the files lie is no observation
			if o.Events != nil {
				o.Events(ev)
			}
		},
	}
	open := func() error {
		w.Server, err = server.Start(context.Background(), so)
		return err
	}
	if r == nil {
		err = open()
		w.door = front{w.Server}
		return err
	}
	so.Scheduler, so.Drive, so.Dialer, note = recordedScheduler{w.scope, r}, r.drive, recordedDialer{r, so.Dialer}, r.note
	r.enter(op{kind: enterStart}, open)
	w.door = recordedDoor{r, front{w.Server}}
	return err
}

// pass is called at each effect point.
func (w *World) pass(p killpoint.Point) {
	w.Note("point %s", p.Label())
	if r := w.recorder; r != nil {
		if r.inside {
			r.add(point(p))
		}
		r.files()
	}
	if w.options.Point != nil {
		w.options.Point(p, w.moment())
	}
}

// Until steps the world until done reports true. Time jumps when nothing is
// ready.
//
// # Errors
//
// ErrKilled; that nothing is left to do, or that Options.Limit of virtual time
// has passed.
func (w *World) Until(done func() bool) (err error) {
	defer w.died(&err)
	err = w.Sim.Until(func() bool { return w.dead || done() }, w.options.Limit)
	if w.dead {
		return ErrKilled
	}
	return err
}

// Step runs the next step, or moves the clock to the next timer. It reports
// false when there is neither.
func (w *World) Step() (more bool, err error) {
	defer w.died(&err)
	w.poll()
	more = w.sched.Step()
	return more, nil
}

// Advance steps the world for d of virtual time.
func (w *World) Advance(d time.Duration) error {
	over := false
	timer := w.clock.AfterFunc(d, func() { over = true })
	defer timer.Stop()
	if err := w.Until(func() bool { return over }); err != nil {
		return fmt.Errorf("advance by %v: %w", d, err)
	}
	return nil
}

// restlessPart is how often a world is asked whether it is at rest: each second, and of
// long waits once in this part of the time that they have taken.
const restlessPart = 128

// Rest steps the world until nothing is left to do: no request, no timer, no
// handler, no alarm within horizon. within bounds the virtual time that it may
// take; look is told between two steps what is left, and ends the wait early by
// true.
//
// # Errors
//
// ErrKilled; a *RestlessError.
func (w *World) Rest(horizon, within time.Duration, look func(why string) bool) error {
	began := w.Now()
	deadline := began.Add(within)
	for pause := time.Millisecond; ; pause = min(2*pause, max(time.Second, w.Now().Sub(began)/restlessPart)) {
		asked, why := false, ""
		w.door.Pending(horizon, func(text string) { asked, why = true, text })
		if err := w.Until(func() bool { return asked }); err != nil {
			return err
		}
		if why == "" || look(why) {
			return nil
		}
		if !w.Now().Before(deadline) {
			return &RestlessError{Why: why, Within: within}
		}
		if err := w.Advance(pause); err != nil {
			return err
		}
	}
}

// RestlessError says what a world was still doing when it should have been at
// rest.
type RestlessError struct {
	Why    string
	Within time.Duration
}

// Error implements error.
func (e *RestlessError) Error() string {
	return fmt.Sprintf("not at rest after %v: %s", e.Within, e.Why)
}

// Stop ends the world in good order; of a dead one it closes what is left.
// Stopping twice is allowed.
func (w *World) Stop() error {
	if w.own {
		defer w.Sim.Close()
	}
	if w.dead {
		return w.fault
	}
	w.unrecord()
	err := w.Server.Close(context.Background())
	w.scope.end()
	if err != nil {
		return errors.Join(w.fault, fmt.Errorf("stop the world: %w", err))
	}
	return w.fault
}
