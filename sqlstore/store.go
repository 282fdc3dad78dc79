// Package sqlstore keeps the state of one Durable Object (or facet) in one
// SQLite file: keys and values, user SQL, the alarm row, the transaction of a
// turn. The file has the layout that workerd writes (util/sqlite-kv.c++,
// util/sqlite-metadata.c++), so that wrangler and minido can take turns on it.
// The package knows nothing of JavaScript: values are opaque bytes and Go
// scalars.
//
// # The turn's transaction
//
// The first write opens the implicit transaction; a read at most takes a
// snapshot, for the turn, that nobody can tell from none. The owner calls Commit
// at the end of every turn, before it releases any output, or Rollback when the
// object is reset. DeleteAll is a transaction of its own.
//
// # Cost
//
// An open store with little in it holds about 80 KB (40 KB more without a shared
// Thread) of resident memory outside Go's heap, 21 KB after Shrink, and 4 KB
// inside (TestMemoryPerStore). The page cache grows with use
// up to 512 KB, the statement cache up to 64 statements. In a turn's transaction
// a point select takes about 2 µs, an insert 2 µs, a get 2 µs, a put 3 µs; a
// commit costs 5 to 20 µs with Normal, an fsync more with Full
// (bench_test.go, linux/amd64).
package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// Options of Open. Clock and Entropy are required.
type Options struct {
	// Path is the database file; "" keeps the store in memory. Its directory
	// must exist.
	Path string
	// Clock is the time that SQL sees.
	Clock clock.Clock
	// Entropy feeds random() and randomblob().
	Entropy entropy.Source
	// Sync is the durability of commits; workerd's is sqlite.Full.
	Sync sqlite.Sync
	// SyncLater leaves the syncs of Full to the owner, who must not show anyone
	// what depends on a commit before Syncer's function, or Sync, has succeeded.
	SyncLater bool
	// Limits are the limits that SQL meets.
	Limits LimitsProfile
	// BeforeWrite, if set, is asked before each write to the database's files and
	// makes it fail with its error (sqlite.ErrDiskFull: SQLITE_FULL). It serves
	// the injection of faults and must not use the store.
	BeforeWrite func() error
	// OnCommit, if set, is called inside every commit that changes the file,
	// just before it becomes durable. It serves the check that every commit was
	// announced as an effect point. It must not use the store.
	OnCommit func()
	// HistoryBytes bounds what is kept, in a file of its own beside the database,
	// for returning to earlier states (CurrentBookmark, RestoreOnNextOpen); 0
	// keeps nothing. A store in memory has no history.
	HistoryBytes int64
	// OnRestore, if set, is called to do the restore that Open does, so that it
	// can be announced as an effect; it must call restore once and return its
	// error.
	OnRestore func(restore func() error) error
	// Disk, if set, is where the files are: one that records what has been synced.
	Disk *disk.Disk

	// Thread, if set, is shared by stores that one loop alone uses; it saves each
	// some 40 KB.
	Thread *Thread

	// Warn, if set, gets from Open each fault that it found in the files and went on
	// without: a *DamageWarning.
	Warn func(error)

	checkpointFrames uint32 // of tests: how long a WAL is archived and checkpointed
}

// Thread is what the stores of one loop can share. The zero value is ready for
// use; loop-confined like the stores.
type Thread = sqlite.Thread

// cachePages bounds the page cache, in pages of 4096 bytes.
const cachePages = 128

// busyTimeout is how long a statement waits, in real time, for another process
// that reads or copies the file.
const busyTimeout = 2 * time.Second

// Store is one object's database. It is loop-confined: one goroutine at a time,
// with the exception of Interrupt and Cursor.Abandon.
type Store struct {
	conn  *sqlite.Conn // nil once closed
	path  string
	disk  *disk.Disk
	rules rules
	cache stmtCache
	txn   txn

	kv   tableState // of _cf_KV
	meta tableState // of _cf_METADATA

	cursors cursorList
	history *history // nil: none is kept

	fresh     bool // the file is new, and no sync that it needs has reached it
	syncLater bool
	file      openFile
	unsynced  bool // a commit since the last sync; only with syncLater

	begin, commit, rollback *sqlite.Stmt // nil until used; see runOwn

	interrupt func() // immutable
}

