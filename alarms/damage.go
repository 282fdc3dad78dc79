package alarms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/sqlite"
)

// DamageError says that an index cannot be read. The objects' own rows have
// everything that stands in it: MoveAway makes room for a new one. Immutable.
type DamageError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("the alarm index %s is damaged: %v", e.Path, e.Err)
}

// Unwrap gives the reason.
func (e *DamageError) Unwrap() error { return e.Err }

// damaged turns what SQLite says of a damaged file into a *DamageError.
func (x *index) damaged(err error) error {
	if sqlite.IsCode(err, sqlite.CodeCorrupt) || sqlite.IsCode(err, sqlite.CodeNotADB) {
		return &DamageError{x.path, err}
	}
	return err
}

// check looks at an index that was there before it is used: at the structure of
// the file, and at whether it has its table.
func (x *index) check() error {
	verdict, tables := "", 0
	err := x.each("PRAGMA quick_check(1)", func(st *sqlite.Stmt) error {
		verdict = st.ColumnText(0)
		return nil
	})
	if err == nil && verdict != "ok" {
		return &DamageError{x.path, errors.New(verdict)}
	}
	if err == nil {
		err = x.each("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_cf_ALARM'", func(*sqlite.Stmt) error {
			tables++
			return nil
		})
	}
	if err != nil {
		return x.damaged(err)
	}
	if tables == 0 {
		return &DamageError{x.path, errors.New("it has no table of alarms")}
	}
	return nil
}

// MoveAway renames the files of a namespace's index, which nobody has open, to
// names that end in ".damaged" and a number, for people to look at.
func MoveAway(d *disk.Disk, dir string) (to string, err error) {
	path := filepath.Join(dir, IndexFile)
	for n := 1; ; n++ {
		to = fmt.Sprintf("%s.damaged-%d", path, n)
		if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", fmt.Errorf("alarms: %w", err)
		}
	}
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := d.Rename(path+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("alarms: %w", err)
		}
	}
	return to, nil
}

// sumOf is the checksum of an index's rows, in the order of ids; never 0, which
// stands for none.
func sumOf(rows []record) int32 {
	h := crc32.NewIEEE()
	var n [8]byte
	for _, r := range rows {
		binary.LittleEndian.PutUint64(n[:], uint64(r.atNs))
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", r.id, n[:], r.name)
	}
	return int32(h.Sum32() | 1)
}

// sealed is the checksum that close has left in the file (PRAGMA user_version,
// which workerd does not use), 0 for none: of an index that is in use or was not
// closed in good order.
func (x *index) sealed() (sum int32, err error) {
	err = x.each("PRAGMA user_version", func(st *sqlite.Stmt) error {
		sum = int32(st.ColumnInt64(0))
		return nil
	})
	return sum, err
}

func (x *index) seal(sum int32) error {
	return x.conn.Exec(fmt.Sprintf("PRAGMA user_version=%d", sum))
}

// verify compares the rows with the checksum, and takes it away while the index
// is in use. changed says that somebody else has written the rows, or that they
// are damaged.
func (x *index) verify(rows []record) (changed bool, err error) {
	sum, err := x.sealed()
	if err == nil && sum != 0 {
		changed, err = sum != sumOf(rows), x.seal(0)
	}
	if err != nil {
		return false, fmt.Errorf("alarms: open %s: %w", x.path, err)
	}
	return changed, nil
}

// stillThere reports, as an error, that the file of an open index was deleted or
// replaced: what is written to it is in no file any more.
func (x *index) stillThere() error {
	info, err := os.Stat(x.path)
	if err == nil && os.SameFile(info, x.info) {
		return nil
	}
	return fmt.Errorf("alarms: %s was deleted or replaced while it was open: start the server again, which makes it from the objects' rows", x.path)
}
