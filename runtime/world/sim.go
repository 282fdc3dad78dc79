package world

import (
	"context"
	"fmt"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
)

// Sim is what outlives a server: time, chance, the network with its upstreams,
// and the clients. It belongs to one goroutine, on which all of it runs.
type Sim struct {
	// Net holds the upstreams that a worker can reach.
	Net *netx.Memory
	// History is what was observable, line by line: what ran, what was logged,
	// the effect points, and what clients saw.
	History []string
	// Between, if not nil, is called between two steps.
	Between func()
	// Record, if not nil, gets each line in place of History.
	Record func(line string)

	clock   *clock.Virtual
	sched   *sched.Seeded
	source  *entropy.Seeded
	machine *clock.Shifted // the clock that the present life sees, or the last; nil before
	ahead   time.Duration  // of that
	lives   int
	clients int
	ctx     context.Context // is done when the simulation has ended
	end     context.CancelFunc

	routines []*Routine // that have not ended, in the order of their begin
	waiting  []*Routine // in the order in which they began to wait
	current  *Routine   // that runs now; nil outside of routines
}

// NewSim returns a simulation without a server, at the virtual time start; zero
// means Epoch.
func NewSim(seed uint64, start time.Time) *Sim {
	if start.IsZero() {
		start = Epoch
	}
	s := &Sim{clock: clock.NewVirtual(start), source: entropy.NewSeeded(seed)}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.sched = sched.NewSeeded(s.clock, s.source.Fork("schedule"))
	s.Net = netx.NewMemory(s.sched)
	s.sched.Trace = func(_ int, name string) { s.Note("step %s", name) }
	return s
}

// Note adds a line to the history.
func (s *Sim) Note(format string, args ...any) {
	line := s.clock.Now().Sub(Epoch).String() + " " + fmt.Sprintf(format, args...)
	if s.Record != nil {
		s.Record(line)
		return
	}
	s.History = append(s.History, line)
}

// Clock is the simulation's time. Its owner may set timers.
func (s *Sim) Clock() *clock.Virtual { return s.clock }

// Now is the virtual time.
func (s *Sim) Now() time.Time { return s.clock.Now() }

// Jump sets the clock that servers see, of this life and those after it, forward or
// back. Running timers, clients and upstreams do not move.
func (s *Sim) Jump(d time.Duration) {
	s.ahead += d
	if s.machine != nil {
		s.machine.Jump(d)
	}
}

// Ahead is how far it was set.
func (s *Sim) Ahead() time.Duration { return s.ahead }

// Pause lets d pass while nothing happens: what becomes due meanwhile comes after it.
func (s *Sim) Pause(d time.Duration) { s.clock.Jump(d) }

// Slow lets up to d of time pass at once while work is ready, as on a machine
// that is slow. It belongs before the first step.
func (s *Sim) Slow(d time.Duration) { s.sched.Slack = d }

// Pass lets virtual time pass no faster than machine's; nil lets it jump.
func (s *Sim) Pass(machine clock.Clock) {
	if machine == nil {
		s.sched.Pass = nil
		return
	}
	s.sched.Pass = func(d time.Duration) {
		over := make(chan struct{})
		machine.AfterFunc(d, func() { close(over) })
		<-over
	}
}

// IsSlow reports whether time may pass while work is ready.
func (s *Sim) IsSlow() bool { return s.sched.Slack > 0 }

// Waiting names the routines that wait for something, in the order in which they
// began to.
func (s *Sim) Waiting() (names []string) {
	for _, r := range s.waiting {
		names = append(names, r.name)
	}
	return names
}

// Entropy is chance for what is no server: its bytes depend on the seed and the
// name alone.
func (s *Sim) Entropy(name string) entropy.Source { return s.source.Fork(name) }

// Until steps the simulation until done reports true. Time jumps when nothing is
// ready.
//
// # Errors
//
// That nothing is left to do, or that limit of virtual time has passed.
func (s *Sim) Until(done func() bool, limit time.Duration) error {
	return s.sched.Run(func() bool {
		s.poll()
		if s.Between != nil {
			s.Between()
		}
		return done()
	}, limit)
}

// Context is done when the simulation has ended: a routine that waits for nothing
// else must look at it, or it would wait for ever.
func (s *Sim) Context() context.Context { return s.ctx }

// Close ends the routines: what they wait for will not come.
func (s *Sim) Close() {
	s.end()
	for len(s.routines) > 0 {
		r := s.routines[0]
		s.enter(r, r.stop)
		s.ended(r)
	}
	_ = s.sched.Close(context.Background()) // has nothing to wait for
}

// Scheduler runs clients and upstreams: background functions are routines that
// may wait (sched.Wait).
func (s *Sim) Scheduler() sched.Scheduler { return routines{s} }

// routines is a sched.Scheduler whose functions may wait.
type routines struct{ *Sim }

var _ sched.Waiter = routines{}

// Clock implements sched.Scheduler.
func (x routines) Clock() clock.Clock { return routineClock{x.clock, x} }

// NewLoop implements sched.Scheduler.
func (x routines) NewLoop(name string) sched.Loop { return x.sched.NewLoop(name) }

// Go implements sched.Scheduler.
func (x routines) Go(name string, fn func()) { x.Spawn(name, func(*Routine) { fn() }) }

// Close implements sched.Scheduler.
func (x routines) Close(context.Context) error {
	x.Sim.Close()
	return nil
}

// routineClock is the time for routines: who waits for it may wait (package
// chaos/wait).
type routineClock struct {
	*clock.Virtual
	routines routines
}

// Wait is that of the routines' scheduler.
func (c routineClock) Wait(ready func() bool) { c.routines.Wait(ready) }

// Wait implements sched.Waiter.
func (x routines) Wait(ready func() bool) {
	if x.current == nil {
		panic("world: code that waits must run as a routine")
	}
	x.current.Await(ready)
}

// FirstDifference names where two histories part, "" if they do not. Two runs of
// one seed whose histories differ have met something that is no function of the
// seed: a bug of the simulation's, or of what it runs.
func FirstDifference(one, two []string) string {
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return fmt.Sprintf("line %d is %q and %q", i+1, one[i], two[i])
		}
	}
	if len(one) != len(two) {
		return fmt.Sprintf("there are %d and %d lines", len(one), len(two))
	}
	return ""
}
