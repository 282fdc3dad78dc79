//go:build unix

package server

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked by another process")

// lockFile takes the whole-file lock without waiting. flock belongs to the open
// file, which Go opens close-on-exec, so a child does not inherit it.
func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// foreignOwner looks for a running workerd: it holds SQLite's locks on the
// shared-memory file of a namespace's metadata database. Nothing of this
// process has those files open yet, so closing them here drops no lock.
func foreignOwner(dir string) (pid int, busy bool) {
	files, err := filepath.Glob(filepath.Join(dir, "v3", "do", "*", "metadata.sqlite-shm"))
	if err != nil {
		return 0, false
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
		err = unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock)
		f.Close()
		if err == nil && lock.Type != unix.F_UNLCK && int(lock.Pid) != os.Getpid() {
			return int(lock.Pid), true
		}
	}
	return 0, false
}
