// Package sqlite is a thin binding over modernc.org/sqlite/lib, SQLite
// translated to Go. It adds to SQLite what a simulation needs: the time and the
// randomness that SQL sees are handed in (see Options). It leaves everything
// else as SQLite has it: statements are prepared, bound, stepped and reset.
// database/sql is not used: it costs two to five times the time per statement,
// loses duplicate columns and converts DATETIME columns (measurements in the
// package's benchmarks).
//
// Concurrency: a Conn and its Stmts are confined to one goroutine at a time;
// they may move between goroutines when something orders the moves. Only
// Interrupt may be called at any time from anywhere.
//
// What stays outside: SQLite's process-wide generator still chooses the salts
// of WAL headers and the names of temporary files. No SQL can see them, but
// files of two runs differ in these bytes.
package sqlite

import (
	"fmt"
	"io"
	"sync"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Memory as Options.Path names a private database that lives in memory.
const Memory = ":memory:"

// Options say what to open and where time and chance come from.
type Options struct {
	// Path is the file, or Memory. It is taken literally: no URI parameters.
	Path string
	// ReadOnly opens an existing file without the right to change it.
	ReadOnly bool
	// MustExist refuses to create the file.
	MustExist bool
	// Now is the time that SQL sees, in milliseconds' resolution. Required.
	Now func() time.Time
	// Rand feeds random() and randomblob(). It must fill every buffer: a short
	// read ends the program. Required.
	Rand io.Reader
	// LookasideSlots is the number of small-object slots of 128 bytes that the
	// connection reserves (default 100). More make preparing faster, fewer make
	// an idle connection smaller.
	LookasideSlots int
	// Thread, if set, is shared with other connections; nil gives the connection
	// its own.
	Thread *Thread
	// BeforeWrite, if set, is asked before each write to a file of the database
	// and makes it fail with its error; see ErrDiskFull. It serves the injection
	// of faults and must not use the connection.
	BeforeWrite func() error
	// Files, if set, is told of what SQLite does to the database's files.
	Files FileObserver
}

// Sync says what a commit survives; it is PRAGMA synchronous for a database with
// a write-ahead log.
type Sync int

const (
	// Full syncs at every commit: what was committed survives loss of power.
	Full Sync = iota
	// Normal syncs at checkpoints only: what was committed survives the death of
	// the process, however sudden; loss of power leaves an earlier state.
	Normal
	// Off never syncs: as Normal, but loss of power may damage the file. It serves
	// tests of processes that die, which lose nothing that was written.
	Off
)

// String is the mode as SQLite spells it.
func (s Sync) String() string { return [...]string{"FULL", "NORMAL", "OFF"}[s] }

// Conn is one open database. See the package comment for its concurrency.
type Conn struct {
	thread  *Thread
	tls     *libc.TLS // of thread
	db      uintptr   // sqlite3*; 0 once closed
	vfs     uintptr   // the connection's own VFS, see newVFS
	vfsName uintptr
	handle  uintptr // key of conns
	out     uintptr // scratch for two result pointers
	path    string
	now     func() time.Time
	rand    io.Reader
	stmts   *Stmt // open statements, doubly linked
	slots   int   // Options.LookasideSlots
	small   bool  // since Shrink nothing is reserved for small objects

	authorize func(Action) Verdict
	onCommit  func() (abort bool)
	progress  func() (stop bool)
	onWAL     func(frames int)

	beforeWrite func() error
	files       FileObserver
	watched     map[uintptr]*watchedFile // open files by SQLite's handle; nil without files
	vfsOpen     uintptr                  // the system's xOpen; see watchDisk
	vfsDelete   uintptr                  // the system's xDelete
	methods     []uintptr                // diskMethods

	interruptMu sync.Mutex // orders Interrupt before or after Close; guards closed
	closed      bool
}

// prepareProcess precedes SQLite's first use in the process.
func prepareProcess(tls *libc.TLS) {
	processOnce.Do(func() {
		useHeap(tls)
		pinUTC(tls)
		copySystemVFS(tls)
	})
}

// Open opens a database. A file that is not a database is reported by the first
// statement (SQLITE_NOTADB), not by Open.
func Open(o Options) (*Conn, error) {
	if o.Path == "" || o.Now == nil || o.Rand == nil {
		return nil, fmt.Errorf("sqlite: open: Options need Path, Now and Rand")
	}
	if o.Thread == nil {
		o.Thread = &Thread{}
	}
	c := &Conn{thread: o.Thread, tls: o.Thread.enter(), path: o.Path, now: o.Now, rand: o.Rand, beforeWrite: o.BeforeWrite, files: o.Files, handle: uintptr(connHandle.Add(1))}
	prepareProcess(c.tls)
	conns.Store(c.handle, c)
	c.out = alloc(c.tls, 16)
	if err := c.open(o); err != nil {
		err = fmt.Errorf("sqlite: open %s: %w", o.Path, err)
		c.release()
		return nil, err
	}
	return c, nil
}

func (c *Conn) open(o Options) error {
	name, err := c.newVFS()
	if err != nil {
		return err
	}
	// Connections are confined, so SQLite's own locking per connection would be waste.
	flags := int32(sqlite3.SQLITE_OPEN_NOMUTEX | sqlite3.SQLITE_OPEN_EXRESCODE)
	switch {
	case o.ReadOnly:
		flags |= sqlite3.SQLITE_OPEN_READONLY
	case o.MustExist:
		flags |= sqlite3.SQLITE_OPEN_READWRITE
	default:
		flags |= sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
	}
	path := cString(c.tls, o.Path)
	rc := sqlite3.Xsqlite3_open_v2(c.tls, path, c.out, flags, name)
	free(c.tls, path)
	sqlite3.Xsqlite3_vfs_unregister(c.tls, c.vfs)
	c.db = *(*uintptr)(at(c.out))
	if rc != sqlite3.SQLITE_OK {
		return c.errorOf(rc)
	}
	c.slots = o.LookasideSlots
	if c.slots == 0 {
		c.slots = 100
	}
	// What stays for the connection's life is not to lie among the small objects,
	// which could not be given back then.
	c.setLookaside(0)
	if err := c.registerRandom(); err != nil {
		return err
	}
	c.setLookaside(c.slots)
	return nil
}

// setLookaside reserves memory for so many small objects. It does nothing while
// statements use what is reserved.
func (c *Conn) setLookaside(slots int) {
	const size = 128
	if c.dbConfig(sqlite3.SQLITE_DBCONFIG_LOOKASIDE, uintptr(0), int32(size), int32(slots)) == sqlite3.SQLITE_OK {
		c.small = slots == 0
	}
}

// dbConfig calls sqlite3_db_config with the given C arguments.
func (c *Conn) dbConfig(op int32, args ...any) int32 {
	va := alloc(c.tls, 8*len(args))
	defer free(c.tls, va)
	return sqlite3.Xsqlite3_db_config(c.tls, c.db, op, libc.VaList(va, args...))
}

// SetDefensive forbids SQL that could corrupt the file: writes to shadow tables
// and to sqlite_schema (SQLITE_DBCONFIG_DEFENSIVE).
func (c *Conn) SetDefensive() error {
	if rc := c.dbConfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, int32(1), uintptr(0)); rc != sqlite3.SQLITE_OK {
		return c.errorOf(rc)
	}
	return nil
}

