package server

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

var errLocked = errors.New("locked by another process")

// lockFile takes the lock without waiting, beyond the bytes that hold the
// owner's number, so that others can read it.
func lockFile(f *os.File) error {
	ol := &windows.Overlapped{Offset: 1 << 20}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, ol)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

// foreignOwner cannot name the holder of a lock on Windows; SQLite itself
// refuses a database that workerd has open exclusively.
func foreignOwner(string) (pid int, busy bool) { return 0, false }
