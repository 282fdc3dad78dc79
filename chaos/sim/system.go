// Package sim runs a system under chaos as a simulation: the same clients,
// upstreams and plans as in real processes, in one goroutine, with virtual time
// and an order of events that a seed chooses (package world). A kill drops the
// server where it stands; its files are what SIGKILL would have left.
package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/world"
)

// Garbage is how much of it programs that run nothing but simulations should let
// pile up (debug.SetGCPercent): a world is small, is made in milliseconds and
// dies as fast.
const Garbage = 800

// Options describe a System. World.Config, World.CacheDir and Dir are required.
type Options struct {
	// World describes the server; Dir, Kill, Wreck, Sim and the clients' side are
	// the System's own.
	World world.Options
	// Dir holds the system's files: those at the nth death in death-n.
	Dir string
	// Forget keeps no copy of the files at the deaths of lives that no kill point
	// ends: they leave them as they are, and the next life goes on with them.
	Forget bool
	// Events gets the history as NDJSON, Log what the simulation did line by line;
	// nil drops them.
	Events, Log io.Writer
	// KeepLines keeps the lines of the log, for Lines.
	KeepLines bool
	// Timeout bounds each step of a client and each rest, in virtual time. On a slow
	// machine (Slack) everyone is the more patient; see System.Timeout.
	Timeout time.Duration
	// States has the state at each effect point taken, Trace where and when it was
	// passed.
	States, Trace bool
}

// Passed is an effect point, the virtual time, and the step of the schedule that passed
// it: what one turn sends leaves in one step.
type Passed struct {
	killpoint.Point
	Time time.Time
	Turn int
}

// State is what a death at an effect point leaves. Two of one life that are equal
// leave the same world behind: nothing has happened between them that anyone
// but the server itself could have noticed, no time has passed, and the files have
// the same bytes. What follows is then the same too.
type State struct {
	world.Moment
	Files [sha256.Size]byte
}

// PointTime is when an effect point was passed. After is how many events the history had.
type PointTime struct {
	At    time.Time
	After int
}

// System is a server in its lives, with clients and upstreams that outlive them.
// It belongs to one goroutine.
type System struct {
	// Sim is time, chance, network and routines.
	Sim *world.Sim
	// History is what clients and upstreams saw, at virtual times.
	History *history.Recorder
	// Session drives the present life.
	Session *drive.Session
	// World is the present life; nil before the first.
	World *world.World
	// Points are the effect points of the present life, or of the last.
	Points []killpoint.Point
	// Times belong to Points, one to one: when each was passed.
	Times []PointTime
	// Trace is where and when Points were passed, if Options.Trace asks for it.
	Trace []Passed
	// Look, if not nil, is told each effect point when it is passed. It must cause no effect.
	Look func(killpoint.Point)
	// States belong to Points, one to one, and Recording is of the present life, if
	// Options.States asks for them.
	States    []State
	Recording *world.Recording

	// Acted says what became of the faults of the present life, or of the last, beside its
	// kill.
	Acted []process.Acted

	options Options
	lives   int
	serving bool   // the present life has started
	acting  int    // faults of it that have begun and are not over
	state   string // the directory of the present or next life
	digest  hash.Hash
	lines   []string
	broken  error
}

// New makes a system that has not begun its first life.
func New(o Options) (*System, error) {
	s := &System{options: o, Sim: world.NewSim(o.World.Seed, o.World.Start), digest: sha256.New(), state: filepath.Join(o.Dir, "state-1")}
	s.Sim.Record = s.record
	s.Sim.Slow(Slack(o.World.Seed))
	s.History = history.NewRecorder(s.Sim.Clock(), o.Events)
	s.Session = drive.NewSession(s.History, s.Sim.Scheduler(), s.Timeout())
	s.Session.Over(s.dial, s.exchange)
	if err := os.MkdirAll(s.state, 0o700); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return s, nil
}

