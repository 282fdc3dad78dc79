package sim

import (
	"errors"
	"strings"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
)

// machine is what the faults of one life are done to.
type machine struct {
	system *System
	life   int
}

var _ fault.Machine = machine{}

// whenServing calls fn with the life's server: at once, or from a routine when the
// server has started. It calls gone if the life has ended by then.
func (m machine) whenServing(fn func(*server.Server), gone func(error)) {
	s := m.system
	if s.serving {
		fn(s.World.Server)
		return
	}
	scheduler := s.Sim.Scheduler()
	scheduler.Go("fault", func() {
		scheduler.(sched.Waiter).Wait(func() bool { return s.serving || s.lives != m.life })
		if s.lives != m.life {
			gone(pool.ErrNotRunning)
			return
		}
		fn(s.World.Server)
	})
}

// Object implements fault.Machine.
func (m machine) Object(label string, action pool.Action, done func(error)) {
	m.whenServing(func(server *server.Server) {
		class, name, _ := strings.Cut(label, "/")
		ref, err := server.Find(class, name)
		if err != nil {
			done(err)
			return
		}
		ref.Act(action, done)
	}, done)
}

// Isolate implements fault.Machine.
func (m machine) Isolate(action pool.Action, done func(error)) {
	m.whenServing(func(server *server.Server) { server.ActOnIsolate(action, done) }, done)
}

// Pause implements fault.Machine.
func (m machine) Pause(d time.Duration) error {
	m.system.Sim.Pause(d)
	return nil
}

// Later implements fault.Machine.
func (m machine) Later(d time.Duration, fn func()) {
	s := m.system
	s.acting++ // the next life begins with none
	s.Sim.Clock().AfterFunc(d, func() {
		if s.lives != m.life {
			return
		}
		s.acting--
		if _, dead := s.World.Dead(); !dead {
			fn()
		}
	})
}

// Jump implements fault.Machine.
func (m machine) Jump(d time.Duration) { m.system.Sim.Jump(d) }

// Acting reports whether a fault has begun and is not over.
func (s *System) Acting() bool { return s.acting > 0 }

// prepare has the faults of the next life done.
func (s *System) prepare(faults fault.Plan, o *world.Options) error {
	s.serving, s.acting, s.Acted = false, 0, nil
	life := s.lives
	agenda, err := fault.NewAgenda(faults, machine{s, life}, func(n int) {
		if s.lives == life {
			s.acting += n
		}
	}, func(f fault.Fault, err error) {
		if s.lives == life {
			if errors.Is(err, world.ErrKilled) {
				err = nil // it was under way when the life ended: its own end nobody will see
			}
			s.Acted = append(s.Acted, process.NewActed(f.String(), s.Sim.Now(), err))
		}
	})
	if err != nil {
		return err
	}
	pass := o.Point
	o.Point = func(p killpoint.Point, at world.Moment) {
		pass(p, at)
		agenda.Pass(p)
	}
	o.Interfere = agenda.Interfere
	return nil
}
