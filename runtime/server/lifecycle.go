package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"minido.dev/minido/durableobject"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/planted"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/isolate"
)

// Find looks an object up by class and name or id, in all workers of the
// session; see pool.(*Pool).Find.
func (s *Server) Find(class, object string) (ref pool.Ref, err error) {
	for _, m := range s.session.members {
		r, e := m.pool.Find(class, object)
		if e == nil {
			return r, nil
		}
		if err == nil || errors.Is(err, pool.ErrNoClass) && !errors.Is(e, pool.ErrNoClass) {
			err = e
		}
	}
	return ref, err
}

// Address is Find for objects that need not exist yet.
func (s *Server) Address(class, object string) (ref pool.Ref, err error) {
	for _, m := range s.session.members {
		r, e := m.pool.Address(class, object)
		if e == nil {
			return r, nil
		}
		if err == nil {
			err = e
		}
	}
	return ref, err
}

// Points are the effect points of the session, nil if they are switched off for
// good. Safe for concurrent use.
func (s *Server) Points() *killpoint.Points { return s.opts.Points }

// WorkerObjects is the objects of one worker of the session.
type WorkerObjects struct {
	Worker  string
	Objects []pool.ObjectInfo
}

// Objects lists the objects of all workers of the session, the primary's first;
// see pool.(*Pool).Objects. done is called exactly once.
func (s *Server) Objects(done func([]WorkerObjects, error)) {
	var all []WorkerObjects
	members := s.session.members
	var next func()
	next = func() {
		if len(all) == len(members) {
			done(all, nil)
			return
		}
		m := members[len(all)]
		m.pool.Objects(func(list []pool.ObjectInfo, err error) {
			if err != nil {
				done(nil, err)
				return
			}
			all = append(all, WorkerObjects{m.Project().Name, list})
			next()
		})
	}
	next()
}

// Sight is what one worker of the session does.
type Sight struct {
	WorkerObjects
	Requests int // to its stateless part, in progress
	Timers   []engine.PendingTimer
}

// Look tells what all workers of the session do, the primary first. It is for
// simulations, between two steps: no loop runs then.
func (s *Server) Look() (all []Sight, err error) {
	for _, m := range s.session.members {
		sight := Sight{WorkerObjects: WorkerObjects{Worker: m.Project().Name}}
		var e error
		sight.Objects, e = m.pool.Look()
		err = errors.Join(err, e)
		m.mu.Lock()
		w := m.current
		m.mu.Unlock()
		if w != nil && w.iso != nil {
			sight.Requests, sight.Timers = w.iso.InProgress(), w.iso.Engine.Timers.Pending()
		}
		all = append(all, sight)
	}
	return all, err
}

// Worker is the worker of that name in the session; "" is the primary. It is
// nil if there is none.
func (s *Server) Worker(name string) *Server {
	if name == "" {
		return s.session.members[0]
	}
	return s.session.find(name)
}

// Wake constructs every object of the workers of the session of s that has a database and is not
// in memory. done is called exactly once, with those whose constructors failed.
func Wake(s *Server, done func([]pool.Unborn, error)) {
	members := s.session.members
	var all []pool.Unborn
	var wake func(i int)
	wake = func(i int) {
		if i == len(members) {
			done(all, nil)
			return
		}
		members[i].pool.Wake(func(failed []pool.Unborn, err error) {
			all = append(all, failed...)
			if err != nil {
				done(all, err)
				return
			}
			wake(i + 1)
		})
	}
	wake(0)
}

// ActOnIsolate does to the whole isolate, and so to module state, every object
// and every request in it, what the verb does to one object: Evict (refused
// while something is in progress, unless forced), Reset or Crash. LosePower ends
// the objects and leaves the isolate. done is called exactly once, when the worker
// answers again.
func (s *Server) ActOnIsolate(a pool.Action, done func(error)) {
	s.mu.Lock()
	w := s.current
	s.mu.Unlock()
	if w == nil || w.iso == nil {
		done(pool.ErrNoIsolate)
		return
	}
	switch a.Verb {
	case pool.Reset:
		s.opts.Scheduler.Go("reset isolate", func() { s.resetIsolate(w, done) })
	case pool.Evict, pool.Crash:
		if err := w.iso.Engine.PostLoop(func() { s.discard(w, a, done) }); err != nil {
			done(pool.ErrNoIsolate)
		}
	case pool.LosePower:
		if err := w.iso.Engine.PostLoop(func() { done(s.pool.LosePower()) }); err != nil {
			done(pool.ErrNoIsolate)
		}
	default:
		done(fmt.Errorf("%s has no scope isolate: it is done to one object", a.Verb))
	}
}

