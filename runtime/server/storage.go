package server

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/alarms"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/disk"
)

// Storage is what the workers of a session had stored at one moment: objects with
// their alarms, and bindings. It belongs to the goroutine of its world.
type Storage struct {
	server *Server
	files  *disk.Copy
	alarms [][]pool.Alarm // of each worker
}

// CopyStorage ends all objects of the session, whatever they do, and copies what is
// stored. done is called once, on the loop of a worker. Only for simulations, between
// two steps of which nothing else runs.
func CopyStorage(s *Server, done func(*Storage, error)) {
	c := &Storage{server: s}
	c.quiesce(func(p *pool.Pool) error {
		list, err := p.Alarms()
		c.alarms = append(c.alarms, list)
		return err
	}, func(err error) {
		if err == nil {
			c.files, err = s.opts.Files.CopyOf(filepath.Join(s.opts.PersistDir, "v3"), func(path string) bool {
				return !strings.HasPrefix(filepath.Base(path), alarms.IndexFile)
			})
		}
		done(c, err)
	})
}

// PutBack ends all objects, and makes what is stored that again. done is called
// once, as CopyStorage does.
func (c *Storage) PutBack(done func(error)) {
	c.quiesce(func(*pool.Pool) error { return nil }, func(err error) {
		if err != nil {
			done(err)
			return
		}
		if err = c.files.PutBack(); err != nil {
			done(err)
			return
		}
		left := slices.Clone(c.alarms)
		c.quiesce(func(p *pool.Pool) error {
			was := left[0]
			left = left[1:]
			return p.RestoreAlarms(was)
		}, done)
	})
}

// quiesce ends the objects of each worker, calls visit on its loop, and closes the
// files of bindings, which their next use opens again.
func (c *Storage) quiesce(visit func(*pool.Pool) error, done func(error)) {
	var next func(left []*Server)
	next = func(left []*Server) {
		if len(left) == 0 {
			done(c.server.session.drivers.Pause())
			return
		}
		m := left[0]
		m.mu.Lock()
		w := m.current
		m.mu.Unlock()
		if w == nil || w.iso == nil {
			done(pool.ErrNoIsolate)
			return
		}
		err := w.iso.Engine.PostLoop(func() {
			if err := errors.Join(m.pool.EvictAll(true), visit(m.pool)); err != nil {
				done(err)
				return
			}
			next(left[1:])
		})
		if err != nil {
			done(pool.ErrNoIsolate)
		}
	}
	next(c.server.session.members)
}
