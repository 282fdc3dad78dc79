package world

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/killpoint"
)

// ErrKilled is returned once the world has died.
var ErrKilled = errors.New("the world was killed")

// killed unwinds the step in which a world dies.
type killed struct{ world *World }

// Died implements killpoint.Death.
func (killed) Died() {}

// Dead reports whether the world has died, and at which point: the zero Point
// if Kill was called.
func (w *World) Dead() (at killpoint.Point, dead bool) { return w.at, w.dead }

// Wreck is the copy of the persist directory as it was at death, "" without one.
func (w *World) Wreck() string { return w.wreck }

// Kill ends the world between two steps, as SIGKILL does. Options.Dir keeps the
// files as they are then.
func (w *World) Kill() {
	if !w.dead {
		w.Note("killed")
		w.dead = true
		if w.options.From != nil {
			w.astray = fmt.Errorf("%w: it is killed between two points", ErrAstray)
		} else {
			w.save()
		}
		w.bury()
	}
}

// die is the death of the world at a kill point: what is on disk now is all
// that the next life finds.
func (w *World) die(p killpoint.Point) {
	if w.options.Dead != nil {
		w.options.Dead(p)
	}
	if !w.dead {
		w.Note("killed at %s", p.Label())
		w.at, w.dead = p, true
		w.save() // at once: what unwinds may roll back or close
	}
	panic(killed{w})
}

// bury drops what ran in this life; those at the other ends of its connections
// learn of it.
func (w *World) bury() {
	if w.buried {
		return
	}
	w.buried = true
	w.unrecord()
	w.scope.end()
	for _, l := range w.links {
		l.cut()
	}
	w.links = nil
	w.fetching.cut()
	if w.Server != nil { // one that dies during its start is abandoned there
		w.Server.Abandon()
	}
}

// save copies the files as they are at death, for closing changes them.
func (w *World) save() {
	if w.options.Wreck == nil {
		return
	}
	dir := w.options.Wreck()
	var err error
	if from := w.options.From; from != nil {
		err = from.states[w.at.Number-1].write(dir)
	} else if chance, lost := w.losesPower(); lost {
		w.Note("power lost")
		err = w.files.Fall(w.options.Dir, dir, chance, isNoState)
	} else {
		err = CopyState(w.options.Dir, dir)
	}
	if err != nil {
		w.fail("copy what a killed world left", err)
	}
	w.wreck = dir
}

// losesPower reports whether the death is a loss of power, and what chooses what
// survives it.
func (w *World) losesPower() (chance entropy.Source, lost bool) {
	if w.options.Power == nil {
		return nil, false
	}
	return w.options.Power(w.at)
}

// fail keeps the error of what cannot return one.
func (w *World) fail(doing string, err error) {
	w.fault = errors.Join(w.fault, fmt.Errorf("%s: %w", doing, err))
}

// unrecord ends the recording, if there is one: the life is over.
func (w *World) unrecord() {
	if w.recorder != nil {
		w.recorder.over = true
	}
}

// died turns the death of the world into an error.
func (w *World) died(err *error) {
	if x := recover(); x != nil {
		if k, ok := x.(killed); !ok || k.world != w {
			panic(x)
		}
		*err = ErrKilled
		w.bury()
	}
}

// CopyState copies a persist directory, live or not. Locks and shared memory,
// which die with a process, stay behind; so does what is no state (files beside
// the folder v3).
func CopyState(from, to string) error {
	return walkState(from, func(path, rel string, isDir bool) error {
		if isDir {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if err := copyFile(path, filepath.Join(to, rel)); err != nil {
			return fmt.Errorf("copy %s: %w", rel, err)
		}
		return nil
	})
}

// walkState calls fn for each folder and file of a persist directory that is
// state, in the order of names.
func walkState(dir string, fn func(path, rel string, isDir bool) error) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !d.IsDir() && isNoState(rel) {
			return nil
		}
		return fn(path, rel, d.IsDir())
	})
}

// isNoState says whether a file of a persist directory dies with its process, or
// belongs to nobody.
func isNoState(rel string) bool {
	return strings.HasSuffix(rel, "-shm") || filepath.Dir(rel) == "."
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close(), out.Close())
}
