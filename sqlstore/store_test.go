package sqlstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

var start = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

func options(path string) Options {
	return Options{Path: path, Clock: clock.NewVirtual(start), Entropy: entropy.NewSeeded(1), Sync: sqlite.Normal}
}

func openWith(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t testing.TB) *Store { return openWith(t, options("")) }

// all runs SQL as user code does and reads every row.
func all(s *Store, sql string, args ...any) ([][]any, error) {
	c, err := s.Exec(sql, args)
	if err != nil {
		return nil, err
	}
	return drain(c)
}

func drain(c *Cursor) ([][]any, error) {
	var out [][]any
	for {
		row, ok, err := c.Next()
		if err != nil || !ok {
			return out, err
		}
		out = append(out, row)
	}
}

func must(t testing.TB, s *Store, sql string, args ...any) [][]any {
	t.Helper()
	r, err := all(s, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

func commit(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, s *Store, k, v string) {
	t.Helper()
	if err := s.Put(k, []byte(v)); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, s *Store, k string) string {
	t.Helper()
	v, ok, err := s.Get(k)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return "(none)"
	}
	return string(v)
}

// Keys, SQL and the alarm survive a reopening, once committed; what was not
// committed does not.
func TestPersistence(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a.sqlite")
	s := openWith(t, options(p))
	put(t, s, "k", "v")
	must(t, s, "CREATE TABLE t(a)")
	must(t, s, "INSERT INTO t VALUES(1)")
	if err := s.SetAlarm(1234); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	put(t, s, "k2", "lost")
	must(t, s, "INSERT INTO t VALUES(2)")
	if err := s.SetAlarm(99); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, options(p))
	if v, v2 := get(t, s, "k"), get(t, s, "k2"); v != "v" || v2 != "(none)" {
		t.Errorf("k=%s k2=%s", v, v2)
	}
	if r := must(t, s, "SELECT a FROM t"); !reflect.DeepEqual(r, [][]any{{int64(1)}}) {
		t.Errorf("%v", r)
	}
	if ms, ok, err := s.Alarm(); ms != 1234 || !ok || err != nil {
		t.Errorf("alarm %d %v %v", ms, ok, err)
	}
}

