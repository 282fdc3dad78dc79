package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/internal/disk"
)

// deletedSuffix ends the name of a database file whose store is being deleted.
const deletedSuffix = "-deleted"

// Delete deletes the database file at path and all that belongs to it; it must be
// closed. The database's renaming is what decides: a death in the middle leaves
// all of it, or what FinishDelete removes. sync makes each step durable before
// the next one, and the deletion when Delete returns.
func Delete(d *disk.Disk, path string, sync bool) error {
	if err := d.Rename(path, path+deletedSuffix); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return FinishDelete(d, path, sync)
		}
		return fmt.Errorf("sqlstore: delete: %w", err)
	}
	return FinishDelete(d, path, sync)
}

// Deleting reports whether a Delete of the file at path has begun and not ended.
func Deleting(path string) bool {
	_, err := os.Stat(path + deletedSuffix)
	return !errors.Is(err, fs.ErrNotExist) // what cannot be looked at fails later
}

// FinishDelete does the rest of a Delete that a death has interrupted, if there
// is one. It comes before the file is opened again.
func FinishDelete(d *disk.Disk, path string, sync bool) error {
	if !Deleting(path) {
		return nil
	}
	settle := func() error {
		if !sync {
			return nil
		}
		return d.SyncDir(filepath.Dir(path))
	}
	if err := settle(); err != nil {
		return fmt.Errorf("sqlstore: delete %s: %w", path, err)
	}
	for _, suffix := range []string{"-shm", "-wal", "-history", deletedSuffix} {
		if suffix == deletedSuffix {
			if err := settle(); err != nil {
				return fmt.Errorf("sqlstore: delete %s: %w", path, err)
			}
		}
		if err := d.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sqlstore: delete %s: %w", path, err)
		}
	}
	return nil
}
