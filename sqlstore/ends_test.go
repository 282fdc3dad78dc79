package sqlstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/sqlite"
)

// failing is a statement that SQLite compiles and fails to run.
func failing(t *testing.T, s *Store) *sqlite.Stmt {
	t.Helper()
	st, _, err := s.conn.Prepare("SELECT abs(-9223372036854775807-1)", true)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// A transaction that has ended without the store's knowledge is something to commit, so that the
// commit reports it, and a rollback finds nothing left to undo.
func TestTransactionThatEndedUnnoticed(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	if err := s.conn.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if !s.Dirty() {
		t.Error("there is nothing to commit")
	}
	var failed *CommitError
	if err := s.Commit(); !errors.As(err, &failed) {
		t.Errorf("commit: %v", err)
	}
	put(t, s, "k", "v")
	if err := s.conn.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := s.Rollback(); err != nil {
		t.Errorf("rollback: %v", err)
	}
	put(t, s, "k", "w") // makes the table again
	commit(t, s)
	if got := get(t, s, "k"); got != "w" {
		t.Errorf("k is %q", got)
	}
}

// A statement of the store's own that fails and ends the transaction loses it.
func TestOwnStatementThatLosesTheTransaction(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	if err := s.run("ROLLBACK; nonsense"); err == nil {
		t.Fatal("it succeeds")
	}
	if err := s.Put("k", nil); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("a write after it: %v", err)
	}
	if err := s.Commit(); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("commit: %v", err)
	}
}

// A rollback that SQLite refuses says so, also where a failed commit makes it.
func TestRollbackFails(t *testing.T) {
	s := open(t)
	for _, st := range []**sqlite.Stmt{&s.rollback, &s.commit} {
		name, was := "a rollback of writes", *st
		if *st = failing(t, s); st == &s.commit {
			name = "a rollback of reads"
			get(t, s, "k")
		} else {
			put(t, s, "k", "v")
		}
		if err := s.Rollback(); err == nil || !strings.Contains(err.Error(), "sqlstore: rollback: ") || !strings.Contains(err.Error(), "integer overflow") {
			t.Errorf("%s: %v", name, err)
		}
		*st = was
		if err := s.conn.Exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
	must(t, s, "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(pid REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)")
	commit(t, s)
	must(t, s, "INSERT INTO c VALUES(1)")
	s.rollback = failing(t, s)
	err := s.Commit()
	for _, text := range []string{"FOREIGN KEY constraint failed", "sqlstore: rollback: "} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("commit: %v, want %q", err, text)
		}
	}
}

// Savepoints end from the inside, also those of a transaction that is lost; what SQLite says of
// one that it does not know is told.
func TestSavepointsThatCannotEnd(t *testing.T) {
	s := losing(t)
	outer, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	inner, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	lose(t, s)
	for _, step := range []struct {
		what string
		end  func() error
		lost bool
	}{{"the outer one first", outer.Release, false}, {"the inner one", inner.Release, true}, {"then the outer one", outer.Rollback, true}} {
		if err := step.end(); err == nil || errors.Is(err, ErrTransactionLost) != step.lost {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	if err := s.Commit(); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("commit: %v", err)
	}

	sp, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.conn.Exec("RELEASE " + sp.name); err != nil {
		t.Fatal(err)
	}
	if err := sp.Release(); err == nil || !strings.Contains(err.Error(), "sqlstore: RELEASE "+sp.name) {
		t.Errorf("one that SQLite does not know: %v", err)
	}
}

// Statements that want no transaction around them leave a savepoint alone.
func TestSavepointOutlivesReads(t *testing.T) {
	s := open(t)
	sp, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.endRead(); err != nil || !s.txn.open {
		t.Errorf("the end of a read: %v, open %v", err, s.txn.open)
	}
	if err := sp.Release(); err != nil {
		t.Error(err)
	}
}

// A cursor that nobody will use again is given back by the next commit, although there is nothing
// to commit.
func TestAbandonedCursorsGo(t *testing.T) {
	s := open(t)
	c, err := s.Exec("SELECT 1 UNION ALL SELECT 2", nil)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	if s.cursors.first != c {
		t.Fatal("the commit ends the cursor")
	}
	c.Abandon()
	if commit(t, s); s.cursors.first != nil {
		t.Error("the cursor is still there")
	}
}

// A turn that only read ends well although the file has gone; one that wrote leaves no transaction
// behind when its commit fails for that.
func TestCommitsOfVanishedFile(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o"))
	o.HistoryBytes = 1 << 20
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "v")
	commit(t, s)
	history := size(t, o.Path+"-history")
	get(t, s, "k")
	if err := os.Remove(o.Path); err != nil {
		t.Skip("the system does not let go of the name: ", err)
	}
	commit(t, s)
	put(t, s, "k", "w")
	if err := s.Commit(); err == nil || !s.conn.Autocommit() {
		t.Errorf("a commit of writes: %v, a transaction is left: %v", err, !s.conn.Autocommit())
	}
	var gone *CorruptError
	if err := s.Close(); !errors.As(err, &gone) {
		t.Errorf("close: %v", err)
	}
	if now := size(t, o.Path+"-history"); now != history {
		t.Errorf("the history of a file that is gone grows from %d to %d bytes", history, now)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A dropped store is closed, for its cursors and statements, too; its file can be opened again and
// has what was committed.
func TestDrop(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o"))
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "v")
	commit(t, s)
	put(t, s, "k", "lost")
	c, err := s.Exec("SELECT 1 UNION ALL SELECT 2", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Drop(), s.Drop()); err != nil || !s.Closed() {
		t.Errorf("drop: %v, closed %v", err, s.Closed())
	}
	if _, _, err := c.Next(); !errors.Is(err, ErrClosed) {
		t.Errorf("its cursor: %v", err)
	}
	if err := s.run("SELECT 1"); !errors.Is(err, ErrClosed) {
		t.Errorf("a statement of its own: %v", err)
	}
	if got := get(t, openWith(t, o), "k"); got != "v" {
		t.Errorf("k is %q", got)
	}
}

// An end that fails says so.
func TestCloseFails(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o"))
	o.HistoryBytes = 1 << 20
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "v")
	commit(t, s)
	if err := s.history.f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Drop(); !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), "sqlstore: ") || !s.Closed() {
		t.Errorf("the end: %v, closed %v", err, s.Closed())
	}
}