// The file is laid out as workerd lays it out: WAL, pages of 4096, the two
// tables, the alarm as nanoseconds, NULL once cleared.
func TestLayout(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a.sqlite")
	s := openWith(t, options(p))
	put(t, s, "k", "\x00\xff")
	if err := s.SetAlarm(1_700_000_000_123); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	if _, err := os.Stat(p + "-wal"); err != nil {
		t.Error(err)
	}
	c, err := sqlite.Open(sqlite.Options{Path: p, ReadOnly: true, Now: time.Now, Rand: entropy.System{}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	read := func(sql string) (out []any) {
		st, _, err := c.Prepare(sql, false)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Finalize()
		for {
			row, err := st.Step()
			if err != nil {
				t.Fatal(err)
			}
			if !row {
				return out
			}
			for i := range st.Columns() {
				out = append(out, st.Column(i))
			}
		}
	}
	for sql, want := range map[string][]any{
		"PRAGMA journal_mode":                                          {"wal"},
		"PRAGMA page_size":                                             {int64(4096)},
		"SELECT key, value FROM _cf_KV":                                {"k", []byte{0, 255}},
		"SELECT key, value FROM _cf_METADATA":                          {int64(1), int64(1_700_000_000_123_000_000)},
		"SELECT name, type, pk FROM pragma_table_info('_cf_KV')":       {"key", "TEXT", int64(1), "value", "BLOB", int64(0)},
		"SELECT name, type, pk FROM pragma_table_info('_cf_METADATA')": {"key", "INTEGER", int64(1), "value", "BLOB", int64(0)},
		"SELECT name, wr FROM pragma_table_list WHERE name LIKE '!_cf%' ESCAPE '!' ORDER BY name": {"_cf_KV", int64(1), "_cf_METADATA", int64(0)},
	} {
		if got := read(sql); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
	if err := s.ClearAlarm(); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	if got := read("SELECT key, value FROM _cf_METADATA"); !reflect.DeepEqual(got, []any{int64(1), nil}) {
		t.Errorf("cleared: %v", got)
	}
}

// Reads open no transaction; each kind of write opens it; Commit ends it; the
// commit hook sees exactly the commits that change something.
func TestImplicitTransaction(t *testing.T) {
	commits := 0
	o := options(filepath.Join(t.TempDir(), "a.sqlite"))
	o.OnCommit = func() { commits++ }
	s := openWith(t, o)
	base := commits
	get(t, s, "k")
	must(t, s, "SELECT 1")
	if _, _, err := s.Alarm(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete("k"); err != nil {
		t.Fatal(err)
	}
	if err := s.ClearAlarm(); err != nil {
		t.Fatal(err)
	}
	if s.Dirty() {
		t.Error("reads and empty deletes made the store dirty")
	}
	commit(t, s)
	for i, write := range []func() error{
		func() error { return s.Put("k", nil) },
		func() error { _, err := s.Delete("k"); return err },
		func() error { return s.SetAlarm(5) },
		func() error { return s.ClearAlarm() },
		func() error { _, err := all(s, "CREATE TABLE t(a)"); return err },
		func() error { _, err := all(s, "INSERT INTO t VALUES(1)"); return err },
		func() error { _, err := all(s, "SELECT 1; UPDATE t SET a = 2; SELECT * FROM t"); return err },
	} {
		if err := write(); err != nil {
			t.Fatal(i, err)
		}
		if !s.Dirty() {
			t.Errorf("write %d left the store clean", i)
		}
		commit(t, s)
		if s.Dirty() {
			t.Errorf("dirty after commit %d", i)
		}
		if commits != base+i+1 {
			t.Errorf("%d commits after write %d", commits-base, i)
		}
	}
	sp, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, "SELECT * FROM t")
	if err := sp.Release(); err != nil {
		t.Fatal(err)
	}
	if s.Dirty() {
		t.Error("a savepoint that only read made the store dirty")
	}
	before := commits
	commit(t, s)
	if commits != before {
		t.Error("an empty transaction committed something")
	}
}

// DDL takes part in the transaction; a rollback undoes the platform's tables,
// too, and they come back when needed.
func TestRollbackUndoesTables(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	must(t, s, "CREATE TABLE t(a)")
	if err := s.SetAlarm(1); err != nil {
		t.Fatal(err)
	}
	if err := s.Rollback(); err != nil {
		t.Fatal(err)
	}
	if r := must(t, s, "SELECT name FROM sqlite_master"); len(r) != 0 {
		t.Errorf("left: %v", r)
	}
	if _, ok, err := s.Alarm(); ok || err != nil {
		t.Error(ok, err)
	}
	put(t, s, "k", "again")
	commit(t, s)
	if get(t, s, "k") != "again" {
		t.Error("lost")
	}
	sp, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetAlarm(7); err != nil {
		t.Fatal(err)
	}
	if err := sp.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.SetAlarm(8); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	if ms, _, _ := s.Alarm(); ms != 8 {
		t.Error(ms)
	}
}

// Savepoints nest: an inner rollback leaves the outer's writes, releasing keeps
// them, and Commit refuses while one is open.
func TestSavepointsNest(t *testing.T) {
	s := open(t)
	put(t, s, "0", "x")
	outer, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "1", "x")
	inner, err := s.Savepoint()
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "2", "x")
	if err := outer.Release(); err == nil {
		t.Error("the outer savepoint ended before the inner one")
	}
	if err := s.Commit(); err == nil {
		t.Error("committed under open savepoints")
	}
	if err := inner.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := inner.Release(); err != nil {
		t.Error("ending twice:", err)
	}
	if err := outer.Release(); err != nil {
		t.Fatal(err)
	}
	commit(t, s)
	if got := get(t, s, "0") + get(t, s, "1") + get(t, s, "2"); got != "xx(none)" {
		t.Error(got)
	}
}

// A deferred foreign key fails the commit, everything of the turn is gone, and
// the store works on.
func TestCommitFailure(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(pid REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)")
	commit(t, s)
	put(t, s, "k", "v")
	must(t, s, "INSERT INTO c VALUES(1)")
	err := s.Commit()
	var ce *CommitError
	if !errors.As(err, &ce) || err.Error() != "FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)" {
		t.Fatalf("%v", err)
	}
	if s.Dirty() || get(t, s, "k") != "(none)" {
		t.Error("the failed turn left traces")
	}
	must(t, s, "INSERT INTO p VALUES(1)")
	must(t, s, "INSERT INTO c VALUES(1)")
	commit(t, s)
}

// On a full disk (here: a page limit) SQLite gives the whole transaction up: the
// turn cannot commit, even if user code caught the error (docs/semantics.md 2).
func TestFullDatabase(t *testing.T) {
	s := openWith(t, options(filepath.Join(t.TempDir(), "a.sqlite")))
	put(t, s, "kept", "v")
	commit(t, s)
	if err := s.conn.Exec("PRAGMA max_page_count=10"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "small", "v")
	err := s.Put("big", bytes.Repeat([]byte("x"), 100_000))
	if err == nil || err.Error() != "database or disk is full: SQLITE_FULL" {
		t.Fatalf("%v", err)
	}
	if err := s.Put("later", nil); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("a write after it: %v", err)
	}
	if err := s.Commit(); !errors.Is(err, ErrTransactionLost) || !sqlite.IsCode(err, sqlite.CodeFull) {
		t.Errorf("commit: %v", err)
	}
	if get(t, s, "small") != "(none)" || get(t, s, "later") != "(none)" || get(t, s, "kept") != "v" {
		t.Error("a failed turn left traces")
	}
}