// LeaveLog makes Close leave the write-ahead log as it is
// (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), for a file that nobody will open again.
func (c *Conn) LeaveLog() error {
	if rc := c.dbConfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int32(1), uintptr(0)); rc != sqlite3.SQLITE_OK {
		return c.errorOf(rc)
	}
	return nil
}

// Drop closes the database as the death of its process does: its files stay as
// they are, an open transaction's changes are in none of them, and the next
// connection recovers what the log has.
func (c *Conn) Drop() error {
	if err := c.LeaveLog(); err != nil {
		return err
	}
	return c.Close()
}

// processOnce sets up what SQLite has once in a process.
var processOnce sync.Once

// pinUTC makes the 'localtime' modifier mean UTC, as on Cloudflare, whatever
// the machine's zone. It changes only the environment that translated C code
// sees, not the process's.
func pinUTC(tls *libc.TLS) {
	k, v := cString(tls, "TZ"), cString(tls, "UTC")
	libc.Xsetenv(tls, k, v, 1)
	libc.Xtzset(tls)
	free(tls, k)
	free(tls, v)
}

// Close finalizes every statement and closes the database; an open transaction
// rolls back. The last connection to a file in WAL mode checkpoints and removes
// the WAL. Closing twice is allowed.
func (c *Conn) Close() error {
	c.interruptMu.Lock()
	was := c.closed
	c.closed = true
	c.interruptMu.Unlock()
	if was {
		return nil
	}
	for c.stmts != nil {
		c.stmts.Finalize()
	}
	var err error
	if rc := sqlite3.Xsqlite3_close(c.tls, c.db); rc != sqlite3.SQLITE_OK {
		err = fmt.Errorf("sqlite: close %s: %w", c.path, c.errorOf(rc))
		// Give the handle up all the same: a caller cannot do more.
		sqlite3.Xsqlite3_close_v2(c.tls, c.db)
	}
	c.db = 0
	c.release()
	return err
}

