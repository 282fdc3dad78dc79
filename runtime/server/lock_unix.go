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
// process has that file open yet, so closing it here drops no lock.
func foreignOwner(dir string) (pid int, busy bool) {
	f, err := os.Open(filepath.Join(dir, "metadata.sqlite-shm")) // not live: asked for its lock before this process opens it
	if err != nil {
		return 0, false // no workerd has been here, or it has left in good order
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err = unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock)
	if err == nil && lock.Type != unix.F_UNLCK && int(lock.Pid) != os.Getpid() {
		return int(lock.Pid), true
	}
	return 0, false
}
