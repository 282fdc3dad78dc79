package minidotest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
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
	WriteFiles(t, o.Project, files)
	return NewWorld(t, o)
}

// WriteFiles makes files below dir, by their paths with slashes.
func WriteFiles(t testing.TB, dir string, files map[string]string) {
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
	return w.Next(w.options.Dir, nil)
}

// Revive starts the next life of a world that was killed, from the files as
// they were when it died.
func (w *World) Revive() *World {
	w.t.Helper()
	return w.ReviveTo(nil)
}

// ReviveTo is Revive for a life that ends at a point that kill picks.
func (w *World) ReviveTo(kill func(killpoint.Point) bool) *World {
	w.t.Helper()
	if w.wreck == "" {
		w.t.Fatal("the world has not died")
	}
	w.Stop()
	return w.Next(w.wreck, kill)
}

// Next starts the next life on the files in dir; it ends at a point that kill
// picks, if kill is not nil. The world itself has to be stopped before, if dir is
// its own.
func (w *World) Next(dir string, kill func(killpoint.Point) bool) *World {
	o := w.options
	o.Dir, o.Start, o.Kill, o.Seed = dir, w.clock.Now(), kill, o.Seed+1
	return NewWorld(w.t, o)
}

// Kill ends the world between two steps.
func (w *World) Kill() { w.world.Kill() }

// Dead reports whether the world was killed.
func (w *World) Dead() bool { return w.wreck != "" }

// Wreck is the directory with the files as they were when the world was killed,
// "" while it lives.
func (w *World) Wreck() string { return w.wreck }

// Dir is the persist directory.
func (w *World) Dir() string { return w.options.Dir }

// Options are those that the world was made with, directories filled in.
func (w *World) Options() Options { return w.options }

// Clock is the world's virtual clock.
func (w *World) Clock() *clock.Virtual { return w.clock }

// Advance steps the world for d of virtual time.
func (w *World) Advance(d time.Duration) {
	w.t.Helper()
	if err := w.world.Advance(d); err != nil {
		w.t.Fatal(err)
	}
}

// T is the test that the world belongs to.
func (w *World) T() testing.TB { return w.t }

// Again starts another world of the same project, which is not bundled again.
func (w *World) Again(o Options) *World {
	w.t.Helper()
	next, err := w.TryAgain(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return next
}

// TryAgain is Again for a world that may not start.
func (w *World) TryAgain(o Options) (*World, error) {
	w.t.Helper()
	o.Project, o.bundles = w.options.Project, w.options.bundles
	return Open(w.t, o)
}

// CopyState copies the files of a persist directory; opening a database would
// finish what the dead left half done.
func CopyState(t testing.TB, from, to string) {
	t.Helper()
	if err := world.CopyState(from, to); err != nil {
		t.Fatal(err)
	}
}