// discard ends everything in an isolate, on its loop, and loads a new one.
func (s *Server) discard(w *worker, a pool.Action, done func(error)) {
	if n := w.iso.InProgress(); a.Verb == pool.Evict && n > 0 && !a.Force {
		done(&pool.RefusedError{Reason: fmt.Sprintf("%d requests to the worker are in progress", n)})
		return
	}
	if a.Verb == pool.Evict {
		if err := s.pool.EvictAll(a.Force); err != nil {
			done(err)
			return
		}
	}
	if planted.KeepModuleState {
		s.pool.CrashAll()
		done(nil)
		return
	}
	s.mu.Lock()
	stale := s.current != w || s.closed
	if !stale {
		s.current = nil
	}
	s.mu.Unlock()
	if stale {
		done(pool.ErrNoIsolate)
		return
	}
	s.pool.ClearRealm()
	if a.Verb == pool.Crash {
		s.pool.CrashAll()
	}
	w.iso.Abandon(durableobject.Lost())
	s.renew(w, done)
}

// ResetIsolate is ActOnIsolate with Reset where the caller stands still until the new
// isolate is loaded: the update is queued on the old one's loop when it returns,
// before everything that is caused later. It may be called on that loop, and under
// the lock of killpoint.Points: loading passes no effect point.
func (s *Server) ResetIsolate(done func(error)) {
	s.mu.Lock()
	w := s.current
	s.mu.Unlock()
	if w == nil || w.iso == nil {
		done(pool.ErrNoIsolate)
		return
	}
	s.resetIsolate(w, done)
}

// resetIsolate is a code update with the same code.
func (s *Server) resetIsolate(w *worker, done func(error)) {
	next, err := s.load(context.Background(), w.project, w.bundle)
	if err != nil {
		done(fmt.Errorf("the worker could not be restarted: %w", err))
		return
	}
	s.mu.Lock()
	stale := s.current != w
	s.mu.Unlock()
	if stale {
		done(errors.Join(pool.ErrNoIsolate, next.iso.Close(context.Background())))
		return
	}
	s.replace(w.project, next, done)
}

// retireCheck is how often a replaced isolate is looked at: one with nothing
// left in flight goes, with the memory that it holds.
const retireCheck = time.Second

// retire lets work in flight of a replaced isolate, and of its objects, go on
// for pool.Grace. It must run on the isolate's loop.
func (s *Server) retire(iso *isolate.Isolate, objects []*durableobject.Object) {
	clk := s.opts.Scheduler.Clock()
	deadline := clk.Now().Add(pool.Grace)
	idle := func() bool {
		return iso.InProgress() == 0 && !slices.ContainsFunc(objects, func(o *durableobject.Object) bool { return !o.Ended() && o.Hibernatable() != "" })
	}
	end := func() {
		iso.Abandon(durableobject.Lost())
		iso.Engine.Drain()
	}
	var check func()
	again := func() clock.Timer {
		return clk.AfterFunc(min(retireCheck, deadline.Sub(clk.Now())), func() {
			_ = iso.Engine.PostLoop(check) // a closed loop has nothing in flight
		})
	}
	check = func() {
		s.mu.Lock()
		_, mine := s.retiring[iso] // else the server is closing, and ends it
		over := mine && (idle() || !clk.Now().Before(deadline))
		switch {
		case over:
			delete(s.retiring, iso)
		case mine:
			s.retiring[iso] = again()
		}
		s.mu.Unlock()
		if over {
			iso.Engine.Turns.After(end) // the objects' own grace ends in the same instant
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retiring == nil {
		s.retiring = map[*isolate.Isolate]clock.Timer{}
	}
	s.retiring[iso] = again()
}

// retired takes the retiring isolates out, by name. Call it with mu held.
func (s *Server) retired() []*isolate.Isolate {
	var out []*isolate.Isolate
	for iso, timer := range s.retiring { // order-independent: sorted below
		timer.Stop()
		out = append(out, iso)
	}
	clear(s.retiring)
	sort.SliceStable(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out
}