// RAISE(ROLLBACK) ends the transaction behind the store's back: later writes are
// refused, the commit fails, and nothing slipped out on its own.
func TestLostTransaction(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE t(a); CREATE TRIGGER tr BEFORE INSERT ON t WHEN new.a < 0 BEGIN SELECT raise(ROLLBACK, 'negative'); END")
	commit(t, s)
	must(t, s, "INSERT INTO t VALUES(1)")
	if _, err := all(s, "INSERT INTO t VALUES(-1)"); err == nil || err.Error() != "negative: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_TRIGGER)" {
		t.Fatalf("%v", err)
	}
	if _, err := all(s, "INSERT INTO t VALUES(2)"); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("a write after the loss: %v", err)
	}
	if err := s.Put("k", nil); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("a put after the loss: %v", err)
	}
	if !s.Dirty() {
		t.Error("a lost transaction must be reported by Commit")
	}
	if err := s.Commit(); !errors.Is(err, ErrTransactionLost) {
		t.Errorf("commit: %v", err)
	}
	if r := must(t, s, "SELECT count(*) FROM t"); r[0][0] != int64(0) {
		t.Error(r)
	}
	put(t, s, "k", "v")
	commit(t, s)
}

// SQL sees the store's clock and entropy.
func TestTimeAndChance(t *testing.T) {
	run := func() string {
		v := clock.NewVirtual(start)
		s := openWith(t, Options{Clock: v, Entropy: entropy.NewSeeded(3)})
		must(t, s, "CREATE TABLE t(id TEXT DEFAULT (lower(hex(randomblob(8)))), at DEFAULT CURRENT_TIMESTAMP, u DEFAULT (unixepoch()), r DEFAULT (random()))")
		must(t, s, "INSERT INTO t(at) VALUES(CURRENT_TIME)")
		v.Advance(90 * time.Second)
		must(t, s, "INSERT INTO t DEFAULT VALUES")
		return fmt.Sprint(must(t, s, "SELECT at, u, id, r FROM t"))
	}
	a, b := run(), run()
	if a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
	if !strings.Contains(a, "04:05:06 1927857906") || !strings.Contains(a, "2031-02-03 04:06:36 1927857996") {
		t.Error(a)
	}
}