// Open opens or creates a store. A file that is not a SQLite database gives a
// *CorruptError. A new file is created at once, before any commit. A restore
// that RestoreOnNextOpen asked for happens here; one that fails is given up,
// with an error, and the next Open leaves the state as it is.
func Open(o Options) (*Store, error) {
	if o.Clock == nil || o.Entropy == nil {
		return nil, errors.New("sqlstore: open: Options need Clock and Entropy")
	}
	path := o.Path
	if path == "" {
		path = sqlite.Memory
	}
	if err := clearUnborn(o.Disk, path); err != nil {
		return nil, err
	}
	if path != sqlite.Memory {
		if err := checkIndex(path, o.warn); err != nil {
			return nil, err
		}
	}
	fresh := false
	if path != sqlite.Memory {
		var err error
		if fresh, err = neverCommitted(path); err != nil {
			return nil, err
		}
	}
	conn, err := sqlite.Open(sqlite.Options{Path: path, Now: o.Clock.Now, Rand: o.Entropy, LookasideSlots: 30, Thread: o.Thread, BeforeWrite: o.BeforeWrite, Files: observer(o.Disk)})
	if err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	s := &Store{conn: conn, path: path, disk: o.Disk, fresh: fresh, interrupt: conn.Interrupt}
	if err = s.setUp(o); err == nil && o.HistoryBytes > 0 && path != sqlite.Memory {
		err = s.setUpHistory(o, fresh)
	}
	if err != nil {
		conn.Close()
		var ce *CorruptError
		if errors.As(err, &ce) {
			return nil, err
		}
		return nil, fmt.Errorf("sqlstore: open %s: %w", path, err)
	}
	if path != sqlite.Memory {
		info, err := os.Stat(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sqlstore: open: %w", err), s.Close())
		}
		s.file = openFile{path, info}
	}
	return s, nil
}

// warn tells what Open found wrong.
func (o Options) warn(err error) {
	if o.Warn != nil {
		o.Warn(err)
	}
}

// observer is d for SQLite; a nil disk observes nothing.
func observer(d *disk.Disk) sqlite.FileObserver {
	if d == nil {
		return nil
	}
	return d
}

func (s *Store) setUp(o Options) error {
	s.conn.SetBusyTimeout(busyTimeout)
	sync := o.Sync
	s.syncLater = sync == sqlite.Full && o.SyncLater && o.Path != ""
	if s.syncLater {
		sync = sqlite.Normal
	}
	mode := "PRAGMA journal_mode=WAL"
	if s.fresh {
		// Four syncs, of a file in which there is nothing to lose; see Commit.
		s.fresh = o.Sync != sqlite.Off
		mode = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; " + mode
	}
	if err := s.conn.Exec(mode + "; PRAGMA synchronous=" + sync.String() +
		"; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=" + fmt.Sprint(cachePages)); err != nil {
		return s.wrap(err)
	}
	if err := s.conn.SetDefensive(); err != nil {
		return err
	}
	o.Limits.set(s.conn)
	s.conn.SetAuthorizer(s.rules.authorize)
	if o.OnCommit != nil {
		s.conn.SetCommitHook(func() bool { o.OnCommit(); return false })
	}
	// Reading the schema here reports a damaged file now rather than in a turn.
	var err error
	if s.kv, err = s.lookUp("_cf_KV"); err == nil {
		s.meta, err = s.lookUp("_cf_METADATA")
	}
	return err
}

// Close rolls an open transaction back and closes the file. Cursors are
// canceled. Closing twice is allowed.
func (s *Store) Close() error {
	if s.conn == nil {
		return nil
	}
	s.cursors.cancelAll(ErrClosed)
	// A rollback that fails, on a damaged file, is made good by the closing.
	rolledBack := s.Rollback() == nil
	gone := s.file.same()
	return errors.Join(gone, s.end(rolledBack && gone == nil, (*sqlite.Conn).Close))
}