// release frees what Open allocated around the database.
func (c *Conn) release() {
	if c.db != 0 {
		sqlite3.Xsqlite3_close_v2(c.tls, c.db)
		c.db = 0
	}
	free(c.tls, c.vfs)
	free(c.tls, c.vfsName)
	for _, p := range c.methods {
		free(c.tls, p)
	}
	c.methods = nil
	free(c.tls, c.out)
	c.vfs, c.vfsName, c.out = 0, 0, 0
	conns.Delete(c.handle)
	c.thread.leave()
}

// Exec runs every statement of sql to its end and discards rows. The first
// error stops it; statements before it keep their effect.
func (c *Conn) Exec(sql string) error {
	for sql != "" {
		st, tail, err := c.Prepare(sql, false)
		if err != nil {
			return err
		}
		sql = tail
		if st == nil {
			continue
		}
		for {
			row, err := st.Step()
			if err != nil {
				st.Finalize()
				return err
			}
			if !row {
				break
			}
		}
		st.Finalize()
	}
	return nil
}

// Changes is the number of rows that the last finished INSERT, UPDATE or DELETE
// changed, without triggers and foreign-key actions.
func (c *Conn) Changes() int64 { return sqlite3.Xsqlite3_changes64(c.tls, c.db) }

// TotalChanges is the number of rows changed since Open, with triggers and
// foreign-key actions.
func (c *Conn) TotalChanges() int64 { return sqlite3.Xsqlite3_total_changes64(c.tls, c.db) }

// LastInsertRowID is the rowid of the last inserted row.
func (c *Conn) LastInsertRowID() int64 { return sqlite3.Xsqlite3_last_insert_rowid(c.tls, c.db) }

// Autocommit reports whether no transaction is open. SQLite may end a
// transaction by itself: after SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM, an
// interrupted write, or RAISE(ROLLBACK).
func (c *Conn) Autocommit() bool { return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) != 0 }

// SetBusyTimeout makes statements wait, in real time, up to d for a lock that
// another connection holds, before they fail with SQLITE_BUSY. The resolution
// is a millisecond; the default is not to wait.
func (c *Conn) SetBusyTimeout(d time.Duration) {
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, int32(d.Milliseconds()))
}

// Limit names a run-time limit (sqlite3_limit).
type Limit int32

