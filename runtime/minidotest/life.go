package minidotest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/world"
)

// ErrKilled is what Until returns once the world has died at the point that
// Options.Kill picked.
var ErrKilled = world.ErrKilled

// NewWorldFrom starts a project that consists of the given files, by path
// relative to the project's directory.
func NewWorldFrom(t testing.TB, files map[string]string, o Options) *World {
	t.Helper()
	o.Project = t.TempDir()
	writeFiles(t, o.Project, files)
	return NewWorld(t, o)
}

// writeFiles makes files below dir, by their paths with slashes.
func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files { // order-independent: each file is written once
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Stop ends the world in good order; of a dead one it closes what is left.
// Stopping twice is allowed.
func (w *World) Stop() {
	if err := w.world.Stop(); err != nil {
		w.t.Error(err)
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
	if err := w.world.Advance(d); err != nil {
		w.t.Fatal(err)
	}
}