// What an open store is set to: how long it waits for other processes, that nobody may write the
// schema's own table, which tables there are, whether it keeps a history.
func TestSettings(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "o"))
	s := openWith(t, o)
	if s.history != nil || s.kv != absent || s.meta != absent {
		t.Errorf("a new file: history %v, tables %v and %v", s.history != nil, s.kv, s.meta)
	}
	if err := errors.Join(s.Put("k", nil), s.SetAlarm(1)); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o.HistoryBytes = 1
	s = openWith(t, o)
	if s.history == nil || s.kv != present || s.meta != present {
		t.Errorf("a file that was there: history %v, tables %v and %v", s.history != nil, s.kv, s.meta)
	}
	st, _, err := s.conn.Prepare("PRAGMA busy_timeout", false)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Finalize()
	if row, err := st.Step(); !row || st.ColumnInt64(0) != busyTimeout.Milliseconds() {
		t.Errorf("waits for %d ms, %v", st.ColumnInt64(0), err)
	}
	s.conn.SetAuthorizer(nil)
	if err := s.conn.Exec("PRAGMA writable_schema=ON; DELETE FROM sqlite_schema"); err == nil || !strings.Contains(err.Error(), "may not be modified") {
		t.Errorf("a write to the schema: %v", err)
	}
}

// Nothing is lost with a file in which there is nothing: it is opened without a sync.
func TestNewFileOpensWithoutSyncs(t *testing.T) {
	d, steps := disk.New(), []string(nil)
	d.After = func(op disk.Operation) { steps = append(steps, op.Kind+" "+filepath.Base(op.Path)) }
	o := options(filepath.Join(t.TempDir(), "o"))
	o.Sync, o.Disk = sqlite.Full, d
	if got := syncs(&steps, func() { openWith(t, o) }); len(got) > 0 || len(steps) == 0 {
		t.Errorf("syncs %q in steps %q", got, steps)
	}
}

// Open needs a clock and entropy, and a failure of its own leaves no handle behind.
func TestOpenRefuses(t *testing.T) {
	for _, without := range []func(*Options){func(o *Options) { o.Clock = nil }, func(o *Options) { o.Entropy = nil }} {
		o := options("")
		without(&o)
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "Clock and Entropy") {
			t.Errorf("without: %v", err)
		}
	}
	o := options(filepath.Join(t.TempDir(), "o"))
	var gone error
	o.BeforeWrite = func() error {
		gone = os.Remove(o.Path)
		return sqlite.ErrDiskFull
	}
	if _, err := Open(o); !sqlite.IsCode(err, sqlite.CodeFull) || !strings.Contains(err.Error(), "sqlstore: open "+o.Path) {
		t.Errorf("on a full disk: %v (%v)", err, gone)
	}
	links, _ := filepath.Glob("/proc/self/fd/*") // none where the system does not tell
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, o.Path) {
			t.Errorf("%s is still open", to)
		}
	}
}

// A log that is shorter than its index says, as the killed process left it, has lost commits, and
// Open tells.
func TestShortLogIsTold(t *testing.T) {
	dir := t.TempDir()
	o := options(filepath.Join(dir, "o"))
	s := openWith(t, o)
	for _, v := range []string{"a", "b"} {
		put(t, s, "k", v)
		commit(t, s)
	}
	var warned []error
	o.Path, o.Warn = filepath.Join(dir, "copy"), func(err error) { warned = append(warned, err) }
	for _, suffix := range []string{"", "-wal", "-shm"} {
		b, err := os.ReadFile(filepath.Join(dir, "o") + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix == "-wal" {
			b = b[:len(b)-100]
		}
		if err := os.WriteFile(o.Path+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openWith(t, o)
	var w *DamageWarning
	if len(warned) != 1 || !errors.As(warned[0], &w) || w.Path != o.Path+"-wal" {
		t.Errorf("told %v", warned)
	}
}
