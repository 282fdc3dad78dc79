package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// Unsynced reports whether a commit was made since the last Sync or Syncer
// that may not survive loss of power; always false without Options.SyncLater.
func (s *Store) Unsynced() bool { return s.unsynced }

// Syncer returns a function that makes every commit so far survive loss of
// power. The function may be called once, on any goroutine, while the store is
// in use, and also after Close, which syncs by itself. If it fails, what was
// committed is in the file but may be lost with the machine.
func (s *Store) Syncer() func() error {
	s.unsynced = false
	name, d := s.path+"-wal", s.disk
	frames, synced := uint32(0), &atomic.Uint32{}
	if s.history != nil {
		frames, synced = s.history.frames, s.history.synced
	}
	return func() error {
		// SQLite locks the database file and its index of the log, never the log:
		// opening and closing it here takes no lock away (fcntl's locks are the
		// process's, not the handle's).
		wal, err := d.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil // the store was closed
		}
		if err != nil {
			return fmt.Errorf("sqlstore: sync: %w", err)
		}
		err = d.Sync(name, func() error { return syncFile(wal.File) })
		if err := errors.Join(err, wal.Close()); err != nil {
			return fmt.Errorf("sqlstore: sync: %w", err)
		}
		synced.Store(max(frames, synced.Load())) // one sync of a store at a time
		return nil
	}
}

// Sync is Syncer's function, called here and now, if there is anything to sync.
func (s *Store) Sync() error {
	if !s.unsynced {
		return nil
	}
	return s.Syncer()()
}
