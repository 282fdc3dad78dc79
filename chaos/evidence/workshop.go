package evidence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Workshop is a directory in memory for states that are made, looked at and
// mostly thrown away. One whose process was killed is swept by the next that
// opens one.
type Workshop struct {
	// Dir is the directory.
	Dir  string
	lock *os.File
}

const (
	workshopPrefix = "minido-workshop-"
	workshopLock   = "lock"
)

// OpenWorkshop makes a workshop; nil where there is no room for one in memory, or
// the system allows none: it saves time, no more.
func OpenWorkshop() *Workshop {
	folder := InMemory(0)
	if folder == "" {
		return nil
	}
	sweep(folder)
	w, err := makeWorkshop(folder)
	if err != nil {
		return nil
	}
	return w
}

func makeWorkshop(folder string) (*Workshop, error) {
	dir, err := os.MkdirTemp(folder, workshopPrefix)
	if err != nil {
		return nil, fmt.Errorf("evidence: workshop: %w", err)
	}
	w := &Workshop{Dir: dir}
	// The lock is taken before anyone else can see its file.
	fresh := filepath.Join(dir, "fresh")
	if w.lock, err = os.Create(fresh); err == nil && !tryLock(w.lock) {
		err = errors.New("its own lock is taken")
	}
	if err == nil {
		err = os.Rename(fresh, filepath.Join(dir, workshopLock))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("evidence: workshop: %w", err), w.Close())
	}
	return w, nil
}

// sweep removes the workshops in folder whose owners were killed. What cannot be
// removed belongs to somebody else.
func sweep(folder string) {
	locks, err := filepath.Glob(filepath.Join(folder, workshopPrefix+"*", workshopLock))
	if err != nil {
		return // the pattern is right
	}
	for _, path := range locks {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if tryLock(f) {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = f.Close()
	}
}

// Room is Dir while there is room for another state, else otherwise; so it is of
// nil.
func (w *Workshop) Room(otherwise string) string {
	if w == nil || InMemory(0) == "" {
		return otherwise
	}
	return w.Dir
}

// Close removes the workshop. Of nil it does nothing.
func (w *Workshop) Close() error {
	if w == nil {
		return nil
	}
	err := os.RemoveAll(w.Dir)
	if w.lock != nil {
		err = errors.Join(err, w.lock.Close())
	}
	return err
}