// Drop closes the file as the death of the process does, see sqlite's Conn.Drop:
// nothing is archived either. A simulated world ends so.
func (s *Store) Drop() error {
	if s.conn == nil {
		return nil
	}
	s.cursors.cancelAll(ErrClosed)
	return s.end(false, (*sqlite.Conn).Drop)
}

// end closes the files, the database as how does.
func (s *Store) end(archive bool, how func(*sqlite.Conn) error) error {
	var err error
	if s.history != nil {
		err = s.history.close(archive)
	}
	conn := s.conn
	s.conn = nil
	s.cache = stmtCache{}
	s.txn = txn{}
	if err := errors.Join(err, how(conn)); err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	return nil
}

// Shrink gives back memory that the store can do without until it is used again:
// cached pages, statements, what is mapped of the log. A store in a transaction
// keeps it.
func (s *Store) Shrink() {
	if s.conn == nil {
		return
	}
	// What cannot end is reported to who uses it next.
	if err := s.endRead(); err != nil || s.txn.open {
		return
	}
	s.cache.clear()
	for _, st := range []**sqlite.Stmt{&s.begin, &s.commit, &s.rollback} {
		if *st != nil {
			(*st).Finalize()
			*st = nil
		}
	}
	s.conn.Shrink()
}

// Closed reports whether Close was called.
func (s *Store) Closed() bool { return s.conn == nil }

// Interrupt makes the running statement fail with SQLITE_INTERRUPT. It may be
// called from any goroutine at any time.
func (s *Store) Interrupt() { s.interrupt() }

// Changes is how many rows the connection has changed since it was opened, in
// all, and the rowid that was inserted last: total_changes() and
// last_insert_rowid() of SQL.
func (s *Store) Changes() (total, lastRowID int64) {
	if s.conn == nil {
		return 0, 0
	}
	return s.conn.TotalChanges(), s.conn.LastInsertRowID()
}

// DatabaseSize is what sql.databaseSize reports: the bytes of pages in use,
// without free ones.
func (s *Store) DatabaseSize() (int64, error) {
	const page = 4096
	st, err := s.own("SELECT (SELECT * FROM pragma_page_count) - (SELECT * FROM pragma_freelist_count)")
	if err != nil {
		return 0, err
	}
	defer st.release()
	if _, err := st.Step(); err != nil {
		return 0, s.wrap(err)
	}
	return st.ColumnInt64(0) * page, nil
}

// Export writes a consistent copy of the store, with what the open transaction
// has written so far, to a file.
func (s *Store) Export(path string) error {
	if s.conn == nil {
		return ErrClosed
	}
	return s.conn.BackupTo(path)
}

// tableState says whether a table of the platform exists.
type tableState int

const (
	unknown tableState = iota // not looked up since a rollback
	absent
	present
)

// lookUp asks the schema for a table.
func (s *Store) lookUp(name string) (tableState, error) {
	st, err := s.own("SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?")
	if err != nil {
		return unknown, err
	}
	defer st.release()
	if err := st.BindText(1, name); err != nil {
		return unknown, s.wrap(err)
	}
	row, err := st.Step()
	if err != nil {
		return unknown, s.wrap(err)
	}
	if row {
		return present, nil
	}
	return absent, nil
}

// exists says whether the table that t stands for exists.
func (s *Store) exists(t *tableState, name string) (bool, error) {
	if s.conn == nil {
		return false, ErrClosed
	}
	if *t == unknown {
		found, err := s.lookUp(name)
		if err != nil {
			return false, err
		}
		*t = found
	}
	return *t == present, nil
}

// forgetTables makes the next use look the platform's tables up again, after a
// rollback that may have undone their creation.
func (s *Store) forgetTables() { s.kv, s.meta = unknown, unknown }

// MemoryUsed is what the connection holds in memory, in bytes: pages, schema
// and statements. A closed store holds nothing.
func (s *Store) MemoryUsed() int64 {
	if s.conn == nil {
		return 0
	}
	m := s.conn.MemoryUse()
	return int64(m.Cache + m.Schema + m.Statements)
}
