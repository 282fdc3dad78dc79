package sqlstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/sqlite"
)

// losing is a store with a table t on which INSERT of -1 has SQLite give up the transaction.
func losing(t *testing.T) *Store {
	t.Helper()
	s := open(t)
	must(t, s, "CREATE TABLE t(a); CREATE TRIGGER tr BEFORE INSERT ON t WHEN new.a < 0 BEGIN SELECT raise(ROLLBACK, 'negative'); END")
	commit(t, s)
	return s
}

func lose(t *testing.T, s *Store) {
	t.Helper()
	if _, err := all(s, "INSERT INTO t VALUES(-1)"); err == nil {
		t.Fatal("the transaction goes on")
	}
}

// A transaction that SQLite gave up ends its savepoints, too, in either way, and with what it
// made is gone what the store knew of tables: the next one makes them again.
func TestSavepointOfLostTransaction(t *testing.T) {
	for name, end := range map[string]func(*Savepoint) error{"Release": (*Savepoint).Release, "Rollback": (*Savepoint).Rollback} { // order-independent: each has a store of its own
		s := losing(t)
		put(t, s, "first", "v") // makes the table of keys
		sp, err := s.Savepoint()
		if err != nil {
			t.Fatal(err)
		}
		lose(t, s)
		var failed *CommitError
		if err := s.Commit(); err == nil || errors.As(err, &failed) || !strings.Contains(err.Error(), "1 savepoints are open") {
			t.Errorf("%s: a commit within it: %v", name, err)
		}
		if err := end(sp); !errors.Is(err, ErrTransactionLost) {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Commit(); !errors.As(err, &failed) || !errors.Is(err, ErrTransactionLost) {
			t.Errorf("%s: the commit: %v", name, err)
		}
		put(t, s, "second", "v")
		commit(t, s)
		if get(t, s, "first") != "(none)" || get(t, s, "second") != "v" {
			t.Errorf("%s: first %s, second %s", name, get(t, s, "first"), get(t, s, "second"))
		}
	}
}

// What a savepoint made goes with it, and with it what the store knew of tables.
func TestSavepointTakesTablesBack(t *testing.T) {
	s := open(t)
	sp, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "first", "v")
	if err := sp.Rollback(); err != nil {
		t.Fatal(err)
	}
	put(t, s, "second", "v")
	commit(t, s)
	if get(t, s, "first") != "(none)" || get(t, s, "second") != "v" {
		t.Errorf("first %s, second %s", get(t, s, "first"), get(t, s, "second"))
	}
}

// A cursor over INSERT ... RETURNING that is open when SQLite gives the transaction up fails
// after the commit that reports it, and leaves the next transaction alone.
func TestCursorOfLostTransaction(t *testing.T) {
	s := losing(t)
	c, err := s.Exec("INSERT INTO t VALUES(1), (2), (3) RETURNING a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := c.Next(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	lose(t, s)
	if err := s.Commit(); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("commit: %v", err)
	}
	if _, ok, err := c.Next(); ok || err == nil {
		t.Errorf("a row of what is lost: %v, %v", ok, err)
	}
	must(t, s, "INSERT INTO t VALUES(4)")
	commit(t, s)
	if r := must(t, s, "SELECT a FROM t"); len(r) != 1 || r[0][0] != int64(4) {
		t.Error(r)
	}
}

// Statements of the store's own that SQLite refuses fail with its text and code, as those of
// user code do, also where SQLite does not compile them.
func TestOwnStatementsFail(t *testing.T) {
	s := open(t)
	if err := s.run("RELEASE nobody"); err == nil || err.Error() != "no such savepoint: nobody: SQLITE_ERROR" {
		t.Errorf("run: %v", err)
	}
	var st *sqlite.Stmt
	if err := s.runOwn(&st, "nonsense"); err == nil || st != nil {
		t.Errorf("a statement that is none: %v", err)
	}
	if err := s.conn.Exec("BEGIN"); err != nil {
		t.Fatal(err)
	}
	if err := s.beginAny(); err == nil || err.Error() != "cannot start a transaction within a transaction: SQLITE_ERROR" || s.txn.open {
		t.Errorf("a second transaction: %v", err)
	}
	if err := s.conn.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}

// The first read of a turn opens its transaction, so that the file's locks are taken once; the
// commit ends it, and a store that was only read has nothing to commit.
func TestReadsOpenATransaction(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	commit(t, s)
	if get(t, s, "k") != "v" {
		t.Fatal("the key is gone")
	}
	if s.conn.Autocommit() || s.Dirty() {
		t.Errorf("after a read: outside a transaction %v, dirty %v", s.conn.Autocommit(), s.Dirty())
	}
	commit(t, s)
	if !s.conn.Autocommit() {
		t.Error("the commit leaves the transaction open")
	}
}

// A commit into a file that is gone fails, and leaves nothing to be committed again.
func TestCommitIntoVanishedFile(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o"))
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "v")
	commit(t, s)
	put(t, s, "k", "w")
	if err := os.Remove(o.Path); err != nil {
		t.Skip("the system does not let go of the name: ", err)
	}
	var failed *CommitError
	if err := s.Commit(); !errors.As(err, &failed) {
		t.Errorf("commit: %v", err)
	}
	if err := s.Commit(); s.Dirty() || err != nil {
		t.Errorf("afterwards: dirty %v, %v", s.Dirty(), err)
	}
	if err := s.Drop(); err != nil {
		t.Fatal(err)
	}
}

// A sync that the system refuses says so, and counts for nothing; one that comes after the end
// of its store has nothing to do.
func TestSyncRefused(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o"))
	o.Sync, o.SyncLater, o.HistoryBytes = sqlite.Full, true, 1<<20
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "v")
	commit(t, s)
	late := s.Syncer()
	put(t, s, "k", "w")
	commit(t, s)
	if err := errors.Join(os.Rename(o.Path+"-wal", o.Path+"-moved"), os.Symlink(os.DevNull, o.Path+"-wal")); err != nil {
		t.Skip("the system does not let go of the name: ", err)
	}
	if err := s.Sync(); err == nil || !strings.Contains(err.Error(), "sqlstore: sync") {
		t.Errorf("Sync: %v", err)
	}
	if n := s.history.synced.Load(); n != 0 {
		t.Errorf("%d frames count as synced", n)
	}
	if err := errors.Join(os.Remove(o.Path+"-wal"), os.Rename(o.Path+"-moved", o.Path+"-wal"), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := late(); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// A store that is closed refuses to begin, to commit and to roll back.
func TestTransactionsOfClosedStore(t *testing.T) {
	s, err := Open(options(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, savepoint := s.Savepoint()
	for name, err := range map[string]error{"Commit": s.Commit(), "Rollback": s.Rollback(), "Savepoint": savepoint, "beginRead": s.beginRead()} { // order-independent: each is checked alone
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