// Slack is how much time a system with this seed lets pass at once while work is
// ready: none, as on a machine that is infinitely fast, but at every fourth seed.
// From 4 on these have 8 ms, twice that each time up to 256 ms, and 8 ms again.
func Slack(seed uint64) time.Duration {
	if seed == 0 || seed%slowSeeds != 0 {
		return 0
	}
	return slackUnit << ((seed/slowSeeds - 1) % 6)
}

// slackUnit is the least of them.
const slackUnit = 8 * time.Millisecond

// Timeout is how long each step of a client and each rest may take: Options.Timeout,
// and that once more for each slackUnit that may pass at once, for what takes no
// time elsewhere takes time there.
func (s *System) Timeout() time.Duration {
	return s.options.Timeout * (1 + Slack(s.options.World.Seed)/slackUnit)
}

// slowSeeds is one in how many seeds has a slow machine.
const slowSeeds = 4

func (s *System) record(line string) {
	_, _ = io.WriteString(s.digest, line+"\n") // a hash takes everything
	if s.options.KeepLines {
		s.lines = append(s.lines, line)
	}
	if s.options.Log != nil {
		if _, err := io.WriteString(s.options.Log, line+"\n"); err != nil && s.broken == nil {
			s.broken = fmt.Errorf("sim: %w", err)
		}
	}
}

// Lines are the lines of the log so far, if they are kept.
func (s *System) Lines() []string { return s.lines }

