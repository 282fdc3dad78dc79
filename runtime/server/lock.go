package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// LockedError says that another process owns the persist directory.
type LockedError struct {
	Dir   string
	Owner string // "minido (process 123)" or "wrangler (process 123)"
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("the state directory %s is in use by %s; stop it, or choose another directory with --persist-to", e.Dir, e.Owner)
}

// dirLock is this process's claim on a persist directory. The file stays; the
// lock on it goes with the process, however it ends.
type dirLock struct{ f *os.File }

// lockDir claims dir, which is created if it is missing.
func lockDir(dir string) (*dirLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the state directory %s cannot be created: %w", dir, err)
	}
	path := filepath.Join(dir, "minido.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the state directory %s cannot be written: %w", dir, err)
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
		return nil, &LockedError{Dir: dir, Owner: owner}
	}
	if pid, busy := foreignOwner(dir); busy {
		f.Close()
		return nil, &LockedError{Dir: dir, Owner: fmt.Sprintf("wrangler or workerd (process %d)", pid)}
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &dirLock{f}, nil
}

func (l *dirLock) release() error { return l.f.Close() }
