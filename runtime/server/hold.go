package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/runtime/config"
)

// preparePlaces claims the state directory and the listener's address; with
// Options.Hold both wait until it returns.
func (s *Server) preparePlaces(ctx context.Context, p *config.Project) error {
	held := s.opts.Hold != nil
	if held && s.opts.CacheDir == "" {
		return errors.New("server: Options.Hold needs a CacheDir")
	}
	if held {
		s.opts.PersistDir = ""
	}
	if !held {
		if s.opts.PersistDir == "" {
			s.opts.PersistDir = filepath.Join(p.Dir, ".wrangler", "state")
		}
		if s.opts.CacheDir == "" {
			s.opts.CacheDir = filepath.Join(s.opts.PersistDir, "minido-cache")
		}
		if err := s.claim(ctx, p); err != nil {
			return err
		}
	}
	for _, m := range s.session.members {
		m.opts.PersistDir, m.opts.CacheDir = s.opts.PersistDir, s.opts.CacheDir // of a held one it is "" yet
		if err := m.openPool(); err != nil {
			return err
		}
	}
	return nil
}

// claim makes the state directory, locks in it what the session's workers serve, and
// opens the listener.
func (s *Server) claim(ctx context.Context, p *config.Project) error {
	if err := os.MkdirAll(s.opts.PersistDir, 0o700); err != nil {
		return fmt.Errorf("the state directory %s cannot be created: %w", s.opts.PersistDir, err)
	}
	for _, m := range s.session.members {
		m.opts.PersistDir = s.opts.PersistDir
		for _, place := range s.session.places(m, m.project) {
			if err := own(ctx, m, place); err != nil {
				return err
			}
		}
	}
	if s.opts.Address.None {
		return nil
	}
	address := s.opts.Address.resolve(p.Dev)
	return s.opts.patiently(ctx, func() (err error) {
		if s.listener, err = net.Listen("tcp", address); err != nil {
			return &AddressError{Address: address, Err: err}
		}
		s.listener, err = s.opts.secured(s.listener, p)
		return err
	})
}

// patience is how long a start waits for what another process holds, and how
// often it looks: a process that was killed a moment ago, or one that it had
// started, keeps its locks and its port until the system has taken it apart.
const (
	patience     = 2 * time.Second
	patienceStep = 20 * time.Millisecond
)

// afterHold waits until the state directory is known and opens it. Nobody can
// have sent an event before.
func (s *Server) afterHold(ctx context.Context, p *config.Project) error {
	dir, err := s.opts.Hold(ctx)
	if err != nil {
		return err
	}
	s.opts.PersistDir = dir
	if err := s.claim(ctx, p); err != nil {
		return err
	}
	for _, m := range s.session.members {
		if err := m.pool.Locate(m.opts.objectsDir()); err != nil {
			return err
		}
	}
	return nil
}

// Pending tells done what is still to be done, "" if nothing is: requests, timers,
// calls and handlers in progress, and alarms that are due within horizon, of all
// workers of the session. It asks the loops, behind everything that was posted
// before.
func (s *Server) Pending(horizon time.Duration, done func(why string)) {
	members := s.session.members
	var ask func(i int)
	ask = func(i int) {
		if i == len(members) {
			done("")
			return
		}
		members[i].pending(horizon, func(why string) {
			if why != "" {
				done(why)
				return
			}
			ask(i + 1)
		})
	}
	ask(0)
}

func (s *Server) pending(horizon time.Duration, done func(why string)) {
	s.mu.Lock()
	w, retiring := s.current, len(s.retiring)
	s.mu.Unlock()
	switch {
	case w == nil:
		done("the worker is being replaced")
		return
	case retiring > 0:
		done("an earlier worker has work in flight")
		return
	case w.iso == nil:
		done("")
		return
	}
	err := w.iso.Engine.PostLoop(func() {
		if n := w.iso.InProgress(); n > 0 {
			done(fmt.Sprintf("%d requests are in progress", n))
			return
		}
		done(s.pool.Pending(horizon))
	})
	if err != nil {
		done("the worker is being replaced")
	}
}
