package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/config"
)

// LockedError says that another process owns the objects of a class.
type LockedError struct {
	Class string
	Dir   string // of the objects
	Owner string // "minido (process 123)" or "wrangler or workerd (process 123)"
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("the objects of %s (%s) are in use by %s; stop it, or choose another state directory with --persist-to", e.Class, e.Dir, e.Owner)
}

// A session owns the namespaces that its workers serve: their objects, what is
// written ahead of them, their index of alarms. Several sessions share one state
// directory as long as no namespace is served by two; what bindings such as KV, D1
// and R2 keep there is guarded by SQLite's own locks.
//
// spaceLock is this process's claim on one namespace. The file stays; the lock on it
// goes with the process, however it ends.
type spaceLock struct{ f *os.File }

// locksFolder holds the files, beside the reference's.
const locksFolder = "minido-locks"

// lockSpace claims the namespace of a class whose objects are in a folder below
// <persist>/v3.
func lockSpace(persist, folder, class, uniqueKey string) (*spaceLock, error) {
	dir := filepath.Join(persist, "v3", folder, uniqueKey)
	path := filepath.Join(persist, locksFolder, folder, uniqueKey+".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the state directory %s cannot be created: %w", persist, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the state directory %s cannot be written: %w", persist, err)
	}
	if err := lockFile(f); err != nil {
		defer f.Close()
		if !errors.Is(err, errLocked) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		owner := "another minido"
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			owner = "minido (process " + strings.TrimSpace(string(b)) + ")"
		}
		return nil, &LockedError{Class: class, Dir: dir, Owner: owner}
	}
	if pid, busy := foreignOwner(dir); busy {
		f.Close()
		return nil, &LockedError{Class: class, Dir: dir, Owner: fmt.Sprintf("wrangler or workerd (process %d)", pid)}
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &spaceLock{f}, nil
}

func (l *spaceLock) release() error { return l.f.Close() }

// place is where the objects of a class are.
type place struct{ folder, class, uniqueKey string }

// places are those of the classes that s serves, with p as its project.
func (x *session) places(s *Server, p *config.Project) (all []place) {
	for _, c := range x.classes(s, p) {
		all = append(all, place{pool.Folder, c.ClassName, c.UniqueKey})
	}
	for _, c := range x.platform(s, p) {
		all = append(all, place{c.Folder, c.Name, c.UniqueKey})
	}
	return all
}

// own claims a namespace, unless this server has it. It waits for an owner that is
// going. Call it with s.opening held, or before anybody else has s.
func own(ctx context.Context, s *Server, p place) error {
	if s.locks[p.uniqueKey] != nil || s.opts.PersistDir == "" {
		return nil
	}
	if p.uniqueKey != filepath.Base(p.uniqueKey) || p.uniqueKey == "." || p.uniqueKey == ".." {
		return nil // the pool refuses it
	}
	return s.opts.patiently(ctx, func() error {
		lock, err := lockSpace(s.opts.PersistDir, p.folder, p.class, p.uniqueKey)
		if err == nil {
			if s.locks == nil {
				s.locks = map[string]*spaceLock{}
			}
			s.locks[p.uniqueKey] = lock
		}
		return err
	})
}

// disown gives up all that own has claimed: when nothing is open any more.
func disown(s *Server) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	var errs []error
	for _, l := range s.locks { // order-independent: files of their own
		errs = append(errs, l.release())
	}
	s.locks = nil
	return errors.Join(errs...)
}