// The limits of https://www.sqlite.org/c3ref/c_limit_attached.html.
const (
	LimitLength            Limit = sqlite3.SQLITE_LIMIT_LENGTH              // bytes of a string, blob or row
	LimitSQLLength         Limit = sqlite3.SQLITE_LIMIT_SQL_LENGTH          // bytes of a statement
	LimitColumn            Limit = sqlite3.SQLITE_LIMIT_COLUMN              // columns of a table, index, result
	LimitExprDepth         Limit = sqlite3.SQLITE_LIMIT_EXPR_DEPTH          // depth of an expression tree
	LimitCompoundSelect    Limit = sqlite3.SQLITE_LIMIT_COMPOUND_SELECT     // terms of a compound SELECT
	LimitVDBEOp            Limit = sqlite3.SQLITE_LIMIT_VDBE_OP             // instructions of a program
	LimitFunctionArg       Limit = sqlite3.SQLITE_LIMIT_FUNCTION_ARG        // arguments of a function
	LimitAttached          Limit = sqlite3.SQLITE_LIMIT_ATTACHED            // attached databases
	LimitLikePatternLength Limit = sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH // bytes of a LIKE or GLOB pattern
	LimitVariableNumber    Limit = sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER     // highest parameter number
	LimitTriggerDepth      Limit = sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH       // nesting of triggers
	LimitWorkerThreads     Limit = sqlite3.SQLITE_LIMIT_WORKER_THREADS      // threads per statement
)

// SetLimit sets a limit and returns the one before; a negative value only reads.
func (c *Conn) SetLimit(l Limit, value int) (before int) {
	return int(sqlite3.Xsqlite3_limit(c.tls, c.db, int32(l), int32(value)))
}

// Interrupt makes the running statement, if any, fail with SQLITE_INTERRUPT; an
// interrupted write rolls its whole transaction back. It may be called from any
// goroutine, at any time, also after Close.
func (c *Conn) Interrupt() {
	c.interruptMu.Lock()
	defer c.interruptMu.Unlock()
	if c.closed {
		return
	}
	// The owner may be using c.tls at this moment.
	tls := libc.NewTLS()
	sqlite3.Xsqlite3_interrupt(tls, c.db)
	tls.Close()
}

// Memory use of a connection, in bytes.
type MemoryUse struct {
	// Cache is the page cache, Schema the parsed schema, Statements the
	// prepared statements.
	Cache, Schema, Statements int
}

// MemoryUse measures what the connection holds in SQLite's heap.
func (c *Conn) MemoryUse() MemoryUse {
	get := func(op int32) int {
		sqlite3.Xsqlite3_db_status(c.tls, c.db, op, c.out, c.out+8, 0)
		return int(*(*int32)(at(c.out)))
	}
	return MemoryUse{
		Cache:      get(sqlite3.SQLITE_DBSTATUS_CACHE_USED),
		Schema:     get(sqlite3.SQLITE_DBSTATUS_SCHEMA_USED),
		Statements: get(sqlite3.SQLITE_DBSTATUS_STMT_USED),
	}
}

// TxnState says how far the connection's transaction has gone.
type TxnState int32

// Transaction states: none; reading (a snapshot is held); writing (the write
// lock is held, whether or not a page has changed).
const (
	TxnNone  TxnState = sqlite3.SQLITE_TXN_NONE
	TxnRead  TxnState = sqlite3.SQLITE_TXN_READ
	TxnWrite TxnState = sqlite3.SQLITE_TXN_WRITE
)

// TxnState is the state of the connection's transaction.
func (c *Conn) TxnState() TxnState { return TxnState(sqlite3.Xsqlite3_txn_state(c.tls, c.db, 0)) }

// SyncMain writes the database file itself, not its log, to the disk, whatever
// PRAGMA synchronous says. It uses SQLite's own handle: opening the file beside
// SQLite and closing it would release SQLite's locks.
func (c *Conn) SyncMain() error {
	file, methods, err := c.mainFile()
	if err != nil || methods == nil {
		return err
	}
	sync := goFunc[func(*libc.TLS, uintptr, int32) int32](methods.FxSync)
	if rc := sync(c.tls, file, sqlite3.SQLITE_SYNC_NORMAL); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("sqlite: sync: %s", codeName(int(rc)))
	}
	return nil
}