// A file that is no database, or is damaged, is named in the error.
func TestCorruptFile(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "bad.sqlite")
	if err := os.WriteFile(p, bytes.Repeat([]byte("not a database "), 400), 0o600); err != nil {
		t.Fatal(err)
	}
	var ce *CorruptError
	if _, err := Open(options(p)); !errors.As(err, &ce) || ce.Path != p || !strings.Contains(err.Error(), p) {
		t.Errorf("junk: %v", err)
	}
	good := filepath.Join(dir, "good.sqlite")
	s := openWith(t, options(good))
	for i := range 300 {
		put(t, s, fmt.Sprint("key", i), strings.Repeat("v", 200))
	}
	commit(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(b); i++ {
		b[i] = 0xa5
	}
	if err := os.WriteFile(good, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = openWith(t, options(good))
	if _, _, err := s.Get("key7"); !errors.As(err, &ce) || ce.Path != good {
		t.Errorf("damaged pages: %v", err)
	}
}

// Where files cannot be created or the directory is missing, Open says which.
func TestOpenErrors(t *testing.T) {
	p := filepath.Join(t.TempDir(), "none", "a.sqlite")
	if _, err := Open(options(p)); err == nil || !strings.Contains(err.Error(), p) || !sqlite.IsCode(err, sqlite.CodeCantOpen) {
		t.Errorf("%v", err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write into read-only directories")
	}
	if _, err := Open(options(filepath.Join(dir, "a.sqlite"))); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

// A closed store refuses everything, and so do its cursors.
func TestClosed(t *testing.T) {
	s := open(t)
	must(t, s, "CREATE TABLE t(a)")
	must(t, s, "INSERT INTO t VALUES(1),(2)")
	cur, err := s.Exec("SELECT * FROM t", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, e1 := s.Get("k")
	_, e2 := s.Exec("SELECT 1", nil)
	_, _, e3 := cur.Next()
	_, e4 := s.DatabaseSize()
	_, e5 := s.Savepoint()
	_, e6 := s.DeleteAll(DeleteAllOptions{})
	for i, e := range []error{e1, e2, e3, e4, e5, e6, s.Put("k", nil), s.Commit(), s.Rollback()} {
		if !errors.Is(e, ErrClosed) {
			t.Errorf("%d: %v", i, e)
		}
	}
	s.Interrupt()
	cur.Close()
}

// An interrupted write loses its transaction, and the store works on.
func TestInterrupt(t *testing.T) {
	s := open(t)
	put(t, s, "k", "v")
	n := 0
	s.conn.SetProgress(1000, func() bool {
		if n++; n == 3 {
			done := make(chan struct{})
			go func() { s.Interrupt(); close(done) }()
			<-done
		}
		return false
	})
	_, err := all(s, "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c")
	if err == nil || err.Error() != "interrupted: SQLITE_INTERRUPT" {
		t.Fatal(err)
	}
	s.conn.SetProgress(0, nil)
	if err := s.Rollback(); err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "v2")
	commit(t, s)
}

// Export writes a copy that opens as a store.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	s := openWith(t, options(filepath.Join(dir, "a.sqlite")))
	put(t, s, "k", "v")
	commit(t, s)
	if err := s.Export(filepath.Join(dir, "b.sqlite")); err != nil {
		t.Fatal(err)
	}
	if got := get(t, openWith(t, options(filepath.Join(dir, "b.sqlite"))), "k"); got != "v" {
		t.Error(got)
	}
}

// A file that cannot be made into a store, for the disk is full, is named.
func TestOpenNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	_, err := Open(Options{Path: path, Clock: clock.Real{}, Entropy: entropy.NewSeeded(1), BeforeWrite: func() error { return sqlite.ErrDiskFull }})
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}
