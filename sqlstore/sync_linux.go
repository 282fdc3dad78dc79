package sqlstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFile writes the file's content, and what is needed to read it back, to
// the disk, as SQLite does on Linux.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
