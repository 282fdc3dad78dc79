package sqlstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile does what SQLite does on macOS unless PRAGMA fullfsync is on; Go's
// own File.Sync also empties the drive's cache, which takes far longer.
func syncFile(f *os.File) error {
	for {
		err := unix.Fsync(int(f.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
