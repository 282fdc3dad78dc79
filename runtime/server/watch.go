package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
)

// settleTime is how long files must be quiet before a reload: editors write in
// several steps.
const settleTime = 40 * time.Millisecond

// watcher reloads the server when a file of the project changes.
type watcher struct {
	s   *Server
	fsn *fsnotify.Watcher

	mu    sync.Mutex // guards everything below
	files map[string]bool
	dirs  map[string]bool
	timer clock.Timer
}

func (s *Server) watch() error {
	fsn, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	w := &watcher{s: s, fsn: fsn, files: map[string]bool{}, dirs: map[string]bool{}}
	s.watcher = w
	w.follow()
	sched.Attend(s.opts.Scheduler, "file watcher", w.run)
	return nil
}

// follow watches the directories of all files that matter now.
func (w *watcher) follow() {
	paths := slices.Concat(w.s.bundling.inputs(), w.s.Project().Files)
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.files)
	for _, p := range paths {
		w.files[p] = true
		dir := filepath.Dir(p)
		if w.dirs[dir] {
			continue
		}
		w.dirs[dir] = true
		// A directory that does not exist cannot hold a file that changes; one
		// that cannot be watched is reported.
		if err := w.fsn.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.s.event(EventWarning, fmt.Sprintf("changes in %s are not noticed: %v", dir, err))
		}
	}
}

func (w *watcher) run() {
	for {
		select {
		case ev, ok := <-w.fsn.Events:
			if !ok {
				return
			}
			if ev.Op == fsnotify.Chmod {
				continue
			}
			w.mu.Lock()
			matters := w.files[ev.Name] || w.files[filepath.Dir(ev.Name)]
			if matters && w.timer == nil {
				w.timer = w.s.opts.machine().AfterFunc(settleTime, func() {
					w.mu.Lock()
					w.timer = nil
					w.mu.Unlock()
					w.s.opts.Scheduler.Go("reload", w.s.Reload)
				})
			}
			w.mu.Unlock()
		case err, ok := <-w.fsn.Errors:
			if !ok {
				return
			}
			w.s.event(EventWarning, fmt.Sprintf("watching files: %v", err))
		}
	}
}

func (w *watcher) close() error {
	w.mu.Lock()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	return w.fsn.Close()
}

// Reload builds the project anew, as a change of one of its files does; Events tells
// how it went. If it fails, what runs goes on. Changes that come meanwhile have a reload
// of their own, which waits: the last one wins. Safe for concurrent use.
func (s *Server) Reload() {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if s.isClosed() {
		return
	}
	s.event(EventReloading, "")
	err := s.rebuild()
	if s.isClosed() {
		return
	}
	if s.watcher != nil {
		s.watcher.follow() // also what a failed build misses: it may appear
	}
	switch {
	case err == nil:
		s.event(EventReloaded, "")
	case s.opts.Events != nil:
		s.opts.Events(Event{Kind: EventBuildFailed, Text: err.Error(), Err: err})
	}
}

func (s *Server) rebuild() error {
	project, _, err := config.Load(s.opts.Config)
	if err != nil {
		return err
	}
	if err := s.openNamespaces(project); err != nil {
		return err
	}
	if err := s.bindOthers(project); err != nil {
		return err
	}
	w, err := s.build(context.Background(), project)
	if err != nil {
		return err
	}
	s.replace(project, w, func(error) {})
	s.session.announce(s)
	return nil
}

// replace lets w take over, as a deployment does: objects of the old isolate
// give their storage up, what is in flight there may finish within pool.Grace.
// While the old one's loop is busy w may have a successor of its own, which then
// takes its place. done is called exactly once, when w answers or will not.
func (s *Server) replace(p *config.Project, w *worker, done func(error)) {
	s.mu.Lock()
	old, waiting := s.current, s.next
	s.current, s.project, s.next = nil, p, w
	s.mu.Unlock()
	s.pool.ClearRealm()
	if waiting != nil { // what installs it is on its way
		var err error
		if waiting.iso != nil {
			err = waiting.iso.Close(context.Background()) // nobody has used it
		}
		done(err)
		return
	}
	if old == nil || old.iso == nil {
		s.installNext()
		done(nil)
		return
	}
	update := func() {
		s.retire(old.iso, s.pool.SupersedeAll())
		s.installNext()
		done(nil)
	}
	if err := old.iso.Engine.PostLoop(update); err != nil {
		s.installNext()
		done(nil)
	}
}

// installNext installs the worker that replace has left, unless the server was
// closed.
func (s *Server) installNext() {
	s.mu.Lock()
	w := s.next
	s.next = nil
	s.mu.Unlock()
	if w != nil {
		s.install(w)
	}
}