// Digest is a hash over everything that was observable so far: two runs of one
// seed have the same. What the harness and its checkers note is no observation: a
// check may say something else each time.
func (s *System) Digest() string {
	h := sha256.New()
	_, _ = h.Write(s.digest.Sum(nil))
	for _, e := range s.History.Events() {
		if e.Kind == history.Note && (e.Who == history.ByChecker || e.Who == history.ByHarness) {
			continue
		}
		_, _ = fmt.Fprintf(h, "%d %v %s %s %s %s %s\n", e.N, e.AtMs, e.Kind, e.Who, e.Op, e.Text, e.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Serve puts h on the network under a host name. It outlives the server.
func (s *System) Serve(host string, h http.Handler) { s.Sim.Net.Handle(host, Handler(s.Sim, h)) }

// Scheduler runs what belongs to no server: its functions may wait.
func (s *System) Scheduler() sched.Scheduler { return s.Sim.Scheduler() }

// URL is the server's address for clients.
const URL = "http://localhost"

// Life is what is to happen in one.
type Life struct {
	// Kill, if not nil, picks the point where it ends. Power makes that end a loss of
	// power: what was not synced may be gone, as the seed has it. It means little without
	// World.SyncFull.
	Kill  func(killpoint.Point) bool
	Power bool
	// Faults happen meanwhile; kills among them are not looked at.
	Faults fault.Plan
	// Skews are how far the machines of objects, by their labels, and with "" that of the
	// worker are ahead of all others.
	Skews map[string]time.Duration
	// Config, unless nil, is another version of the project than that of Options.World.
	Config *config.Options
}

// Live begins the next life.
//
// # Errors
//
// world.ErrKilled if it died during its start; those of server.Start.
func (s *System) Live(l Life) error { return s.live(l, nil) }

// PlayBack is Live where the life is known: from is that of a system of the same
// options that did the same until now. No server runs. The life must end by kill;
// if the clients do something else than then, it does not, and World.Astray says so.
func (s *System) PlayBack(from *world.Recording, kill func(killpoint.Point) bool) error {
	return s.live(Life{Kill: kill}, from)
}

func (s *System) live(l Life, from *world.Recording) error {
	s.lives++
	s.Points, s.Times, s.Trace, s.States, s.Recording = nil, nil, nil, nil, nil
	o := s.options.World
	o.Sim, o.Dir, o.Kill, o.From = s.Sim, s.state, l.Kill, from
	if l.Config != nil {
		o.Config = *l.Config
	}
	if len(l.Skews) > 0 {
		o.Skew = func(label string) time.Duration { return l.Skews[label] }
	}
	if s.options.States && l.Kill == nil { // the last life is what is asked for
		s.Recording = &world.Recording{}
		o.Into = s.Recording
	}
	if l.Kill != nil || !s.options.Forget {
		o.Wreck = s.DeathDir
	}
	o.Point = func(p killpoint.Point, at world.Moment) {
		s.Points = append(s.Points, p)
		s.Times = append(s.Times, PointTime{s.Sim.Now(), s.History.Len()})
		if s.Look != nil {
			s.Look(p)
		}
		if s.options.Trace {
			s.Trace = append(s.Trace, Passed{p, s.Sim.Now(), at.Turn})
		}
		if s.Recording != nil {
			s.States = append(s.States, State{Moment: at, Files: s.Recording.StateHash()})
		}
	}
	if l.Power {
		chance := s.Sim.Entropy(fmt.Sprintf("power %d", s.lives))
		o.Power = func(killpoint.Point) (entropy.Source, bool) { return chance, true }
	}
	if err := s.prepare(l.Faults, &o); err != nil {
		return err
	}
	w, err := world.Open(o)
	s.World = w
	if err != nil {
		return err
	}
	s.serving = true
	s.Session.Connect(URL)
	return nil
}

// DeathDir is where the files of the present life are when it has died.
func (s *System) DeathDir() string {
	return filepath.Join(s.options.Dir, fmt.Sprintf("death-%d", s.lives))
}

// Bury takes a dead life down: its clients learn of it, and the next life will
// find its files.
func (s *System) Bury() error {
	if err := s.Run("disconnect", s.Session.Disconnect); err != nil {
		return err
	}
	if err := s.World.Stop(); err != nil {
		return err
	}
	if s.World.Wreck() == "" {
		return nil
	}
	old := s.state
	s.state = filepath.Join(s.options.Dir, fmt.Sprintf("state-%d", s.lives+1))
	if err := world.CopyState(s.DeathDir(), s.state); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	return os.RemoveAll(old)
}

// End stops the present life in good order, and the simulation.
func (s *System) End() (err error) {
	if s.World != nil {
		if _, dead := s.World.Dead(); !dead && s.World.Server != nil {
			err = s.Run("disconnect", s.Session.Disconnect)
			err = errors.Join(err, s.World.Stop())
		}
	}
	s.Sim.Close()
	return errors.Join(err, s.broken, s.History.Err())
}

// State is the directory of the present life, or of the last.
func (s *System) State() string { return s.state }

// Run runs fn as a routine to its end, whether a server lives or not.
func (s *System) Run(name string, fn func()) error {
	over := false
	s.Sim.Scheduler().Go(name, func() {
		fn()
		over = true
	})
	if s.World != nil {
		if _, dead := s.World.Dead(); !dead {
			return s.World.Until(func() bool { return over })
		}
	}
	return s.Sim.Until(func() bool { return over }, world.DefaultLimit)
}

// Driving is clients at work.
type Driving struct {
	cancel context.CancelFunc
	done   bool
	err    error
}

// Drive lets d go on in the present life.
func (s *System) Drive(ctx context.Context, d drive.Driver) *Driving {
	ctx, cancel := context.WithCancel(ctx)
	x := &Driving{cancel: cancel}
	s.Sim.Scheduler().Go("drive", func() {
		x.err = d.Run(ctx, s.Session)
		x.done = true
	})
	return x
}

// Done reports whether the clients have stopped for this life, and why.
func (x *Driving) Done() (bool, error) { return x.done, x.err }

// Stop ends the clients of a life that is over.
func (x *Driving) Stop(s *System) error {
	x.cancel()
	if x.done {
		return nil
	}
	if err := s.Run("disconnect", s.Session.Disconnect); err != nil {
		return err
	}
	return s.Sim.Until(func() bool { return x.done }, world.DefaultLimit)
}
