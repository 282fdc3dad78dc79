package minidotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
)

// ErrKilled is what Until returns once the world has died at the point that
// Options.Kill picked.
var ErrKilled = errors.New("the world was killed")

// killed unwinds the step in which a world dies.
type killed struct{ point killpoint.Point }

// NewWorldFrom starts a project that consists of the given files, by path
// relative to the project's directory.
func NewWorldFrom(t testing.TB, files map[string]string, o Options) *World {
	t.Helper()
	o.Project = t.TempDir()
	for name, text := range files { // order-independent: each file is written once
		path := filepath.Join(o.Project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return NewWorld(t, o)
}

// Stop ends the world in good order; of a dead one it closes what is left.
// Stopping twice is allowed.
func (w *World) Stop() {
	if w.wreck != "" {
		defer func() { recover() }() // the dead may leave anything behind
		w.Server.Close(context.Background())
		return
	}
	if err := w.Server.Close(context.Background()); err != nil {
		w.t.Errorf("stop the world: %v", err)
	}
}

// Restart stops the world and starts its next life on the same directory.
func (w *World) Restart() *World {
	w.t.Helper()
	w.Stop()
	return w.next(w.options.Dir)
}

// Revive starts the next life of a world that was killed, from the files as
// they were when it died.
func (w *World) Revive() *World {
	w.t.Helper()
	return w.reviveTo(nil)
}

// reviveTo is Revive for a life that ends at a point that kill picks.
func (w *World) reviveTo(kill func(killpoint.Point) bool) *World {
	w.t.Helper()
	if w.wreck == "" {
		w.t.Fatal("the world has not died")
	}
	w.Stop()
	return w.nextUntil(w.wreck, kill)
}

func (w *World) next(dir string) *World { return w.nextUntil(dir, nil) }

func (w *World) nextUntil(dir string, kill func(killpoint.Point) bool) *World {
	o := w.options
	o.Dir, o.Start, o.Kill, o.Seed = dir, w.clock.Now(), kill, o.Seed+1
	return NewWorld(w.t, o)
}

// Advance steps the world for d of virtual time.
func (w *World) Advance(d time.Duration) {
	w.t.Helper()
	over := false
	w.clock.AfterFunc(d, func() { over = true })
	if err := w.Until(func() bool { return over }); err != nil {
		w.t.Fatalf("advance by %v: %v", d, err)
	}
}

// die is the death of the world at a kill point: what is on disk now is all
// that the next life finds.
func (w *World) die(p killpoint.Point) {
	if w.wreck == "" {
		w.note("killed at %s", p.Label())
		dir := w.t.TempDir()
		if err := copyState(w.options.Dir, dir); err != nil {
			w.t.Errorf("copy what a killed world left: %v", err)
		}
		w.wreck = dir
	}
	panic(killed{p})
}

// died turns the death of the world into an error.
func (w *World) died(err *error) {
	if x := recover(); x != nil {
		if _, ok := x.(killed); !ok {
			panic(x)
		}
		*err = ErrKilled
	}
}

// copyState copies a persist directory. Locks and shared memory, which die
// with a process, stay behind.
func copyState(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case strings.HasSuffix(rel, "-shm") || filepath.Dir(rel) == ".":
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("copy %s: %w", rel, err)
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
}
