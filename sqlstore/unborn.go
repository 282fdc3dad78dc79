package sqlstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"minido.dev/minido/internal/disk"
)

// unbornPage is the length of a database in which nothing was ever committed.
const unbornPage = 4096

// clearUnborn empties the file of a database that a loss of power left half
// written while it was created: Open does not sync it, for there is nothing to
// lose before the first commit, which does. Such a file has neither a log nor a
// history, and holds sectors of zeros or of an empty database's only page.
// Anything else is left alone.
func clearUnborn(d *disk.Disk, path string) error {
	unborn, err := Unborn(path)
	if err != nil || !unborn {
		return err
	}
	f, err := d.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("sqlstore: open: %w", err)
	}
	if err := errors.Join(f.Truncate(0), f.Close()); err != nil {
		return fmt.Errorf("sqlstore: open: %w", err)
	}
	return nil
}

// Unborn says whether the file at path is what a loss of power left of a database that was
// being created: Open empties it, and whoever reads the file itself takes it for empty.
func Unborn(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 || info.Size() > unbornPage || held(path) != "" {
		return false, nil // the opening reports what cannot be looked at
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("sqlstore: open: %w", err)
	}
	return isUnborn(b), nil
}

// neverCommitted says whether nothing was ever committed to the database at path,
// so that no sync may have reached it: it is missing or empty, or has the one page
// of an empty database. One that is missing or empty although something beside it
// shows that it held data is an error: opening it would begin anew in silence.
func neverCommitted(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0:
		return true, checkPresent(path)
	case err != nil:
		return false, fmt.Errorf("sqlstore: open: %w", err)
	}
	return info.Size() <= unbornPage && held(path) == "", nil
}

// isUnborn says whether b, of at most one page, is what a loss of power leaves of
// an empty database's page (https://www.sqlite.org/fileformat2.html): zeros, or
// its only sector with content and zeros or nothing after it.
func isUnborn(b []byte) bool {
	const header, leaf = 100, 8 // bytes
	zeros := func(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
	if zeros(b) {
		return true
	}
	return len(b) < unbornPage && len(b) >= header+leaf && string(b[:16]) == "SQLite format 3\x00" &&
		binary.BigEndian.Uint32(b[28:]) == 1 && b[header] == 0x0d && zeros(b[header+1:header+5]) && zeros(b[header+leaf:])
}

// held names the file, if there is one, that shows that the database at path has
// held something; "" if none does.
func held(path string) string {
	for _, suffix := range []string{"-history", "-wal"} {
		info, err := os.Stat(path + suffix)
		if err == nil && info.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return path + suffix
		}
	}
	return ""
}
